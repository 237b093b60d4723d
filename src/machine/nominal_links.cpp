// What copies cost on common server hardware. The figures rank copies; nobody measured them.

#include "machine/machine.hpp"

namespace refrain::machine {
namespace {

struct Speed {
  double bandwidth;  // bytes per second
  double latency;    // seconds
};

constexpr Speed same_domain{10e9, 100e-9}, across_domains{8e9, 250e-9};
constexpr Speed framebuffer{400e9, 2e-6};
constexpr Speed pcie{12e9, 5e-6};   // of the third generation
constexpr Speed peers{20e9, 5e-6};  // two GPUs that reach each other directly

Speed speed_between(const Memory& a, const Memory& b) {
  const bool on_gpu_a = a.kind == MemoryKind::framebuffer;
  const bool on_gpu_b = b.kind == MemoryKind::framebuffer;
  if (on_gpu_a && on_gpu_b) return a.id == b.id ? framebuffer : peers;
  if (on_gpu_a || on_gpu_b) return pcie;
  return a.numa == b.numa ? same_domain : across_domains;
}

}  // namespace

void Description::add_nominal_links() {
  for (const Memory& a : memories) {
    const Speed inside = speed_between(a, a);
    links.push_back({a.id, a.id, inside.bandwidth, inside.latency});
    for (MemoryId b = a.id + 1; b < memories.size(); ++b) {
      const Speed between = speed_between(a, memories[b]);
      join(a.id, b, between.bandwidth, between.latency);
    }
  }
}

}  // namespace refrain::machine
