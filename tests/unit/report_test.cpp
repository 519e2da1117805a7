// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/report/html.hpp>
#include <llmcost/report/icicle.hpp>
#include <llmcost/report/layered_layout.hpp>
#include <llmcost/report/roofline_plot.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace llmcost;

namespace {

bool shows(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

icicle small_icicle() {
    icicle chart{{{"flops", ""}, {"params", ""}}, {}, {"first", "", "third"}, "a model", "its parts"};
    chart.boxes = {{"model", "", "Model", -1, 0, 1, 0, {10, 4}},
                   {"a", "a", "Linear", 0, 1, 1, 0, {6, 0}},
                   {"0-1", "0-1", "Layer", 0, 1, 2, 2, {3, 5}},
                   {"b<", "0-1.b<", "Linear", 2, 2, 2, 2, {3, 5}}};
    return chart;
}

}  // namespace

TEST_CASE("a page is closed in itself, and a text in it is no markup") {
    html_writer body;
    body.open("main", {{"class", "a\"b"}}).element("p", "<script>&").close();
    const std::string page = html_page("</title>", "p{}", body, {});
    CHECK(shows(page, "<title>&lt;/title&gt;</title>"));
    CHECK(shows(page, "<main class=\"a&quot;b\"><p>&lt;script&gt;&amp;</p>\n</main>\n</body>\n</html>\n"));
    CHECK(shows(page, "default-src 'none'"));
    CHECK_FALSE(shows(page, "<script"));
    CHECK(shows(html_page("t", "", body, "let x;\n"), "<script>\nlet x;\n</script>\n</body>"));
}

TEST_CASE("boxes of an icicle lie in their parents, one behind the other") {
    const icicle chart = small_icicle();
    const auto flops = icicle_places(chart, 0), params = icicle_places(chart, 1);
    CHECK(flops[1].left == 0);
    CHECK(flops[1].width == doctest::Approx(0.6));
    CHECK(flops[2].left == doctest::Approx(0.6));
    CHECK(flops[2].width == doctest::Approx(0.3));
    CHECK(flops[3].left == doctest::Approx(0.6));
    CHECK(flops[3].width == doctest::Approx(0.3));
    CHECK(params[1].width == 0);
    CHECK(params[2].width == 1);  // more than its parent has: as wide as that
    html_writer page;
    write_icicle(page, chart);
    CHECK(shows(page.take_text(), "data-path=\"0-1.b&lt;\""));
    CHECK(shows(page.take_text(), "aria-label=\"0-1, flops 3, 30 %\""));
    CHECK(shows(page.take_text(), "<span>2 × 0-1</span>"));
    CHECK(shows(page.take_text(), "left:60%;width:30%;--row:1"));
    CHECK_FALSE(shows(page.take_text(), "swatch k1"));
    CHECK(shows(icicle_picture(chart).document(), ">2 × 0-1</text>"));
}

TEST_CASE("edges of a drawn graph run down, and boxes of a row stand beside each other") {
    const std::vector<layered_edge> edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}, {4, 3}, {3, 5}, {0, 5}};
    const layered_places p = layered_layout(6, edges, 100, 40, 20);
    REQUIRE(p.boxes.size() == 6);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        REQUIRE(p.edges[i].size() >= 2);
        for (std::size_t k = 1; k < p.edges[i].size(); ++k) CHECK(p.edges[i][k].y > p.edges[i][k - 1].y);
        CHECK(p.edges[i].front().x == p.boxes[static_cast<std::size_t>(edges[i].source)].x);
        CHECK(p.edges[i].back().y == p.boxes[static_cast<std::size_t>(edges[i].to)].y - 20);
    }
    for (std::size_t a = 0; a < 6; ++a) {
        CHECK(p.boxes[a].x >= 50);
        CHECK(p.boxes[a].x <= p.width - 50);
        CHECK(p.boxes[a].y <= p.height - 20);
        for (std::size_t b = 0; b < a; ++b)
            CHECK((p.boxes[a].y != p.boxes[b].y || std::fabs(p.boxes[a].x - p.boxes[b].x) >= 100));
    }
    CHECK(p.boxes[4].y == p.boxes[1].y);  // a tensor without a producer is above its reader
    CHECK(layered_layout(0, {}, 1, 1, 1).boxes.empty());
}

TEST_CASE("a roofline has a marker for each operator, with its name") {
    roofline_points plot_data{"2 TB/s", 2e12, {{"peak", 1e15}, {"vector", 6e13}}, {}, {"products", "none"}};
    plot_data.points = {{"matmul", 1e12, 1e9, 2e-3, 0, "1"}, {"copy", 0, 1e9, 1e-3, 1, "2"}};
    const std::string drawn = roofline_plot({"a model", "its operators"}, plot_data).document();
    for (const std::string label : {"<title>matmul</title>", "<title>copy</title>", ">peak</text>", ">vector</text>",
                                    ">2 TB/s</text>", ">1</text>", ">2</text>", "FLOPs for each byte that is moved"})
        CHECK_MESSAGE(shows(drawn, label), label);
}
