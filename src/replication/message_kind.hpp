#pragma once
// What messages between ranks are for.

#include <cstdint>
#include <string>

namespace refrain::replication {

enum class MessageKind : std::uint32_t {
  values = 1,     ///< of a field
  contributions,  ///< to a reduction
  future,
  agreement,  ///< on the first failure
  start,      ///< the ranks were started alike
  end,        ///< the program has ended
  error,      ///< so it has, with an error
  calls,      ///< comparisons of the calls, and the calls themselves where they differ
  differing_calls,
  report,  ///< of all ranks, at the end
  hang,    ///< beside the others (net/hang_watch.hpp)
};

constexpr std::uint32_t number_of(MessageKind kind) { return static_cast<std::uint32_t>(kind); }

/// As reports call it: "values".
inline std::string name_of_kind(std::uint32_t kind) {
  switch (static_cast<MessageKind>(kind)) {
    case MessageKind::values: return "values";
    case MessageKind::contributions: return "contributions";
    case MessageKind::future: return "a future's value";
    case MessageKind::agreement: return "the agreement on failures";
    case MessageKind::start: return "the agreement at the start";
    case MessageKind::end: return "the end of the program";
    case MessageKind::error: return "the error that ends the program";
    case MessageKind::calls: return "the comparison of calls";
    case MessageKind::differing_calls: return "the calls that differ";
    case MessageKind::report: return "a report";
    case MessageKind::hang: break;
  }
  return "kind " + std::to_string(kind);
}

}  // namespace refrain::replication
