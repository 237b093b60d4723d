#include "support/next.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>

namespace refrain::preload {

namespace {

struct Search {
  const char* name;
  void* found;
};

/// The address is that of some symbol in this library.
bool is_own(const void* address) {
  Dl_info there, here;
  return dladdr(address, &there) != 0 && dladdr(reinterpret_cast<void*>(&is_own), &here) != 0 &&
         there.dli_fbase == here.dli_fbase;
}

int look_into(dl_phdr_info* library, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  void* const handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  void* const symbol = dlsym(handle, search.name);
  dlclose(handle);
  if (symbol == nullptr || is_own(symbol)) return 0;
  search.found = symbol;
  return 1;
}

}  // namespace

void* next_symbol(const char* name) {
  if (void* const symbol = dlsym(RTLD_NEXT, name)) return symbol;
  Search search{name, nullptr};
  dl_iterate_phdr(look_into, &search);
  if (search.found == nullptr) {
    std::fprintf(stderr, "refrain: the program calls %s, which no library has\n", name);
    std::abort();
  }
  return search.found;
}

}  // namespace refrain::preload
