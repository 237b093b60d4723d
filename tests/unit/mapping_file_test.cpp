// Mapping files: what they say, how rules meet launches, and what is wrong in them (mapping/mapping_file.hpp).
#include "mapping/mapping_file.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "mapping/mapping.hpp"
#include "refrain/error.hpp"
#include "support/random.hpp"

namespace refrain::mapping::mapping_file_test {
namespace {

const Machine& gpus() {
  static const Machine machine =
      machine::load("emulated:cpus=3,gpus=2,framebuffer=64MiB,pinned=16MiB");
  return machine;
}

/// A launch of four points, with two arguments.
struct Launch {
  std::string_view task = "relax";
  Where where{"dir/rod.cpp", 12};
  std::vector<ProcessorKind> variants{ProcessorKind::cpu, ProcessorKind::gpu};
  std::vector<MappingArgument> arguments{{"heat", Privilege::read, 8, 10, true},
                                         {"next", Privilege::write, 8, 10, true}};

  [[nodiscard]] MappingInput point(std::size_t rank) const {
    MappingInput input;
    input.task = task;
    input.where = where;
    input.group = true;
    input.dim = 2;
    input.points = 4;
    input.rank = rank;
    input.point = {static_cast<Coord>(rank / 2), static_cast<Coord>(rank % 2), 0};
    input.bounds = {{0, 0, 0}, {1, 1, 0}};
    input.arguments = arguments;
    input.variants = variants;
    input.machine = &gpus();
    return input;
  }
};

std::string rules(const std::string& text) {
  return R"({"refrain_mapping": 1, "rules": [)" + text + "]}";
}

MappingOutput mapped(MappingFile& file, const Launch& launch, std::size_t rank = 0) {
  const MappingInput input = launch.point(rank);
  MappingOutput output;
  map_by_default(input, input.variants, output);
  file.map(input, output);
  validate(file, input, output);
  return output;
}

MappingOutput mapped(const std::string& text, const Launch& launch = {}, std::size_t rank = 0) {
  MappingFile file(rules(text), "m.json", gpus());
  return mapped(file, launch, rank);
}

ProcessorKind kind_of(const MappingOutput& output) {
  return gpus().processor(output.processor).kind;
}

std::vector<MemoryKind> kinds_of(const MappingOutput& output, std::size_t argument) {
  std::vector<MemoryKind> kinds;
  for (const MemoryId id : output.arguments[argument].memories)
    kinds.push_back(gpus().memory(id).kind);
  return kinds;
}

using Memories = std::vector<MemoryKind>;

TEST(MappingFile, SaysNothingOfWhatItDoesNotName) {
  for (const char* text : {"", R"({"task": "other", "processor": "cpu"})",
                           R"({"task": "relax", "at": "rod.cpp:13", "processor": "cpu"})",
                           R"({"task": "relax", "at": "od.cpp", "processor": "cpu"})", "{}"}) {
    const MappingOutput output = mapped(text);
    EXPECT_EQ(kind_of(output), ProcessorKind::gpu) << text;
    EXPECT_EQ(kinds_of(output, 1), (Memories{MemoryKind::framebuffer, MemoryKind::pinned})) << text;
  }
}

TEST(MappingFile, WhatIsNotSaidIsTheDefaultOfTheOtherProcessor) {
  const MappingOutput output =
      mapped(R"({"task": "re*x", "at": "dir/rod.cpp:12", "processor": "cpu"})");
  EXPECT_EQ(kind_of(output), ProcessorKind::cpu);
  EXPECT_EQ(kinds_of(output, 0), Memories{MemoryKind::system});
  EXPECT_EQ(output.arguments[0].layout.extent, Extent::whole);
}

TEST(MappingFile, LaterRulesWinInWhatTheySay) {
  const std::string text = R"({"processor": ["gang", "cpu"], "arguments": [{"memories": "pinned"}]},
    {"task": "relax", "processor": "gpu", "arguments": [{"field": "next", "memories": ["framebuffer"], "order": "fortran"}]},
    {"at": "rod.cpp", "arguments": [{"argument": 0, "extent": "whole", "sparse": "compact"}]})";
  const MappingOutput output = mapped(text);
  EXPECT_EQ(kind_of(output), ProcessorKind::gpu);
  EXPECT_EQ(kinds_of(output, 0), Memories{MemoryKind::pinned});
  EXPECT_EQ(kinds_of(output, 1), Memories{MemoryKind::framebuffer});
  EXPECT_EQ(output.arguments[0].layout, (Layout{Order::c, Extent::whole, Sparse::compact}));
  EXPECT_EQ(output.arguments[1].layout, (Layout{Order::fortran, Extent::exact}));
}

TEST(MappingFile, PointsAreDealtOut) {
  const auto dealt = [](const std::string& how) {
    std::vector<std::size_t> numbers;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const MappingOutput output = mapped(R"({"distribution": )" + how + "}", {}, rank);
      const auto processors = gpus().processors(ProcessorKind::gpu);
      numbers.push_back(output.processor - processors[0]);
      EXPECT_EQ(gpus().memory(output.arguments[0].memories[0]).owner, output.processor);
    }
    return numbers;
  };
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(dealt("\"blocked\""), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(dealt("\"leader\""), (Numbers{0, 0, 1, 1}));  // all processors are of one rank
  EXPECT_EQ(dealt("\"cyclic\""), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(dealt(R"({"tiled": [2, 1]})"), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(dealt(R"({"tiled": [1, 2]})"), (Numbers{0, 1, 0, 1}));
}

TEST(MappingFile, GroupsAreDealtOutToRanks) {
  MappingFile file(rules(R"({"task": "a", "distribution": "cyclic"},
                            {"task": "b", "distribution": {"tiled": [2, 3]}},
                            {"task": "c", "distribution": "leader"})"),
                   "m.json", gpus());
  const auto sharding = [&](std::string_view task) {
    ShardingInput input;
    input.task = task;
    return file.sharding(input);
  };
  EXPECT_EQ(sharding("a"), Sharding::cyclic());
  EXPECT_EQ(sharding("b"), Sharding::tiled({2, 3, 1}));
  EXPECT_EQ(sharding("c").ask({5, 0, 0}, {}, 7), 0u);
  EXPECT_EQ(sharding("d"), Sharding::blocked());
}

TEST(MappingFile, NamesFitPatterns) {
  EXPECT_TRUE(fits("*", "") && fits("*", "a") && fits("a*", "a") && fits("*b", "ab"));
  EXPECT_TRUE(fits("a*b*c", "abc") && fits("a*b*c", "axxbyybzzc") && fits("**", "x"));
  EXPECT_FALSE(fits("", "a") || fits("a", "ab") || fits("a*b", "a") || fits("ab*b", "ab"));
  EXPECT_FALSE(fits("a*b*c", "acb") || fits("*a", "ab"));
}

std::string mistake(const std::string& text, const Launch& launch = {}) {
  try {
    MappingFile file(text, "m.json", gpus());
    mapped(file, launch);
    file.check_tasks(std::vector<std::string>{"residual"});
    return file.unused();
  } catch (const Error& error) { return error.what(); }
}

TEST(MappingFileErrors, AreAtTheirPlaces) {
  EXPECT_EQ(mistake("{}"), "m.json:1:1: this object needs 'refrain_mapping'");
  EXPECT_EQ(mistake(R"({"refrain_mapping": 2, "rules": []})"),
            "m.json:1:21: version 2 of mapping files is not known; expected 1");
  EXPECT_EQ(mistake(rules(R"({"processors": "gpu"})")),
            "m.json:1:35: unknown name 'processors'; did you mean 'processor'?");
  EXPECT_EQ(mistake(rules(R"({"processor": "gpus"})")),
            "m.json:1:48: 'gpus' is no kind of processor; did you mean 'gpu'?");
  EXPECT_EQ(mistake(rules(R"({"processor": ["gpu", "gpu"]})")),
            "m.json:1:56: 'gpu' is given a second time");
  EXPECT_EQ(mistake(rules(R"({"arguments": [{"memories": "file"}]})")),
            "m.json:1:62: 'file' is no kind of memory; known are system, pinned, framebuffer");
  EXPECT_EQ(mistake(rules(R"({"arguments": [{"memories": []}]})")),
            "m.json:1:62: expected a kind of memory, or a list of them, found an empty list");
  EXPECT_EQ(mistake(rules(R"({"distribution": "block"})")),
            "m.json:1:51: expected \"leader\", \"blocked\", \"cyclic\" or {\"tiled\": [tiles, "
            "...]}, found 'block'");
  EXPECT_EQ(mistake(rules(R"({"distribution": {"tiled": [1048576, 2]}})")),
            "m.json:1:61: a sharding of (1048576, 2, 1) tiles: expected at least 1 in each "
            "dimension, and "
            "1048576 at most");
  EXPECT_EQ(mistake(rules(R"({"at": "rod.cpp:"})")),
            "m.json:1:41: expected a source file, or a file and a line such as \"main.cpp:42\", "
            "found 'rod.cpp:'");
  EXPECT_EQ(mistake(rules(R"({"arguments": [{"order": "f"}]})")),
            "m.json:1:59: expected \"c\" or \"fortran\", found 'f'");
}

TEST(MappingFileErrors, OfOtherMachines) {
  const Machine plain = machine::load("emulated:cpus=2");
  try {
    const MappingFile file(rules(R"({"processor": "gpu"})"), "m.json", plain);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "m.json:1:48: this machine ('emulated:cpus=2') has no gpu; it has cpu, gang");
  }
}

TEST(MappingFileErrors, OfTheLaunch) {
  Launch host;
  host.variants = {ProcessorKind::cpu};
  EXPECT_EQ(mistake(rules(R"({"task": "relax", "processor": "gpu"})"), host),
            "m.json:1:65: task 'relax' has no body for it; it has bodies for cpu");
  EXPECT_EQ(mistake(rules(R"({"processor": "gpu"})"), host),
            "m.json:1:48: task 'relax' has no body for it; it has bodies for cpu (a list such as "
            "[\"gpu\", "
            "\"cpu\"] gives a choice)");
  EXPECT_EQ(mistake(rules(R"({"processor": ["gpu", "cpu"]})"), host), "");
  EXPECT_EQ(mistake(rules(R"({"arguments": [{"memories": "framebuffer"}]})"), host),
            "m.json:1:49: cpu0 reaches none of these memories; it reaches system, pinned");
  EXPECT_EQ(mistake(rules(R"({"task": "relax", "arguments": [{"argument": 2}]})")),
            "m.json:1:79: task 'relax' has 2 region arguments");
  EXPECT_EQ(mistake(rules(R"({"task": "relax", "arguments": [{"field": "hat"}]})")),
            "m.json:1:76: any argument of task 'relax' is no field 'hat'; did you mean 'heat'?");
}

TEST(MappingFileErrors, AtTheEnd) {
  EXPECT_EQ(mistake(rules(R"({"task": "rilax"})")),
            "m.json:1:43: no task is called 'rilax'; did you mean 'relax'?");
  EXPECT_EQ(mistake(rules(R"({"task": "residual", "processor": "cpu"}, {"task": "re*"})")),
            "m.json:1:34: this rule has applied to no launch\n");
  EXPECT_EQ(mistake(rules(R"({"task": "re*", "arguments": [{"argument": 7}]})")),
            "m.json:1:64: this has applied to no argument\n");
}

/// Texts that are cut short, and such in which bytes are others: each is read, or an InputError.
TEST(MappingFileErrors, AnyTextIsReadOrRefused) {
  const std::string text =
      rules(R"({"task": "relax", "at": "rod.cpp:12", "processor": ["gpu", "cpu"],
    "distribution": {"tiled": [2, 3]}, "note": "x", "arguments": [{"argument": 0, "field": "h*", "order": "c",
    "extent": "exact", "memories": ["framebuffer", "pinned"]}]}, {"distribution": "leader"})");
  test::Random random(11);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = text.substr(0, i % 3 == 0 ? random.next() % text.size() : text.size());
    for (std::uint64_t n = random.next() % 4; n > 0 && !changed.empty(); --n) {
      const std::size_t at = random.next() % changed.size();
      const char byte = "{}[]\",:0-9e*\\x\0\xff"[random.next() % 17];
      if (random.next() % 2 == 0) changed[at] = byte;
      else changed.erase(at, random.next() % 9);
    }
    try {
      const MappingFile file(changed, "m.json", gpus());
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("m.json:")) << changed;
    }
  }
}

}  // namespace
}  // namespace refrain::mapping::mapping_file_test
