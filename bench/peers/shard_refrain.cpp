// One shard of the star stencil on any number of them, in one process: a dry run (Options::dry), in which tasks do
// nothing and messages go nowhere, so that what is left is the analysis. Run as
//   peer_shard_refrain SHARD WHAT "shards= root= side= iterations="
// Of the shards, the first root x root have side x side tiles each, of 32 x 32 points. WHAT: `count` collects the
// instructions of the iterations after the third (support/callgrind.hpp), `check` the same with the control determinism
// check, `traced` and `automatic` those of replays; `look` answers requests `number=`:
//   0 messages, 1 their bytes, of each of these iterations      2 message plans made in all of them
//   3 bytes of the heap, after them

#include <malloc.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "peers/peer.hpp"
#include "refrain/refrain.hpp"
#include "support/callgrind.hpp"

namespace {

using namespace refrain;

constexpr Coord tile_side = 32, radius = 2;

/// Squares of tiles.
class Squares final : public Mapper {
 public:
  explicit Squares(Coord root) : root_(root) {}
  [[nodiscard]] std::string_view name() const override { return "squares"; }
  void map(const MappingInput& /*input*/, MappingOutput& /*output*/) override {}
  Sharding sharding(const ShardingInput& /*launch*/) override {
    return Sharding::tiled({root_, root_, 1});
  }

 private:
  const Coord root_;
};

const Task start{"start", [](Write<double, 2>) {}};
const Task star{"star", [](ReadWrite<double, 2>, Read<double, 2>) {}};
const Task increment{"increment", [](ReadWrite<double, 2>) {}};

/// Iterations after which automatic tracing replays all that follow.
constexpr std::int64_t kUntilFound = 400;
bool is_traced(const std::string& what) { return what == "traced" || what == "automatic"; }

struct Seen {
  Counters before, after;
  std::size_t heap = 0;
};

/// The launches of apps/stencil.
Seen run(Context& ctx, Runtime& runtime, const peer::Request& shape, const std::string& what) {
  static constexpr Field<double> in{"in"}, out{"out"};
  const Coord across = shape["root"] * shape["side"], n = across * tile_side;
  ctx.fence();  // nothing is run whole
  const auto grid = ctx.region(Rect2{{0, 0}, {n - 1, n - 1}}, in, out);
  const auto tile = ctx.blocks(grid, {across, across});
  const auto inner = ctx.interior(tile, radius);
  const auto around = ctx.halo(tile, radius);
  const Rect2 tiles{{0, 0}, {across - 1, across - 1}};
  const Trace iteration{"iteration"};
  const auto iterate = [&](std::int64_t times) {
    for (std::int64_t t = 0; t < times; ++t) {
      if (what == "traced") ctx.begin_trace(iteration);
      ctx.launch(star, tiles, inner[out], around[in]);
      ctx.launch(increment, tiles, tile[in]);
      if (what == "traced") ctx.end_trace(iteration);
    }
    ctx.fence();
  };
  ctx.launch(start, tiles, tile[in]);
  ctx.fill(grid, out, 0.0);
  for (int t = 0; t < 3; ++t) iterate(1);
  if (is_traced(what)) iterate(kUntilFound);
  Seen seen;
  seen.before = runtime.counters();
  if (what != "look") {
    const bench::Collect collect;
    iterate(shape["iterations"]);
  } else {
    // One by one: what is in flight is not of the shard's state.
    for (std::int64_t t = 0; t < shape["iterations"]; ++t) iterate(1);
  }
  seen.after = runtime.counters();
  const auto heap = mallinfo2();
  seen.heap = heap.uordblks + heap.hblkhd;
  return seen;
}

Seen run(std::uint32_t shard, const peer::Request& shape, const std::string& what) {
  Options options;
  options.workers = 0;
  options.dry = true;
  options.tracing = is_traced(what);  // else the analysis is counted
  options.autotrace = what == "automatic";
  options.shard = {shard, static_cast<std::uint32_t>(shape["shards"])};
  options.check_determinism = what == "check" || what == "look" ? Options().check_determinism : 0;
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<Squares>(shape["root"]));
  Seen seen;
  runtime.run([&](Context& ctx) { seen = run(ctx, runtime, shape, what); });
  return seen;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr,
                 "usage: peer_shard_refrain SHARD WHAT \"shards= root= side= iterations=\"\n");
    return 1;
  }
  const auto shard = static_cast<std::uint32_t>(std::atoi(argv[1]));
  const std::string what = argv[2];
  const peer::Request shape(argv[3]);
  if (what != "look") {
    run(shard, shape, what);
    return 0;
  }
  const Seen seen = run(shard, shape, what);
  return peer::serve([&](const peer::Request& request) -> double {
    const auto iterations = static_cast<double>(shape["iterations"]);
    switch (request["number"]) {
      case 0: return static_cast<double>(seen.after.messages - seen.before.messages) / iterations;
      case 1:
        return static_cast<double>(seen.after.message_bytes - seen.before.message_bytes) /
               iterations;
      case 2: return static_cast<double>(seen.after.message_plans - seen.before.message_plans);
      case 3: return static_cast<double>(seen.heap);
      default: throw std::runtime_error("no such number");
    }
  });
}
