// The programs of bench/sparse: unstructured pieces. Run as
//   peer_sparse_refrain THREADS WHAT "key=number ..."
// WHAT, and the shape it takes:
//   first      `rectangles=` `fields=`: pieces of 256 rectangles (in one dimension, or with `dim=2` in two) that are dealt
//              out round robin; counts the instructions of the first launch that writes all fields of them, with
//              `again=1` those of the third one
//   bytes      the same; answers requests with the bytes that the first launch has taken
//   dense      `rectangles=` `fields=`: as many pieces, each a block; counts as with again=1
//   record     `points=`: a group of so many points with a halo of one, twice a round; answers with the nanoseconds per
//              point of a round that is recorded, with `counted=1` counts its instructions. `before=`: so many rounds
//              were analysed before it
//   gather     `points=` `runs=`: so many points in so many runs that are spread over 10^12, read once each in a random order;
//              answers to `by=` with the nanoseconds per point: 0 by positions in an array, 1 by positions that are numbered once, 2 by
//              point; and to `bytes=1` with the bytes that a field of these points takes per point
//   nested     `partitions=` `points=` `rounds=`: partitions of one region, each with a point less per piece, used in turn;
//              answers with nanoseconds per point over so many rounds, recorded (`marked=1`), or analysed after four others;
//              `counted=1` as above

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "peers/peer.hpp"
#include "peers/refrain_options.hpp"
#include "refrain/refrain.hpp"
#include "support/callgrind.hpp"
#include "support/memory.hpp"

namespace {

using namespace refrain;

constexpr Coord rectangles_per_piece = 256, width = 3;
constexpr Field<double> values[]{Field<double>{"a"}, Field<double>{"b"}, Field<double>{"c"},
                                 Field<double>{"d"}, Field<double>{"e"}, Field<double>{"f"},
                                 Field<double>{"g"}};
constexpr Field<double> other{"other"};

const Task set_one{"set", [](Write<double>) {}};
const Task set_all{"set", [](Write<double>, Write<double>, Write<double>, Write<double>,
                             Write<double>, Write<double>, Write<double>) {}};
const Task set_plane{"set", [](Write<double, 2>) {}};
const Task set_planes{"set",
                      [](Write<double, 2>, Write<double, 2>, Write<double, 2>, Write<double, 2>,
                         Write<double, 2>, Write<double, 2>, Write<double, 2>) {}};
const Task exchange{"exchange", [](Write<double>, Read<double>) {}};
const Task change{"change", [](ReadWrite<double>) {}};

constexpr Field<Coord> place{"place"}, numbered{"numbered"};
struct Gathered {
  double ns = 0, sum = 0;
};
template <class Value>
Gathered gather_all(Read<Coord> where, const Value& value) {
  const auto all = where.row(0, where.domain().volume());
  Gathered result;
  const peer::Timer timer;
  for (const Coord p : all) result.sum += value(p);
  result.ns = timer.ns();
  return result;
}
const Task number_places{"number_places", [](ReadWrite<Coord> where, Read<double> x) {
                           for (auto i : where.domain())
                             where[i] = static_cast<Coord>(x.position(where[i]));
                         }};
const Task gather{"gather", [](Read<Coord> positions, Read<double> x) {
                    return gather_all(positions, [all = x.values()](Coord i) { return all[i]; });
                  }};
const Task gather_by_point{"gather_by_point", [](Read<Coord> points, Read<double> x) {
                             return gather_all(points, [&x](Coord p) { return x[p]; });
                           }};

/// `rectangles` of `width` points, side by side in a line.
std::vector<IndexSpace<1>> dealt_out(Coord rectangles) {
  const Coord pieces = std::max<Coord>(1, rectangles / rectangles_per_piece);
  std::vector<std::vector<Rect1>> boxes(static_cast<std::size_t>(pieces));
  for (Coord i = 0; i < rectangles; ++i)
    boxes[static_cast<std::size_t>(i % pieces)].push_back({i * width, i * width + width - 1});
  return {boxes.begin(), boxes.end()};
}

/// The same in a plane of rows of 1024 rectangles, of 2 x `width` points each.
std::vector<IndexSpace<2>> dealt_out_in_plane(Coord rectangles) {
  const Coord pieces = std::max<Coord>(1, rectangles / rectangles_per_piece);
  std::vector<std::vector<Rect2>> boxes(static_cast<std::size_t>(pieces));
  for (Coord i = 0; i < rectangles; ++i) {
    const Coord row = i / 1024 * 2, column = i % 1024 * width;
    boxes[static_cast<std::size_t>((i * 7 + i / 1024) % pieces)].push_back(
        {{row, column}, {row + 1, column + width - 1}});
  }
  return {boxes.begin(), boxes.end()};
}

template <int N>
void launch_on(Context& context, const Partition<N>& pieces, std::int64_t fields) {
  const auto count = static_cast<std::int64_t>(pieces.pieces());
  const auto& [a, b, c, d, e, f, g] = values;
  if constexpr (N == 1) {
    if (fields == 1) context.launch(set_one, count, pieces[a]);
    else
      context.launch(set_all, count, pieces[a], pieces[b], pieces[c], pieces[d], pieces[e],
                     pieces[f], pieces[g]);
  } else {
    if (fields == 1) context.launch(set_plane, count, pieces[a]);
    else
      context.launch(set_planes, count, pieces[a], pieces[b], pieces[c], pieces[d], pieces[e],
                     pieces[f], pieces[g]);
  }
  context.fence();
}

template <int N>
Region<N> region_of(Context& context, const Rect<N>& points) {
  const auto& [a, b, c, d, e, f, g] = values;
  return context.region(points, a, b, c, d, e, f, g);
}

template <int N>
int count_or_weigh(Context& context, const std::string& what, const peer::Request& shape,
                   const Partition<N>& pieces) {
  if (what == "bytes") {
    const std::size_t before = bench::resident_bytes();
    launch_on(context, pieces, shape["fields"]);
    const auto taken = static_cast<double>(bench::resident_bytes()) - static_cast<double>(before);
    return peer::serve([&](const peer::Request&) { return taken; });
  }
  if (what == "dense" || shape["again"] != 0) {
    launch_on(context, pieces, shape["fields"]);
    launch_on(context, pieces, shape["fields"]);
  }
  const bench::Collect collect;
  launch_on(context, pieces, shape["fields"]);
  return 0;
}

int first_sight(Context& context, const std::string& what, const peer::Request& shape) {
  const Coord rectangles = shape["rectangles"];
  if (shape["dim"] == 2) {
    const auto region =
        region_of(context, Rect2{{0, 0}, {(rectangles + 1023) / 1024 * 2 - 1, 1024 * width - 1}});
    return count_or_weigh(context, what, shape,
                          context.partition(region, dealt_out_in_plane(rectangles)));
  }
  const auto region = region_of(context, Rect1{0, rectangles * width - 1});
  if (what == "dense")
    return count_or_weigh(
        context, what, shape,
        context.blocks(region, std::max<Coord>(1, rectangles / rectangles_per_piece)));
  return count_or_weigh(context, what, shape, context.partition(region, dealt_out(rectangles)));
}

/// Nanoseconds; counts instructions where that is asked for.
template <class Run>
double measured(const Run& run) {
  const bench::Collect collect;
  const peer::Timer timer;
  run();
  return timer.ns();
}

template <class Measure>
int serve_or_count(const peer::Request& shape, const Measure& measure) {
  if (!shape.has("counted")) return peer::serve(measure);
  measure(shape);
  return 0;
}

int record(Context& context, const peer::Request& shape) {
  const Coord points = shape["points"];
  const auto measure = [&](const peer::Request&) {
    const auto region = context.region(Rect1{0, 4 * points - 1}, values[0], other);
    const auto own = context.blocks(region, points);
    const auto around = context.halo(own, 1);
    const auto round = [&] {
      context.launch(exchange, points, own[other], around[values[0]]);
      context.launch(exchange, points, own[values[0]], around[other]);
    };
    for (std::int64_t i = shape["before"]; i > 0; --i) round();
    context.fence();
    const Trace trace{"round"};  // of its own: another one would have recordings
    const double ns = measured([&] {
      context.trace(trace, round);
      context.fence();
    });
    context.destroy(region);
    context.fence();
    return ns / static_cast<double>(2 * points);
  };
  return serve_or_count(shape, measure);
}

int gather_far(Context& context, const peer::Request& shape) {
  const Coord points = shape["points"], runs = shape["runs"];
  const Coord apart = 1'000'000'000'000 / runs, length = points / runs;
  std::vector<Rect1> rects;
  std::vector<Coord> coordinates, positions(static_cast<std::size_t>(runs * length));
  for (Coord i = 0; i < runs; ++i) {
    rects.push_back({i * apart, i * apart + length - 1});
    for (Coord j = 0; j < length; ++j) coordinates.push_back(i * apart + j);
  }
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<Coord>(i);
  std::ranges::shuffle(positions, std::mt19937_64(1));
  const std::vector<double> plain(positions.size(), 0.5);

  const auto far = context.region(IndexSpace<1>(rects), values[0], other);
  const auto list = context.region(Rect1{0, runs * length - 1}, place, numbered);
  context.fill(far, values[0], 0.5);
  {
    const auto where = context.access<Write>(list[place]);
    for (std::size_t i = 0; i < positions.size(); ++i)
      where[static_cast<Coord>(i)] = coordinates[static_cast<std::size_t>(positions[i])];
  }
  context.copy(list[place], list[numbered]);
  context.launch(number_places, list[numbered], far[values[0]]);
  context.fence();
  const std::size_t before = bench::resident_bytes();
  context.fill(far, other, 0.5);
  static_cast<void>(context.access<Read>(far[other])[0]);
  const double bytes = static_cast<double>(bench::resident_bytes()) - static_cast<double>(before);

  return peer::serve([&](const peer::Request& request) {
    const auto count = static_cast<double>(positions.size());
    if (request.has("bytes")) return bytes / count;
    Gathered result;
    if (request["by"] == 1) {
      result = context.launch(gather, list[numbered], far[values[0]]).get();
    } else if (request["by"] == 2) {
      result = context.launch(gather_by_point, list[place], far[values[0]]).get();
    } else {
      const peer::Timer timer;
      for (const Coord p : positions) result.sum += plain[static_cast<std::size_t>(p)];
      result.ns = timer.ns();
    }
    if (result.sum != 0.5 * count) throw std::runtime_error("the sum is wrong");
    return result.ns / count;
  });
}

int nested(Context& context, const peer::Request& shape) {
  const Coord count = shape["partitions"], points = shape["points"], rounds = shape["rounds"];
  const bool marked = shape["marked"] != 0;
  return serve_or_count(shape, [&](const peer::Request&) {
    const Coord length = points * 1024;
    const auto region = context.region(Rect1{0, length - 1}, values[0]);
    // Partition k has the first points of all blocks, but for the last k.
    std::vector<Partition<1>> partitions;
    for (Coord k = 0; k < count; ++k) {
      std::vector<Rect1> pieces;
      for (Coord p = 0; p < points; ++p) pieces.push_back({p * 1024, p * 1024 + 1023 - k});
      partitions.push_back(context.partition(region, pieces));
    }
    const Trace trace{"round"};
    const auto launch_all = [&] {
      for (const auto& each : partitions) context.launch(change, points, each[values[0]]);
    };
    const auto round = [&] {
      if (marked) context.trace(trace, launch_all);
      else launch_all();
    };
    if (!marked) {
      for (int before = 0; before < 4; ++before) round();
      context.fence();
    }
    const double ns = measured([&] {
      for (Coord done = 0; done < rounds; ++done) round();
      context.fence();
    });
    context.destroy(region);
    context.fence();
    return ns / static_cast<double>(rounds * count * points);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s THREADS first|bytes|dense|record|gather|nested SHAPE\n",
                 argv[0]);
    return 2;
  }
  const peer::Request shape(argv[3]);
  const std::string what = peer::variant_of(argc, argv);
  Runtime runtime(peer::refrain_options(peer::threads_of(argc, argv)));
  int result = 1;
  runtime.run([&](Context& context) {
    if (what == "record") result = record(context, shape);
    else if (what == "gather") result = gather_far(context, shape);
    else if (what == "nested") result = nested(context, shape);
    else result = first_sight(context, what, shape);
  });
  return result;
}
