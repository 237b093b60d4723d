#include "base/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/json_tree.hpp"
#include "support/random.hpp"

namespace refrain {
namespace {

std::string written(const std::string& text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, IsReadBack) {
  const std::string text = "a \"quoted\" \\ path\n\t\x01 and \xc3\xa9";
  const JsonFile file(written(text), "text");
  EXPECT_EQ(file.root().as_string(), text);
}

TEST(JsonText, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(written("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xb5"),
            "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xb5\"");
  EXPECT_EQ(written("caf\xe9!"), "\"caf\xef\xbf\xbd!\"");
  EXPECT_EQ(written("\xe2\x82"), "\"\xef\xbf\xbd\"");              // ends too early
  EXPECT_EQ(written("\xe2\x82\n"), "\"\xef\xbf\xbd\\n\"");         // what follows stays
  EXPECT_EQ(written("\xc0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");  // longer than needed
  EXPECT_EQ(written("\xed\xa0\x80").size(), 2U + 3 * 3);           // a surrogate
  EXPECT_EQ(written(std::string("\x01\0\x7f", 3)), "\"\\u0001\\u0000\\u007f\"");
}

// A library that replaces as well is the reference.
TEST(JsonText, AsALibraryWritesIt) {
  constexpr unsigned char bytes[] = {'a',  '"',  '\\', '\n', 0x01, 0x7f, 0x80, 0x8f, 0x90,
                                     0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed,
                                     0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff, 0x00};
  using Json = nlohmann::json;
  test::Random random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int left = random.below(8); left > 0; --left)
      text += static_cast<char>(bytes[random.below(int(std::size(bytes)))]);
    const std::string expected = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    ASSERT_EQ(Json::parse(written(text)), Json::parse(expected)) << expected;
  }
}

}  // namespace
}  // namespace refrain
