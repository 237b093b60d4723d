#include "base/control_group.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <vector>

namespace refrain {

std::optional<std::uint64_t> number_in(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    std::uint64_t number = 0;
    if (begin != std::string::npos &&
        std::from_chars(line.data() + begin, line.data() + line.size(), number).ec == std::errc())
      return number;
    break;
  }
  return {};
}

namespace {

/// A limit as large as that is none: version 1 writes the largest number of pages.
constexpr std::uint64_t kNone = std::uint64_t{1} << 62;

/// A hierarchy that the process is in: where it is mounted, and the process's folder in it.
struct Place {
  std::string mount, folder;
};

std::vector<Place> places_of(const std::string& controller, const std::string& root) {
  const std::string groups = root + "/sys/fs/cgroup", inside = groups + "/";
  std::vector<Place> places;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "ID:CONTROLLERS:FOLDER"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string folder = line.substr(second + 1);
    if (controllers.empty()) {
      places.push_back({groups, folder});
      places.push_back({inside + "unified", folder});  // beside version 1
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      places.push_back({inside + controller, folder});
      if (controllers != controller) places.push_back({inside + controllers, folder});
    }
  }
  // A container may see its own group as the root, whatever it is called outside.
  places.push_back({groups, "/"});
  places.push_back({inside + controller, "/"});
  return places;
}

}  // namespace

std::optional<GroupLimit> least_group_limit(const std::string& controller,
                                            std::initializer_list<const char*> limits,
                                            std::initializer_list<const char*> current,
                                            const std::string& root) {
  std::optional<GroupLimit> least;
  const auto look = [&](const Place& place, const std::string& folder) {
    const std::string at = place.mount + (folder == "/" ? "" : folder) + "/";
    for (const char* file : limits) {
      const std::optional<std::uint64_t> limit = number_in(at + file);
      if (!limit || *limit >= kNone || (least && *limit >= least->limit)) continue;
      least = GroupLimit{folder, file, *limit, {}};
      for (const char* used : current)
        if (!least->current) least->current = number_in(at + used);
    }
  };
  for (const Place& place : places_of(controller, root)) {
    std::filesystem::path folder = std::filesystem::path(place.folder).lexically_normal();
    for (; folder.has_relative_path(); folder = folder.parent_path()) look(place, folder.string());
    look(place, "/");
  }
  return least;
}

}  // namespace refrain
