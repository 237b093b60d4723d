#pragma once
// The density as a picture: each zone is a polygon of one colour.

#include <string>

#include "state.hpp"

namespace pennant {

/// Whether the program can draw; it can where it was built beside the arrays.
bool can_draw();

/// Writes a PNG. Throws std::runtime_error with the file's name when that cannot be written.
void draw_density(const std::string& file, const Mesh& mesh, const Outcome& outcome);

}  // namespace pennant
