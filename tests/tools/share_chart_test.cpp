// Pictures are compared with what was asked for by their sizes and colours; what they look like is for people.

#include "share_chart.hpp"

#include <gtest/gtest.h>

#include "refrain/error.hpp"

namespace refrain::tools::share_chart_test {
namespace {

using Ticks = std::vector<std::uint64_t>;

TEST(ShareChart, TicksAreRound) {
  EXPECT_EQ(ticks(0, 10), (Ticks{0}));
  EXPECT_EQ(ticks(1, 10), (Ticks{0, 1}));
  EXPECT_EQ(ticks(10, 10).size(), 11U);
  EXPECT_EQ(ticks(11, 10), (Ticks{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(ticks(23, 5), (Ticks{0, 5, 10, 15, 20}));
  EXPECT_EQ(ticks(49'999, 5), (Ticks{0, 10'000, 20'000, 30'000, 40'000}));
  EXPECT_EQ(ticks(123'456, 3), (Ticks{0, 50'000, 100'000}));
}

TEST(ShareChart, TheSuffixIsTheFormat) {
  EXPECT_EQ(picture_format("a.b/c.svg"), PictureFormat::svg);
  EXPECT_EQ(picture_format("c.svg.png"), PictureFormat::png);
  for (const char* path : {"", "c", "c.pdf", "c.png/d"}) {
    try {
      picture_format(path);
      ADD_FAILURE() << path;
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), "expected the name of a picture that ends in .svg or .png, found '" +
                                  std::string(path) + "'");
    }
  }
}

ShareChart full_chart() {
  ShareChart chart;
  chart.title = "a <title> & more";
  chart.subtitle = "below it";
  chart.count_name = "calls";
  chart.share_name = "share";
  chart.end = 1000;
  chart.line = {{0, 0}, {500, 0.5}, {1000, 1}};
  chart.mark_name = "mark";
  chart.marks = {100, 200};
  chart.milestone = {900, "milestone"};
  return chart;
}

TEST(ShareChart, AnSvgHasASizeAndAWhiteBackground) {
  const std::string svg = draw(full_chart(), PictureFormat::svg);
  EXPECT_TRUE(svg.starts_with("<?xml")) << svg.substr(0, 200);
  EXPECT_NE(svg.find("width=\"900px\" height=\"420px\""), std::string::npos);
  EXPECT_NE(svg.find("rgb(100%,100%,100%)"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(ShareChart, APngHasASize) {
  const std::string png = draw(full_chart(), PictureFormat::png);
  // The signature, and a header with 1800 x 840.
  EXPECT_EQ(png.substr(0, 24),
            std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x07\x08\0\0\x03\x48", 24));
}

TEST(ShareChart, NothingButItsEndIsNeeded) {
  EXPECT_FALSE(draw({}, PictureFormat::svg).empty());
  EXPECT_FALSE(draw({}, PictureFormat::png).empty());
}

TEST(ShareChart, TextThatIsNoTextIsAnError) {
  ShareChart chart = full_chart();
  chart.title = "\xff";
  EXPECT_THROW(draw(chart, PictureFormat::svg), Error);
}

}  // namespace
}  // namespace refrain::tools::share_chart_test
