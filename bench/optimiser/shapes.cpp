#include "optimiser/shapes.hpp"

#include <utility>

namespace refrain::bench {

namespace {

using trace::RecordedEdges;

/// The last users of each piece, and the edges that follow from them. Tasks are numbered over two replays.
class Pieces {
 public:
  Pieces(std::size_t pieces, std::uint32_t tasks) : uses_(pieces), tasks_(tasks) {}

  void read(std::uint32_t task, std::size_t piece) {
    Use& use = uses_[piece];
    if (use.written) add(use.writer, task);
    use.readers.push_back(task);
  }
  void write(std::uint32_t task, std::size_t piece) {
    Use& use = uses_[piece];
    if (use.written && use.readers.empty()) add(use.writer, task);
    for (const std::uint32_t reader : use.readers) {
      if (reader != task) add(reader, task);
    }
    use = {true, task, {}};
  }
  RecordedEdges take() { return std::move(edges_); }

 private:
  struct Use {
    bool written = false;
    std::uint32_t writer = 0;
    std::vector<std::uint32_t> readers;
  };

  void add(std::uint32_t from, std::uint32_t to) {
    if (to < tasks_) edges_.inner.push_back({from, to});
    else if (from < tasks_) edges_.carried.push_back({from, to - tasks_});
  }

  std::vector<Use> uses_;
  std::uint32_t tasks_;
  RecordedEdges edges_;
};

void run_chains(Pieces& pieces, std::uint32_t task, std::uint32_t place) {
  pieces.read(task, place % 16);
  pieces.write(task, place % 16);
}

void run_stencil(Pieces& pieces, std::uint32_t task, std::uint32_t place) {
  const std::uint32_t tile = place % 64, step = place / 64;
  const std::uint32_t from = step % 2 * 64, to = 64 - from;
  for (const std::uint32_t beside : {63u, 0u, 1u}) pieces.read(task, from + (tile + beside) % 64);
  pieces.write(task, to + tile);
}

/// Every bit of the result depends on all of x (splitmix64).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

void run_random(Pieces& pieces, std::uint32_t task, std::uint32_t place, std::uint32_t width) {
  std::uint64_t state = mix(place + 1);  // the same in both replays
  const auto random = [&] { return mix(state += 0x9e3779b97f4a7c15ull); };
  for (int i = 0; i < 3; ++i) pieces.read(task, random() % width);
  pieces.write(task, random() % width);
}

}  // namespace

const std::vector<std::string> recording_shapes{"chains", "stencil", "wide", "tangled"};

RecordedEdges recorded_edges(const std::string& shape, std::uint32_t tasks) {
  const std::uint32_t width = shape == "tangled" ? 4096 : 128;
  Pieces pieces(width, tasks);
  for (std::uint32_t task = 0; task < 2 * tasks; ++task) {
    const std::uint32_t place = task % tasks;
    if (shape == "chains") run_chains(pieces, task, place);
    else if (shape == "stencil") run_stencil(pieces, task, place);
    else run_random(pieces, task, place, shape == "wide" ? 64 : width);
  }
  return pieces.take();
}

}  // namespace refrain::bench
