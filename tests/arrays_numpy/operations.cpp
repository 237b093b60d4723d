#include "operations.hpp"

#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace refrain::test::numpy {

using namespace arrays;

namespace {

using Unary = Array (*)(const Operand&);
using Binary = Array (*)(const Operand&, const Operand&);
using Other = Array (*)(Call&);
using Change = void (*)(Call&);
template <class F>
using Table = std::unordered_map<std::string_view, F>;

const Table<Unary> unary = {
    {"negative", [](const Operand& a) { return -a; }},
    {"positive", [](const Operand& a) { return +a; }},
    {"invert", [](const Operand& a) { return ~a; }},
    {"logical_not", arrays::logical_not},
    {"abs", arrays::abs},
    {"sign", arrays::sign},
    {"square", arrays::square},
    {"reciprocal", arrays::reciprocal},
    {"sqrt", arrays::sqrt},
    {"cbrt", arrays::cbrt},
    {"exp", arrays::exp},
    {"exp2", arrays::exp2},
    {"expm1", arrays::expm1},
    {"log", arrays::log},
    {"log2", arrays::log2},
    {"log10", arrays::log10},
    {"log1p", arrays::log1p},
    {"sin", arrays::sin},
    {"cos", arrays::cos},
    {"tan", arrays::tan},
    {"arcsin", arrays::arcsin},
    {"arccos", arrays::arccos},
    {"arctan", arrays::arctan},
    {"sinh", arrays::sinh},
    {"cosh", arrays::cosh},
    {"tanh", arrays::tanh},
    {"floor", arrays::floor},
    {"ceil", arrays::ceil},
    {"trunc", arrays::trunc},
    {"rint", arrays::rint},
    {"isnan", arrays::isnan},
    {"isinf", arrays::isinf},
    {"isfinite", arrays::isfinite},
    {"real", arrays::real},
    {"imag", arrays::imag},
    {"conj", arrays::conj},
};

const Table<Binary> binary = {
    {"add", [](const Operand& a, const Operand& b) { return a + b; }},
    {"subtract", [](const Operand& a, const Operand& b) { return a - b; }},
    {"multiply", [](const Operand& a, const Operand& b) { return a * b; }},
    {"divide", [](const Operand& a, const Operand& b) { return a / b; }},
    {"remainder", [](const Operand& a, const Operand& b) { return a % b; }},
    {"floor_divide", arrays::floor_divide},
    {"power", arrays::power},
    {"equal", [](const Operand& a, const Operand& b) { return a == b; }},
    {"not_equal", [](const Operand& a, const Operand& b) { return a != b; }},
    {"less", [](const Operand& a, const Operand& b) { return a < b; }},
    {"less_equal", [](const Operand& a, const Operand& b) { return a <= b; }},
    {"greater", [](const Operand& a, const Operand& b) { return a > b; }},
    {"greater_equal", [](const Operand& a, const Operand& b) { return a >= b; }},
    {"bit_and", [](const Operand& a, const Operand& b) { return a & b; }},
    {"bit_or", [](const Operand& a, const Operand& b) { return a | b; }},
    {"bit_xor", [](const Operand& a, const Operand& b) { return a ^ b; }},
    {"logical_and", arrays::logical_and},
    {"logical_or", arrays::logical_or},
    {"logical_xor", arrays::logical_xor},
    {"maximum", arrays::maximum},
    {"minimum", arrays::minimum},
    {"arctan2", arrays::arctan2},
    {"hypot", arrays::hypot},
    {"dot", arrays::dot},
    {"matmul", arrays::matmul},
    {"outer", arrays::outer},
};

Array transposed(Call& c) {
  if (c.size() == 1) return c.array(0).transpose();
  const std::vector<int> x = c.axis_list(1);
  switch (x.size()) {
    case 1: return c.array(0).transpose({x[0]});
    case 2: return c.array(0).transpose({x[0], x[1]});
    case 3: return c.array(0).transpose({x[0], x[1], x[2]});
    default: return c.array(0).transpose({x[0], x[1], x[2], x[3]});
  }
}

Array from_data(Call& c) {
  const std::vector<std::byte> data = c.data(2);
  return c.np.from_memory(data.data(), data.size() / size_of(c.type(0)), c.type(0), c.shape(1));
}

const Table<Other> other = {
    // New arrays.
    {"array", from_data},
    {"zeros", [](Call& c) { return c.np.zeros(c.shape(0), c.type(1)); }},
    {"ones", [](Call& c) { return c.np.ones(c.shape(0), c.type(1)); }},
    {"empty", [](Call& c) { return c.np.empty(c.shape(0), c.type(1)); }},
    {"full",
     [](Call& c) {
       return c.size() == 2 ? c.np.full(c.shape(0), c.operand(1))
                            : c.np.full(c.shape(0), c.operand(1), c.type(2));
     }},
    {"zeros_like", [](Call& c) { return c.np.zeros_like(c.array(0)); }},
    {"ones_like", [](Call& c) { return c.np.ones_like(c.array(0)); }},
    {"empty_like", [](Call& c) { return c.np.empty_like(c.array(0)); }},
    {"full_like", [](Call& c) { return c.np.full_like(c.array(0), c.operand(1)); }},
    {"arange",
     [](Call& c) {
       return c.size() == 1 ? c.np.arange(c.operand(0))
                            : c.np.arange(c.operand(0), c.operand(1), c.operand(2));
     }},
    {"linspace",
     [](Call& c) { return c.np.linspace(c.real(0), c.real(1), c.count(2), c.flag(3)); }},
    {"eye",
     [](Call& c) { return c.np.eye(c.count(0), c.optional_count(1), c.count(2), c.type(3)); }},
    // Views and copies.
    {"alias", [](Call& c) { return c.array(0); }},
    {"view", [](Call& c) { return c.view(0); }},
    {"reshape", [](Call& c) { return c.array(0).reshape(c.shape(1)); }},
    {"transpose", transposed},
    {"flip", [](Call& c) { return flip(c.array(0), c.axes(1)); }},
    {"broadcast_to", [](Call& c) { return broadcast_to(c.array(0), c.shape(1)); }},
    {"copy", [](Call& c) { return c.array(0).copy(); }},
    {"astype", [](Call& c) { return c.array(0).astype(c.type(1)); }},
    // Element by element, of three.
    {"clip", [](Call& c) { return clip(c.operand(0), c.operand(1), c.operand(2)); }},
    {"where", [](Call& c) { return where(c.operand(0), c.operand(1), c.operand(2)); }},
    // Reductions.
    {"sum", [](Call& c) { return sum(c.array(0), c.axes(1), c.flag(2)); }},
    {"prod", [](Call& c) { return prod(c.array(0), c.axes(1), c.flag(2)); }},
    {"mean", [](Call& c) { return mean(c.array(0), c.axes(1), c.flag(2)); }},
    {"min", [](Call& c) { return arrays::min(c.array(0), c.axes(1), c.flag(2)); }},
    {"max", [](Call& c) { return arrays::max(c.array(0), c.axes(1), c.flag(2)); }},
    {"any", [](Call& c) { return any(c.array(0), c.axes(1), c.flag(2)); }},
    {"all", [](Call& c) { return all(c.array(0), c.axes(1), c.flag(2)); }},
    {"argmin", [](Call& c) { return argmin(c.array(0), c.axes(1), c.flag(2)); }},
    {"argmax", [](Call& c) { return argmax(c.array(0), c.axes(1), c.flag(2)); }},
    {"cumsum", [](Call& c) { return cumsum(c.array(0), c.axes(1)); }},
    // Matrices.
    {"diag", [](Call& c) { return diag(c.array(0), c.count(1)); }},
    {"tril", [](Call& c) { return tril(c.array(0), c.count(1)); }},
    {"triu", [](Call& c) { return triu(c.array(0), c.count(1)); }},
    // Other arrangements.
    {"concatenate", [](Call& c) { return concatenate(c.list(0), c.axis(1)); }},
    {"stack", [](Call& c) { return stack(c.list(0), c.axis(1)); }},
    {"tile", [](Call& c) { return tile(c.array(0), c.shape(1)); }},
    {"repeat", [](Call& c) { return repeat(c.array(0), c.count(1), c.axes(2)); }},
    {"roll", [](Call& c) { return roll(c.array(0), c.count(1), c.axes(2)); }},
    {"sort", [](Call& c) { return arrays::sort(c.array(0), c.axis(1)); }},
    {"argsort", [](Call& c) { return argsort(c.array(0), c.axis(1)); }},
    {"bincount",
     [](Call& c) {
       return c.size() == 2 ? bincount(c.array(0), c.count(1))
                            : bincount(c.array(0), c.array(1), c.count(2));
     }},
    {"gather", [](Call& c) { return gather(c.array(0), c.array(1), c.axis(2)); }},
};

// What is changed: argument 0 with index 1.
const Table<Change> changes = {
    {"set",
     [](Call& c) {
       // Both overloads.
       if (c.is_array(2) && !c.has_index(2)) c.view(0) = c.array(2);
       else if (c.is_array(2)) c.view(0) = c.view(2);
       else c.view(0) = c.operand(2);
     }},
    {"fill", [](Call& c) { c.array(0).fill(c.right_side(2)); }},
    {"in_place_add", [](Call& c) { c.place(0) += c.right_side(2); }},
    {"in_place_subtract", [](Call& c) { c.place(0) -= c.right_side(2); }},
    {"in_place_multiply", [](Call& c) { c.place(0) *= c.right_side(2); }},
    {"in_place_divide", [](Call& c) { c.place(0) /= c.right_side(2); }},
    {"in_place_remainder", [](Call& c) { c.place(0) %= c.right_side(2); }},
    {"in_place_bit_and", [](Call& c) { c.place(0) &= c.right_side(2); }},
    {"in_place_bit_or", [](Call& c) { c.place(0) |= c.right_side(2); }},
    {"in_place_bit_xor", [](Call& c) { c.place(0) ^= c.right_side(2); }},
    {"scatter", [](Call& c) { scatter(c.place(0), c.array(2), c.operand(3)); }},
    {"scatter_add", [](Call& c) { scatter_add(c.place(0), c.array(2), c.operand(3)); }},
    {"item", [](Call& c) { static_cast<void>(c.array(0).item<std::complex<double>>()); }},
};

}  // namespace

std::vector<Array> execute(std::string_view name, Call& call) {
  if (const auto f = unary.find(name); f != unary.end()) return {f->second(call.operand(0))};
  if (const auto f = binary.find(name); f != binary.end())
    return {f->second(call.operand(0), call.operand(1))};
  if (const auto f = other.find(name); f != other.end()) return {f->second(call)};
  if (name == "nonzero") return nonzero(call.array(0));
  const auto f = changes.find(name);
  if (f == changes.end()) throw std::logic_error("no operation " + std::string(name));
  f->second(call);
  return {};
}

}  // namespace refrain::test::numpy
