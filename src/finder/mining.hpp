#pragma once
// What of a sample of the stream may be worth a trace: repeats (Algorithm 2), and what they say about loops.
//
// A repeat of a loop's body is usually many iterations of it, from anywhere to anywhere. So of a repeat that is
// periodic, or that follows itself, only one **period** is kept, or a few if it is short. A period may begin with any of
// its tokens; it is turned so that it begins where calls were analysed after others that were replayed, since there
// a trace can begin that does not leave another; or else where the rarest token is, since nothing else begins with
// that. What was replayed anyway, the last time that it came, is left out. Departs from Yadav et al., who keep repeats
// as they are.

#include <cstdint>
#include <span>
#include <vector>

#include "finder/history.hpp"
#include "repeats/repeats.hpp"

namespace refrain::autotrace {

struct MiningLimits {
  std::size_t least = 1;               ///< tokens of a candidate
  std::size_t most = ~std::size_t{0};  ///< longer ones are cut into pieces
};

struct MinedRepeat {
  std::vector<Token> tokens;
  /// It follows itself: tokens with this period, which divides their number. 0: it does not, as far as is known.
  std::uint32_t period = 0;
  std::uint32_t count = 0;     ///< how often it was found
  std::uint32_t analysed = 0;  ///< of its calls, the last time; the others were replayed already
  std::uint64_t identity = 0;  ///< the same for the same repeat, for a loop's wherever it begins
  std::uint64_t context = 0;   ///< context_of what came before it, the last time
};

/// Longest first, each once. O(n log n).
std::vector<MinedRepeat> mine(const Sample& sample, const MiningLimits& limits);

/// Some tokens in a row that come again, and follow nothing known.
MinedRepeat repeat_of_stretch(std::span<const Token> tokens, std::uint32_t count);

/// Of a loop whose body is so many tokens of the sample from there on, at most `limits.most`: turned, and as many
/// iterations as the least length asks for.
MinedRepeat repeat_of_loop(const Sample& sample, std::size_t begin, std::uint32_t period,
                           std::uint32_t count, const MiningLimits& limits);

/// The shortest p such that all tokens are equal to those p before them; the length, if there is none.
std::uint32_t period_of(std::span<const Token> tokens);

}  // namespace refrain::autotrace
