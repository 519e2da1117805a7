// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/svg.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/utf8.hpp>

namespace llmcost {

LLMCOST_INLINE std::string xml_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = detail::utf8_length(text);
        const std::string_view character = text.substr(0, length == 0 ? 1 : length);
        text.remove_prefix(character.size());
        if (length == 0 || detail::unprintable(character) != 0x110000)
            out += "\xEF\xBF\xBD";
        else if (character == "<")
            out += "&lt;";
        else if (character == ">")
            out += "&gt;";
        else if (character == "&")
            out += "&amp;";
        else if (character == "\"")
            out += "&quot;";
        else
            out += character;
    }
    return out;
}

LLMCOST_INLINE std::string svg_number(double x) {
    if (!std::isfinite(x)) return "0";
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.2f", std::fmax(-1e6, std::fmin(1e6, x)));
    std::string out(buffer.data());
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
    return out == "-0" ? "0" : out;
}

LLMCOST_INLINE std::string svg_style() {
    constexpr std::array<std::string_view, svg_kinds> dashes{"none", "8 4", "2 3",         "10 3 2 3",
                                                             "14 4", "5 2", "8 3 2 3 2 3", "1 5"};
    const auto colours = [](const std::array<std::string_view, svg_kinds>& palette) {
        std::string out;
        for (std::size_t i = 0; i < svg_kinds; ++i) {
            const std::string k = ".lc-k" + std::to_string(i), c(palette[i]);
            out += k + ".lc-line{stroke:" + c + "}" + k + ".lc-mark{stroke:" + c + "}" + k + ".lc-solid{fill:" + c +
                   "}" + k + ".lc-tint{fill:" + c + "}" + k + ".lc-hatch{stroke:" + c + "}" + k +
                   ".lc-fill{stroke:" + c + "}\n";
        }
        return out;
    };
    std::string out =
        ".lc-paper{fill:#fff}.lc-text{fill:#1b1b1b;font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',"
        "sans-serif;font-size:14px}.lc-title{font-size:16px;font-weight:600}.lc-small{font-size:12px}.lc-soft{fill:#"
        "555}\n"
        ".lc-axis{stroke:#444;fill:none}.lc-grid{stroke:#ddd;fill:none}.lc-line{fill:none;stroke-width:2.2}\n"
        ".lc-mark{fill:#fff;stroke-width:1.8}.lc-hatch{fill:none;stroke-width:1.6}.lc-tint{fill-opacity:.28}\n"
        ".lc-fill{stroke-width:1.2}.lc-limit{stroke:#1b1b1b;stroke-width:1.6;stroke-dasharray:3 3;fill:none}\n"
        ".lc-roof{fill:none;stroke:#1b1b1b;stroke-width:2}.lc-dashed{stroke-dasharray:4 3}\n"
        ".lc-halo{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}\n";
    for (std::size_t i = 1; i < svg_kinds; ++i)
        out += ".lc-k" + std::to_string(i) + ".lc-line{stroke-dasharray:" + std::string(dashes[i]) + "}";
    out += '\n' + colours(svg_light);
    return out +
           "@media screen and "
           "(prefers-color-scheme:dark){.lc-paper{fill:#16181c}.lc-text{fill:#eceef2}.lc-soft{fill:#b4b8c0}\n"
           ".lc-axis{stroke:#b4b8c0}.lc-grid{stroke:#3a3f47}.lc-mark{fill:#16181c}.lc-limit,.lc-roof{stroke:#eceef2}\n"
           ".lc-halo{stroke:#16181c}\n" +
           colours(svg_dark) + "}\n";
}

LLMCOST_INLINE std::string svg_patterns(std::string_view prefix) {
    constexpr std::array<std::string_view, svg_kinds> drawn{"",
                                                            "M0 8L8 0M-2 2L2 -2M6 10L10 6",
                                                            "M0 0L8 8M-2 6L2 10M6 -2L10 2",
                                                            "M0 4H8",
                                                            "M4 0V8",
                                                            "M0 0L8 8M0 8L8 0",
                                                            "M2 2h1M6 6h1",
                                                            "M0 4H8M4 0V8"};
    std::string out = "<defs>";
    for (std::size_t i = 0; i < svg_kinds; ++i) {
        const std::string kind = std::to_string(i);
        out += "<pattern id=\"" + std::string(prefix) + "-p" + kind +
               "\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect width=\"8\" height=\"8\" class=\"" +
               (i == 0 ? "lc-solid" : "lc-tint") + " lc-k" + kind + "\"/>";
        if (i > 0) out += "<path class=\"" + svg_class("hatch", i) + "\" d=\"" + std::string(drawn[i]) + "\"/>";
        out += "</pattern>";
    }
    return out + "</defs>\n";
}

LLMCOST_INLINE double svg_width_of(std::string_view text) noexcept {
    double width = 0;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;
        const bool is_narrow = std::string_view("iljtfI.,:;'|()[]/ -").find(c) != std::string_view::npos;
        const bool is_wide = std::string_view("mwMW@%").find(c) != std::string_view::npos || (c >= 'A' && c <= 'Z');
        width += is_narrow ? 5.2 : is_wide ? 11.2 : 8.9;
    }
    return width;
}

LLMCOST_INLINE svg_writer& svg_writer::open(std::string_view element, std::initializer_list<svg_attribute> attributes) {
    begin(element, attributes);
    body_ += ">";
    open_.emplace_back(element);
    return *this;
}

LLMCOST_INLINE svg_writer& svg_writer::close() {
    body_ += "</" + open_.back() + ">\n";
    open_.pop_back();
    return *this;
}

LLMCOST_INLINE svg_writer& svg_writer::element(std::string_view name, std::initializer_list<svg_attribute> attributes,
                                               std::string_view tip) {
    begin(name, attributes);
    body_ += tip.empty() ? "/>\n" : "><title>" + xml_text(tip) + "</title></" + std::string(name) + ">\n";
    return *this;
}

LLMCOST_INLINE svg_writer& svg_writer::text(double x, double y, std::string_view content, svg_anchor anchor,
                                            std::string_view extra_class) {
    constexpr std::array<std::string_view, 3> names{"start", "middle", "end"};
    begin("text", {{"x", x},
                   {"y", y},
                   {"class", "lc-text" + std::string(extra_class.empty() ? "" : " ") + std::string(extra_class)},
                   {"text-anchor", names[static_cast<std::size_t>(anchor)]}});
    body_ += ">" + xml_text(content) + "</text>\n";
    return *this;
}

LLMCOST_INLINE svg_writer& svg_writer::filled(double x, double y, double width, double height, std::size_t kind,
                                              std::string_view tip) {
    return element("rect",
                   {{"x", x},
                    {"y", y},
                    {"width", width},
                    {"height", height},
                    {"class", svg_class("fill", kind)},
                    {"fill", filling(kind)}},
                   tip);
}

LLMCOST_INLINE svg_writer& svg_writer::marker(double x, double y, std::size_t kind, std::string_view tip) {
    constexpr std::array<std::string_view, svg_kinds> shapes{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
                                                             "m-4 -4h8v8h-8z",
                                                             "m0 -5l5 9h-10z",
                                                             "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
                                                             "m0 5l5 -9h-10z",
                                                             "m-5 0h10m-5 -5v10",
                                                             "m-4 -4l8 8m-8 0l8 -8",
                                                             "m-5 -3h10v6h-10z"};
    return path("M" + svg_number(x) + " " + svg_number(y) + std::string(shapes[kind % svg_kinds]),
                svg_class("mark", kind), {}, tip);
}

LLMCOST_INLINE svg_writer& svg_writer::place(double x, double y, const svg_writer& source) {
    open("g", {{"transform", "translate(" + svg_number(x) + " " + svg_number(y) + ")"}});
    body_ += source.body_;
    return close();
}

LLMCOST_INLINE std::string svg_writer::document(double width, double height, std::string_view title,
                                                std::string_view description) const {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
           wrap(width, height, title, description,
                "<style>\n" + svg_style() + "</style>\n" + svg_patterns(prefix_) +
                    "<rect class=\"lc-paper\" width=\"100%\" height=\"100%\"/>\n");
}

LLMCOST_INLINE void svg_writer::begin(std::string_view element, std::initializer_list<svg_attribute> attributes) {
    body_ += "<" + std::string(element);
    for (const svg_attribute& a : attributes)
        if (!a.value.empty()) body_ += " " + std::string(a.name) + "=\"" + xml_text(a.value) + "\"";
}

LLMCOST_INLINE std::string svg_writer::wrap(double width, double height, std::string_view title,
                                            std::string_view description, const std::string& head) const {
    const std::string w = svg_number(width), h = svg_number(height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w +
           " " + h + "\" role=\"img\">\n<title>" + xml_text(title) + "</title>\n<desc>" + xml_text(description) +
           "</desc>\n" + head + body_ + "</svg>\n";
}

}  // namespace llmcost
