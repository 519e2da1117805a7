// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// SVG pictures that are readable without color, in light and dark mode.
//
// A picture is a file (`document`) or a part of a page (`figure`) that contains `svg_style()` and `svg_patterns()`
// once. No scripts, fonts or external resources.
namespace llmcost {

/// Escapes text for XML, and replaces invalid and invisible characters.
[[nodiscard]] std::string xml_text(std::string_view text);

/// A coordinate with at most two decimals.
[[nodiscard]] std::string svg_number(double x);

/// An attribute of an element. Escaped when written.
struct svg_attribute {
    std::string_view name;
    std::string value;

    svg_attribute(std::string_view called, double x) : name(called), value(svg_number(x)) {}
    svg_attribute(std::string_view called, std::string_view text) : name(called), value(text) {}
    svg_attribute(std::string_view called, const char* text) : name(called), value(text) {}
};

/// Number of distinct styles of lines, markers and fills. Further kinds repeat them.
inline constexpr std::size_t svg_kinds = 8;

/// The CSS class of a line (`line`), marker (`mark`) or fill (`fill`): `lc-line lc-k3`.
[[nodiscard]] inline std::string svg_class(std::string_view element, std::size_t kind) {
    return "lc-" + std::string(element) + " lc-k" + std::to_string(kind % svg_kinds);
}

/// Colors by kind: Okabe and Ito's, which are distinguishable with color blindness, and lighter ones for dark mode.
inline constexpr std::array<std::string_view, svg_kinds> svg_light{"#0072b2", "#d55e00", "#00845f", "#b8558f",
                                                                   "#a87400", "#3a96cc", "#7a5c14", "#5a5a5a"};
inline constexpr std::array<std::string_view, svg_kinds> svg_dark{"#5ab4f0", "#ff9a5c", "#3fd6a6", "#f0a8d4",
                                                                  "#ffc34d", "#a5dcff", "#d9c27a", "#c0c0c0"};

/// The style of pictures: colors and dashes by kind, texts; dark mode on request, light in print.
[[nodiscard]] std::string svg_style();

/// Fill patterns by kind as `<defs>`: a tint below lines, crosses, dots. `prefix` distinguishes pictures of a page.
[[nodiscard]] std::string svg_patterns(std::string_view prefix = "lc");

/// The approximate width of a text of 14 pixels; rather too wide.
[[nodiscard]] double svg_width_of(std::string_view text) noexcept;

/// Alignment of a text at its coordinate.
enum class svg_anchor { start, middle, end };

/// Writes SVG elements. The caller closes what it opens.
class svg_writer {
public:
    svg_writer() = default;
    /// `prefix`: of pattern ids, if a page has several pictures.
    explicit svg_writer(std::string prefix) : prefix_(std::move(prefix)) {}

    svg_writer& open(std::string_view element, std::initializer_list<svg_attribute> attributes = {});
    svg_writer& close();
    /// An element without children. `tip`: tooltip.
    svg_writer& element(std::string_view name, std::initializer_list<svg_attribute> attributes,
                        std::string_view tip = {});
    svg_writer& text(double x, double y, std::string_view content, svg_anchor anchor = svg_anchor::start,
                     std::string_view extra_class = {});
    svg_writer& line(double x1, double y1, double x2, double y2, std::string_view of_class) {
        return element("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"class", of_class}});
    }
    /// A rectangle with the fill of a kind.
    svg_writer& filled(double x, double y, double width, double height, std::size_t kind, std::string_view tip = {});
    svg_writer& path(std::string_view d, std::string_view of_class, std::string_view fill = "none",
                     std::string_view tip = {}) {
        return element("path", {{"d", d}, {"class", of_class}, {"fill", fill}}, tip);
    }
    /// A marker with the shape of a kind.
    svg_writer& marker(double x, double y, std::size_t kind, std::string_view tip = {});
    /// Inserts the elements of another writer with an offset.
    svg_writer& place(double x, double y, const svg_writer& source);
    /// The value of `fill` for a kind.
    [[nodiscard]] std::string filling(std::size_t kind) const {
        return "url(#" + prefix_ + "-p" + std::to_string(kind % svg_kinds) + ")";
    }

    /// A file. Title and description are for screen readers.
    [[nodiscard]] std::string document(double width, double height, std::string_view title,
                                       std::string_view description) const;
    /// A part of a page that contains `svg_style()` and `svg_patterns()` with the prefix of this writer.
    [[nodiscard]] std::string figure(double width, double height, std::string_view title,
                                     std::string_view description) const {
        return wrap(width, height, title, description, {});
    }

private:
    void begin(std::string_view element, std::initializer_list<svg_attribute> attributes);
    [[nodiscard]] std::string wrap(double width, double height, std::string_view title, std::string_view description,
                                   const std::string& head) const;

    std::string prefix_ = "lc";
    std::string body_;
    std::vector<std::string> open_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/svg.ipp>  // IWYU pragma: export
#endif
