// The snippets of docs/arrays.md, run with what is said there as assertions.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "run.hpp"

namespace refrain::test::tutorial_test {
namespace {

using namespace arrays;
using arrays::Array;

TEST(ArrayTutorial, Creation) {
  run_arrays([](Session& np) {
    Array grid = np.zeros({3, 4});        // float64, like NumPy
    Array count = np.arange(12);          // int64: 0 .. 11
    Array x = np.linspace(0.0, 1.0, 5);   // 0, 0.25, 0.5, 0.75, 1
    Array mask = np.full({3, 4}, false);  // bool
    Array z = np.ones(3, DType::complex128);
    Array data = np.array<double>({2.0, 3.0, 5.0});    // copied
    Array noise = np.random.normal({3, 4}, 0.0, 0.1);  // the same in every run
    EXPECT_EQ(grid.shape(), (Shape{3, 4}));
    EXPECT_EQ(count.dtype(), DType::int64);
    EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
    EXPECT_EQ(mask.dtype(), DType::boolean);
    EXPECT_EQ(z.dtype(), DType::complex128);
    EXPECT_EQ(sum(data).item<double>(), 10.0);
    EXPECT_EQ(noise.size(), 12);
  });
}

TEST(ArrayTutorial, Views) {
  run_arrays([](Session& np) {
    Array u = np.arange(12).reshape({3, 4});
    Array row = u["1"];             // u[1]
    Array inner = u["1:-1, 1:-1"];  // u[1:-1, 1:-1]
    Array back = u["::-1, ..., newaxis"];
    Coord i = 2;
    Array run_time = u(i, slice(1, omitted));  // u[i, 1:]
    row[":"] = 0;                              // seen through u, too
    EXPECT_EQ(sum(u).item<std::int64_t>(), 66 - 22);
    EXPECT_EQ(inner.shape(), (Shape{1, 2}));
    EXPECT_EQ(back.shape(), (Shape{3, 4, 1}));
    EXPECT_EQ(run_time.to_vector<int>(), (std::vector<int>{9, 10, 11}));
  });
}

TEST(ArrayTutorial, NamesAndElements) {
  run_arrays([](Session& np) {
    Array a = np.ones(4);
    Array b = a;          // another name for the same array
    a = a + 1.0;          // a names a new array; b still has the old one
    b["1:3"] = a["1:3"];  // elements of b's array are overwritten
    b += 10.0;            // in place as well
    EXPECT_EQ(a.to_vector<double>(), (std::vector<double>{2, 2, 2, 2}));
    EXPECT_EQ(b.to_vector<double>(), (std::vector<double>{11, 12, 12, 11}));
  });
}

TEST(ArrayTutorial, Elementwise) {
  run_arrays([](Session& np) {
    Array x = np.linspace(-2.0, 2.0, 9);
    Array y = where(x > 0.0, sqrt(abs(x)), -x) + 2 * exp(-square(x));
    Array table = np.arange(3).reshape({3, 1}) * np.arange(4);  // broadcast to 3 x 4
    EXPECT_NEAR(y(8).item<double>(), std::sqrt(2.0) + 2 * std::exp(-4.0), 1e-15);
    EXPECT_EQ(table(2, 3).item<int>(), 6);
  });
}

TEST(ArrayTutorial, Reductions) {
  run_arrays([](Session& np) {
    Array a = np.arange(6.0).reshape({2, 3});
    Array total = sum(a);                 // of shape (): nothing has been waited for
    Array columns = sum(a, 0);            // of shape (3,)
    Array scaled = a / max(a, 1, true);   // keep_dims: shape (2, 1), which broadcasts
    double value = total.item<double>();  // waits
    EXPECT_EQ(value, 15.0);
    EXPECT_EQ(columns.to_vector<double>(), (std::vector<double>{3, 5, 7}));
    EXPECT_EQ(scaled(1, 2).item<double>(), 1.0);
    EXPECT_TRUE(all(a >= 0.0).item<bool>());
  });
}

TEST(ArrayTutorial, Jacobi) {
  run_arrays([](Session& np) {
    const Coord n = 64;
    Array A = np.random.uniform({n, n}) + n * np.eye(n);
    Array b = np.random.uniform(n);
    Array x = np.zeros(n);
    Array d = diag(A);
    Array R = A - diag(d);
    for (int i = 0; i < 50; ++i) x = (b - dot(R, x)) / d;
    Array residual = max(abs(b - dot(A, x)));
    EXPECT_LT(residual.item<double>(), 1e-12);
  });
}

TEST(ArrayTutorial, Scalars) {
  run_arrays([](Session& np) {
    Array r = np.ones(100), p = np.ones(100);
    Array alpha = dot(r, r) / dot(p, p);  // stays where it is computed
    r = r - alpha * p;
    Future<double> norm = dot(r, r).future<double>();  // for launches, or for later
    EXPECT_EQ(norm.get(), 0.0);
  });
}

TEST(ArrayTutorial, Picking) {
  run_arrays([](Session& np) {
    Array a = np.array<double>({3.0, 1.0, 2.0});
    Array order = argsort(a);          // 1, 2, 0
    Array sorted = gather(a, order);   // a[order]
    Array large = gather(a, a > 1.5);  // a[a > 1.5]: waits for how many there are
    scatter(a, a > 1.5, 0.0);          // a[a > 1.5] = 0
    scatter_add(a, np.array<std::int64_t>({0, 0}), 1.0);  // np.add.at(a, [0, 0], 1)
    EXPECT_EQ(sorted.to_vector<double>(), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(large.to_vector<double>(), (std::vector<double>{3, 2}));
    EXPECT_EQ(a.to_vector<double>(), (std::vector<double>{2, 1, 0}));
  });
}

TEST(ArrayTutorial, Errors) {
  run_arrays([](Session& np) {
    try {
      Array a = np.zeros({3, 4}) + np.zeros(3);
      FAIL();
    } catch (const ValueError& error) {
      // "program.cpp:42: operands could not be broadcast together with shapes (3, 4) (3,)"
      EXPECT_NE(std::string(error.what()).find("shapes (3, 4) (3,)"), std::string::npos);
    }
  });
}

}  // namespace
}  // namespace refrain::test::tutorial_test
