#include "base/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace refrain::json_text_test {
namespace {

TEST(JsonText, IsReadBack) {
  const std::string text = "a \"quoted\" \\ path\n\t\x01 and \xc3\xa9";
  const JsonFile file(json_string(text), "text");
  EXPECT_EQ(file.root().as_string(), text);
}

TEST(JsonText, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(json_string("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xb5"),
            "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xb5\"");
  EXPECT_EQ(json_string("caf\xe9!"), "\"caf\xef\xbf\xbd!\"");
  EXPECT_EQ(json_string("\xe2\x82"), "\"\xef\xbf\xbd\"");              // ends too early
  EXPECT_EQ(json_string("\xe2\x82\n"), "\"\xef\xbf\xbd\\n\"");         // what follows stays
  EXPECT_EQ(json_string("\xc0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");  // longer than needed
  EXPECT_EQ(json_string("\xed\xa0\x80").size(), 2U + 3 * 3);           // a surrogate
  EXPECT_EQ(json_string(std::string("\x01\0\x7f", 3)), "\"\\u0001\\u0000\x7f\"");
}

}  // namespace
}  // namespace refrain::json_text_test
