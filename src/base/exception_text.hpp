#pragma once
// Exceptions of the program's own functions (bodies, operators, mappers, projections), in messages.

#include <exception>
#include <string>

namespace refrain {

/// what() of the exception; of one that is no std::exception, its type.
std::string text_of(const std::exception_ptr& error);
/// "TYPE: what()"; of one that is no std::exception, the type alone.
std::string type_and_text_of(const std::exception_ptr& error);
/// In a handler: the type's name as programs write it.
std::string type_of_current_exception();

/// In a handler: throws a UsageError "WHO: TEXT OF THE EXCEPTION", in which the exception is nested
/// (std::rethrow_if_nested).
[[noreturn]] void fail_around(const std::string& who);

}  // namespace refrain
