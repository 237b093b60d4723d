// refrain/oracle.h: the C++ beneath it, with errors as values.

#include <string>

#include "oracle/error.hpp"
#include "oracle/interface/c_errors.hpp"
#include "oracle/interface/c_objects.hpp"

using refrain::oracle::Note;
using refrain::oracle::or_failed;
using refrain::oracle::OracleError;
using refrain::oracle::remember;
using refrain::oracle::required;
using refrain::oracle::Tracked;

namespace {

/// Whether this thread uses it from now on; if not, it is said why.
bool entered(refrain_oracle_stream& stream) {
  if (stream.enter()) [[likely]]
    return true;
  return or_failed(false, [&]() -> bool { throw OracleError(stream.why_not()); });
}

/// What the function returns with a stream that this thread may use; `nothing` without one, `failed`, if it throws.
template <class Result, class Function>
Result within(refrain_oracle_stream* stream, Result nothing, Result failed,
              const Function& function) {
  if (stream == nullptr) {
    remember("there is no stream");
    return nothing;
  }
  if (!entered(*stream)) return failed;
  const Result result = or_failed(failed, function);
  stream->exit();
  return result;
}

template <class Result, class Function>
Result within(refrain_oracle_stream* stream, Result failed, const Function& function) {
  return within(stream, failed, failed, function);
}

/// Whoever only asks a stream uses it as well.
refrain_oracle_stream* used(const refrain_oracle_stream* stream) {
  return const_cast<refrain_oracle_stream*>(stream);
}

/// For what is found again by its name. OracleError: it has none.
const char* name_required(const char* name, const char* of) {
  const std::string what = std::string("the name of ") + of;
  if (*required(name, what.c_str()) == '\0') throw OracleError(what + " is empty");
  return name;
}

std::optional<std::string> given(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

refrain_oracle_tracked submit(refrain_oracle_stream& stream, std::uint32_t event,
                              std::optional<std::uint64_t> now = std::nullopt) {
  stream.catch_up();
  switch (stream.submit(event, now)) {
    case Tracked::expected: return REFRAIN_ORACLE_EXPECTED;
    case Tracked::unexpected: return REFRAIN_ORACLE_UNEXPECTED;
    case Tracked::unknown: break;
  }
  return REFRAIN_ORACLE_UNKNOWN;
}

}  // namespace

const char* refrain_oracle_error() { return refrain::oracle::last_error; }

int refrain_oracle_create(const char* path, const char* program) {
  return or_failed(-1, [&] {
    refrain_oracle::require_unused(required(path, "the path"));
    refrain::oracle::create_run(path, required(program, "the program"));
    return 0;
  });
}

refrain_oracle* refrain_oracle_open(const refrain_oracle_options* options) {
  return or_failed<refrain_oracle*>(nullptr, [&] {
    if (options == nullptr) throw OracleError("there are no options");
    return &refrain_oracle::open({given(options->record), given(options->reference),
                                  given(options->program), options->process, options->times != 0});
  });
}

int refrain_oracle_close(refrain_oracle* oracle) {
  if (oracle == nullptr) return 0;
  return or_failed(-1, [&] {
    oracle->close();
    return 0;
  });
}

refrain_oracle_stream* refrain_oracle_join(refrain_oracle* oracle, uint32_t thread) {
  return or_failed<refrain_oracle_stream*>(nullptr, [&] {
    if (oracle == nullptr) throw OracleError("there is no run");
    return &oracle->join(thread);
  });
}

int refrain_oracle_leave(refrain_oracle_stream* stream) {
  if (stream == nullptr) return 0;
  const auto append = [&] {
    stream->append();
    return 0;
  };
  if (stream->shared) return within(stream, -1, append);
  if (!entered(*stream)) return -1;
  const int result = or_failed(-1, append);
  stream->oracle.forget(*stream);
  stream->end(refrain_oracle_stream::State::left);
  return result;
}

uint32_t refrain_oracle_event(refrain_oracle_stream* stream, const char* name) {
  return within(stream, REFRAIN_ORACLE_NONE,
                [&] { return stream->stream->event(name_required(name, "an event")); });
}

const char* refrain_oracle_name(const refrain_oracle_stream* stream, uint32_t event) {
  return within<const char*>(used(stream), nullptr, [&] {
    const std::string* const name = stream->stream->name(event);
    return name == nullptr ? nullptr : name->c_str();
  });
}

refrain_oracle_tracked refrain_oracle_submit(refrain_oracle_stream* stream, uint32_t event) {
  return within(stream, REFRAIN_ORACLE_UNKNOWN, REFRAIN_ORACLE_FAILED,
                [&] { return submit(*stream, event); });
}

refrain_oracle_tracked refrain_oracle_submit_at(refrain_oracle_stream* stream, uint32_t event,
                                                uint64_t nanoseconds) {
  return within(stream, REFRAIN_ORACLE_UNKNOWN, REFRAIN_ORACLE_FAILED,
                [&] { return submit(*stream, event, nanoseconds); });
}

int refrain_oracle_submit_later(refrain_oracle_stream* stream, uint32_t event,
                                uint64_t nanoseconds) {
  return within(stream, -1, [&] {
    stream->submit_later(event, nanoseconds);
    return 0;
  });
}

int refrain_oracle_predicts(const refrain_oracle_stream* stream) {
  return within(used(stream), 0, [&] { return stream->stream->predicts() ? 1 : 0; });
}

refrain_oracle_prediction refrain_oracle_predict(refrain_oracle_stream* stream, uint64_t distance) {
  const refrain_oracle_prediction nothing{REFRAIN_ORACLE_NONE, 0, 0, 0};
  const refrain_oracle_prediction failed{REFRAIN_ORACLE_NONE, -1, 0, 0};
  return within(stream, nothing, failed, [&]() -> refrain_oracle_prediction {
    if (!stream->stream->predicts() || distance == 0) return nothing;
    stream->catch_up();
    const auto prediction = stream->stream->predict(distance);
    return {prediction.event.value_or(REFRAIN_ORACLE_NONE), prediction.probability, prediction.end,
            prediction.delay};
  });
}

refrain_oracle_occurrence refrain_oracle_next(refrain_oracle_stream* stream, uint32_t event) {
  const refrain_oracle_occurrence nothing{0, 0, 0, 0}, failed{0, -1, 0, 0};
  return within(stream, nothing, failed, [&]() -> refrain_oracle_occurrence {
    if (!stream->stream->predicts()) return nothing;
    stream->catch_up();
    const auto occurrence = stream->stream->next(event);
    return {occurrence.distance, occurrence.probability, occurrence.end, occurrence.delay};
  });
}

int refrain_oracle_set_note(refrain_oracle_stream* stream, const char* name, const void* bytes,
                            size_t size) {
  return within(stream, -1, [&] {
    if (bytes == nullptr && size > 0)
      throw OracleError("the note's bytes are not given, but there should be " +
                        std::to_string(size));
    stream->stream->set_note(name_required(name, "a note"),
                             {static_cast<const char*>(bytes), size});
    return 0;
  });
}

const void* refrain_oracle_note(const refrain_oracle_stream* stream, const char* name,
                                size_t* size) {
  if (size != nullptr) *size = 0;
  return within<const void*>(used(stream), nullptr, [&]() -> const void* {
    const Note* const note = stream->stream->note(required(name, "the name of a note"));
    if (note == nullptr) return nullptr;
    if (size != nullptr) *size = note->bytes.size();
    return note->bytes.data();
  });
}
