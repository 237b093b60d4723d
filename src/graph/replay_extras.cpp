#include "graph/replay_extras.hpp"

#include <utility>

#include "graph/scope.hpp"

namespace refrain::exec {

void ReplayExtras::fail(std::uint32_t index, const Failure& failure) {
  {
    const std::lock_guard lock(mutex_);
    FailureRef& carried = failures_[index];
    if (carried.get() != nullptr && !comes_before(failure, *carried.get(), scope_.identity()))
      return;
    carried = FailureRef(&failure);
  }
  set_event(kFailures);
}

void ReplayExtras::threw(std::uint32_t index, FailureRef failure) {
  {
    const std::lock_guard lock(mutex_);
    failures_[index] = std::move(failure);
  }
  set_event(kFailures);
}

const Failure* ReplayExtras::failure_of(std::uint32_t index) const {
  // acquire: partner of set_event.
  if ((replay_.events.load(std::memory_order_acquire) & kFailures) == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = failures_.find(index);
  return found == failures_.end() ? nullptr : found->second.get();
}

void ReplayExtras::prepare_proxies() {
  if (!proxies_) proxies_ = std::make_unique<Proxy[]>(template_.size());
}

void ReplayExtras::add_proxy(std::uint32_t index, Node& proxy) noexcept {
  set_event(kProxies);
  proxies_[index].named = &proxy;
  opened_.push_back(index);
  // release: partner of the exchange in claim, the proxy is readable. acquire: the same the other way
  // round, when that came first and found nothing: the operation is seen to be done then.
  proxies_[index].open.exchange(&proxy, std::memory_order_acq_rel);
}

Node* ReplayExtras::claim(std::uint32_t index) {
  // acquire and release: of two who claim, the second sees what the first did before; partner: itself and
  // the exchange in add_proxy.
  Node* proxy = proxies_[index].open.exchange(nullptr, std::memory_order_acq_rel);
  if (proxy == nullptr) return nullptr;
  if (const Failure* failure = failure_of(index)) pass_failure(*failure, *proxy);
  return proxy;
}

void ReplayExtras::clear() {
  ends_chain = in_order = false;
  counted = 0;
  for (const std::uint32_t index : opened_) proxies_[index].named = nullptr;
  opened_.clear();
  if (replay_.events.load(std::memory_order_relaxed) & kFailures) {
    const std::lock_guard lock(mutex_);
    failures_.clear();
  }
  replay_.events.store(0, std::memory_order_relaxed);
}

}  // namespace refrain::exec
