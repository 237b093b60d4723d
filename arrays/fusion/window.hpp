#pragma once
// The element-wise operations that wait to be launched together: a window on the stream of operations. All of its steps
// are over one shape, and elements of an array that are written in it are seen by all of them in the same way or not at
// all, so they can go through a block of elements one after the other. Results that no handle refers to when the window
// is launched are never stored.
//
// What launches it is decided by the operations alone (their shapes, which arrays they use, how many they are), never
// by time or by what is ready: the launches of a program are the same in every run.

#include <cstdint>
#include <source_location>
#include <span>
#include <vector>

#include "fusion/needed.hpp"
#include "fusion/program.hpp"
#include "refrain/arrays/array.hpp"
#include "storage/value.hpp"

namespace refrain::arrays::detail {

class Window {
 public:
  static constexpr std::size_t kMostSteps = 64, kMostLoads = 24, kMostWrites = 64;
  /// Arrays that it uses, at most.
  static constexpr std::size_t kMostArrays = kMostLoads + kMostWrites;

  [[nodiscard]] bool empty() const { return steps_.empty() && values_.empty(); }

  /// May an operation over `shape` with these operands join, with a result that is then assigned to something? One that
  /// may not, because of its shape, of what it reads, or for lack of room, comes after a launch of the window.
  [[nodiscard]] bool admits(const Shape& shape, std::span<const Operand* const> operands) const {
    // A step, a cast of each operand, and the assignment.
    return may_join(shape, operands, 5, 2);
  }
  /// May these values be assigned to something?
  [[nodiscard]] bool admits_assignment(const Shape& shape, const Operand& values) const {
    const Operand* operands[] = {&values};
    return may_join(shape, operands, 1, 1);
  }
  /// Can tasks of one launch use both views, one of them for writing, without meeting?
  [[nodiscard]] static bool are_apart(const Value& value, const Layout& a, const Layout& b);
  /// May the elements of `value` seen as `layout` be overwritten here?
  [[nodiscard]] bool admits_write(const Value& value, const Layout& layout) const;

  /// The next operation is over this shape, which is the window's unless that is empty.
  void begin(const Shape& shape, const Where& where);
  /// An operand as elements of `type`, cast if need be.
  Source source(const Operand& operand, DType type);
  /// Its place.
  std::uint16_t add(const Step& step);
  /// The elements of `value` at `layout` (for a new array: all) are the result of a step from now on.
  void write(Value& value, const Layout& layout, std::uint16_t step);

  /// An array that is loaded.
  struct Load {
    Value* value;
    Layout layout;
  };
  /// Elements that are the result of a step: all of a new array, or some of one that is there.
  struct Write {
    Value* value;
    Layout layout;
    std::uint16_t step;
  };

  // For the launch.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// The line of the operation that was added last.
  [[nodiscard]] const Where& line() const { return line_; }
  /// The line of the first operation that is in it.
  [[nodiscard]] const Where& where() const { return lines_.empty() ? line_ : lines_.front(); }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Load>& loads() const { return loads_; }
  [[nodiscard]] const std::vector<Constant>& constants() const { return constants_; }
  [[nodiscard]] const std::vector<Write>& writes() const { return writes_; }
  /// The arrays that are read and written here, in the order in which they were first.
  [[nodiscard]] const std::vector<Value*>& values() const { return values_; }
  void clear();
  /// Changes with whatever is added or taken away.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  /// Can what is written to arrays that are there be launched by itself, before the new arrays? These stay: the
  /// operands of an assignment that cannot join, say, whose temporaries will be gone when it is done.
  [[nodiscard]] bool can_keep_results();
  /// Leaves the steps that make new arrays, and tells which arrays are not needed for that.
  void keep_results(std::vector<Value*>& released);

 private:
  [[nodiscard]] bool may_join(const Shape& shape, std::span<const Operand* const> operands,
                              std::size_t steps, std::size_t writes) const;
  void hold(Value& value);
  [[nodiscard]] const Write* find_write(const Value& value, const Layout& layout) const;
  Source cast(Source source, DType from, DType to);
  Source load(const Array& array);
  Source constant(const Number& number, DType type);

  Shape shape_;
  Where line_;  // of the operation that was added last
  std::uint64_t revision_ = 0;
  std::vector<Step> steps_;
  std::vector<Where> lines_;  // of each step
  std::vector<Load> loads_;
  std::vector<Constant> constants_;
  std::vector<Write> writes_;
  std::vector<Value*> values_;
  Needed kept_;  // for new arrays
};

/// A plain number as an element of a type, in memory.
Constant constant_of(const Number& number, DType type);

}  // namespace refrain::arrays::detail
