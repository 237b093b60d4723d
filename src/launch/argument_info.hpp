#pragma once
// What a checked accessor knows of its argument, for the check and for the message. Lives on the stack of
// the running task (or in the open access of the program).

#include "launch/launch_plan.hpp"
#include "refrain/accessor.hpp"

namespace refrain::detail {

/// Asked whether a child task may be changing an argument at this moment.
class Lending {
 public:
  [[nodiscard]] virtual bool is_lent(std::size_t argument) const = 0;

 protected:
  ~Lending() = default;
};

struct ArgumentInfo {
  const runtime::LaunchPlan* plan = nullptr;
  std::size_t rank = 0;
  std::size_t argument = 0;
  const Lending* lending = nullptr;

  [[nodiscard]] const runtime::PlannedArgument& planned() const {
    return plan->arguments[rank * plan->requirements.size() + argument];
  }
  [[nodiscard]] const data::IndexSpace& points() const { return *planned().points; }
  [[nodiscard]] bool lent() const { return lending != nullptr && lending->is_lent(argument); }
};

}  // namespace refrain::detail
