#include "base/json_tree.hpp"
#include "machine/machine.hpp"

namespace refrain::machine {

Machine load(std::string_view description) {
  if (description.empty()) return discover();
  // A file may be called "emulated.json"; only "emulated" and "emulated:..." are the short form.
  if (description == "emulated" || description.starts_with("emulated:"))
    return parse_short_form(description);
  const std::string path(description);
  return parse_json(JsonFile::read(path, "machine description"), path);
}

}  // namespace refrain::machine
