#pragma once
// Says what was being tried when the process dies or hangs: a failed assertion, a crash, or a case that
// takes longer than its time prints the note before the process ends.

#include <string>

namespace refrain::test {

/// What is being tried from now on, and how many seconds it may take. One thread.
void set_crash_note(const std::string& note, unsigned seconds);
void clear_crash_note();

}  // namespace refrain::test
