#include "graph/replay_aside.hpp"

#include <utility>

#include "graph/scope.hpp"

namespace refrain::exec {

void ReplayAside::fail(std::uint32_t index, const Failure& failure) {
  {
    const std::lock_guard lock(mutex_);
    FailureRef& carried = failures_[index];
    if (carried.get() != nullptr && !comes_before(failure, *carried.get(), scope_.identity()))
      return;
    carried = FailureRef(&failure);
  }
  set_event(kFailures);
}

void ReplayAside::threw(std::uint32_t index, FailureRef failure) {
  {
    const std::lock_guard lock(mutex_);
    failures_[index] = std::move(failure);
  }
  set_event(kFailures);
}

const Failure* ReplayAside::failure_of(std::uint32_t index) const {
  // acquire: partner of set_event.
  if ((replay_.events.load(std::memory_order_acquire) & kFailures) == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = failures_.find(index);
  return found == failures_.end() ? nullptr : found->second.get();
}

void ReplayAside::prepare_exits() {
  if (!exits_) exits_ = std::make_unique<Exit[]>(template_.size());
}

void ReplayAside::open_exit(std::uint32_t index, Node& stand_in) noexcept {
  set_event(kExits);
  exits_[index].named = &stand_in;
  opened_.push_back(index);
  // release: partner of the exchange in claim, the stand-in is readable. acquire: the same the other way
  // round, when that came first and found nothing: the operation is seen to be done then.
  exits_[index].open.exchange(&stand_in, std::memory_order_acq_rel);
}

Node* ReplayAside::claim(std::uint32_t index) {
  // acquire and release: of two who claim, the second sees what the first did before; partner: itself and
  // the exchange in open_exit.
  Node* stand_in = exits_[index].open.exchange(nullptr, std::memory_order_acq_rel);
  if (stand_in == nullptr) return nullptr;
  if (const Failure* failure = failure_of(index)) pass_failure(*failure, *stand_in);
  return stand_in;
}

void ReplayAside::clear() {
  ends_chain = in_order = false;
  counted = 0;
  for (const std::uint32_t index : opened_) exits_[index].named = nullptr;
  opened_.clear();
  if (replay_.events.load(std::memory_order_relaxed) & kFailures) {
    const std::lock_guard lock(mutex_);
    failures_.clear();
  }
  replay_.events.store(0, std::memory_order_relaxed);
}

}  // namespace refrain::exec
