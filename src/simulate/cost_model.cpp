#include "simulate/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "graph/node.hpp"
#include "launch/launch_plan.hpp"
#include "mapping/mapping_file.hpp"
#include "refrain/error.hpp"

namespace refrain::simulate {

using exec::NodeKind;

// --- what a file says ----------------------------------------------------------------------------------------

CostFile::CostFile(std::string text, const std::string& file, const capture::Program& program) {
  const JsonFile json(std::move(text), file);
  const JsonNode root = json.root();
  root.allow_only({"refrain_costs", "tasks", "note"});
  if (const JsonNode version = root.at("refrain_costs"); version.as_integer(0, INT64_MAX) != 1)
    version.fail("version {} of costs is not known; expected 1", version.as_integer(0, INT64_MAX));
  std::vector<std::string_view> names;
  names.reserve(program.tasks.size());
  for (const capture::Task& task : program.tasks) names.push_back(task.name);
  for (const JsonNode& node : root.at("tasks").as_array()) {
    node.allow_only({"task", "processor", "factor", "seconds", "seconds_per_byte", "note"});
    Entry entry{node.at("task").as_string(), {true, true, true}};
    if (std::ranges::none_of(names, [&](auto name) { return mapping::fits(entry.task, name); }))
      node.at("task").fail("no task of '{}' is called '{}'{}", program.name, entry.task,
                           did_you_mean(entry.task, names));
    if (const auto kind = node.find("processor")) {
      bool any = false;
      for (int k = 0; k < processor_kinds; ++k)
        any |= entry.of_kind[k] = kind->as_string() == to_string(static_cast<ProcessorKind>(k));
      if (!any) kind->expected("a kind of processor (cpu, gang or gpu)");
    }
    const auto number = [&](std::string_view name, double otherwise) {
      const auto found = node.find(name);
      if (!found) return otherwise;
      if (!(found->as_number() >= 0 && found->as_number() <= 1e9))
        found->expected("a number from 0 to 1e9");
      return found->as_number();
    };
    entry.factor = number("factor", 1);
    entry.fixed = number("seconds", -1);
    entry.per_byte = number("seconds_per_byte", 0);
    entries_.push_back(std::move(entry));
  }
}

double CostFile::seconds(const std::string& task, ProcessorKind kind, std::uint64_t bytes,
                         double seconds) const {
  for (const Entry& entry : entries_) {
    if (!entry.of_kind[static_cast<std::size_t>(kind)] || !mapping::fits(entry.task, task))
      continue;
    const double of_bytes = entry.per_byte * static_cast<double>(bytes);
    if (entry.fixed >= 0) seconds = entry.fixed + of_bytes;
    else if (entry.per_byte > 0) seconds = of_bytes;
    seconds *= entry.factor;
  }
  return seconds;
}

// --- the model -----------------------------------------------------------------------------------------------

namespace {

/// Of moves: more bytes take longer. Where they do not, the volume that came less often is left out: its memory was new.
capture::Costs rising(const capture::Costs& costs) {
  capture::Costs kept = without_rare(costs);
  std::erase_if(kept, [&](const capture::Durations& each) {
    return std::ranges::any_of(costs, [&](const capture::Durations& other) {
      return other.bytes > each.bytes && other.mean < each.mean && other.count > each.count;
    });
  });
  return kept;
}

}  // namespace

CostModel::CostModel(const capture::Program& program, const Machine& measured,
                     const Machine& machine, const Lanes& lanes, const CostFile* file)
    : program_(program),
      measured_(measured),
      machine_(machine),
      lanes_(lanes),
      file_(file),
      copies_(rising(program.copies)),
      near_copies_(rising(program.near_copies)),
      fills_(rising(program.fills)),
      folds_(rising(program.folds)),
      // A description that says how fast cores reach memory says all of it.
      lines_(first(machine, ProcessorKind::cpu)->bandwidths.empty() ? program.shared_writes
                                                                    : capture::Costs{}) {
  for (const capture::Task& task : program.tasks) bodies_.push_back(usual(task.costs));
  for (const capture::Call& call : program.calls) calls_.push_back(usual(call.costs));
}

capture::CostsByKind CostModel::usual(const capture::CostsByKind& measured) {
  capture::CostsByKind costs;
  std::ranges::transform(measured, costs.begin(), capture::without_rare);
  return costs;
}

const capture::Costs* CostModel::measured_of(const runtime::LaunchPlan& plan,
                                             ProcessorKind& kind) const {
  const capture::CostsByKind& by_task = bodies_[tasks_.at(plan.task.get())];
  const auto call = call_of_.find(&plan);
  const capture::CostsByKind& by_call = call != call_of_.end() ? calls_[call->second] : by_task;
  const auto measured = [&](ProcessorKind on) -> const capture::Costs* {
    const auto at = static_cast<std::size_t>(on);
    return !by_call[at].empty() ? &by_call[at] : !by_task[at].empty() ? &by_task[at] : nullptr;
  };
  const capture::Costs* costs = measured(kind);
  for (int other = 0; costs == nullptr && other < processor_kinds; ++other)
    costs = measured(kind = static_cast<ProcessorKind>(other));
  return costs;
}

const Processor* CostModel::first(const Machine& machine, ProcessorKind kind) {
  return machine.has(kind) ? &machine.processor(machine.processors(kind).front()) : nullptr;
}

const Processor* CostModel::device_of(MemoryId memory) const {
  const auto owner = machine_.memory(memory).owner;
  if (!owner) return nullptr;
  const Processor& processor = machine_.processor(*owner);
  return processor.emulated ? nullptr : &processor;
}

namespace {

/// Of a processor of which nothing is said: a core with wide vectors.
constexpr double kUsualFlops = 50e9;
double flops_of(const Processor& processor) {
  return processor.flops > 0 ? processor.flops : kUsualFlops;
}

}  // namespace

Work CostModel::work_of(const runtime::OperationDetail& operation) {
  Work work = time_of(operation);
  if (lines_.matter() && lanes_.are_cores(work.lane))
    work.touches = std::make_shared<const std::vector<capture::Touch>>(touches_of(operation));
  return work;
}

std::vector<capture::Touch> CostModel::touches_of(const runtime::OperationDetail& operation) {
  std::vector<capture::Touch> touches;
  const auto touch = [&](const analysis::FieldState* field, MemoryId memory,
                         const data::IndexSpace& points, std::size_t bytes, bool reads,
                         bool writes) {
    if (points.empty()) return;
    touches.push_back({lines_.block({field, memory}, points.bounds()), reads, writes,
                       static_cast<double>(bytes)});
  };
  if (operation.kind != NodeKind::task) {
    const auto touch_points = [&](const auto* field, MemoryId memory, bool reads, bool writes) {
      if (field != nullptr) touch(field, memory, *operation.points, operation.bytes, reads, writes);
    };
    touch_points(operation.source_field, operation.source, true, false);
    touch_points(operation.target_field, operation.target, operation.kind == NodeKind::fold, true);
    return touches;
  }
  const runtime::LaunchPlan& plan = *operation.plan;
  for (std::size_t i = 0; i < plan.argument_count; ++i) {
    const runtime::PlannedArgument& argument =
        plan.own.arguments[operation.rank * plan.argument_count + i];
    if (argument.privilege != Privilege::reduce)  // what it folds into is its own
      touch(argument.field, argument.memory, *argument.points,
            argument.points->volume() * plan.requirements[i].type.size, reads(argument.privilege),
            writes(argument.privilege));
  }
  return touches;
}

Work CostModel::time_of(const runtime::OperationDetail& operation) const {
  switch (operation.kind) {
    case NodeKind::task: return body(operation);
    case NodeKind::copy: return copy(operation);
    case NodeKind::fill: return writing(operation, fills_);
    case NodeKind::fold: return writing(operation, folds_);
    default: return {};
  }
}

Work CostModel::body(const runtime::OperationDetail& operation) const {
  const runtime::LaunchPlan& plan = *operation.plan;
  const runtime::PlannedPoint& point = plan.own.points[operation.rank];
  const Processor& processor = machine_.processor(point.processor);
  const capture::Task& task = program_.tasks[tasks_.at(plan.task.get())];
  const auto fail = [&](const std::string& what) {
    throw UsageError(exec::launch_name(task.name, plan.info.where) + ": " + what);
  };
  if (task.launches) fail("its body launches tasks, which a captured program has not");
  if (processor.kind == ProcessorKind::gang)
    fail("its body is one for a gang, and how many cores help it cannot be foretold");
  ProcessorKind kind = processor.kind;
  const capture::Costs* const costs = measured_of(plan, kind);
  if (costs == nullptr) fail("it has not run when the program was captured: its time is not known");
  const std::uint64_t bytes = plan.argument_bytes(operation.rank);
  double seconds = capture::seconds_for(*costs, bytes);
  const Processor* source = first(measured_, kind);
  const bool is_other = source == nullptr || source->flops != processor.flops ||
                        source->bandwidths != processor.bandwidths;
  if (is_other)
    seconds *= (source != nullptr ? flops_of(*source) : kUsualFlops) / flops_of(processor);
  if (is_other && !processor.bandwidths.empty()) {
    double moving = 0;
    for (std::size_t i = 0; i < plan.argument_count; ++i) {
      const runtime::PlannedArgument& argument =
          plan.own.arguments[operation.rank * plan.argument_count + i];
      const auto at = std::ranges::find(processor.memories, argument.memory);
      if (at == processor.memories.end()) continue;
      const double times = argument.privilege == Privilege::read_write ? 2 : 1;
      moving += times *
                static_cast<double>(argument.points->volume() * plan.requirements[i].type.size) /
                processor.bandwidths[static_cast<std::size_t>(at - processor.memories.begin())];
    }
    seconds = std::max(seconds, moving);
  }
  if (file_ != nullptr) seconds = file_->seconds(task.name, processor.kind, bytes, seconds);
  return {.seconds = seconds + processor.launch_seconds + machine_.overheads().run,
          .lane = lanes_.of(point.processor),
          .waits = capture::seconds_for(*costs, bytes, &capture::Durations::waits)};
}

Work CostModel::copy(const runtime::OperationDetail& operation) const {
  const Memory &from = machine_.memory(operation.source), &to = machine_.memory(operation.target);
  Work work{.source = operation.source,
            .target = operation.target,
            .bytes = operation.bytes,
            .is_copy = true};
  work.seconds = machine_.copy_seconds(from.id, to.id, operation.bytes);
  if (from.rank != to.rank || device_of(from.id) != nullptr || device_of(to.id) != nullptr)
    return work;
  work.lane = to.rank;
  const Processor& cpu = machine_.processor(machine_.processors(ProcessorKind::cpu).front());
  const auto by_cpu = [&](const capture::Costs& costs) {
    if (!cpu.bandwidths.empty() || costs.empty()) return work.seconds;
    // Beyond what was measured the rest is at the link's speed: of short copies most is no matter of bytes.
    const std::uint64_t known = std::min(operation.bytes, costs.back().bytes);
    return capture::seconds_for(costs, known) +
           machine_.copy_seconds(from.id, to.id, operation.bytes) -
           machine_.copy_seconds(from.id, to.id, known);
  };
  work.seconds = by_cpu(copies_);
  work.least = std::min(work.seconds, by_cpu(near_copies_));
  work.is_near = !from.owner && !to.owner;
  work.seconds += machine_.overheads().run;
  work.least += machine_.overheads().run;
  if (!copies_.empty())
    work.waits = capture::seconds_for(copies_, operation.bytes, &capture::Durations::waits);
  return work;
}

Work CostModel::writing(const runtime::OperationDetail& operation,
                        const capture::Costs& measured) const {
  const Memory& memory = machine_.memory(operation.target);
  const Processor* const device = device_of(memory.id);
  const Processor& cpu = machine_.processor(machine_.processors(ProcessorKind::cpu).front());
  const Processor& by = device != nullptr ? *device : cpu;
  Work work{.lane = device != nullptr ? lanes_.of(device->id) : memory.rank};
  const auto at = std::ranges::find(by.memories, memory.id);
  if (!by.bandwidths.empty() && at != by.memories.end())
    work.seconds = static_cast<double>(operation.bytes) /
                   by.bandwidths[static_cast<std::size_t>(at - by.memories.begin())];
  else if (!measured.empty()) {
    work.seconds = capture::seconds_for(measured, operation.bytes);
    work.waits = capture::seconds_for(measured, operation.bytes, &capture::Durations::waits);
  } else work.seconds = machine_.copy_seconds(memory.id, memory.id, operation.bytes);
  work.seconds += by.launch_seconds + machine_.overheads().run;
  return work;
}

}  // namespace refrain::simulate
