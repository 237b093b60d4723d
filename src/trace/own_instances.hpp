#pragma once
// The instances that a replay cannot share with the recording, because their regions are others each time.
//
// A region that is made and destroyed in every round of a loop is one region to the names of the calls, but
// its instances are new ones in each round. So a recording does not name them by address: it has a name for each
// (an Instance with Storage::none), and each replay has its own. What is true of an instance when it is recorded,
// other than where its bytes are, is true of the replay's: who asks for it, where, and in which order it came.
//
// Which ones. The instances of a field that ends in the recording: those that it found there, those that it
// made. Also the instances that it made in a field that had none, if in the end they have the values: what was
// recorded can come again only with another region. All other instances the recording names themselves.
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

class OwnInstances {
 public:
  /// The next instance of the context will have this serial number.
  explicit OwnInstances(std::uint64_t first_serial) : first_(first_serial) {}
  ~OwnInstances();
  OwnInstances(const OwnInstances&) = delete;

  /// False: the step cannot be done again, since that memory was short was a matter of what else there was.
  bool made(analysis::Instance& instance, Index step, bool shortage);
  bool ends(const analysis::FieldState& field, Index step);
  void gives_up(const analysis::Instance& instance);

  /// What notes call an instance that is alive.
  static analysis::Instance* name_of(analysis::Instance& instance) {
    return instance.counterpart != nullptr ? instance.counterpart : &instance;
  }

  /// After the last step, once: which they are.
  void choose();
  /// After that, what the recording calls what a note has called so.
  [[nodiscard]] analysis::Instance* final_name(analysis::Instance* noted) const;
  /// Whether these are instances of the field.
  [[nodiscard]] bool are_of(const analysis::FieldState& field) const {
    return fields_.contains(&field);
  }
  /// In the order in which they were made; last, when nothing is renamed any more.
  std::vector<OwnInstance> take();

 private:
  struct Known {
    OwnInstance own;
    bool shortage = false;
  };
  Known& note(analysis::Instance& instance, Index made);
  std::unique_ptr<analysis::Instance> make_name(const analysis::Instance& instance);
  [[nodiscard]] bool can_come_again(const analysis::FieldState& field) const;

  std::uint64_t first_;
  std::vector<Known> known_;
  /// Their names, by the addresses that they had.
  std::unordered_map<const analysis::Instance*, analysis::Instance*> found_;
  std::vector<std::unique_ptr<analysis::Instance>> kept_;   ///< where no name may be
  std::unordered_set<const analysis::FieldState*> fields_;  ///< that have ended; all, once chosen
};

}  // namespace refrain::trace
