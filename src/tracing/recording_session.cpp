#include "tracing/recording_session.hpp"

#include <utility>

namespace refrain::runtime {

void RecordingSession::begin() {
  first_seq_ = context_.scope.window().launched() + 1;
  recorder_ =
      std::make_unique<trace::Recorder>(first_seq_, context_.analysis.store().next_serial());
  context_.analysis.set_state_log(recorder_.get());
  calls_.clear();
  work_ = 0;
}

void RecordingSession::add(LaunchPlan& plan, const LaunchRequest& request) {
  auto call = std::make_shared<RecordedCall>();
  call->key = plan.key;
  call->info = &plan.info;
  call->plan = &plan;
  ++plan.recordings;  // it stays, though a tree that it names may be dropped meanwhile
  call->token = plan.token;
  call->mapped_token = plan.mapped_token();
  call->work = plan.work();
  call->has_values = request.value_ops != nullptr;
  call->makers = makers(request.futures);
  if (context_.replicated != nullptr && request.domain == nullptr)
    call->runs_at = context_.replicated->runs_at();
  call->wants_result = request.wants_future && request.task->result().size != 0;
  for (const PlannedArgument& argument : plan.own.arguments) recorder_->uses(*argument.field);
  for (const data::UsedTree& used : plan.trees) recorder_->uses(used);
  if (recorder_->fault() == nullptr)  // else some of the instances may be gone
    for (const PlannedArgument& argument : plan.own.arguments)
      recorder_->argument(*argument.instance);
  recorder_->step(plan.argument_count);
  work_ += call->work;
  calls_.push_back(std::move(call));
}

void RecordingSession::add(const TracedCall& made, std::uint64_t token,
                           std::initializer_list<analysis::FieldState*> fields,
                           std::span<const AnyRegion* const> regions) {
  for (analysis::FieldState* field : fields) recorder_->uses(*field);
  for (const AnyRegion* region : regions)
    if (region->tree->in(context_.forest)) recorder_->uses({region->tree, region->tree->uid()});
  auto call = std::make_shared<RecordedCall>();
  call->key.assign(made.key.begin(), made.key.end());
  call->info = &context_.analysis.info_for(made.name, made.where);
  call->token = call->mapped_token = token;
  call->makers = makers(made.futures);
  call->wants_result = made.makes_future;
  recorder_->step(0);
  work_ += call->work;
  calls_.push_back(std::move(call));
}

RecordingSession::Result RecordingSession::end() {
  context_.analysis.set_state_log(nullptr);
  const std::unique_ptr<trace::Recorder> recorder = std::move(recorder_);
  release_plans();  // a compiled trace holds them next
  Result result{std::move(calls_), nullptr, recorder->fault(), false};
  calls_.clear();
  if (result.fault != nullptr || recorder->operations() == 0) return result;
  result.recording = recorder->finish();
  if (result.recording == nullptr) {  // a fault that comes only once
    result.fault = recorder->fault();
    result.may_work_next_time = true;
  }
  return result;
}

void RecordingSession::abandon() noexcept {
  if (recorder_ == nullptr) return;
  context_.analysis.set_state_log(nullptr);
  recorder_.reset();
  release_plans();
  calls_.clear();
}

void RecordingSession::release_plans() noexcept {
  for (const auto& call : calls_)
    if (call->plan != nullptr) --call->plan->recordings;
}

}  // namespace refrain::runtime
