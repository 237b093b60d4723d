// The circuit in plain MPI: each rank has some pieces next to each other. In a step the voltages of nodes where wires of
// other ranks end go there, while wires are advanced that need none; and the charges that these wires bring come back.
//   mpirun -n RANKS peer_circuit_mpi PIECES NODES WIRES STEPS SUBSTEPS [check]
// (nodes and wires of a piece). Prints the seconds of the steps; fails unless what the nodes gain the wires lose, and, with
// `check`, unless each voltage has the bits of the sequential reference (apps/circuit/sequential.hpp): charges are
// folded in the same order, that of the pieces.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "circuit/physics.hpp"
#include "circuit/sequential.hpp"

namespace {

using circuit::Charge;
using circuit::Coord;
using circuit::Setup;

std::size_t at(Coord i) { return static_cast<std::size_t>(i); }

/// What a piece's wires bring to a node in which wires of several pieces end.
struct Contribution {
  Coord piece;
  Coord node;
  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// What goes between this rank and another one, in an order that both know.
struct Exchange {
  int rank;
  std::vector<Coord> ghosts;           ///< nodes there, in which wires from here end
  std::vector<Coord> rim;              ///< nodes here, in which wires from there end
  std::vector<Contribution> to, from;  ///< by piece, then by node
  std::vector<double> voltages_to, voltages_from, charges_to, charges_from;
};

class Part {
 public:
  Part(const Setup& setup, MPI_Comm comm) : setup_(setup), comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    first_piece_ = setup.pieces * rank_ / ranks_;
    end_piece_ = setup.pieces * (rank_ + 1) / ranks_;
    make_wires();
    make_nodes();
    meet();
    find_places();
  }

  /// One step; how far from balance it is.
  double step() {
    std::vector<MPI_Request> requests = exchange_voltages();
    Charge balance[2];
    for (const std::size_t w : inner_wires_) advance(w, balance[1]);
    wait(requests);
    take_ghosts();
    for (const std::size_t w : outer_wires_) advance(w, balance[1]);
    distribute();
    requests = exchange_charges();
    wait(requests);
    fold();
    for (std::size_t n = 0; n < voltage_.size(); ++n)
      add(balance[0], circuit::update_node(voltage_[n], charge_[n], node_constants_[n]));
    double sums[4] = {balance[0].amount, balance[0].size, balance[1].amount, balance[1].size};
    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, comm_);
    return circuit::imbalance({sums[0], sums[1]}, {sums[2], sums[3]});
  }

  /// All voltages, at rank 0.
  [[nodiscard]] std::vector<double> gather() const {
    std::vector<int> counts, begins;
    for (int rank = 0; rank < ranks_; ++rank) {
      begins.push_back(static_cast<int>(setup_.pieces * rank / ranks_ * setup_.nodes));
      counts.push_back(static_cast<int>(setup_.pieces * (rank + 1) / ranks_ * setup_.nodes) -
                       begins.back());
    }
    std::vector<double> all(rank_ == 0 ? at(setup_.all_nodes()) : 0);
    MPI_Gatherv(voltage_.data(), static_cast<int>(voltage_.size()), MPI_DOUBLE, all.data(),
                counts.data(), begins.data(), MPI_DOUBLE, 0, comm_);
    return all;
  }

 private:
  struct Wire {
    circuit::Ends ends;
    circuit::WireConstants constants;
    Coord piece;
    std::size_t in, out;  ///< where their voltages are; ghosts are behind the own nodes
    double* charge_in;    ///< where their charges go
    double* charge_out;
  };

  [[nodiscard]] Coord first_node() const { return first_piece_ * setup_.nodes; }
  [[nodiscard]] bool is_own(Coord node) const {
    return node >= first_node() && node < end_piece_ * setup_.nodes;
  }
  [[nodiscard]] int owner(Coord node) const {
    const Coord piece = node / setup_.nodes;
    auto rank = static_cast<int>(piece * ranks_ / setup_.pieces);
    while (setup_.pieces * (rank + 1) / ranks_ <= piece) ++rank;
    return rank;
  }
  [[nodiscard]] std::size_t local(Coord node) const { return at(node - first_node()); }

  void make_wires() {
    for (Coord w = first_piece_ * setup_.wires; w < end_piece_ * setup_.wires; ++w)
      wires_.push_back({circuit::wire_ends(setup_, w), circuit::wire_constants(setup_, w),
                        w / setup_.wires, 0, 0, nullptr, nullptr});
    current_.resize(wires_.size());
    inner_.resize(wires_.size());
    for (std::size_t w = 0; w < wires_.size(); ++w)
      (is_own(wires_[w].ends.out) ? inner_wires_ : outer_wires_).push_back(w);
  }

  void make_nodes() {
    for (Coord n = first_node(); n < end_piece_ * setup_.nodes; ++n) {
      node_constants_.push_back(circuit::node_constants(setup_, n));
      voltage_.push_back(circuit::first_voltage(setup_, n));
    }
    charge_.assign(voltage_.size(), 0.0);
  }

  /// Tells the others in which of their nodes wires from here end, and hears the same from them.
  void meet() {
    std::vector<std::vector<Contribution>> to(at(ranks_));
    for (const Wire& wire : wires_)
      if (!is_own(wire.ends.out))
        to[at(owner(wire.ends.out))].push_back({wire.piece, wire.ends.out});
    std::vector<Coord> sent, received;
    std::vector<int> send_counts, send_begins, counts(at(ranks_)), begins;
    for (auto& list : to) {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
      send_begins.push_back(static_cast<int>(sent.size()));
      send_counts.push_back(static_cast<int>(2 * list.size()));
      for (const auto& [piece, node] : list) sent.insert(sent.end(), {piece, node});
    }
    MPI_Alltoall(send_counts.data(), 1, MPI_INT, counts.data(), 1, MPI_INT, comm_);
    int all = 0;
    for (const int count : counts) {
      begins.push_back(all);
      all += count;
    }
    received.resize(at(all));
    MPI_Alltoallv(sent.data(), send_counts.data(), send_begins.data(), MPI_INT64_T, received.data(),
                  counts.data(), begins.data(), MPI_INT64_T, comm_);
    for (int rank = 0; rank < ranks_; ++rank) {
      std::vector<Contribution> from;
      for (int i = 0; i < counts[at(rank)]; i += 2)
        from.push_back(
            {received[at(begins[at(rank)] + i)], received[at(begins[at(rank)] + i + 1)]});
      if (!from.empty() || !to[at(rank)].empty()) add_exchange(rank, to[at(rank)], from);
    }
  }

  void add_exchange(int rank, std::vector<Contribution>& to, std::vector<Contribution>& from) {
    const auto nodes = [](const std::vector<Contribution>& list) {
      std::vector<Coord> found;
      found.reserve(list.size());
      for (const Contribution& c : list) found.push_back(c.node);
      std::ranges::sort(found);
      found.erase(std::unique(found.begin(), found.end()), found.end());
      return found;
    };
    Exchange made{rank, nodes(to), nodes(from), to, from, {}, {}, {}, {}};
    made.voltages_to.resize(made.rim.size());
    made.voltages_from.resize(made.ghosts.size());
    made.charges_to.assign(to.size(), -0.0);
    made.charges_from.resize(from.size());
    exchanges_.push_back(std::move(made));
  }

  /// Where each wire finds voltages and leaves charges.
  void find_places() {
    std::map<Coord, std::size_t> ghost;
    for (const Exchange& e : exchanges_)
      for (const Coord node : e.ghosts) ghost.emplace(node, voltage_.size() + ghost.size());
    ghost_voltage_.resize(ghost.size());
    // Charges for a node in which wires of other pieces end are summed up by piece first.
    std::vector<char> shared(voltage_.size());
    for (const Wire& wire : wires_)
      if (is_own(wire.ends.out) && wire.ends.out / setup_.nodes != wire.piece)
        shared[local(wire.ends.out)] = 1;
    for (const Exchange& e : exchanges_)
      for (const Coord node : e.rim) shared[local(node)] = 1;
    for (const Wire& wire : wires_)
      for (const Coord node : {wire.ends.in, wire.ends.out})
        if (is_own(node) && shared[local(node)] != 0) own_.push_back({wire.piece, node});
    std::ranges::sort(own_);
    own_.erase(std::unique(own_.begin(), own_.end()), own_.end());
    own_sums_.assign(own_.size(), -0.0);

    const auto sum = [](const std::vector<Contribution>& list, std::vector<double>& sums,
                        const Contribution& of) {
      return &sums[at(std::ranges::lower_bound(list, of) - list.begin())];
    };
    const auto charge = [&](Coord piece, Coord node) {
      if (is_own(node))
        return shared[local(node)] != 0 ? sum(own_, own_sums_, {piece, node})
                                        : &charge_[local(node)];
      Exchange& e = *std::ranges::find(exchanges_, owner(node), &Exchange::rank);
      return sum(e.to, e.charges_to, {piece, node});
    };
    for (Wire& wire : wires_) {
      wire.in = local(wire.ends.in);
      wire.out = is_own(wire.ends.out) ? local(wire.ends.out) : ghost.at(wire.ends.out);
      wire.charge_in = charge(wire.piece, wire.ends.in);
      wire.charge_out = charge(wire.piece, wire.ends.out);
    }
  }

  std::vector<MPI_Request> exchange(std::vector<double> Exchange::*from,
                                    std::vector<double> Exchange::*to) {
    std::vector<MPI_Request> requests;
    for (Exchange& e : exchanges_) {
      if ((e.*from).empty()) continue;
      requests.emplace_back();
      MPI_Irecv((e.*from).data(), static_cast<int>((e.*from).size()), MPI_DOUBLE, e.rank, 0, comm_,
                &requests.back());
    }
    for (Exchange& e : exchanges_) {
      if ((e.*to).empty()) continue;
      requests.emplace_back();
      MPI_Isend((e.*to).data(), static_cast<int>((e.*to).size()), MPI_DOUBLE, e.rank, 0, comm_,
                &requests.back());
    }
    return requests;
  }
  static void wait(std::vector<MPI_Request>& requests) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  std::vector<MPI_Request> exchange_voltages() {
    for (Exchange& e : exchanges_)
      for (std::size_t i = 0; i < e.rim.size(); ++i) e.voltages_to[i] = voltage_[local(e.rim[i])];
    return exchange(&Exchange::voltages_from, &Exchange::voltages_to);
  }
  void take_ghosts() {
    std::size_t next = 0;
    for (const Exchange& e : exchanges_)
      for (const double voltage : e.voltages_from) ghost_voltage_[next++] = voltage;
  }
  std::vector<MPI_Request> exchange_charges() {
    return exchange(&Exchange::charges_from, &Exchange::charges_to);
  }

  void advance(std::size_t w, Charge& gained) {
    const Wire& wire = wires_[w];
    const double out = wire.out < voltage_.size() ? voltage_[wire.out]
                                                  : ghost_voltage_[wire.out - voltage_.size()];
    add(gained, circuit::advance_wire(current_[w], inner_[w], wire.constants, voltage_[wire.in],
                                      out, setup_.substeps));
  }

  void distribute() {
    for (std::size_t w = 0; w < wires_.size(); ++w) {
      *wires_[w].charge_in += circuit::charge_to_in(current_[w]);
      *wires_[w].charge_out += circuit::charge_to_out(current_[w]);
    }
  }

  /// Piece by piece, which is rank by rank. The sums then begin again.
  void fold() {
    const auto fold = [&](const std::vector<Contribution>& list, const std::vector<double>& sums) {
      for (std::size_t i = 0; i < list.size(); ++i) charge_[local(list[i].node)] += sums[i];
    };
    bool own_folded = false;
    for (Exchange& e : exchanges_) {
      if (e.rank > rank_ && !own_folded) {
        fold(own_, own_sums_);
        own_folded = true;
      }
      fold(e.from, e.charges_from);
      std::ranges::fill(e.charges_to, -0.0);
    }
    if (!own_folded) fold(own_, own_sums_);
    std::ranges::fill(own_sums_, -0.0);
  }

  const Setup setup_;
  MPI_Comm comm_;
  int rank_, ranks_;
  Coord first_piece_, end_piece_;
  std::vector<Wire> wires_;
  std::vector<std::size_t> inner_wires_, outer_wires_;
  std::vector<circuit::Currents> current_;
  std::vector<circuit::InnerVoltages> inner_;
  std::vector<circuit::NodeConstants> node_constants_;
  std::vector<double> voltage_, charge_, ghost_voltage_;
  std::vector<Exchange> exchanges_;  ///< by rank
  std::vector<Contribution> own_;    ///< of own pieces to own nodes that are shared
  std::vector<double> own_sums_;
};

bool has_bits_of_reference(const Setup& setup, const std::vector<double>& voltage) {
  circuit::State state;
  circuit::run_reference(setup, state);
  return std::memcmp(state.voltage.data(), voltage.data(), voltage.size() * sizeof(double)) == 0;
}

/// Collective; the same everywhere.
bool run(const Setup& setup, bool check) {
  Part part(setup, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = -MPI_Wtime(), imbalance = 0;
  for (int t = 0; t < setup.steps; ++t) imbalance = std::max(imbalance, part.step());
  seconds += MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int right = imbalance <= circuit::largest_imbalance ? 1 : 0;
  if (check) {
    const std::vector<double> voltage = part.gather();
    if (rank == 0 && !has_bits_of_reference(setup, voltage)) right = 0;
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) std::printf("%.6f s, check %s\n", seconds, right != 0 ? "passed" : "FAILED");
  return right != 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Setup setup;
  bool right = false;
  if (argc >= 6) {
    setup.pieces = std::atol(argv[1]);
    setup.nodes = std::atol(argv[2]);
    setup.wires = std::atol(argv[3]);
    setup.steps = std::atoi(argv[4]);
    setup.substeps = std::atoi(argv[5]);
  }
  if (argc < 6 || setup.pieces < ranks || std::min(setup.nodes, setup.wires) < 1) {
    if (rank == 0)
      std::fprintf(stderr,
                   "usage: peer_circuit_mpi PIECES NODES WIRES STEPS SUBSTEPS [check]\n"
                   "with as many pieces as ranks, or more\n");
  } else {
    right = run(setup, argc > 6 && std::string(argv[6]) == "check");
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
