#include "interpreter.hpp"

#include <complex>
#include <cstring>
#include <exception>
#include <utility>

#include "operations.hpp"

namespace refrain::test::numpy {

using namespace arrays;

namespace {

/// The class of the error, of those that NumPy has.
std::string class_of(const std::exception& error) {
  if (dynamic_cast<const AxisError*>(&error) != nullptr) return "AxisError";
  if (dynamic_cast<const IndexError*>(&error) != nullptr) return "IndexError";
  if (dynamic_cast<const ValueError*>(&error) != nullptr) return "ValueError";
  if (dynamic_cast<const TypeError*>(&error) != nullptr) return "TypeError";
  return "another error";
}

/// Is the one element what item() says?
template <Element T>
bool agrees_with_item(const Array& a, const std::vector<std::byte>& bytes) {
  const T item = a.item<T>();
  T read;
  std::memcpy(&read, bytes.data(), sizeof(T));
  return item == read || (item != item && read != read);
}

bool agrees_with_item(const Array& a, const std::vector<std::byte>& bytes) {
  switch (a.dtype()) {
    case DType::boolean: return agrees_with_item<bool>(a, bytes);
    case DType::int32: return agrees_with_item<std::int32_t>(a, bytes);
    case DType::int64: return agrees_with_item<std::int64_t>(a, bytes);
    case DType::float32: return agrees_with_item<float>(a, bytes);
    case DType::float64: return agrees_with_item<double>(a, bytes);
    case DType::complex128: return agrees_with_item<std::complex<double>>(a, bytes);
  }
  return false;
}

class Interpreter {
 public:
  explicit Interpreter(Session& session) : session_(session) {}

  Outcome run(const Program& program) {
    for (const Statement& statement : program.statements) {
      try {
        step(statement.tokens);
      } catch (const std::exception& error) {
        outcome_.complaint = class_of(error) + ": " + error.what();
      }
      if (outcome_.complaint.empty()) continue;
      const std::string_view text =
          statement.text.empty() ? statement.tokens.at(1) : statement.text;
      outcome_.complaint = "at '" + std::string(text) + "': " + outcome_.complaint;
      break;
    }
    return std::move(outcome_);
  }

 private:
  using Tokens = std::vector<std::string_view>;

  void step(const Tokens& tokens) {
    const std::string_view kind = tokens.at(0);
    if (kind == "check") return look(names_.at(std::string(tokens.at(1))));
    if (kind == "raises") return fail(tokens);
    if (kind == "do" && tokens.at(1) == "del") {
      names_.erase(std::string(tokens.at(2).substr(1)));
      return;
    }
    const std::size_t name = kind == "let" ? 2 : 1;
    const Tokens arguments(tokens.begin() + static_cast<std::ptrdiff_t>(name) + 1, tokens.end());
    Call call(session_, names_, arguments);
    const std::vector<Array> results = numpy::execute(tokens.at(name), call);
    if (kind == "let") bind(split(tokens.at(1), ','), results);
  }

  void bind(const Tokens& names, const std::vector<Array>& results) {
    if (names.size() != results.size()) {
      outcome_.complaint = std::to_string(results.size()) + " results";
      return;
    }
    for (std::size_t i = 0; i < names.size(); ++i) names_[std::string(names[i])] = results[i];
  }

  /// "raises ValueError add $a $b"
  void fail(const Tokens& tokens) {
    const Tokens arguments(tokens.begin() + 3, tokens.end());
    try {
      Call call(session_, names_, arguments);
      static_cast<void>(numpy::execute(tokens.at(2), call));
    } catch (const ArrayError& error) {
      if (class_of(error) != tokens.at(1))
        outcome_.complaint =
            class_of(error) + ", not " + std::string(tokens.at(1)) + ": " + error.what();
      return;
    }
    outcome_.complaint = "no " + std::string(tokens.at(1));
  }

  void look(const Array& a) {
    Observation seen{a.dtype(), a.shape(), {}};
    seen.bytes.resize(static_cast<std::size_t>(a.size()) * size_of(a.dtype()));
    a.read(seen.bytes.data(), a.dtype());
    if (a.size() == 1 && !agrees_with_item(a, seen.bytes))
      outcome_.complaint = "item() is not what read() reads";
    outcome_.observed.push_back(std::move(seen));
  }

  Session& session_;
  Names names_;
  Outcome outcome_;
};

}  // namespace

Outcome execute(const Program& program, Session& session) {
  return Interpreter(session).run(program);
}

}  // namespace refrain::test::numpy
