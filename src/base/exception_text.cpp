#include "base/exception_text.hpp"

#include "refrain/error.hpp"

namespace refrain {

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    const char* text = e.what();
    return text != nullptr ? text : "an exception without a text";
  } catch (...) { return "an exception that is not a std::exception"; }
}

void fail_around(const std::string& who) {
  std::throw_with_nested(UsageError(who + ": " + text_of(std::current_exception())));
}

}  // namespace refrain
