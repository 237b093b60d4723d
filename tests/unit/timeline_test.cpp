#include "profile/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <thread>

#include "base/json.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::profile::timeline_test {
namespace {

std::string written(const Timeline& timeline) {
  std::ostringstream out;
  timeline.write(out);
  return out.str();
}

// The events of one kind ("X": intervals, "M": names) that the file holds.
std::vector<JsonNode> events_of(const JsonFile& file, std::string_view kind) {
  std::vector<JsonNode> found;
  for (const JsonNode& event : file.root().at("traceEvents").as_array())
    if (event.at("ph").as_string() == kind) found.push_back(event);
  return found;
}

Event span(std::string_view name, std::uint64_t begin, std::uint64_t end) {
  Event event;
  event.name = name;
  event.begin_ns = begin;
  event.end_ns = end;
  return event;
}

TEST(Timeline, WritesWhatViewersRead) {
  Timeline timeline(2);
  const std::uint64_t now = now_ns();
  Event event = span("step\n", now, now + 1500);
  event.category = Category::task;
  event.where = std::source_location::current();
  event.number = {"operation", -7};
  timeline.record(0, event);
  timeline.record(1, span("copy", now, now + 20));
  const JsonFile file(written(timeline), "timeline");
  const auto names = events_of(file, "M");
  ASSERT_EQ(names.size(), 4U);
  EXPECT_EQ(names[0].at("args").at("name").as_string(), "thread 0");
  const auto spans = events_of(file, "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].at("name").as_string(), "step\n");
  EXPECT_EQ(spans[0].at("cat").as_string(), "task");
  EXPECT_DOUBLE_EQ(spans[0].at("dur").as_number(), 1.5);
  EXPECT_GE(spans[0].at("ts").as_number(), 0);
  EXPECT_EQ(spans[0].at("args").at("launched at").as_string(), refrain::to_string(event.where));
  EXPECT_EQ(spans[0].at("args").at("operation").as_integer(-9, 9), -7);
  EXPECT_DOUBLE_EQ(spans[1].at("dur").as_number(), 0.02);
  EXPECT_NE(spans[0].at("tid").as_integer(0, 9), spans[1].at("tid").as_integer(0, 9));
}

// Perfetto colours by name, chrome://tracing by `cname`.
TEST(Timeline, WhatHasAColourOfItsOwn) {
  Timeline timeline(1);
  const std::uint64_t now = now_ns();
  Event event = span("recording", now, now + 10);
  event.category = Category::recording;
  event.subject = "step";
  event.where = std::source_location::current();
  timeline.record(0, event);
  event = span("analysing", now + 20, now + 30);
  event.category = Category::analysing;
  event.subject = "add_one";
  timeline.record(0, event);
  timeline.record(0, span("add_one", now + 40, now + 50));
  const JsonFile file(written(timeline), "timeline");
  const auto spans = events_of(file, "X");
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].at("cat").as_string(), "recording");
  EXPECT_EQ(spans[0].at("cname").as_string(), "thread_state_iowait");
  EXPECT_EQ(spans[0].at("args").at("trace").as_string(), "step");
  EXPECT_TRUE(spans[0].at("args").at("begun at").as_string().starts_with("timeline_test.cpp:"));
  EXPECT_EQ(spans[1].at("cname").as_string(), "rail_response");
  EXPECT_EQ(spans[1].at("args").at("call").as_string(), "add_one");
  EXPECT_FALSE(spans[2].find("cname").has_value());
}

// An arrow from one process to the other, each with a clock of its own.
TEST(Timeline, ThoseOfSeveralProcessesAreOneFile) {
  std::vector<std::string> events;
  for (const int number : {1, 2}) {
    Timeline timeline(1, 10, {"messages"});
    const std::uint64_t now = 1'000'000'000 * static_cast<std::uint64_t>(number);
    Event event = span("values", now + 2'000, now + 3'000);
    event.category = Category::message;
    event.flow = {7, number == 2};
    timeline.record(1, event);
    events.push_back(timeline.events_of({number, "rank " + std::to_string(number - 1), now}));
  }
  std::ostringstream out;
  Timeline::write(out, events, 3);
  const JsonFile file(out.str(), "timeline");
  EXPECT_EQ(file.root().at("otherData").at("dropped events").as_string(), "3");
  const auto names = events_of(file, "M");
  EXPECT_EQ(names[0].at("args").at("name").as_string(), "rank 0");
  const auto begins = events_of(file, "s"), ends = events_of(file, "f");
  ASSERT_EQ(begins.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(begins[0].at("id").as_integer(0, 9), 7);
  EXPECT_EQ(ends[0].at("id").as_integer(0, 9), 7);
  EXPECT_EQ(begins[0].at("pid").as_integer(0, 9), 1);
  EXPECT_EQ(ends[0].at("pid").as_integer(0, 9), 2);
  EXPECT_EQ(begins[0].at("tid").as_integer(0, 9), 1);
  EXPECT_DOUBLE_EQ(begins[0].at("ts").as_number(), 2);
  EXPECT_DOUBLE_EQ(ends[0].at("ts").as_number(), 3);
}

TEST(Timeline, AnEmptyOneIsAFileToo) {
  const JsonFile file(written(Timeline(3)), "timeline");
  EXPECT_TRUE(events_of(file, "X").empty());
  EXPECT_EQ(events_of(file, "M").size(), 6U);
}

TEST(Timeline, KeepsTheLastEventsAndCountsTheRest) {
  Timeline timeline(1, 10);
  const std::uint64_t now = now_ns();
  for (std::uint64_t i = 0; i < 25; ++i)
    timeline.record(0, span("event " + std::to_string(i), now + i, now + i + 1));
  EXPECT_EQ(timeline.dropped(), 15U);
  const JsonFile file(written(timeline), "timeline");
  const auto spans = events_of(file, "X");
  ASSERT_EQ(spans.size(), 10U);
  EXPECT_EQ(spans.front().at("name").as_string(), "event 15");
  EXPECT_EQ(spans.back().at("name").as_string(), "event 24");
  EXPECT_EQ(file.root().at("otherData").at("dropped events").as_string(), "15");
}

TEST(Timeline, OverlappingEventsGetLanes) {
  Timeline timeline(1);
  const std::uint64_t now = now_ns();
  timeline.record(0, span("inner", now + 20, now + 30));  // recorded first, since it ended first
  timeline.record(0, span("outer", now, now + 100));
  timeline.record(0, span("across", now + 50, now + 150));
  const JsonFile file(written(timeline), "timeline");
  const auto spans = events_of(file, "X");
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].at("name").as_string(), "outer");
  EXPECT_EQ(spans[0].at("tid").as_integer(0, 9), spans[1].at("tid").as_integer(0, 9));
  EXPECT_NE(spans[0].at("tid").as_integer(0, 9), spans[2].at("tid").as_integer(0, 9));
  EXPECT_EQ(events_of(file, "M")[2].at("args").at("name").as_string(), "thread 0 (2)");
}

TEST(Timeline, ManyThreads) {
  Timeline timeline(2, 100);
  const auto work = [&timeline](int track) {
    for (int i = 0; i < 1000; ++i) {
      timeline.record(track, span("own", now_ns(), now_ns()));
      timeline.record(7, span("shared", now_ns(), now_ns()));
    }
  };
  std::thread other(work, 0);
  work(1);
  written(timeline);
  other.join();
  EXPECT_EQ(timeline.dropped(), 4000U - 2 * 100);
}

TEST(Timeline, SaysWhichFileCannotBeWritten) {
  try {
    Timeline(1).write(std::string("/nowhere/t.json"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the timeline cannot be written to '/nowhere/t.json': No such file or directory");
  }
}

TEST(Lanes, EventsOfALaneNest) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Event> events(random() % 40);
    for (Event& e : events) {
      e.begin_ns = random() % 50;
      e.end_ns = e.begin_ns + random() % 20;
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    const std::vector<int> lanes = assign_lanes(events);
    for (std::size_t i = 0; i < events.size(); ++i)
      for (std::size_t j = i + 1; j < events.size(); ++j)
        if (lanes[i] == lanes[j]) {
          EXPECT_TRUE(events[j].begin_ns >= events[i].end_ns ||
                      events[j].end_ns <= events[i].end_ns);
        }
  }
  EXPECT_EQ(
      assign_lanes(std::vector{span("", 0, 10), span("", 0, 5), span("", 5, 10), span("", 10, 12)}),
      (std::vector<int>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace refrain::profile::timeline_test
