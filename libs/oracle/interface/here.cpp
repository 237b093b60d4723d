// refrain_oracle_here() and what goes with it: a thread's stream of the run in its environment.

#include <exception>

#include "oracle/interface/c_errors.hpp"
#include "oracle/interface/environment.hpp"

namespace {

using refrain::oracle::complain;
using refrain::oracle::Environment;
using refrain::oracle::or_failed;

/// A thread's stream, which another one has after its end.
struct Here {
  ~Here();

  Environment* of = nullptr;
  refrain_oracle_stream* stream = nullptr;
};

thread_local Here here;
/// `here` has been destroyed: this may be read as long as there is the thread.
thread_local bool is_over = false;

Here::~Here() {
  is_over = true;
  if (stream != nullptr && of->is_current()) of->give_back(*stream);
}

/// The process ends; threads that are still there may be about to use their streams.
struct AtEnd {
  ~AtEnd() {
    if (Environment* const made = Environment::made(); made != nullptr) made->end();
  }
};

const AtEnd at_end;

}  // namespace

refrain_oracle_stream* refrain_oracle_here() {
  if (is_over) return nullptr;
  if (here.of != nullptr && here.of->is_current()) return here.stream;
  try {
    Environment& environment = Environment::current();
    here.stream = environment.join();
    here.of = &environment;
    return here.stream;
  } catch (const std::exception& error) {
    complain(error.what());
    return nullptr;
  }
}

void refrain_oracle_assess(refrain_oracle_stream* stream) {
  if (stream == nullptr || !stream->assessment || !stream->assessment->is_drawn()) return;
  if (!stream->enter()) return;
  or_failed(0, [&] {
    stream->catch_up();
    stream->assessment->predict(*stream->stream);
    return 0;
  });
  stream->exit();
}

void refrain_oracle_say(const char* line) {
  Environment* const made = Environment::made();
  if (made == nullptr || line == nullptr) return;
  try {
    made->say(line);
  } catch (const std::exception& error) { complain(error.what()); }
}
