#pragma once
// Errors a program can cause or meet. Every error thrown by Refrain derives from Error; its text names
// what it is about in the program's words: task, argument, region, source line, what was expected and
// what was found. Mistakes inside Refrain itself are assertions (base/assert.hpp), never an Error.

#include <exception>
#include <stdexcept>
#include <string>

#include "refrain/where.hpp"

namespace refrain {

/// Base of everything Refrain throws. Itself where nothing below fits: an exception of another library in the middle of
/// a call (the context then refuses all further calls), a report that cannot be written.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The program asked for something that cannot be: a colour the partition does not have, a region
/// used after its destruction, a wrong type, conflicting points of a group, and the like. What a mapper, a
/// projection or a function of per_point threw is nested in it (std::rethrow_if_nested).
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A flag, a machine description or another input file is malformed.
class InputError : public Error {
 public:
  using Error::Error;
};

/// No allowed memory can hold what a launch needs. Or the process has none left in the middle of a call: then
/// the context ends what it has launched and refuses all further calls with the same error.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A wait that can never end: the text is the chain of who waits for whom.
class Deadlock : public Error {
 public:
  using Error::Error;
};

/// A task threw. `what()` names the task and the launch and repeats the original text; `original()` is
/// the exception itself. A task whose child failed fails in turn: then the original is a TaskFailed, too.
class TaskFailed : public Error {
 public:
  TaskFailed(const std::string& text, std::exception_ptr original, int levels = 1)
      : Error(text), original_(std::move(original)), levels_(levels) {}
  /// What the task threw. Of a long chain of tasks, each the child of the one before: what one of the
  /// innermost threw.
  [[nodiscard]] std::exception_ptr original() const noexcept { return original_; }
  /// How many tasks have failed with it, each the child of the one before.
  [[nodiscard]] int levels() const noexcept { return levels_; }

 private:
  std::exception_ptr original_;
  int levels_;
};

}  // namespace refrain
