// The chains with StarPU's `starpu_task_insert` and one STARPU_RW handle per chain. The handles are
// of the void kind: dependences without data, the cheapest that StarPU has. StarPU's main thread
// issues and never executes, so `threads` = 2 is the main thread and one worker, and 1 cannot be.
// Submission is limited to 1000 tasks ahead: without a limit a million tasks take 1.5 GB and twice
// the time. The scheduler is the default one (lws; eager was no faster).

#include <starpu.h>

#include <cstdlib>
#include <vector>

#include "peers/chains.hpp"

namespace {

void empty_body(void**, void*) {}

class Handles {
 public:
  explicit Handles(int chains) : handles_(static_cast<std::size_t>(chains)) {
    for (starpu_data_handle_t& handle : handles_) starpu_void_data_register(&handle);
  }
  ~Handles() {
    for (starpu_data_handle_t handle : handles_) starpu_data_unregister(handle);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  starpu_data_handle_t operator[](int i) const { return handles_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<starpu_data_handle_t> handles_;
};

void run(const peer::Chains& work, starpu_codelet& codelet) {
  const Handles handles(work.chains);
  for (std::int64_t g = 0; g < work.graphs; ++g) {
    for (int s = 0; s < work.steps; ++s) {
      for (int i = 0; i < work.chains; ++i) {
        if (starpu_task_insert(&codelet, STARPU_RW, handles[i], 0) != 0) {
          throw std::runtime_error("starpu_task_insert failed");
        }
      }
    }
  }
  starpu_task_wait_for_all();
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = peer::threads_of(argc, argv);
  if (threads < 2) {
    std::printf("cannot run with one thread: its main thread only issues\n");
    return 0;
  }
  setenv("STARPU_SILENT", "1", 1);
  setenv("STARPU_LIMIT_MAX_SUBMITTED_TASKS", "1000", 1);
  setenv("STARPU_LIMIT_MIN_SUBMITTED_TASKS", "500", 1);
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = threads - 1;
  conf.ncuda = 0;
  conf.nopencl = 0;
  conf.calibrate = 0;
  conf.bus_calibrate = 0;
  if (starpu_init(&conf) != 0) {
    std::printf("starpu_init failed\n");
    return 0;
  }
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = empty_body;
  codelet.nbuffers = 1;
  codelet.modes[0] = STARPU_RW;
  codelet.name = "empty";
  const int result = peer::serve_chains([](const peer::Chains&) {},
                                        [&](const peer::Chains& work) { run(work, codelet); });
  starpu_shutdown();
  return result;
}
