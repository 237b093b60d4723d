#include "machine/machine.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "refrain/error.hpp"
#include "support/temporary_file.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::machine::machine_test {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

// What every machine holds, wherever it comes from.
void check_invariants(const Machine& m) {
  EXPECT_TRUE(m.has(ProcessorKind::cpu));
  EXPECT_FALSE(m.memories(MemoryKind::system).empty());
  std::vector<ProcessorId> in_gangs;
  for (const Processor& p : m.processors()) {
    EXPECT_EQ(&m.processor(p.id), &p);
    EXPECT_FALSE(p.memories.empty());
    for (MemoryId memory : p.memories) EXPECT_TRUE(m.reaches(p.id, memory));
    if (p.kind == ProcessorKind::gpu) {
      const auto own = m.nearest(p.id, MemoryKind::framebuffer);
      EXPECT_EQ(own ? m.memory(*own).owner : std::nullopt, p.id);
    }
    for (ProcessorId member : p.members) {
      EXPECT_EQ(m.processor(member).numa, p.numa);
      in_gangs.push_back(member);
    }
  }
  std::sort(in_gangs.begin(), in_gangs.end());
  const auto cpus = m.processors(ProcessorKind::cpu);
  EXPECT_EQ(in_gangs, std::vector<ProcessorId>(cpus.begin(), cpus.end()));
  for (const Memory& from : m.memories()) {
    EXPECT_GT(from.capacity, 0U);
    for (const Memory& to : m.memories())
      EXPECT_TRUE(std::isfinite(m.copy_seconds(from.id, to.id, 1)));
  }
}

void expect_same(const Machine& a, const Machine& b) {
  EXPECT_EQ(a.name(), b.name());
  ASSERT_EQ(a.processors().size(), b.processors().size());
  for (std::size_t p = 0; p < a.processors().size(); ++p) {
    const Processor &x = a.processors()[p], &y = b.processors()[p];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.numa, y.numa);
    EXPECT_EQ(x.emulated, y.emulated);
    EXPECT_EQ(x.memories, y.memories);
    EXPECT_EQ(x.cpus, y.cpus);
    EXPECT_EQ(x.members, y.members);
    EXPECT_EQ(x.rank, y.rank);
    EXPECT_EQ(x.flops, y.flops);
    EXPECT_EQ(x.bandwidths, y.bandwidths);
    EXPECT_EQ(x.launch_seconds, y.launch_seconds);
  }
  ASSERT_EQ(a.memories().size(), b.memories().size());
  for (std::size_t m = 0; m < a.memories().size(); ++m) {
    const Memory &x = a.memories()[m], &y = b.memories()[m];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.capacity, y.capacity);
    EXPECT_EQ(x.numa, y.numa);
    EXPECT_EQ(x.owner, y.owner);
    EXPECT_EQ(x.rank, y.rank);
  }
  ASSERT_EQ(a.links().size(), b.links().size());
  for (std::size_t l = 0; l < a.links().size(); ++l) {
    EXPECT_EQ(a.links()[l].from, b.links()[l].from);
    EXPECT_EQ(a.links()[l].to, b.links()[l].to);
    EXPECT_EQ(a.links()[l].bandwidth, b.links()[l].bandwidth);
    EXPECT_EQ(a.links()[l].latency, b.links()[l].latency);
  }
  EXPECT_EQ(a.network().has_value(), b.network().has_value());
  const Link x = a.network().value_or(Link{}), y = b.network().value_or(Link{});
  EXPECT_EQ(x.bandwidth, y.bandwidth);
  EXPECT_EQ(x.latency, y.latency);
  EXPECT_EQ(a.overheads().analyse, b.overheads().analyse);
  EXPECT_EQ(a.overheads().replay, b.overheads().replay);
  EXPECT_EQ(a.overheads().run, b.overheads().run);
  EXPECT_EQ(a.overheads().wake, b.overheads().wake);
}

/// What a machine names is of the same rank, and there is no way between ranks.
void check_same_rank_only(const Machine& m) {
  for (const Processor& p : m.processors()) {
    for (const MemoryId memory : p.memories) EXPECT_EQ(m.memory(memory).rank, p.rank);
    for (const ProcessorId member : p.members) EXPECT_EQ(m.processor(member).rank, p.rank);
  }
  for (const Memory& from : m.memories()) {
    EXPECT_EQ(from.owner ? m.processor(*from.owner).rank : from.rank, from.rank);
    for (const Memory& to : m.memories()) {
      EXPECT_EQ(std::isfinite(m.copy_seconds(from.id, to.id, 1)), from.rank == to.rank);
      EXPECT_TRUE(from.rank == to.rank || m.link(from.id, to.id) == nullptr);
    }
  }
}

/// What a rank has, with the ids, capacities and bindings of `one`: made again from what the queries say.
Machine part_of(const Machine& all, std::uint32_t rank, const Machine& one) {
  const auto processors = static_cast<ProcessorId>(one.processors().size());
  const auto memories = static_cast<MemoryId>(one.memories().size());
  Description part{all.name(), {}, {}, {}};
  for (ProcessorId p = rank * processors; p < (rank + 1) * processors; ++p) {
    Processor copy = all.processor(p);
    EXPECT_EQ(copy.rank, rank);
    for (MemoryId& memory : copy.memories) memory -= rank * memories;
    for (ProcessorId& member : copy.members) member -= rank * processors;
    copy.id -= rank * processors;
    copy.rank = 0;
    part.processors.push_back(copy);
  }
  for (MemoryId m = rank * memories; m < (rank + 1) * memories; ++m) {
    Memory copy = all.memory(m);
    EXPECT_EQ(copy.rank, rank);
    if (copy.owner) *copy.owner -= rank * processors;
    copy.id -= rank * memories;
    copy.capacity = one.memory(copy.id).capacity;
    copy.rank = 0;
    part.memories.push_back(copy);
  }
  for (const Link& each : one.links()) {
    const Link* const link = all.link(each.from + rank * memories, each.to + rank * memories);
    if (link == nullptr) continue;
    part.links.push_back(
        {link->from - rank * memories, link->to - rank * memories, link->bandwidth, link->latency});
    EXPECT_EQ(all.copy_seconds(link->from, link->to, mib),
              one.copy_seconds(each.from, each.to, mib));
  }
  return std::move(part).build();
}

/// Looks anew, as load("") does once.
Machine discover() { return assemble("this machine", find_hardware()); }

TEST(Machine, DiscoveredOneIsSane) {
  const Machine m = discover();
  check_invariants(m);
  const auto cores = m.processors(ProcessorKind::cpu).size();
  EXPECT_LE(cores, std::max(1U, std::thread::hardware_concurrency()));
  EXPECT_EQ(m.processors(ProcessorKind::gang).size(), m.memories(MemoryKind::system).size());
  expect_same(m, load(""));
}

TEST(Machine, BoundThreadsDoNotShrinkIt) {
  const auto cpus = [] { return discover().processors(ProcessorKind::cpu).size(); };
  const std::size_t before = cpus();
  std::thread([&] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(cpus(), before);
  }).join();
}

// Each rank's part is the machine of one, with other ids, and nothing joins two parts.
TEST(Machine, OfRanksIsOneAfterTheOther) {
  const Machine one = load("emulated:cpus=4,numa=2,gpus=2");
  std::vector<std::uint64_t> capacities;
  for (const Memory& memory : one.memories()) capacities.push_back(memory.capacity - memory.id);
  const Machine all = of_ranks(one, 3, capacities);
  check_same_rank_only(all);
  EXPECT_EQ(one.ranks(), 1U);
  EXPECT_EQ(all.ranks(), 3U);
  const std::size_t processors = one.processors().size(), memories = one.memories().size();
  ASSERT_EQ(all.processors().size(), 3 * processors);
  ASSERT_EQ(all.memories().size(), 3 * memories);
  EXPECT_EQ(all.processors(ProcessorKind::gpu).size(), 6U);
  EXPECT_EQ(all.memories(MemoryKind::framebuffer).size(), 6U);
  for (const Memory& memory : all.memories())
    EXPECT_EQ(memory.capacity, capacities[memory.id % memories]);
  for (std::uint32_t rank = 0; rank < 3; ++rank) expect_same(one, part_of(all, rank, one));
  EXPECT_EQ(of_ranks(one, 4096, capacities).processors().size(), 4096 * processors);
}

TEST(Machine, OfRanksBindsNothing) {
  Description description{"bound", {}, {}, {}};
  const MemoryId memory = description.add(MemoryKind::system, "all", mib, 0);
  description.add(ProcessorKind::cpu, "core", 0, {memory}).cpus = {5};
  description.add_gangs();
  const Machine one = std::move(description).build();
  EXPECT_EQ(one.processor(1).cpus, std::vector<int>{5});
  const Machine all = of_ranks(one, 2, std::vector{mib});
  for (const Processor& processor : all.processors()) EXPECT_TRUE(processor.cpus.empty());
}

// Ranks are alike where cores are in the same domains; how much memory they have is not looked at, unless a file says it.
TEST(Machine, OutlineSaysWhatRanksHaveInCommon) {
  const auto outline = [](const std::string& form) { return to_outline(load(form), form); };
  EXPECT_EQ(outline("emulated:cpus=3,gpus=1,system=1MB"), "cores: 3, GPUs: 1, NUMA domains: 1");
  Hardware hardware;
  hardware.domains = {mib, mib};
  for (const int domain : {0, 1, 1}) hardware.cpus.push_back({.domain = domain});
  EXPECT_EQ(to_outline(assemble("found", hardware), ""),
            "cores: 3, GPUs: 0, NUMA domains: 2 of cores 0 | 1-2");
}

// hwloc takes a made-up topology from the environment; what the process may use is still the truth.
TEST(Machine, EachNumaDomainHasItsMemoryAndGang) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0 || !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set))
    GTEST_SKIP() << "needs hardware threads 0 and 1";
  setenv("HWLOC_SYNTHETIC", "numa:2 core:1 pu:1", 1);
  const Machine m = discover();
  unsetenv("HWLOC_SYNTHETIC");
  check_invariants(m);
  ASSERT_EQ(m.memories(MemoryKind::system).size(), 2U);
  ASSERT_EQ(m.processors(ProcessorKind::gang).size(), 2U);
  EXPECT_EQ(m.processor(1).numa, 1);
  EXPECT_EQ(m.processor(1).cpus, std::vector<int>{1});
  EXPECT_EQ(m.processor(1).memories, (std::vector<MemoryId>{1, 0}));
}

// The thread is the program's: where it may run is not for Refrain to say.
TEST(Machine, AMovedThreadMayRunWhereItMightBefore) {
  cpu_set_t before, after;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  exec::move_this_thread({first});
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  exec::move_this_thread({});
  exec::move_this_thread({CPU_SETSIZE});
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Machine, ShortFormAddsEmulatedGpus) {
  const Machine m = load("emulated:gpus=2,framebuffer=64MiB,pinned=1MiB,cpus=4,numa=2,system=8GiB");
  check_invariants(m);
  ASSERT_EQ(m.processors(ProcessorKind::cpu).size(), 4U);
  ASSERT_EQ(m.processors(ProcessorKind::gang).size(), 2U);
  const auto gpus = m.processors(ProcessorKind::gpu);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_TRUE(m.processor(gpus[0]).emulated);
  EXPECT_EQ(m.processor(gpus[1]).numa, 1);
  const auto framebuffers = m.memories(MemoryKind::framebuffer);
  ASSERT_EQ(framebuffers.size(), 2U);
  EXPECT_EQ(m.memory(framebuffers[1]).capacity, 64 * mib);
  EXPECT_FALSE(m.reaches(gpus[0], framebuffers[1]));
  ASSERT_EQ(m.memories(MemoryKind::pinned).size(), 1U);
  EXPECT_EQ(m.memory(m.memories(MemoryKind::pinned)[0]).capacity, mib);
  ASSERT_EQ(m.memories(MemoryKind::system).size(), 2U);
  EXPECT_EQ(m.memory(m.memories(MemoryKind::system)[1]).capacity, 8192 * mib);
  const auto last_cpu = m.processors(ProcessorKind::cpu)[3];
  EXPECT_EQ(m.nearest(last_cpu, MemoryKind::system), m.memories(MemoryKind::system)[1]);
  EXPECT_TRUE(m.processor(last_cpu).cpus.empty());
}

TEST(Machine, ShortFormWithoutSettingsIsTheMachineFound) {
  for (const char* text : {"emulated", "emulated:", "emulated:gpus=0"}) {
    const Machine m = load(text);
    check_invariants(m);
    EXPECT_EQ(m.processors().size(), discover().processors().size());
    EXPECT_FALSE(m.has(ProcessorKind::gpu));
  }
}

TEST(Machine, JsonIsReadBackToTheSameMachine) {
  for (const char* text : {"", "emulated:gpus=3,cpus=5,numa=2,framebuffer=1000000",
                           "emulated:pinned=4KiB,system=1.5GB"}) {
    const Machine m = load(text);
    // Gangs come last in every machine, so ids survive.
    expect_same(m, parse_json(to_json(m), "round trip"));
  }
}

std::vector<std::string> files_of(const char* folder) {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(REFRAIN_SOURCE_DIR) / folder))
    files.push_back(entry.path().string());
  return files;
}

TEST(Machine, ExamplesAreReadBackToo) {
  const std::vector<std::string> files = files_of("examples/machines");
  for (const std::string& file : files) {
    const Machine m = load(file);
    check_invariants(m);
    expect_same(m, parse_json(to_json(m), "round trip"));
  }
  EXPECT_GE(files.size(), 2U);
}

// Of each real machine all rates are known, also of gangs, and cores have less than their NUMA domain.
TEST(Machine, RealOnesAreDescribedForSimulation) {
  const std::vector<std::string> files = files_of("machines");
  EXPECT_GE(files.size(), 3U);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Machine one = load(file);
    check_invariants(one);
    expect_same(one, parse_json(to_json(one), "round trip"));
    EXPECT_TRUE(one.network().has_value());
    ASSERT_EQ(one.memories(MemoryKind::pinned).size(), 1U);
    const Memory& pinned = one.memory(one.memories(MemoryKind::pinned)[0]);
    EXPECT_EQ(pinned.capacity, 60'000'000'000U);
    EXPECT_EQ(one.memories(MemoryKind::system).size(), 2U);
    for (const Processor& p : one.processors()) {
      EXPECT_GT(p.flops, 1e9) << p.name;
      EXPECT_EQ(p.bandwidths.size(), p.memories.size()) << p.name;
      EXPECT_EQ(p.launch_seconds > 0, p.kind == ProcessorKind::gpu) << p.name;
      EXPECT_TRUE(one.reaches(p.id, pinned.id)) << p.name;
      EXPECT_EQ(p.memories.size(), 2U) << p.name;
      // What is nearer is not slower.
      EXPECT_GE(p.bandwidths.front(), p.bandwidths.back()) << p.name;
    }
    for (const Memory& memory : one.memories()) EXPECT_NE(one.link(memory.id, memory.id), nullptr);
    const Machine four = load(file + ":nodes=4");
    EXPECT_EQ(four.ranks(), 4U);
    EXPECT_EQ(four.processors().size(), 4 * one.processors().size());
    expect_same(four, parse_json(to_json(four), "round trip"));
  }
}

TEST(Machine, JsonDefaults) {
  const Machine m = parse_json(R"({
    "memories": [{"name": "m", "kind": "system", "capacity": 4096}],
    "processors": [{"name": "c", "kind": "cpu", "count": 3, "memories": ["m"], "cpus": [4, 5, 9]}]
  })",
                               "f");
  check_invariants(m);
  ASSERT_EQ(m.processors().size(), 4U);
  EXPECT_EQ(m.processors()[2].name, "c2");
  EXPECT_EQ(m.processors()[2].cpus, std::vector<int>{9});
  EXPECT_EQ(m.processors()[3].kind, ProcessorKind::gang);
  EXPECT_EQ(m.processors()[3].cpus, (std::vector<int>{4, 5, 9}));
  EXPECT_EQ(m.memories()[0].capacity, 4096U);
  EXPECT_EQ(m.memories()[0].numa, 0);
}

constexpr const char* kNode = R"({
    "name": "node", "verified": false, "note": ["for", "people"], "source": "nowhere",
    "nodes": 3, "network": {"bandwidth": 1000, "latency": 1, "note": "slow"},
    "overheads": {"replay": "150us", "run": 0},
    "memories": [{"name": "sys", "kind": "system", "capacity": 4096},
                 {"name": "fb", "kind": "framebuffer", "capacity": "1.5KiB", "source": "x"}],
    "processors": [{"name": "c", "kind": "cpu", "count": 2, "memories": ["sys"], "cpus": [4, 5],
                    "bandwidths": ["3GB/s"], "flops": "1.5GFlop/s", "note": "x"},
                   {"name": "g", "kind": "gpu", "memories": ["fb"], "bandwidths": [7e11],
                    "flops": 4.7e12, "launch": "5us"}],
    "links": [{"between": ["sys", "fb"], "bandwidth": 500, "latency": 2, "note": "x"},
              {"from": "sys", "to": "sys", "bandwidth": 1, "latency": 9}]
  })";

TEST(Machine, JsonDescribesRates) {
  const test::TemporaryFile file("node.json", kNode);
  const Machine m = load(file.path() + ":nodes=1");
  check_invariants(m);
  EXPECT_EQ(m.ranks(), 1U);
  EXPECT_EQ(m.processor(0).flops, 1.5e9);
  EXPECT_EQ(m.processor(1).bandwidths, std::vector<double>{3e9});
  EXPECT_EQ(m.processor(1).launch_seconds, 0);
  EXPECT_EQ(m.processor(1).cpus, std::vector<int>{5});
  EXPECT_EQ(m.processor(2).bandwidths, std::vector<double>{7e11});
  EXPECT_EQ(m.processor(2).flops, 4.7e12);
  EXPECT_EQ(m.processor(2).launch_seconds, 5e-6);
  EXPECT_EQ(m.processor(3).flops, 3e9) << "the gang's";
  EXPECT_EQ(m.processor(3).bandwidths, std::vector<double>{6e9});
  EXPECT_EQ(m.overheads().analyse, Overheads().analyse);
  EXPECT_EQ(m.overheads().replay, 150e-6);
  EXPECT_EQ(m.overheads().run, 0);
  EXPECT_EQ(m.network().value_or(Link{}).bandwidth, 1000);
  expect_same(m, parse_json(to_json(m), "round trip"));
  // What nobody has said is not known.
  const Machine found = load("");
  EXPECT_FALSE(found.network().has_value());
  EXPECT_EQ(found.overheads().run, Overheads().run);
  for (const Processor& p : found.processors()) {
    EXPECT_EQ(p.flops, 0);
    EXPECT_TRUE(p.bandwidths.empty());
  }
}

TEST(Machine, NodesAreJoinedByTheNetwork) {
  const Machine m = parse_json(kNode, "node.json");
  EXPECT_EQ(m.ranks(), 3U);
  ASSERT_EQ(m.memories().size(), 6U);
  ASSERT_EQ(m.processors().size(), 12U);
  for (const Processor& p : m.processors()) {
    EXPECT_EQ(p.rank, p.id / 4);
    EXPECT_TRUE(p.cpus.empty());
    EXPECT_EQ(p.name, m.processor(p.id % 4).name);
  }
  expect_same(m, parse_json(to_json(m), "round trip"));
  // From system memory to system memory the network alone; a framebuffer is a link away from it.
  EXPECT_DOUBLE_EQ(m.copy_seconds(0, 2, 1000), 1 + 1);
  EXPECT_DOUBLE_EQ(m.copy_seconds(1, 2, 1000), 2 + 2 + 1 + 1);
  EXPECT_DOUBLE_EQ(m.copy_seconds(4, 1, 1000), 1 + 1 + 2 + 2);
  EXPECT_DOUBLE_EQ(m.copy_seconds(5, 3, 1000), 2 + 2 + 1 + 1 + 2 + 2);
  EXPECT_DOUBLE_EQ(m.copy_seconds(4, 5, 1000), 2 + 2) << "on one node";
  EXPECT_EQ(m.link(0, 2), nullptr);
}

TEST(Machine, ManyNodesAreMadeQuickly) {
  std::string text = R"({"nodes": 4096, "network": {"bandwidth": "12.5GB/s", "latency": "1us"},
    "memories": [{"name": "s", "kind": "system", "capacity": "1GB"})";
  std::string links;
  for (int m = 0; m < 7; ++m) {
    text += R"(, {"name": "p)" + std::to_string(m) + R"(", "kind": "pinned", "capacity": "1GB"})";
    links += std::string(m == 0 ? "" : ",") + R"({"between": ["s", "p)" + std::to_string(m) +
             R"("], "bandwidth": "10GB/s", "latency": 0})";
  }
  text += R"(], "processors": [{"name": "c", "kind": "cpu", "count": 60, "memories": ["s", "p0"],
    "bandwidths": [1, 2]}], "links": [)" +
          links + "]}";
  const auto begin = std::chrono::steady_clock::now();
  const Machine m = parse_json(text, "large");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(m.processors().size(), 4096U * 61);
  EXPECT_TRUE(std::isfinite(m.copy_seconds(1, 4095 * 8 + 7, 1)));
  EXPECT_LT(taken.count(), 20) << "some tenths of a second; more under a sanitizer";
  RecordProperty("milliseconds", static_cast<int>(1e3 * taken.count()));
}

// A name is looked for in the folder machines, unless a file is called so.
TEST(Machine, SomeHaveNames) {
  const std::filesystem::path before = std::filesystem::current_path();
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("machines"));
  std::ofstream(folder.path("machines/small.json")) << kNode;
  std::ofstream(folder.path("file")) << kNode;
  std::filesystem::current_path(folder.path(""));
  const auto ranks_of = [](const char* description) {
    try {
      return load(description).ranks();
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
      return 0U;
    }
  };
  EXPECT_EQ(ranks_of("small"), 3U);
  EXPECT_EQ(ranks_of("small:nodes=1"), 1U);
  EXPECT_EQ(ranks_of("machines/small.json:nodes=4"), 4U);
  EXPECT_EQ(ranks_of("file"), 3U);
  EXPECT_EQ(ranks_of("file:nodes=2"), 2U);
  std::filesystem::current_path(before);
}

TEST(Machine, CopiesTakeTheBestWay) {
  Description d;
  const MemoryId a = d.add(MemoryKind::system, "a", mib, 0);
  const MemoryId b = d.add(MemoryKind::system, "b", mib, 0);
  const MemoryId c = d.add(MemoryKind::system, "c", mib, 0);
  d.add(ProcessorKind::cpu, "cpu", 0, {a, b, c});
  d.join({a, b, 100.0, 1.0});
  d.links.push_back({b, c, 50.0, 2.0});
  d.links.push_back({b, c, 200.0, 2.0});
  const Machine m = std::move(d).build();
  EXPECT_DOUBLE_EQ(m.copy_seconds(a, b, 1000), 11.0);
  EXPECT_DOUBLE_EQ(m.link(b, c)->bandwidth, 200.0) << "the faster of two";
  EXPECT_EQ(m.link(a, c), nullptr);
  EXPECT_DOUBLE_EQ(m.copy_seconds(a, c, 1000), 3.0 + 10.0 + 5.0) << "by way of b";
  EXPECT_TRUE(std::isinf(m.copy_seconds(c, a, 1)));
  EXPECT_EQ(m.copy_seconds(a, a, 1000), 0.0);
}

/// Files as the kernel has them, under a folder of their own.
class KernelFiles {
 public:
  KernelFiles() { set("proc/meminfo", "MemTotal:       24700000 kB\nMemFree: 7000000 kB\n"); }
  void set(const std::string& file, const std::string& text) {
    const std::filesystem::path path(folder_.path(file));
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  [[nodiscard]] MainMemory found() const { return find_main_memory(folder_.path("")); }
  [[nodiscard]] std::optional<GroupLimit> limit_of_threads() const {
    return least_group_limit("pids", {"pids.max"}, "pids.current", folder_.path(""));
  }

 private:
  test::TemporaryFolder folder_;
};

TEST(MainMemory, IsWhatTheMachineHas) {
  const KernelFiles files;
  EXPECT_EQ(files.found().bytes, std::uint64_t{24700000} << 10);
  EXPECT_EQ(files.found().why, "all that the machine has");
}

// The least of the process's group and those around it; memory.high counts, too.
TEST(MainMemory, IsWhatTheControlGroupsAllow) {
  KernelFiles files;
  files.set("proc/self/cgroup", "0::/batch/job7/step");
  files.set("sys/fs/cgroup/batch/job7/step/memory.max", "max");
  files.set("sys/fs/cgroup/batch/job7/memory.max", std::to_string(300 * mib));
  files.set("sys/fs/cgroup/batch/memory.max", std::to_string(900 * mib));
  EXPECT_EQ(files.found().bytes, 300 * mib);
  EXPECT_EQ(files.found().why,
            "what memory.max of the control group '/batch/job7' allows (the machine has 23.56GiB)");
  files.set("sys/fs/cgroup/batch/memory.high", std::to_string(200 * mib));
  EXPECT_EQ(files.found().bytes, 200 * mib);
  files.set("sys/fs/cgroup/batch/memory.high", std::to_string(mib << 30));  // more than there is
  EXPECT_EQ(files.found().bytes, 300 * mib);
}

TEST(MainMemory, IsWhatVersion1Allows) {
  KernelFiles files;
  files.set("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/batch/job7\n0::/");
  files.set("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");  // none
  EXPECT_EQ(files.found().bytes, std::uint64_t{24700000} << 10);
  files.set("sys/fs/cgroup/memory/batch/job7/memory.limit_in_bytes", std::to_string(64 * mib));
  EXPECT_EQ(files.found().bytes, 64 * mib);
}

// A container sees its group as the root, whatever it is called outside.
TEST(MainMemory, IsWhatAContainerAllows) {
  KernelFiles files;
  files.set("proc/self/cgroup", "0::/../../docker/123");
  files.set("sys/fs/cgroup/memory.max", std::to_string(512 * mib));
  EXPECT_EQ(files.found().bytes, 512 * mib);
}

// A limit of 0 is one, and a use of 0 is known.
TEST(ControlGroup, AllowsNothingOrHasNoLimit) {
  KernelFiles files;
  files.set("proc/self/cgroup", "0::/batch/job7");
  EXPECT_FALSE(files.limit_of_threads().has_value());
  files.set("sys/fs/cgroup/batch/job7/pids.max", "max");
  EXPECT_FALSE(files.limit_of_threads().has_value());
  files.set("sys/fs/cgroup/batch/pids.max", "0");
  const auto nothing = files.limit_of_threads();
  if (!nothing) FAIL() << "a limit of 0 is one";
  EXPECT_EQ(nothing->group, "/batch");
  EXPECT_EQ(nothing->limit, 0U);
  EXPECT_FALSE(nothing->current.has_value());
  files.set("sys/fs/cgroup/batch/pids.current", "0");
  const auto none_current = files.limit_of_threads();
  EXPECT_EQ(none_current ? none_current->current : std::nullopt, 0U);
  files.set("sys/fs/cgroup/batch/job7/memory.max", "0");
  EXPECT_EQ(files.found().bytes, 0U);
}

// One domain has all, also where the hardware shows less; several share it in proportion.
TEST(MainMemory, IsSharedByDomains) {
  EXPECT_EQ(share_of_domain(2400 * mib, 720 * mib, 720 * mib, 1), 2400 * mib);
  EXPECT_EQ(share_of_domain(2400 * mib, 100 * mib, 300 * mib, 2), 800 * mib);
  EXPECT_EQ(share_of_domain(2400 * mib, 0, 0, 2), 1200 * mib);
}

TEST(Machine, TableShowsEveryName) {
  const Machine m = load("emulated:gpus=1,cpus=2");
  const std::string table = to_table(m);
  for (const Processor& p : m.processors()) EXPECT_NE(table.find(p.name), std::string::npos);
  for (const Memory& memory : m.memories()) EXPECT_NE(table.find(memory.name), std::string::npos);
  EXPECT_NE(table.find("gpu (emulated)"), std::string::npos);
  EXPECT_EQ(table.find("computes"), std::string::npos);
}

TEST(Machine, TableShowsWhatIsKnown) {
  const std::string table = to_table(parse_json(kNode, "node.json"));
  for (const char* text :
       {"nodes: 3, each with what follows",
        "network: 1KB/s per node and direction, 1s between nodes",
        "600ns analysed, 150us replayed, 0ns run; 12us to wake a thread", "computes", "launch",
        "4.7TFlop/s", "5us", "fb at 700GB/s", "sys at 6GB/s"})
    EXPECT_NE(table.find(text), std::string::npos) << text << " in\n" << table;
}

}  // namespace
}  // namespace refrain::machine::machine_test
