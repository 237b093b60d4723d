#pragma once
// A call of the program, with all that it is given, as listeners are told it (Events::program). Handles are those of the
// program; what the members point to is good during the event.

#include <cstddef>
#include <cstdint>

#include "capture/captured_program.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/privilege.hpp"
#include "refrain/where.hpp"

namespace refrain {
class Trace;
}

namespace refrain::runtime {

struct ProgramCall {
  capture::CallKind kind;
  Where where;
  const AnyRegion* region = nullptr;
  const AnyPartition* partition = nullptr;
  const AnyField* field = nullptr;
  const AnyRegion* target = nullptr;  ///< of a copy
  const AnyField* target_field = nullptr;
  Privilege privilege = Privilege::read;
  std::uint64_t ticket = 0;  ///< of an access
  const LaunchRequest* launch = nullptr;
  const ReductionOp* op = nullptr;
  const detail::FutureState* future = nullptr;  ///< what is filled in, reduced or waited for
  const Trace* trace = nullptr;
  std::uint64_t number = 0;  ///< FutureState::call of the future that a launch or a reduction makes
};

}  // namespace refrain::runtime
