#include "settings.hpp"

namespace refrain::test::numpy {

std::string Setting::name() const {
  const std::string order =
      schedule ? "schedule " + std::to_string(*schedule) : std::to_string(workers) + " workers";
  return order + ", automatic tracing " + (autotrace ? "on" : "off") + ", fusion " +
         (fusion ? "on" : "off") + ", tile " + (tile == 0 ? "chosen" : std::to_string(tile)) +
         (gpus ? ", on GPUs" : "");
}

arrays::Settings Setting::of_session() const {
  arrays::Settings settings;
  settings.fusion = fusion;
  settings.tile = tile;
  return settings;
}

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> shuffled = [] {
    std::vector<Setting> all;
    for (const bool autotrace : {true, false})
      for (const bool fusion : {true, false})
        for (const arrays::Coord tile : {0, 7, 64})
          for (const bool gpus : {false, true}) {
            for (const int workers : {0, 1, 2, 3})
              all.push_back({autotrace, fusion, tile, workers, {}, gpus});
            const std::uint64_t seed = static_cast<std::uint64_t>(tile) % 2 + (fusion ? 1 : 3);
            all.push_back({autotrace, fusion, tile, 0, seed, gpus});
          }
    std::vector<Setting> order;
    for (std::size_t i = 0; i < all.size(); ++i) order.push_back(all[i * 37 % all.size()]);
    return order;
  }();
  return shuffled;
}

Runtime& Runtimes::of(const Setting& setting) {
  std::unique_ptr<Runtime>& runtime =
      made_[{setting.autotrace, setting.workers, setting.schedule, setting.gpus}];
  if (runtime == nullptr) {
    Options options;
    options.workers = setting.workers;
    options.schedule = setting.schedule;
    options.machine = setting.gpus ? "emulated:cpus=4,gpus=2,framebuffer=64KiB" : "emulated:cpus=4";
    options.autotrace = setting.autotrace;
    // What repeats in 40 rounds of a short program is found in the first few.
    options.autotrace_min_length = 4;
    options.autotrace_sample = 8;
    options.autotrace_history = 1024;
    runtime = std::make_unique<Runtime>(options);
  }
  return *runtime;
}

}  // namespace refrain::test::numpy
