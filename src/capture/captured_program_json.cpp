// Captured programs as JSON, and back.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "capture/captured_program.hpp"
#include "oracle/error.hpp"
#include "refrain/error.hpp"

namespace refrain::capture {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMember = "refrain_capture";
constexpr int kVersion = 1;

// --- writing -------------------------------------------------------------------------------------------

Json coordinates(const Point<3>& point, int dim) {
  Json list = Json::array();
  for (int d = 0; d < dim; ++d) list.push_back(point[d]);
  return list;
}

/// [dim, [lo..., hi...], ...], a list for each box.
Json json_of(const data::IndexSpace& space) {
  Json list = Json::array({space.dim()});
  for (const data::Box& box : space.boxes()) {
    Json corners = coordinates(box.lo, space.dim());
    for (int d = 0; d < space.dim(); ++d) corners.push_back(box.hi[d]);
    list.push_back(std::move(corners));
  }
  return list;
}

Json json_of(const Place& place) {
  if (place.partition == kNone) return Json{{"region", place.region}};
  return Json{{"partition", place.partition}, {"piece", place.piece}};
}

Json json_of(const Costs& costs) {
  Json list = Json::array();
  for (const Durations& each : costs) {
    list.push_back(Json{{"bytes", each.bytes},
                        {"count", each.count},
                        {"mean", each.mean},
                        {"variance", each.variance}});
    if (each.waits > 0) list.back()["waits"] = each.waits;
  }
  return list;
}

Json json_of(const CostsByKind& costs) {
  Json json = Json::object();
  for (int kind = 0; kind < processor_kinds; ++kind)
    if (const Costs& of = costs[static_cast<std::size_t>(kind)]; !of.empty())
      json[std::string(to_string(static_cast<ProcessorKind>(kind)))] = json_of(of);
  return json;
}

Json json_of(const Task& task) {
  Json variants = Json::array();
  for (const ProcessorKind kind : task.variants) variants.push_back(to_string(kind));
  Json json{{"name", task.name}, {"variants", variants}};
  if (task.result_size > 0)
    json["result"] = Json{{"size", task.result_size}, {"alignment", task.result_alignment}};
  if (task.launches) json["launches"] = true;
  json["seconds"] = json_of(task.costs);
  return json;
}

Json json_of(const Projection& projection) {
  Json json{{"name", projection.name}};
  if (projection.domain == kNone) {
    json["matrix"] = projection.matrix;
    json["offset"] = coordinates(projection.offset, 3);
    return json;
  }
  json["domain"] = projection.domain;
  Json colours = Json::array();
  for (const Point<3>& colour : projection.colours) colours.push_back(coordinates(colour, 3));
  json["colours"] = std::move(colours);
  return json;
}

Json json_of(const Argument& argument) {
  Json json = argument.partition != kNone ? Json{{"partition", argument.partition}}
                                          : Json{{"place", json_of(argument.region)}};
  json["field"] = argument.field;
  json["privilege"] = to_string(argument.privilege);
  if (argument.op != kNone) json["operator"] = argument.op;
  if (argument.relaxed) json["relaxed"] = true;
  if (argument.projection != kNone) json["projection"] = argument.projection;
  return json;
}

/// The members that a kind of call has, beside its place in the program. Writing and reading go by the same list.
struct Members {
  bool region = false, partition = false, place = false, target = false, privilege = false,
       futures = false, launch = false, back = false, trace = false, op = false;
};
Members members_of(CallKind kind) {
  using enum CallKind;
  switch (kind) {
    case region:
    case destroy_region: return {.region = true};
    case partition:
    case destroy_partition: return {.partition = true};
    case launch: return {.futures = true, .launch = true};
    case fill: return {.place = true, .futures = true};
    case copy: return {.place = true, .target = true};
    case access: return {.place = true, .privilege = true};
    case end_access: return {.back = true};
    case attach:
    case detach: return {.place = true};
    case reduce: return {.futures = true, .op = true};
    case wait: return {.futures = true};
    case fence: return {};
    case begin_trace:
    case end_trace: return {.trace = true};
  }
  return {};
}

Json json_of(const Call& call) {
  const Members has = members_of(call.kind);
  Json json{{"call", to_string(call.kind)}};
  if (!call.file.empty()) json["at"] = fmt::format("{}:{}", call.file, call.line);
  if (has.region) json["region"] = call.region;
  if (has.partition) json["partition"] = call.partition;
  if (has.place) json["place"] = json_of(call.place), json["field"] = call.field;
  if (has.target) json["target"] = json_of(call.target), json["target_field"] = call.target_field;
  if (has.privilege) json["privilege"] = to_string(call.privilege), json["seconds"] = call.seconds;
  if (has.op) json["operator"] = call.op;
  if (has.back) json["back"] = call.back;
  if (has.trace) json["trace"] = call.trace;
  if (has.futures && !call.futures.empty()) json["futures"] = call.futures;
  if (!has.launch) return json;
  json["task"] = call.task;
  if (call.domain != kNone) json["domain"] = call.domain;
  Json arguments = Json::array();
  for (const Argument& argument : call.arguments) arguments.push_back(json_of(argument));
  json["arguments"] = std::move(arguments);
  if (call.value_bytes > 0) json["value_bytes"] = call.value_bytes;
  if (call.priority != 0) json["priority"] = call.priority;
  if (call.inline_if_ready) json["inline"] = true;
  if (call.wants_future) json["result"] = true;
  if (call.pause > 0) json["pause"] = call.pause;
  if (Json costs = json_of(call.costs); !costs.empty()) json["seconds"] = std::move(costs);
  return json;
}

/// Of each rule a list, of each use a number: an event as it is, a rule as -1 for rule 1, -2 for rule 2; behind what
/// comes several times how often, as a pair [number, times].
Json json_of(const oracle::Grammar& stream) {
  Json rules = Json::array();
  for (std::uint32_t rule = 0; rule < stream.rules(); ++rule) {
    Json uses = Json::array();
    for (const oracle::Use& use : stream.rule(rule)) {
      const auto number = static_cast<std::int64_t>(use.symbol.number());
      const std::int64_t named = use.symbol.is_rule() ? -number : number;
      if (use.times == 1) uses.push_back(named);
      else uses.push_back(Json::array({named, use.times}));
    }
    rules.push_back(std::move(uses));
  }
  return rules;
}

/// A member of the file that is a list, an entry per line.
template <class List, class Entry>
std::string listed(std::string_view name, const List& list, Entry entry) {
  std::string text = fmt::format(",\n  \"{}\": [", name);
  bool first = true;
  for (const auto& each : list) {
    text += (std::exchange(first, false) ? "\n    " : ",\n    ") +
            entry(each).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text + (first ? "]" : "\n  ]");
}

// --- reading -------------------------------------------------------------------------------------------

constexpr std::int64_t kMost = std::int64_t{1} << 31;
/// Points of a launch, and bytes of a region's field.
constexpr std::size_t kMostPoints = std::size_t{1} << 24, kMostBytes = std::size_t{1} << 60;

class Reader {
 public:
  explicit Reader(const JsonFile& file) : root_(file.root()) {}

  Program read() {
    root_.allow_only({kMember, "program", "machine", "spaces", "fields", "regions", "partitions",
                      "operators", "projections", "tasks", "copies", "near_copies", "shared_writes",
                      "fills", "folds", "calls", "stream", "note"});
    const JsonNode version = root_.at(kMember);
    if (version.as_integer(0, kMost) != kVersion)
      version.fail("version {} of captured programs is not known; expected {}",
                   version.as_integer(0, kMost), kVersion);
    program_.name = root_.at("program").as_string();
    program_.machine = root_.at("machine").as_string();
    each("spaces", [&](const JsonNode& node) { program_.spaces.push_back(space_of(node)); });
    each("fields", [&](const JsonNode& node) { program_.fields.push_back(field_of(node)); });
    each("regions", [&](const JsonNode& node) { program_.regions.push_back(region_of(node)); });
    each("partitions",
         [&](const JsonNode& node) { program_.partitions.push_back(partition_of(node)); });
    each("operators", [&](const JsonNode& node) {
      node.allow_only({"name", "field"});
      program_.operators.push_back(
          {node.at("name").as_string(), number(node.at("field"), program_.fields, "field")});
    });
    each("projections",
         [&](const JsonNode& node) { program_.projections.push_back(projection_of(node)); });
    each("tasks", [&](const JsonNode& node) { program_.tasks.push_back(task_of(node)); });
    program_.copies = costs_of(root_.at("copies"));
    if (const auto near = root_.find("near_copies")) program_.near_copies = costs_of(*near);
    if (const auto shared = root_.find("shared_writes")) program_.shared_writes = costs_of(*shared);
    program_.fills = costs_of(root_.at("fills"));
    program_.folds = costs_of(root_.at("folds"));
    each("calls", [&](const JsonNode& node) { program_.calls.push_back(call_of(node)); });
    read_stream(root_.at("stream"));
    return std::move(program_);
  }

 private:
  template <class Entry>
  void each(std::string_view name, Entry entry) const {
    for (const JsonNode& node : root_.at(name).as_array()) entry(node);
  }

  /// A position in a list that has been read.
  template <class List>
  static Number number(const JsonNode& node, const List& list, std::string_view what) {
    const std::int64_t at = node.as_integer(0, kMost);
    if (static_cast<std::uint64_t>(at) >= list.size())
      node.fail("there is no {} {}: the file has {}", what, at, list.size());
    return static_cast<Number>(at);
  }

  static Point<3> point_of(const JsonNode& node, std::size_t dim) {
    const std::vector<JsonNode> list = node.as_array();
    if (list.size() != dim) node.expected(fmt::format("{} coordinates", dim));
    Point<3> point{};
    for (std::size_t d = 0; d < dim; ++d) point[static_cast<int>(d)] = coordinate(list[d]);
    return point;
  }
  static Coord coordinate(const JsonNode& node) {
    return node.as_integer(-data::coordinate_limit, data::coordinate_limit);
  }

  static data::IndexSpaceRef space_of(const JsonNode& node) {
    const std::vector<JsonNode> list = node.as_array();
    if (list.empty()) node.expected("the number of dimensions, and boxes");
    const auto dim = static_cast<std::size_t>(list[0].as_integer(1, 3));
    data::BoxList boxes;
    for (std::size_t i = 1; i < list.size(); ++i) {
      const std::vector<JsonNode> corners = list[i].as_array();
      if (corners.size() != 2 * dim)
        list[i].expected(fmt::format("{} coordinates: the corners of a box", 2 * dim));
      data::Box box{data::BoxPoint{}, data::BoxPoint{}};
      for (std::size_t d = 0; d < dim; ++d) {
        box.lo[static_cast<int>(d)] = coordinate(corners[d]);
        box.hi[static_cast<int>(d)] = coordinate(corners[dim + d]);
      }
      boxes.push_back(box);
    }
    try {
      return data::IndexSpace::from_boxes(static_cast<int>(dim), std::move(boxes));
    } catch (const UsageError& error) { node.fail("{}", error.what()); }
  }

  static Field field_of(const JsonNode& node) {
    node.allow_only({"name", "type", "size", "alignment"});
    Field field{node.at("name").as_string(), node.at("type").as_string(),
                static_cast<std::size_t>(node.at("size").as_integer(1, 1 << 20)),
                static_cast<std::size_t>(node.at("alignment").as_integer(1, 4096))};
    if ((field.alignment & (field.alignment - 1)) != 0)
      node.at("alignment").expected("a power of two");
    return field;
  }

  Region region_of(const JsonNode& node) const {
    node.allow_only({"points", "fields"});
    Region region{number(node.at("points"), program_.spaces, "space"), {}};
    for (const JsonNode& field : node.at("fields").as_array()) {
      region.fields.push_back(number(field, program_.fields, "field"));
      const std::size_t size = program_.fields[region.fields.back()].size;
      if (program_.spaces[region.points]->volume() > kMostBytes / size)
        field.fail("the field takes more than 2^60 bytes");
    }
    return region;
  }

  Place place_of(const JsonNode& node) const {
    node.allow_only({"region", "partition", "piece"});
    Place place;
    if (const auto partition = node.find("partition")) {
      place.partition = number(*partition, program_.partitions, "partition");
      place.piece = number(node.at("piece"), program_.partitions[place.partition].pieces, "piece");
    } else {
      place.region = number(node.at("region"), program_.regions, "region");
    }
    return place;
  }

  Partition partition_of(const JsonNode& node) const {
    node.allow_only({"of", "colours", "pieces", "kind"});
    Partition partition{place_of(node.at("of")),
                        number(node.at("colours"), program_.spaces, "space"),
                        {},
                        node.at("kind").as_string()};
    const JsonNode pieces = node.at("pieces");
    const data::IndexSpaceRef& parent = program_.points(partition.of);
    for (const JsonNode& piece : pieces.as_array()) {
      const Number space = number(piece, program_.spaces, "space");
      if (program_.spaces[space]->dim() != parent->dim() ||
          !data::contains(parent, program_.spaces[space]))
        piece.fail("the piece does not lie in the region that is divided");
      partition.pieces.push_back(space);
    }
    const std::size_t colours = program_.spaces[partition.colours]->volume();
    if (partition.pieces.size() != colours)
      pieces.fail("{} pieces for {} colours", partition.pieces.size(), colours);
    return partition;
  }

  Projection projection_of(const JsonNode& node) const {
    node.allow_only({"name", "matrix", "offset", "domain", "colours"});
    Projection projection;
    projection.name = node.at("name").as_string();
    const auto domain = node.find("domain");
    if (!domain) {
      const std::vector<JsonNode> rows = node.at("matrix").as_array();
      if (rows.size() != 3) node.at("matrix").expected("3 rows");
      for (std::size_t row = 0; row < 3; ++row) {
        const Point<3> values = point_of(rows[row], 3);
        for (int d = 0; d < 3; ++d) projection.matrix[row][static_cast<std::size_t>(d)] = values[d];
      }
      projection.offset = point_of(node.at("offset"), 3);
      return projection;
    }
    projection.domain = number(*domain, program_.spaces, "space");
    const JsonNode colours = node.at("colours");
    for (const JsonNode& colour : colours.as_array())
      projection.colours.push_back(point_of(colour, 3));
    if (projection.colours.size() != program_.spaces[projection.domain]->volume())
      colours.fail("{} colours for {} points", projection.colours.size(),
                   program_.spaces[projection.domain]->volume());
    return projection;
  }

  static double seconds_of(const JsonNode& node) {
    const double seconds = node.as_number();
    if (!(seconds >= 0 && seconds <= 1e9)) node.expected("a number of seconds, 0 or more");
    return seconds;
  }

  static Costs costs_of(const JsonNode& node) {
    Costs costs;
    for (const JsonNode& each : node.as_array()) {
      each.allow_only({"bytes", "count", "mean", "variance", "waits"});
      const auto bytes = static_cast<std::uint64_t>(each.at("bytes").as_integer(0, INT64_MAX));
      if (!costs.empty() && costs.back().bytes >= bytes)
        each.at("bytes").fail("the entries are not in ascending order");
      costs.push_back({bytes, static_cast<std::uint64_t>(each.at("count").as_integer(1, INT64_MAX)),
                       seconds_of(each.at("mean")), seconds_of(each.at("variance"))});
      if (const auto waits = each.find("waits")) costs.back().waits = seconds_of(*waits);
    }
    return costs;
  }

  static CostsByKind costs_by_kind_of(const JsonNode& node) {
    CostsByKind costs;
    if (!node.value().is_object()) node.expected("an object");
    for (const auto& [name, of] : node.value().items())
      costs[static_cast<std::size_t>(kind_of(node, name))] = costs_of(node.at(name));
    return costs;
  }

  static ProcessorKind kind_of(const JsonNode& node, std::string_view name) {
    for (int kind = 0; kind < processor_kinds; ++kind)
      if (name == to_string(static_cast<ProcessorKind>(kind)))
        return static_cast<ProcessorKind>(kind);
    node.fail("'{}' is no kind of processor", name);
  }

  static Task task_of(const JsonNode& node) {
    node.allow_only({"name", "variants", "result", "launches", "seconds"});
    Task task;
    task.name = node.at("name").as_string();
    const JsonNode variants = node.at("variants");
    for (const JsonNode& variant : variants.as_array()) {
      task.variants.push_back(kind_of(variant, variant.as_string()));
      if (std::ranges::count(task.variants, task.variants.back()) > 1)
        variant.fail("'{}' is given a second time", variant.as_string());
    }
    if (task.variants.empty()) variants.expected("a kind of processor");
    if (const auto result = node.find("result")) {
      result->allow_only({"size", "alignment"});
      task.result_size = static_cast<std::size_t>(result->at("size").as_integer(1, 1 << 20));
      task.result_alignment = static_cast<std::size_t>(result->at("alignment").as_integer(1, 4096));
      if ((task.result_alignment & (task.result_alignment - 1)) != 0)
        result->at("alignment").expected("a power of two");
    }
    if (const auto launches = node.find("launches")) task.launches = launches->as_bool();
    task.costs = costs_by_kind_of(node.at("seconds"));
    return task;
  }

  static Privilege privilege_of(const JsonNode& node) {
    using enum Privilege;
    for (const Privilege privilege : {read, write, read_write, reduce})
      if (node.as_string() == to_string(privilege)) return privilege;
    node.expected("a privilege");
  }

  /// The field is one of the region's.
  Number field_in(const JsonNode& node, const Place& place) const {
    const Number field = number(node, program_.fields, "field");
    const Number region = program_.root(place);
    if (std::ranges::count(program_.regions[region].fields, field) == 0)
      node.fail("region {} has no field '{}'", region, program_.fields[field].name);
    return field;
  }

  Argument argument_of(const JsonNode& node, Number domain) const {
    node.allow_only(
        {"partition", "place", "field", "privilege", "operator", "relaxed", "projection"});
    Argument argument;
    Place of;
    if (const auto partition = node.find("partition")) {
      argument.partition = number(*partition, program_.partitions, "partition");
      of = program_.partitions[argument.partition].of;
      if (domain == kNone) partition->fail("a single launch takes regions only");
    } else {
      of = argument.region = place_of(node.at("place"));
    }
    argument.field = field_in(node.at("field"), of);
    argument.privilege = privilege_of(node.at("privilege"));
    const auto op = node.find("operator");
    if (op.has_value() != (argument.privilege == Privilege::reduce))
      node.fail("a reduction has an operator, and nothing else has");
    if (op) argument.op = number(*op, program_.operators, "operator");
    if (const auto relaxed = node.find("relaxed")) argument.relaxed = relaxed->as_bool();
    if (const auto projection = node.find("projection"))
      argument.projection = number(*projection, program_.projections, "projection");
    return argument;
  }

  void read_launch(const JsonNode& node, Call& call) const {
    call.task = number(node.at("task"), program_.tasks, "task");
    if (const auto domain = node.find("domain"))
      call.domain = number(*domain, program_.spaces, "space");
    if (call.domain != kNone && program_.spaces[call.domain]->volume() > kMostPoints)
      node.at("domain").fail("a launch of more than 2^24 points");
    for (const JsonNode& argument : node.at("arguments").as_array())
      call.arguments.push_back(argument_of(argument, call.domain));
    if (const auto bytes = node.find("value_bytes"))
      call.value_bytes = static_cast<std::size_t>(bytes->as_integer(0, 1 << 20));
    if (const auto priority = node.find("priority"))
      call.priority = static_cast<int>(priority->as_integer(-30000, 30000));
    if (const auto is_inline = node.find("inline")) call.inline_if_ready = is_inline->as_bool();
    if (const auto result = node.find("result")) call.wants_future = result->as_bool();
    if (const auto pause = node.find("pause")) call.pause = seconds_of(*pause);
    if (const auto seconds = node.find("seconds")) call.costs = costs_by_kind_of(*seconds);
  }

  Call call_of(const JsonNode& node) const {
    node.allow_only({"call",     "at",        "region",       "partition", "place",
                     "field",    "target",    "target_field", "privilege", "seconds",
                     "operator", "back",      "trace",        "futures",   "task",
                     "domain",   "arguments", "value_bytes",  "priority",  "inline",
                     "result",   "pause"});
    Call call;
    const JsonNode name = node.at("call");
    int kind = 0;
    while (kind < call_kinds && name.as_string() != to_string(static_cast<CallKind>(kind))) ++kind;
    if (kind == call_kinds) name.fail("'{}' is no kind of call", name.as_string());
    call.kind = static_cast<CallKind>(kind);
    if (const auto at = node.find("at")) {
      const std::string& text = at->as_string();
      const std::size_t colon = text.rfind(':');
      const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
      if (digits.empty() || digits.size() > 9 ||
          digits.find_first_not_of("0123456789") != std::string::npos)
        at->expected("a file and a line such as \"main.cpp:42\"");
      call.file = text.substr(0, colon);
      call.line = static_cast<std::uint32_t>(std::stoul(digits));
    }
    const Members has = members_of(call.kind);
    if (has.region) call.region = number(node.at("region"), program_.regions, "region");
    if (has.partition)
      call.partition = number(node.at("partition"), program_.partitions, "partition");
    if (has.place) {
      call.place = place_of(node.at("place"));
      call.field = field_in(node.at("field"), call.place);
    }
    if (has.target) {
      call.target = place_of(node.at("target"));
      call.target_field = field_in(node.at("target_field"), call.target);
    }
    if (has.privilege) {
      call.privilege = privilege_of(node.at("privilege"));
      call.seconds = seconds_of(node.at("seconds"));
    }
    if (has.op) call.op = number(node.at("operator"), program_.operators, "operator");
    if (has.back) call.back = static_cast<std::uint64_t>(node.at("back").as_integer(1, INT64_MAX));
    if (has.trace) call.trace = node.at("trace").as_string();
    if (const auto futures = has.futures ? node.find("futures") : std::nullopt)
      for (const JsonNode& future : futures->as_array())
        call.futures.push_back(static_cast<std::uint64_t>(future.as_integer(1, INT64_MAX)));
    const bool needs_one = call.kind == CallKind::reduce || call.kind == CallKind::wait;
    if (needs_one && call.futures.size() != 1) node.fail("expected one future");
    if (has.launch) read_launch(node, call);
    return call;
  }

  void read_stream(const JsonNode& node) {
    std::vector<std::vector<oracle::Use>> rules;
    for (const JsonNode& rule : node.as_array()) {
      rules.emplace_back();
      for (const JsonNode& use : rule.as_array()) {
        const bool repeated = use.value().is_array();
        const std::vector<JsonNode> pair = repeated ? use.as_array() : std::vector<JsonNode>{use};
        if (repeated && pair.size() != 2) use.expected("a number, or a number and how often");
        const std::int64_t named = pair[0].as_integer(-kMost + 1, kMost - 1);
        if (named >= 0) number(pair[0], program_.calls, "call");
        const auto at = static_cast<std::uint32_t>(std::abs(named));
        rules.back().push_back(
            {named < 0 ? oracle::Symbol::rule(at) : oracle::Symbol::event(at),
             repeated ? static_cast<std::uint64_t>(pair[1].as_integer(1, INT64_MAX)) : 1});
      }
    }
    try {
      program_.stream = oracle::Grammar(rules);
    } catch (const oracle::OracleError& error) { node.fail("the stream: {}", error.what()); }
  }

  JsonNode root_;
  Program program_;
};

}  // namespace

std::string to_json(const Program& program) {
  std::string text =
      fmt::format("{{\n  \"{}\": {},\n  \"program\": {},\n  \"machine\": {}", kMember, kVersion,
                  json_string(program.name), json_string(program.machine));
  const auto plain = [](const auto& each) { return json_of(each); };
  text += listed("spaces", program.spaces,
                 [](const data::IndexSpaceRef& space) { return json_of(*space); });
  text += listed("fields", program.fields, [](const Field& field) {
    return Json{{"name", field.name},
                {"type", field.type},
                {"size", field.size},
                {"alignment", field.alignment}};
  });
  text += listed("regions", program.regions, [](const Region& region) {
    return Json{{"points", region.points}, {"fields", region.fields}};
  });
  text += listed("partitions", program.partitions, [](const Partition& partition) {
    return Json{{"of", json_of(partition.of)},
                {"colours", partition.colours},
                {"pieces", partition.pieces},
                {"kind", partition.kind}};
  });
  text += listed("operators", program.operators, [](const Operator& op) {
    return Json{{"name", op.name}, {"field", op.field_type}};
  });
  text += listed("projections", program.projections, plain);
  text += listed("tasks", program.tasks, plain);
  for (const auto& [name, costs] : {std::pair{"copies", &program.copies},
                                    {"near_copies", &program.near_copies},
                                    {"shared_writes", &program.shared_writes},
                                    {"fills", &program.fills},
                                    {"folds", &program.folds}})
    text += fmt::format(",\n  \"{}\": {}", name, json_of(*costs).dump());
  text += listed("calls", program.calls, plain);
  text += listed("stream", json_of(program.stream), [](const Json& rule) { return rule; });
  return text + "\n}\n";
}

Program parse(std::string text, const std::string& file) {
  const JsonFile json(std::move(text), file);
  return Reader(json).read();
}

Program load(const std::string& path) {
  return parse(JsonFile::read(path, "captured program"), path);
}

}  // namespace refrain::capture
