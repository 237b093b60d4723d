#pragma once
// Whether a program could see by which thread of the kernel something in a region is done, other than by what libgomp
// tells it. If it could, teams stay as the program wants them (REFRAIN_ORACLE_TEAMS=safe).
//
// What a program can do is known from what is loaded: each object's segments and the functions it imports. A thread is
// visible where one of them, other than the system's and the compiler's libraries,
//   has thread-local variables (threadprivate ones are such),
//   imports a function of these libraries that is not in a list of those that are the same for any thread: it may tell
//   threads apart, change one, let one wait for another, or find functions by name,
//   imports a function of libgomp that this library neither stands before nor knows to be the same for any team,
//   has a malloc() of its own, which a signal's handler could interrupt.
// An object that is loaded later can only be loaded by a function that finds functions by name.

#include <cstdint>
#include <string>

namespace refrain::gomp {

class VisibleThreads {
 public:
  /// Looked up at the first call, which reads the imports of all objects. Any thread.
  static bool are_there() { return !reason().empty(); }
  /// Why they are: "./solver has thread-local variables". Empty, if they are not.
  static const std::string& reason();

  /// Whether code at the address is of the program or of a library that is neither the system's nor the compiler's.
  /// Requires that reason() was called; safe in a signal's handler.
  static bool is_of_program(std::uintptr_t address);

  /// A region has left threads with modes of their own, for floating-point numbers: which one does what makes a
  /// difference from now on. Any thread; seen by others at their next region, or soon after.
  static void differ();
  static bool do_differ();
};

}  // namespace refrain::gomp
