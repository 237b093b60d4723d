#pragma once
// The serving side of a peer program (bench/support/peer_process.hpp is the asking side). A peer
// prints `ready`, then answers every request line, `key=number key=number ...`, with one line: a
// number, or a text that says what went wrong. It ends with its input.
//
// Header only and plain C++17, so that every rival's own compiler and flags can build it.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace peer {

/// The numbers of one request, by name.
class Request {
 public:
  explicit Request(const std::string& line) : line_(line) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw std::runtime_error("bad request '" + word + "'");
      numbers_[word.substr(0, equals)] = std::strtoll(word.c_str() + equals + 1, nullptr, 10);
    }
  }

  const std::string& line() const { return line_; }
  bool has(const std::string& key) const { return numbers_.count(key) != 0; }
  std::int64_t operator[](const std::string& key) const {
    const auto found = numbers_.find(key);
    if (found == numbers_.end()) throw std::runtime_error("request without '" + key + "'");
    return found->second;
  }

 private:
  std::string line_;
  std::map<std::string, std::int64_t> numbers_;
};

/// Answers requests with handler(request), a number, until the input ends. Returns main's result.
template <class Handler>
int serve(Handler&& handler) {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::printf("%.17g\n", static_cast<double>(handler(Request(line))));
    } catch (const std::exception& error) { std::printf("%s\n", error.what()); }
    std::fflush(stdout);
  }
  return 0;
}

/// Nanoseconds since it was made.
class Timer {
 public:
  double ns() const {
    return std::chrono::duration<double, std::nano>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// The first argument of every peer is its number of threads; a second one is the variant.
inline int threads_of(int argc, char** argv) { return argc > 1 ? std::atoi(argv[1]) : 1; }

inline std::string variant_of(int argc, char** argv) { return argc > 2 ? argv[2] : ""; }

}  // namespace peer
