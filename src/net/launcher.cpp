#include "net/launcher.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "refrain/error.hpp"

namespace refrain::net {

namespace {

namespace fs = std::filesystem;

/// Where a library may be: beside this code, which is in the shared library of Refrain or in the program, and where
/// Refrain was built and installed.
std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& folder) {
    if (!folder.empty() && std::ranges::find(found, folder) == found.end()) found.push_back(folder);
  };
  if (const char* path = std::getenv("REFRAIN_NET_PATH")) add(path);
  Dl_info info;
  std::error_code ignored;
  fs::path own;
  if (dladdr(reinterpret_cast<void*>(&folders), &info) != 0 && info.dli_fname != nullptr)
    own = fs::canonical(info.dli_fname, ignored);
  // Of a program the name is as it was called, perhaps without a folder.
  if (own.empty()) own = fs::canonical("/proc/self/exe", ignored);
  if (!own.empty())
    for (const char* beside : {".", "../lib", "../" REFRAIN_LIBRARY_FOLDER})
      add((own.parent_path() / beside).lexically_normal());
  add(REFRAIN_BUILT_IN);
  add(REFRAIN_INSTALLED_IN);
  return found;
}

}  // namespace

Connect find_library(const Launched& launched, std::span<const fs::path> folders) {
  std::string looked;
  for (const fs::path& folder : folders) {
    const fs::path file = folder / library_of(launched.mpi);
    if (std::error_code ignored; !fs::exists(file, ignored)) {
      looked += "\n  " + folder.string();
      continue;
    }
    // Kept for as long as the process: MPI does not survive being unloaded. Global: so the parts of MPI that it loads
    // in turn find its names.
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* const symbol = library == nullptr ? nullptr : dlsym(library, "refrain_connect");
    if (symbol == nullptr)
      throw InputError(fmt::format("this program was started by {}, but {} cannot be loaded: {}",
                                   launched.by, file.string(), dlerror()));
    return reinterpret_cast<Connect>(symbol);
  }
  throw InputError(fmt::format(
      "this program was started by {}, but Refrain was built without this kind of MPI: {} is in "
      "none of{}\n"
      "Build Refrain where the headers of {} are installed, set REFRAIN_NET_PATH to the library's "
      "folder, or REFRAIN_NET=alone to run without other ranks",
      launched.by, library_of(launched.mpi), looked,
      launched.mpi == Mpi::open_mpi ? "Open MPI (libopenmpi-dev)" : "MPICH (libmpich-dev)"));
}

std::optional<Launched> find_launcher(const Environment& environment) {
  const auto value_of = [&](const char* name) {
    const char* const value = environment(name);
    return std::string(value == nullptr ? "" : value);
  };
  const auto ranks_in = [&](const char* name) -> std::optional<Rank> {
    const std::string value = value_of(name);
    Rank ranks = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ranks);
    if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
    return ranks;
  };
  const std::optional<Rank> by_slurm = ranks_in("SLURM_STEP_NUM_TASKS");
  std::optional<Launched> launched;
  const auto first_of = [&](std::initializer_list<const char*> names) {
    std::optional<Rank> ranks = by_slurm;
    for (const char* name : names)
      if (const auto found = ranks_in(name)) ranks = found;
    return ranks;
  };
  if (const std::string chosen = value_of("REFRAIN_NET"); chosen == "openmpi") {
    launched = {Mpi::open_mpi, "a launcher of Open MPI (REFRAIN_NET says so)",
                first_of({"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"})};
  } else if (chosen == "mpich") {
    launched = {Mpi::mpich, "a launcher of MPICH (REFRAIN_NET says so)",
                first_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})};
  } else if (chosen == "alone") {
    return std::nullopt;
  } else if (!chosen.empty()) {
    throw InputError(fmt::format("REFRAIN_NET is '{}', expected alone, openmpi or mpich", chosen));
  } else if (const auto ranks = ranks_in("OMPI_COMM_WORLD_SIZE")) {
    launched = {Mpi::open_mpi, "Open MPI's mpirun (OMPI_COMM_WORLD_SIZE is set)", ranks};
  } else if (!value_of("PMIX_RANK").empty()) {
    // How Slurm and others start Open MPI; PMI-1 and PMI-2, how they and MPICH's own mpiexec start MPICH.
    launched = {Mpi::open_mpi, "a launcher with PMIx (PMIX_RANK is set)", by_slurm};
  } else if (!value_of("PMI_RANK").empty()) {
    const auto by_pmi = ranks_in("PMI_SIZE");
    launched = {Mpi::mpich, "a launcher with PMI (PMI_RANK is set)", by_pmi ? by_pmi : by_slurm};
  } else if (by_slurm && *by_slurm > 1) {
    throw InputError(
        fmt::format("srun has started {} tasks without MPI: use srun --mpi=pmix for Open MPI, "
                    "--mpi=pmi2 for MPICH, or set "
                    "REFRAIN_NET=alone for {} runs that know nothing of each other",
                    *by_slurm, *by_slurm));
  }
  if (launched && launched->ranks == Rank{1}) return std::nullopt;
  return launched;
}

std::string library_of(Mpi mpi) {
  return mpi == Mpi::open_mpi ? "librefrain_net_openmpi.so" : "librefrain_net_mpich.so";
}

std::unique_ptr<Transport> connect() {
  const auto launched = find_launcher([](const char* name) { return std::getenv(name); });
  if (!launched) return nullptr;
  std::array<char, 512> error{};
  std::unique_ptr<Transport> transport(
      find_library(*launched, folders())(kVersion, error.data(), error.size()));
  if (transport == nullptr)
    throw InputError(
        fmt::format("this program was started by {}, but {}", launched->by, error.data()));
  if (launched->ranks && *launched->ranks != transport->ranks())
    transport->abort(
        fmt::format("refrain: this program was started by {} on {} ranks, but MPI sees {}: is it "
                    "the launcher's own MPI?",
                    launched->by, *launched->ranks, transport->ranks()));
  return transport;
}

}  // namespace refrain::net
