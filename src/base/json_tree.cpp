#include "base/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/assert.hpp"
#include "base/nearest.hpp"
#include "refrain/error.hpp"

namespace refrain {

TextPosition position_in(std::string_view text, std::size_t offset) {
  TextPosition at;
  for (char c : text.substr(0, std::min(offset, text.size()))) {
    if (c == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {  // not a UTF-8 continuation byte
      ++at.column;
    }
  }
  return at;
}

// Builds the tree from nlohmann's events. An event does not say where its value stands, but between two
// values stand only blanks, commas and colons, and once the parser has accepted a value its text is known
// to be well formed; so a cursor that skips the one and steps over the other is always at the next value.
class JsonReader {
 public:
  using json = nlohmann::json;
  using number_integer_t = json::number_integer_t;
  using number_unsigned_t = json::number_unsigned_t;
  using number_float_t = json::number_float_t;
  using string_t = json::string_t;
  using binary_t = json::binary_t;

  explicit JsonReader(JsonFile& file) : file_(file), text_(file.text_) {}

  bool null() { return scalar(JsonNode::Kind::null), true; }
  bool boolean(bool value) { return scalar(JsonNode::Kind::boolean).boolean_ = value, true; }
  bool number_integer(number_integer_t value) { return integer(value); }
  bool number_unsigned(number_unsigned_t value) {
    constexpr auto most = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    if (value <= most) return integer(static_cast<std::int64_t>(value));
    return number_float(static_cast<double>(value), {});
  }
  bool number_float(number_float_t value, const string_t&) {
    return scalar(JsonNode::Kind::number).number_ = value, true;
  }
  bool string(string_t& value) {
    return scalar(JsonNode::Kind::string).string_ = std::move(value), true;
  }
  bool binary(binary_t&) { return false; }  // not in text

  bool start_object(std::size_t) { return open(JsonNode::Kind::object); }
  bool start_array(std::size_t) { return open(JsonNode::Kind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(string_t& name) {
    const std::size_t offset = next_token();
    for (const auto& member : open_.back()->members_)
      if (member.name == name)
        file_.fail(offset, fmt::format("'{}' is given a second time in this object", name));
    open_.back()->members_.push_back({std::move(name), offset, {}});
    step_over(offset);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) {
    // The parser's text is "[...] parse error at line 1, column 2: what"; the place is told again by us,
    // in our form, and as the start of the offending token: the parser stands behind its last character.
    std::string what = error.what();
    if (const auto bracket = what.find("] "); bracket != std::string::npos)
      what.erase(0, bracket + 2);
    if (what.starts_with("parse error at ")) what.erase(0, what.find(": ") + 2);
    std::size_t offset = position == 0 ? 0 : position - 1;
    if (what.find("unexpected string literal") != std::string::npos) offset = string_begin(offset);
    else if (what.find("unexpected number literal") != std::string::npos ||
             what.starts_with("number overflow"))
      while (offset > 0 && std::strchr("+-.0123456789eE", text_[offset - 1]) != nullptr) --offset;
    file_.fail(offset, what);
  }

 private:
  static constexpr std::size_t deepest = 64;

  std::size_t next_token() {
    while (cursor_ < text_.size() && std::strchr(" \t\r\n,:", text_[cursor_]) != nullptr) ++cursor_;
    // After the last element of an array or object its closing bracket is stepped over by close().
    return cursor_;
  }

  // The opening quote of the string whose closing quote stands at `end`. A quote inside it is escaped,
  // which is to say that an odd number of backslashes stands before it.
  std::size_t string_begin(std::size_t end) const {
    for (std::size_t i = end; i-- > 0;) {
      if (text_[i] != '"') continue;
      std::size_t backslashes = 0;
      while (backslashes < i && text_[i - 1 - backslashes] == '\\') ++backslashes;
      if (backslashes % 2 == 0) return i;
    }
    return end;
  }

  void step_over(std::size_t offset) {
    cursor_ = offset + 1;
    if (text_[offset] == '"') {
      while (text_[cursor_] != '"') cursor_ += text_[cursor_] == '\\' ? 2U : 1U;
      ++cursor_;
    } else if (std::strchr("[]{}", text_[offset]) == nullptr) {
      while (cursor_ < text_.size() && std::strchr(" \t\r\n,:]}", text_[cursor_]) == nullptr)
        ++cursor_;
    }
  }

  JsonNode& add(JsonNode::Kind kind) {
    const std::size_t offset = next_token();
    JsonNode* node = &file_.root_;
    if (!open_.empty()) {
      JsonNode& parent = *open_.back();
      node = parent.kind_ == JsonNode::Kind::array ? &parent.elements_.emplace_back()
                                                   : &parent.members_.back().value;
    }
    node->file_ = &file_;
    node->offset_ = offset;
    node->kind_ = kind;
    step_over(offset);
    return *node;
  }
  JsonNode& scalar(JsonNode::Kind kind) { return add(kind); }

  bool integer(std::int64_t value) {
    JsonNode& node = add(JsonNode::Kind::number);
    node.number_ = static_cast<double>(value);
    node.integer_ = value;
    node.integral_ = true;
    return true;
  }

  // The pointers in open_ stay valid: a list grows only while its owner is the innermost open one.
  bool open(JsonNode::Kind kind) {
    JsonNode& node = add(kind);
    if (open_.size() == deepest)
      file_.fail(node.offset_, fmt::format("nested deeper than {} levels", deepest));
    open_.push_back(&node);
    return true;
  }
  bool close() {
    step_over(next_token());
    open_.pop_back();
    return true;
  }

  JsonFile& file_;
  std::string_view text_;
  std::size_t cursor_ = 0;
  std::vector<JsonNode*> open_;
};

JsonFile::JsonFile(std::string text, std::string name, int first_line)
    : text_(std::move(text)), name_(std::move(name)), first_line_(first_line) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);  // a byte order mark
  JsonReader reader(*this);
  nlohmann::json::sax_parse(text_, &reader);
}

std::string JsonFile::read(const std::string& path, std::string_view what) {
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"),
                                                           &std::fclose);
  std::string text;
  if (in != nullptr) {
    char part[4096];
    while (const std::size_t count = std::fread(part, 1, sizeof part, in.get()))
      text.append(part, count);
  }
  if (in == nullptr || std::ferror(in.get()) != 0)
    throw InputError(fmt::format("cannot read the {} '{}': {}", what, path, std::strerror(errno)));
  return text;
}

void JsonFile::fail(std::size_t offset, const std::string& message) const {
  const TextPosition at = position_in(text_, offset);
  throw InputError(
      fmt::format("{}:{}:{}: {}", name_, first_line_ + at.line - 1, at.column, message));
}

void JsonNode::fail(const std::string& message) const {
  REFRAIN_ASSERT(file_ != nullptr, "a value that was read belongs to a file");
  file_->fail(offset_, message);
}

void JsonNode::expected(std::string_view what) const {
  fail(fmt::format("expected {}, found {}", what, shown()));
}

std::string JsonNode::shown() const {
  switch (kind_) {
    case Kind::null: return "null";
    case Kind::boolean: return boolean_ ? "true" : "false";
    case Kind::array: return elements_.empty() ? "an empty list" : "a list";
    case Kind::object: return "an object";
    case Kind::number: return integral_ ? fmt::format("{}", integer_) : fmt::format("{}", number_);
    case Kind::string: break;
  }
  if (string_.size() <= 40) return "'" + string_ + "'";
  return "'" + string_.substr(0, 37) + "...'";
}

bool JsonNode::as_bool() const {
  if (kind_ != Kind::boolean) expected("true or false");
  return boolean_;
}

double JsonNode::as_number() const {
  if (kind_ != Kind::number) expected("a number");
  return number_;
}

std::int64_t JsonNode::as_integer(std::int64_t least, std::int64_t most) const {
  if (kind_ != Kind::number || !integral_ || integer_ < least || most < integer_)
    expected(fmt::format("a whole number from {} to {}", least, most));
  return integer_;
}

const std::string& JsonNode::as_string() const {
  if (kind_ != Kind::string) expected("a text in quotes");
  return string_;
}

const std::vector<JsonNode>& JsonNode::as_array() const {
  if (kind_ != Kind::array) expected("a list in [ ]");
  return elements_;
}

const std::vector<JsonNode::Member>& JsonNode::as_object() const {
  if (kind_ != Kind::object) expected("an object in { }");
  return members_;
}

const JsonNode* JsonNode::find(std::string_view name) const {
  for (const Member& member : as_object())
    if (member.name == name) return &member.value;
  return nullptr;
}

const JsonNode& JsonNode::at(std::string_view name) const {
  if (const JsonNode* value = find(name)) return *value;
  fail(fmt::format("this object needs '{}'", name));
}

void JsonNode::allow_only(std::initializer_list<std::string_view> names) const {
  for (const Member& member : as_object()) {
    if (std::find(names.begin(), names.end(), member.name) != names.end()) continue;
    const std::vector<std::string_view> known(names);
    file_->fail(member.name_offset,
                fmt::format("unknown name '{}'{}", member.name, did_you_mean(member.name, known)));
  }
}

}  // namespace refrain
