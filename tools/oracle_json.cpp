#include "oracle_json.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace refrain::tools {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Each byte as two digits.
std::string hex(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

/// With U+FFFD in the place of what is not UTF-8.
std::string replaced(std::string_view bytes) {
  const json string = bytes;
  return json::parse(string.dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

void put(ordered_json& object, const std::string& member, std::string_view bytes) {
  const std::string text = replaced(bytes);
  object[member] = text;
  if (text != bytes) object[member + "_hex"] = hex(bytes);
}

ordered_json symbol_json(const refrain_oracle_symbol& symbol, bool times) {
  ordered_json object;
  object[symbol.is_rule != 0 ? "rule" : "event"] = symbol.number;
  object["times"] = symbol.times;
  if (times) object["delay_ns"] = symbol.delay;
  return object;
}

ordered_json rule_json(const refrain_oracle_listed_rule& rule, bool times) {
  ordered_json object{{"length", rule.length}, {"count", rule.count}, {"symbols", json::array()}};
  for (std::size_t i = 0; i < rule.size; ++i)
    object["symbols"].push_back(symbol_json(rule.symbols[i], times));
  return object;
}

ordered_json event_json(const refrain_oracle_listed_event& event) {
  ordered_json object;
  put(object, "name", {event.name, event.name_size});
  object["count"] = event.count;
  return object;
}

ordered_json note_json(const refrain_oracle_listed_note& note) {
  ordered_json object;
  put(object, "name", {note.name, note.name_size});
  object["size"] = note.size;
  put(object, "text", {static_cast<const char*>(note.bytes), note.size});
  return object;
}

/// The members of an object, without the bracket behind them.
std::string open_text(const ordered_json& object) {
  std::string text = object.dump();
  text.pop_back();
  return text;
}

/// One more member: an array with a line for each entry.
template <class Entry, class Function>
std::string array_text(const std::string& member, const std::vector<Entry>& entries,
                       const Function& text_of) {
  std::string text = ",\n\"" + member + "\":[";
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += (i == 0 ? "\n" : ",\n") + text_of(entries[i]);
  return text + ']';
}

std::string thread_text(const OracleRun& run, std::size_t index,
                        const refrain_oracle_listed_thread& thread) {
  const bool times = thread.times != 0;
  std::string text = open_text({{"process", thread.process},
                                {"thread", thread.thread},
                                {"length", thread.length},
                                {"times", times}});
  text += array_text("events", run.events(index),
                     [](const auto& event) { return event_json(event).dump(); });
  text += array_text("rules", run.rules(index),
                     [&](const auto& rule) { return rule_json(rule, times).dump(); });
  text += array_text("notes", run.notes(index),
                     [](const auto& note) { return note_json(note).dump(); });
  return text + '}';
}

}  // namespace

std::string run_json(const OracleRun& run) {
  ordered_json object{{"format", "refrain oracle run"}, {"version", 1}};
  put(object, "program", run.program());
  object["unfinished_bytes"] = run.unfinished();
  const auto threads = run.threads();
  return open_text(object) +
         array_text("threads", threads,
                    [&](const auto& thread) {
                      return thread_text(run, static_cast<std::size_t>(&thread - threads.data()),
                                         thread);
                    }) +
         "}\n";
}

}  // namespace refrain::tools
