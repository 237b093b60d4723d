#pragma once
// What the analysis does to its state, told as it happens while a trace is recorded: so that it can be done
// again later without the analysis (trace/recorder.hpp).

#include <cstdint>
#include <memory>
#include <span>

#include "graph/node.hpp"

namespace refrain::analysis {

struct FillValue;
struct Origin;
struct Instance;
struct Piece;
class FieldState;

/// How an operation changes what is known of one instance at one piece (rules R1, R2 and W).
enum class StateChange : std::uint8_t {
  read,        ///< one more reader
  write,       ///< the last writer, and the only valid instance
  read_write,  ///< the same, after having read
  validate,    ///< the last writer, by a copy or a fill: valid beside the others
  fold,        ///< one of the last writers, by a relaxed fold, and the only valid instance
};

class StateLog {
 public:
  virtual ~StateLog() = default;
  /// Before the change, and before the operation is told of.
  virtual void change(StateChange change, std::span<Piece* const> pieces, Instance& instance,
                      const exec::Node& operation) = 0;
  /// An argument without points: no piece changes, but the operation looks at the instance.
  virtual void look(Instance& instance, const exec::Node& operation) = 0;
  /// `operation` will write the value that is pending at the piece.
  virtual void fills(FieldState& field, Piece& piece, const exec::Node& operation) = 0;
  /// fill(): the value becomes pending at the piece.
  virtual void pend(FieldState& field, Piece& piece,
                    const std::shared_ptr<const FillValue>& value) = 0;
  /// An instance was made for an argument. `shortage`: in a memory that was not the first asked for, since
  /// there was no room then.
  virtual void made(Instance& instance, bool shortage) = 0;
  /// The field's region is about to end, and all instances with it.
  virtual void ends(FieldState& field) = 0;
  /// An instance is about to end, though its region does not.
  virtual void gives_up(Instance& instance) = 0;
  /// Whom an operation is for.
  virtual void origin(const exec::Node& operation, const Origin& origin) = 0;
  /// An operation is about to be published.
  virtual void operation(const exec::Node& operation, std::span<const exec::Edge> predecessors) = 0;
  /// Something has happened that a replay could not do again. `what`: a sentence's end, "memory was attached".
  virtual void untraceable(const char* what) = 0;
};

}  // namespace refrain::analysis
