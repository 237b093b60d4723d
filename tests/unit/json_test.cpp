#include "base/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "refrain/error.hpp"
#include "support/test_budget.hpp"

namespace refrain::json_test {
namespace {

std::size_t place(const JsonFile& file, const JsonNode& node) {
  return file.place_of(node.value()).value;
}

TEST(JsonTree, PositionsCountCharactersAndLines) {
  const JsonFile file("[\n\"\xC3\xA4\", 1]",
                      "f");  // the second line starts with a two-byte character
  const auto position = [&](std::size_t offset) {
    try {
      file.fail(offset, "here");
    } catch (const InputError& error) { return std::string(error.what()); }
  };
  EXPECT_EQ(position(0), "f:1:1: here");
  EXPECT_EQ(position(1), "f:1:2: here");
  EXPECT_EQ(position(3), "f:2:2: here");
  EXPECT_EQ(position(8), "f:2:6: here");
}

TEST(JsonTree, KnowsWhereEveryValueStands) {
  const std::string text = R"( {"a" : [ 1,-2.5e3 ,"x\"]y",true], "b":{ } ,
  "c":null,"d":[[],[3]]} )";
  const JsonFile file(text, "f");
  const JsonNode root = file.root();
  EXPECT_EQ(place(file, root), text.find('{'));
  const auto list = root.at("a").as_array();
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(place(file, list[0]), text.find('1'));
  EXPECT_EQ(place(file, list[1]), text.find("-2.5"));
  EXPECT_EQ(list[1].as_number(), -2500.0);
  EXPECT_EQ(place(file, list[2]), text.find("\"x"));
  EXPECT_EQ(list[2].as_string(), "x\"]y");
  EXPECT_EQ(place(file, list[3]), text.find("true"));
  EXPECT_EQ(place(file, root.at("b")), text.find("{ }"));
  EXPECT_EQ(place(file, root.at("c")), text.find("null"));
  EXPECT_EQ(place(file, root.at("d").as_array()[1].as_array()[0]), text.rfind('3'));
  EXPECT_EQ(file.place_of(root.at("d").value()).name, text.find("\"d\""));
}

TEST(JsonTree, APartOfAFileCountsItsLines) {
  try {
    const JsonFile file("{\n  x", "f", 12);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("f:13:3: ")) << error.what();
  }
}

// Random texts: every scalar is a distinct number or string, so its place in the text is known.
class RandomJson {
 public:
  explicit RandomJson(std::uint64_t seed) : random_(seed) {}
  std::string text() {
    write(0);
    return text_;
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  void blanks() {
    for (std::size_t i = pick(3); i > 0; --i) text_ += " \n\t"[pick(3)];
  }
  void write(int depth) {
    const std::size_t kind = pick(depth < 4 ? 4 : 2);
    if (kind == 0) {
      text_ += std::to_string(1000 + next_++);
    } else if (kind == 1) {
      text_ += "\"v" + std::to_string(1000 + next_++) + (pick(2) != 0 ? R"(\"],:\\)" : "") + "\"";
    } else {
      text_ += kind == 2 ? "[" : "{";
      blanks();
      const std::size_t count = pick(4);
      for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) text_ += ",";
        blanks();
        if (kind == 3) {
          text_ += "\"k" + std::to_string(i) + "\"";
          blanks();
          text_ += ":";
          blanks();
        }
        write(depth + 1);
        blanks();
      }
      text_ += kind == 2 ? "]" : "}";
    }
  }
  std::mt19937_64 random_;
  std::string text_;
  int next_ = 0;
};

void check_places(const JsonFile& file, const nlohmann::ordered_json& value,
                  const std::string& text) {
  const std::size_t at = file.place_of(value).value;
  if (value.is_number()) EXPECT_EQ(at, text.find(std::to_string(value.get<int>())));
  else if (value.is_string())
    EXPECT_EQ(at, text.find("\"" + value.get<std::string>().substr(0, 5)));
  else EXPECT_EQ(text[at], value.is_array() ? '[' : '{');
  if (value.is_structured())
    for (const auto& inner : value) check_places(file, inner, text);
}

TEST(JsonTree, KnowsWhereEveryValueStandsInRandomTexts) {
  for (test::TestBudget budget{2000}; budget.more(); budget.next()) {
    const std::string text = RandomJson(budget.seed()).text();
    const JsonFile file(text, "f");
    check_places(file, file.root().value(), text);
    ASSERT_FALSE(HasFailure()) << "seed " << budget.seed() << "\n" << text;
  }
}

// Whatever the damage, reading ends in a tree or in an InputError with a position inside the text.
TEST(JsonTree, DamagedTextsAreErrorsNotCrashes) {
  for (test::TestBudget budget{2000}; budget.more(); budget.next()) {
    std::mt19937_64 random(budget.seed());
    std::string text = RandomJson(budget.seed()).text();
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) text.erase(at, 1);
      else text[at] = "{}[],:\"0\\\0x"[random() % 11];
      if (text.empty()) text = " ";
    }
    try {
      const JsonFile file(text, "f");
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("f:")) << error.what();
    }
  }
}

}  // namespace
}  // namespace refrain::json_test
