#pragma once
// Per-replay instances: those that each replay has of its own, because a loop makes and destroys their region in every
// round.
//
// To the calls such a region is the same one in each round, but its instances are new. So the recording does not name
// them by address. It has a *placeholder* for each (an Instance with Storage::none), and each replay binds its own
// instance to it. Field, points, memory, layout and order of making are the same in every replay.
//
// While the trace is recorded, an instance has a placeholder once it was made or its field has ended. All others are
// noted by address, so a recording that makes and ends nothing names nothing anew at its end.
//
// Which instances are per-replay: all of a field that ends in the recording, found there or made; and those made in a
// field that had none, if they hold the values at the end, since the calls can come again only with another region. All
// other instances the recording names by address.
//
// Owner: the context's thread, while a trace is recorded.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/field_state.hpp"
#include "trace/recording.hpp"

namespace refrain::trace {

class PerReplayInstances {
 public:
  /// The next instance of the context will have this serial number.
  explicit PerReplayInstances(std::uint64_t first_serial) : first_(first_serial) {}
  ~PerReplayInstances();
  PerReplayInstances(const PerReplayInstances&) = delete;

  /// False: the step cannot be repeated, because the choice depended on a shortage of memory.
  bool made(analysis::Instance& instance, Index step, bool shortage);
  bool ends(const analysis::FieldState& field, Index step);
  void gives_up(const analysis::Instance& instance);

  /// The name under which an instance that is alive is noted until the end.
  static analysis::Instance* name_of(analysis::Instance& instance) {
    return instance.bound_to != nullptr ? instance.bound_to : &instance;
  }

  /// Decides which instances are per-replay. Once, after the last step. Whether a name changes by that.
  bool choose();
  /// After that: the placeholder if the instance is per-replay, else the instance itself.
  [[nodiscard]] analysis::Instance* final_name(analysis::Instance* name) const;
  /// Whether these are instances of the field.
  [[nodiscard]] bool are_of(const analysis::FieldState& field) const {
    return fields_.contains(&field);
  }
  /// In the order in which they were made. After the last final_name().
  std::vector<PerReplayInstance> take();

 private:
  struct Known {
    PerReplayInstance own;
    bool shortage = false;  ///< it is where it is because there was no room elsewhere
  };
  Known& note(analysis::Instance& instance);
  [[nodiscard]] bool can_come_again(analysis::FieldState& field) const;

  std::uint64_t first_;
  boost::container::small_vector<Known, 8> known_;          ///< by their placeholders' positions
  std::unordered_set<const analysis::FieldState*> fields_;  ///< that have ended; all, once chosen
  /// The placeholders of those that were noted by address and have ended.
  std::unordered_map<const analysis::Instance*, analysis::Instance*> ended_;
  std::vector<std::unique_ptr<analysis::Instance>> misplaced_;  ///< where one that has ended was
};

}  // namespace refrain::trace
