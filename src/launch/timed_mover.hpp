#pragma once
// Moves values as the CPU's mover does, and tells listeners how long each move took (Events::bodies).
// Threads: as Mover; listeners say themselves who may call them.

#include "launch/listener.hpp"
#include "memory/mover.hpp"

namespace refrain::runtime {

class TimedMover final : public memory::Mover {
 public:
  explicit TimedMover(const Listeners& listeners) : listeners_(listeners) {}

  void copy(const data::IndexSpace& points, const memory::Placement& target,
            const memory::Placement& source, std::size_t value_size) const override {
    const Listener::Used used[] = {use(points, source, value_size, true, false),
                                   use(points, target, value_size, false, true)};
    timed(exec::NodeKind::copy, used,
          [&] { memory::cpu_mover().copy(points, target, source, value_size); });
  }
  void fill(const data::IndexSpace& points, const memory::Placement& target, const void* value,
            std::size_t value_size) const override {
    const Listener::Used used[] = {use(points, target, value_size, false, true)};
    timed(exec::NodeKind::fill, used,
          [&] { memory::cpu_mover().fill(points, target, value, value_size); });
  }
  void fold(const data::IndexSpace& points, const memory::Placement& target,
            detail::Accumulator& contributions, bool shared) const override {
    const Listener::Used used[] = {use(points, target, contributions.value_size(), true, true)};
    timed(exec::NodeKind::fold, used,
          [&] { memory::cpu_mover().fold(points, target, contributions, shared); });
  }

 private:
  static Listener::Used use(const data::IndexSpace& points, const memory::Placement& placement,
                            std::size_t value_size, bool reads, bool writes) {
    return {&placement, &points, points.volume() * value_size, reads, writes};
  }
  template <class Work>
  void timed(exec::NodeKind kind, std::span<const Listener::Used> used, Work work) const {
    const std::uint64_t begin = profile::now_ns();
    work();
    if (Listener* told = listeners_.of(Events::bodies))
      told->moved({kind, used.back().bytes, profile::now_ns() - begin, used});
  }

  const Listeners& listeners_;
};

}  // namespace refrain::runtime
