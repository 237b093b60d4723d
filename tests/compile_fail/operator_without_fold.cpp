// expect: a reduction operator has a static member name, and static member functions
#include <refrain/refrain.hpp>

using namespace refrain;

struct Last {
  static constexpr std::string_view name = "last";
  template <class T>
  static constexpr T identity() {
    return T{};
  }
};
const Task keep{"keep", [](Reduce<Last, double> x) { x.reduce(0, 1.0); }};
