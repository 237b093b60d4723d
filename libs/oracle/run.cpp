#include "oracle/run.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "oracle/error.hpp"

namespace refrain::oracle {

Run::Run(const RunSettings& settings) : process_(settings.process), times_(settings.times) {
  std::error_code not_there;
  if (settings.record && settings.reference &&
      std::filesystem::equivalent(*settings.record, *settings.reference, not_there))
    throw FileError(*settings.record,
                    "is to be recorded in, and is the reference, which is needed: record in "
                    "another file");
  if (settings.reference) {
    reference_ = read_run(*settings.reference, settings.program);
    std::erase_if(reference_.threads,
                  [&](const ThreadRecord& record) { return record.process != process_; });
  }
  if (!settings.record) return;
  writer_.emplace(*settings.record);
  writer_->claim(process_);
}

std::unique_ptr<Stream> Run::join(std::uint32_t thread) {
  const std::scoped_lock lock(mutex_);
  const auto [known, is_new] = has_left_.try_emplace(thread, false);
  if (!is_new)
    throw OracleError("thread " + std::to_string(thread) +
                      (known->second ? " has been recorded and has left: joining again would "
                                       "replace its record, so take another number"
                                     : " has joined already"));
  try {
    auto recorder =
        writer_ ? std::make_unique<Recorder>(*writer_, process_, thread, times_) : nullptr;
    return std::make_unique<Stream>(reference_of(thread), std::move(recorder));
  } catch (...) {
    has_left_.erase(known);
    throw;
  }
}

void Run::leave(std::uint32_t thread) {
  const std::scoped_lock lock(mutex_);
  if (writer_) has_left_[thread] = true;
  else has_left_.erase(thread);
}

std::optional<ThreadRecord> Run::reference_of(std::uint32_t thread) {
  const auto found = std::ranges::find(reference_.threads, thread, &ThreadRecord::thread);
  if (found == reference_.threads.end()) return std::nullopt;
  return *found;
}

}  // namespace refrain::oracle
