// The mapper's part of a plan.

#include <algorithm>

#include "base/text.hpp"
#include "launch/call_identity.hpp"
#include "launch/planner.hpp"
#include "machine/machine.hpp"
#include "mapping/mapping.hpp"

namespace refrain::runtime {

namespace {

/// What a mapper is told about the points of one launch, and the check of what it says.
class Question {
 public:
  Question(RuntimeCore& runtime, const LaunchPlan& plan, const LaunchRequest& request)
      : mapper_(runtime.mapper()),
        plan_(plan),
        request_(request),
        bodies_(request.task->kinds()),
        arguments_(plan.requirements.size()) {
    for (const ProcessorKind kind : bodies_)
      if (runtime.machine().has(kind)) variants_.push_back(kind);
    input_.task = plan.info.name;
    input_.where = request.where;
    input_.group = plan.group;
    input_.dim = plan.dim;
    input_.points = plan.points.size();
    input_.arguments = arguments_;
    input_.variants = variants_;
    input_.machine = &runtime.machine();
  }
  Question(const Question&) = delete;

  void ask(std::size_t rank, MappingOutput& answer) {
    input_.rank = rank;
    input_.point = plan_.points[rank].point;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const PlannedArgument& argument = plan_.arguments[rank * arguments_.size() + i];
      arguments_[i] = {plan_.requirements[i].field, plan_.requirements[i].privilege,
                       argument.field->type().size, argument.points->volume(),
                       request_.requirements[i].partition.tree != nullptr};
    }
    mapping::map_by_default(input_, bodies_, answer);
    try {
      mapper_.map(input_, answer);
    } catch (...) { fail_around(name() + " threw"); }
    mapping::validate(mapper_, input_, answer);
  }

 private:
  [[nodiscard]] std::string name() const {
    return "mapper '" + std::string(mapper_.name()) + "' for " +
           exec::launch_name(input_.task, input_.where) +
           (input_.group ? ", point " + data::to_string(input_.point, input_.dim) : "");
  }

  Mapper& mapper_;
  const LaunchPlan& plan_;
  const LaunchRequest& request_;
  const std::vector<ProcessorKind> bodies_;
  std::vector<ProcessorKind> variants_;
  std::vector<MappingArgument> arguments_;
  MappingInput input_;
};

/// Appends the answer, all of it, in a form of which no other begins with it.
void write_down(const MappingOutput& answer, std::vector<std::uint64_t>& words) {
  words.push_back(std::uint64_t{answer.processor} << 32 |
                  static_cast<std::uint32_t>(answer.priority));
  for (const ArgumentMapping& argument : answer.arguments) {
    words.push_back(argument.memories.size() << 16 |
                    static_cast<std::uint64_t>(argument.layout.order) << 8 |
                    static_cast<std::uint64_t>(argument.layout.extent));
    words.insert(words.end(), argument.memories.begin(), argument.memories.end());
  }
}

// Answers repeat from point to point, mostly with the period of the machine's processors.
std::uint32_t remember_mapping(LaunchPlan& plan, const ArgumentMapping& answer) {
  constexpr std::size_t reach = 64;
  const std::size_t size = plan.mappings.size();
  for (std::size_t back = 1; back <= std::min(size, reach); ++back) {
    const ArgumentMapping& known = plan.mappings[size - back];
    if (known.memories == answer.memories && known.layout == answer.layout)
      return static_cast<std::uint32_t>(size - back);
  }
  plan.mappings.push_back(answer);
  return static_cast<std::uint32_t>(size);
}

}  // namespace

void Planner::plan_mapping(LaunchPlan& plan, const LaunchRequest& request) {
  Question question(context_.runtime, plan, request);
  MappingOutput answer;
  if (Listener* told = context_.runtime.listener(Events::decisions)) told->asked(plan);
  for (std::size_t rank = 0; rank < plan.points.size(); ++rank) {
    question.ask(rank, answer);
    take_answer(plan, request, rank, answer);
  }
}

void Planner::take_answer(LaunchPlan& plan, const LaunchRequest& request, std::size_t rank,
                          const MappingOutput& answer) {
  const Processor& processor = context_.runtime.machine().processor(answer.processor);
  PlannedPoint& point = plan.points[rank];
  point.processor = answer.processor;
  const bool is_device = machine::traits_of(processor.kind).is_device;
  point.queue = static_cast<std::uint16_t>(is_device ? answer.processor + 1 : 0);
  point.priority = static_cast<std::int16_t>(
      std::clamp(answer.priority + request.hints.priority, -30000, 30000));
  point.variant = request.task->variant(processor.kind);
  const std::span<PlannedArgument> arguments = plan.arguments_of(rank);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    arguments[i].mapping = remember_mapping(plan, answer.arguments[i]);
}

bool Planner::asks_each_time(const LaunchRequest& request) const {
  const Mapper& mapper = context_.runtime.mapper();
  try {
    return mapper.every_launch();
  } catch (...) {
    fail_around("mapper '" + std::string(mapper.name()) + "' for " + launch_name(request) +
                ": every_launch() threw");
  }
}

LaunchPlan& Planner::plan_by_answers(const LaunchRequest& request,
                                     std::span<const std::uint64_t> key) {
  if (asked_ == nullptr) asked_ = std::make_unique<Asked>();
  auto& answers = asked_->answers;
  // The key begins with a number that is no task's address, as the keys of remembered plans do.
  auto& asked_key = asked_->key;
  LaunchPlan& unmapped = unmapped_plan(request, key);
  unmapped.last_used = context_.calls;
  const std::size_t points = unmapped.points.size();
  answers.resize(std::max(answers.size(), points));
  asked_key.assign(1, unmapped.number);
  if (Listener* told = context_.runtime.listener(Events::decisions)) told->asked(unmapped);
  {
    const Planning now(context_);
    Question question(context_.runtime, unmapped, request);
    for (std::size_t rank = 0; rank < points; ++rank) {
      question.ask(rank, answers[rank]);
      write_down(answers[rank], asked_key);
    }
  }
  const std::uint64_t hash = PlanCache::hash(asked_key);
  if (LaunchPlan* known = plans_.find(asked_key, hash)) return *known;
  auto made = std::make_unique<LaunchPlan>(unmapped);
  made->key = asked_key;
  for (std::size_t rank = 0; rank < points; ++rank)
    take_answer(*made, request, rank, answers[rank]);
  sign(*made, request);
  return plans_.insert(std::move(made), hash);
}

LaunchPlan& Planner::unmapped_plan(const LaunchRequest& request,
                                   std::span<const std::uint64_t> key) {
  const std::uint64_t hash = PlanCache::hash(key);
  if (LaunchPlan* known = asked_->unmapped.find(key, hash)) return *known;
  const std::vector<std::uint64_t> kept(key.begin(), key.end());
  std::unique_ptr<LaunchPlan> made = make_unmapped(request);
  made->key = kept;
  made->number = ++asked_->last_number;
  return asked_->unmapped.insert(std::move(made), hash);
}

}  // namespace refrain::runtime
