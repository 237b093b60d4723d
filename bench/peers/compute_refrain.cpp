// The compute-bound stencil pattern on Refrain: the two rows are two fields of one region; a step is a
// group launch that reads each value's neighbourhood in one row and writes the value in the other,
// and a trace is two of them. Variants: see refrain_options.hpp. Requests `width= steps= iterations=`: nanoseconds.

#include <string>

#include "peers/compute_pattern.hpp"
#include "peers/peer.hpp"
#include "peers/refrain_options.hpp"
#include "refrain/refrain.hpp"

namespace {

using namespace refrain;
using peer::ComputePattern;
using peer::ComputeRows;

constexpr Field<double> rows[]{Field<double>{"even steps"}, Field<double>{"odd steps"}};

const Task advance{
    "advance", [](Write<double> after, Read<double> before, Point<1> c, std::int64_t iterations) {
      const Rect1 there = before.domain().bounds();
      const double left = there.contains(c - 1) ? before[c - 1] : 0;
      const double right = there.contains(c + 1) ? before[c + 1] : 0;
      after[c] = peer::compute_kernel((left + before[c] + right) / 3, iterations);
    }};

class ComputeProgram {
 public:
  ComputeProgram(Context& context, const ComputePattern& pattern, bool traced)
      : context_(context),
        pattern_(pattern),
        traced_(traced),
        values_(context.region(Rect1{0, pattern.width - 1}, rows[0], rows[1])),
        own_(context.blocks(values_, pattern.width)),
        around_(context.halo(own_, 1)) {
    const ComputeRows first(pattern);
    for (int r = 0; r < 2; ++r) {
      auto values = context.access<Write>(values_[rows[r]]);
      for (int c = 0; c < pattern.width; ++c)
        values[c] = first.rows[r][static_cast<std::size_t>(c)];
    }
  }
  ~ComputeProgram() { context_.destroy(values_); }
  ComputeProgram(const ComputeProgram&) = delete;
  ComputeProgram& operator=(const ComputeProgram&) = delete;

  void run() {
    for (int t = 0; t < pattern_.steps; ++t) {
      const bool even = t % 2 == 0;
      if (traced_ && even) context_.begin_trace(two_steps_);
      context_.launch(advance, pattern_.width, own_[rows[t % 2]], around_[rows[(t + 1) % 2]],
                      pattern_.iterations);
      if (traced_ && (!even || t + 1 == pattern_.steps)) context_.end_trace(two_steps_);
    }
    context_.fence();
  }

  ComputeRows result() {
    ComputeRows copy(pattern_);
    for (int r = 0; r < 2; ++r) {
      auto values = context_.access<Read>(values_[rows[r]]);
      for (int c = 0; c < pattern_.width; ++c)
        copy.rows[r][static_cast<std::size_t>(c)] = values[c];
    }
    return copy;
  }

 private:
  Context& context_;
  ComputePattern pattern_;
  bool traced_;
  const Trace two_steps_{"two steps"};
  Region<1> values_;
  Partition<1> own_, around_;
};

double measure(Context& context, const ComputePattern& pattern, bool traced) {
  ComputeProgram(context, {pattern.width, 2, 1}, traced).run();
  ComputeProgram program(context, pattern, traced);
  const peer::Timer timer;
  program.run();
  const double ns = timer.ns();
  check_compute(program.result(), pattern);
  return ns;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string variant = peer::variant_of(argc, argv);
  Runtime runtime(peer::refrain_options(peer::threads_of(argc, argv), variant));
  int result = 1;
  runtime.run([&](Context& context) {
    result = peer::serve([&](const peer::Request& request) {
      const ComputePattern pattern{static_cast<int>(request["width"]),
                                   static_cast<int>(request["steps"]), request["iterations"]};
      return measure(context, pattern, peer::has_traces(variant));
    });
  });
  return result;
}
