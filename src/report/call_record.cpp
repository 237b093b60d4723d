#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/new_file.hpp"
#include "oracle/error.hpp"
#include "oracle/names.hpp"
#include "oracle/recorder.hpp"
#include "refrain/error.hpp"
#include "report/listeners.hpp"

namespace refrain::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kBeforeToken = " 0x";
constexpr std::size_t kDigits = 16;
constexpr std::string_view kMarked = ", marked";

Error cannot_be_recorded(const std::string& why) { return Error("--refrain:record: " + why); }

}  // namespace

std::string call_name(const Listener::Call& call) {
  if (call.traces == Listener::Traces::end) return std::string(call.name);
  return fmt::format("{}{}{:016x}{}", call.name, kBeforeToken, call.token,
                     call.marked ? kMarked : "");
}

std::optional<Listener::Call> call_named(std::string_view name) {
  Listener::Call call;
  call.marked = name.ends_with(kMarked);
  if (call.marked) name.remove_suffix(kMarked.size());
  const std::size_t at = name.rfind(kBeforeToken);
  if (at == name.npos || name.size() != at + kBeforeToken.size() + kDigits) return std::nullopt;
  const std::string_view digits = name.substr(name.size() - kDigits);
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), call.token, 16);
  if (error != std::errc() || end != digits.end()) return std::nullopt;
  return call;
}

struct CallRecord::Stream {
  Stream(oracle::RunWriter& writer, std::uint32_t program) : recorder(writer, 0, program, false) {}

  oracle::Names names;  ///< of events: two calls of one name are one
  /// Events by a call's token, of those that are marked and others.
  std::unordered_map<std::uint64_t, std::uint32_t> unmarked, marked;
  oracle::Recorder recorder;

  std::uint32_t event_of(const Call& call) {
    if (call.traces == Traces::end) return names.number(call_name(call));
    auto& events = call.marked ? marked : unmarked;
    const auto found = events.find(call.token);
    if (found != events.end()) return found->second;
    return events.emplace(call.token, names.number(call_name(call))).first->second;
  }
};

CallRecord::Temporary::~Temporary() {
  if (!name.empty()) std::remove(name.c_str());
}

CallRecord::CallRecord(std::string path) : path_(std::move(path)) {
  if (descriptor_of(path_))
    throw cannot_be_recorded(
        path_ + ": leads to what this process writes, and a record is a file of its own");
  try {
    oracle::check_replaceable(path_);
    std::error_code none;
    target_ = fs::weakly_canonical(path_, none).string();
    if (!none && fs::exists(target_, none) && !fs::is_empty(target_, none))
      beside_.name = make_beside(target_);
    const std::string& recorded = beside_.name.empty() ? path_ : beside_.name;
    oracle::create_run(recorded, ::program_invocation_short_name);
    empty_size_ = fs::file_size(recorded, none);
    writer_ = std::make_unique<oracle::RunWriter>(recorded);
  } catch (const oracle::OracleError& error) { throw cannot_be_recorded(error.what()); }
}

CallRecord::~CallRecord() = default;

void CallRecord::program_begins() {
  end_stream();
  if (fault_.empty()) stream_ = std::make_unique<Stream>(*writer_, programs_);
  ++programs_;
}

void CallRecord::called(const Call& call) {
  if (!stream_ || call.traces == Traces::ignore) return;
  try {
    const std::uint32_t event = stream_->event_of(call);
    stream_->recorder.add(event, 0, [&]() -> const std::string& { return stream_->names[event]; });
  } catch (const std::bad_alloc&) {
    give_up(path_ + ": there is not enough memory for more calls");
  }
}

/// What is in the file by then stays.
void CallRecord::give_up(std::string why) {
  fault_ = std::move(why);
  stream_.reset();
}

void CallRecord::end_stream() {
  if (!stream_) return;
  try {
    stream_->recorder.append();
    stream_.reset();
  } catch (const oracle::OracleError& error) {
    give_up(error.what());
  } catch (const std::bad_alloc&) {
    give_up(path_ + ": there is not enough memory to write all calls");
  }
}

void CallRecord::close() {
  end_stream();
  if (const std::string recorded = std::exchange(beside_.name, {}); !recorded.empty()) {
    if (!fault_.empty())
      fault_ +=
          "; '" + path_ + "' is not replaced by '" + recorded + "', which has the calls before";
    else if (std::rename(recorded.c_str(), target_.c_str()) != 0)
      fault_ = path_ + ": cannot be replaced by '" + recorded + "': " + std::strerror(errno);
  }
  if (!fault_.empty()) throw cannot_be_recorded(fault_);
}

void CallRecord::keep_so_far() const {
  std::error_code none;
  if (beside_.name.empty() || !fault_.empty()) return;
  if (fs::file_size(beside_.name, none) > empty_size_) fs::rename(beside_.name, target_, none);
  else fs::remove(beside_.name, none);
}

}  // namespace refrain::runtime
