#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <nlohmann/json.hpp>

#include "base/new_file.hpp"
#include "graph/scope.hpp"
#include "launch/launch_plan.hpp"
#include "net/mailbox.hpp"
#include "profile/clock.hpp"
#include "replay/trace_execution.hpp"
#include "replication/message_kind.hpp"
#include "report/listeners.hpp"

namespace refrain::runtime {

// --- what happens ------------------------------------------------------------------------------------

namespace {

std::string name_of(const analysis::LoggedOperation& operation) {
  using exec::NodeKind;
  const std::string of = " of '" + operation.field + "'";
  switch (operation.kind) {
    case NodeKind::copy: return "copy" + of;
    case NodeKind::fill: return "fill" + of;
    case NodeKind::fold: return "fold" + of;
    default: return operation.info != nullptr ? operation.info->name : "other";
  }
}

void count(Explanation::ReasonCounts& reasons, const std::string& reason, std::uint64_t times = 1) {
  constexpr std::size_t kMostReasons = 64;
  const bool is_one_more = reasons.size() >= kMostReasons && !reasons.contains(reason);
  reasons[is_one_more ? "others" : reason] += times;
}

}  // namespace

void Explanation::trace_ended(std::uint64_t trace, const std::string& name, Where where,
                              const TraceExecution& execution) {
  if (execution.empty()) return;
  const std::lock_guard lock(mutex_);
  Trace& told = traces_[trace];
  if (told.where.line() == 0) {
    told.name = name;
    told.where = where;
  }
  ++(execution.whole() ? told.replayed : execution.replayed ? told.partly : told.analysed);
  for (const Reason& reason : execution.reasons) count(told.reasons, reason.text);
}

void Explanation::recorded(const Recorded& recorded) {
  const std::lock_guard lock(mutex_);
  count(traces_[recorded.trace].recordings, recorded.ended_by);
}

void Explanation::launched(LaunchPlan& plan, const std::string& why) {
  const std::lock_guard lock(mutex_);
  Task& told = tasks_[plan.info.name];
  (why.empty() ? told.replayed : told.analysed) += plan.own_points();
  if (!why.empty()) count(told.reasons, why, plan.own_points());
  for (std::size_t rank = 0; rank < plan.own_points(); ++rank) {
    ++told.processors[plan.own.points[rank].processor];
    const std::span<const PlannedArgument> arguments = plan.arguments_of(rank);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].instance == nullptr) continue;
      const MemoryId memory = arguments[i].memory;
      const auto& memories = plan.own.mappings[arguments[i].mapping].memories;
      const auto choice =
          static_cast<std::size_t>(std::ranges::find(memories, memory) - memories.begin());
      ++told.placements[{i, plan.requirements[i].field, memory, choice}];
    }
  }
}

void Explanation::asked(const LaunchPlan& plan) {
  const std::lock_guard lock(mutex_);
  tasks_[plan.info.name].asked += plan.own_points();
}

void Explanation::opened(std::uint64_t identity, std::uint64_t context) {
  const std::lock_guard lock(mutex_);
  contexts_[identity] = context;
}

void Explanation::closed(std::uint64_t identity) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(identity);
}

void Explanation::operation(const analysis::LoggedOperation& operation) {
  using exec::NodeKind;
  // The program's own accesses are not run, so nobody tells when they are done.
  if (operation.kind == NodeKind::access || operation.kind == NodeKind::detach) return;
  const std::lock_guard lock(mutex_);
  issued_[{operation.scope, operation.seq}] = {
      name_of(operation), operation.kind == NodeKind::task, profile::now_ns(), 0, {}, {}};
}

// The next call begins later, so what was idle until now can be told apart.
void Explanation::timed(int /*thread*/, const profile::Event& event) try {
  const std::lock_guard lock(mutex_);
  calls_.push_back({event.begin_ns, event.end_ns});
  tell_idle_apart(event.end_ns);
  while (!calls_.empty() && calls_.front().end_ns <= last_run_ns_) calls_.pop_front();
} catch (const std::bad_alloc&) {
}  // it is told where nothing may be thrown; a wait goes without its reason

void Explanation::tell_idle_apart(std::uint64_t until_ns) {
  for (; !idle_.empty() && idle_.front().end_ns <= until_ns; idle_.pop_front()) {
    const Span idle = idle_.front();
    const std::uint64_t length = idle.end_ns - idle.begin_ns, calls = in_calls(idle);
    idle_in_calls_ns_ += calls;
    idle_between_ns_ += length - calls;
  }
}

std::uint64_t Explanation::in_calls(const Span& span) const {
  std::uint64_t sum = 0;
  for (const Span& call : calls_)
    if (call.begin_ns < span.end_ns && span.begin_ns < call.end_ns)
      sum += std::min(call.end_ns, span.end_ns) - std::max(call.begin_ns, span.begin_ns);
  return std::min(sum, span.end_ns - span.begin_ns);  // those of several contexts may meet
}

void Explanation::passed(const net::Passed& message) try {
  if (!message.received) return;
  const std::lock_guard lock(mutex_);
  arrivals_.push_back({message.begin_ns, message.header.from, message.header.kind, message.where});
} catch (const std::bad_alloc&) {}  // as in timed()

// What came before the end of the last operation nobody has waited for.
void Explanation::wait_for_messages(const Span& idle) {
  const Arrival* last = nullptr;
  for (const Arrival& each : arrivals_)
    if (each.at_ns > idle.begin_ns && each.at_ns <= idle.end_ns) last = &each;
  if (last == nullptr) return;
  const Span wait{idle.begin_ns, last->at_ns};
  std::string what = replication::name_of_kind(last->kind);
  if (last->where.line() != 0) what += ", at " + to_string(last->where);
  waited_for_ranks_[{last->from, what}].add(wait.end_ns - wait.begin_ns - in_calls(wait));
}

void Explanation::edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to) {
  const std::lock_guard lock(mutex_);
  const auto before = issued_.find({scope, from});
  if (before != issued_.end()) before->second.successors.push_back({scope, to});
}

// Before its successors learn of it: so what an operation has waited for is known when it has run.
void Explanation::executed(const exec::Executed& ran) try {
  const std::lock_guard lock(mutex_);
  if (last_run_ns_ == 0) first_run_ns_ = last_run_ns_ = ran.begin_ns;
  if (ran.begin_ns > last_run_ns_) {
    wait_for_messages({last_run_ns_, ran.begin_ns});
    idle_.push_back({last_run_ns_, ran.begin_ns});
  }
  last_run_ns_ = std::max(last_run_ns_, ran.end_ns);
  while (!arrivals_.empty() && arrivals_.front().at_ns <= last_run_ns_) arrivals_.pop_front();
  std::uint64_t context = 0;
  if (ran.scope.parent() != nullptr) {
    const auto known = contexts_.find(ran.scope.identity());
    if (known == contexts_.end()) return;
    context = known->second;
  }
  const auto found = issued_.extract({context, ran.seq});
  if (found.empty()) return;
  const Issued& issued = found.mapped();
  if (issued.task) {
    Task& task = tasks_[issued.name];
    const std::uint64_t ready = std::max(issued.issued_ns, issued.done_ns);
    if (ready > issued.issued_ns) task.waited[issued.after].add(ready - issued.issued_ns);
    if (ran.begin_ns > ready) task.waited_for_thread.add(ran.begin_ns - ready);
  }
  for (const Key& later : issued.successors) {
    const auto waiting = issued_.find(later);
    if (waiting == issued_.end() || waiting->second.done_ns >= ran.end_ns) continue;
    waiting->second.done_ns = ran.end_ns;
    waiting->second.after = issued.name;
  }
} catch (const std::bad_alloc&) {}  // a thread that runs tasks goes on; some waits are not told

// --- what is told ------------------------------------------------------------------------------------

namespace {

using Json = nlohmann::ordered_json;

std::string times(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// What is told is told twice: for people, appended to a text, and for programs.

using ReasonLine = fmt::format_string<std::string, const std::string&>;

/// The most frequent first.
Json tell(const Explanation::ReasonCounts& reasons, ReasonLine line, const char* one,
          std::string& text) {
  using Counted = std::pair<std::string, std::uint64_t>;
  std::vector<Counted> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted, std::greater(), &Counted::second);
  Json list = Json::array();
  for (const auto& [reason, count] : sorted) {
    text += fmt::format(line, times(count, one), reason);
    list.push_back({{"why", reason}, {std::string(one) + "s", count}});
  }
  return list;
}

Json tell(const std::string& what, const Explanation::Wait& wait, std::string& text,
          const char* line = "  waited for {}: {:.3f} ms in all, {}\n") {
  text += fmt::format(fmt::runtime(line), what, static_cast<double>(wait.ns) * 1e-6,
                      times(wait.times, "time"));
  return {{"ns", wait.ns}, {"times", wait.times}};
}

Json tell(const Explanation::Trace& trace, std::string& text) {
  text += fmt::format(
      "trace '{}', first begun at {}\n  {}: {} replayed, {} replayed in part, {} analysed\n",
      trace.name, to_string(trace.where),
      times(trace.replayed + trace.partly + trace.analysed, "execution"), trace.replayed,
      trace.partly, trace.analysed);
  Json told = {{"name", trace.name},
               {"begun_at", to_string(trace.where)},
               {"replayed", trace.replayed},
               {"replayed_in_part", trace.partly},
               {"analysed", trace.analysed}};
  told["recordings"] = tell(trace.recordings, "  recorded {}, up to where: {}\n", "time", text);
  told["reasons"] = tell(trace.reasons, "  not replayed, {}: {}\n", "time", text);
  text += "\n";
  return told;
}

Json tell(const std::string& name, const Explanation::Task& task, const std::string& mapper,
          const Machine& machine, std::string& text) {
  const std::uint64_t all = task.replayed + task.analysed;
  text += fmt::format("task '{}'\n  {}: {} replayed, {} analysed\n", name, times(all, "point"),
                      task.replayed, task.analysed);
  Json told = {{"name", name}, {"replayed", task.replayed}, {"analysed", task.analysed}};
  told["reasons"] = tell(task.reasons, "  analysed, {}: {}\n", "point", text);
  told["waited"] = Json::array();
  for (const auto& [after, wait] : task.waited)
    told["waited"].emplace_back(Json::object({{"for", after}})).update(tell(after, wait, text));
  told["waited_for_thread"] = tell("a thread", task.waited_for_thread, text);
  text += fmt::format("  mapped by '{}', asked about {}; {} remembered\n", mapper,
                      times(task.asked, "point"), all - std::min(task.asked, all));
  told["mapper_asked"] = task.asked;
  told["processors"] = Json::array();
  for (const auto& [id, points] : task.processors) {
    const std::string& processor = machine.processor(id).name;
    text += fmt::format("  on {}: {}\n", processor, times(points, "point"));
    told["processors"].push_back({{"processor", processor}, {"points", points}});
  }
  told["arguments"] = Json::array();
  for (const auto& [placement, points] : task.placements) {
    constexpr std::array kChoices{"the mapper's first choice", "its second choice",
                                  "its third choice", "a later choice"};
    const auto& [argument, field, id, choice] = placement;
    const std::string& memory = machine.memory(id).name;
    text += fmt::format("  argument {}, '{}', in {}: {}, {}\n", argument, field, memory,
                        times(points, "point"), kChoices[std::min(choice, kChoices.size() - 1)]);
    told["arguments"].push_back({{"argument", argument},
                                 {"field", field},
                                 {"memory", memory},
                                 {"choice", choice},
                                 {"points", points}});
  }
  text += "\n";
  return told;
}

Json tell_idle(std::uint64_t of_ns, std::uint64_t in_calls_ns, std::uint64_t between_ns,
               std::string& text) {
  const auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; };
  text += fmt::format("No thread ran anything for {:.3f} ms of {:.3f} ms.",
                      ms(in_calls_ns + between_ns), ms(of_ns));
  text += fmt::format(" For {:.3f} ms of that calls were analysed, or traces recorded or replayed;",
                      ms(in_calls_ns));
  text += fmt::format(" for {:.3f} ms the program did something else, such as making partitions.\n",
                      ms(between_ns));
  const bool for_analysis = in_calls_ns > of_ns / 10;
  if (for_analysis)
    text +=
        "This program waits for its analysis: its tasks are short beside what their launches cost "
        "(docs/granularity.md).\n";
  text += "\n";
  return {{"of_ns", of_ns},
          {"in_calls_ns", in_calls_ns},
          {"between_calls_ns", between_ns},
          {"waits_for_analysis", for_analysis}};
}

}  // namespace

Explanation::RankWaits Explanation::rank_waits(std::uint32_t rank) {
  const std::lock_guard lock(mutex_);
  Json waits = Json::array();
  std::uint64_t sum = 0;
  std::string lines;
  for (const auto& [what, wait] : waited_for_ranks_) {
    const auto& [from, message] = what;
    waits.emplace_back(Json::object({{"from", from}, {"for", message}}))
        .update(tell(fmt::format("of rank {}, {}", from, message), wait, lines,
                     "  {}: {:.3f} ms in all, {}\n"));
    sum += wait.ns;
  }
  return {fmt::format(
              "rank {}\n  waited for messages, with nothing else to run: {:.3f} ms in all\n{}\n",
              rank, static_cast<double>(sum) * 1e-6, lines),
          Json{{"rank", rank}, {"waited", waits}}.dump()};
}

void Explanation::write(const std::string& mapper, const Machine& machine,
                        const std::string& prefix, const std::vector<RankWaits>& ranks) {
  const std::lock_guard lock(mutex_);
  tell_idle_apart(last_run_ns_);
  std::string text = "Refrain explains: what was replayed, what was analysed and why\n\n";
  Json root = {{"mapper", mapper}, {"traces", Json::array()}, {"tasks", Json::array()}};
  // One thread launches and runs by turns.
  if (threads_ > 1)
    root["idle"] =
        tell_idle(last_run_ns_ - first_run_ns_, idle_in_calls_ns_, idle_between_ns_, text);
  for (const auto& [id, trace] : traces_) root["traces"].push_back(tell(trace, text));
  for (const auto& [name, task] : tasks_)
    root["tasks"].push_back(tell(name, task, mapper, machine, text));
  for (const RankWaits& rank : ranks) {
    text += rank.text;
    root["ranks"].push_back(Json::parse(rank.json));
  }
  write_file(prefix + ".txt", "explanation", text);
  write_file(prefix + ".json", "explanation",
             root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace refrain::runtime
