// Lesson 6: tasks that launch tasks: merge sort.
#include <refrain/refrain.hpp>

#include <algorithm>
#include <cstdio>
using namespace refrain;

constexpr Coord total = 200'000, small = 10'000;
struct Item { static constexpr Field<int> key{"key"}; };

// A body that launches its own task needs a name of its own.
struct SortBody { void operator()(ReadWrite<int> keys, Context& ctx) const; };
const Task sort{"sort", SortBody{}};
const Task merge{"merge", [](ReadWrite<int> keys) {
  const auto points = keys.domain().bounds();
  int* first = keys.pointer(points.lo);
  const auto length = static_cast<Coord>(points.volume());
  std::inplace_merge(first, first + length / 2, first + length);
}};

void SortBody::operator()(ReadWrite<int> keys, Context& ctx) const {
  const auto points = keys.domain().bounds();
  if (const auto length = static_cast<Coord>(points.volume()); length <= small) {
    int* first = keys.pointer(points.lo);
    std::sort(first, first + length);
    return;
  }
  auto halves = ctx.blocks(keys.region(), 2);
  ctx.launch(sort, 2, halves[Item::key]);
  ctx.launch(merge, keys.region()[Item::key]);  // after both halves; this task ends after it
}

const Task shuffle{"shuffle", [](Write<int> keys) {
  for (auto p : keys.domain()) keys[p] = static_cast<int>(p * 7919 % total);
}};

int main(int argc, char** argv) {
  return refrain::run(argc, argv, [](Context& ctx) {
    auto items = ctx.region(Rect1{0, total - 1}, Item::key);
    ctx.launch(shuffle, items[Item::key]);
    ctx.launch(sort, items[Item::key]);
    auto keys = ctx.access<Read>(items[Item::key]);
    const bool sorted = std::is_sorted(keys.pointer(0), keys.pointer(0) + total);
    std::printf("%s: %d %d %d ... %d\n", sorted ? "sorted" : "NOT sorted", keys[0], keys[1], keys[2],
                keys[total - 1]);
  });
}
