#pragma once
// What was recorded of one thread, and the same as a string of bytes: counts and numbers as varints (7 bits a byte, the
// lowest first, the highest bit says that more follow), delays as delays_in_bytes.hpp has them, with brief times.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/delays.hpp"
#include "oracle/grammar.hpp"

namespace refrain::oracle {

/// What a runtime wants to know again in a later run: any bytes, under a name.
struct Note {
  std::string name;
  std::string bytes;
  friend bool operator==(const Note&, const Note&) = default;
};

struct ThreadRecord {
  std::uint32_t process = 0;  ///< e.g. the rank in MPI
  std::uint32_t thread = 0;
  std::vector<std::string> names;  ///< of events, by their numbers; any bytes, but no two alike
  Grammar grammar;
  std::vector<Delays::Recorded> delays;  ///< none, if no times were taken
  std::vector<Note> notes;
};

/// All but the numbers of process and thread; of delays the mean as near as kBriefTimeError. Requires delays that Delays
/// takes. InvalidRecord: an event has no name, or two have the same.
[[nodiscard]] std::string encoded(const ThreadRecord& record);

/// OracleError unless encoded() gives such bytes. Takes memory in proportion to the bytes, whatever they say.
[[nodiscard]] ThreadRecord decoded(std::string_view bytes);

}  // namespace refrain::oracle
