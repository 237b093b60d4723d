// The chains on Refrain: a region of one value per chain, cut into its values; every task reads and
// writes one of them. Variants: "single", a launch per task, and "group", a launch per step; "traced-single" and
// "traced-group", the same with each graph a trace; "auto-single" and "auto-group", without marks, which the runtime
// is to find itself.

#include <map>
#include <utility>
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
  ChainProgram(Context& context, bool group, bool traced)
      : context_(context), group_(group), traced_(traced) {}

  void prepare(int chains) {
    if (static_cast<int>(parts_.size()) == chains) return;
    const auto region = context_.region(Rect1{0, chains - 1}, value);
    pieces_ = context_.blocks(region, chains);
    parts_.clear();
    for (int i = 0; i < chains; ++i) parts_.push_back(pieces_(i));
  }

  void run(const peer::Chains& work) {
    const Trace& graph = graphs_.try_emplace({work.chains, work.steps}, "graph").first->second;
    for (std::int64_t g = 0; g < work.graphs; ++g) {
      if (traced_) context_.begin_trace(graph);
      for (std::int64_t s = 0; s < work.steps; ++s) step(work.chains);
      if (traced_) context_.end_trace(graph);
    }
    context_.fence();
  }

 private:
  void step(int chains) {
    if (group_) {
      context_.launch(link, chains, pieces_[value]);
    } else {
      for (const Region<1>& part : parts_) context_.launch(link, part[value]);
    }
  }

  Context& context_;
  bool group_, traced_;
  std::map<std::pair<int, std::int64_t>, Trace> graphs_;  ///< by chains and steps
  Partition<1> pieces_;
  std::vector<Region<1>> parts_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string variant = peer::variant_of(argc, argv);
  Runtime runtime(peer::refrain_options(peer::threads_of(argc, argv), variant));
  int result = 1;
  runtime.run([&](Context& context) {
    ChainProgram program(context, variant.ends_with("group"), variant.starts_with("traced"));
    result = peer::serve_chains([&](const peer::Chains& work) { program.prepare(work.chains); },
                                [&](const peer::Chains& work) { program.run(work); });
  });
  return result;
}
