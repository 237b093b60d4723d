#include "gomp/visible_threads.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <string_view>
#include <vector>

namespace refrain::gomp {
namespace {

/// Of libraries that do for any thread what they do for one, as far as `harmless` has what is called; or are parts of
/// this.
constexpr std::string_view trusted[] = {
    "libc.so",  "libm.so",        "libmvec.so", "libgomp.so",   "libgcc_s.so",
    "libdl.so", "libpthread.so",  "librt.so",   "libstdc++.so", "libgfortran.so",
    "ld-linux", "libquadmath.so", "linux-vdso", "libzstd.so",   "librefrain_oracle",
};

/// Those of them that compute, and nothing else.
constexpr std::string_view computing[] = {"libm.so", "libmvec.so", "libquadmath.so", "libzstd.so"};

/// Functions and variables, of `trusted`, that are the same whatever thread of a team uses them, and whether it does so
/// in one thread of the kernel or in many: names, or forms of them (* is any text). What is not here tells threads apart,
/// changes one, waits for others, finds functions by name; or nobody has looked yet.
constexpr std::string_view harmless[] = {
    // libgomp. What begins a loop or sections is known where it goes on
    R"(GOMP_atomic_start GOMP_atomic_end GOMP_critical_end GOMP_critical_name_end GOMP_loop_end* GOMP_sections_end*
       omp_get_wtime omp_get_wtick omp_init_lock omp_init_nest_lock omp_destroy_lock omp_destroy_nest_lock
       omp_unset_lock omp_unset_nest_lock omp_display_env)",
    // beginning and end; threads of the program's own, which are not of a team
    R"(__libc_start_main _init _fini exit _exit _Exit quick_exit abort atexit at_quick_exit on_exit __assert
       __assert_fail __stack_chk_fail __chk_fail __fortify_fail _setjmp setjmp __sigsetjmp longjmp _longjmp
       siglongjmp __longjmp_chk pthread_create pthread_join pthread_attr_init pthread_attr_destroy)",
    // memory
    R"(malloc calloc realloc reallocarray free cfree posix_memalign aligned_alloc memalign valloc pvalloc
       malloc_usable_size malloc_trim mmap mmap64 munmap mem* __mem* wmem* __wmem* bcopy bzero bcmp
       explicit_bzero swab)",
    // strings and characters: but strerror() and strsignal()
    R"(strlen strnlen strcpy strncpy strlcpy stpcpy stpncpy strcat strncat strlcat strcmp strncmp strcasecmp
       strncasecmp strcoll* strxfrm* strverscmp strchr strchrnul strrchr strstr strcasestr strspn strcspn
       strpbrk strtok strtok_r __strtok_r strsep strdup strndup __strdup __strndup strto* __strto*
       __isoc23_strto* __isoc23_wcsto* __strcpy* __strncpy* __strcat* __strncat* __stpcpy* __stpncpy*
       strftime* __strftime_l strptime* strfmon* index rindex basename dirname __xpg_basename wcs* __wcs*
       wcp* __wcp* mbs* __mbs* mbr* __mbr* mblen mbtowc wctomb wctob btowc wcrtomb __wcrtomb_chk __ctype_*
       isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit isw*
       __isw* tolower toupper tow* __tow* wctype* __wctype_l atoi atol atoll atof regcomp regexec regfree
       regerror fnmatch setlocale localeconv nl_langinfo* __nl_langinfo_l newlocale __newlocale freelocale
       __freelocale duplocale __duplocale gettext dgettext dcgettext ngettext textdomain bindtextdomain
       bind_textdomain_codeset)",
    // numbers, and sorting
    R"(abs labs llabs div ldiv lldiv ffs* rand rand_r srand random random_r srandom* initstate* setstate* drand48*
       erand48* lrand48* nrand48* mrand48* jrand48* srand48* seed48* lcong48* getrandom getentropy
       arc4random* qsort qsort_r bsearch lfind lsearch signgam frexp* ldexp* modf modff modfl scalbn*
       copysign* isnan* isinf* finite* __isnan* __isinf* __finite* __fpclassify* __signbit*)",
    // modes that a folded team looks after; which exceptions have been raised is each thread's own
    R"(fesetround fegetround feenableexcept fedisableexcept fegetexcept)",
    // files: but what waits for a lock. For others waits what is in waiting_calls.cpp, where the team is started
    R"(stdin stdout stderr printf fprintf sprintf snprintf dprintf asprintf vprintf vfprintf vsprintf vsnprintf
       vdprintf vasprintf __printf_chk __fprintf_chk __sprintf_chk __snprintf_chk __dprintf_chk
       __asprintf_chk __vprintf_chk __vfprintf_chk __vsprintf_chk __vsnprintf_chk __vasprintf_chk wprintf
       fwprintf swprintf vwprintf vfwprintf vswprintf scanf fscanf sscanf vscanf vfscanf vsscanf __isoc99_*
       __isoc23_scanf __isoc23_fscanf __isoc23_sscanf __isoc23_vscanf __isoc23_vfscanf __isoc23_vsscanf puts
       putchar putc fputs fputc putw fputw* putw* fwrite* fread* __fread_chk fopen* freopen* fclose fdopen
       fmemopen open_memstream fflush fgets* __fgets_chk gets fgetc getc getchar fgetw* getw* ungetc ungetwc
       _IO_getc _IO_putc __uflow __overflow getline getdelim __getdelim fseek* ftell* rewind fgetpos*
       fsetpos* feof ferror clearerr fileno setvbuf setbuf setbuffer setlinebuf fwide tmpfile* tmpnam
       mkstemp* mkdtemp remove rename unlink open open64 __open_2 __open64_2 creat creat64 close read
       __read_chk write pread* pwrite* lseek* stat stat64 fstat fstat64 lstat lstat64 __xstat* __fxstat*
       __lxstat* access mkdir rmdir chmod chdir getcwd __getcwd_chk get_current_dir_name realpath
       __realpath_chk readlink symlink link opendir readdir* closedir rewinddir scandir* alphasort* glob
       glob64 globfree* truncate* ftruncate* fsync fdatasync isatty)",
    // time
    R"(time clock times gettimeofday clock_gettime clock_getres timespec_get ftime difftime mktime timegm timelocal
       localtime* gmtime* ctime* asctime* tzset tzname timezone daylight __tz* __timezone __daylight)",
    // the process and the machine
    R"(environ __environ getenv secure_getenv setenv unsetenv putenv clearenv getpid getppid getuid geteuid getgid
       getegid getopt* optarg optind opterr optopt program_invocation_name program_invocation_short_name
       __progname* sysconf pathconf getpagesize get_nprocs* get_phys_pages get_avphys_pages sysinfo
       getloadavg getauxval uname gethostname getlogin* getpwuid getpwnam getrlimit*)",
    // C++, but what is in `telling`
    R"(_Zn* _Zd* _ZS* _ZNS* _ZNKS* _ZNRS* _ZNKRS* _ZNOS* _ZNKOS* _ZNVS* _ZNVKS* _ZT* _ZGV*
       _ZN9__gnu_cxx* _ZNK9__gnu_cxx* _ZN10__cxxabiv1* _ZNK10__cxxabiv1*
       _ZGTt* _ITM_* __dynamic_cast __gxx_personality_v0 __gcc_personality_v0 _Unwind_Resume*
       _Unwind_RaiseException _Unwind_DeleteException __cxa_allocate_exception __cxa_free_exception
       __cxa_init_primary_exception __cxa_allocate_dependent_exception __cxa_free_dependent_exception
       __cxa_throw* __cxa_rethrow __cxa_begin_catch __cxa_end_catch __cxa_get_exception_ptr
       __cxa_current_exception_type __cxa_call_unexpected __cxa_call_terminate __cxa_bad_cast
       __cxa_bad_typeid __cxa_pure_virtual __cxa_deleted_virtual __cxa_guard_* __cxa_vec_* __cxa_demangle
       __cxa_atexit __cxa_finalize __libc_single_threaded)",
    // libgcc's numbers
    R"(__add* __sub* __mul* __div* __udiv* __mod* __umod* __neg* __pow* __cmp* __ucmp* __eq* __ne* __lt* __le*
       __gt* __ge* __unord* __fix* __float* __extend* __trunc* __popcount* __clz* __ctz* __parity* __bswap*
       __cpu_model __cpu_indicator_init)",
    // Fortran, but its random numbers, of which each thread has its own, and what waits
    R"(_gfortran_st_* _gfortran_transfer_* _gfortran_set_args _gfortran_set_options _gfortran_stop_*
       _gfortran_error_stop_* _gfortran_pause_* _gfortran_os_error* _gfortran_runtime_*
       _gfortran_generate_error _gfortran_exit_* _gfortran_abort _gfortran_string_* _gfortran_concat_string*
       _gfortran_compare_string* _gfortran_select_string* _gfortran_adjust* _gfortran_internal_*
       _gfortran_matmul_* _gfortran_cshift* _gfortran_eoshift* _gfortran_pack* _gfortran_unpack*
       _gfortran_reshape* _gfortran_spread* _gfortran_transpose* _gfortran_sum_* _gfortran_ssum_*
       _gfortran_msum_* _gfortran_product_* _gfortran_sproduct_* _gfortran_mproduct_* _gfortran_max*
       _gfortran_smax* _gfortran_mmax* _gfortran_min* _gfortran_smin* _gfortran_mmin* _gfortran_all_*
       _gfortran_any_* _gfortran_count_* _gfortran_norm2_* _gfortran_findloc* _gfortran_pow_*
       _gfortran_size* _gfortran_shape_* _gfortran_associated _gfortran_is_extension_of _gfortran_iargc
       _gfortran_getarg_* _gfortran_get_command* _gfortran_get_environment_variable_* _gfortran_getenv*
       _gfortran_system_clock_* _gfortran_date_and_time _gfortran_cpu_time_* _gfortran_second*
       _gfortran_etime* _gfortran_secnds _gfortran_flush_*)",
};

/// What begins like some of these and does tell.
constexpr std::string_view telling[] = {
    R"(_ZNSt18condition_variable* _ZNSt22condition_variable* _ZNSt3_V2*condition_variable*
       _ZNSt28__atomic_futex_unsigned_base* _ZNSt11this_thread* _ZNSt8__detail*wait* _ZSt11__once_call
       _ZSt15__once_callable _ZNSt16__once_callable* _ZNSt9once_flag* _ZNSt13__future_base* _ZSt*get_once_*
       _ZSt*set_once_*)",
};

/// Whether a name is of a form: * stands for any text.
bool is_of_form(std::string_view name, std::string_view form) {
  const std::size_t star = form.find('*');
  if (star == std::string_view::npos) return name == form;
  if (!name.starts_with(form.substr(0, star))) return false;
  name.remove_prefix(star);
  form.remove_prefix(star + 1);
  if (form.empty()) return true;
  for (; !name.empty(); name.remove_prefix(1))
    if (is_of_form(name, form)) return true;
  return false;
}

/// Names and forms of them, from texts with blanks between. They are sorted by the compiler, since looking for hundreds
/// of imports among hundreds of these is a part of a program's first region.
template <const auto& texts>
class Forms {
 public:
  static bool have(std::string_view name) {
    if (std::ranges::binary_search(sorted<Kind::name>, name)) return true;
    // Between a beginning of the name and the name itself there are such only as begin alike.
    const auto behind = std::ranges::upper_bound(beginnings, name);
    if (behind != beginnings.begin() && name.starts_with(behind[-1])) return true;
    return std::ranges::any_of(sorted<Kind::other>,
                               [&](auto form) { return is_of_form(name, form); });
  }

 private:
  enum class Kind { name, beginning, other };  // other: * not at its end only

  /// Of a beginning without the *.
  template <class Visit>
  static constexpr void visit(const Visit& visitor) {
    for (std::string_view left : texts)
      while (true) {
        const std::size_t begin = left.find_first_not_of(" \n");
        if (begin == std::string_view::npos) break;
        left.remove_prefix(begin);
        const std::string_view form = left.substr(0, left.find_first_of(" \n"));
        const std::size_t star = form.find('*');
        if (star == std::string_view::npos) visitor(Kind::name, form);
        else if (star + 1 == form.size()) visitor(Kind::beginning, form.substr(0, star));
        else visitor(Kind::other, form);
        left.remove_prefix(form.size());
      }
  }

  template <Kind wanted>
  static constexpr auto sorted = [] {
    constexpr std::size_t count = [] {
      std::size_t found = 0;
      visit([&](Kind kind, std::string_view) { found += kind == wanted ? 1 : 0; });
      return found;
    }();
    std::array<std::string_view, count> all;
    auto next = all.begin();
    visit([&](Kind kind, std::string_view form) {
      if (kind == wanted) *next++ = form;
    });
    std::ranges::sort(all);
    return all;
  }();

  /// One that begins with another is in no place of its own: the other stands there, too.
  static constexpr auto beginnings = [] {
    auto all = sorted<Kind::beginning>;
    for (std::size_t i = 1; i < all.size(); ++i)
      if (all[i].starts_with(all[i - 1])) all[i] = all[i - 1];
    return all;
  }();
};

bool is_of_libgomp(std::string_view name) {
  return name.starts_with("GOMP_") || name.starts_with("omp_") || name.starts_with("GOACC_") ||
         name.starts_with("acc_") || name.starts_with("ompt_");
}

/// By its name. Of libgomp Fortran's have an underscore behind.
bool is_harmless(std::string_view name) {
  if (is_of_libgomp(name)) {
    if (name.ends_with("_next")) return true;
    if (name.ends_with('_')) name.remove_suffix(1);
  }
  return Forms<harmless>::have(name) && !Forms<telling>::have(name);
}

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_file_of(std::string_view file, std::span<const std::string_view> libraries) {
  return std::ranges::any_of(libraries, [&](auto known) { return file.starts_with(known); });
}

/// Whether what an object at `importer` finds under a name that is not known for harmless may be so all the same: it
/// computes, is of an object that is looked at itself, is this library's answer for libgomp; or there is no such thing.
bool is_harmless_there(const char* name, std::uintptr_t importer) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) return true;
  Dl_info there{}, here{};
  if (dladdr(found, &there) == 0 || dladdr(reinterpret_cast<void*>(&is_of_form), &here) == 0)
    return false;
  if (there.dli_fbase == here.dli_fbase) return is_of_libgomp(name);
  // What it does not define itself, and yet finds there, is a way to another object.
  if (reinterpret_cast<std::uintptr_t>(there.dli_fbase) == importer) return false;
  const std::string_view file = file_of(there.dli_fname);
  if (is_file_of(file, computing)) return !std::string_view(name).starts_with("fe");
  return !is_file_of(file, trusted);
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
    std::uintptr_t base;  ///< of the object
    const char* name;
  };
  std::vector<Import> unknown;
  struct Code {
    std::uintptr_t begin, end;
  };
  std::vector<Code> code;  ///< of what is not trusted
};

int look(dl_phdr_info* object, std::size_t, void* of) {
  auto& found = *static_cast<Findings*>(of);
  const std::string_view path = object->dlpi_name;
  const std::string name = path.empty() ? "the program" : std::string(path);
  if (!path.empty() && is_file_of(file_of(path), trusted)) return 0;
  std::uintptr_t base = UINTPTR_MAX;
  for (const auto& segment : std::span(object->dlpi_phdr, object->dlpi_phnum))
    if (segment.p_type == PT_LOAD)
      base = std::min<std::uintptr_t>(base, object->dlpi_addr + segment.p_vaddr);
  for (const auto& segment : std::span(object->dlpi_phdr, object->dlpi_phnum))
    if (segment.p_type == PT_TLS && segment.p_memsz > 0) {
      found.reason = name + " has thread-local variables";
    } else if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
      found.code.push_back({begin, begin + segment.p_memsz});
    }
  const bool read = visit_imports(*object, [&](const char* import) {
    if (!is_harmless(import)) found.unknown.push_back({name, base, import});
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
  for (const auto& [object, base, import] : found.unknown)
    if (!is_harmless_there(import, base)) found.reason = object + " calls " + import;
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
