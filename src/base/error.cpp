#include "refrain/error.hpp"

namespace refrain {

std::string to_string(const std::source_location& where) {
  std::string file = where.file_name();
  if (auto slash = file.rfind('/'); slash != std::string::npos) file.erase(0, slash + 1);
  return file + ":" + std::to_string(where.line());
}

}  // namespace refrain
