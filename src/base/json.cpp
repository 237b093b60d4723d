#include "base/json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "refrain/error.hpp"

namespace refrain {

using Json = nlohmann::ordered_json;

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

/// Counts the values of `tree` in the order in which they begin, up to `value`; true: it was met.
bool count_before(const Json& tree, const Json& value, std::size_t& number) {
  if (&tree == &value) return true;
  ++number;
  return tree.is_structured() && std::ranges::any_of(tree, [&](const Json& inner) {
           return count_before(inner, value, number);
         });
}

}  // namespace

// At an event the stream stands behind the last character of the token, or one further, for a number; what is between
// this and the next token is blank, a comma or a colon.
JsonFile::JsonFile(std::string text, std::string name, int first_line)
    : text_(text.starts_with("\xEF\xBB\xBF") ? text.substr(3)
                                             : std::move(text)),  // a byte order mark
      name_(std::move(name)),
      first_line_(first_line) {
  std::istringstream in(text_);
  std::size_t end = 0, name_begin = 0;       // of the token before, of the last name
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto next = [&] {
    return std::min(text_.find_first_not_of(" \t\r\n,:", end), text_.size());
  };
  const auto note = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    const std::size_t begin = next();
    end = static_cast<std::size_t>(in.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in));
    switch (event) {
      case Event::key:
        name_begin = begin;
        if (const auto& key = parsed.get_ref<const std::string&>();
            !names.back().insert(key).second)
          fail(begin, fmt::format("'{}' is given a second time in this object", key));
        break;
      case Event::object_start:
      case Event::array_start:
        if (depth == deepest) fail(begin, fmt::format("nested deeper than {} levels", deepest));
        names.emplace_back();
        [[fallthrough]];
      case Event::value: places_.push_back({begin, name_begin}); break;
      case Event::object_end:
      case Event::array_end: names.pop_back(); break;
    }
    return true;
  };
  try {
    root_ = std::make_unique<Json>(Json::parse(in, note));
  } catch (const Json::exception& error) {
    // The parser's text is "[...] parse error at line 1, column 2: what"; the place is told again by us, in our form,
    // and as the start of the offending token: the parser stands behind its last character.
    std::string what = error.what();
    what.erase(0, what.find("] ") + 2);
    if (what.starts_with("parse error at ")) what.erase(0, what.find(": ") + 2);
    const auto* syntax = dynamic_cast<const Json::parse_error*>(&error);
    const bool is_whole = what.find("unexpected string literal") != std::string::npos ||
                          what.find("unexpected number literal") != std::string::npos;
    fail(syntax == nullptr || is_whole ? next() : std::max<std::size_t>(syntax->byte, 1) - 1, what);
  }
}

JsonFile::~JsonFile() = default;

JsonNode JsonFile::root() const { return {*this, *root_}; }

std::string JsonFile::read(const std::string& path, std::string_view what) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (!in.is_open() || in.bad())
    throw InputError(fmt::format("cannot read the {} '{}': {}", what, path, std::strerror(errno)));
  return std::move(text).str();
}

JsonFile::Place JsonFile::place_of(const Json& value) const {
  std::size_t number = 0;
  count_before(*root_, value, number);
  return places_[number];
}

void JsonFile::fail(std::size_t offset, const std::string& message) const {
  const std::string_view before = std::string_view(text_).substr(0, offset);
  const auto begins_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  };
  throw InputError(fmt::format(
      "{}:{}:{}: {}", name_, first_line_ + std::ranges::count(before, '\n'),
      1 + std::ranges::count_if(before.substr(before.rfind('\n') + 1), begins_character), message));
}

// The value is shown as its text, shortened, or as "an object" and the like.
void JsonNode::expected(std::string_view what) const {
  std::string found = value_->dump();
  if (value_->is_object()) found = "an object";
  if (value_->is_array()) found = value_->empty() ? "an empty list" : "a list";
  if (value_->is_number_float()) found = fmt::format("{}", value_->get<double>());
  if (value_->is_string()) {
    const std::string& text = as_string();
    found = "'" + (text.size() <= 40 ? text : text.substr(0, 37) + "...") + "'";
  }
  fail("expected {}, found {}", what, found);
}

const Json& JsonNode::checked(bool is_right, std::string_view what) const {
  if (!is_right) expected(what);
  return *value_;
}

bool JsonNode::as_bool() const {
  return checked(value_->is_boolean(), "true or false").get<bool>();
}
double JsonNode::as_number() const {
  return checked(value_->is_number(), "a number").get<double>();
}
const std::string& JsonNode::as_string() const {
  return checked(value_->is_string(), "a text in quotes").get_ref<const std::string&>();
}

std::int64_t JsonNode::as_integer(std::int64_t least, std::int64_t most) const {
  const bool is_large = value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX;
  const std::int64_t number =
      value_->is_number_integer() && !is_large ? value_->get<std::int64_t>() : INT64_MIN;
  if (number < least || most < number)
    expected(fmt::format("a whole number from {} to {}", least, most));
  return number;
}

std::vector<JsonNode> JsonNode::as_array() const {
  std::vector<JsonNode> nodes;
  for (const Json& element : checked(value_->is_array(), "a list in [ ]"))
    nodes.emplace_back(*file_, element);
  return nodes;
}

std::optional<JsonNode> JsonNode::find(std::string_view name) const {
  const Json& object = checked(value_->is_object(), "an object in { }");
  const auto found = object.find(std::string(name));
  return found == object.end() ? std::nullopt : std::optional(JsonNode(*file_, *found));
}

JsonNode JsonNode::at(std::string_view name) const {
  if (const auto value = find(name)) return *value;
  fail("this object needs '{}'", name);
}

void JsonNode::allow_only(std::initializer_list<std::string_view> names) const {
  for (const auto& [name, value] : checked(value_->is_object(), "an object in { }").items())
    if (std::ranges::find(names, name) == names.end())
      file_->fail(file_->place_of(value).name,
                  fmt::format("unknown name '{}'{}", name, did_you_mean(name, names)));
}

}  // namespace refrain
