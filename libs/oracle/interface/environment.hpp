#pragma once
// The run that a process's environment tells of, which all its libraries share. The variables, set by `refrain oracle`:
//   REFRAIN_ORACLE_RECORD     the file to record in, which was created
//   REFRAIN_ORACLE_REFERENCE  the file of an earlier run
//   REFRAIN_ORACLE_LEDGER     the ledger
// A process is called by its rank in MPI, or else as the ledger counts; so is a second process with the same rank.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "oracle/interface/c_objects.hpp"
#include "oracle/ledger.hpp"

namespace refrain::oracle {

/// On stderr.
void complain(const char* what);

/// Made once in a process and never destroyed: threads may use it as long as there are any.
class Environment {
 public:
  /// Of this process, made by who asks first. After a fork() the child has another.
  static Environment& current();
  /// Whether it is this process's.
  [[nodiscard]] bool is_current() const;
  /// This process's, if it has been made.
  static Environment* made();

  /// The stream for a thread that begins: of one that has ended, if there is one, else a new one. Null: the environment
  /// tells of no run, or it cannot be joined, which has been said.
  refrain_oracle_stream* join();
  /// The thread ends.
  void give_back(refrain_oracle_stream& stream);

  /// In the ledger, if there is one.
  void say(const char* line);
  /// All streams are written and reported; whoever uses one is waited for, and none is used any more.
  void end();

 private:
  Environment();
  void open();

  std::optional<Ledger> ledger_;
  std::uint32_t process_ = 0;
  bool follows_ = false;              // a reference run was asked for
  refrain_oracle* oracle_ = nullptr;  // none: nothing is recorded or predicted
  std::mutex mutex_;
  std::uint32_t threads_ = 0;                // how many streams there are
  std::set<refrain_oracle_stream*> unused_;  // of threads that have ended
  /// Its parent's, after a fork(): threads that were in the midst of using it are not here to be waited for.
  const Environment* inherited_;
};

}  // namespace refrain::oracle
