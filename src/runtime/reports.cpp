#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

#include "base/new_file.hpp"
#include "mapping/mapping_file.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "replication/gather.hpp"
#include "replication/wire.hpp"
#include "report/listeners.hpp"
#include "report/stats.hpp"
#include "runtime/runtime_impl.hpp"

namespace refrain::runtime {

namespace {

void check_writable(const char* flag, const std::string& path) {
  if (path.empty()) return;
  const NewFile tried(path);
  if (tried.error() != 0)
    throw Error(std::string("--refrain:") + flag + ": cannot write the file '" + path +
                "': " + std::generic_category().message(tried.error()));
}

}  // namespace

void Reports::add(std::unique_ptr<Listener> report, std::initializer_list<Events> events,
                  Writer write) {
  runtime_.listeners().add(*report, events);
  listeners_.push_back(std::move(report));
  writers_.push_back(std::move(write));
}

Reports::Reports(RuntimeImpl& runtime) : runtime_(runtime), start_ns_(profile::now_ns()) {
  const Options& options = runtime.options();
  const Machine& machine = runtime.machine();
  add_files(options, machine);
  replication::Ranks* const ranks = runtime.ranks();
  const net::Rank rank = ranks != nullptr ? ranks->mailbox().rank() : 0;
  // One report of all ranks, which rank 0 writes.
  const bool shared = ranks != nullptr && ranks->are_processes();
  if (!options.timeline.empty()) {
    if (!shared || rank == 0) check_writable("timeline", options.timeline);
    auto listener = std::make_unique<TimelineListener>(
        runtime.executor().threads(), ranks != nullptr ? ranks->mailbox().ranks() : 1);
    const profile::Timeline& timeline = listener->timeline();
    add(std::move(listener), {Events::execution, Events::times, Events::messages},
        [&, rank, shared](const Totals&, bool at_the_end) {
          if (shared && at_the_end) write_shared(timeline);
          else if (!shared || rank == 0) timeline.write(options.timeline);
        });
  }
  if (!options.record.empty()) {
    auto record = std::make_unique<CallRecord>(options.record);
    // The record is the program's thread's alone: before the end there is what that has written so far.
    auto write = [&calls = *record](const Totals&, bool at_the_end) {
      at_the_end ? calls.close() : calls.keep_so_far();
    };
    add(std::move(record), {Events::calls}, write);
  }
  if (!options.explain.empty()) {
    const bool writes = !shared || rank == 0 || options.output == Options::Output::all;
    if (writes) {
      check_writable("explain", options.explain + ".txt");
      check_writable("explain", options.explain + ".json");
    }
    auto explanation = std::make_unique<Explanation>(runtime.executor().threads());
    auto write = [&, &told = *explanation, shared, writes](const Totals&, bool at_the_end) {
      std::vector<Explanation::RankWaits> waits;
      if (shared && at_the_end) waits = gather(told);
      if (writes)
        told.write(std::string(runtime_.mapper().name()), machine, options.explain, waits);
    };
    add(std::move(explanation),
        {Events::execution, Events::times, Events::graph, Events::decisions, Events::recordings,
         Events::messages},
        write);
  }
  if (const mapping::MappingFile* file = runtime.mapping_file())
    writers_.emplace_back([this, file](const Totals&, bool at_the_end) {
      // Of several ranks none maps all launches.
      if (!at_the_end || runtime_.ranks() != nullptr) return;
      file->check_tasks(runtime_.task_slots()->names());
      std::fputs(file->unused().c_str(), stderr);
    });
  if (options.stats) {
    check_writable("stats", options.stats_file);
    writers_.emplace_back([this](const Totals& totals, bool) { write_statistics(totals); });
  }
  if (runtime.listener(Events::execution)) runtime.executor().tell_users();
  if (Listener* const told = runtime.listener(Events::messages);
      told != nullptr && ranks != nullptr)
    ranks->mailbox().set_watch([told](const net::Passed& message) { told->passed(message); });
  if (!writers_.empty())
    before_termination_.emplace([this] {
      try {
        write(false);
      } catch (const std::exception& error) { std::fprintf(stderr, "refrain: %s\n", error.what()); }
    });
}

Reports::~Reports() {
  if (runtime_.ranks() != nullptr) runtime_.ranks()->mailbox().set_watch(nullptr);
}

void Reports::write_shared(const profile::Timeline& timeline) const {
  replication::Ranks& ranks = *runtime_.ranks();
  const net::Rank rank = ranks.mailbox().rank();
  const std::uint64_t zero_ns = replication::time_here(ranks, timeline.start_ns());
  replication::Writer own;
  own.number(timeline.dropped());
  own.text(
      timeline.events_of({static_cast<int>(rank) + 1, "rank " + std::to_string(rank), zero_ns}));
  const std::vector<net::Bytes> all = replication::gather(ranks, own.bytes());
  if (rank != 0) return;
  std::uint64_t dropped = 0;
  std::vector<std::string> events;
  for (const net::Bytes& each : all) {
    replication::Reader reader(each);
    dropped += reader.number();
    events.push_back(reader.text());
  }
  write_file(runtime_.options().timeline, "timeline",
             [&](std::ostream& out) { profile::Timeline::write(out, events, dropped); });
}

std::vector<Explanation::RankWaits> Reports::gather(Explanation& explanation) const {
  replication::Ranks& ranks = *runtime_.ranks();
  const auto [text, json] = explanation.rank_waits(ranks.mailbox().rank());
  replication::Writer own;
  own.text(text);
  own.text(json);
  std::vector<Explanation::RankWaits> waits;
  for (const net::Bytes& each : replication::gather(ranks, own.bytes())) {
    replication::Reader reader(each);
    std::string for_people = reader.text();
    waits.push_back({std::move(for_people), reader.text()});
  }
  return waits;
}

void Reports::write(bool at_the_end) {
  const std::lock_guard lock(writing_);
  if (std::exchange(written_, true)) return;
  const Totals totals = at_the_end ? runtime_.totals() : runtime_.totals_from_outside();
  std::string faults;
  for (const auto& write_one : writers_) {
    try {
      write_one(totals, at_the_end);
    } catch (const std::exception& error) {
      faults += (faults.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  if (!faults.empty()) throw Error(faults);
}

void Reports::write_statistics(const Totals& totals) const {
  const Machine& machine = runtime_.machine();
  const exec::ExecutorCounters executed = runtime_.executor().counters();
  Statistics s;
  s.wall_ns = profile::now_ns() - start_ns_;
  s.counters = totals.counters();
  s.analysis_ns = totals.analysis_ns;
  s.workers = runtime_.executor().threads() - 1;
  s.idle_share = executed.idle_share;
  s.stolen = executed.stolen;
  s.sleeps = executed.sleeps;
  s.peak_resident = peak_resident_bytes();
  s.recording_bytes = totals.traces.most_bytes;
  const std::size_t memories = machine.memories().size();
  for (std::size_t link = 0; link < totals.analysis.links.size(); ++link) {
    const auto [copies, bytes] = totals.analysis.links[link];
    if (copies == 0) continue;
    const Memory& from = machine.memory(static_cast<MemoryId>(link / memories));
    const Memory& to = machine.memory(static_cast<MemoryId>(link % memories));
    s.links.push_back({from.name, to.name, std::string(to_string(from.kind)),
                       std::string(to_string(to.kind)), copies, bytes});
  }
  for (const Memory& memory : machine.memories())
    s.memories.push_back(
        {memory.name, memory.capacity, runtime_.memories().pool(memory.id).usage().peak});
  report(s, runtime_.options().stats_file);
}

}  // namespace refrain::runtime
