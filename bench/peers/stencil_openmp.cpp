// The star stencil with OpenMP's `parallel for` over the tiles, one loop per phase. With 0 threads
// it is the plain sequential program: the same tiles in the same order without OpenMP.
// Requests `n= radius= tile= iterations=`: nanoseconds of all iterations; one more goes before.

#include <memory>

#include "peers/peer.hpp"
#include "peers/stencil_grid.hpp"

namespace {

template <int R>
void iterate(peer::StencilGrid& grid, std::ptrdiff_t tile, std::int64_t iterations, int threads) {
  const std::ptrdiff_t n = grid.n;
  for (std::int64_t t = 0; t < iterations; ++t) {
#pragma omp parallel for collapse(2) num_threads(threads) if (threads > 0)
    for (std::ptrdiff_t ti = 0; ti < n; ti += tile) {
      for (std::ptrdiff_t tj = 0; tj < n; tj += tile) peer::star_tile<R>(grid, ti, tj, tile);
    }
#pragma omp parallel for collapse(2) num_threads(threads) if (threads > 0)
    for (std::ptrdiff_t ti = 0; ti < n; ti += tile) {
      for (std::ptrdiff_t tj = 0; tj < n; tj += tile) peer::increment_tile(grid, ti, tj, tile);
    }
  }
}

template <int R>
void iterate_sequentially(peer::StencilGrid& grid, std::ptrdiff_t tile, std::int64_t iterations) {
  const std::ptrdiff_t n = grid.n;
  for (std::int64_t t = 0; t < iterations; ++t) {
    for (std::ptrdiff_t ti = 0; ti < n; ti += tile) {
      for (std::ptrdiff_t tj = 0; tj < n; tj += tile) peer::star_tile<R>(grid, ti, tj, tile);
    }
    for (std::ptrdiff_t ti = 0; ti < n; ti += tile) {
      for (std::ptrdiff_t tj = 0; tj < n; tj += tile) peer::increment_tile(grid, ti, tj, tile);
    }
  }
}

template <int R>
double measure(peer::StencilGrid& grid, const peer::Request& request, int threads) {
  const std::ptrdiff_t tile = request["tile"];
  const std::int64_t iterations = request["iterations"];
  const auto run = [&](std::int64_t count) {
    threads > 0 ? iterate<R>(grid, tile, count, threads)
                : iterate_sequentially<R>(grid, tile, count);
  };
  grid.reset();
  run(1);
  const peer::Timer timer;
  run(iterations);
  const double ns = timer.ns();
  peer::check_stencil(grid, R, iterations + 1);
  return ns;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = peer::threads_of(argc, argv);
  std::unique_ptr<peer::StencilGrid> grid;
  return peer::serve([&](const peer::Request& request) {
    const std::ptrdiff_t n = request["n"];
    if (!grid || grid->n != n) {
      grid.reset();
      grid = std::make_unique<peer::StencilGrid>(n);
    }
    switch (request["radius"]) {
      case 1: return measure<1>(*grid, request, threads);
      case 2: return measure<2>(*grid, request, threads);
      case 3: return measure<3>(*grid, request, threads);
      case 4: return measure<4>(*grid, request, threads);
      default: throw std::runtime_error("the radius is 1 to 4");
    }
  });
}
