#include <algorithm>
#include <array>
#include <cmath>

#include "map/pictures.hpp"
#include "picture/canvas.hpp"

namespace refrain::map {
namespace {

using map_search::Mapping, map_search::Space;
using picture::Canvas, picture::Colour, picture::kInk, picture::kPale, picture::kWhite;

// In pixels. A task with more arguments than a line has cells takes several lines.
constexpr double kMargin = 24, kGap = 4;
constexpr double kTaskName = 190, kLabel = 90, kDistribution = 80;
constexpr std::uint32_t kCells = 8;
constexpr double kCell = 92, kCellHeight = 20, kBarHeight = 5, kLineHeight = 34;
constexpr double kCellsFrom = kMargin + kTaskName + kLabel + kDistribution;
constexpr double kTableWidth = kCellsFrom + kCells * kCell + kMargin;
constexpr double kLegendLine = 22;
constexpr double kText = 12;

/// Colours of one kind of thing, from light to dark.
using Ramp = std::array<Colour, 5>;
/// Viridis, which is as bright as it looks to everybody.
constexpr Ramp kMemories{{{0.99, 0.91, 0.14},
                          {0.37, 0.79, 0.38},
                          {0.13, 0.57, 0.55},
                          {0.23, 0.32, 0.55},
                          {0.27, 0.0, 0.33}}};
constexpr Ramp kProcessors{{{1.0, 0.90, 0.80},
                            {0.99, 0.73, 0.52},
                            {0.93, 0.50, 0.27},
                            {0.70, 0.28, 0.08},
                            {0.40, 0.13, 0.02}}};

/// That of one among so many.
Colour colour_of(const Ramp& ramp, std::size_t which, std::size_t count) {
  const double place =
      count < 2 ? 0
                : static_cast<double>(which * (ramp.size() - 1)) / static_cast<double>(count - 1);
  const auto below = std::min(static_cast<std::size_t>(place), ramp.size() - 2);
  const double share = place - static_cast<double>(below);
  const auto between = [share](double a, double b) { return a + (b - a) * share; };
  const Colour &a = ramp[below], &b = ramp[below + 1];
  return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue)};
}

/// For words on that colour.
Colour ink_on(Colour c) {
  return 0.30 * c.red + 0.59 * c.green + 0.11 * c.blue > 0.45 ? kInk : kWhite;
}

void label(Canvas& canvas, double x, double y, double width, Colour colour,
           const std::string& words) {
  canvas.colour(colour);
  canvas.box(x, y, width, kCellHeight);
  canvas.colour(ink_on(colour));
  canvas.text(x + 5, y + 14, canvas.fitted(words, kText, width - 8), kText);
}

/// The parts of the picture, each a function.
class MappingDrawing {
 public:
  MappingDrawing(const std::string& title, const Space& space, const Mapping& mapping)
      : title_(title), space_(space), mapping_(mapping) {
    for (const map_search::Argument& argument : space.arguments)
      largest_ = std::max(largest_, argument.bytes);
  }

  [[nodiscard]] double height() const {
    double lines = 0;
    for (std::uint32_t task = 0; task < space_.tasks.size(); ++task) lines += lines_of(task);
    return table_top() + lines * kLineHeight + kMargin;
  }

  [[nodiscard]] std::string description() const {
    std::string text = title_;
    for (std::uint32_t task = 0; task < space_.tasks.size(); ++task) {
      text += "\n" + space_.tasks[task].name + ": " + processor(task) + ", " + distribution(task);
      for (const std::uint32_t argument : space_.arguments_of(task))
        text += "; " + space_.arguments[argument].name + " in " + memory(argument) + ", " +
                std::to_string(space_.arguments[argument].bytes) + " bytes";
    }
    return text;
  }

  void draw(Canvas& canvas) const {
    canvas.colour(kInk);
    canvas.text(kMargin, 32, canvas.fitted(title_, 17, kTableWidth - 2 * kMargin), 17);
    draw_legend(canvas, 48, "processors:", space_.processors, kProcessors);
    draw_legend(canvas, 48 + kLegendLine * legend_lines(space_.processors),
                "memories:", space_.memories, kMemories);
    double top = table_top();
    for (std::uint32_t task = 0; task < space_.tasks.size(); ++task) {
      canvas.colour(kPale);
      canvas.stroke(kMargin, top - kGap, kTableWidth - kMargin, top - kGap, 1);
      draw_task(canvas, task, top);
      top += lines_of(task) * kLineHeight;
    }
  }

 private:
  [[nodiscard]] const std::string& processor(std::uint32_t task) const {
    return space_.processors[mapping_.processor[task]].name;
  }
  [[nodiscard]] std::string distribution(std::uint32_t task) const {
    return space_.tasks[task].group ? space_.distributions[mapping_.distribution[task]] : "single";
  }
  [[nodiscard]] const std::string& memory(std::uint32_t argument) const {
    return space_.memories[mapping_.memory[argument]].name;
  }
  [[nodiscard]] double lines_of(std::uint32_t task) const {
    return std::max(1.0, std::ceil(static_cast<double>(space_.arguments_of(task).size()) / kCells));
  }

  template <class Kinds>
  [[nodiscard]] static double legend_lines(const Kinds& kinds) {
    return std::ceil(static_cast<double>(kinds.size()) / kCells);
  }
  [[nodiscard]] double table_top() const {
    return 48 + kLegendLine * (legend_lines(space_.processors) + legend_lines(space_.memories)) +
           2 * kGap;
  }
  template <class Kinds>
  static void draw_legend(Canvas& canvas, double top, const std::string& what, const Kinds& kinds,
                          const Ramp& ramp) {
    canvas.colour(kInk);
    canvas.text(kMargin, top + 14, what, kText);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const std::size_t line = i / kCells, column = i % kCells;
      label(canvas, kMargin + kTaskName + static_cast<double>(column) * kCell,
            top + static_cast<double>(line) * kLegendLine, kCell - kGap,
            colour_of(ramp, i, kinds.size()), kinds[i].name);
    }
  }

  void draw_task(Canvas& canvas, std::uint32_t task, double top) const {
    canvas.colour(kInk);
    canvas.text(kMargin, top + 14,
                canvas.fitted(space_.tasks[task].name, kText, kTaskName - 2 * kGap), kText);
    label(canvas, kMargin + kTaskName, top, kLabel - kGap,
          colour_of(kProcessors, mapping_.processor[task], space_.processors.size()),
          processor(task));
    canvas.colour(kInk);
    canvas.text(kMargin + kTaskName + kLabel + kGap, top + 14,
                canvas.fitted(distribution(task), kText, kDistribution - 2 * kGap), kText);
    std::uint32_t cell = 0;
    for (const std::uint32_t argument : space_.arguments_of(task)) {
      const std::uint32_t line = cell / kCells, column = cell % kCells;
      draw_argument(canvas, argument, kCellsFrom + column * kCell, top + line * kLineHeight);
      ++cell;
    }
  }

  void draw_argument(Canvas& canvas, std::uint32_t argument, double left, double top) const {
    const map_search::Argument& drawn = space_.arguments[argument];
    label(canvas, left, top, kCell - kGap,
          colour_of(kMemories, mapping_.memory[argument], space_.memories.size()), drawn.name);
    if (largest_ == 0) return;
    canvas.colour(kPale);
    canvas.box(left, top + kCellHeight + 1, kCell - kGap, kBarHeight);
    canvas.colour(kInk);
    canvas.box(left, top + kCellHeight + 1,
               (kCell - kGap) * static_cast<double>(drawn.bytes) / static_cast<double>(largest_),
               kBarHeight);
  }

  const std::string& title_;
  const Space& space_;
  const Mapping& mapping_;
  std::uint64_t largest_ = 0;
};

}  // namespace

std::string draw_mapping(const std::string& title, const Space& space, const Mapping& mapping) {
  const MappingDrawing drawing(title, space, mapping);
  return picture::draw(kTableWidth, drawing.height(), picture::Format::svg, drawing.description(),
                       [&](Canvas& canvas) { drawing.draw(canvas); });
}

}  // namespace refrain::map
