#pragma once
// --refrain:record: the calls of a runtime's programs, as the oracle's grammar in the file of a run
// (oracle/run_format.hpp). Each program that the runtime runs is a thread of the file, the first one number 0. An
// event is a call, named for people, and so that the token can be had back:
//
//   "calc_new_currents 0x5d1f0c9e7a34b682"            a launch of that task
//   "fill 0x0f33a1b2c3d4e5f6"                         another call
//   "calc_new_currents 0x5d1f0c9e7a34b682, marked"    one within a trace that the program marks
//   "access"                                          one that cannot be traced
//
// Calls that tasks make are not recorded, since their order depends on time; nor is the making of regions and partitions,
// which ends no trace and is in none.
//
// What a killed run has recorded so far is in the file (oracle/recorder.hpp). Where an older file is there, the run is
// recorded in one beside it, "FILE.new-PROCESS-NUMBER", which takes its place at the end; of a killed run it is left there.
// Once a program's stream cannot be written, or is too large for the memory, nothing is recorded any more, and the
// program goes on.
//
// Owner: the program's thread. Memory: the grammar's, and some 200 bytes for each different call. Costs a look-up in a
// table and a step of the reduction for each call.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "launch/listener.hpp"
#include "oracle/names.hpp"
#include "oracle/recorder.hpp"
#include "oracle/run_writer.hpp"
#include "repeats/repeats.hpp"

namespace refrain::runtime {

[[nodiscard]] std::string call_name(const Listener::Call& call);

struct NamedCall {
  autotrace::Token token = 0;
  bool marked = false;
};
/// None: it cannot be traced, or this is no such name.
[[nodiscard]] std::optional<NamedCall> call_named(std::string_view name);

class CallRecord final : public Listener {
 public:
  /// Throws Error if the file cannot be made, or would be what the process writes anyway ("/dev/stdout").
  explicit CallRecord(std::string path);
  /// Without close() a file beside an older one is gone.
  ~CallRecord() override;

  void program_begins() override;
  void called(const Call& call) override;
  /// Writes the rest, and the file is complete. Throws Error if not all could be written: then the file has what could,
  /// or stays as it was, with that beside it.
  void close();
  /// Before the process is ended, while a program may run: what is in a file beside an older one takes its place,
  /// unless there is nothing yet, or not all could be recorded: then it stays beside.
  void keep_so_far() const;

 private:
  /// Of one program.
  struct Stream {
    Stream(oracle::RunWriter& writer, std::uint32_t program)
        : recorder(writer, 0, program, false) {}

    std::uint32_t event_of(const Call& call);

    oracle::Names names;  ///< of events: two calls of one name are one
    /// Events by a call's token, of those that are marked and others.
    std::unordered_map<std::uint64_t, std::uint32_t> unmarked, marked;
    oracle::Recorder recorder;
  };

  void end_stream();
  void give_up(std::string why);

  const std::string path_;
  std::string target_;             ///< the same, links followed
  std::string beside_;             ///< where it is recorded; empty: in its place
  std::uintmax_t empty_size_ = 0;  ///< of that file before anything is recorded
  std::unique_ptr<oracle::RunWriter> writer_;
  std::optional<Stream> stream_;  ///< none: nothing is recorded
  std::uint32_t programs_ = 0;
  std::string fault_;  ///< why nothing is recorded any more; empty: all could be
};

}  // namespace refrain::runtime
