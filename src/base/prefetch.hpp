#pragma once
// Asking for cache lines before they are needed. Only advice: any address may be given.

namespace refrain {

/// The line will be written, and other threads may have written it: it is wanted exclusively.
inline void prefetch_exclusive(const void* address) {
#if defined(__x86_64__)
  // The compiler's own would ask for a shared copy unless told of a newer processor.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace refrain
