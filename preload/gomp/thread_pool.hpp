#pragma once
// Where libgomp's pool of a thread's workers is.
//
// The pool is one allocation, made at the thread's first team. In it what the master writes at each region and what the
// workers look at while they wait are a cache line apart, but the whole is where malloc() puts it, and in one of four
// places it gets from glibc (48 bytes behind the begin of a line) both are in one line: then each region of two threads
// that wait actively takes 90 ns longer. Without the oracle it is chance where the pool is.

namespace refrain::gomp {

/// The next allocation of the pool's size in this thread begins a cache line, where malloc() gives back first what was
/// freed last, as glibc's does. It is no promise: whatever allocates as much before takes the room. Some 100 ns.
void make_room_for_pool();

}  // namespace refrain::gomp
