#include "program.hpp"

#include <fstream>
#include <stdexcept>

namespace refrain::test::numpy {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string Program::readable() const {
  std::string all;
  for (const Statement& statement : statements)
    if (!statement.text.empty()) all += "  " + std::string(statement.text) + "\n";
  return all;
}

Programs::Programs(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw std::runtime_error("there is no " + path + ", which generate.py should have made");
  text_.resize(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(text_.data(), static_cast<std::streamsize>(text_.size()));
  const std::string_view text = text_;
  if (!text.ends_with("\nend\n")) throw std::runtime_error(path + " has no end");

  // "programs N seed S numpy V", then "program I" and its lines.
  const auto words = split(text.substr(0, text.find('\n')), ' ');
  origin_ = "seed " + std::string(words.at(3)) + ", NumPy " + std::string(words.at(5));
  std::size_t at = text.find("\nprogram ");
  while (at != std::string_view::npos) {
    const std::size_t first = text.find('\n', at + 1) + 1;
    const std::size_t next = text.find("\nprogram ", first - 1);
    const std::size_t last = next == std::string_view::npos ? text.size() - 5 : next;
    places_.push_back(text.substr(first, last - first));
    at = next;
  }
}

Program Programs::program(int number) const {
  Program result;
  result.number = number;
  for (const std::string_view line :
       split(places_.at(static_cast<std::size_t>(number - 1)), '\n')) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    result.statements.push_back(
        {split(line.substr(0, tab), ' '), line.substr(std::min(tab + 1, line.size()))});
  }
  return result;
}

}  // namespace refrain::test::numpy
