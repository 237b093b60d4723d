// A program that several ranks run, and that goes wrong as its first argument says: ranks_faults MODE [FLAGS]. What it
// has to say then is in CMakeLists.txt. Rank 1 is the odd one.

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "refrain/refrain.hpp"

namespace {

using namespace refrain;

struct Cell {
  static constexpr Field<double> a{"a"}, b{"b"};
};

const Task set{"set", [](Write<double> a, double value) {
                 for (auto p : a.domain()) a[p] = value;
               }};
const Task add{"add", [](ReadWrite<double> a) {
                 for (auto p : a.domain()) a[p] += 1;
               }};
const Task sum{"sum", [](Read<double> a) {
                 double all = 0;
                 for (auto p : a.domain()) all += a[p];
                 return all;
               }};
const Task slow{"slow", [](Read<double>) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(300));
                  return 1.0;
                }};
const Task fails{"fails", [](ReadWrite<double> a) {
                   if (a.domain().contains(Point1{25})) throw std::runtime_error("no luck");
                 }};

struct World {
  Context& ctx;
  bool odd;  ///< this is rank 1
  Region<1> cells = ctx.region(Rect1{0, 29}, Cell::a, Cell::b);
  Partition<1> blocks = ctx.blocks(cells, 6);
  std::vector<double> memory =
      std::vector<double>(30);  ///< to be attached; longer than the context
};

/// Its part for each block.
auto memory_of(World& w) {
  return [&w](Point1 colour) { return &w.memory[static_cast<std::size_t>(5 * colour[0])]; };
}

/// Of all that a machine has.
std::uint32_t hash_of(const Machine& machine) {
  std::string all;
  for (const Processor& each : machine.processors())
    all += each.name + ' ' + std::to_string(each.rank) + ' ' + std::to_string(each.numa) + ' ' +
           std::to_string(each.cpus.size()) + ' ' + std::to_string(each.memories[0]) + '\n';
  for (const Memory& each : machine.memories())
    all += each.name + ' ' + std::to_string(each.rank) + ' ' + std::to_string(each.capacity) + '\n';
  for (const Link& each : machine.links())
    all += std::to_string(each.from) + ' ' + std::to_string(each.to) + '\n';
  return static_cast<std::uint32_t>(std::hash<std::string>()(all));
}

/// How many ranks have how much.
void tell_of(const Machine& machine) {
  std::map<std::uint32_t, std::pair<std::size_t, std::uint64_t>> by_rank;  // cores, bytes
  for (const ProcessorId id : machine.processors(ProcessorKind::cpu))
    ++by_rank[machine.processor(id).rank].first;
  for (const Memory& memory : machine.memories()) by_rank[memory.rank].second += memory.capacity;
  bool alike = true;
  for (const auto& [rank, amounts] : by_rank) alike = alike && amounts == by_rank[0];
  std::printf("%zu of %u ranks, %s, with %.2f GiB each\n", by_rank.size(), machine.ranks(),
              alike ? "all alike" : "not alike",
              static_cast<double>(by_rank[0].second) / static_cast<double>(1 << 30));
}

/// Messages of all kinds: data, contributions of values, agreements.
void run_for_ever(World& w) {
  const auto shifted = w.ctx.halo(w.blocks, 1);
  for (;;) {
    for (int i = 0; i < 20; ++i) {
      w.ctx.launch(add, 6, w.blocks[Cell::a]);
      w.ctx.launch(sum, 6, shifted[Cell::a]);
    }
    static_cast<void>(w.ctx.reduce(w.ctx.launch(sum, 6, shifted[Cell::a]), Sum{}).get());
    w.ctx.fence();
  }
}

/// What goes wrong, after a program that is right so far.
const std::map<std::string, std::function<void(World&)>>& modes() {
  static const std::map<std::string, std::function<void(World&)>> all{
      {"right", [](World&) {}},
      // A machine that is not the same would be a value that is not.
      {"less-memory",
       [](World& w) {
         w.ctx.launch(set, 6, w.blocks[Cell::b], static_cast<double>(hash_of(w.ctx.machine())));
         tell_of(w.ctx.machine());
       }},

      // Calls that are not the same.
      {"task",
       [](World& w) {
         if (w.odd) w.ctx.launch(set, 6, w.blocks[Cell::a], 2.0);
         else w.ctx.launch(add, 6, w.blocks[Cell::a]);
       }},
      {"domain", [](World& w) { w.ctx.launch(add, w.odd ? 5 : 6, w.blocks[Cell::a]); }},
      {"value", [](World& w) { w.ctx.launch(set, 6, w.blocks[Cell::a], w.odd ? 2.0 : 3.0); }},
      {"field", [](World& w) { w.ctx.launch(add, 6, w.blocks[w.odd ? Cell::a : Cell::b]); }},
      {"single", [](World& w) { w.ctx.launch(add, w.blocks(w.odd ? 3 : 4)[Cell::a]); }},
      {"region",
       [](World& w) {
         w.ctx.region(Rect1{0, w.odd ? 8 : 9}, Cell::a);
       }},
      {"partition", [](World& w) { w.ctx.blocks(w.cells, w.odd ? 2 : 3); }},
      {"fill", [](World& w) { w.ctx.fill(w.cells, Cell::a, w.odd ? 0.5 : 0.25); }},
      {"copy",
       [](World& w) {
         if (w.odd) w.ctx.copy(w.cells[Cell::a], w.cells[Cell::b]);
         else w.ctx.copy(w.cells[Cell::b], w.cells[Cell::a]);
       }},
      {"access",
       [](World& w) {
         if (w.odd) w.ctx.access<Read>(w.cells[Cell::a]);
         else w.ctx.access<ReadWrite>(w.cells[Cell::a]);
       }},
      {"written",
       [](World& w) {
         auto a = w.ctx.access<ReadWrite>(w.cells[Cell::a]);
         a[7] = w.odd ? 3 : 4;
       }},
      {"per-point",
       [](World& w) {
         w.ctx.launch(set, 6, w.blocks[Cell::a],
                      per_point([&](Point1 p) { return w.odd && p == 4 ? 2.0 : 1.0; }));
       }},
      {"attach",
       [](World& w) {
         w.ctx.attach(w.cells, w.odd ? Cell::a : Cell::b, w.memory.data());
         w.ctx.launch(set, 6, w.blocks[Cell::a], 1.0);
         w.ctx.fence();
       }},
      {"attach-once",
       [](World& w) {
         if (w.odd) w.ctx.attach(w.cells, Cell::b, w.memory.data());
         w.ctx.launch(set, 6, w.blocks[Cell::b], 1.0);
         w.ctx.fence();
       }},
      {"detach",
       [](World& w) {
         std::vector<double> others(30);
         w.ctx.attach(w.cells, Cell::a, w.memory.data());
         w.ctx.attach(w.cells, Cell::b, others.data());
         w.ctx.launch(set, 6, w.blocks[Cell::a], 1.0);
         w.ctx.launch(set, 6, w.blocks[Cell::b], 1.0);
         w.ctx.detach(w.cells, w.odd ? Cell::a : Cell::b);
         w.ctx.detach(w.cells, w.odd ? Cell::b : Cell::a);
         w.ctx.fill(w.cells, Cell::a, 1.0);
       }},
      {"detach-once",
       [](World& w) {
         w.ctx.attach(w.cells, Cell::a, w.memory.data());
         if (!w.odd) w.ctx.detach(w.cells, Cell::a);
         w.ctx.launch(set, 6, w.blocks[Cell::a], 1.0);
         w.ctx.fence();
       }},
      {"attach-pieces",
       [](World& w) {
         w.ctx.attach(w.blocks, Cell::a, memory_of(w),
                      w.odd ? Sharding::cyclic() : Sharding::blocked());
         w.ctx.launch(set, 6, w.blocks[Cell::a], 1.0);
         w.ctx.fence();
       }},
      {"attach-null",
       [](World& w) {
         w.ctx.attach(w.blocks, Cell::a,
                      [&](Point1 colour) { return w.odd ? nullptr : memory_of(w)(colour); });
         w.ctx.launch(set, 6, w.blocks[Cell::a], 1.0);
         w.ctx.fence();
       }},
      {"attach-wrong",
       [](World& w) {
         w.ctx.attach(w.blocks, Cell::a, memory_of(w),
                      Sharding::function("wrong", [](const Point3&, const Rect3&, ShardId shards,
                                                     std::uint64_t) { return shards; }));
       }},
      {"refused",
       [](World& w) {
         const auto past = w.blocks.at(shift(1));
         try {
           if (w.odd) w.ctx.launch(add, 6, past[Cell::a]);
           else w.ctx.launch(set, 6, past[Cell::a], 1.0);
         } catch (const UsageError&) {}
         w.ctx.fence();
       }},
      // Functions that are not pure: by the process, and by how often they were asked.
      {"projection",
       [](World& w) {
         const auto turn = Projection::function("turn", [](const Point3& p, std::uint64_t) {
           return Point3{(p[0] + (processes().rank == 1)) % 6, 0, 0};
         });
         w.ctx.launch(add, 6, w.blocks.at(turn)[Cell::a]);
       }},
      {"drifting",
       [](World& w) {
         const auto drift = Projection::function("drift", [](const Point3& p, std::uint64_t) {
           static Coord asked = 0;
           return Point3{(p[0] + asked++ / 6) % 6, 0, 0};
         });
         w.ctx.launch(add, 6, w.blocks.at(drift)[Cell::a]);
       }},
      {"destroy",
       [](World& w) {
         const auto other = w.ctx.region(Rect1{0, 9}, Cell::a);
         const auto third = w.ctx.region(Rect1{0, 9}, Cell::a);
         w.ctx.destroy(w.odd ? other : third);
       }},
      {"reduce",
       [](World& w) {
         auto sums = w.ctx.launch(sum, 6, w.blocks[Cell::a]);
         if (w.odd) w.ctx.reduce(sums, Sum{});
         else w.ctx.reduce(sums, Max{});
       }},
      {"future",
       [](World& w) {
         const auto first = w.ctx.launch(sum, w.cells[Cell::a]);
         const auto second = w.ctx.launch(sum, w.cells[Cell::b]);
         w.ctx.fill(w.cells, Cell::b, w.odd ? first : second);
       }},
      {"given",
       [](World& w) {
         const auto first = w.ctx.launch(sum, w.cells[Cell::a]);
         const auto second = w.ctx.launch(sum, w.cells[Cell::b]);
         w.ctx.launch(set, 6, w.blocks[Cell::a], w.odd ? first : second);
       }},
      {"reduced",
       [](World& w) {
         const auto first = w.ctx.launch(sum, 6, w.blocks[Cell::a]);
         const auto second = w.ctx.launch(sum, 6, w.blocks[Cell::b]);
         w.ctx.reduce(w.odd ? first : second, Sum{});
       }},
      {"get",
       [](World& w) {
         const auto sums = w.ctx.launch(sum, 6, w.blocks[Cell::a]);
         if (w.odd) static_cast<void>(sums.get(3));
       }},
      {"got",
       [](World& w) {
         const auto first = w.ctx.launch(sum, 6, w.blocks[Cell::a]);
         const auto second = w.ctx.launch(sum, 6, w.blocks[Cell::b]);
         static_cast<void>((w.odd ? first : second).get(3));
       }},
      {"root-throws",
       [](World& w) {
         if (w.ctx.is_output_shard()) throw std::runtime_error("the first has enough");
         w.ctx.launch(add, 6, w.blocks[Cell::a]);
         w.ctx.fence();
       }},
      {"open",
       [](World& w) {
         const auto a = w.ctx.access<ReadWrite>(w.cells[Cell::a]);
         auto future = w.ctx.launch(sum, w.cells[Cell::a]);
         try {
           static_cast<void>(future.get());
         } catch (const Deadlock&) {}
       }},
      // Tasks of one name, of which bodies have some, too.
      {"slots",
       [](World& w) {
         const Task outer{"outer", [](Context& ctx, Read<double>) {
                            const Task same{"same", [](int) {}};
                            for (int i = 0; i < 20; ++i) ctx.launch(same, i);
                          }};
         for (int i = 0; i < 30; ++i) {
           w.ctx.launch(outer, 6, w.blocks[Cell::a]);
           const Task same{"same", [](int) {}};
           w.ctx.launch(same, i);
         }
       }},
      {"fence",
       [](World& w) {
         if (w.odd) w.ctx.fence();
       }},
      {"trace",
       [](World& w) {
         const Trace first{"first"}, second{"second"};
         w.ctx.begin_trace(w.odd ? first : second);
         w.ctx.end_trace(w.odd ? first : second);
       }},
      {"ready",
       [](World& w) {
         auto future = w.ctx.launch(slow, w.cells[Cell::a]);
         if (w.odd) future.wait();
         if (future.ready()) w.ctx.launch(add, 6, w.blocks[Cell::a]);
       }},
      {"more",
       [](World& w) {
         if (w.odd) w.ctx.launch(add, 6, w.blocks[Cell::a]);
       }},
      // The order of addresses (the third of the paper's examples).
      {"order",
       [](World& w) {
         const std::map<bool, const Field<double>*> by_address{{w.odd, &Cell::a},
                                                               {!w.odd, &Cell::b}};
         for (const auto& [address, field] : by_address) w.ctx.fill(w.cells, *field, 1.0);
       }},

      // Errors.
      {"throws",
       [](World& w) {
         if (w.odd) throw std::runtime_error("enough");
         w.ctx.launch(add, 6, w.blocks[Cell::a]);
         w.ctx.fence();
       }},
      {"all-throw", [](World&) { throw std::runtime_error("all of us"); }},
      {"fails",
       [](World& w) {
         w.ctx.launch(fails, 6, w.blocks[Cell::a]);
         w.ctx.fence();
       }},
      {"memory",
       [](World& w) {
         const auto large = w.ctx.region(Rect1{0, (1 << 27) - 1}, Cell::a);
         w.ctx.fill(large, Cell::a, 1.0);
         if (w.odd) {
           const rlimit limit{1 << 29, 1 << 29};
           setrlimit(RLIMIT_AS, &limit);
         }
         w.ctx.launch(add, 3, w.ctx.blocks(large, 3)[Cell::a]);
         try {
           w.ctx.fence();
         } catch (const OutOfMemory&) {}
       }},
      {"wrong",
       [](World& w) {
         try {
           w.ctx.launch(add, 7, w.blocks[Cell::a]);
         } catch (const UsageError& error) {
           if (w.ctx.is_output_shard()) std::printf("told: %s\n", error.what());
         }
       }},
      // An error that one rank has and catches: it goes on without the call.
      {"catches",
       [](World& w) {
         const auto value = [&](Point1 p) {
           if (w.odd && p == 5) throw std::runtime_error("not here");
           return 1.0;
         };
         try {
           w.ctx.launch(set, 6, w.blocks[Cell::a], per_point(value));
         } catch (const Error&) {}
       }},
      {"mapper",
       [](World& w) {
         try {
           w.ctx.launch(add, 6, w.blocks[Cell::b]);
         } catch (const Error&) {}
       }},
      {"divided", [](World& w) { w.ctx.launch(add, 6, w.blocks[Cell::b]); }},
      {"divided-sum",
       [](World& w) {
         const auto sums = w.ctx.launch(sum, 6, w.blocks[Cell::b]);
         std::printf("%g\n", static_cast<double>(w.ctx.reduce(sums, Sum{}).get()));
       }},
      {"exit",
       [](World& w) {
         if (w.odd) std::exit(0);
         else w.ctx.fence();
       }},
      {"kill",
       [](World& w) {
         if (w.odd) raise(SIGKILL);
         run_for_ever(w);
       }},
      {"for-ever", run_for_ever},
      {"sleeps",
       [](World& w) {
         if (w.odd) std::this_thread::sleep_for(std::chrono::hours(1));
         w.ctx.fence();
       }},
  };
  return all;
}

void run_mode(Context& ctx, const std::string& mode) {
  World w{ctx, processes().rank == 1};
  ctx.fill(w.cells, Cell::b, 1.0);
  ctx.launch(set, 6, w.blocks[Cell::a], 1.0);
  modes().at(mode)(w);
  // Data goes from rank to rank.
  const auto shifted = ctx.halo(w.blocks, 1);
  auto sums = ctx.launch(sum, 6, shifted[Cell::a]);
  const double all = ctx.reduce(sums, Sum{}).get();
  if (ctx.is_output_shard()) std::printf("the sum is %g\n", all);
}

// --- before the ranks are connected -----------------------------------------------------------------------

/// Whether this is rank 1.
bool is_odd() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* const rank = std::getenv(name)) return std::strcmp(rank, "1") == 0;
  return false;
}

int make_file(int number, const std::string& bytes) {
  const int file = memfd_create("fault", 0);
  if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  return dup2(file, number);
}

/// Goes on as a program that differs in its last byte.
void run_other_binary() {
  std::ifstream own("/proc/self/exe", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(own), {}};
  bytes += '\0';
  char name[] = "ranks_faults", mode[] = "right";
  char* const arguments[] = {name, mode, nullptr};
  fexecve(make_file(99, bytes), arguments, environ);
  std::abort();
}

/// File 99.
void describe_machine(const std::string& capacity, int cores = 2) {
  make_file(99, R"({"memories": [{"name": "all", "kind": "system", "capacity": ")" + capacity +
                    R"("}], "processors": [{"name": "core", "kind": "cpu", "count": )" +
                    std::to_string(cores) + R"(, "memories": ["all"]}]})");
}

// --- runtimes of this test --------------------------------------------------------------------------------

/// Throws on rank 1, for one task.
class OddMapper final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "odd"; }
  void map(const MappingInput& input, MappingOutput& /*output*/) override {
    if (processes().rank == 1 && input.task == "add") throw std::runtime_error("no idea");
  }
};

/// Sharding functions that are not right, by their number.
ShardId wrong_shard(const Point3& point, const Rect<3>& /*bounds*/, ShardId shards,
                    std::uint64_t key) {
  static ShardId asked = 0;
  const auto at = static_cast<ShardId>(point[0]);
  switch (key) {
    case 1: return point[0] == 3 ? 7 : at % shards;          // there is no shard 7
    case 2: return (at + (processes().rank == 1)) % shards;  // by the process
    default: return (at + asked++ / 6) % shards;             // by how often it was asked
  }
}

/// Divides one task's launches by one of these; where the number is 4, those whose values are added up.
class WrongSharding final : public Mapper {
 public:
  explicit WrongSharding(std::uint64_t key) : key_(key) {}
  [[nodiscard]] std::string_view name() const override { return "wrong"; }
  void map(const MappingInput& /*input*/, MappingOutput& /*output*/) override {}
  Sharding sharding(const ShardingInput& launch) override {
    if (key_ == 4 && launch.task == "sum") return Sharding::function("wrong", wrong_shard, 2);
    return launch.task == "add" ? Sharding::function("wrong", wrong_shard, key_) : Sharding();
  }

 private:
  const std::uint64_t key_;
};

/// The ranks agree on the machine of each Runtime.
void run_on_machines(Options options) {
  const auto run = [&](int cores) {
    options.machine = "emulated:cpus=" + std::to_string(cores);
    Runtime(options).run([](Context& ctx) {
      std::printf("%zu cores\n", ctx.machine().processors(ProcessorKind::cpu).size());
    });
  };
  run(2);
  run(3);
  try {
    run(is_odd() ? 5 : 4);
  } catch (const InputError& error) { std::printf("%s\n", error.what()); }  // seen of rank 0
}

/// The program with a mapper of this test.
void run_on(const std::string& mode, const Options& options) {
  Runtime runtime(options);
  if (mode == "mapper") runtime.set_mapper(std::make_unique<OddMapper>());
  else
    runtime.set_mapper(
        std::make_unique<WrongSharding>(std::strtoull(mode.c_str() + 9, nullptr, 10)));
  runtime.run([&](Context& ctx) {
    run_mode(ctx, mode == "mapper" ? mode : mode == "sharding-4" ? "divided-sum" : "divided");
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "flags") {
    // Before anybody has read them.
    if (is_odd()) setenv("REFRAIN_ARGS", "--refrain:window 17", 1);
  } else if (mode == "unknown-flag") {
    if (is_odd()) setenv("REFRAIN_ARGS", "--refrain:bogus", 1);
  } else if (mode == "binary") {
    if (is_odd()) run_other_binary();
  } else if (mode == "machine" || mode == "no-machine") {
    // One name of a file, that is another one on rank 1, or none.
    if (mode == "machine" || !is_odd()) describe_machine(is_odd() ? "2GiB" : "1GiB");
    setenv("REFRAIN_ARGS", "--refrain:machine /proc/self/fd/99", 1);
  } else if (mode == "cores") {
    setenv("REFRAIN_ARGS", "--refrain:machine /proc/self/fd/99", 1);
    describe_machine("1GiB", is_odd() ? 3 : 4);
  } else if (mode == "second") {
    try {
      const Runtime first;
      const Runtime second;
    } catch (const UsageError& error) {
      if (processes().rank == 0) std::printf("%s\n", error.what());
      return 0;
    }
  } else if (mode == "less-memory") {
    const rlimit limit{std::uint64_t{5} << 28, std::uint64_t{5} << 28};
    if (is_odd()) setrlimit(RLIMIT_DATA, &limit);
  } else if (mode == "machines" || mode == "mapper" || mode.starts_with("sharding-")) {
    try {
      if (mode == "machines") run_on_machines(parse_options(argc, argv));
      else run_on(mode, parse_options(argc, argv));
      return 0;
    } catch (const Error& error) {
      report_error(error.what());
      return 1;
    }
  } else if (!modes().contains(mode)) {
    std::fprintf(stderr, "ranks_faults MODE\n");
    return 2;
  }
  return refrain::run(
      argc, argv, [&](Context& ctx) { run_mode(ctx, modes().contains(mode) ? mode : "right"); });
}
