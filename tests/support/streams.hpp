#pragma once
// Streams of tokens, for whatever looks for traces in them. A stream is a function of its name and seed: a shorter one
// is the beginning of a longer one.
//
// Like those of programs ("Automatic Tracing in Task-Based Runtime Systems", sections 2 and 4.2: a main
// loop, between whose iterations other computations come irregularly), tokens are hashes:
//   loop         something once, then a body of 60, over and over
//   insertions   a body of 60; after one in four, one of three statistics of 3 to 8, at times a token that never comes again
//   observed     a body of 60; after each, one of five statistics of 3 to 8
//   branches     a body of 60, two parts of which, of 5 and 8, are left out one time in five
//   nested       a body of 20, an inner loop of 12 that runs 3 to 9 times, a check one time in four
//   alternating  a body of 30 in two versions in turn, as when two regions change places; out of turn after a check
//   phases       bodies of 40, another one after 15 to 40 iterations, half of it as before
//   drifting     a body of 60, in which after every other iteration one call is another one from then on
//   long_loop    as insertions, with a body of 1000
//
// Others, of small numbers but for `distinct`:
//   one_token, random_2, random_3, random_100 (so many letters), distinct,
//   fibonacci     a -> ab, b -> a: repeats of all lengths, none of them four times in a row
//   thue_morse    a -> ab, b -> ba: no repeat that overlaps itself
//   period_doubling  a -> ab, b -> aa
//
// Noisy, also of small numbers, in which hardly an iteration is like another:
//   noisy_loop    a body of 37; one call in 50 is one of five others instead

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace refrain::test {

using Stream = std::vector<std::uint64_t>;

extern const std::vector<std::string> program_streams;
extern const std::vector<std::string> other_streams;
extern const std::vector<std::string> noisy_streams;

/// Throws std::invalid_argument for a name that is not in the lists.
Stream make_stream(const std::string& name, std::size_t size, std::uint64_t seed);

}  // namespace refrain::test
