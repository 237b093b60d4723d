#include "runtime/call_record.hpp"

#include <cerrno>
#include <new>
#include <utility>

#include "oracle/error.hpp"
#include "refrain/error.hpp"
#include "runtime/call_names.hpp"

namespace refrain::runtime {

namespace {

Error cannot_be_recorded(const std::string& why) { return Error("--refrain:record: " + why); }

}  // namespace

CallRecord::CallRecord(std::string path) : path_(std::move(path)) {
  try {
    oracle::create_run(path_, ::program_invocation_short_name);
    writer_.emplace(path_);
  } catch (const oracle::OracleError& error) { throw cannot_be_recorded(error.what()); }
}

void CallRecord::program_begins() {
  end_stream();
  if (fault_.empty()) stream_.emplace(*writer_, programs_);
  ++programs_;
}

std::uint32_t CallRecord::Stream::event_of(const Call& call) {
  if (!call.traceable) return names.number(call_name(call));
  auto& events = call.marked ? marked : unmarked;
  const auto found = events.find(call.token);
  if (found != events.end()) return found->second;
  return events.emplace(call.token, names.number(call_name(call))).first->second;
}

void CallRecord::called(const Call& call) {
  if (!stream_) return;
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
  if (!fault_.empty()) throw cannot_be_recorded(fault_);
}

}  // namespace refrain::runtime
