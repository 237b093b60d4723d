#include "base/json.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"

namespace refrain::machine {
namespace {

// A mistyped short form ends up here, so the error speaks of both.
std::string read_file(const std::string& path) {
  try {
    return JsonFile::read(path, "machine description");
  } catch (const InputError& error) {
    throw InputError(std::string(error.what()) +
                     "; expected a JSON file, or a text that starts with 'emulated:'");
  }
}

}  // namespace

Machine load(std::string_view description) {
  if (description.empty()) {
    // Looking takes some twenty milliseconds, and what is found does not change while the process lives.
    static const Machine found = discover();
    return found;
  }
  // A file may be called "emulated.json"; only "emulated" and "emulated:..." are the short form.
  if (description == "emulated" || description.starts_with("emulated:"))
    return parse_short_form(description);
  const std::string path(description);
  return parse_json(read_file(path), path);
}

}  // namespace refrain::machine
