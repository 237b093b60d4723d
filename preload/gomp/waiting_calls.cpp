// Functions of the C library that may wait for another process, a person or another thread of the program's: input, the
// other end of a FIFO, a thread's end. The one that is waited for may itself wait for what a later thread of the team
// says, so a folded team is started before each of them. They are the ones that wait of those which `harmless` has
// (visible_threads.cpp). stdio's are here beside read(), since stdio calls that within the C library; what the C++ and
// Fortran libraries wait by is here, too.
//
// Output is not: a reader that is slow waits for nobody, but for the one that waits for another output of the same
// region.

#include <fcntl.h>
#include <sys/types.h>

#include <cstdarg>
#include <cwchar>

#include "gomp/folded_team.hpp"
#include "support/next.hpp"

using refrain::gomp::FoldedTeam;
using refrain::preload::Next;

// Headers may say that one of them is another, or inline; so here each has a name of its own.
#define FUNCTION(type, name, parameters)                                                     \
  extern "C" __attribute__((visibility("default"))) type waits_##name parameters asm(#name); \
  type waits_##name parameters
#define NEXT(name) static constinit Next<decltype(&waits_##name)> next{#name};

#define WAITS(type, name, parameters, arguments) \
  FUNCTION(type, name, parameters) {             \
    FoldedTeam::start_here();                    \
    NEXT(name)                                   \
    return next arguments;                       \
  }

// ---- Bytes and lines ----

WAITS(ssize_t, read, (int file, void* bytes, std::size_t size), (file, bytes, size))
WAITS(ssize_t, __read_chk, (int file, void* bytes, std::size_t size, std::size_t room),
      (file, bytes, size, room))

#define READS_CHARACTER(type, name) WAITS(type, name, (FILE * file), (file))
READS_CHARACTER(int, fgetc)
READS_CHARACTER(int, getc)
READS_CHARACTER(int, _IO_getc)
READS_CHARACTER(int, __uflow)
READS_CHARACTER(int, getw)
READS_CHARACTER(std::wint_t, fgetwc)
READS_CHARACTER(std::wint_t, fgetwc_unlocked)
READS_CHARACTER(std::wint_t, getwc)
READS_CHARACTER(std::wint_t, getwc_unlocked)
WAITS(int, getchar, (), ())
WAITS(std::wint_t, getwchar, (), ())
WAITS(std::wint_t, getwchar_unlocked, (), ())

#define READS_ITEMS(name)                                                              \
  WAITS(std::size_t, name, (void* items, std::size_t size, std::size_t n, FILE* file), \
        (items, size, n, file))
READS_ITEMS(fread)
READS_ITEMS(fread_unlocked)
WAITS(std::size_t, __fread_chk,
      (void* items, std::size_t room, std::size_t size, std::size_t n, FILE* file),
      (items, room, size, n, file))

#define READS_LINE(type, name) \
  WAITS(type, name, (type line, int size, FILE* file), (line, size, file))
READS_LINE(char*, fgets)
READS_LINE(char*, fgets_unlocked)
READS_LINE(wchar_t*, fgetws)
READS_LINE(wchar_t*, fgetws_unlocked)
WAITS(char*, __fgets_chk, (char* line, std::size_t room, int size, FILE* file),
      (line, room, size, file))
WAITS(char*, gets, (char* line), (line))
WAITS(ssize_t, getline, (char** line, std::size_t* size, FILE* file), (line, size, file))
#define READS_PART(name)                                                            \
  WAITS(ssize_t, name, (char** part, std::size_t* size, int delimiter, FILE* file), \
        (part, size, delimiter, file))
READS_PART(getdelim)
READS_PART(__getdelim)

// ---- Values: each function with its list of arguments, and the one that it is without ----

#define SCANS_FILE(type, name, with_list)                                       \
  WAITS(int, with_list, (FILE * file, const type* format, std::va_list values), \
        (file, format, values))                                                 \
  FUNCTION(int, name, (FILE * file, const type* format, ...)) {                 \
    std::va_list values;                                                        \
    va_start(values, format);                                                   \
    const int count = waits_##with_list(file, format, values);                  \
    va_end(values);                                                             \
    return count;                                                               \
  }
#define SCANS_INPUT(type, name, with_list)                                           \
  WAITS(int, with_list, (const type* format, std::va_list values), (format, values)) \
  FUNCTION(int, name, (const type* format, ...)) {                                   \
    std::va_list values;                                                             \
    va_start(values, format);                                                        \
    const int count = waits_##with_list(format, values);                             \
    va_end(values);                                                                  \
    return count;                                                                    \
  }
SCANS_FILE(char, fscanf, vfscanf)
SCANS_FILE(char, __isoc99_fscanf, __isoc99_vfscanf)
SCANS_FILE(char, __isoc23_fscanf, __isoc23_vfscanf)
SCANS_FILE(wchar_t, __isoc99_fwscanf, __isoc99_vfwscanf)
SCANS_INPUT(char, scanf, vscanf)
SCANS_INPUT(char, __isoc99_scanf, __isoc99_vscanf)
SCANS_INPUT(char, __isoc23_scanf, __isoc23_vscanf)
SCANS_INPUT(wchar_t, __isoc99_wscanf, __isoc99_vwscanf)

// ---- Opening: a FIFO has to have another end ----

#define OPENS_STREAM(name) WAITS(FILE*, name, (const char* path, const char* mode), (path, mode))
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)
#define OPENS_STREAM_AGAIN(name) \
  WAITS(FILE*, name, (const char* path, const char* mode, FILE* file), (path, mode, file))
OPENS_STREAM_AGAIN(freopen)
OPENS_STREAM_AGAIN(freopen64)

#define OPENS(name)                                                   \
  FUNCTION(int, name, (const char* path, int flags, ...)) {           \
    FoldedTeam::start_here();                                         \
    mode_t mode = 0;                                                  \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
      std::va_list arguments;                                         \
      va_start(arguments, flags);                                     \
      mode = va_arg(arguments, mode_t);                               \
      va_end(arguments);                                              \
    }                                                                 \
    NEXT(name)                                                        \
    return next(path, flags, mode);                                   \
  }
OPENS(open)
OPENS(open64)
WAITS(int, __open_2, (const char* path, int flags), (path, flags))
WAITS(int, __open64_2, (const char* path, int flags), (path, flags))
WAITS(int, creat, (const char* path, mode_t mode), (path, mode))
WAITS(int, creat64, (const char* path, mode_t mode), (path, mode))

// ---- Threads of the program's own ----

WAITS(int, pthread_join, (pthread_t thread, void** result), (thread, result))
