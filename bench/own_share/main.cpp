// Does a shard pay for its own share alone? The star stencil on 4 to 4096 shards (1024 without --all) with as many tiles
// on each, one shard of them at a time in a dry run (peers/shard_refrain.cpp): one in a corner, and one in the middle,
// which has neighbours on all sides.
//   instructions_per_point  callgrind's, of an iteration, per own point of its two launches; the bar is that sizes differ by
//                           at most 1.05x. With _traced and _automatic: of replays of traces that are marked, and found
//   messages, message_bytes of an iteration, as sent
//   message_plans           made after the third iteration; the bar is 0
//   bytes_per_tile          of the heap: what 16 tiles of a shard take more than 4, at the same number of tiles in all; the
//                           bar is 1.1x
//   setup_bytes             the rest of the heap: what the program and its tables of all pieces take

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "support/callgrind.hpp"
#include "support/options.hpp"
#include "support/peer_process.hpp"
#include "support/records.hpp"

namespace {

using namespace refrain::bench;

constexpr long side = 2,
               iterations =
                   400;  // so many that a fence does not show, which the root pays for most

struct Place {
  const char* name;
  long least;  ///< root from which on there is such a shard
  long (*shard)(long root);
};
constexpr Place places[] = {{"corner", 2, [](long) { return 0L; }},
                            {"middle", 4, [](long root) { return root / 2 * root + root / 2; }}};

struct Way {
  const char *what, *metric;
};
constexpr Way ways[] = {{"count", "instructions_per_point"},
                        {"traced", "instructions_per_point_traced"},
                        {"automatic", "instructions_per_point_automatic"}};

std::string shape(long shards, long root, long tiles) {
  return "shards=" + std::to_string(shards) + " root=" + std::to_string(root) +
         " side=" + std::to_string(tiles) + " iterations=" + std::to_string(iterations);
}

class OwnShare {
 public:
  OwnShare(const Options& options, Records& records)
      : records_(records), program_(options.peers + "/peer_shard_refrain") {}

  void measure(const Place& place, const std::vector<long>& roots) {
    std::printf("\na shard in the %s\n", place.name);
    std::array<std::vector<double>, std::size(ways)> instructions;
    std::vector<double> bytes;
    for (const long root : roots) {
      if (root < place.least) continue;
      if (can_count_instructions())
        for (std::size_t i = 0; i < std::size(ways); ++i) {
          instructions[i].push_back(count(place, root, ways[i].what));
          add(place, root, ways[i].metric, "", instructions[i].back());
        }
      look(place, root, bytes);
    }
    for (std::size_t i = 0; i < std::size(ways); ++i) bar(ways[i].metric, instructions[i], 1.05);
    bar("bytes_per_tile", bytes, 1.1);
  }
  /// What the check adds to a launch: it does not depend on the number of shards.
  void measure_check() {
    const double with = count(places[0], 2, "check"), without = count(places[0], 2, "count");
    const double per_launch = (with - without) * side * side;
    add(places[0], 2, "check_per_launch", "", per_launch);
    std::printf("  the check adds %.0f instructions to a launch\n", per_launch);
  }

 private:
  void add(const Place& place, long root, const char* metric, const char* unit, double value) {
    records_.add({"own_share", "refrain", place.name, 1, root * root, metric, unit,
                  Spread{value, value, value}});
    std::printf("  %6ld shards  %-22s %12.1f\n", root * root, metric, value);
    std::fflush(stdout);
  }
  static void bar(const char* what, const std::vector<double>& series, double most) {
    if (series.empty()) return;
    const auto [low, high] = std::ranges::minmax(series);
    std::printf("  %s differ by %.3fx  bar %.2f  %s\n", what, high / low, most,
                verdict(high / low <= most));
  }

  double count(const Place& place, long root, const std::string& what) {
    const auto total = count_instructions(
        program_, {std::to_string(place.shard(root)), what, shape(root * root, root, side)});
    if (!total) throw Peer::Lost("does not run under callgrind");
    return static_cast<double>(*total) / static_cast<double>(2 * iterations * side * side);
  }

  void look(const Place& place, long root, std::vector<double>& bytes) {
    const auto ask = [&](Peer& peer, int number) {
      return peer.ask("number=" + std::to_string(number));
    };
    Peer peer(program_,
              {std::to_string(place.shard(root)), "look", shape(root * root, root, side)});
    add(place, root, "messages", "", ask(peer, 0));
    add(place, root, "message_bytes", "B", ask(peer, 1));
    add(place, root, "message_plans", "", ask(peer, 2));
    const double heap = ask(peer, 3);
    // The same tiles on a quarter of the shards; the others have none.
    if (root / 2 < place.least) return;
    const long fewer = root / 2;
    Peer larger(program_,
                {std::to_string(place.shard(fewer)), "look", shape(root * root, fewer, 2 * side)});
    bytes.push_back((ask(larger, 3) - heap) / static_cast<double>(3 * side * side));
    add(place, root, "bytes_per_tile", "B", bytes.back());
    add(place, root, "setup_bytes", "B", heap - bytes.back() * side * side);
  }

  Records& records_;
  std::string program_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv, "Cost of a shard against their number.", 1, 1);
  std::vector<long> roots{2, 8, 32};
  if (options.quick) roots = {2, 8};
  if (options.all) roots = {2, 4, 8, 16, 32, 64};
  Records records;
  OwnShare own_share(options, records);
  if (!can_count_instructions()) std::printf("left out: instruction counts: needs valgrind\n");
  try {
    for (const Place& place : places) own_share.measure(place, roots);
    if (can_count_instructions()) own_share.measure_check();
  } catch (const Peer::Lost& lost) { std::printf("left out: refrain: %s\n", lost.what()); }
  records.write(options.out);
  return 0;
}
