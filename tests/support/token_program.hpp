#pragma once
// Programs made of streams (support/streams.hpp): each token that is another one is a launch on other data. What they
// compute depends on the order of any two launches that have data in common, in all bits and for ever.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/streams.hpp"

namespace refrain::test {

using Bits = std::vector<std::uint64_t>;

inline constexpr Field<std::uint64_t> bits{"bits"};

/// What the tasks do to a cell that is written, given one that is read.
constexpr std::uint64_t mixed(std::uint64_t to, std::uint64_t from) {
  return to * 0x5851f42d4c957f2dull + from + 1;
}
constexpr std::uint64_t replaced(std::uint64_t to, std::uint64_t from) {
  return (from ^ (to >> 7)) * 0x14057b7ef767814full + 3;
}

inline const Task mix_in{"mix in", [](ReadWrite<std::uint64_t> to, Read<std::uint64_t> from) {
                           const Coord ahead = from.domain().bounds().lo - to.domain().bounds().lo;
                           for (auto p : to.domain()) to[p] = mixed(to[p], from[p + ahead]);
                         }};
inline const Task replace{"replace", [](ReadWrite<std::uint64_t> to, Read<std::uint64_t> from) {
                            const Coord ahead = from.domain().bounds().lo - to.domain().bounds().lo;
                            for (auto p : to.domain()) to[p] = replaced(to[p], from[p + ahead]);
                          }};

/// Where launches are made.
class TokenData {
 public:
  static constexpr Coord kPieces = 64, kCells = 2 * kPieces;

  explicit TokenData(Context& ctx)
      : cells_(ctx.region(Rect1{0, kCells - 1}, bits)), pieces_(ctx.blocks(cells_, kPieces)) {
    ctx.fill(cells_, bits, std::uint64_t{1});
  }

  /// A launch for each letter below 8064; beyond, they are the same again.
  void launch(Context& ctx, std::uint64_t letter) const {
    const Launch made = of(letter);
    const auto to = pieces_(made.to), from = pieces_(made.from);
    if (made.replaces) ctx.launch(replace, to[bits], from[bits]);
    else ctx.launch(mix_in, to[bits], from[bits]);
  }
  [[nodiscard]] Bits values(Context& ctx) const {
    Bits found;
    const auto access = ctx.access<Read>(cells_[bits]);
    for (auto p : access.domain()) found.push_back(access[p]);
    return found;
  }
  [[nodiscard]] const Region<1>& cells() const { return cells_; }

  /// What the launches of these letters make of the cells, one after the other.
  static Bits expected(const std::vector<std::uint64_t>& letters) {
    Bits cells(kCells, 1);
    for (const std::uint64_t letter : letters) {
      const Launch made = of(letter);
      for (Coord i = 0; i < 2; ++i) {
        std::uint64_t& to = cells[static_cast<std::size_t>(2 * made.to + i)];
        const std::uint64_t from = cells[static_cast<std::size_t>(2 * made.from + i)];
        to = made.replaces ? replaced(to, from) : mixed(to, from);
      }
    }
    return cells;
  }

 private:
  struct Launch {
    Coord to, from;
    bool replaces;
  };
  static Launch of(std::uint64_t letter) {
    const auto number = static_cast<Coord>(letter);
    const Coord to = number % kPieces, ahead = 1 + number / kPieces % (kPieces - 1);
    return {to, (to + ahead) % kPieces, number / kPieces / (kPieces - 1) % 2 == 1};
  }

  Region<1> cells_;
  Partition<1> pieces_;
};

/// Numbers from 0, as the tokens are first met.
inline std::vector<std::uint64_t> letters_of(const Stream& stream) {
  std::unordered_map<std::uint64_t, std::uint64_t> known;
  std::vector<std::uint64_t> letters;
  letters.reserve(stream.size());
  for (const std::uint64_t token : stream)
    letters.push_back(known.emplace(token, known.size()).first->second);
  return letters;
}

}  // namespace refrain::test
