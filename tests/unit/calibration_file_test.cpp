// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/devices/all.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/latency/calibration.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

using namespace llmcost;

namespace {

std::string complaint_of_calibration(std::string_view text) {
    try {
        (void)calibration_document(parse_config(text, "mine.json"));
        return "";
    } catch (const error& e) {
        return e.what();
    }
}

const std::string good =
    R"({"device": "h200_sxm", "source": "us", "kernels": [{"family": "gemm", "software": "mine", "operand": "bfloat16",
    "roofline": {"launch_us": 2, "compute_efficiency": 0.8, "bandwidth_efficiency": 0.9, "smoothness": 2},
    "held_out": {"rows": 10, "median": 0.05, "low": -0.2, "high": 0.2},
    "residual": {"step": 0.0078125, "axes": [[1, 16]], "sites": "64 64, 64 128", "centres": "-8 0", "units": "1 2",
                 "sites_per_page": 1, "pages": ["PQ", "PR"]}}]})";

std::string replace_text(std::string_view pattern, std::string_view to) {
    std::string text = good;
    const std::size_t position = text.find(pattern);
    REQUIRE(position != std::string::npos);
    return text.replace(position, pattern.size(), to);
}

}  // namespace

TEST_CASE("a kernel of prompts says how it takes those that decode") {
    const auto parse_decode_handling = [](const std::string& family, const std::string& name) {
        const std::string text =
            R"({"device": "h200_sxm", "source": "us", "kernels": [{"family": ")" + family +
            R"(", "software": "mine", "operand": "bfloat16", )" + name +
            R"("roofline": {"launch_us": 2, "compute_efficiency": 0.8, "bandwidth_efficiency": 0.9,)"
            R"("smoothness": 2}, "held_out": {"rows": 1, "median": 0, "low": 0, "high": 0}}]})";
        return calibration_document(parse_config(text, "mine.json")).kernels()[0].mixed_decode_mode;
    };
    CHECK(parse_decode_handling("context_attention", "") == mixed_decode_kind::separate_kernel);
    CHECK(parse_decode_handling("gemm", R"("takes_decodes": "no", )") == mixed_decode_kind::separate_kernel);
    CHECK(parse_decode_handling("context_attention", R"("takes_decodes": "in_launch", )") ==
          mixed_decode_kind::same_launch);
    CHECK(parse_decode_handling("context_attention", R"("takes_decodes": "in_tiles", )") ==
          mixed_decode_kind::as_prefill_tiles);
    CHECK_THROWS_WITH((void)parse_decode_handling("context_attention", R"("takes_decodes": "tiles", )"),
                      "mine.json: /kernels/0/takes_decodes: expected one of no, in_launch, in_tiles, found \"tiles\"");
    CHECK_THROWS_WITH((void)parse_decode_handling("context_attention", R"("takes_decodes": true, )"),
                      "mine.json: /kernels/0/takes_decodes: expected a string, found true");
    CHECK_THROWS_WITH((void)parse_decode_handling("context_mla", R"("takes_decodes": "in_tiles", )"),
                      "mine.json: /kernels/0/takes_decodes: expected no, except for context_attention, found "
                      "\"in_tiles\"");
}

TEST_CASE("where a layer was not measured, less is certain") {
    const operator_shape known{find_operator_type("gemm"), {1, 64, 64}, find_operand_type("bfloat16"), {}};
    const operator_shape unmeasured_shape{find_operator_type("gemm"), {1, 64, 96}, find_operand_type("bfloat16"), {}};
    const auto interval = [](const std::string& text, const operator_shape& shape) {
        const calibration_document file(parse_config(text, "mine.json"));
        const latency_estimate e = estimate(*find_device("h200_sxm"), shape, &file.kernels()[0]);
        return std::array{std::log2(e.lower / e.seconds), std::log2(e.upper / e.seconds)};
    };
    const std::string site_interval_text = replace_text(
        "\"residual\"", R"("held_out_sites": {"rows": 4, "median": 0.1, "low": -0.1, "high": 0.7}, "residual")");
    CHECK(interval(good, known)[1] == doctest::Approx(0.2));
    CHECK(interval(good, unmeasured_shape)[0] == doctest::Approx(-0.4));  // twice as far
    CHECK(interval(good, unmeasured_shape)[1] == doctest::Approx(0.4));
    CHECK(interval(site_interval_text, known)[1] == doctest::Approx(0.2));
    CHECK(interval(site_interval_text, unmeasured_shape)[0] ==
          doctest::Approx(-0.2));  // never nearer than where it was measured
    CHECK(interval(site_interval_text, unmeasured_shape)[1] == doctest::Approx(0.7));
}

TEST_CASE("a bad calibration names the place") {
    CHECK(complaint_of_calibration(good) == "");
    CHECK(complaint_of_calibration(replace_text("\"device\": \"h200_sxm\", ", "")) ==
          "mine.json: /device: missing; expected a string");
    CHECK(complaint_of_calibration(replace_text("\"source\": \"us\", ", "")) ==
          "mine.json: /source: missing; expected a string");
    CHECK(complaint_of_calibration(replace_text("\"us\"", "\"\"")) ==
          "mine.json: /source: expected the source of the measurements, found \"\"");
    // a misspelt key would count as one that is missing
    CHECK(complaint_of_calibration(replace_text("\"device\"", "\"devise\"")) ==
          "mine.json: /devise: expected one of device, source, licence, replaces_engines, kernels: \"h200_sxm\"");
    CHECK(complaint_of_calibration(replace_text("\"software\"", "\"soft\""))
              .starts_with("mine.json: /kernels/0/soft: expected one of family, software, "));
    CHECK(complaint_of_calibration(replace_text("\"held_out\"", "\"variat\": \"x\", \"held_out\""))
              .starts_with("mine.json: /kernels/0/variat: expected one of family, "));
    CHECK(complaint_of_calibration(replace_text("launch_us", "launch_ms")) ==
          "mine.json: /kernels/0/roofline/launch_ms: expected one of launch_us, compute_efficiency, "
          "bandwidth_efficiency, "
          "smoothness: 2");
    CHECK(complaint_of_calibration(replace_text("\"median\"", "\"mean\"")) ==
          "mine.json: /kernels/0/held_out/mean: expected one of rows, median, low, high: 0.05");
    CHECK(complaint_of_calibration(replace_text("\"units\"", "\"unit\"")) ==
          "mine.json: /kernels/0/residual/unit: expected one of step, axes, sites, centres, units, sites_per_page, "
          "pages: "
          "\"1 2\"");
    const std::string family = complaint_of_calibration(replace_text("\"gemm\"", "\"gem\"")),
                      operand = complaint_of_calibration(replace_text("\"bfloat16\"", "\"bf17\""));
    CHECK(family.starts_with("mine.json: /kernels/0/family: expected one of gemm, batched_gemm, "));
    CHECK(family.ends_with(R"(, found "gem")"));
    CHECK(operand.starts_with("mine.json: /kernels/0/operand: expected one of float32, bfloat16, "));
    CHECK(operand.ends_with(R"(, found "bf17")"));
    CHECK(complaint_of_calibration(replace_text("0.8", "0")) ==
          "mine.json: /kernels/0/roofline/compute_efficiency: expected a positive number, neither tiny nor beyond a "
          "million, found 0");
    CHECK(complaint_of_calibration(replace_text("-0.2", "0.1"))
              .starts_with("mine.json: /kernels/0/held_out/low: expected from -64 to 0"));
    CHECK(complaint_of_calibration(replace_text("\"residual\"", "\"held_out_sites\": {\"rows\": -1}, \"residual\""))
              .starts_with("mine.json: /kernels/0/held_out_sites/rows: expected"));
    CHECK(complaint_of_calibration(replace_text("0.0078125", "9")) ==
          "mine.json: /kernels/0/residual/step: expected deviations up to 64 octaves, found 9");
    CHECK(complaint_of_calibration(replace_text("\"smoothness\": 2", "\"smoothness\": 1e300"))
              .starts_with("mine.json: /kernels/0/roofline/smoothness"));
    CHECK(complaint_of_calibration(replace_text("[1, 16]", "[16, 1]")) ==
          "mine.json: /kernels/0/residual/axes/0/1: expected a number above the previous one, found 1");
    CHECK(complaint_of_calibration(replace_text("[1, 16]", "[]")) ==
          "mine.json: /kernels/0/residual/axes/0: expected numbers, found an empty array");
    CHECK(complaint_of_calibration(replace_text("[[1, 16]]", "[[1], [16]]")) ==
          "mine.json: /kernels/0/residual/axes: expected a list of numbers for each axis of the operator type, found "
          "an array "
          "of 2");
    const auto sites = [&](const std::string& text) {
        return complaint_of_calibration(replace_text("64 64, 64 128", text));
    };
    const auto units = [&](const std::string& text) {
        return complaint_of_calibration(replace_text("\"1 2\"", '"' + text + '"'));
    };
    const std::string location = "mine.json: /kernels/0/residual/";
    CHECK(sites("64 64, 64") ==
          location + "sites: expected a space and another integer after number 3, found \"64 64, 64\"");
    CHECK(sites("64 64 64 128") ==
          location + "sites: expected the end, or a comma and the next site, after number 2, found \"64 64 64 128\"");
    CHECK(sites("64 64, x 128") ==
          location + "sites: expected integers from 0 to 2147483647; invalid: number 3, found \"64 64, x 128\"");
    CHECK(sites("64 128, 64 64") == location + "sites: expected sites in ascending order, found \"64 128, 64 64\"");
    for (const char* none : {"", " 64 64", "64 -64, 64 128", "064 64, 64 128", "-0 64, 64 128", "64 64, 64 2147483648",
                             "64 64, 64 9223372036854775808", "64 64, 64 128 ", "64 64, 64 128,", "64 64, 64 128, "})
        CHECK(sites(none).starts_with(location + "sites: expected "));
    CHECK(complaint_of_calibration(replace_text("\"64 64, 64 128\"", "[64, 64, 64, 128]")) ==
          location + "sites: expected a string, found an array of 4");
    CHECK(units("1") == location + "units: expected a number for each of 2 sites, found \"1\"");
    CHECK(units("1 2 3") == location + "units: expected a number for each of 2 sites, found \"1 2 3\"");
    CHECK(units("1 0") == location + "units: expected integers from 1 to 4096; invalid: number 2, found \"1 0\"");
    CHECK(units("1 2 ") ==
          location + "units: expected the end, or a space and another integer, after number 2, found \"1 2 \"");
    CHECK(complaint_of_calibration(replace_text("\"-8 0\"", "\"-8 4097\"")) ==
          location + "centres: expected integers from -4096 to 4096; invalid: number 2, found \"-8 4097\"");
    CHECK(
        complaint_of_calibration(replace_text("\"PR\"", "\"P\"")) ==
        R"(mine.json: /kernels/0/residual/pages/1: expected one character per site and point of the axes, found "P")");
    CHECK(complaint_of_calibration(replace_text("\"PR\"", "\"P R\""))
              .starts_with("mine.json: /kernels/0/residual/pages/1: expected one character per"));
    CHECK(complaint_of_calibration(replace_text("\"PR\"", "\"P!\""))
              .starts_with("mine.json: /kernels/0/residual/pages/1: expected characters from #"));
    CHECK(complaint_of_calibration(replace_text(", \"PR\"", ""))
              .starts_with("mine.json: /kernels/0/residual/pages: expected a page for every site"));
}
