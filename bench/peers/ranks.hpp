#pragma once
// A peer that is several ranks:
//   peer_NAME RANKS [VARIANT]
// starts itself under mpirun. The first rank is asked, as any peer is (peer.hpp), and passes the request on.

#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "peers/peer.hpp"

namespace peer {

inline int ranks() {
  int count;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}
inline int own_rank() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Between requests ranks do not poll as quickly as they can: another system is being measured then.
inline std::string next_request() {
  int there = 0;
  MPI_Status status;
  while (true) {
    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, &status);
    if (there != 0) break;
    usleep(500);
  }
  int length;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string line(static_cast<std::size_t>(length), ' ');
  MPI_Recv(line.data(), length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return line;
}
inline void tell_others(const std::string& line) {
  for (int rank = 1; rank < ranks(); ++rank)
    MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, rank, 0, MPI_COMM_WORLD);
}

/// In a process of its own, since mpirun has something to say when it is stopped between requests.
inline int run_under_mpirun(char** argv, const char* count) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    std::vector<const char*> words{"mpirun", "-n", count};
    for (char** word = argv; *word != nullptr; ++word) words.push_back(*word);
    words.push_back(nullptr);
    execvp("mpirun", const_cast<char**>(words.data()));
    std::puts("there is no mpirun");
    std::fflush(stdout);
    _exit(1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

inline bool is_rank() {
  return std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
}

/// On a rank. `answer(request)`: called on all ranks, nanoseconds; those of the slowest one are told. What it throws on the
/// first one is told in their place. MPI is begun and ended here, unless it has begun.
inline int serve_on_ranks(const std::function<double(const Request&)>& answer) {
  int begun;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init(nullptr, nullptr);
  const auto slowest = [](double ns) {
    MPI_Allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return ns;
  };
  if (own_rank() == 0) {
    serve([&](const Request& request) {
      tell_others(request.line());
      std::exception_ptr error;
      double ns = 0;
      try {
        ns = answer(request);
      } catch (...) { error = std::current_exception(); }
      ns = slowest(ns);
      if (error) std::rethrow_exception(error);
      return ns;
    });
    tell_others("end");
  } else {
    for (std::string line = next_request(); line != "end"; line = next_request())
      slowest(answer(Request(line)));
  }
  if (!begun) MPI_Finalize();
  return 0;
}

}  // namespace peer
