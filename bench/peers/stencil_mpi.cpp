// The Parallel Research Kernels' star stencil in plain MPI: blocks of the grid in two dimensions, whose rims go to the
// neighbours while what needs no rim is computed. The arithmetic of a row is that of apps/stencil, with radii up to 4.
//   mpirun -n RANKS peer_stencil_mpi N RADIUS ITERATIONS
// Prints the seconds of the iterations; fails unless the mean of |out| is what it has to be.

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "stencil/kernels.hpp"

namespace {

struct Setup {
  long n;
  long radius;
  long iterations;
};

struct Range {
  long begin, end;
  [[nodiscard]] long size() const { return end - begin; }
};

Range part(long n, int parts, int which) { return {n * which / parts, n * (which + 1) / parts}; }
Range within(Range range, Range bounds) {
  return {std::max(range.begin, bounds.begin), std::min(range.end, bounds.end)};
}

/// A rank's rows and columns of the grid, with a rim of the neighbours' points around `in`.
class Block {
 public:
  Block(const Setup& setup, MPI_Comm grid) : setup_(setup), grid_(grid) {
    int ranks[2], periods[2], own[2];
    MPI_Cart_get(grid, 2, ranks, periods, own);
    rows_ = part(setup.n, ranks[0], own[0]);
    columns_ = part(setup.n, ranks[1], own[1]);
    stride_ = columns_.size() + 2 * setup.radius;
    in_.resize(static_cast<std::size_t>((rows_.size() + 2 * setup.radius) * stride_));
    out_.assign(in_.size(), 0.0);
    for (long i = rows_.begin; i < rows_.end; ++i)
      for (long j = columns_.begin; j < columns_.end; ++j)
        *at(in_, i, j) = static_cast<double>(i + j);
    find_neighbours();
  }
  ~Block() {
    MPI_Type_free(&some_rows_);
    MPI_Type_free(&some_columns_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  [[nodiscard]] bool wide_enough() const {
    return rows_.size() >= setup_.radius && columns_.size() >= setup_.radius;
  }

  void iterate() {
    std::vector<MPI_Request> requests;
    for (const Neighbour& neighbour : neighbours_) {
      requests.emplace_back();
      MPI_Irecv(neighbour.theirs, 1, neighbour.rim, neighbour.rank, 0, grid_, &requests.back());
    }
    for (const Neighbour& neighbour : neighbours_) {
      requests.emplace_back();
      MPI_Isend(neighbour.ours, 1, neighbour.rim, neighbour.rank, 0, grid_, &requests.back());
    }
    const long r = setup_.radius;
    const Range inner_rows{rows_.begin + r, rows_.end - r};
    const Range inner_columns{columns_.begin + r, columns_.end - r};
    star(inner_rows, inner_columns);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    star({rows_.begin, std::min(inner_rows.begin, rows_.end)}, columns_);
    star({std::max(inner_rows.end, inner_rows.begin), rows_.end}, columns_);
    star(inner_rows, {columns_.begin, std::min(inner_columns.begin, columns_.end)});
    star(inner_rows, {std::max(inner_columns.end, inner_columns.begin), columns_.end});
    for (long i = rows_.begin; i < rows_.end; ++i)
      stencil::increment_row(at(in_, i, columns_.begin), columns_.size());
  }

  /// The sum of |out|.
  [[nodiscard]] double norm() const {
    double sum = 0;
    for (const double value : out_) sum += std::fabs(value);
    return sum;
  }

 private:
  struct Neighbour {
    int rank;
    MPI_Datatype rim;
    double* ours;    ///< of the rim that goes there
    double* theirs;  ///< of the one that comes from there
  };

  double* at(std::vector<double>& values, long i, long j) const {
    const long row = i - rows_.begin + setup_.radius, column = j - columns_.begin + setup_.radius;
    return values.data() + row * stride_ + column;
  }

  void find_neighbours() {
    const long r = setup_.radius;
    const auto rows = static_cast<int>(rows_.size()), columns = static_cast<int>(columns_.size());
    MPI_Type_vector(static_cast<int>(r), columns, static_cast<int>(stride_), MPI_DOUBLE,
                    &some_rows_);
    MPI_Type_vector(rows, static_cast<int>(r), static_cast<int>(stride_), MPI_DOUBLE,
                    &some_columns_);
    MPI_Type_commit(&some_rows_);
    MPI_Type_commit(&some_columns_);
    int above, below, left, right;
    MPI_Cart_shift(grid_, 0, 1, &above, &below);
    MPI_Cart_shift(grid_, 1, 1, &left, &right);
    const auto add = [&](int rank, MPI_Datatype rim, long i, long j, long their_i, long their_j) {
      if (rank != MPI_PROC_NULL)
        neighbours_.push_back({rank, rim, at(in_, i, j), at(in_, their_i, their_j)});
    };
    const long top = rows_.begin, bottom = rows_.end, first = columns_.begin, last = columns_.end;
    add(above, some_rows_, top, first, top - r, first);
    add(below, some_rows_, bottom - r, first, bottom, first);
    add(left, some_columns_, top, first, top, first - r);
    add(right, some_columns_, top, last - r, top, last);
  }

  /// Adds the star of `in` to `out` at those points of a part whose whole star is in the grid.
  void star(Range rows, Range columns) {
    const long r = setup_.radius;
    rows = within(rows, {r, setup_.n - r});
    columns = within(columns, {r, setup_.n - r});
    for (long i = rows.begin; i < rows.end; ++i) {
      const double* const in = at(in_, i, columns.begin);
      double* const out = at(out_, i, columns.begin);
      switch (r) {
        case 1: stencil::star_row<1>(out, in, stride_, columns.size()); break;
        case 2: stencil::star_row<2>(out, in, stride_, columns.size()); break;
        case 3: stencil::star_row<3>(out, in, stride_, columns.size()); break;
        default: stencil::star_row<4>(out, in, stride_, columns.size());
      }
    }
  }

  const Setup setup_;
  MPI_Comm grid_;
  Range rows_, columns_;
  long stride_;
  std::vector<double> in_, out_;
  MPI_Datatype some_rows_, some_columns_;
  std::vector<Neighbour> neighbours_;
};

/// Collective; the same everywhere.
bool run(const Setup& setup, MPI_Comm grid) {
  Block block(setup, grid);
  int enough = block.wide_enough() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, grid);
  int rank;
  MPI_Comm_rank(grid, &rank);
  if (enough == 0) {
    if (rank == 0) std::fprintf(stderr, "peer_stencil_mpi: blocks are smaller than the radius\n");
    return false;
  }
  block.iterate();  // pages and connections are made
  MPI_Barrier(grid);
  double seconds = -MPI_Wtime();
  for (long t = 0; t < setup.iterations; ++t) block.iterate();
  seconds += MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, grid);
  double norm = block.norm();
  MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPI_DOUBLE, MPI_SUM, grid);
  const double side = static_cast<double>(setup.n - 2 * setup.radius);
  const double error = norm / (side * side) - 2.0 * static_cast<double>(setup.iterations + 1);
  const bool right = std::fabs(error) <= 1e-8;
  if (rank == 0) std::printf("%.6f s, check %s\n", seconds, right ? "passed" : "FAILED");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Setup setup{};
  if (argc == 4) setup = {std::atol(argv[1]), std::atol(argv[2]), std::atol(argv[3])};
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bool right = false;
  if (setup.radius < 1 || setup.radius > 4 || setup.n <= 2 * setup.radius || setup.iterations < 1) {
    if (rank == 0) std::fprintf(stderr, "usage: peer_stencil_mpi N RADIUS ITERATIONS\n");
  } else {
    int shape[2] = {0, 0};
    const int periods[2] = {0, 0};
    MPI_Dims_create(ranks, 2, shape);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periods, 0, &grid);
    right = run(setup, grid);
    MPI_Comm_free(&grid);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
