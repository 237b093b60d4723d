#pragma once
// What calls are named in the oracle's files: for people, and so that the token can be had back.
//
//   "calc_new_currents 0x5d1f0c9e7a34b682"            a launch of that task
//   "fill 0x0f33a1b2c3d4e5f6"                         another call
//   "calc_new_currents 0x5d1f0c9e7a34b682, marked"    one within a trace that the program marks
//   "access"                                          one that cannot be traced

#include <optional>
#include <string>
#include <string_view>

#include "repeats/repeats.hpp"
#include "report/call_log.hpp"

namespace refrain::runtime {

[[nodiscard]] std::string call_name(const CallLog::Call& call);

struct NamedCall {
  autotrace::Token token = 0;
  bool marked = false;
};
/// None: it cannot be traced, or this is no such name.
[[nodiscard]] std::optional<NamedCall> call_named(std::string_view name);

}  // namespace refrain::runtime
