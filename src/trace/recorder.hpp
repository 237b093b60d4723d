#pragma once
// Writes a recording while the analysis runs.
//
// Pieces may be cut meanwhile. What has happened to a piece so far has happened to each of its parts, so an
// effect is noted with the number of pieces that the field had then, and when the recording is made it
// becomes one effect for each piece that is left.
//
// Owner: the context's thread, for as long as one trace is recorded.

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/field_state.hpp"
#include "trace/recording.hpp"

namespace refrain::trace {

class Recorder final : public analysis::StateLog {
 public:
  /// The next operation of the context will have sequence number `first`.
  explicit Recorder(std::uint64_t first) : first_(first) {}
  /// A call has been analysed, with all its operations.
  void step();
  /// A call names this field, whether or not it touches points of it; and this tree.
  void uses(analysis::FieldState& field);
  void uses(const data::RegionTree& tree, std::uint64_t uid);

  /// Null: all so far can be done again. Otherwise why not, for a sentence that begins with "because".
  [[nodiscard]] const char* fault() const { return fault_; }
  /// Of the calls so far.
  [[nodiscard]] Index operations() const {
    return made_.steps.empty() ? 0 : made_.steps.back().operations;
  }

  /// The recording of the calls that were analysed to their end. Once, and only when there is no fault.
  std::unique_ptr<Recording> finish();

  // --- StateLog ---
  void change(analysis::StateChange change, analysis::Piece& piece, analysis::Instance& instance,
              const exec::Node& operation) override;
  void look(analysis::Instance& instance, const exec::Node& operation) override;
  void fills(analysis::Piece& piece, const exec::Node& operation) override;
  void pend(analysis::FieldState& field, analysis::Piece& piece,
            const analysis::FillValue& value) override;
  void origin(const exec::Node& operation, const analysis::Origin& origin) override;
  void operation(const exec::Node& operation, std::span<const exec::Edge> predecessors) override;
  void untraceable(const char* what) override;

 private:
  static constexpr Index kOutside = ~Index{0};

  /// How a piece was when the trace first touched it.
  struct Touched {
    Instances valid;
    bool pending = false;
    std::uint32_t pieces_then = 0;  ///< the field's next_piece()
    Index place = kOutside;         ///< in the recording, once it is there
  };
  struct Noted {
    Effect effect;
    std::uint32_t field = 0;
    analysis::Piece* piece = nullptr;
    std::uint32_t pieces_then = 0;
  };

  [[nodiscard]] Index index_of(std::uint64_t seq) const {
    return seq >= first_ ? static_cast<Index>(seq - first_) : kOutside;
  }
  /// A piece of a field of the recording.
  static std::uint64_t key_of(std::uint32_t field, const analysis::Piece& piece) {
    return std::uint64_t{field} << 32 | piece.number;
  }
  Operation& at(std::uint64_t seq);
  std::uint32_t index_of(analysis::FieldState& field);
  void note(const Effect& effect, analysis::FieldState& field, analysis::Piece& piece);
  Touched& touch(std::uint32_t field, analysis::Piece& piece);
  const Touched* inherited(std::uint32_t field, const analysis::Piece& piece) const;
  Index place_of(std::uint32_t field, analysis::Piece& piece);
  template <class Visit>
  void for_each_part(const Noted& noted, Visit visit) const;
  void take_work(Operation& made, const exec::Node& node);
  void place_effects();

  std::uint64_t first_;  ///< sequence number of the first operation that is analysed
  Recording made_;
  std::vector<Noted> noted_;
  std::vector<std::size_t> noted_until_;                ///< by step
  std::unordered_map<std::uint64_t, Touched> touched_;  ///< by key_of
  std::unordered_map<const analysis::FieldState*, std::uint32_t> fields_;
  std::vector<std::uint32_t> pieces_first_;  ///< by field: its next_piece() when it was first used
  std::unordered_map<const analysis::FillValue*, Index> fills_;  ///< by which step
  FillSource source_;   ///< of the fill that is about to be told of ...
  Noted source_piece_;  ///< ... and where its value is pending
  std::vector<std::pair<Index, Noted>> entry_fills_;  ///< operations that write a value from before
  const char* fault_ = nullptr;
};

}  // namespace refrain::trace
