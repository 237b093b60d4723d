#include <vector>

#include "trace_overhead/program.hpp"

namespace refrain::bench {

namespace {

constexpr Field<double> value{"value"};
const Task link{"F", [](ReadWrite<double>) {}};

class Chains final : public Program {
 public:
  Chains(Context& context, int steps) : Program(context), steps_(steps) {
    const auto pieces = context.blocks(context.region(Rect1{0, chains - 1}, value), chains);
    for (int i = 0; i < chains; ++i) parts_.push_back(pieces(i));
  }

  void occurrence() override {
    for (int s = 0; s < steps_; ++s)
      for (const Region<1>& part : parts_) context_.launch(link, part[value]);
  }

 private:
  int steps_;
  std::vector<Region<1>> parts_;
};

}  // namespace

std::unique_ptr<Program> make_chains(Context& context, int steps) {
  return std::make_unique<Chains>(context, steps);
}

}  // namespace refrain::bench
