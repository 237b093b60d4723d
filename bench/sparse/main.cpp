// What unstructured pieces cost the analysis.
//   first    instructions per rectangle of the first launch on pieces of 256 rectangles each, 10^3 to 10^6 rectangles, for
//            one field and for seven of one region. Bars: at most 500; seven fields at most 1.3 times one
//   bytes    that this launch takes, per rectangle
//   again    instructions per point of a launch on pieces that were seen before, beside one on dense blocks; at most 2
//            times as many
//   record   ns per point of recording a round of two launches with a halo, after two rounds that were analysed; at most
//            2,000, and no more for 20,000 points than for 1,000 but for 1.5 times. `first-record`: the first round,
//            which is seen for the first time, too
//   gather   10^6 points in runs of 1,000, 100 or 1 that are spread over 10^12, read in a random order: at most 1.5 times the
//            time of an array; the bytes of a field, at most 2 times those of its values
//   nested   ns per point where so many partitions of one region, each a little smaller, are used in turn: at most 2 times
//            as many for 400 as for 10. Of the first two rounds after a fence; `nested-steady`: of 20;
//            `nested-recorded`: of a round that is recorded and the next one
// The programs are those of peer_sparse_refrain (peers/sparse_refrain.cpp), on one thread.

#include <cstdio>
#include <string>
#include <vector>

#include "support/callgrind.hpp"
#include "support/options.hpp"
#include "support/peer_process.hpp"
#include "support/records.hpp"

namespace {

using namespace refrain::bench;

class Sparse {
 public:
  Sparse(const Options& options, Records& records)
      : options_(options), records_(records), program_(options.peers + "/peer_sparse_refrain") {}

  void first_sight(int dim, const std::vector<long>& sizes) {
    for (const long size : sizes) {
      double of_one = 0;
      for (const int fields : {1, 7}) {
        const std::string shape = shape_of(dim, size, fields);
        const double count = counted("first", shape + " again=0") / static_cast<double>(size);
        add("first", dim, fields, size, "instructions_per_rectangle", "", {count, count, count});
        if (fields == 1) of_one = count;
        const bool met = fields == 1 ? count <= 500 : count <= 1.3 * of_one;
        std::printf(
            "  %dD %8ld rectangles, %d fields: %7.1f instructions a rectangle  bar %s  %s\n", dim,
            size, fields, count, fields == 1 ? "500" : "1.3 times one field", verdict(met));
        Peer peer(program_, {"1", "bytes", shape + " again=0"});
        const double bytes = peer.ask("") / static_cast<double>(size);
        add("first", dim, fields, size, "bytes_per_rectangle", "B", {bytes, bytes, bytes});
        std::printf("     %.0f bytes a rectangle\n", bytes);
        std::fflush(stdout);
      }
    }
  }

  void again(long size) {
    const std::string shape = shape_of(1, size, 1) + " again=1";
    const double points = static_cast<double>(size) / 256;
    const double sparse = counted("first", shape) / points,
                 dense = counted("dense", shape) / points;
    add("again", 1, 1, size, "instructions_per_point", "", {sparse, sparse, sparse});
    add("dense", 1, 1, size, "instructions_per_point", "", {dense, dense, dense});
    std::printf(
        "  seen before: %.0f instructions a point, dense blocks %.0f: %.2f times  bar 2  %s\n",
        sparse, dense, sparse / dense, verdict(sparse <= 2 * dense));
  }

  void record(const std::vector<long>& sizes) {
    for (const int before : {2, 0}) {
      double least = 0;
      for (const long size : sizes) {
        const std::string shape =
            "points=" + std::to_string(size) + " before=" + std::to_string(before);
        const std::string variant = before != 0 ? "record" : "first-record";
        const Spread ns = asked("record", shape);
        records_.add({"sparse", "refrain", variant, 1, size, "ns_per_point", "ns", ns});
        count_points("record", shape, variant, size, 2 * size);
        if (least == 0) least = ns.median;
        const bool met = ns.median <= 1.5 * least && (before == 0 || ns.median <= 2000);
        std::printf("  recording %6ld points, %s: %7.0f ns a point  bar %s  %s\n", size,
                    before != 0 ? "analysed before" : "at first sight", ns.median,
                    before != 0 ? "2000, flat" : "flat", verdict(met));
        std::fflush(stdout);
      }
    }
  }

  void gather(const std::vector<long>& lengths) {
    constexpr long points = 1000000;
    for (const long length : lengths) {
      Peer peer(program_,
                {"1", "gather",
                 "points=" + std::to_string(points) + " runs=" + std::to_string(points / length)});
      // From an array, by numbered positions, by points.
      std::vector<std::vector<double>> samples(
          3, std::vector<double>(static_cast<std::size_t>(options_.reps)));
      for (std::size_t i = 0; i < samples[0].size(); ++i)
        for (std::size_t by = 0; by < 3; ++by)
          samples[by][i] = peer.ask("by=" + std::to_string(by));
      const Spread array = spread(samples[0]), numbered = spread(samples[1]),
                   by_point = spread(samples[2]);
      const double bytes = peer.ask("bytes=1"), ratio = numbered.median / array.median;
      records_.add({"sparse", "array", "gather", 1, length, "ns_per_point", "ns", array});
      records_.add({"sparse", "refrain", "gather", 1, length, "ns_per_point", "ns", numbered});
      records_.add(
          {"sparse", "refrain", "gather-by-point", 1, length, "ns_per_point", "ns", by_point});
      records_.add({"sparse",
                    "refrain",
                    "gather",
                    1,
                    length,
                    "bytes_per_point",
                    "B",
                    {bytes, bytes, bytes}});
      std::printf(
          "  gathered from runs of %4ld points: an array %5.2f ns a point, numbered %5.2f, by "
          "point %5.2f: %.2f times  bar 1.5  %s; %.1f bytes a point  bar 16  %s\n",
          length, array.median, numbered.median, by_point.median, ratio, verdict(ratio <= 1.5),
          bytes, verdict(bytes <= 16));
      std::fflush(stdout);
    }
  }

  void nested(const std::string& variant, int rounds, bool marked, const std::vector<long>& sizes) {
    double of_few = 0;
    for (const long size : sizes) {
      const std::string shape = "points=16 partitions=" + std::to_string(size) +
                                " rounds=" + std::to_string(rounds) +
                                " marked=" + std::to_string(int{marked});
      const Spread ns = asked("nested", shape);
      records_.add({"sparse", "refrain", variant, 1, size, "ns_per_point", "ns", ns});
      count_points("nested", shape, variant, size, rounds * 16 * size);
      if (of_few == 0) of_few = ns.median;
      std::printf("  %ld partitions, %s: %7.0f ns a point, %.2f times  bar 2  %s\n", size,
                  variant.c_str(), ns.median, ns.median / of_few, verdict(ns.median <= 2 * of_few));
      std::fflush(stdout);
    }
  }

 private:
  static std::string shape_of(int dim, long size, int fields) {
    return "dim=" + std::to_string(dim) + " rectangles=" + std::to_string(size) +
           " fields=" + std::to_string(fields);
  }
  double counted(const char* what, const std::string& shape) {
    const auto count = count_instructions(program_, {"1", what, shape});
    if (!count) throw Peer::Lost("does not run under callgrind");
    return static_cast<double>(*count);
  }
  /// The instructions beside a time, which no neighbour disturbs.
  void count_points(const char* what, const std::string& shape, const std::string& variant,
                    long size, long points) {
    if (!can_count_instructions()) return;
    const double count = counted(what, shape + " counted=1") / static_cast<double>(points);
    records_.add({"sparse",
                  "refrain",
                  variant,
                  1,
                  size,
                  "instructions_per_point",
                  "",
                  {count, count, count}});
    std::printf("  %8.0f instructions a point:", count);
  }
  Spread asked(const char* what, const std::string& shape) {
    Peer peer(program_, {"1", what, shape});
    std::vector<double> samples;
    samples.reserve(static_cast<std::size_t>(options_.reps));
    for (int i = 0; i < options_.reps; ++i) samples.push_back(peer.ask("x=0"));
    return spread(samples);
  }
  void add(const std::string& what, int dim, int fields, long size, const char* metric,
           const char* unit, const Spread& value) {
    records_.add({"sparse", "refrain",
                  what + "-" + std::to_string(dim) + "d-" + std::to_string(fields), 1, size, metric,
                  unit, value});
  }

  const Options& options_;
  Records& records_;
  std::string program_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options =
      parse_options(argc, argv, "What unstructured pieces cost the analysis.", 5, 1);
  Records records;
  Sparse sparse(options, records);
  try {
    sparse.record({1000, 10000, 20000});
    sparse.gather({1000, 100, 1});
    sparse.nested("nested", 2, false, {10, 100, 400});
    sparse.nested("nested-steady", 20, false, {10, 100, 400});
    sparse.nested("nested-recorded", 2, true, {10, 100, 400});
    if (can_count_instructions()) {
      sparse.first_sight(1, options.quick ? std::vector{1000L, 100000L}
                                          : std::vector{1000L, 10000L, 100000L, 1000000L});
      sparse.first_sight(2, {1000, 10000, 100000});
      sparse.again(65536);
    } else {
      std::printf("left out: instruction counts: needs valgrind\n");
    }
  } catch (const Peer::Lost& lost) { std::printf("left out: refrain: %s\n", lost.what()); }
  records.write(options.out);
  return 0;
}
