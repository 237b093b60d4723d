#include "oracle/timed_reduction.hpp"

#include <algorithm>
#include <utility>

namespace refrain::oracle {

Grammar TimedReduction::replay(std::vector<Delays::Recorded>* recorded) {
  Grammar grammar = reduction_.grammar();
  const std::size_t symbols = grammar.uses().size();
  groups_.replay(grammar, waiting_, std::max(kContexts * symbols, fewest_), recorded);
  most_waiting_ = std::max(kTimes * symbols, fewest_);
  waiting_.clear();
  if (waiting_.capacity() < most_waiting_) {
    waiting_.shrink_to_fit();  // so that nothing is copied
    waiting_.reserve(most_waiting_);
  }
  return grammar;
}

TimedGrammar TimedReduction::grammar() {
  TimedGrammar timed;
  timed.grammar = replay(&timed.delays);
  return timed;
}

std::size_t TimedReduction::bytes() const {
  return sizeof *this - sizeof reduction_ + reduction_.bytes() + groups_.bytes() +
         waiting_.capacity() * sizeof(double);
}

}  // namespace refrain::oracle
