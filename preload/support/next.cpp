#include "support/next.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace refrain::preload {

namespace {

/// The address is that of some symbol in this library.
bool is_own(const void* address) {
  Dl_info there, here;
  return dladdr(address, &there) != 0 && dladdr(reinterpret_cast<void*>(&is_own), &here) != 0 &&
         there.dli_fbase == here.dli_fbase;
}

int add_name(dl_phdr_info* library, std::size_t, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(library->dlpi_name);
  return 0;
}

/// In a library that was loaded for others only. None is opened while they are listed: that has a lock which a thread
/// that loads one waits for.
void* anywhere(const char* name) {
  std::vector<std::string> libraries;
  dl_iterate_phdr(add_name, &libraries);
  for (const std::string& library : libraries) {
    void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const symbol = dlsym(handle, name);
    dlclose(handle);
    if (symbol != nullptr && !is_own(symbol)) return symbol;
  }
  return nullptr;
}

}  // namespace

void* next_symbol(const char* name) {
  if (void* const symbol = dlsym(RTLD_NEXT, name)) return symbol;
  if (void* const symbol = anywhere(name)) return symbol;
  std::fprintf(stderr, "refrain: the program calls %s, which no library has\n", name);
  std::abort();
}

}  // namespace refrain::preload
