#include "base/json_text.hpp"

#include <nlohmann/json.hpp>

namespace refrain {

void append_json_string(std::string& out, std::string_view text) {
  using Json = nlohmann::json;
  out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace refrain
