// `refrain report LOG -o PICTURE`: what automatic tracing made of a run, as Figure 10 of Yadav et al.,
// ASPLOS 2025, has it: for each call, how many of those before it were replayed.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/new_file.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "finder/trace_finder.hpp"
#include "share_chart.hpp"
#include "traced_run_file.hpp"

namespace refrain::tools {
namespace {

/// Of the line, where there are more calls: about one per pixel.
constexpr std::uint64_t kMostPoints = 800;

struct ReportRequest {
  std::string log, picture;
  std::uint64_t window = 5000;  // of the paper
  std::uint64_t context = 0;
};

std::string totals(const TracedRun& run) {
  const std::size_t recordings = run.recordings().size();
  return fmt::format("{} calls, {:.1f} % replayed, {} recording{}", grouped(run.calls()),
                     100 * run.share_before(run.calls(), run.calls()), grouped(recordings),
                     recordings == 1 ? "" : "s");
}

/// CLI11 puts the flag's name before what is wrong.
CLI::Validator whole_number_from(std::uint64_t least) {
  return {[least](const std::string& value) { return whole_number_fault(value, least); }, ""};
}

/// The name of the log without its folders; what is not ASCII may be no text at all.
std::string shown_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (char& c : name)
    if (c < ' ' || c > '~') c = '?';
  return name;
}

ShareChart chart_of(const TracedRun& run, const ReportRequest& request) {
  ShareChart chart;
  chart.title = "Automatic tracing: " + totals(run);
  chart.subtitle = fmt::format("{}, context {}", shown_name(request.log), request.context);
  chart.count_name = "calls";
  chart.share_name = fmt::format("replayed of the last {} calls", grouped(request.window));
  chart.end = run.calls();
  const std::uint64_t points = std::min(run.calls(), kMostPoints);
  for (std::uint64_t i = 0; i <= points; ++i) {
    const auto call = static_cast<std::uint64_t>(
        static_cast<double>(run.calls()) * static_cast<double>(i) / static_cast<double>(points));
    chart.line.push_back({call, run.share_before(call, request.window)});
  }
  chart.mark_name = "a recording is made";
  for (const TracedRun::Recording& recording : run.recordings())
    chart.marks.push_back(recording.at);
  if (const auto steady = run.steady_from())
    chart.milestone = {*steady, "steady from call " + grouped(*steady)};
  return chart;
}

void report(const ReportRequest& request) {
  const PictureFormat format = picture_format(request.picture);
  const TracedRunFile file = read_traced_run(request.log, request.context);
  for (const std::string& note : file.notes) std::fprintf(stderr, "refrain: %s\n", note.c_str());
  write_file(request.picture, "picture", draw(chart_of(file.run, request), format));
  const auto steady = file.run.steady_from();
  fmt::print("{}, context {}: {}, {}\n", request.log, request.context, totals(file.run),
             steady ? "steady from call " + grouped(*steady) : "no steady state");
}

}  // namespace

std::string whole_number_fault(const std::string& value, std::uint64_t least) {
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc() && stop == end && number >= least) return {};
  return fmt::format("expected a whole number from {}{}, found '{}'", least,
                     error == std::errc::result_out_of_range ? " to 2^64-1" : "", value);
}

void add_report_command(CLI::App& tool) {
  CLI::App* command = tool.add_subcommand(
      "report",
      "Draw how much of a run was replayed, from what --refrain:autotrace-log has written");
  auto request = std::make_shared<ReportRequest>();
  command->add_option("log", request->log, "a log of automatic tracing")->required();
  command->add_option("-o,--output", request->picture, "the picture to write: .svg or .png")
      ->required();
  command
      ->add_option("--window", request->window,
                   "draw for each call the share of so many calls before it")
      ->check(whole_number_from(1))
      ->capture_default_str();
  command->add_option("--context", request->context, "whose calls: 0 is the program's")
      ->check(whole_number_from(0))
      ->capture_default_str();
  command->callback([request] { report(*request); });
}

}  // namespace refrain::tools
