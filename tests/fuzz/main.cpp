// fuzz: random programs for as long as asked, each in every setting, judged like the tests do.
//
// Programs run in a child process, so that crashes and hangs are caught and shrunk like wrong results.
// A failure prints its seed, the setting and the shrunk program; `fuzz --seed N` tries that seed again.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <iostream>
#include <string>

#include "fuzz/isolation.hpp"
#include "support/generate.hpp"
#include "support/interpreter.hpp"
#include "support/shrink.hpp"
#include "support/text.hpp"
#include "support/trial.hpp"

namespace refrain::test {
namespace {

struct Choices {
  double seconds = 60;
  std::uint64_t first = 0;
  std::uint64_t seeds = ~std::uint64_t{0};
  std::string setting;  ///< empty: all
  bool keep_going = false;
  bool print = false;
};

constexpr const char* usage =
    "usage: fuzz [options]\n"
    "  --seconds N      how long to go on (60)\n"
    "  --from N         the first seed (one from the clock)\n"
    "  --seed N         this seed only\n"
    "  --setting NAME   only this setting; 'list' names them all\n"
    "  --keep-going     go on after a failure\n"
    "  --print          print each program instead of trying it\n";

[[noreturn]] void fail(const std::string& text) {
  std::cerr << text << '\n' << usage;
  std::exit(2);
}

std::uint64_t number(const std::string& option, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(fmt::format("{}: expected a whole number, found '{}'", option, text));
  return value;
}

Choices parse(int argc, char** argv) {
  Choices choices;
  choices.first = static_cast<std::uint64_t>(
      std::chrono::system_clock::now().time_since_epoch().count() / 1000 % 1'000'000'000'000);
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) fail(option + ": expected a value");
      return argv[i];
    };
    if (option == "--seconds") choices.seconds = static_cast<double>(number(option, value()));
    else if (option == "--from") choices.first = number(option, value());
    else if (option == "--setting") choices.setting = value();
    else if (option == "--keep-going") choices.keep_going = true;
    else if (option == "--print") choices.print = true;
    else if (option == "--seed") {
      choices.first = number(option, value());
      choices.seeds = 1;
    } else if (option == "--help") {
      std::cout << usage;
      std::exit(0);
    } else {
      fail(fmt::format("unknown option '{}'", option));
    }
  }
  return choices;
}

std::vector<Setting> chosen_settings(const std::string& name) {
  if (name.empty()) return settings();
  for (const Setting& s : settings()) {
    if (name == "list") std::cout << s.name << '\n';
    if (s.name == name) return {s};
  }
  if (name == "list") std::exit(0);
  fail(fmt::format("unknown setting '{}'", name));
}

/// Tries one plan in a process of its own.
std::string try_alone(const Plan& plan, const Setting& setting) {
  return isolated(10,
                  [&](Progress& progress) {
                    progress.begin(plan.seed, 0);
                    Trials trials;
                    return trials.run(plan, setting);
                  })
      .text;
}

/// What kind of failure a text tells of: its first words. Shrinking keeps to one kind.
std::string kind_of(const std::string& failure) {
  return failure.substr(0, failure.find_first_of(":[0123456789"));
}

void report(const Plan& plan, const Setting& setting, const std::string& first) {
  fmt::print("\nFAILED: seed {}, setting '{}'\n{}\nshrinking ...\n", plan.seed, setting.name,
             first);
  std::fflush(stdout);
  const Plan small = shrink(
      plan, [&](const Plan& p) { return kind_of(try_alone(p, setting)) == kind_of(first); }, 1000);
  fmt::print("{}\n{}\ntry it again: fuzz --seed {} --setting '{}'\n", try_alone(small, setting),
             to_text(resolve(small)), plan.seed, setting.name);
  std::fflush(stdout);
}

int run(const Choices& choices) {
  const std::vector<Setting> all = chosen_settings(choices.setting);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(choices.seconds);
  std::uint64_t next = choices.first, failures = 0;
  const std::uint64_t last = choices.first + choices.seeds;
  while (next != last && std::chrono::steady_clock::now() < end) {
    const Ending ending = isolated(30, [&](Progress& progress) -> std::string {
      Trials trials;
      std::uint64_t seed = next;
      for (; seed != last && std::chrono::steady_clock::now() < end; ++seed) {
        const Plan plan = generate(seed);
        for (std::size_t s = 0; s < all.size(); ++s) {
          progress.begin(seed, static_cast<int>(s));
          if (std::string wrong = trials.run(plan, all[s]); !wrong.empty()) return wrong;
        }
      }
      progress.begin(seed, 0);
      return {};
    });
    next = ending.seed;
    if (ending.text.empty()) continue;
    ++failures;
    report(generate(next), all[static_cast<std::size_t>(ending.step)], ending.text);
    if (!choices.keep_going) break;
    ++next;
  }
  fmt::print("{} random programs, seeds {} to {}, {} settings each: {} failed\n",
             next - choices.first, choices.first, next - (next > choices.first ? 1 : 0), all.size(),
             failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace refrain::test

int main(int argc, char** argv) {
  using namespace refrain::test;
  const Choices choices = parse(argc, argv);
  if (choices.print) {
    const std::uint64_t seeds = choices.seeds == 1 ? 1 : 10;
    for (std::uint64_t i = 0; i < seeds; ++i)
      std::cout << to_text(resolve(generate(choices.first + i))) << '\n';
    return 0;
  }
  return run(choices);
}
