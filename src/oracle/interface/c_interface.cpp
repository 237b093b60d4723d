// refrain/oracle.h: the C++ beneath it, with errors as values.

#include <cstring>
#include <exception>
#include <string>

#include "oracle/error.hpp"
#include "oracle/interface/c_objects.hpp"

using refrain::oracle::Note;
using refrain::oracle::OracleError;
using refrain::oracle::Tracked;

namespace {

// Without a destructor, so that it holds to the very end of the thread.
constexpr std::size_t kLongestError = 1024;
constinit thread_local char last_error[kLongestError] = {};

void remember(const char* what) { std::strncpy(last_error, what, kLongestError - 1); }

/// What the function returns, or `failed`, if it throws.
template <class Result, class Function>
Result or_failed(Result failed, const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) { remember(error.what()); }
  return failed;
}

/// The same with a stream that this thread may use; without one `failed`.
template <class Result, class Function>
Result within(refrain_oracle_stream* stream, Result failed, const Function& function) {
  if (stream == nullptr) {
    remember("there is no stream");
    return failed;
  }
  if (!stream->enter()) {
    remember("the stream is used by another thread, or the process is at its end");
    return failed;
  }
  const Result result = or_failed(failed, function);
  stream->exit();
  return result;
}

/// For what has to be given. OracleError: it is not.
const char* required(const char* text, const char* what) {
  if (text == nullptr) throw OracleError(std::string(what) + " is not given");
  return text;
}

std::optional<std::string> given(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

refrain_oracle_tracked submit(refrain_oracle_stream* stream, std::uint32_t event,
                              std::optional<std::uint64_t> now) {
  const auto track = [&] { return stream->stream->submit(event, now); };
  const Tracked tracked = stream->assessment ? stream->assessment->submit(event, track) : track();
  switch (tracked) {
    case Tracked::expected: return REFRAIN_ORACLE_EXPECTED;
    case Tracked::unexpected: return REFRAIN_ORACLE_UNEXPECTED;
    case Tracked::unknown: break;
  }
  return REFRAIN_ORACLE_UNKNOWN;
}

}  // namespace

const char* refrain_oracle_error() { return last_error; }

int refrain_oracle_create(const char* path, const char* program) {
  return or_failed(-1, [&] {
    refrain::oracle::create_run(required(path, "the path"), required(program, "the program"));
    return 0;
  });
}

refrain_oracle* refrain_oracle_open(const refrain_oracle_options* options) {
  return or_failed<refrain_oracle*>(nullptr, [&] {
    if (options == nullptr) throw OracleError("there are no options");
    return new refrain_oracle({given(options->record), given(options->reference),
                               given(options->program), options->process, options->times != 0});
  });
}

int refrain_oracle_close(refrain_oracle* oracle) {
  if (oracle == nullptr) return 0;
  int result = 0;
  while (refrain_oracle_stream* const stream = oracle->any())
    if (refrain_oracle_leave(stream) != 0) result = -1;
  delete oracle;
  return result;
}

refrain_oracle_stream* refrain_oracle_join(refrain_oracle* oracle, uint32_t thread) {
  return or_failed<refrain_oracle_stream*>(nullptr, [&] {
    if (oracle == nullptr) throw OracleError("there is no run");
    auto stream = std::make_unique<refrain_oracle_stream>(*oracle, thread);
    oracle->keep(*stream);
    return stream.release();
  });
}

int refrain_oracle_leave(refrain_oracle_stream* stream) {
  if (stream == nullptr) return 0;
  if (stream->shared)
    return within(stream, -1, [&] {
      stream->stream->append();
      return 0;
    });
  if (!stream->oracle.forget(*stream)) return 0;
  const int result = or_failed(-1, [&] {
    stream->stream->append();
    return 0;
  });
  stream->oracle.run.leave(stream->thread);
  delete stream;
  return result;
}

uint32_t refrain_oracle_event(refrain_oracle_stream* stream, const char* name) {
  return within(stream, REFRAIN_ORACLE_NONE,
                [&] { return stream->stream->event(required(name, "the name")); });
}

const char* refrain_oracle_name(const refrain_oracle_stream* stream, uint32_t event) {
  const std::string* const name = stream == nullptr ? nullptr : stream->stream->name(event);
  return name == nullptr ? nullptr : name->c_str();
}

refrain_oracle_tracked refrain_oracle_submit(refrain_oracle_stream* stream, uint32_t event) {
  return within(stream, REFRAIN_ORACLE_UNKNOWN,
                [&] { return submit(stream, event, std::nullopt); });
}

refrain_oracle_tracked refrain_oracle_submit_at(refrain_oracle_stream* stream, uint32_t event,
                                                uint64_t nanoseconds) {
  return within(stream, REFRAIN_ORACLE_UNKNOWN, [&] { return submit(stream, event, nanoseconds); });
}

int refrain_oracle_predicts(const refrain_oracle_stream* stream) {
  return stream != nullptr && stream->stream->predicts() ? 1 : 0;
}

refrain_oracle_prediction refrain_oracle_predict(refrain_oracle_stream* stream, uint64_t distance) {
  const refrain_oracle_prediction nothing{REFRAIN_ORACLE_NONE, 0, 0, 0};
  return within(stream, nothing, [&]() -> refrain_oracle_prediction {
    if (!stream->stream->predicts() || distance == 0) return nothing;
    const auto prediction = stream->stream->predict(distance);
    return {prediction.event.value_or(REFRAIN_ORACLE_NONE), prediction.probability, prediction.end,
            prediction.delay};
  });
}

refrain_oracle_occurrence refrain_oracle_next(refrain_oracle_stream* stream, uint32_t event) {
  const refrain_oracle_occurrence nothing{0, 0, 0, 0};
  return within(stream, nothing, [&]() -> refrain_oracle_occurrence {
    if (!stream->stream->predicts()) return nothing;
    const auto occurrence = stream->stream->next(event);
    return {occurrence.distance, occurrence.probability, occurrence.end, occurrence.delay};
  });
}

int refrain_oracle_set_note(refrain_oracle_stream* stream, const char* name, const void* bytes,
                            size_t size) {
  return within(stream, -1, [&] {
    stream->stream->set_note(required(name, "the name"),
                             {static_cast<const char*>(bytes), bytes == nullptr ? 0 : size});
    return 0;
  });
}

const void* refrain_oracle_note(const refrain_oracle_stream* stream, const char* name,
                                size_t* size) {
  const Note* const note =
      stream == nullptr || name == nullptr ? nullptr : stream->stream->note(name);
  if (size != nullptr) *size = note == nullptr ? 0 : note->bytes.size();
  return note == nullptr ? nullptr : note->bytes.data();
}
