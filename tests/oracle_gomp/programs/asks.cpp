// Threads of a team that wait for what somebody does only when another thread of the same team has asked for it. Each
// way of waiting is a region: its last thread prints a question, and thread 0 or 1 reads the answer, a line with a
// number on stdin, or what comes out of a FIFO. The arguments name two of these: whoever opens one that somebody has
// open still for the question before would not wait. Prints the sum of the answers.

#include <fcntl.h>
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

namespace {

long sum = 0;

template <class Read>
void ask(const char* question, int reader, const Read& read) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (me == omp_get_num_threads() - 1) {
      std::printf("%s?\n", question);
      std::fflush(stdout);
    }
    if (me == reader) sum += read();
  }
}

/// To the end of the line.
template <class Next>
long by_character(const Next& next) {
  long number = 0;
  for (int c; (c = next()) != '\n' && c != EOF;) number = 10 * number + (c - '0');
  return number;
}

long from(FILE* file) {
  if (file == nullptr) return 0;
  const long number = by_character([=] { return std::fgetc(file); });
  std::fclose(file);
  return number;
}

}  // namespace

int main(int, char** arguments) {
  char line[100] = "";
  ask("fgets", 0, [&] { return std::fgets(line, sizeof line, stdin) ? std::atol(line) : 0; });
  ask("getchar", 1, [] { return by_character([] { return std::getchar(); }); });
  ask("fgetc", 0, [] { return by_character([] { return std::fgetc(stdin); }); });
  ask("scanf", 1, [] {
    long number = 0;
    return std::scanf("%ld%*c", &number) == 1 ? number : 0;
  });
  ask("fread", 0, [&] { return std::fread(line, 1, 2, stdin) == 2 ? std::atol(line) : 0; });
  ask("getline", 1, [] {
    char* text = nullptr;
    std::size_t size = 0;
    const long number = getline(&text, &size, stdin) > 0 ? std::atol(text) : 0;
    std::free(text);
    return number;
  });
  ask("read", 0, [&] { return read(0, line, 2) == 2 ? std::atol(line) : 0; });
  ask("std::getline", 1, [] {
    std::string text;
    return std::getline(std::cin, text) ? std::atol(text.c_str()) : 0;
  });
  ask("fopen", 0, [=] { return from(std::fopen(arguments[1], "r")); });
  ask("open", 1, [=] { return from(fdopen(open(arguments[2], O_RDONLY), "r")); });
  // The thread that is waited for waits for the last one.
  std::atomic<bool> wanted{false};
  std::thread other([&] {
    while (!wanted) {}
  });
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (me == 0) other.join();
    if (me == omp_get_num_threads() - 1) wanted = true;
  }
  long regions = 0;
  for (int i = 0; i < 5; ++i) {
#pragma omp parallel reduction(+ : regions)
    regions += 1;
  }
  std::printf("%ld in all, %ld\n", sum, regions);
}
