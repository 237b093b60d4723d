#include <vector>

#include "trace_overhead/program.hpp"

namespace refrain::bench {

namespace {

constexpr Field<double> value{"value"};
const Task link{"F", [](ReadWrite<double>) {}};
const Task look{"G", [](Read<double>) {}};

class Short : public Program {
 public:
  explicit Short(Context& context) : Program(context) {
    const auto pieces = context.blocks(context.region(Rect1{0, chains - 1}, value), chains);
    for (int i = 0; i < chains; ++i) parts_.push_back(pieces(i));
  }

 protected:
  void launch(int count) {
    for (int i = 0; i < count; ++i) context_.launch(link, parts_[i % chains][value]);
  }
  void look_at_the_first() { context_.launch(look, parts_[0][value]); }

 private:
  std::vector<Region<1>> parts_;
};

class Interrupted final : public Short {
 public:
  Interrupted(Context& context, int launches) : Short(context), launches_(launches) {}
  void occurrence() override { launch(launches_); }
  void between() override { look_at_the_first(); }

 private:
  int launches_;
};

class Varying final : public Short {
 public:
  Varying(Context& context, int most) : Short(context), most_(most) {}
  void occurrence() override { launch(1 + round_++ % most_); }

 private:
  int most_;
  int round_ = 0;
};

}  // namespace

std::unique_ptr<Program> make_interrupted(Context& context, int launches) {
  return std::make_unique<Interrupted>(context, launches);
}

std::unique_ptr<Program> make_varying(Context& context, int most) {
  return std::make_unique<Varying>(context, most);
}

}  // namespace refrain::bench
