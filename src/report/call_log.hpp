#pragma once
// Who is told of a program's calls, in order, whatever becomes of them.

#include <cstdint>
#include <string_view>

namespace refrain::runtime {

/// On the program's thread.
class CallLog {
 public:
  struct Call {
    std::uint64_t token = 0;  ///< of its signature (launch/signature.hpp)
    /// The task's, or what is done: "fill". Empty, perhaps, if the program has made the call before.
    std::string_view name;
    bool traceable = true;
    bool marked = false;  ///< within a trace that the program marks
  };

  virtual ~CallLog() = default;
  /// All calls from here on are another program's, which the runtime begins to run.
  virtual void program_begins() = 0;
  virtual void called(const Call& call) = 0;
};

}  // namespace refrain::runtime
