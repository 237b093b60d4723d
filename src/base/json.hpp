#pragma once
// JSON: input files, and strings for files that are written piece by piece.
//
// Input files are read so that every value remembers where it stands: a mistake in a file is reported
// with file, line and column, whether it is one of syntax ("expected ',' or '}'") or of meaning ("no
// memory is called 'sys1'").
//
// nlohmann-json reads; the tree is our own, since values of the library's forget where they stood. Stricter than
// JSON where JSON leaves room: a name may be given once per object, and nesting is limited, so that
// no file can exhaust the stack. Reading costs time and memory proportional to the text. One thread.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace refrain {

/// Appends `text` as a JSON string, quotes included. Control characters are escaped; UTF-8 stands as it is;
/// bytes that are none are replaced by U+FFFD, since JSON has to be UTF-8.
void append_json_string(std::string& out, std::string_view text);

/// Line and column, both from 1; columns count characters, not bytes.
struct TextPosition {
  int line = 1;
  int column = 1;
};
TextPosition position_in(std::string_view text, std::size_t offset);

class JsonFile;

/// One value of a JsonFile, valid as long as the file is. The as_...() functions give the value or throw
/// the InputError that says what was expected and what was found, and where.
class JsonNode {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  struct Member;

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(value_.index()); }
  /// Byte offset of the value's first character.
  [[nodiscard]] std::size_t offset() const { return offset_; }

  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] double as_number() const;
  [[nodiscard]] std::int64_t as_integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const std::vector<JsonNode>& as_array() const;
  [[nodiscard]] const std::vector<Member>& as_object() const;

  /// The object's member of this name, or nullptr.
  [[nodiscard]] const JsonNode* find(std::string_view name) const;
  /// The object's member of this name; an error when it is missing.
  [[nodiscard]] const JsonNode& at(std::string_view name) const;
  /// An error at the first member whose name is none of `names`, with the nearest one.
  void allow_only(std::initializer_list<std::string_view> names) const;

  /// Throws InputError "FILE:LINE:COLUMN: message" for this value.
  [[noreturn]] void fail(const std::string& message) const;
  /// Throws "expected WHAT, found <this value>".
  [[noreturn]] void expected(std::string_view what) const;
  /// The value as an error shows it: its text, shortened, or "an object" and the like.
  [[nodiscard]] std::string shown() const;

 private:
  friend class JsonFile;
  friend class JsonReader;

  struct Number {
    double value = 0;
    std::optional<std::int64_t> integer;  ///< where it is whole and fits
  };

  template <class T>
  [[nodiscard]] const T& as(const char* what) const;

  const JsonFile* file_ = nullptr;
  std::size_t offset_ = 0;
  std::variant<std::nullptr_t, bool, Number, std::string, std::vector<JsonNode>,
               std::vector<Member>>
      value_;  ///< in the order of Kind
};

struct JsonNode::Member {
  std::string name;
  std::size_t name_offset = 0;
  JsonNode value;
};

class JsonFile {
 public:
  /// Reads `text`; `name` is what errors call it, and `first_line` its first line, where it is a part of a
  /// file. Throws InputError.
  JsonFile(std::string text, std::string name, int first_line = 1);
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;

  /// Reads the whole file; `what` ("machine description") is what the error calls it when it cannot.
  static std::string read(const std::string& path, std::string_view what);

  [[nodiscard]] const JsonNode& root() const { return root_; }
  [[noreturn]] void fail(std::size_t offset, const std::string& message) const;

 private:
  friend class JsonNode;
  friend class JsonReader;
  std::string text_;
  std::string name_;
  int first_line_;
  JsonNode root_;
};

}  // namespace refrain
