// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/icicle.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/graph_drawing.hpp>
#include <llmcost/report/html.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/report/ticks.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<icicle_place> icicle_places(const icicle& diagram, std::size_t measure) {
    std::vector<icicle_place> places(diagram.boxes.size());
    std::vector<double> children_sizes(diagram.boxes.size()), used(diagram.boxes.size());
    for (const icicle_box& b : diagram.boxes)
        if (b.parent >= 0) children_sizes[static_cast<std::size_t>(b.parent)] += b.sizes[measure];
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
        const icicle_box& b = diagram.boxes[i];
        if (b.parent < 0) {
            places[i] = {0, 1};
            continue;
        }
        const auto above = static_cast<std::size_t>(b.parent);
        const double total_size = std::max(diagram.boxes[above].sizes[measure], children_sizes[above]);
        const double width = total_size > 0 ? places[above].width * b.sizes[measure] / total_size : 0;
        places[i] = {places[above].left + used[above], width};
        used[above] += width;
    }
    return places;
}

}  // namespace llmcost

namespace llmcost::detail {

/// `16 × 0-15` for several equal modules.
[[nodiscard]] LLMCOST_INLINE std::string icicle_name(const icicle& diagram, const icicle_box& b) {
    const std::uint64_t parent_count = b.parent >= 0 ? diagram.boxes[static_cast<std::size_t>(b.parent)].times : 1;
    const std::uint64_t num_per_parent = b.times / std::max<std::uint64_t>(1, parent_count);
    return num_per_parent > 1 ? std::to_string(num_per_parent) + " × " + b.name : b.name;
}

/// `flops 2.1 T, 61.8 %`.
[[nodiscard]] LLMCOST_INLINE std::string icicle_label(const icicle& diagram, const icicle_box& b, std::size_t measure) {
    const double total_size = diagram.boxes.front().sizes[measure], size = b.sizes[measure];
    const icicle_measure& m = diagram.measures[measure];
    std::string amount = three_digits(size, m.unit);
    if (amount.ends_with(' ')) amount.pop_back();
    return m.name + ' ' + amount + ", " + tick_label(total_size > 0 ? 100 * size / total_size : 0, axis_unit::number) +
           " %";
}

/// The styles with a meaning.
[[nodiscard]] LLMCOST_INLINE std::vector<std::size_t> icicle_kinds(const icicle& diagram) {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < diagram.kinds.size(); ++k)
        if (!diagram.kinds[k].empty()) out.push_back(k);
    return out;
}

[[nodiscard]] LLMCOST_INLINE int icicle_rows(const icicle& diagram) {
    int deepest = 0;
    for (const icicle_box& b : diagram.boxes) deepest = std::max(deepest, b.depth);
    return deepest + 1;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE svg_picture icicle_picture(const icicle& diagram, const std::string& prefix) {
    constexpr double row = 30, left = 14, width = 612, top = 46;
    svg_picture out = detail::begin_picture({diagram.title, diagram.description, prefix});
    const std::vector<icicle_place> places = icicle_places(diagram, 0);
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
        const icicle_box& b = diagram.boxes[i];
        const double x = left + width * places[i].left, w = width * places[i].width, y = top + row * b.depth;
        if (w < 0.5) continue;
        const std::string name = detail::icicle_name(diagram, b);
        out.drawn.filled(x, y, w, row - 2, b.kind,
                         (b.path.empty() ? b.type : b.path) + ": " + detail::icicle_label(diagram, b, 0));
        const std::string label = svg_width_of(name) <= w - 8 ? name
                                  : w > 46                    ? detail::svg_cut(name, w - 8)
                                                              : std::string();
        out.drawn.text(x + 5, y + 19, label, svg_anchor::start, "lc-halo");
    }
    const double below = top + row * detail::icicle_rows(diagram) + 22;
    const std::vector<std::size_t> kinds = detail::icicle_kinds(diagram);
    std::vector<std::string> names;
    for (const std::size_t k : kinds) names.push_back(diagram.kinds[k]);
    const double took = detail::draw_legend(out.drawn, 20, below, 626, names, [&](std::size_t i, double x, double y) {
        out.drawn.filled(x, y - 9, 26, 18, kinds[i]);
    });
    out.height = below + took;
    return out;
}

LLMCOST_INLINE void write_icicle(html_writer& page, const icicle& diagram) {
    const std::vector<icicle_place> now = icicle_places(diagram, 0);
    std::vector<std::vector<icicle_place>> places;
    for (std::size_t m = 0; m < diagram.measures.size(); ++m) places.push_back(icicle_places(diagram, m));
    const auto in_percent = [](double share) { return svg_number(100 * share) + "%"; };
    const auto short_number = [](double x) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.7g", x);
        return std::string(text.data());
    };
    page.open("div", {{"class", "controls"}});
    page.open("label").text("Width by ").open("select", {{"id", "icicle-measure"}});
    for (const icicle_measure& m : diagram.measures) page.element("option", m.name, {{"data-unit", m.unit}});
    page.close().close();
    page.element("button", "Out", {{"type", "button"}, {"id", "icicle-out"}}).close();
    page.element("p", " ", {{"id", "icicle-now"}, {"aria-live", "polite"}});
    page.open("div", {{"class", "icicle"},
                      {"id", "icicle"},
                      {"role", "group"},
                      {"aria-label", diagram.title},
                      {"style", "--rows:" + std::to_string(detail::icicle_rows(diagram))}});
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
        const icicle_box& b = diagram.boxes[i];
        std::string lefts, widths, sizes;
        for (std::size_t m = 0; m < diagram.measures.size(); ++m) {
            const char* const comma = m == 0 ? "" : ",";
            lefts += comma + short_number(places[m][i].left);
            widths += comma + short_number(places[m][i].width);
            sizes += comma + short_number(b.sizes[m]);
        }
        const std::string path = b.path.empty() ? b.type : b.path;
        page.open("button", {{"type", "button"},
                             {"class", "box k" + std::to_string(b.kind % svg_kinds)},
                             {"style", "left:" + in_percent(now[i].left) + ";width:" + in_percent(now[i].width) +
                                           ";--row:" + std::to_string(b.depth)},
                             {"data-path", b.path},
                             {"data-type", b.type},
                             {"data-times", std::to_string(b.times)},
                             {"data-parent", std::to_string(b.parent)},
                             {"data-from", lefts},
                             {"data-wide", widths},
                             {"data-sizes", sizes},
                             {"aria-label", path + ", " + detail::icicle_label(diagram, b, 0)}});
        page.element("span", detail::icicle_name(diagram, b)).close();
    }
    page.close();
    page.open("ul", {{"class", "legend"}, {"aria-label", "Legend"}});
    for (const std::size_t k : detail::icicle_kinds(diagram)) {
        page.open("li").element("span", "",
                                {{"class", "swatch k" + std::to_string(k % svg_kinds)}, {"aria-hidden", "true"}});
        page.text(diagram.kinds[k]).close();
    }
    page.close();
}

LLMCOST_INLINE std::string icicle_style() {
    std::string out = R"css(
.icicle{position:relative;height:calc(var(--rows)*2.75rem)}
.box{position:absolute;top:calc(var(--row)*2.75rem);height:2.75rem;margin:0;padding:0;overflow:hidden;text-align:left;
border:1px solid var(--ink);border-radius:0;color:var(--ink);font:inherit;font-size:.88rem;cursor:pointer;white-space:nowrap;
min-width:0}
.box,.swatch{background-color:color-mix(in srgb,var(--k) 20%,var(--paper))}
.box span{background:var(--paper);margin-left:.2rem;padding:.1rem .25rem;border-radius:.2rem}
.box:hover,.box:focus-visible{border-width:3px;z-index:2}
.box:focus-visible{outline-offset:-5px}
.box[aria-current]{border-width:3px;font-weight:700}
.box.narrow span{visibility:hidden}
#icicle-now{min-height:3rem;margin:.5rem 0;overflow-wrap:anywhere}
.controls{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center}
.controls select,.controls button{font:inherit;padding:.4rem .75rem;min-height:2.75rem;color:var(--ink);
background:var(--band);border:1px solid var(--soft);border-radius:.3rem}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0;margin:.75rem 0;font-size:.92rem}
.swatch{display:inline-block;width:1.75rem;height:1.1rem;border:1px solid var(--ink);vertical-align:-.2rem;margin-right:.4rem}
@media print{.box,.swatch{print-color-adjust:exact;-webkit-print-color-adjust:exact}#icicle-now,.controls{display:none}}
)css";
    constexpr std::string_view drawn[svg_kinds]{"linear-gradient(var(--k),var(--k))",
                                                "repeating-linear-gradient(135deg,var(--k) 0 2px,transparent 2px 8px)",
                                                "repeating-linear-gradient(45deg,var(--k) 0 2px,transparent 2px 8px)",
                                                "repeating-linear-gradient(0deg,var(--k) 0 2px,transparent 2px 8px)",
                                                "repeating-linear-gradient(90deg,var(--k) 0 2px,transparent 2px 8px)",
                                                "repeating-linear-gradient(45deg,var(--k) 0 1px,transparent 1px 7px),"
                                                "repeating-linear-gradient(135deg,var(--k) 0 1px,transparent 1px 7px)",
                                                "repeating-linear-gradient(90deg,var(--k) 0 4px,transparent 4px 16px)",
                                                "linear-gradient(var(--band),var(--band))"};
    const auto colours = [&](const std::array<std::string_view, svg_kinds>& palette) {
        std::string rules;
        for (std::size_t k = 0; k < svg_kinds; ++k)
            rules += ".k" + std::to_string(k) + "{--k:" + std::string(palette[k]) + "}";
        return rules;
    };
    for (std::size_t k = 0; k < svg_kinds; ++k)
        out += ".k" + std::to_string(k) + "{background-image:" + std::string(drawn[k]) + "}\n";
    return out + colours(svg_light) + "\n@media screen and (prefers-color-scheme:dark){" + colours(svg_dark) + "}\n";
}

}  // namespace llmcost
