// Four threads each talk to their like of the other rank, while others make and free communicators. MPI is finalised by
// a static object, after all threads' ends.
#include <mpi.h>

#include <cstdio>
#include <thread>
#include <vector>

namespace {

struct Mpi {
  Mpi() { MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided); }
  ~Mpi() { MPI_Finalize(); }
  int provided = 0;
};
const Mpi mpi;

void talk(int thread, MPI_Comm own) {
  int rank, in = 1, out = 0;
  MPI_Comm_rank(own, &rank);
  for (int i = 0; i < 500; ++i) {
    MPI_Sendrecv(&in, 1, MPI_INT, 1 - rank, thread, &out, 1, MPI_INT, 1 - rank, thread, own,
                 MPI_STATUS_IGNORE);
    if (i % 50 != 0) continue;
    MPI_Comm copy;
    MPI_Comm_dup(own, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
  }
}

}  // namespace

int main() {
  if (mpi.provided != MPI_THREAD_MULTIPLE) return 1;
  std::vector<MPI_Comm> comms(4);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) threads.emplace_back(talk, thread, comms[thread]);
  for (std::thread& thread : threads) thread.join();
  std::puts("done");
  return 0;
}
