// The programs of bench/growth: streams of empty tasks over a state of a given shape. Run as
//   peer_growth_refrain THREADS WHAT "regions= pieces= fields= in_flight= [tasks=]"
// The shape:
//   pieces = 0   single launches; each reads and writes one of `fields` fields of one of `regions`
//                regions, all of them in turn in a random order. With in_flight > 0 each reads a gate,
//                too, that opens when so many have been launched; otherwise the runtime runs them when
//                it will (alone on its thread: some hundreds at a time)
//   pieces > 0   group launches over a region in so many pieces: a step writes every piece of one field
//                and reads it with its neighbours' nearest values from the other, as a stencil does
// WHAT: `time` and requests `tasks=`: ns per task; `bytes` and any request: resident bytes that the
// state takes; `parked` and any request: bytes per task in flight; `count`: runs `tasks` once and
// collects its instructions (support/callgrind.hpp). Before anything is measured everything has been
// met twice.

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "peers/peer.hpp"
#include "peers/refrain_options.hpp"
#include "refrain/refrain.hpp"
#include "support/callgrind.hpp"
#include "support/memory.hpp"

namespace {

using namespace refrain;

constexpr Coord values_per_region = 8;
constexpr Coord values_per_piece = 4;

const Task touch{"touch", [](ReadWrite<double>) {}};
const Task touch_gated{"touch", [](ReadWrite<double>, Read<double>) {}};
const Task exchange{"exchange", [](Write<double>, Read<double>) {}};

class Program {
 public:
  virtual ~Program() = default;
  /// At least so many tasks; returns how many, when they are done.
  virtual std::int64_t run(std::int64_t tasks) = 0;
  /// Everything once.
  virtual std::int64_t run_all() = 0;
};

class Singles final : public Program {
 public:
  Singles(Context& context, const peer::Request& shape)
      : context_(context), in_flight_(shape["in_flight"]) {
    std::vector<AnyField> fields;
    for (std::int64_t f = 0; f < shape["fields"]; ++f) {
      names_.push_back("field " + std::to_string(f));
      fields.push_back(Field<double>(names_.back()));
    }
    const IndexSpace<1> points(Rect1{0, values_per_region - 1});
    for (std::int64_t r = 0; r < shape["regions"]; ++r) {
      const Region<1> region(context.make_region(points, fields));
      for (const AnyField& field : fields) {
        arguments_.push_back(region[Field<double>(field.name)]);
      }
    }
    std::shuffle(arguments_.begin(), arguments_.end(), std::mt19937_64(1));
    gate_ = context.region(Rect1{0, 0}, barrier);
  }

  std::int64_t run(std::int64_t tasks) override {
    if (in_flight_ == 0) {
      for (std::int64_t i = 0; i < tasks; ++i) launch_next();
      context_.fence();
      return tasks;
    }
    const std::int64_t rounds = (tasks + in_flight_ - 1) / in_flight_;
    for (std::int64_t r = 0; r < rounds; ++r) run_parked(in_flight_);
    return rounds * in_flight_;
  }

  std::int64_t run_all() override {
    const auto all = static_cast<std::int64_t>(arguments_.size());
    for (std::int64_t i = 0; i < all; ++i) launch_next();
    context_.fence();
    return all;
  }

  /// `tasks` tasks, all of them launched before any of them may run.
  void run_parked(std::int64_t tasks) {
    {
      const auto closed = context_.access<ReadWrite>(gate_[barrier]);
      for (std::int64_t i = 0; i < tasks; ++i) {
        context_.launch(touch_gated, next(), gate_[barrier]);
      }
    }
    context_.fence();
  }

 private:
  static constexpr Field<double> barrier{"barrier"};

  const RegionArgument<double, 1>& next() {
    if (at_ == arguments_.size()) at_ = 0;
    return arguments_[at_++];
  }
  void launch_next() { context_.launch(touch, next()); }

  Context& context_;
  std::int64_t in_flight_;
  std::deque<std::string> names_;
  std::vector<RegionArgument<double, 1>> arguments_;
  Region<1> gate_;
  std::size_t at_ = 0;
};

class Groups final : public Program {
 public:
  Groups(Context& context, const peer::Request& shape)
      : context_(context), pieces_(shape["pieces"]) {
    const auto region =
        context.region(Rect1{0, pieces_ * values_per_piece - 1}, sides[0], sides[1]);
    own_ = context.blocks(region, pieces_);
    around_ = context.halo(own_, 1);
  }

  std::int64_t run(std::int64_t tasks) override {
    const std::int64_t steps = (tasks + pieces_ - 1) / pieces_;
    for (std::int64_t s = 0; s < steps; ++s) {
      context_.launch(exchange, pieces_, own_[sides[s % 2]], around_[sides[(s + 1) % 2]]);
    }
    context_.fence();
    return steps * pieces_;
  }

  std::int64_t run_all() override { return run(2 * pieces_); }

 private:
  static constexpr Field<double> sides[]{Field<double>{"left"}, Field<double>{"right"}};

  Context& context_;
  std::int64_t pieces_;
  Partition<1> own_, around_;
};

double difference(std::size_t now, std::size_t before) {
  return static_cast<double>(now) - static_cast<double>(before);
}

double bytes_per_parked_task(Singles& program, std::int64_t tasks) {
  bench::reset_peak_resident();
  const std::size_t before = bench::peak_resident_bytes();
  program.run_parked(tasks);
  return difference(bench::peak_resident_bytes(), before) / static_cast<double>(tasks);
}

double measured_ns(Program& program, std::int64_t tasks) {
  program.run_all();  // the peer was asleep
  const peer::Timer timer;
  const std::int64_t done = program.run(tasks);
  return timer.ns() / static_cast<double>(done);
}

int measure(Context& context, const std::string& what, const peer::Request& shape,
            std::size_t bytes_before) {
  std::unique_ptr<Program> program;
  if (shape["pieces"] > 0) program = std::make_unique<Groups>(context, shape);
  else program = std::make_unique<Singles>(context, shape);
  program->run_all();
  program->run_all();
  if (what == "parked") {
    auto& singles = dynamic_cast<Singles&>(*program);
    return peer::serve(
        [&](const peer::Request&) { return bytes_per_parked_task(singles, shape["in_flight"]); });
  }
  if (shape["in_flight"] > 0) program->run(shape["in_flight"]);
  if (what == "bytes") {
    const double bytes = difference(bench::resident_bytes(), bytes_before);
    return peer::serve([&](const peer::Request&) { return bytes; });
  }
  if (what == "count") {
    const bench::Collect collect;
    program->run(shape["tasks"]);
    return 0;
  }
  return peer::serve(
      [&](const peer::Request& request) { return measured_ns(*program, request["tasks"]); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s THREADS time|bytes|parked|count SHAPE\n", argv[0]);
    return 2;
  }
  const peer::Request shape(argv[3]);
  Options options = peer::refrain_options(peer::threads_of(argc, argv));
  // Room for what is in flight beside the tasks, too.
  const auto window = static_cast<std::size_t>(shape["in_flight"]) + 1024;
  options.window = std::max(options.window, window);
  Runtime runtime(options);
  const std::size_t bytes_before = bench::resident_bytes();
  int result = 1;
  runtime.run([&](Context& context) {
    result = measure(context, peer::variant_of(argc, argv), shape, bytes_before);
  });
  return result;
}
