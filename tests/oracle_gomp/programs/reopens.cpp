// Opens libraries one after the other under one path, and closes each before the next takes its place:
//
//   reopens PATH LIBRARY...

#include <dlfcn.h>
#include <omp.h>

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  // So libgomp stays: where libraries alone use it, it is unloaded while its threads wait in it, and they crash.
  if (omp_get_wtime() < 0) return 1;
  for (int i = 2; i < argc; ++i) {
    std::filesystem::remove(argv[1]);
    std::filesystem::copy_file(argv[i], argv[1]);
    void* const library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    reinterpret_cast<void (*)()>(dlsym(library, "run"))();
    dlclose(library);
  }
}
