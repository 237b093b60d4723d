#pragma once
// Streams that are hard on automatic tracing, as programs: a launch per token, with regions of its own for each. They
// are those of the tests (support/streams.hpp), and
//   beyond_history   a loop of one call more than the history has: what repeats is never seen

#include <cstdint>
#include <span>
#include <vector>

#include "refrain/refrain.hpp"

namespace refrain::bench {

struct AdversarialStream {
  const char* name;
  bool repeats;  ///< at all, as far as a history reaches
};
extern const std::vector<AdversarialStream> adversarial_streams;

/// So many tokens, numbered by their first appearances.
std::vector<std::uint32_t> tokens_of(const AdversarialStream& stream, std::size_t size);

/// A body that spins for so long.
struct Touch {
  std::int64_t ns;
  void operator()(const ReadWrite<double>&, const Read<double>&) const;
};

/// Launches tokens.
class StreamProgram {
 public:
  StreamProgram(Context& context, std::int64_t body_ns);
  /// Returns when all are done.
  void launch(std::span<const std::uint32_t> tokens);

 private:
  Context& context_;
  const Task<Touch> touch_;
  std::vector<Region<1>> parts_;
};

}  // namespace refrain::bench
