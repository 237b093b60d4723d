#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <typeinfo>

#include "base/assert.hpp"
#include "base/exception_text.hpp"
#include "refrain/error.hpp"

namespace refrain {

void assertion_failed(const char* condition, const char* sentence, const char* file,
                      int line) noexcept {
  std::fprintf(stderr, "refrain: internal error at %s:%d: %s (%s)\n", file, line, sentence,
               condition);
  std::abort();
}

std::string to_string(const std::source_location& where) {
  std::string file = where.file_name();
  if (auto slash = file.rfind('/'); slash != std::string::npos) file.erase(0, slash + 1);
  return file + ":" + std::to_string(where.line());
}

namespace {
std::string text_of(const std::exception& error) {
  const char* const text = error.what();
  return text != nullptr ? text : "an exception without a text";
}
}  // namespace

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) { return text_of(e); } catch (...) {
    return "an exception of type " + type_of_current_exception();
  }
}

std::string type_and_text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return type_of_current_exception() + ": " + text_of(e);
  } catch (...) { return type_of_current_exception(); }
}

std::string type_of_current_exception() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "that is not known";
  int status = 0;
  char* const readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string name = readable != nullptr ? readable : type->name();
  std::free(readable);
  return name;
}

void fail_around(const std::string& who) {
  std::throw_with_nested(UsageError(who + ": " + text_of(std::current_exception())));
}

}  // namespace refrain
