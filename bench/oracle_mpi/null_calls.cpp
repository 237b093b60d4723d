// What a call of MPI costs that has nothing to do: messages to and from nobody, in the loops of a program that exchanges
// with neighbours and now and then reduces.
//   mpirun -n 1 null_calls_mpi CALLS
// Prints ns per call.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long calls = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  int value = 0;
  const auto send = [&](auto function) {
    function(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  };
  long done = 0;
  const double begin = MPI_Wtime();
  while (done < calls) {
    for (int step = 0; step < 20; ++step) {
      for (int i = 0; i < 3; ++i) {
        MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send(MPI_Send);
      }
      send(MPI_Ssend);
      send(MPI_Rsend);
      MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    send(MPI_Bsend);
    done += 20 * 9 + 1;
  }
  std::printf("%.2f\n", (MPI_Wtime() - begin) * 1e9 / static_cast<double>(done));
  MPI_Finalize();
  return 0;
}
