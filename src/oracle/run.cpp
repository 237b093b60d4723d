#include "oracle/run.hpp"

#include <algorithm>
#include <utility>

#include "oracle/error.hpp"

namespace refrain::oracle {

Run::Run(const RunSettings& settings) : process_(settings.process), times_(settings.times) {
  if (settings.reference) {
    reference_ = read_run(*settings.reference, settings.program);
    std::erase_if(reference_.threads,
                  [&](const ThreadRecord& record) { return record.process != process_; });
  }
  if (settings.record) writer_.emplace(*settings.record);
}

std::unique_ptr<Stream> Run::join(std::uint32_t thread) {
  const std::scoped_lock lock(mutex_);
  if (!joined_.insert(thread).second)
    throw OracleError("thread " + std::to_string(thread) + " has joined already");
  try {
    auto recorder =
        writer_ ? std::make_unique<Recorder>(*writer_, process_, thread, times_) : nullptr;
    return std::make_unique<Stream>(reference_of(thread), std::move(recorder));
  } catch (...) {
    joined_.erase(thread);
    throw;
  }
}

void Run::leave(std::uint32_t thread) {
  const std::scoped_lock lock(mutex_);
  joined_.erase(thread);
}

std::optional<ThreadRecord> Run::reference_of(std::uint32_t thread) {
  const auto found = std::ranges::find(reference_.threads, thread, &ThreadRecord::thread);
  if (found == reference_.threads.end()) return std::nullopt;
  return *found;
}

}  // namespace refrain::oracle
