#pragma once
// A chain of element-wise operations as a program over blocks: a block's operands are loaded, go through all steps
// while they are in the cache, and the results are stored. It knows memory only, nothing of arrays and tasks.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fusion/strided.hpp"
#include "kernels/loops.hpp"

namespace refrain::arrays::detail {

/// Where an operand of a step comes from.
struct Source {
  enum class From : std::uint8_t { nothing, step, load, constant };
  From from = From::nothing;
  std::uint16_t index = 0;
  friend bool operator==(const Source&, const Source&) = default;
};

/// One operation; or a cast, which from a type to itself is a copy.
struct Step {
  kernels::Op op{};
  bool cast = false;
  DType type{};  ///< of the operands (of `where`: of the second and third)
  DType result{};
  Source operands[3];
};

/// Elements of a slot (an array that the program is given) that are read, or written with the result of a step.
struct Access {
  std::uint16_t slot = 0;
  std::uint16_t step = 0;  ///< of a store
  DType type{};
  Strides strides;
};

/// An element of any type, as it has it in memory: a plain number of the program.
struct Constant {
  alignas(16) std::byte bytes[16];
};

/// What a program does. A store to a slot that is also loaded is at the place of such a load, or at elements that no
/// load sees: so blocks can go through all steps one after the other.
struct ProgramText {
  Nest nest;
  std::vector<Step> steps;
  std::vector<Access> loads, stores;
  /// A step or a load whose elements are handed to whoever runs the program; or nothing.
  Source sink;
};

/// Takes the sink's elements block by block.
class BlockSink {
 public:
  /// Elements first .. first + count - 1 of the nest.
  virtual void take(Coord first, std::size_t count, const std::byte* elements) = 0;

 protected:
  ~BlockSink() = default;
};

/// Immutable: any number of threads run it.
class Program {
 public:
  explicit Program(ProgramText text);

  /// Elements begin .. end - 1 of the nest. `slots`: the address of element 0 of each slot. The sink is given its
  /// elements in order.
  void run(Coord begin, Coord end, std::byte* const* slots, const Constant* constants,
           BlockSink* sink = nullptr) const;

 private:
  enum class Way : std::uint8_t { direct, uniform, strided };  ///< uniform: one element for a block
  struct Operand {
    enum class Is : std::uint8_t { nothing, load, constant, buffer, store };
    Is is = Is::nothing;
    std::uint16_t index = 0;
  };
  struct Command {
    kernels::Loop loop;
    Operand operands[3];
    Operand result;
    bool uniform;  ///< one element for the block
  };
  /// What is left to do for a store after all steps.
  struct Delivery {
    std::uint16_t store;
    Operand from;
    bool uniform;
  };

  [[nodiscard]] Way way_of(const Strides& strides) const;
  void choose_ways();
  void choose_places();
  struct LastUses;
  void place_in_stores(LastUses& uses, std::vector<bool>& delivered);
  void place_in_buffers(const LastUses& uses);
  void make_commands();
  struct Block;
  void run_block(Block& block, BlockSink* sink) const;
  [[nodiscard]] Operand operand_of(const Source& source) const;
  [[nodiscard]] bool is_uniform(const Source& source) const;

  ProgramText text_;
  bool by_rows_;  ///< blocks end with rows; else they go on over short rows
  std::vector<Way> load_ways_, store_ways_;
  std::vector<bool> uniform_;               // per step
  std::vector<Operand> result_of_;          // per step: where its result is
  std::vector<std::uint16_t> load_buffer_;  // per load that is strided
  std::vector<Command> commands_;
  Operand sink_;
  bool sink_uniform_ = false;
  std::size_t sink_size_ = 0;
  std::vector<Delivery> deliveries_;
  std::size_t buffers_ = 0, buffer_bytes_ = 0;
  Coord block_ = 0;
};

}  // namespace refrain::arrays::detail
