#pragma once
// A captured program: the calls of one run, how long its tasks took, and nothing of its values. It is the search space
// file of "Automated Mapping of Task-Based Programs" (T. Teixeira et al., SC 2023, section 3.2), and what the simulator
// runs in place of the program (docs/mapping.md).
//
// Each thing is listed once and named by its position: index spaces, regions, partitions, fields, tasks, operators,
// projections, and calls that differ. The stream of calls is a grammar over these (oracle/grammar.hpp), so a loop of
// 10^6 launches takes as many bytes as one of two. Futures and open accesses are named by how many calls back they were
// made. So the calls of a loop are alike in each iteration.
//
// Values: whoever has one changes it; no locks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/index_space.hpp"
#include "oracle/grammar.hpp"
#include "refrain/machine.hpp"
#include "refrain/privilege.hpp"

namespace refrain::capture {

/// A position in one of the lists.
using Number = std::uint32_t;
inline constexpr Number kNone = ~Number{0};

/// Runs with one volume of arguments.
struct Durations {
  std::uint64_t bytes = 0;  ///< of all arguments
  std::uint64_t count = 0;  ///< runs
  double mean = 0;          ///< seconds; outliers are left out
  double variance = 0;      ///< seconds squared, of the same runs
  double waits = 0;  ///< seconds, within the mean, for what other cores had read (SharedLines)
};
/// Ascending by bytes.
using Costs = std::vector<Durations>;
/// Of bodies, by the kind of processor that they ran on.
using CostsByKind = std::array<Costs, processor_kinds>;
/// A volume that came much less often than one nearby says little: most often it was the first one, whose memory was new.
Costs without_rare(const Costs& costs);
/// Seconds for so many bytes: measured, else between the neighbours, else in proportion. Requires costs.
double seconds_for(const Costs& costs, std::uint64_t bytes,
                   double Durations::*which = &Durations::mean);

struct Task {
  std::string name;
  std::vector<ProcessorKind> variants;  ///< kinds of processors that it has a body for
  std::size_t result_size = 0, result_alignment = 1;
  bool launches = false;  ///< its body has launched tasks, which are not captured
  CostsByKind costs{};    ///< of all its launches
};

struct Field {
  std::string name, type;
  std::size_t size = 0, alignment = 1;  ///< of a value, in bytes
  friend bool operator==(const Field&, const Field&) = default;
};

/// A region of its own.
struct Region {
  Number points = 0;           ///< an index space
  std::vector<Number> fields;  ///< its columns
};

/// A region, or a piece of a partition.
struct Place {
  Number region = kNone;
  Number partition = kNone, piece = 0;  ///< which piece, in the order of the colours
  friend bool operator==(const Place&, const Place&) = default;
};

struct Partition {
  Place of;
  Number colours = 0;          ///< an index space
  std::vector<Number> pieces;  ///< index spaces, in the order of the colours
  std::string kind;            ///< "blocks"
};

struct Operator {
  std::string name;
  Number field_type = 0;  ///< a field whose values it reduces
};

/// A projection function: affine, or what it has given for the points of a domain.
struct Projection {
  std::string name;
  std::array<std::array<Coord, 3>, 3> matrix{};
  Point<3> offset{};
  Number domain = kNone;            ///< not affine: an index space
  std::vector<Point<3>> colours{};  ///< of each of its points, in their order
};

struct Argument {
  Number partition = kNone;  ///< kNone: the region
  Place region{};
  Number field = 0;
  Privilege privilege = Privilege::read;
  Number op = kNone;
  bool relaxed = false;
  Number projection = kNone;  ///< kNone: the identity
};

enum class CallKind : std::uint8_t {
  region,             ///< `region` is made
  partition,          ///< `partition` is made
  destroy_region,     ///< `region`
  destroy_partition,  ///< `partition`
  launch,
  fill,        ///< `place`, `field`, `futures` (one, or none)
  copy,        ///< `place`, `field` to `target`, `target_field`
  access,      ///< `place`, `field`, `privilege`: the program has it until it ends it
  end_access,  ///< the access of `back` calls ago
  attach,      ///< `place` or `partition`, `field`
  detach,      ///< the same
  reduce,      ///< `futures`: one, with `op`
  wait,        ///< `futures`: one
  fence,
  begin_trace,  ///< `trace`
  end_trace,    ///< `trace`
};
inline constexpr int call_kinds = 16;
std::string_view to_string(CallKind kind);

struct Call {
  CallKind kind = CallKind::fence;
  std::string file{};  ///< of the program's source
  std::uint32_t line = 0;
  Number region = kNone, partition = kNone, task = kNone, field = kNone, op = kNone;
  Place place{};
  Place target{};
  Number target_field = kNone;
  Privilege privilege = Privilege::read;
  std::string trace{};
  // A launch.
  Number domain = kNone;  ///< an index space; kNone: a single launch
  std::vector<Argument> arguments{};
  std::vector<std::uint64_t> futures{};  ///< how many calls back each was made
  std::size_t value_bytes = 0;           ///< of by-value arguments
  int priority = 0;
  bool inline_if_ready = false, wants_future = false;
  CostsByKind costs{};  ///< of its own points: one task's launches may take different times
  std::uint64_t back = 0;
  double seconds = 0;  ///< of an access: the mean time between its beginning and its end
  double pause = 0;    ///< of a launch: the seconds since the call before it had ended
};

struct Program {
  std::string name;     ///< of the program that ran
  std::string machine;  ///< on which, as a description in JSON
  std::vector<data::IndexSpaceRef> spaces;
  std::vector<Field> fields;
  std::vector<Region> regions;
  std::vector<Partition> partitions;
  std::vector<Operator> operators;
  std::vector<Projection> projections;
  std::vector<Task> tasks;
  std::vector<Call> calls;     ///< those that differ
  oracle::Grammar stream;      ///< events are numbers of calls
  Costs copies, fills, folds;  ///< by the bytes moved
  Costs near_copies;           ///< the same of values that the core that copies has just made
  Costs shared_writes;         ///< how much longer writes take of values that another core has read

  [[nodiscard]] const data::IndexSpaceRef& points(const Place& place) const {
    return spaces[place.partition == kNone ? regions[place.region].points
                                           : partitions[place.partition].pieces[place.piece]];
  }
  /// The region of its own that a place is in.
  [[nodiscard]] Number root(Place place) const {
    while (place.partition != kNone) place = partitions[place.partition].of;
    return place.region;
  }
};

/// Takes in the times of other runs of the program, perhaps with other numbers or under other mappings: of each duration
/// the median over the runs. Those of each call where all have made the same calls, else none of single calls.
/// UsageError where one has tasks of other names.
void add_times(Program& program, std::span<const Program> others);

/// As text that parse() reads back.
std::string to_json(const Program& program);
/// Throws InputError "FILE:LINE:COLUMN: ..." for what is malformed or contradicts itself.
Program parse(std::string text, const std::string& file);
/// Reads a file.
Program load(const std::string& path);
/// For people: sizes, tasks with their arguments and durations, the stream.
std::string to_text(const Program& program);

}  // namespace refrain::capture
