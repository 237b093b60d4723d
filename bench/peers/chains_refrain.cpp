// The chains on Refrain: a region of one value per chain, cut into its values; every task reads and
// writes one of them. Variants: "single", a launch per task, and "group", a launch per step.

#include <vector>

#include "peers/chains.hpp"
#include "peers/refrain_options.hpp"
#include "refrain/refrain.hpp"

namespace {

using namespace refrain;

constexpr Field<double> value{"value"};

const Task link{"link", [](ReadWrite<double>) {}};

class ChainProgram {
 public:
  ChainProgram(Context& context, bool group) : context_(context), group_(group) {}

  void prepare(int chains) {
    if (static_cast<int>(parts_.size()) == chains) return;
    const auto region = context_.region(Rect1{0, chains - 1}, value);
    pieces_ = context_.blocks(region, chains);
    parts_.clear();
    for (int i = 0; i < chains; ++i) parts_.push_back(pieces_(i));
  }

  void run(const peer::Chains& work) {
    const std::int64_t steps = work.graphs * work.steps;
    for (std::int64_t s = 0; s < steps; ++s) {
      if (group_) {
        context_.launch(link, work.chains, pieces_[value]);
      } else {
        for (const Region<1>& part : parts_) context_.launch(link, part[value]);
      }
    }
    context_.fence();
  }

 private:
  Context& context_;
  bool group_;
  Partition<1> pieces_;
  std::vector<Region<1>> parts_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool group = peer::variant_of(argc, argv) == "group";
  Runtime runtime(peer::refrain_options(peer::threads_of(argc, argv)));
  int result = 1;
  runtime.run([&](Context& context) {
    ChainProgram program(context, group);
    result = peer::serve_chains([&](const peer::Chains& work) { program.prepare(work.chains); },
                                [&](const peer::Chains& work) { program.run(work); });
  });
  return result;
}
