#include "mpi/event.hpp"

#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/next.hpp"

// Open MPI's predefined handles are addresses of its variables. This library loads where there is no MPI as well: there
// they are null.
#ifdef OMPI_MAJOR_VERSION
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_op_sum
#pragma weak ompi_mpi_op_prod
#pragma weak ompi_mpi_op_land
#pragma weak ompi_mpi_op_band
#pragma weak ompi_mpi_op_lor
#pragma weak ompi_mpi_op_bor
#pragma weak ompi_mpi_op_lxor
#pragma weak ompi_mpi_op_bxor
#pragma weak ompi_mpi_op_maxloc
#pragma weak ompi_mpi_op_minloc
#pragma weak ompi_mpi_op_replace
#pragma weak ompi_mpi_op_no_op
#endif

namespace refrain::preload {

namespace {

#define MPI(name) Next<decltype(&P##name)>("P" #name)

template <class Handle>
Handle from_bits(std::uint64_t bits) {
  if constexpr (std::is_pointer_v<Handle>) return reinterpret_cast<Handle>(bits);
  else return static_cast<Handle>(bits);
}

// MPICH's handles are the integers of Fortran, and what turns one into the other is a macro.
#ifndef MPI_Comm_f2c
#define MPI_Comm_f2c MPI(MPI_Comm_f2c)
#endif
#ifndef MPI_Op_f2c
#define MPI_Op_f2c MPI(MPI_Op_f2c)
#endif

MPI_Comm communicator_of(const Event& event) {
  if (event.language == Language::c) return from_bits<MPI_Comm>(event.communicator);
  return MPI_Comm_f2c(static_cast<MPI_Fint>(event.communicator));
}

MPI_Op reduction_of(const Event& event) {
  if (event.language == Language::c) return from_bits<MPI_Op>(event.reduction);
  return MPI_Op_f2c(static_cast<MPI_Fint>(event.reduction));
}

std::string reduction_name(MPI_Op operation) {
  const std::pair<MPI_Op, const char*> names[] = {
      {MPI_MAX, "max"},         {MPI_MIN, "min"},    {MPI_SUM, "sum"},       {MPI_PROD, "prod"},
      {MPI_LAND, "land"},       {MPI_BAND, "band"},  {MPI_LOR, "lor"},       {MPI_BOR, "bor"},
      {MPI_LXOR, "lxor"},       {MPI_BXOR, "bxor"},  {MPI_MAXLOC, "maxloc"}, {MPI_MINLOC, "minloc"},
      {MPI_REPLACE, "replace"}, {MPI_NO_OP, "no_op"}};
  for (const auto& [known, name] : names)
    if (operation == known) return name;
  return "user";
}

/// The ranks in MPI_COMM_WORLD of those that a rank in the communicator means; MPI_UNDEFINED for those not there. None
/// of the null communicator: what a program does with it is an error of the call that follows, not of ours.
std::vector<int> members(MPI_Comm communicator) {
  if (communicator == MPI_COMM_NULL) return {};
  MPI_Group group, world;
  int between_two = 0, size = 0;
  MPI(MPI_Comm_test_inter)(communicator, &between_two);
  const int error = between_two != 0 ? MPI(MPI_Comm_remote_group)(communicator, &group)
                                     : MPI(MPI_Comm_group)(communicator, &group);
  if (error != MPI_SUCCESS) return {};
  MPI(MPI_Comm_group)(MPI_COMM_WORLD, &world);
  MPI(MPI_Group_size)(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), in_world(own.size());
  std::iota(own.begin(), own.end(), 0);
  MPI(MPI_Group_translate_ranks)(group, size, own.data(), world, in_world.data());
  MPI(MPI_Group_free)(&group);
  MPI(MPI_Group_free)(&world);
  return in_world;
}

bool is_of_all(const std::vector<int>& members) {
  int size = 0;
  MPI(MPI_Comm_size)(MPI_COMM_WORLD, &size);
  if (members.size() != static_cast<std::size_t>(size)) return false;
  for (int rank = 0; rank < size; ++rank)
    if (members[static_cast<std::size_t>(rank)] != rank) return false;
  return true;
}

std::string rank_name(int in_world, int rank) {
  return in_world == MPI_UNDEFINED ? "remote " + std::to_string(rank) : std::to_string(in_world);
}

std::string rank_name(const std::vector<int>& members, int rank) {
  if (rank == MPI_ANY_SOURCE) return "any";
  if (rank == MPI_PROC_NULL) return "null";
  if (rank == MPI_ROOT) return "root";
  const auto index = static_cast<std::size_t>(rank);
  return rank >= 0 && index < members.size() ? rank_name(members[index], rank)
                                             : std::to_string(rank);
}

std::string members_name(const std::vector<int>& members) {
  const std::size_t size = members.size();
  std::string name = "{";
  for (std::size_t i = 0; i < size; ++i) {
    if (size > 4 && i == 2) {
      name += ",..";
      i = size - 1;
    }
    name += (i > 0 ? "," : "") + rank_name(members[i], static_cast<int>(i));
  }
  return name + (size > 4 ? ": " + std::to_string(size) : "") + "}";
}

}  // namespace

std::string name_of(const Event& event) {
  std::string name = kFunctions[event.function];
  std::vector<int> of;
  const bool known = event.communicator != Event::kNone && MPI_COMM_WORLD != MPI_Comm();
  if (known) of = members(communicator_of(event));
  if (event.reduction != Event::kNone) name += " " + reduction_name(reduction_of(event));
  for (int i = 0; i < event.rank_count; ++i) name += " " + rank_name(of, event.ranks[i]);
  if (known && !event.to_peers && !of.empty() && !is_of_all(of)) name += " in " + members_name(of);
  return name;
}

}  // namespace refrain::preload
