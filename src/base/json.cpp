#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
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

void append_json_string(std::string& out, std::string_view text) {
  using Json = nlohmann::json;
  out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Builds the tree from nlohmann's events. At an event the stream stands behind the last character of the value
// (behind the one after it, for a number), so the value begins where its text does, read backwards.
class JsonReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonReader(JsonFile& file) : file_(file), text_(file.text_), in_(file.text_) {}
  void read() { nlohmann::json::sax_parse(in_, this); }

  bool null() override { return add(consumed() - 4, nullptr); }
  bool boolean(bool value) override { return add(consumed() - (value ? 4 : 5), value); }
  bool number_integer(number_integer_t value) override {
    return number({static_cast<double>(value), value});
  }
  bool number_unsigned(number_unsigned_t value) override {
    JsonNode::Number read{static_cast<double>(value), {}};
    if (std::in_range<std::int64_t>(value)) read.integer = static_cast<std::int64_t>(value);
    return number(read);
  }
  bool number_float(number_float_t value, const string_t&) override { return number({value, {}}); }
  bool string(string_t& value) override {
    return add(string_begin(consumed() - 1), std::move(value));
  }
  bool binary(binary_t&) override { return false; }  // not in text

  bool start_object(std::size_t) override { return open(std::vector<JsonNode::Member>()); }
  bool start_array(std::size_t) override { return open(std::vector<JsonNode>()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const std::size_t offset = string_begin(consumed() - 1);
    auto& members = std::get<std::vector<JsonNode::Member>>(open_.back()->value_);
    for (const auto& member : members)
      if (member.name == name)
        file_.fail(offset, fmt::format("'{}' is given a second time in this object", name));
    members.push_back({std::move(name), offset, {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
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
      offset = number_begin(offset);
    file_.fail(offset, what);
  }

 private:
  static constexpr std::size_t deepest = 64;

  std::size_t consumed() {
    return static_cast<std::size_t>(in_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in));
  }

  // Where the characters of a number before `end` begin.
  std::size_t number_begin(std::size_t end) const {
    while (end > 0 && std::strchr("+-.0123456789eE", text_[end - 1]) != nullptr) --end;
    return end;
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

  // The character behind a number has been read, unless there is none.
  bool number(const JsonNode::Number& value) {
    const std::size_t end = consumed();
    const bool is_last = number_begin(end) < end;
    return add(number_begin(is_last ? end : end - 1), value);
  }

  template <class Value>
  bool add(std::size_t offset, Value&& value) {
    last_ = &file_.root_;
    if (!open_.empty()) {
      auto& parent = open_.back()->value_;
      if (auto* list = std::get_if<std::vector<JsonNode>>(&parent)) last_ = &list->emplace_back();
      else last_ = &std::get<std::vector<JsonNode::Member>>(parent).back().value;
    }
    last_->file_ = &file_;
    last_->offset_ = offset;
    last_->value_ = std::forward<Value>(value);
    return true;
  }

  // The pointers in open_ stay valid: a list grows only while its owner is the innermost open one.
  template <class List>
  bool open(List list) {
    add(consumed() - 1, std::move(list));
    if (open_.size() == deepest)
      file_.fail(last_->offset_, fmt::format("nested deeper than {} levels", deepest));
    open_.push_back(last_);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonFile& file_;
  std::string_view text_;
  std::istringstream in_;
  JsonNode* last_ = nullptr;  ///< that was added
  std::vector<JsonNode*> open_;
};

JsonFile::JsonFile(std::string text, std::string name, int first_line)
    : text_(std::move(text)), name_(std::move(name)), first_line_(first_line) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);  // a byte order mark
  JsonReader(*this).read();
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
  switch (kind()) {
    case Kind::null: return "null";
    case Kind::boolean: return as_bool() ? "true" : "false";
    case Kind::array: return as_array().empty() ? "an empty list" : "a list";
    case Kind::object: return "an object";
    case Kind::number: {
      const auto& number = std::get<Number>(value_);
      return number.integer ? fmt::format("{}", *number.integer) : fmt::format("{}", number.value);
    }
    case Kind::string: break;
  }
  const std::string& text = as_string();
  return text.size() <= 40 ? "'" + text + "'" : "'" + text.substr(0, 37) + "...'";
}

template <class T>
const T& JsonNode::as(const char* what) const {
  if (const T* value = std::get_if<T>(&value_)) return *value;
  expected(what);
}

bool JsonNode::as_bool() const { return as<bool>("true or false"); }
double JsonNode::as_number() const { return as<Number>("a number").value; }

std::int64_t JsonNode::as_integer(std::int64_t least, std::int64_t most) const {
  const auto* number = std::get_if<Number>(&value_);
  if (number == nullptr || !number->integer || *number->integer < least || most < *number->integer)
    expected(fmt::format("a whole number from {} to {}", least, most));
  return *number->integer;
}

const std::string& JsonNode::as_string() const { return as<std::string>("a text in quotes"); }
const std::vector<JsonNode>& JsonNode::as_array() const {
  return as<std::vector<JsonNode>>("a list in [ ]");
}
const std::vector<JsonNode::Member>& JsonNode::as_object() const {
  return as<std::vector<Member>>("an object in { }");
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
