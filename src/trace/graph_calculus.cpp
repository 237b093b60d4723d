#include "trace/graph_calculus.hpp"

#include <ostream>
#include <unordered_map>

namespace refrain::trace {

namespace {

using Kind = Command::Kind;

std::ostream& operator<<(std::ostream& out, const Event& event) {
  return out << 'e' << event.number << (event.primed ? "'" : "");
}

void print_merge(std::ostream& out, const std::vector<Event>& events) {
  const char* before = "merge(";
  for (const Event& event : events) {
    out << before << event;
    before = ", ";
  }
  out << ')';
}

void print(std::ostream& out, const Command& command) {
  if (command.kind == Kind::remark) {
    out << command.text << '\n';
    return;
  }
  out << command.target << " := ";
  switch (command.kind) {
    case Kind::fence: out << "fence"; break;
    case Kind::op: out << "op(" << command.text << ", " << command.sources.front() << ')'; break;
    case Kind::merge: print_merge(out, command.sources); break;
    case Kind::copy: out << command.sources.front(); break;
    case Kind::remark: break;
  }
  out << ";\n";
}

}  // namespace

Commands propagate_copies(const Commands& commands) {
  // Events by number and prime, as one key.
  const auto key = [](const Event& event) {
    return std::uint64_t{event.number} << 1 | event.primed;
  };
  std::unordered_map<std::uint64_t, Event> meaning;
  Commands result;
  for (Command command : commands) {
    for (Event& source : command.sources) {
      const auto found = meaning.find(key(source));
      if (found != meaning.end()) source = found->second;
    }
    if (command.kind == Kind::merge && command.sources.size() == 1) {
      meaning[key(command.target)] = command.sources.front();
    } else {
      result.push_back(std::move(command));
    }
  }
  return result;
}

void print(std::ostream& out, const Commands& commands) {
  for (const Command& command : commands) print(out, command);
}

}  // namespace refrain::trace
