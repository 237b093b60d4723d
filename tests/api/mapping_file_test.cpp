// Programs under a mapping file: tasks run where its rules say, and a run writes down the rules that it followed.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "refrain/refrain.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::test::mapping_file_test {
namespace {

constexpr Field<double> heat{"heat"}, next{"next"};

struct Relax {
  void operator()(Write<double> to, Read<double> from) const {
    for (auto p : to.domain()) to[p] = from[p] + 1;
  }
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class MappingFiles : public testing::Test {
 protected:
  /// What a run under these rules (empty: none) has written down.
  std::string run(const std::string& rules) {
    Options options;
    options.machine = "emulated:cpus=2,gpus=2,framebuffer=1MiB,pinned=1MiB";
    options.workers = 1;
    options.write_mapping = folder_.path("written.json");
    if (!rules.empty()) {
      options.mapping = folder_.path("rules.json");
      std::ofstream(options.mapping) << rules;
    }
    const Task relax{"relax", on<ProcessorKind::cpu>(Relax{}), on<ProcessorKind::gpu>(Relax{})};
    const Task unused{"unused", Relax{}};
    Runtime runtime(options);
    runtime.run([&](Context& ctx) {
      auto cells = ctx.region(Rect1{0, 39}, heat, next);
      auto parts = ctx.blocks(cells, 4);
      for (int i = 0; i < 5; ++i) {
        ctx.launch(relax, 4, parts[next], parts[heat]);
        ctx.launch(relax, 4, parts[heat], parts[next]);
      }
      EXPECT_EQ(ctx.access<Read>(cells[heat])[7], 10);
      copies_ = runtime.counters().copies;
    });
    runtime.write_reports();
    return text_of(options.write_mapping);
  }
  std::string message_of(const std::string& rules) {
    try {
      run(rules);
    } catch (const Error& error) { return error.what(); }
    return "no error";
  }

  TemporaryFolder folder_;
  std::uint64_t copies_ = 0;
};

TEST_F(MappingFiles, WhatARunDidIsWrittenAndFollowed) {
  const std::string first = run("");
  EXPECT_NE(first.find(R"("processor": "gpu", "distribution": "blocked")"), std::string::npos)
      << first;
  EXPECT_NE(first.find(R"("memories": ["framebuffer", "pinned"])"), std::string::npos) << first;
  EXPECT_EQ(run(first), first);
  const std::string host = run(
      R"({"refrain_mapping": 1, "rules": [{"task": "relax", "processor": "cpu", "distribution": "cyclic"}]})");
  EXPECT_NE(host.find(R"("processor": "cpu", "distribution": "cyclic")"), std::string::npos)
      << host;
  EXPECT_EQ(run(host), host);
}

TEST_F(MappingFiles, ChangeWhatIsCopied) {
  run("");
  const std::uint64_t copies = copies_;
  run(R"({"refrain_mapping": 1, "rules": [{"processor": "cpu"}]})");
  EXPECT_GT(copies, 0u);
  EXPECT_EQ(copies_, 0u);
}

TEST_F(MappingFiles, StandInPlaceOfTheProgramsOwnMapper) {
  class Impossible final : public Mapper {
   public:
    [[nodiscard]] std::string_view name() const override { return "impossible"; }
    void map(const MappingInput&, MappingOutput&) override { throw std::logic_error("asked"); }
  };
  Options options;
  options.machine = "emulated:cpus=2";
  options.mapping = folder_.path("rules.json");
  std::ofstream(options.mapping) << R"({"refrain_mapping": 1, "rules": []})";
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<Impossible>());
  const Task seven{"seven", [] { return 7; }};
  runtime.run([&](Context& ctx) { EXPECT_EQ(ctx.launch(seven).get(), 7); });
}

TEST_F(MappingFiles, SayWhetherTheNextMemoryComesBeforeEvictions) {
  const std::string written = run(
      R"({"refrain_mapping": 1, "rules": [{"arguments": [{"field": "heat", "memories": ["framebuffer", "pinned"], "when_full": "next"}]}]})");
  EXPECT_NE(written.find(R"("extent": "exact", "when_full": "next"})"), std::string::npos)
      << written;
  EXPECT_NE(written.find(R"("extent": "exact"})"), std::string::npos) << written;
  EXPECT_EQ(run(written), written);
  const std::string compact = run(
      R"({"refrain_mapping": 1, "rules": [{"arguments": [{"field": "heat", "sparse": "compact"}]}]})");
  EXPECT_NE(compact.find(R"(, "sparse": "compact"})"), std::string::npos) << compact;
  EXPECT_EQ(run(compact), compact);
}

/// A mapper may name two memories of one kind; a file names kinds.
TEST_F(MappingFiles, KindsAreWrittenOnce) {
  class Twice final : public Mapper {
   public:
    [[nodiscard]] std::string_view name() const override { return "twice"; }
    void map(const MappingInput&, MappingOutput& output) override {
      std::vector<MemoryId>& memories = output.arguments[0].memories;
      memories.push_back(memories[0]);
    }
  };
  Options options;
  options.machine = "emulated:cpus=2";
  options.write_mapping = folder_.path("written.json");
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<Twice>());
  const Task clear{"clear", [](Write<double> x) { x[0] = 0; }};
  runtime.run([&](Context& ctx) { ctx.launch(clear, ctx.region(Rect1{0, 0}, heat)[heat]); });
  runtime.write_reports();
  const std::string text = text_of(options.write_mapping);
  EXPECT_NE(text.find(R"("memories": ["system"])"), std::string::npos) << text;
}

TEST_F(MappingFiles, MistakesSayWhere) {
  const std::string file = folder_.path("rules.json");
  EXPECT_EQ(message_of("{"), file +
                                 ":1:2: syntax error while parsing object key - unexpected end of "
                                 "input; expected string literal");
  EXPECT_NE(
      message_of(R"({"refrain_mapping": 1, "rules": [{"task": "rilax", "processor": "gpu"}]})")
          .find(file + ":1:43: no task is called 'rilax'; did you mean 'relax'?"),
      std::string::npos);
  const std::string text = message_of(
      R"({"refrain_mapping": 1, "rules": [{"task": "relax", "arguments": [{"field": "hat"}]}]})");
  EXPECT_TRUE(text.starts_with("mapper '" + file + "' for task 'relax' launched at ")) << text;
  EXPECT_NE(text.find("is no field 'hat'; did you mean 'heat'?"), std::string::npos) << text;
}

}  // namespace
}  // namespace refrain::test::mapping_file_test
