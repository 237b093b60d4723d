// What pictures look like is for people. Here: that they are drawn, whatever the space, and what they say in words.

#include "map/pictures.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

#include "refrain/error.hpp"
#include "support/settings.hpp"

namespace refrain::map::pictures_test {
namespace {

using map_search::Mapping, map_search::Objective, map_search::Space;

/// A machine with cpus and gpus, and tasks that have so many arguments.
Space space_of(const std::vector<std::uint32_t>& arguments) {
  Space space;
  space.memories = {{"system", 0}, {"pinned", 0}, {"framebuffer", 0}};
  space.processors = {{"cpu", {0, 1}, 0, false}, {"gpu", {1, 2}, 2, true}};
  for (std::uint32_t task = 0; task < arguments.size(); ++task) {
    space.tasks.push_back({"task_" + std::to_string(task), {0, 1}, 1, task % 3 != 2});
    for (std::uint32_t i = 0; i < arguments[task]; ++i)
      space.arguments.push_back({task, "field_" + std::to_string(i), 1000ULL * (i % 7)});
  }
  return space;
}

/// Tasks on both kinds of processors, data in all kinds of memories.
Mapping mapping_of(const Space& space) {
  Mapping mapping;
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    mapping.distribution.push_back(space.tasks[task].group && task % 2 == 1 ? 1 : 0);
    mapping.processor.push_back(static_cast<map_search::Kind>((task + 1) % 2));
  }
  for (std::uint32_t i = 0; i < space.arguments.size(); ++i)
    mapping.memory.push_back(
        static_cast<map_search::Kind>(mapping.processor[space.arguments[i].task] + i % 2));
  check(space);
  EXPECT_TRUE(executable(space, mapping));
  return mapping;
}

std::string draw(const Space& space, const std::string& title = "title") {
  return draw_mapping(title, space, mapping_of(space));
}

/// As a picture, read by somebody else.
testing::AssertionResult is_svg(const std::string& svg) {
  if (!svg.starts_with("<?xml") || !svg.ends_with("</svg>\n"))
    return testing::AssertionFailure() << svg.substr(0, 300);
  const std::string command = std::string(TEST_PYTHON) +
                              " -c 'import sys, xml.etree.ElementTree as tree; "
                              "tree.parse(sys.stdin.buffer)'";
  FILE* const reader = popen(command.c_str(), "w");
  std::fwrite(svg.data(), 1, svg.size(), reader);
  if (pclose(reader) != 0) return testing::AssertionFailure() << "no XML";
  return testing::AssertionSuccess();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MappingPicture, SaysWhereAllIs) {
  const std::string svg = draw(space_of({2, 1}));
  EXPECT_TRUE(is_svg(svg));
  EXPECT_TRUE(test::mentions(
      svg, {"<desc>title", "task_0: gpu, blocked", "field_0 in pinned, 0 bytes",
            "field_1 in framebuffer, 1000 bytes", "task_1: cpu, leader", "</desc>"}));
}

TEST(MappingPicture, AnySpaceIsDrawn) {
  EXPECT_TRUE(is_svg(draw(space_of({0}))));
  EXPECT_TRUE(is_svg(draw(space_of({0, 0, 0}))));
  EXPECT_TRUE(is_svg(draw(space_of({300}))));
  EXPECT_TRUE(is_svg(draw(space_of(std::vector<std::uint32_t>(100, 3)))));
}

TEST(MappingPicture, NamesMayBeAnyText) {
  Space space = space_of({2});
  space.tasks[0].name = "a < b & \"c\" > 'd' \x01 " + std::string(300, 'x');
  space.arguments[0].name = "Größe/尺寸";
  for (int i = 0; i < 100; ++i) space.arguments[1].name += "ö尺";
  const std::string svg = draw(space, "<title>");
  EXPECT_TRUE(is_svg(svg));
  EXPECT_TRUE(has(svg, "&lt;title&gt;"));
  EXPECT_TRUE(has(svg, "a &lt; b &amp; &quot;c&quot; &gt;"));
  EXPECT_TRUE(has(svg, "Größe/尺寸"));
  space.tasks[0].name = "\xff";
  EXPECT_TRUE(test::mentions(test::error_of<Error>([&] { draw(space); }),
                             {"the picture cannot be drawn", "UTF-8"}));
}

TEST(MappingPicture, EqualInputGivesEqualBytes) {
  const Space space = space_of({3, 4, 0});
  EXPECT_EQ(draw(space), draw(space));
  EXPECT_NE(draw(space), draw(space_of({3, 4, 1})));
}

TEST(SearchPicture, SaysWhatWasFoundWhen) {
  const std::string svg = draw_search(
      "circuit & more", Objective::time,
      {{"ccd", {{0, 0.5}, {10, 0.25}, {60, 0.25}}}, {"<random>", {{0, 0.5}, {25, 0.4}}}});
  EXPECT_TRUE(is_svg(svg));
  EXPECT_TRUE(test::mentions(
      svg, {"circuit &amp; more", "ccd: 0.5 s from 0 s on, 0.25 s from 10 s on, 0.25 s from 60",
            "&lt;random&gt;: 0.5 s from 0 s on, 0.4 s from 25 s on"}));
}

TEST(SearchPicture, AnySearchIsDrawn) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<Series>> searches{
      {},
      {{"", {}}},
      {{"one", {{0, 0}}}},
      {{"failed", {{0, infinity}}}},
      {{"found", {{0, infinity}, {1, 5}, {2, 4}}}},
      {{"far", {{0, 1e6}, {1e5, 1e-9}}}},
      {{"near", {{0, 1}, {1e-6, 1 - 1e-12}}}},
      std::vector<Series>(20, {"many", {{0, 2}, {1, 1}}}),
  };
  for (const auto& series : searches)
    for (const Objective objective : {Objective::time, Objective::bytes}) {
      EXPECT_TRUE(is_svg(draw_search("title", objective, series)));
      EXPECT_EQ(draw_search("title", objective, series), draw_search("title", objective, series));
      EXPECT_FALSE(has(draw_search("title", objective, series), "nan"));
    }
}

}  // namespace
}  // namespace refrain::map::pictures_test
