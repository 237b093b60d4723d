/* One after the other what both ranks of two do; calls_mpif.f90 and calls_f08.f90 do the same in Fortran. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, in = 1, out = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int other = (rank + 1) % ranks;
  MPI_Request requests[2];
  for (int step = 0; step < 10; ++step) {
    MPI_Irecv(&out, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&in, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    in += out;
  }
  MPI_Comm one;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &one);
  MPI_Barrier(one);
  MPI_Comm_free(&one);
  MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Sendrecv(&in, 1, MPI_INT, other, 1, &out, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Send(&in, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("result %d\n", in + out);
  return 0;
}
