// expect: a launch takes at most twenty arguments, its domain included
#include <refrain/refrain.hpp>

using namespace refrain;

const Task add{"add", [](int a, int b, int c, int d, int e, int f, int g, int h, int i, int j,
                         int k, int l, int m, int n, int o, int p, int q, int r, int s, int t) {
                 return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s +
                        t;
               }};

void program(Context& context) {
  context.launch(add, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  context.launch(add, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
}
