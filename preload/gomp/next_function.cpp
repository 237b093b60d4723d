#include "gomp/next_function.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace refrain::gomp {
namespace {

int is_libgomp(dl_phdr_info* object, std::size_t, void* result) {
  const char* slash = std::strrchr(object->dlpi_name, '/');
  const char* name = slash ? slash + 1 : object->dlpi_name;
  if (std::strncmp(name, "libgomp", 7) != 0) return 0;
  *static_cast<const char**>(result) = object->dlpi_name;
  return 1;
}

/// In a libgomp that was loaded for a plug-in alone, where RTLD_NEXT does not look.
void* plugin_function(const char* name) {
  const char* path = nullptr;
  dl_iterate_phdr(is_libgomp, &path);
  void* library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  return library ? dlsym(library, name) : nullptr;
}

}  // namespace

void* next_function(const char* name) {
  void* result = dlsym(RTLD_NEXT, name);
  if (!result) result = plugin_function(name);
  if (result) return result;
  std::fprintf(stderr, "refrain: no library has %s\n", name);
  std::abort();
}

}  // namespace refrain::gomp
