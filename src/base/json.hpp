#pragma once
// JSON: input files, and strings for files that are written piece by piece.
//
// nlohmann-json reads a file and keeps its values; a JsonNode is such a value with its file. A mistake in a file is
// reported with file, line and column, whether it is one of syntax ("expected ',' or '}'") or of meaning ("no memory
// is called 'sys1'"). A value does not remember its place. For an error it is counted which value of the file it is, and
// the file finds the place of the n-th value.
//
// Stricter than JSON where JSON leaves room: a name may be given once per object, and nesting is limited, so that
// no file can exhaust the stack. Reading costs time and memory proportional to the text, an error the same. One thread.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace refrain {

/// `text` as a JSON string, quotes included. Control characters are escaped; UTF-8 stands as it is;
/// bytes that are none are replaced by U+FFFD, since JSON has to be UTF-8.
std::string json_string(std::string_view text);

class JsonNode;

class JsonFile {
 public:
  static constexpr int deepest = 64;  ///< levels of nesting

  /// Reads `text`; `name` is what errors call it, and `first_line` its first line, where it is a part of a
  /// file. Throws InputError.
  JsonFile(std::string text, std::string name, int first_line = 1);
  ~JsonFile();
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;

  /// Reads the whole file; `what` ("machine description") is what the error calls it when it cannot.
  static std::string read(const std::string& path, std::string_view what);

  [[nodiscard]] JsonNode root() const;

  /// Where a value of the tree stands, and the name before it, where it is a member: bytes from the beginning.
  struct Place {
    std::size_t value, name;
  };
  [[nodiscard]] Place place_of(const nlohmann::ordered_json& value) const;
  /// Throws InputError with line and column, both from 1; columns count characters, not bytes.
  [[noreturn]] void fail(std::size_t offset, const std::string& message) const;

 private:
  const std::string text_, name_;
  const int first_line_;
  std::vector<Place> places_;  ///< of the values, in the order in which they begin
  std::unique_ptr<nlohmann::ordered_json> root_;
};

/// One value of a JsonFile, valid as long as the file is. The as_...() functions give the value or throw
/// the InputError that says what was expected and what was found, and where.
class JsonNode {
 public:
  JsonNode(const JsonFile& file, const nlohmann::ordered_json& value)
      : file_(&file), value_(&value) {}

  /// The library's, for questions of kind.
  [[nodiscard]] const nlohmann::ordered_json& value() const { return *value_; }

  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] double as_number() const;
  [[nodiscard]] std::int64_t as_integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] std::vector<JsonNode> as_array() const;

  /// The object's member of this name, or nothing.
  [[nodiscard]] std::optional<JsonNode> find(std::string_view name) const;
  /// The object's member of this name; an error when it is missing.
  [[nodiscard]] JsonNode at(std::string_view name) const;
  /// An error at the first member whose name is none of `names`, with the nearest one.
  void allow_only(std::initializer_list<std::string_view> names) const;

  /// Throws InputError "FILE:LINE:COLUMN: MESSAGE" for this value.
  template <class... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> message, Values&&... values) const {
    file_->fail(file_->place_of(*value_).value,
                fmt::format(message, std::forward<Values>(values)...));
  }
  /// Throws "expected WHAT, found <this value>".
  [[noreturn]] void expected(std::string_view what) const;

 private:
  [[nodiscard]] const nlohmann::ordered_json& checked(bool is_right, std::string_view what) const;

  const JsonFile* file_;
  const nlohmann::ordered_json* value_;
};

}  // namespace refrain
