/* Tests and probes over and over until something is there. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, in = 1, out = 0, there = 0, done = 0, index, count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  for (int i = 0; i < 1000; ++i)
    MPI_Iprobe(other, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE); /* nobody sends that */
  MPI_Request receive, send;
  MPI_Irecv(&out, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &receive);
  for (int i = 0; i < 1000; ++i) {
    MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
    MPI_Testsome(1, &receive, &count, &index, MPI_STATUSES_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(&in, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &send);
  while (!done) MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(&in, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &send);
  while (!there) MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  MPI_Recv(&out, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
