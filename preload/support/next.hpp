#pragma once
// The function of a name that the program would call, were the preload library not there: looked for at the first call
// only, so that nothing has to be there before.

#include <atomic>

namespace refrain::preload {

/// The symbol that comes after this library's own in the order of libraries; or, for a library that was loaded later
/// and is not in that order (a Python module's), its own in any library. Ends the process with a message where there
/// is none: it was called, and can be neither carried out nor refused.
void* next_symbol(const char* name);

template <class Pointer>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}

  /// Any thread. Several may look for it at once: they find the same, and nothing else is published with it.
  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    const Pointer function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]]
      return look_for_it()(arguments...);
    return function(arguments...);
  }

 private:
  [[gnu::noinline]] Pointer look_for_it() {
    const auto function = reinterpret_cast<Pointer>(next_symbol(name_));
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

  const char* name_;
  std::atomic<Pointer> function_ = nullptr;
};

}  // namespace refrain::preload
