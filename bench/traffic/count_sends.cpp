// What a rank sends to which other: preloaded into a program of MPI, counts its messages and their bytes, and writes them
// to the file COUNT_SENDS.RANK when MPI ends, a line for each rank: its number, messages, bytes. An all-reduce counts as
// the messages of recursive doubling; of other collectives nothing is counted.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Sent {
  long messages = 0, bytes = 0;
};
std::vector<Sent> sent;

void note(int count, MPI_Datatype type, int to, MPI_Comm comm) {
  int size = 0;
  MPI_Type_size(type, &size);
  // Of ranks in other communicators the numbers in MPI_COMM_WORLD.
  MPI_Group all, own;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(comm, &own);
  int rank = 0;
  MPI_Group_translate_ranks(own, 1, &to, all, &rank);
  MPI_Group_free(&all);
  MPI_Group_free(&own);
  if (rank < 0) return;
  if (sent.size() <= static_cast<std::size_t>(rank))
    sent.resize(static_cast<std::size_t>(rank) + 1);
  ++sent[static_cast<std::size_t>(rank)].messages;
  sent[static_cast<std::size_t>(rank)].bytes += static_cast<long>(count) * size;
}

}  // namespace

// The functions of MPI that programs here send with.
extern "C" {

int MPI_Isend(const void* values, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  note(count, type, to, comm);
  return PMPI_Isend(values, count, type, to, tag, comm, request);
}

int MPI_Allreduce(const void* values, void* results, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int bit = 1; bit < ranks; bit *= 2)
    if ((rank ^ bit) < ranks) note(count, type, rank ^ bit, comm);
  return PMPI_Allreduce(values, results, count, type, op, comm);
}

int MPI_Finalize() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (const char* path = std::getenv("COUNT_SENDS")) {
    if (std::FILE* file =
            std::fopen((std::string(path) + "." + std::to_string(rank)).c_str(), "w")) {
      for (std::size_t to = 0; to < sent.size(); ++to)
        std::fprintf(file, "%zu %ld %ld\n", to, sent[to].messages, sent[to].bytes);
      std::fclose(file);
    }
  }
  return PMPI_Finalize();
}

}  // extern "C"
