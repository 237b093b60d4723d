#pragma once
// Threads of a shrunk team stay alive (PYTHIA, section III-D). When a team is smaller than the one before, libgomp lets
// the threads that are too many return from their start routine, and makes new ones when a team grows again. Here the
// kernel's thread does not end when the routine returns: it parks, and when libgomp creates a thread it gets a parked
// one, if there is one that was made with the same attributes. So pthread_create() is a wake-up.
//
// That is safe because libgomp's start routine sets all that it needs of its thread-local data anew, and because its
// threads detach themselves as they end: they have no owner then who could join them. A thread that does not (as in
// omp_pause_resource(), which joins) or that calls pthread_exit() ends as it would without us.
// A thread is parked for the thread that had it made, and ends with that one at the latest.
// The parked thread that was made first is taken first, so that a thread of a team that shrinks and grows is the same
// one again, with what is threadprivate in it.
//
// Any thread; a mutex has what is shared. A child made by fork() begins with none.

namespace refrain::gomp {

/// Whether threads that libgomp makes from now on are kept.
void keep_threads(bool keep);

}  // namespace refrain::gomp
