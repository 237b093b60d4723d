#pragma once
// Who started the process. A program that mpirun or srun has started is one rank of several and is connected to the
// others; the same binary started otherwise runs alone. MPI is in libraries of their own, one for each kind
// (net/mpi/transport.cpp). They are looked for only when a launcher was there, so a program needs no MPI to run alone.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "net/transport.hpp"
#include "refrain/version.hpp"

namespace refrain::net {

/// The kinds of MPI, which are not compatible with each other.
enum class Mpi { open_mpi, mpich };

struct Launched {
  Mpi mpi;
  std::string by;  ///< the launcher, and the variable of the environment that says so; for messages
  std::optional<Rank> ranks;  ///< how many it has started, where the environment says so
};

/// The value of a variable, or null.
using Environment = std::function<const char*(const char*)>;

/// Nothing for a program that runs alone, also as the only rank. REFRAIN_NET decides if it is set: `alone`, `openmpi`
/// or `mpich`. InputError for another value of it, and when Slurm has started several ranks without MPI.
[[nodiscard]] std::optional<Launched> find_launcher(const Environment& environment);

/// The file name of the library for a kind of MPI.
[[nodiscard]] std::string library_of(Mpi mpi);

/// What the libraries export under the name `refrain_connect`. `version`: of the Refrain that calls, which has to be
/// theirs. Null: MPI could not begin, and `error` has the reason (at most `size` bytes).
using Connect = Transport* (*)(unsigned version, char* error, std::size_t size);
inline constexpr unsigned kVersion =
    REFRAIN_VERSION_MAJOR * 1'000'000 + REFRAIN_VERSION_MINOR * 1'000 + REFRAIN_VERSION_PATCH;

/// From the library for this kind of MPI, which is in one of the folders, and stays loaded. InputError when it is in none
/// of them, or cannot be loaded.
[[nodiscard]] Connect find_library(const Launched& launched,
                                   std::span<const std::filesystem::path> folders);

/// Connects this process with the other ranks, once; null for a program that runs alone. InputError when there is a
/// launcher and no library for it, when MPI cannot begin, or sees other ranks than the launcher has started: the text
/// says where was looked and what to do. REFRAIN_NET_PATH names a folder that is looked in first.
[[nodiscard]] std::unique_ptr<Transport> connect();

}  // namespace refrain::net
