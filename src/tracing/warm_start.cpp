#include "tracing/found_traces.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <new>
#include <optional>

#include "finder/mining.hpp"
#include "oracle/error.hpp"
#include "oracle/run_reader.hpp"
#include "report/listeners.hpp"

// The first candidates, out of the record of an earlier run.

namespace refrain::runtime {

namespace {

std::vector<autotrace::MinedRepeat> proposals_in(const oracle::RunRecord& run,
                                                 const Options& options) {
  const autotrace::FinderOptions finder = finder_options(options);
  const autotrace::ProposalLimits limits{.mining = finder.limits, .longest = finder.history};
  std::vector<autotrace::MinedRepeat> all;
  bool is_of_refrain = false;
  for (const oracle::ThreadRecord& program : run.threads) {
    is_of_refrain |= program.names.empty();
    std::vector<std::optional<autotrace::Token>> tokens;
    for (const std::string& name : program.names) {
      const auto call = call_named(name);
      is_of_refrain |= call.has_value();
      tokens.push_back(call && !call->marked ? std::optional(call->token) : std::nullopt);
    }
    auto found = autotrace::proposals(program.grammar, tokens, limits);
    std::ranges::move(found, std::back_inserter(all));
  }
  if (!is_of_refrain)
    throw oracle::FileError(options.warm_start,
                            "no call of a program on Refrain is recorded in it");
  return all;
}

}  // namespace

std::vector<autotrace::MinedRepeat> read_warm_start(const Options& options) {
  if (options.warm_start.empty() || !options.tracing || !options.autotrace) return {};
  std::string problem;
  try {
    return proposals_in(oracle::read_run(options.warm_start), options);
  } catch (const oracle::OracleError& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = options.warm_start + ": there is not enough memory to read it";
  }
  std::fprintf(stderr, "refrain: --refrain:warm-start: %s; starting without it\n", problem.c_str());
  return {};
}

}  // namespace refrain::runtime
