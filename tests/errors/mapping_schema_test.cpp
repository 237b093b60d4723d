// Editors check mapping files by docs/mapping.schema.json. It takes the files that the runtime takes, and no others.
#if __has_include(<valijson/validator.hpp>)
#define REFRAIN_HAS_VALIJSON
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#endif

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "mapping/mapping_file.hpp"
#include "refrain/error.hpp"
#include "support/random.hpp"

namespace refrain::test::mapping_schema_test {
namespace {

using Json = nlohmann::json;

/// Values that some member may have, and others.
const std::vector<Json> values{1,
                               0,
                               -1,
                               1048576,
                               1048577,
                               2.5,
                               true,
                               nullptr,
                               "",
                               "cpu",
                               "gang",
                               "gpu",
                               "tpu",
                               "system",
                               "pinned",
                               "c",
                               "d",
                               "whole",
                               "exact",
                               "evict",
                               "next",
                               "leader",
                               "cyclic",
                               "*",
                               "a.cpp:1",
                               "a.cpp",
                               "a:b",
                               "::5",
                               ":5",
                               "a:",
                               "fortran",
                               "blocked",
                               "framebuffer",
                               "a:1234567890",
                               Json::array(),
                               Json::object(),
                               Json::array({"cpu", "cpu"}),
                               Json::array({"gpu", "cpu"}),
                               Json::array({"framebuffer", "pinned"}),
                               Json::object({{"tiled", {2, 2}}}),
                               Json::object({{"tiled", {0}}}),
                               Json::object({{"tiled", {1, 1, 1, 1}}}),
                               Json::object({{"tiled", 3}})};
const std::vector<std::string> members{
    "refrain_mapping", "machine",      "rules",     "note",      "task",  "at",
    "processor",       "distribution", "arguments", "argument",  "field", "memories",
    "order",           "extent",       "sparse",    "when_full", "tiled", "other"};

/// One that a parser should take.
Json some_file(Random& random) {
  const auto one = [&](std::vector<Json> all) {
    return all[static_cast<std::size_t>(random.below(static_cast<int>(all.size())))];
  };
  const auto add = [&](Json& to, const char* name, std::vector<Json> all) {
    if (random.percent(40)) to[name] = one(std::move(all));
  };
  Json rules = Json::array();
  for (int n = random.below(3); n > 0; --n) {
    Json rule = Json::object();
    add(rule, "task", {"*", "relax", ""});
    add(rule, "at", {"main.cpp:12", "main.cpp", "a:b:3"});
    add(rule, "processor", {"cpu", "gpu", "gang", Json::array({"gpu", "cpu"})});
    add(rule, "distribution", {"leader", "blocked", "cyclic", {{"tiled", {4, 2}}}});
    add(rule, "note", {"text", 7});
    if (random.percent(60)) rule["arguments"] = Json::array();
    for (int k = rule.contains("arguments") ? random.below(3) : 0; k > 0; --k) {
      Json argument = Json::object();
      add(argument, "argument", {0, 5, 1048576});
      add(argument, "field", {"*", "heat"});
      add(argument, "memories", {"system", Json::array({"framebuffer", "pinned"})});
      add(argument, "order", {"c", "fortran"});
      add(argument, "extent", {"whole", "exact"});
      add(argument, "sparse", {"by_density", "box", "compact"});
      add(argument, "when_full", {"evict", "next"});
      rule["arguments"].push_back(argument);
    }
    rules.push_back(rule);
  }
  Json file{{"refrain_mapping", 1}, {"rules", rules}};
  add(file, "machine", {"text"});
  return file;
}

/// Changes it somewhere.
void spoil(Random& random, Json& json) {
  const auto any = [&](const auto& all) {
    return all[static_cast<std::size_t>(random.below(static_cast<int>(all.size())))];
  };
  if (json.is_structured() && !json.empty() && random.percent(80)) {
    auto at = json.begin();
    std::advance(at, random.below(static_cast<int>(json.size())));
    if (random.percent(15)) json.erase(at);
    else spoil(random, *at);
  } else if (json.is_object() && random.percent(50)) {
    json[any(members)] = any(values);
  } else {
    json = any(values);
  }
}

TEST(MappingSchema, TakesWhatTheRuntimeTakes) {
#ifdef REFRAIN_HAS_VALIJSON
  std::ifstream file(REFRAIN_SOURCE_DIR "/docs/mapping.schema.json");
  const Json text = Json::parse(file);
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7)
      .populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
  const Machine machine = machine::load("emulated:cpus=2,gpus=1,framebuffer=1MiB,pinned=1MiB");
  int taken = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    Json json = some_file(random);
    for (int n = random.below(3); n > 0; --n) spoil(random, json);
    valijson::Validator validator;
    const bool is_valid =
        validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(json), nullptr);
    std::string why;
    try {
      const mapping::MappingFile mapping(json.dump(), "rules.json", machine);
    } catch (const InputError& error) { why = error.what(); }
    // How many tiles there may be in all is a product, which a schema cannot say.
    if (why.find("a sharding of") != std::string::npos) continue;
    ++(is_valid ? taken : refused);
    ASSERT_EQ(is_valid, why.empty()) << "seed " << seed << ": " << json.dump() << '\n' << why;
  }
  EXPECT_GT(taken, 300);
  EXPECT_GT(refused, 300);
#else
  GTEST_SKIP() << "no valijson (Debian: libvalijson-dev)";
#endif
}

}  // namespace
}  // namespace refrain::test::mapping_schema_test
