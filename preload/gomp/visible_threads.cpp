#include "gomp/visible_threads.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <string_view>
#include <vector>

namespace refrain::gomp {
namespace {

/// Of libraries that do for any thread what they do for one, whatever they have for each; or are parts of this.
constexpr std::string_view trusted[] = {
    "libc.so",  "libm.so",        "libmvec.so", "libgomp.so",   "libgcc_s.so",
    "libdl.so", "libpthread.so",  "librt.so",   "libstdc++.so", "libgfortran.so",
    "ld-linux", "libquadmath.so", "linux-vdso", "libzstd.so",   "librefrain_oracle",
};

/// The same, whatever team calls them, and whether it does so in one thread or in many.
constexpr std::string_view harmless[] = {
    "GOMP_atomic_start", "GOMP_atomic_end",       "GOMP_critical_end", "GOMP_critical_name_end",
    "omp_get_wtime",     "omp_get_wtick",         "omp_init_lock",     "omp_init_nest_lock",
    "omp_destroy_lock",  "omp_destroy_nest_lock", "omp_unset_lock",    "omp_unset_nest_lock",
    "omp_display_env",
};

/// How what is called begins that tells threads apart, changes one, waits for others, or finds functions by name. Where
/// an entry ends with a blank it is the whole name.
constexpr std::string_view telling[] = {
    // threads and what they wait for
    "pthread_",
    "thrd_",
    "cnd_",
    "mtx_",
    "tss_",
    "sem_",
    "semop",
    "semtimedop",
    "msgrcv",
    "mq_",
    "futex",
    "_ZNSt18condition_variable",
    "_ZNSt22condition_variable",
    "_ZNSt28__atomic_futex_unsigned_base",
    "_ZNSt11this_thread",
    "__cxa_thread_atexit",
    "__emutls_get_address",
    "__tls_get_addr",
    // time that passes while others work
    "sleep ",
    "usleep ",
    "nanosleep ",
    "clock_nanosleep ",
    "select ",
    "pselect ",
    "poll ",
    "ppoll ",
    "epoll_",
    "pause ",
    "sigwait",
    "sigsuspend ",
    "sigtimedwait ",
    "alarm ",
    "setitimer ",
    "timer_",
    "eventfd",
    "pipe ",
    "pipe2 ",
    // what the kernel knows of a thread
    "syscall ",
    "gettid ",
    "sched_",
    "getcpu ",
    "prctl ",
    "arch_prctl ",
    "setpriority ",
    "getpriority ",
    "set_mempolicy",
    "get_mempolicy",
    "mbind ",
    "numa_",
    "sigprocmask ",
    "sigaltstack ",
    "getrusage ",
    "clock_getcpuclockid ",
    "hwloc_",
    // other code
    "dlopen ",
    "dlmopen ",
    "dlsym ",
    "dlvsym ",
    "fork ",
    "vfork ",
    "clone ",
    "makecontext ",
    "swapcontext ",
    "setcontext ",
};

/// These begin like some of the above.
constexpr std::string_view telling_nothing[] = {"pthread_create", "pthread_join",
                                                "pthread_attr_init", "pthread_attr_destroy"};

bool tells(std::string_view name) {
  if (std::ranges::find(telling_nothing, name) != std::end(telling_nothing)) return false;
  return std::ranges::any_of(telling, [&](std::string_view known) {
    return known.ends_with(' ') ? name == known.substr(0, known.size() - 1)
                                : name.starts_with(known);
  });
}

/// Whether the function of that name which the program calls is one of this library.
bool is_here(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  Dl_info there{}, here{};
  return found != nullptr && dladdr(found, &there) != 0 &&
         dladdr(reinterpret_cast<void*>(&is_here), &here) != 0 && there.dli_fbase == here.dli_fbase;
}

/// Fortran's have an underscore behind. What begins a loop or sections is known where it goes on.
bool is_harmless(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return std::ranges::find(harmless, name) != std::end(harmless) || name.ends_with("_next") ||
         name.starts_with("GOMP_loop_end") || name.starts_with("GOMP_sections_end");
}

bool is_of_libgomp(std::string_view name) {
  return name.starts_with("GOMP_") || name.starts_with("omp_") || name.starts_with("GOACC_") ||
         name.starts_with("acc_") || name.starts_with("ompt_");
}

/// What is behind the address of a dynamic section's entry: the loader has written addresses there, but for some.
template <class T>
const T* at(const dl_phdr_info& object, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < object.dlpi_addr ? object.dlpi_addr + address
                                                               : address);
}

/// The names that an object wants from others, in the order of its relocations.
template <class Visit>
bool visit_imports(const dl_phdr_info& object, const Visit& visit) {
  const ElfW(Dyn)* entry = nullptr;
  for (const auto& segment : std::span(object.dlpi_phdr, object.dlpi_phnum))
    if (segment.p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + segment.p_vaddr);
  if (entry == nullptr) return true;  // it has no dynamic symbols
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  std::span<const ElfW(Rela)> relocations[2];
  const ElfW(Rela) * tables[2] = {};
  std::size_t sizes[2] = {};
  for (; entry->d_tag != DT_NULL; ++entry) {
    const auto value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols = at<ElfW(Sym)>(object, value); break;
      case DT_STRTAB: strings = at<char>(object, value); break;
      case DT_RELA: tables[0] = at<ElfW(Rela)>(object, value); break;
      case DT_RELASZ: sizes[0] = value; break;
      case DT_JMPREL: tables[1] = at<ElfW(Rela)>(object, value); break;
      case DT_PLTRELSZ: sizes[1] = value; break;
      case DT_REL: return false;  // another form, which nothing here reads
      default: break;
    }
  }
  if (symbols == nullptr || strings == nullptr) return true;
  for (int i : {0, 1})
    if (tables[i] != nullptr) relocations[i] = {tables[i], sizes[i] / sizeof(ElfW(Rela))};
  for (const auto& table : relocations)
    for (const auto& relocation : table) {
      const auto& symbol = symbols[ELF64_R_SYM(relocation.r_info)];
      if (ELF64_R_SYM(relocation.r_info) != 0 && symbol.st_shndx == SHN_UNDEF)
        visit(strings + symbol.st_name);
    }
  return true;
}

/// What is found out while objects are listed. Functions are looked up behind that: it takes a lock which a thread that
/// loads an object holds while it waits to change the list.
struct Findings {
  std::string reason;
  struct Import {
    std::string object;
    const char* name;
  };
  std::vector<Import> of_libgomp;
  struct Code {
    std::uintptr_t begin, end;
  };
  std::vector<Code> code;  ///< of what is not trusted
};

int look(dl_phdr_info* object, std::size_t, void* of) {
  auto& found = *static_cast<Findings*>(of);
  const std::string_view path = object->dlpi_name;
  const std::string name = path.empty() ? "the program" : std::string(path);
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const auto is_file = [&](std::string_view known) { return file.starts_with(known); };
  if (!path.empty() && std::ranges::any_of(trusted, is_file)) return 0;
  for (const auto& segment : std::span(object->dlpi_phdr, object->dlpi_phnum))
    if (segment.p_type == PT_TLS && segment.p_memsz > 0) {
      found.reason = name + " has thread-local variables";
    } else if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
      found.code.push_back({begin, begin + segment.p_memsz});
    }
  const bool read = visit_imports(*object, [&](const char* import) {
    if (tells(import)) found.reason = name + " calls " + import;
    else if (is_of_libgomp(import)) found.of_libgomp.push_back({name, import});
  });
  if (!read) found.reason = name + " is of a form that is not known";
  return found.reason.empty() ? 0 : 1;
}

bool is_in(std::span<const Findings::Code> code, std::uintptr_t address) {
  return std::ranges::any_of(
      code, [&](const auto& part) { return part.begin <= address && address < part.end; });
}

/// With the reason that was found last.
Findings look_everywhere() {
  Findings found;
  dl_iterate_phdr(look, &found);
  if (!found.reason.empty()) return found;
  for (const auto& [object, import] : found.of_libgomp)
    if (!is_harmless(import) && !is_here(import)) found.reason = object + " calls " + import;
  if (is_in(found.code, reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "malloc"))))
    found.reason = "there is another malloc() than the system's";
  return found;
}

// Never destroyed: threads may be there until the very end.
const Findings& findings() {
  static const auto* const found = new Findings(look_everywhere());
  return *found;
}

std::atomic<bool> different{false};

}  // namespace

const std::string& VisibleThreads::reason() { return findings().reason; }

bool VisibleThreads::is_of_program(std::uintptr_t address) {
  return is_in(findings().code, address);
}

void VisibleThreads::differ() { different.store(true, std::memory_order_relaxed); }
bool VisibleThreads::do_differ() { return different.load(std::memory_order_relaxed); }

}  // namespace refrain::gomp
