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
  append();
  stream_.reset();
  if (fault_.empty()) stream_.emplace();
  ++programs_;
}

std::uint32_t CallRecord::event_of(const Call& call) {
  auto& events = !call.traceable ? stream_->untraceable
                 : call.marked   ? stream_->marked
                                 : stream_->unmarked;
  const auto next = static_cast<std::uint32_t>(stream_->names.size());
  const auto [event, is_new] = events.try_emplace(call.token, next);
  if (is_new) stream_->names.push_back(call_name(call));
  return event->second;
}

void CallRecord::called(const Call& call) {
  if (!stream_) return;
  try {
    stream_->reduction.add(event_of(call));
    if (!stream_->snapshots.due(stream_->reduction.events())) return;
    append();
    if (stream_)
      stream_->snapshots.taken(stream_->reduction.events(), stream_->reduction.symbols());
  } catch (const std::bad_alloc&) {
    fault_ = path_ + ": there is not enough memory for more calls";
    stream_.reset();
  }
}

void CallRecord::append() {
  if (!stream_) return;
  try {
    writer_->append({.process = 0,
                     .thread = programs_ - 1,
                     .names = stream_->names,
                     .grammar = stream_->reduction.grammar(),
                     .delays = {}});
  } catch (const oracle::OracleError& error) {
    fault_ = error.what();
    stream_.reset();
  }
}

void CallRecord::close() {
  append();
  stream_.reset();
  if (!fault_.empty()) throw cannot_be_recorded(fault_);
}

}  // namespace refrain::runtime
