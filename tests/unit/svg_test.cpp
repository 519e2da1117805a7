// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/report/chart.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace llmcost;

namespace {

std::string labels(const std::vector<axis_tick>& ticks) {
    std::string out;
    for (const axis_tick& t : ticks) out += (out.empty() ? "" : " | ") + t.label;
    return out;
}

/// Whether every element of a document is closed, in order, and what stands between is no markup.
bool is_well_formed(const std::string& text) {
    std::vector<std::string> open;
    for (std::size_t position = text.find('<'); position != std::string::npos;
         position = text.find('<', position + 1)) {
        const std::size_t end = text.find('>', position);
        if (end == std::string::npos) return false;
        const std::string tag = text.substr(position + 1, end - position - 1);
        if (tag.starts_with('?') || tag.ends_with('/')) continue;
        const std::string name =
            tag.substr(tag.starts_with('/') ? 1 : 0, tag.find(' ') - (tag.starts_with('/') ? 1 : 0));
        if (!tag.starts_with('/'))
            open.push_back(name);
        else if (open.empty() || open.back() != name)
            return false;
        else
            open.pop_back();
    }
    return open.empty();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a text in a picture is no markup") {
    CHECK(xml_text("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
    CHECK(xml_text("B − A") == "B − A");
    CHECK(xml_text("\x1b[2J\xff") == "\xEF\xBF\xBD[2J\xEF\xBF\xBD");
    svg_writer out;
    out.text(1, 2, "</text><script>").element("rect", {{"fill", "\"/><script>"}}, "<tip>");
    const std::string document = out.document(10, 20, "<t>", "<d>");
    CHECK(is_well_formed(document));
    CHECK_FALSE(has(document, "<script"));
    CHECK(has(document, "<title>&lt;t&gt;</title>"));
    CHECK(has(document, "viewBox=\"0 0 10 20\""));
}

TEST_CASE("coordinates are short and finite") {
    CHECK(svg_number(1) == "1");
    CHECK(svg_number(-0.001) == "0");
    CHECK(svg_number(2.5) == "2.5");
    CHECK(svg_number(1.0 / 3) == "0.33");
    CHECK(svg_number(std::nan("")) == "0");
    CHECK(svg_number(1e300) == "1000000");
    CHECK(svg_number(-std::numeric_limits<double>::infinity()) == "0");
}

TEST_CASE("axes are marked at round values") {
    const chart_axis number{"", axis_scale::linear, axis_unit::number}, bytes{"", axis_scale::linear, axis_unit::bytes};
    const chart_axis log{"", axis_scale::logarithmic, axis_unit::number};
    CHECK(labels(axis_ticks(0, 2.67e12, number, 6)) == "0 | 500 G | 1 T | 1.5 T | 2 T | 2.5 T");
    CHECK(labels(axis_ticks(-1, 1, number, 4)) == "-1 | -0.5 | 0 | 0.5 | 1");
    CHECK(labels(axis_ticks(0, 80e9, bytes, 6)) == "0 B | 16 GiB | 32 GiB | 48 GiB | 64 GiB");
    CHECK(labels(axis_ticks(3, 2e7, log, 6)) == "10 | 100 | 1 k | 10 k | 100 k | 1 M | 10 M");
    CHECK(labels(axis_ticks(3, 30, log, 6)) == "5 | 10 | 20");
    CHECK(labels(axis_ticks(1024, 1048576, {"", axis_scale::logarithmic, axis_unit::bytes}, 4)) ==
          "1 KiB | 32 KiB | 1 MiB");
    CHECK(tick_label(131072, axis_unit::digits) == "131,072");
    CHECK(tick_label(999.9, axis_unit::number) == "1 k");
    CHECK(tick_label(1536, axis_unit::bytes) == "1.5 KiB");
    CHECK(tick_label(1e40, axis_unit::number) == "10000000000 Q");
}

TEST_CASE("charts are well-formed, told apart without colour, and hold nothing that is fetched") {
    std::vector<chart_series> lines;
    for (std::size_t k = 0; k < 3; ++k)
        lines.push_back({"model <" + std::to_string(k), {1024, 2048}, {1e12, 3e12}, true, true, k});
    const chart_axis x{"new tokens", axis_scale::logarithmic, axis_unit::digits};
    const std::string drawn =
        line_chart({"FLOPs", "what it shows"}, x, {"FLOPs", axis_scale::logarithmic}, lines).document();
    const std::string stacked = stacked_areas({"Memory", "over a step"}, {"held", axis_scale::linear, axis_unit::bytes},
                                              lines, {{"forward", 0, 2}}, {{"80 GB", 8e10}})
                                    .document();
    const std::string bars =
        bar_chart({"Parts", "of memory"}, {{"", {{"weights", 3, "3 B"}, {"none", 0, "0 B", 1}}}}).document();
    for (const std::string& document : {drawn, stacked, bars}) {
        CHECK(is_well_formed(document));
        CHECK(has(document, "prefers-color-scheme:dark"));
        CHECK(has(document, "<desc>"));
        for (const char* part : {"<script", "href", "@import", "http://"}) {
            const std::size_t first = document.find(part);
            CHECK((first == std::string::npos || document.substr(first).starts_with("http://www.w3.org/2000/svg")));
        }
    }
    CHECK(has(drawn, ".lc-k1.lc-line{stroke-dasharray"));
    CHECK(has(stacked, "fill=\"url(#lc-p2)\""));
    CHECK(has(drawn, "1,024"));
    CHECK(has(drawn, "model &lt;0"));
    CHECK(has(bars, "weights: 3 B"));
}

TEST_CASE("a chart of nothing, of zeros, and of one value is a chart") {
    const chart_axis linear{"", axis_scale::linear, axis_unit::number},
        log{"", axis_scale::logarithmic, axis_unit::number};
    for (const chart_axis& axis : {linear, log}) {
        for (const std::vector<double>& values : {std::vector<double>{}, {0}, {5}}) {
            const std::string document = line_chart({"t", "d"}, axis, axis, {{"s", values, values}}).document();
            CHECK(is_well_formed(document));
            CHECK_FALSE(has(document, "nan"));
            CHECK_FALSE(has(document, "inf"));
        }
    }
    CHECK(is_well_formed(stacked_areas({"t", "d"}, linear, {}, {}).document()));
    CHECK(is_well_formed(bar_chart({"t", "d"}, {}).document()));
}
