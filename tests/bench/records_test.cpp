#include "support/records.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "support/callgrind.hpp"
#include "support/memory.hpp"
#include "support/peer_process.hpp"
#include "support/rounds.hpp"

namespace refrain::bench {
namespace {

Record record(int size) {
  return {"task_overhead", "ours", "", 2, size, "ns_per_task", "ns", Spread{2, 1, 3}};
}

TEST(Records, TwoOfOneNameAreRefused) {
  Records records;
  records.add(record(64));
  records.add(record(512));
  EXPECT_THROW(records.add(record(64)), std::logic_error);
  EXPECT_EQ(records.all().size(), 2u);
}

TEST(Records, AreWrittenAsAList) {
  Records records;
  Record endless = record(1);
  endless.value.median = std::numeric_limits<double>::infinity();
  records.add(record(64));
  records.add(endless);
  const std::string path = testing::TempDir() + "refrain_records.json";
  records.write(path);
  nlohmann::json read;
  std::ifstream(path) >> read;
  std::remove(path.c_str());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0]["system"], "ours");
  EXPECT_EQ(read[0]["variant"], "");
  EXPECT_EQ(read[0]["value"], 2.0);
  EXPECT_EQ(read[0]["max"], 3.0);
  EXPECT_TRUE(read[1]["value"].is_null());
  EXPECT_EQ(read[0].size(), 10u);
}

TEST(Records, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(Records().write("/nowhere/results.json"), std::runtime_error);
}

TEST(Rounds, AlternateTheOrderAndDropTheLost) {
  std::string order;
  int left = 2;
  std::vector<Contestant> contestants{{"a", "", [&] { return order += 'a', 1.0; }},
                                      {"b", "x",
                                       [&] {
                                         if (--left < 0) throw Peer::Lost("is tired");
                                         return order += 'b', 2.0;
                                       }},
                                      {"c", "", [&] { return order += 'c', 3.0; }}};
  run_rounds(contestants, 3);
  EXPECT_EQ(order,
            "cba"
            "abc"
            "ca"
            "ac");
  EXPECT_EQ(contestants[0].samples.size(), 3u);
  EXPECT_EQ(contestants[1].lost, "is tired");
  EXPECT_EQ(find_finished(contestants, "b", "x"), nullptr);
  EXPECT_EQ(find_finished(contestants, "c"), &contestants[2]);
}

TEST(Memory, ResidentBytesAreThere) {
  EXPECT_GT(resident_bytes(), 100'000u);
  EXPECT_GE(peak_resident_bytes(), resident_bytes() / 2);
}

TEST(Memory, AWalkTakesTime) { EXPECT_GT(bare_walk_ns(1 << 16, 64, 1), 0); }

TEST(Callgrind, AProgramThatIsNotThereCountsNothing) {
  if (!can_count_instructions()) GTEST_SKIP() << "valgrind is not here";
  EXPECT_EQ(count_instructions("/nowhere/program", {}), std::nullopt);
}

}  // namespace
}  // namespace refrain::bench
