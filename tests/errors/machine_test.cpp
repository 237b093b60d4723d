// One case per message of machine descriptions, with line and column.

#include "machine/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <regex>
#include <utility>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/runtime.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace refrain::machine::machine_test {
namespace {

template <class Make>
std::string message_of(Make make) {
  try {
    make();
  } catch (const InputError& error) { return error.what(); }
  return "no error";
}

std::string short_error(const std::string& text) {
  return message_of([&] { load("emulated" + text); });
}

std::string json_error(const std::string& text) {
  return message_of([&] { parse_json(text, "m.json"); });
}

TEST(ShortFormErrors, NameTheColumn) {
  EXPECT_EQ(short_error(":gpu=2"),
            "machine description 'emulated:gpu=2':1:10: unknown name 'gpu'; did you mean 'gpus'?");
  EXPECT_EQ(
      short_error(":gpus=2,zzzzz=1"),
      "machine description 'emulated:gpus=2,zzzzz=1':1:17: unknown name 'zzzzz'; known are cpus, "
      "gpus, numa, system, framebuffer, pinned");
  EXPECT_EQ(short_error(":gpus"),
            "machine description 'emulated:gpus':1:14: expected '=' and a value after 'gpus'");
  EXPECT_EQ(
      short_error(":gpus=-1"),
      "machine description 'emulated:gpus=-1':1:15: expected a whole number from 0 to 4096 for "
      "'gpus', found '-1'");
  EXPECT_EQ(
      short_error(":gpus=1,framebuffer=64Mb/s"),
      "machine description 'emulated:gpus=1,framebuffer=64Mb/s':1:29: expected a size above 0 "
      "such as 64MiB for 'framebuffer', found '64Mb/s'");
  EXPECT_EQ(short_error(":gpus=1,gpus=2"),
            "machine description 'emulated:gpus=1,gpus=2':1:17: 'gpus' is given a second time");
  EXPECT_EQ(
      short_error(":framebuffer=1MiB"),
      "machine description 'emulated:framebuffer=1MiB':1:10: a framebuffer needs a gpu; expected "
      "'gpus=' with at least 1");
  EXPECT_EQ(
      short_error(":cpus=1,numa=2"),
      "machine description 'emulated:cpus=1,numa=2':1:17: expected at most one NUMA domain per "
      "cpu, found numa=2 with 1 cpus");
  EXPECT_EQ(short_error(":gpus=1,"),
            "machine description 'emulated:gpus=1,':1:17: unknown name ''; known are cpus, gpus, "
            "numa, system, framebuffer, pinned");
}

TEST(MachineFileErrors, FileCannotBeRead) {
  EXPECT_EQ(
      message_of([] { load("no/such.json"); }),
      "cannot read the machine description 'no/such.json': No such file or directory; expected a "
      "JSON file, or a text that starts with 'emulated:'");
  EXPECT_EQ(
      message_of([] { load("/"); }),
      "cannot read the machine description '/': Is a directory; expected a JSON file, or a text "
      "that starts with 'emulated:'");
}

TEST(MachineFileErrors, Syntax) {
  EXPECT_EQ(json_error(""),
            "m.json:1:1: syntax error while parsing value - unexpected end of input; "
            "expected '[', '{', or a literal");
  EXPECT_TRUE(json_error("{\n  \"name\" \"x\"}").starts_with("m.json:2:10: syntax error"))
      << json_error("{\n  \"name\" \"x\"}");
  EXPECT_TRUE(json_error("{\n  \"name\": x}").starts_with("m.json:2:11: syntax error"))
      << json_error("{\n  \"name\": x}");
  EXPECT_TRUE(json_error("{\"name\": \"x\"").starts_with("m.json:1:13: syntax error"))
      << json_error("{\"name\": \"x\"");
  EXPECT_TRUE(json_error("{\"a\": 1 -2.5}").starts_with("m.json:1:9: syntax error"))
      << json_error("{\"a\": 1 -2.5}");
  EXPECT_EQ(json_error("{\"a\": 1e999}"), "m.json:1:7: number overflow parsing '1e999'");
  EXPECT_TRUE(json_error("[1,,2]").starts_with("m.json:1:4: syntax error")) << json_error("[1,,2]");
  EXPECT_EQ(json_error("{\"name\": \"x\", \"name\": \"y\"}"),
            "m.json:1:15: 'name' is given a second time in this object");
  EXPECT_EQ(json_error(std::string(100, '[')), "m.json:1:65: nested deeper than 64 levels");
}

// The names are those of the folder machines here.
TEST(MachineNameErrors, SayWhatThereIs) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(REFRAIN_SOURCE_DIR);
  const std::string known = "known are emulated, h100-node, lassen, shepard";
  const auto error = [](const char* description) { return message_of([&] { load(description); }); };
  EXPECT_EQ(error("lasen:nodes=2"),
            "machine description 'lasen:nodes=2':1:1: no machine is called 'lasen', and no file; " +
                known + "; did you mean 'lassen'?");
  EXPECT_EQ(
      error("emulate:gpus=2"),
      "machine description 'emulate:gpus=2':1:1: no machine is called 'emulate', and no file; " +
          known + "; did you mean 'emulated'?");
  EXPECT_EQ(error("emulate"),
            "machine description 'emulate':1:1: no machine is called 'emulate', and no file; " +
                known + "; did you mean 'emulated'?");
  EXPECT_EQ(error("zzzzzzzzz"),
            "machine description 'zzzzzzzzz':1:1: no machine is called 'zzzzzzzzz', and no file; " +
                known);
  EXPECT_EQ(error("lassen:node=2"),
            "machine description 'lassen:node=2':1:8: unknown name 'node'; did you mean 'nodes'?");
  EXPECT_EQ(error("lassen:framebuffer=none"),
            "machine description 'lassen:framebuffer=none':1:20: expected a size above 0 such as "
            "64MiB for 'framebuffer', found 'none'");
  EXPECT_EQ(load("lassen:framebuffer=2MiB,nodes=2").memory(3).capacity, 2 << 20);
  EXPECT_EQ(error("lassen:nodes=0"),
            "machine description 'lassen:nodes=0':1:14: expected a whole number from 1 to 4096 for "
            "'nodes', found '0'");
  EXPECT_EQ(error("machines/lassen.json:nodes=2,nodes=2"),
            "machine description 'machines/lassen.json:nodes=2,nodes=2':1:30: 'nodes' is given a "
            "second time");
  EXPECT_EQ(error("examples/machines/laptop.json:nodes=2"),
            "machine description 'examples/machines/laptop.json:nodes=2':1:31: 2 nodes need a "
            "'network' that joins them");
  EXPECT_EQ(error("lassen:nodes=4"), "no error");
  Options options;
  options.machine = "shepard:nodes=2";
  EXPECT_EQ(
      message_of([&] { const Runtime runtime(options); }),
      "machine description 'shepard:nodes=2': it has 2 nodes, and a process runs on one; such "
      "a machine can be simulated");
  std::filesystem::current_path(before);
}

// A right description, line by line; each case replaces one piece of it.
const std::string right = R"({"name": "right",
 "memories": [
  {"name": "sys", "kind": "system", "capacity": "1GiB", "numa": 0},
  {"name": "fb", "kind": "framebuffer", "capacity": 4096}],
 "processors": [
  {"name": "c", "kind": "cpu", "count": 2, "memories": ["sys"], "cpus": [0, 1]},
  {"name": "g", "kind": "gpu", "memories": ["fb"], "emulated": true}],
 "links": [
  {"between": ["sys", "fb"], "bandwidth": "12GB/s", "latency": "5us"}]}
)";

std::string wrong(const std::string& piece, const std::string& replacement) {
  std::string text = right;
  const auto at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return json_error(text.replace(at, piece.size(), replacement));
}

TEST(MachineFileErrors, TheRightOneIsRight) { EXPECT_EQ(json_error(right), "no error"); }

TEST(MachineFileErrors, Shape) {
  EXPECT_EQ(json_error("[]"), "m.json:1:1: expected an object in { }, found an empty list");
  EXPECT_EQ(json_error("{}"), "m.json:1:1: this object needs 'memories'");
  EXPECT_EQ(wrong("\"links\"", "\"link\""),
            "m.json:8:2: unknown name 'link'; did you mean 'links'?");
  EXPECT_EQ(wrong("\"right\"", "7"), "m.json:1:10: expected a text in quotes, found 7");
  EXPECT_EQ(wrong("[\"sys\"]", "\"sys\""), "m.json:6:56: expected a list in [ ], found 'sys'");
  EXPECT_EQ(wrong("true", "1"), "m.json:7:64: expected true or false, found 1");
  EXPECT_EQ(wrong("\"numa\": 0", "\"numa\": 0.5"),
            "m.json:3:65: expected a whole number from 0 to 1023, found 0.5");
}

TEST(MachineFileErrors, Memories) {
  EXPECT_EQ(
      wrong("\"system\"", "\"sistem\""),
      "m.json:3:27: expected a memory kind (system, pinned, framebuffer or file), found 'sistem'");
  EXPECT_EQ(wrong("\"1GiB\"", "\"1 giga\""),
            "m.json:3:49: expected a size above 0 such as \"64MiB\" or a number of bytes, found '1 "
            "giga'");
  EXPECT_EQ(wrong("4096", "0"),
            "m.json:4:53: expected a whole number from 1 to 9223372036854775807, found 0");
  EXPECT_EQ(wrong("\"fb\"", "\"sys\""), "m.json:4:12: the name 'sys' is given a second time");
  EXPECT_EQ(wrong("\"fb\"", "\"\""), "m.json:4:12: expected a name, found ''");
  EXPECT_EQ(wrong("[\"fb\"], \"em", "[\"fa\"], \"em"),
            "m.json:7:45: no memory is called 'fa'; did you mean 'fb'?");
  EXPECT_EQ(json_error("{\"memories\": [], \"processors\": []}"),
            "m.json:1:14: expected at least one memory, found an empty list");
}

TEST(MachineFileErrors, Processors) {
  EXPECT_EQ(wrong("\"cpu\"", "\"core\""),
            "m.json:6:25: expected a processor kind (cpu or gpu), found 'core'");
  EXPECT_EQ(wrong("\"cpu\"", "\"gang\""),
            "m.json:6:25: gangs are not described: there is one for the cpus of each NUMA domain; "
            "expected cpu or gpu");
  EXPECT_EQ(wrong("\"count\": 2", "\"count\": 0"),
            "m.json:6:41: expected a whole number from 1 to 4096, found 0");
  EXPECT_EQ(wrong("\"count\": 2", "\"count\": 4096"),
            "m.json:6:76: expected 4096 hardware thread numbers, one per processor, found 2");
  EXPECT_EQ(wrong("[0, 1]", "[0]"),
            "m.json:6:73: expected 2 hardware thread numbers, one per processor, found 1");
  EXPECT_EQ(wrong("\"g\"", "\"c1\""), "m.json:7:12: the name 'c1' is given a second time");
  EXPECT_EQ(wrong("[\"sys\"],", "[\"fb\"],"),
            "m.json:6:57: a cpu cannot reach the framebuffer memory 'fb'");
  EXPECT_EQ(wrong("[\"sys\"],", "[\"sys\", \"sys\"],"),
            "m.json:6:64: 'sys' is given a second time");
  EXPECT_EQ(wrong("[\"sys\"],", "[],"),
            "m.json:6:56: expected at least one system memory, since a cpu needs one");
  EXPECT_EQ(
      wrong("\"gpu\", \"memories\"", "\"gpu\", \"count\": 2, \"memories\""),
      "m.json:7:57: framebuffer 'fb' belongs to 'g0' already; the first framebuffer in a gpu's "
      "list is its own");
  EXPECT_EQ(
      wrong(",\n  {\"name\": \"g\", \"kind\": \"gpu\", \"memories\": [\"fb\"], \"emulated\": true}",
            ""),
      "m.json:4:12: framebuffer 'fb' belongs to no gpu; expected one that lists it first");
  EXPECT_EQ(wrong("{\"name\": \"c\", \"kind\": \"cpu\", \"count\": 2, \"memories\": [\"sys\"], "
                  "\"cpus\": [0, 1]},",
                  ""),
            "m.json:5:16: expected at least one processor of kind 'cpu', found none");
}

TEST(MachineFileErrors, Links) {
  EXPECT_EQ(wrong("[\"sys\", \"fb\"]", "[\"sys\", \"fbx\"]"),
            "m.json:9:23: no memory is called 'fbx'; did you mean 'fb'?");
  EXPECT_EQ(wrong("[\"sys\", \"fb\"]", "[\"sys\"]"),
            "m.json:9:15: expected the names of two memories, found 1");
  EXPECT_EQ(wrong("\"12GB/s\"", "\"12GB\""),
            "m.json:9:43: expected a bandwidth above 0 such as \"16GB/s\" or a number of bytes per "
            "second, found '12GB'");
  EXPECT_EQ(wrong("\"5us\"", "-1"),
            "m.json:9:64: expected a latency of at most an hour such as \"1.5us\", or a number of "
            "seconds from 0 to 3600, found -1");
  EXPECT_EQ(wrong("\"5us\"", "1e30"),
            "m.json:9:64: expected a latency of at most an hour such as \"1.5us\", or a number of "
            "seconds from 0 to 3600, found 1e+30");
  EXPECT_EQ(wrong("\"between\": [\"sys\", \"fb\"]", "\"from\": \"sys\""),
            "m.json:9:3: this object needs 'to'");
  EXPECT_EQ(wrong("\"between\": [\"sys\", \"fb\"], ", ""),
            "m.json:9:3: a link needs 'between' (both ways) or 'from' and 'to'");
  EXPECT_EQ(wrong("{\"between\": [\"sys\", \"fb\"]",
                  "{\"from\": \"sys\", \"between\": [\"sys\", \"fb\"]"),
            "m.json:9:3: a link has either 'between' (both ways) or 'from' and 'to', found both");
  EXPECT_EQ(wrong("\"between\": [\"sys\", \"fb\"]", "\"from\": \"sys\", \"to\": \"fb\""),
            "m.json:3:12: no links lead from memory 'fb' to memory 'sys'");
}

TEST(MachineFileErrors, Rates) {
  EXPECT_EQ(wrong("\"cpus\": [0, 1]", "\"flops\": \"9GB/s\""),
            "m.json:6:74: expected a rate above 0 such as \"9.3TFlop/s\" or a number of operations "
            "per second, found '9GB/s'");
  EXPECT_EQ(wrong("\"cpus\": [0, 1]", "\"flops\": 0"),
            "m.json:6:74: expected a rate above 0 such as \"9.3TFlop/s\" or a number of operations "
            "per second, found 0");
  EXPECT_EQ(wrong("\"cpus\": [0, 1]", "\"flop\": 1"),
            "m.json:6:65: unknown name 'flop'; did you mean 'flops'?");
  EXPECT_EQ(wrong("\"cpus\": [0, 1]", "\"bandwidths\": [\"1GB/s\", \"2GB/s\"]"),
            "m.json:6:79: expected 1 bandwidth, one per memory in 'memories', found 2");
  EXPECT_EQ(wrong("\"cpus\": [0, 1]", "\"bandwidths\": [\"1GB\"]"),
            "m.json:6:80: expected a bandwidth above 0 such as \"16GB/s\" or a number of bytes per "
            "second, found '1GB'");
  EXPECT_EQ(wrong("\"cpus\": [0, 1]", "\"launch\": \"5\""),
            "m.json:6:75: expected a time of at most an hour such as \"1.5us\", or a number of "
            "seconds from 0 to 3600, found '5'");
}

TEST(MachineFileErrors, Nodes) {
  const auto with = [](const std::string& members) {
    return wrong("\"right\",", "\"right\",\n" + members + ",\n");
  };
  const std::string network = "\"network\": {\"bandwidth\": \"12GB/s\", \"latency\": 0}";
  EXPECT_EQ(with("\"nodes\": 4096, " + network), "no error");
  EXPECT_EQ(with("\"nodes\": 1, \"verified\": false, \"note\": \"x\", \"source\": \"y\""),
            "no error");
  EXPECT_EQ(with("\"nodes\": 2"), "m.json:2:10: 2 nodes need a 'network' that joins them");
  EXPECT_EQ(with("\"nodes\": 4097, " + network),
            "m.json:2:10: expected a whole number from 1 to 4096, found 4097");
  EXPECT_EQ(with("\"nodes\": \"2\""),
            "m.json:2:10: expected a whole number from 1 to 4096, found '2'");
  EXPECT_EQ(with("\"network\": 3"), "m.json:2:12: expected an object in { }, found 3");
  EXPECT_EQ(with("\"network\": {\"latency\": 0}"), "m.json:2:12: this object needs 'bandwidth'");
  EXPECT_EQ(with("\"network\": {\"latancy\": 0}"),
            "m.json:2:13: unknown name 'latancy'; did you mean 'latency'?");
  EXPECT_EQ(with("\"network\": {\"bandwidth\": 0, \"latency\": 0}"),
            "m.json:2:26: expected a bandwidth above 0 such as \"16GB/s\" or a number of bytes per "
            "second, found 0");
  EXPECT_EQ(with("\"overheads\": {\"analyze\": 0}"),
            "m.json:2:15: unknown name 'analyze'; did you mean 'analyse'?");
  EXPECT_EQ(with("\"overheads\": {\"run\": -1}"),
            "m.json:2:22: expected a time of at most an hour such as \"1.5us\", or a number of "
            "seconds from 0 to 3600, found -1");
  EXPECT_EQ(with("\"overheads\": []"),
            "m.json:2:14: expected an object in { }, found an empty list");
  // A machine that would not fit.
  std::string large = right;
  large.replace(large.find("\"count\": 2"), 10, "\"count\": 4000");
  large.replace(large.find(", \"cpus\": [0, 1]"), 16, "");
  large.replace(1, 0, "\"nodes\": 4000, " + network + ", ");
  EXPECT_EQ(json_error(large),
            "m.json:1:11: expected at most 1048576 processors and 16777216 pairs of memories of a "
            "node in all, found 16008000 and 16000 on 4000 nodes");
}

// Whatever is done to a description, it is read, or refused with the file and a place.
TEST(MachineFileErrors, MutatedTextsHaveAPlace) {
  std::vector<std::string> texts{right};
  for (const char* name : {"shepard", "lassen"}) {
    std::ifstream file(std::string(REFRAIN_SOURCE_DIR) + "/machines/" + name + ".json");
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  const std::vector<std::string> pieces{"0",
                                        "-1",
                                        "1e308",
                                        "4096",
                                        "\"\"",
                                        "null",
                                        "true",
                                        "[]",
                                        "{}",
                                        "\"5us\"",
                                        "\"1GB/s\"",
                                        "\"nodes\": 9,",
                                        "\"network\": ",
                                        ",",
                                        "\xff",
                                        "\"flops\": 1,",
                                        "\"bandwidths\": [1],"};
  std::mt19937 random(17);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[below(texts.size())];
    for (std::size_t i = 0, changes = 1 + below(2); i < changes; ++i) {
      const std::string& piece = pieces[below(pieces.size())];
      // In place of a value, a name or a bit of one; or the end is cut off.
      const std::size_t at = below(text.size());
      const std::size_t end = std::min(text.find_first_of(",:]}", at), text.size());
      if (below(20) == 0) text.resize(at);
      else text.replace(at, below(2) == 0 ? end - at : below(3), piece);
      if (text.empty()) text = " ";
    }
    const std::string error = json_error(text);
    if (error == "no error") continue;
    ++refused;
    EXPECT_TRUE(std::regex_search(error, std::regex("^m\\.json:[0-9]+:[0-9]+: .")))
        << error << "\nround " << round << " of\n"
        << text;
  }
  EXPECT_GT(refused, 1000);
}

// A description may be of another machine, and then nothing runs on it here.
TEST(MachineErrors, WhatIsNotHere) {
  const auto error_on = [](const std::string& processors) {
    const bool has_gpu = processors.find("gpu") != std::string::npos;
    const std::string board = R"({"name": "fb", "kind": "framebuffer", "capacity": "1MiB"})";
    const test::TemporaryFile file(
        "machine.json", R"({"memories": [{"name": "sys", "kind": "system", "capacity": "1GiB"})" +
                            (has_gpu ? ", " + board : "") +
                            R"(], "links": [{"between": ["sys", ")" + (has_gpu ? "fb" : "sys") +
                            R"("], "bandwidth": "12GB/s", "latency": "5us"}], "processors": [)" +
                            processors + "]}");
    EXPECT_EQ(message_of([&] { load(file.path()); }), "no error");
    Options options;
    options.machine = file.path();
    return message_of([&] { const Runtime runtime(options); });
  };
  const std::string cpu = R"({"name": "c", "kind": "cpu", "memories": ["sys"])";
  test::expect_words(error_on(cpu + R"(, "cpus": [999]})"),
                     {"machine description '", "machine.json'", "processor 'c'",
                      "hardware thread 999", "this process may use 0"});
  test::expect_words(error_on(cpu + R"(}, {"name": "g", "kind": "gpu", "memories": ["fb"]})"),
                     {"processor 'g' is a GPU that is not there", "\"emulated\": true"});
  EXPECT_EQ(error_on(cpu + R"(}, {"name": "g", "kind": "gpu", "memories": ["fb"],
                                  "emulated": true})"),
            "no error");
}

TEST(MachineErrors, MachinesMadeByHand) {
  EXPECT_EQ(message_of([] { Machine("m", {}, {{}}, {}); }), "machine 'm': it has no processor");
  EXPECT_EQ(message_of([] { Machine("m", {{}}, {}, {}); }), "machine 'm': it has no memory");
  const auto build = [](auto change) {
    return message_of([&] {
      Description d;
      d.name = "m";
      d.add(MemoryKind::system, "sys", 1, 0);
      d.add(ProcessorKind::cpu, "cpu", 0, {0});
      change(d);
      std::move(d).build();
    });
  };
  EXPECT_EQ(build([](Description&) {}), "no error");
  EXPECT_EQ(build([](Description& d) { d.memories[0].id = 5; }),
            "machine 'm': memory 'sys' has id 5, expected its position 0");
  EXPECT_EQ(build([](Description& d) { d.processors[0].id = 5; }),
            "machine 'm': processor 'cpu' has id 5, expected its position 0");
  EXPECT_EQ(build([](Description& d) { d.processors[0].memories.clear(); }),
            "machine 'm': processor 'cpu' reaches no memory");
  EXPECT_EQ(build([](Description& d) { d.processors[0].memories = {3}; }),
            "machine 'm': processor 'cpu' reaches memory 3, but there are 1");
  EXPECT_EQ(build([](Description& d) { d.processors[0].kind = ProcessorKind::gpu; }),
            "machine 'm': processor 'cpu' is a gpu and cannot reach the system memory 'sys'");
  EXPECT_EQ(build([](Description& d) { d.processors[0].members = {7}; }),
            "machine 'm': gang 'cpu' has member 7, which is no cpu");
  EXPECT_EQ(build([](Description& d) { d.memories[0].owner = 0; }),
            "machine 'm': memory 'sys' belongs to processor 0, which is no device");
  EXPECT_EQ(build([](Description& d) { d.processors[0].flops = -1; }),
            "machine 'm': processor 'cpu' needs flops and launch_seconds of at least 0");
  EXPECT_EQ(build([](Description& d) {
              d.processors[0].bandwidths = {1, 2};
            }),
            "machine 'm': processor 'cpu' has 2 bandwidths, expected none or one for each of its 1 "
            "memories");
  EXPECT_EQ(build([](Description& d) { d.processors[0].bandwidths = {0}; }),
            "machine 'm': processor 'cpu' has a bandwidth of 0, expected one above 0");
  EXPECT_EQ(build([](Description& d) { d.costs.network = Link{}; }),
            "machine 'm': its network needs a bandwidth above 0 and a latency of at least 0");
  EXPECT_EQ(build([](Description& d) { d.costs.overheads.run = -1; }),
            "machine 'm': its overheads need to be at least 0");
  // Two ranks, with a memory and a processor each.
  const auto build_ranks = [&](auto change) {
    return build([&](Description& d) {
      d.add(MemoryKind::system, "sys", 1, 0);
      d.add(ProcessorKind::cpu, "cpu", 0, {1});
      d.memories[1].rank = d.processors[1].rank = 1;
      change(d);
    });
  };
  EXPECT_EQ(build_ranks([](Description&) {}), "no error");
  const char* const unlike =
      "machine 'm': its ranks do not have as many processors and memories each, one rank after the "
      "other";
  EXPECT_EQ(build_ranks([](Description& d) { d.add(MemoryKind::system, "x", 1, 0); }), unlike);
  EXPECT_EQ(build_ranks([](Description& d) { d.memories[1].rank = 0; }), unlike);
  EXPECT_EQ(build_ranks([](Description& d) { std::swap(d.memories[0].rank, d.memories[1].rank); }),
            unlike);
  EXPECT_EQ(build_ranks([](Description& d) { d.processors[1].rank = ~0U; }), unlike);
  EXPECT_EQ(build_ranks([](Description& d) { d.memories[1].rank = ~0U; }), unlike);
  EXPECT_EQ(build_ranks([](Description& d) {
              d.processors[1].memories = {1, 0};
            }),
            "machine 'm': 'cpu' of rank 1 names 'sys' of rank 0: no way leads from rank to rank");
  EXPECT_EQ(build_ranks([](Description& d) { d.processors[0].members = {1}; }),
            "machine 'm': 'cpu' of rank 0 names 'cpu' of rank 1: no way leads from rank to rank");
  EXPECT_EQ(build_ranks([](Description& d) {
              d.links.push_back({1, 0, 1.0, 0.0});
            }),
            "machine 'm': 'sys' of rank 1 names 'sys' of rank 0: no way leads from rank to rank");
  EXPECT_EQ(
      build([](Description& d) {
        d.links.push_back({0, 1, 1.0, 0.0});
      }),
      "machine 'm': the link from memory 0 to memory 1 needs two memories, a bandwidth above 0 "
      "and a latency of at least 0");
}

}  // namespace
}  // namespace refrain::machine::machine_test
