#include "support/crash_note.hpp"

#include <unistd.h>
#include <csignal>
#include <cstring>

namespace refrain::test {

namespace {

// Written by the one thread that tries cases; read by a handler, which may only use plain memory.
char note_text[512];
bool installed = false;

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

void die(int signal) {
  say(signal == SIGALRM ? "\nno end in sight: " : "\ndied: ");
  say(note_text);
  say("\n");
  std::signal(SIGABRT, SIG_DFL);
  if (signal == SIGALRM) signal = SIGABRT;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void install() {
  if (installed) return;
  installed = true;
  std::signal(SIGALRM, die);
  std::signal(SIGABRT, die);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::signal(SIGSEGV, die);  // sanitizers report this one better
#endif
}

}  // namespace

void set_crash_note(const std::string& note, unsigned seconds) {
  install();
  std::strncpy(note_text, note.c_str(), sizeof note_text - 1);
  alarm(seconds);
}

void clear_crash_note() {
  alarm(0);
  std::strcpy(note_text, "(between cases)");
}

}  // namespace refrain::test
