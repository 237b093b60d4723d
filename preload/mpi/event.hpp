#pragma once
// What a call of an MPI function says of the program: which function, with whom, with what operation (PYTHIA, section
// III-B). And its name, e.g. "MPI_Send 3", "MPI_Reduce sum 0", "MPI_Barrier in {0,2}".

#include <mpi.h>

#include <cstdint>
#include <string>

namespace refrain::preload {

/// "MPI_Send" and the others, in the order of functions.txt.
extern const char* const kFunctions[];

/// Whose handles they are: in Fortran they are integers.
enum class Language : std::uint8_t { c, fortran };

struct Event {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  ///< no handle

  std::uint16_t function;  ///< of kFunctions
  Language language;
  bool to_peers = false;  ///< it is about the ranks alone, not about all of the communicator
  std::uint8_t rank_count = 0;
  std::int32_t ranks[2] = {};          ///< of peers or of the root, in the communicator
  std::uint64_t communicator = kNone;  ///< the handle's bits
  std::uint64_t reduction = kNone;

  friend bool operator==(const Event&, const Event&) = default;
  [[nodiscard]] std::uint64_t hash() const;
};

/// Ranks are told as those in MPI_COMM_WORLD, so that they are the same process in any communicator; of one that is not
/// there (after MPI_Comm_spawn) "remote" and the rank as it is. A communicator is told, unless it is of all processes
/// in their order, by its members: up to four of them, or two, the last, and how many. So a program that makes its
/// communicators anew in each step still repeats itself, and copies of one are alike. MPI has to be initialised, if
/// the event has a communicator.
std::string name_of(const Event& event);

inline std::uint64_t handle(std::int32_t of) { return static_cast<std::uint32_t>(of); }
template <class Object>
std::uint64_t handle(Object* of) {
  return reinterpret_cast<std::uintptr_t>(of);
}
inline std::int32_t number(std::int32_t value) { return value; }

inline std::uint64_t Event::hash() const {
  // Odd constants keep the parts apart; the multiplications carry every bit upwards, and the shift back down.
  std::uint64_t mixed = communicator + reduction * 0x9e3779b97f4a7c15u;
  mixed ^= (static_cast<std::uint64_t>(static_cast<std::uint32_t>(ranks[0])) << 32) |
           static_cast<std::uint32_t>(ranks[1]);
  mixed = (mixed + function * 0xd6e8feb86659fd93u) * 0xbf58476d1ce4e5b9u;
  return mixed ^ (mixed >> 32);
}

}  // namespace refrain::preload
