#pragma once
// What goes wrong with arrays: errors with NumPy's words, the shapes, and the source line of the call. Each is also
// an Error of Refrain. Their texts begin with the line: "channel.cpp:42: operands could not be broadcast
// together with shapes (3,) (4,)"; message() and where() have the two apart, for other languages' exceptions.

#include <source_location>
#include <string>

#include "refrain/error.hpp"

namespace refrain::arrays {

/// Base of what this library throws.
class ArrayError : public UsageError {
 public:
  ArrayError(const std::source_location& where, const std::string& message)
      : UsageError(refrain::to_string(where) + ": " + message), where_(where), message_(message) {}
  /// The line of the program whose call went wrong.
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }
  /// NumPy's words, without the line.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 private:
  std::source_location where_;
  std::string message_;
};
/// NumPy's ValueError: shapes that do not fit, an empty reduction, a value out of its range.
class ValueError : public ArrayError {
 public:
  using ArrayError::ArrayError;
};
/// NumPy's IndexError: an index out of range, too many indices.
class IndexError : public ArrayError {
 public:
  using ArrayError::ArrayError;
};
/// NumPy's AxisError: an axis that the array does not have.
class AxisError : public IndexError {
 public:
  using IndexError::IndexError;
};
/// NumPy's TypeError: a type for which the operation does not exist or to which its result cannot be cast.
class TypeError : public ArrayError {
 public:
  using ArrayError::ArrayError;
};

/// NumPy's MemoryError: an array that the machine's memory cannot hold.
class MemoryError : public ArrayError {
 public:
  using ArrayError::ArrayError;
};

}  // namespace refrain::arrays
