#pragma once
// Exceptions of the program's own functions (bodies, operators, mappers, projections), in messages.

#include <exception>
#include <string>

namespace refrain {

/// what() of the exception, or that it has none.
std::string text_of(const std::exception_ptr& error);

/// In a handler: throws a UsageError "WHO: TEXT OF THE EXCEPTION", in which the exception is nested
/// (std::rethrow_if_nested).
[[noreturn]] void fail_around(const std::string& who);

}  // namespace refrain
