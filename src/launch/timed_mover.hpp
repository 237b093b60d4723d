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
    timed(exec::NodeKind::copy, points.volume() * value_size,
          [&] { memory::cpu_mover().copy(points, target, source, value_size); });
  }
  void fill(const data::IndexSpace& points, const memory::Placement& target, const void* value,
            std::size_t value_size) const override {
    timed(exec::NodeKind::fill, points.volume() * value_size,
          [&] { memory::cpu_mover().fill(points, target, value, value_size); });
  }
  void fold(const data::IndexSpace& points, const memory::Placement& target,
            detail::Accumulator& contributions, bool shared) const override {
    timed(exec::NodeKind::fold, points.volume() * contributions.value_size(),
          [&] { memory::cpu_mover().fold(points, target, contributions, shared); });
  }

 private:
  template <class Work>
  void timed(exec::NodeKind kind, std::size_t bytes, Work work) const {
    const std::uint64_t begin = profile::now_ns();
    work();
    if (Listener* told = listeners_.of(Events::bodies))
      told->moved({kind, bytes, profile::now_ns() - begin});
  }

  const Listeners& listeners_;
};

}  // namespace refrain::runtime
