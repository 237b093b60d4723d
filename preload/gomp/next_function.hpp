#pragma once
// The functions that this library stands before: what the program would have called without it.

namespace refrain::gomp {

/// The function of that name in the libraries loaded after this one. One that is only in a libgomp which a plug-in
/// brought along is found, too; of several such, whichever was loaded first. Ends the process if there is none, as the
/// dynamic linker does.
void* next_function(const char* name);

template <class Function>
Function* next_function(const char* name) {
  return reinterpret_cast<Function*>(next_function(name));
}

}  // namespace refrain::gomp

/// The function behind the one of this name; looked up at the first use.
#define REFRAIN_NEXT(name)                                                                \
  ([]() noexcept -> decltype(&name) {                                                     \
    static const auto next = refrain::gomp::next_function<decltype(name)>(#name);         \
    return next;                                                                          \
  }())
