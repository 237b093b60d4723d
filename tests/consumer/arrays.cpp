#include <refrain/arrays.hpp>

int main(int argc, char** argv) {
  double total = 0;
  const int status = refrain::run(argc, argv, [&](refrain::Context& ctx) {
    refrain::arrays::Session np(ctx);
    total = sum(dot(np.eye(3), np.arange(3.0)) + 1.0).item<double>();
  });
  return status == 0 && total == 6.0 ? 0 : 1;
}
