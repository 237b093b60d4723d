#include "gomp/function_name.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace refrain::gomp {
namespace {

/// A file's bytes; none if it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      bytes_ = mapped == MAP_FAILED ? nullptr : static_cast<const std::byte*>(mapped);
    }
    close(file);
  }
  ~MappedFile() {
    if (bytes_) munmap(const_cast<std::byte*>(bytes_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// `count` of T at `offset`; none if they are not all in the file.
  template <class T>
  std::span<const T> at(std::uint64_t offset, std::uint64_t count) const {
    if (!bytes_ || offset % alignof(T) != 0 || offset > size_) return {};
    if (count > (size_ - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(bytes_ + offset), static_cast<std::size_t>(count)};
  }

 private:
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// The symbol at `offset` from where the module is loaded, among all that the file has, local ones too: functions made
/// from parallel regions are local. "" if none is there.
std::string symbol_at(const MappedFile& file, std::uintptr_t offset) {
  const auto header = file.at<ElfW(Ehdr)>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto sections = file.at<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
  for (const auto& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const auto& names = sections[section.sh_link];
    const auto symbols = file.at<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)));
    for (const auto& symbol : symbols) {
      // Of thread-local variables it is no address that is there.
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) == STT_TLS) continue;
      if (offset < symbol.st_value) continue;
      if (offset - symbol.st_value >= symbol.st_size || symbol.st_name >= names.sh_size) continue;
      const auto text =
          file.at<char>(names.sh_offset + symbol.st_name, names.sh_size - symbol.st_name);
      return {text.data(), strnlen(text.data(), text.size())};
    }
  }
  return {};
}

/// How many objects have been unloaded: while there are no more, one that is loaded is still the one that it was.
unsigned long long unloaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* first, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = first->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

/// The file, which stays mapped until another is asked for: regions of one module come one after the other. A library
/// may be closed, made anew and opened again.
const MappedFile& opened(const char* path) {
  struct Last {
    std::string path;
    unsigned long long unloaded = 0;
    std::optional<MappedFile> file;
  };
  thread_local Last last;
  const unsigned long long now = unloaded();
  if (!last.file || last.path != path || last.unloaded != now) {
    last.path = path;
    last.unloaded = now;
    last.file.emplace(path);
  }
  return *last.file;
}

/// "_Z7computePd._omp_fn.0" is "compute(double*)._omp_fn.0"; a critical section's variable is called as the section.
std::string demangled(const std::string& symbol) {
  constexpr std::string_view critical = ".gomp_critical_user_";
  if (symbol.starts_with(critical)) return symbol.substr(critical.size());
  if (!symbol.starts_with("_Z")) return symbol;
  const std::size_t end = std::min(symbol.find("._omp_fn"), symbol.size());
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.substr(0, end).c_str(), nullptr, nullptr, &status), &std::free);
  return name ? name.get() + symbol.substr(end) : symbol;
}

}  // namespace

std::string function_name(const void* address) {
  Dl_info place{};
  void* found = nullptr;
  if (!dladdr1(address, &place, &found, RTLD_DL_LINKMAP)) return "?";
  const auto* module = static_cast<const link_map*>(found);
  // The program itself has no name in the list of what is loaded, and dli_fname is how it was called.
  const bool program = !module->l_name || !*module->l_name;
  const char* path = program ? "/proc/self/exe" : module->l_name;
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - module->l_addr;
  const std::string symbol = symbol_at(opened(path), offset);
  if (!symbol.empty()) return demangled(symbol);
  const char* slash = std::strrchr(place.dli_fname, '/');
  char text[32];
  std::snprintf(text, sizeof text, "+0x%jx", static_cast<std::uintmax_t>(offset));
  return (slash ? slash + 1 : place.dli_fname) + std::string(text);
}

}  // namespace refrain::gomp
