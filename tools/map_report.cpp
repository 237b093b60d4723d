#include "map_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "profile/clock.hpp"

namespace refrain::tools {

// --- while it goes on ------------------------------------------------------------------------------------

bool ProgressLine::is_terminal() { return isatty(STDERR_FILENO) == 1; }

void ProgressLine::end() {
  if (terminal_ && std::exchange(shown_, false)) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const map_search::Progress& progress) {
  const std::uint64_t now = profile::now_ns();
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (now < next_) return;
  next_ = now + (terminal_ ? kSecond / 10 : 10 * kSecond);
  shown_ = true;
  std::string line = "best ";
  if (progress.best == nullptr) line += "none yet";
  else if (objective_ == map_search::Objective::time)
    line += short_duration(progress.best->measured.seconds.mean);
  else line += short_size(static_cast<std::uint64_t>(progress.best->measured.bytes.mean));
  line += fmt::format(", {} evaluated", grouped(progress.counts.evaluated));
  if (progress.phase == map_search::Phase::final) line += ", final runs";
  if (std::isfinite(budget_))
    line += fmt::format(", {} left", short_duration(std::max(0.0, budget_ - progress.spent)));
  line += ", trying " + map_search::text(space_, progress.trying);
  constexpr std::size_t kWidth = 110;
  if (line.size() > kWidth) line = line.substr(0, kWidth - 3) + "...";
  if (terminal_) std::fprintf(stderr, "\r\033[K%s", line.c_str());
  else std::fprintf(stderr, "%s\n", line.c_str());
  std::fflush(stderr);
}

void Course::note(const map_search::Progress& progress) {
  if (progress.best != nullptr) note(progress.spent, progress.best->measured.value(objective_));
}

void Course::note(double seconds, double value) {
  if (points_.empty() || points_.back().second != value) points_.emplace_back(seconds, value);
  last_ = seconds;
}

std::vector<std::pair<double, double>> Course::points() const {
  std::vector<std::pair<double, double>> all = points_;
  if (!all.empty() && last_ > all.back().first) all.emplace_back(last_, all.back().second);
  return all;
}

// --- what it has found -----------------------------------------------------------------------------------

std::string SearchReport::value_text(const map_search::Measurement& measured) const {
  if (measured.outcome != map_search::Outcome::ok)
    return std::string(map_search::name(measured.outcome));
  if (objective == map_search::Objective::bytes)
    return short_size(static_cast<std::uint64_t>(measured.bytes.mean));
  const std::string mean = short_duration(measured.seconds.mean);
  return measured.runs > 1 ? fmt::format("{} (+-{})", mean, short_duration(measured.seconds.spread))
                           : mean;
}

std::string SearchReport::text() const {
  const map_search::Counts& counts = result.counts;
  std::string text = fmt::format(
      "{} tasks, {} arguments, {:.3g} mappings; {} proposed, {} evaluated, of these {} failed; {} "
      "runs, those of the search in {}\n",
      space.tasks.size(), space.arguments.size(), result.size, grouped(counts.proposed),
      grouped(counts.evaluated), grouped(counts.failed), grouped(counts.runs),
      short_duration(result.spent));
  if (result.end == map_search::End::budget) text += "  the budget was spent before its end\n";
  if (result.end == map_search::End::stopped)
    text += "  it was stopped; there were no final runs, or not all\n";
  std::map<map_search::Outcome, std::size_t> failures;
  for (const map_search::Candidate& failure : result.failures) ++failures[failure.measured.outcome];
  for (const auto& [outcome, count] : failures) {
    const auto first = std::ranges::find_if(
        result.failures, [&](const auto& failure) { return failure.measured.outcome == outcome; });
    text += fmt::format("  {} {}, the first: {}\n", grouped(count), map_search::name(outcome),
                        first->measured.text);
  }
  if (result.finalists.empty()) return text + "no mapping works\n";
  const map_search::Candidate& best = result.finalists.front();
  if (result.start) text += fmt::format("starting point  {}\n", value_text(result.start->measured));
  text += fmt::format("best            {}", value_text(best.measured));
  const double before = result.start ? result.start->measured.value(objective) : 0;
  if (before > 0 && std::isfinite(before)) {
    const double after = best.measured.value(objective);
    text += objective == map_search::Objective::time
                ? fmt::format(", {:.2f} times as fast", before / after)
                : fmt::format(", {:.1f}% of that", 100 * after / before);
  }
  text += "\n\n";
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    text += fmt::format(
        "{:<28} {:<5} {:<8}", space.tasks[task].name,
        space.processors[best.mapping.processor[task]].name,
        space.tasks[task].group ? space.distributions[best.mapping.distribution[task]] : "");
    for (const std::uint32_t argument : space.arguments_of(task))
      text += fmt::format(" {}:{}", space.arguments[argument].name,
                          space.memories[best.mapping.memory[argument]].name);
    text += "\n";
  }
  return text;
}

std::string SearchReport::json() const {
  using Json = nlohmann::ordered_json;
  const map_search::Counts& counts = result.counts;
  Json json{{"program", space.program},
            {"objective", objective == map_search::Objective::time ? "seconds" : "bytes"},
            {"tasks", space.tasks.size()},
            {"arguments", space.arguments.size()},
            {"mappings", result.size},
            {"proposed", counts.proposed},
            {"evaluated", counts.evaluated},
            {"failed", counts.failed},
            {"runs", counts.runs},
            {"seconds", result.spent},
            {"end", result.end == map_search::End::done     ? "done"
                    : result.end == map_search::End::budget ? "budget"
                                                            : "stopped"}};
  if (result.start) json["start"] = result.start->measured.value(objective);
  json["best"] = Json::array();
  for (const map_search::Candidate& candidate : result.finalists)
    json["best"].push_back(Json{{"value", candidate.measured.value(objective)},
                                {"spread", candidate.measured.seconds.spread},
                                {"mapping", map_search::text(space, candidate.mapping)}});
  json["failures"] = Json::array();
  for (const map_search::Candidate& failure : result.failures)
    json["failures"].push_back(Json{{"outcome", map_search::name(failure.measured.outcome)},
                                    {"text", failure.measured.text},
                                    {"mapping", map_search::text(space, failure.mapping)}});
  return json.dump(2) + "\n";
}

}  // namespace refrain::tools
