// refrain::run: a whole program under the runtime's flags.

#include <cxxabi.h>

#include <cstdio>
#include <exception>

#include "base/exception_text.hpp"
#include "refrain/error.hpp"
#include "refrain/runtime.hpp"

namespace refrain {

int run(int& argc, char** argv, const std::function<void(Context&)>& program) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.help) {
      std::printf("usage: %s [FLAGS]\n\n%s", argc > 0 ? argv[0] : "program", flags_help().c_str());
      return 0;
    }
    Runtime runtime(options);
    runtime.run(program);
    runtime.write_reports();
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "refrain: %s\n", error.what());
  } catch (const abi::__forced_unwind&) {
    throw;  // the program ends its thread: pthread_exit
  } catch (...) {
    std::fflush(stdout);
    std::fprintf(stderr, "refrain: the program ended with an exception of type %s\n",
                 type_of_current_exception().c_str());
  }
  return 1;
}

}  // namespace refrain
