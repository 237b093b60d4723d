#pragma once
// Inline access: how the program itself, or a task between its launches, reads and writes a region.

#include <cstdint>
#include <memory>
#include <utility>

#include "refrain/accessor.hpp"

namespace refrain {

namespace runtime {
class ContextImpl;
/// A context of the program that something may outlive: null when it has ended.
using LivingContext = std::shared_ptr<ContextImpl*>;
LivingContext living(ContextImpl& context);
void end_access(ContextImpl& context, std::uint64_t ticket) noexcept;
}  // namespace runtime

/// An accessor of the program itself (inline access); the data is the program's until the end of the
/// scope. Launches that conflict with it wait for that, so waiting for one of them inside is a Deadlock.
/// It ends with its context at the latest, and must not be used after that.
template <class Accessor>
class Access : public Accessor {
 public:
  Access(runtime::LivingContext context, std::uint64_t ticket, const PhysicalArgument& argument)
      : Accessor(argument), context_(std::move(context)), ticket_(ticket) {}
  Access(Access&& other) noexcept
      : Accessor(other), context_(std::move(other.context_)), ticket_(other.ticket_) {}
  Access& operator=(Access&&) = delete;
  ~Access() {
    if (context_ && *context_ != nullptr) runtime::end_access(**context_, ticket_);
  }

 private:
  runtime::LivingContext context_;
  std::uint64_t ticket_;
};

}  // namespace refrain
