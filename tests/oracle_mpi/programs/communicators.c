/* Six ranks in communicators of several kinds. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, sum = 0, one = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy, reversed, half, cross;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Bcast(&sum, 1, MPI_INT, 5, reversed);
  /* The same handle may come again and again, for another one. */
  for (int times = 0; times < 6; ++times) {
    MPI_Comm_split(MPI_COMM_WORLD, times % 2 == 0 ? rank % 2 : rank / 3, 0, &half);
    MPI_Bcast(&sum, 1, MPI_INT, 1, half);
    MPI_Comm_free(&half);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  /* Between the even and the odd ones: peers are the other group's. */
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, copy, 1 - rank % 2, 7, &cross);
  int own;
  MPI_Comm_rank(half, &own);
  MPI_Sendrecv(&one, 1, MPI_INT, own, 0, &sum, 1, MPI_INT, own, 0, cross, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
