#include "tasks.hpp"

namespace maestro::tasks {

namespace {

template <class Accessor>
auto view(const Accessor& a) {
  using Value = std::remove_pointer_t<decltype(a.pointer(Point3{}))>;
  const Point3 lo = a.domain().bounds().lo;
  View<Value> view{a.pointer(lo), lo, {}};
  for (int d = 0; d < 3; ++d) view.stride[d] = a.stride(d) / static_cast<Coord>(sizeof(Value));
  return view;
}

template <class Accessor>
Rect3 box(const Accessor& a) {
  return a.domain().bounds();
}

}  // namespace

void Start::operator()(Write<Conserved, 3> conserved, Point<1> piece) const {
  const Coord sample = piece[0] / fidelity.pieces;
  start(box(conserved), view(conserved), fidelity.sample(sample), sample);
}

Totals Measure::operator()(Read<Conserved, 3> conserved, Point<1> piece) const {
  if (progress != nullptr && piece == 0) progress->step();
  return measure(box(conserved), view(conserved));
}

void FindPrimitives::operator()(Read<Conserved, 3> conserved, Write<Primitive, 3> primitive) const {
  find_primitives(box(primitive), view(conserved), view(primitive));
}

void Mirror::operator()(ReadWrite<Primitive, 3> primitive, Point<1> piece) const {
  mirror(direction, box(primitive), view(primitive), fidelity.sample(piece[0] / fidelity.pieces));
}

void FindGradients::operator()(Read<Primitive, 3> primitive, Write<Gradient, 3> gradient) const {
  find_gradients(direction, box(gradient), view(primitive), view(gradient), h);
}

void FindFluxes::operator()(Read<Primitive, 3> primitive, Read<Gradient, 3> next,
                            Read<Gradient, 3> last, Write<Conserved, 3> flux) const {
  find_fluxes(direction, box(flux), view(primitive), view(next), view(last), view(flux), h);
}

void Advance::operator()(Read<Conserved, 3> flux_x, Read<Conserved, 3> flux_y,
                         Read<Conserved, 3> flux_z, ReadWrite<Conserved, 3> conserved,
                         ReadWrite<Conserved, 3> change, const Totals& totals,
                         const Stage& stage) const {
  advance(box(conserved), view(flux_x), view(flux_y), view(flux_z), view(conserved), view(change),
          stage, time_step(totals, h), h);
}

}  // namespace maestro::tasks
