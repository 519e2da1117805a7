// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../../bench/layout_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcost;
using namespace llmcost::bench;

namespace {

const std::filesystem::path layouts_folder = LLMCOST_TEST_DIR "/fit/layouts";

/// The table of one family and variant in a file that is kept.
table find_table(const layout_reader& reader, std::string_view family, std::string_view variant = "") {
    for (table& t : reader.tables())
        if (std::string_view(t.family->name) == family && t.variant == variant) return t;
    throw std::runtime_error("no table of " + std::string(family) + ' ' + std::string(variant));
}
bool has(const table& t, std::int64_t m, std::int64_t k, double microseconds) {
    return std::any_of(t.rows.begin(), t.rows.end(), [&](const measurement& r) {
        return r.shape.sizes[0] == m && r.shape.sizes[1] == k && r.seconds == doctest::Approx(1e-6 * microseconds);
    });
}
double bytes_of(const char* variant, const char* operand, std::int64_t m, std::int64_t k) {
    return operator_shape{.type = find_operator_type("elementwise"),
                          .sizes = {m, k},
                          .operand = find_operand_type(operand),
                          .variant = variant}
        .work()
        .bytes;
}

}  // namespace

TEST_CASE("a layout is known by its file's name") {
    layout_fields fields;
    CHECK(matches("{Device}__{model}__dense.csv", "RTX4090__Llama-3.1-8B__dense.csv", fields));
    CHECK(fields["Device"] == "RTX4090");
    CHECK(fields["model"] == "Llama-3.1-8B");
    CHECK_FALSE(matches("{Device}__{model}__dense.csv", "RTX4090__dense.csv", fields));
    CHECK(layout_of("RTXPRO6000__Qwen3-30B-A3B-Instruct-2507__dense.csv")->operators.size() == 4);
    CHECK_FALSE(matches("gelu_{Device}.csv", "gelu_A100.csv.gz", fields));
    CHECK_FALSE(matches("gelu_{Device}.csv", "gelu_.csv", fields));
    CHECK(layout_of("a/softmax_A100.csv") != nullptr);
    CHECK(layout_of("a/h200_sxm__gemm__trtllm__1.3.0rc20__gemm_perf.csv") == nullptr);
    for (const measurement_layout& l : layouts)
        for (const measured_operator& m : l.operators) {
            INFO(l.file << ' ' << m.family << ' ' << m.variant);
            REQUIRE(find_operator_type(m.family) != nullptr);
            CHECK(find_operand_type(l.operand) != nullptr);
        }
}

TEST_CASE("sizes are columns, from left to right") {
    const layout_fields fields{{"heads", "32"}, {"kv", "8"}, {"width", "4096"}, {"n", "8"}, {"word", "x"}};
    CHECK(size_of(fields, "width") == 4096);
    CHECK(size_of(fields, "heads + kv * width / heads / n") == 640);  // 40 heads of 128, on eight devices
    CHECK(size_of(fields, "2 * width") == 8192);
    CHECK_THROWS_AS((void)size_of(fields, "width / 3"), std::runtime_error);
    CHECK_THROWS_AS((void)size_of(fields, "nothing"), std::runtime_error);
    CHECK_THROWS_AS((void)size_of(fields, "word"), std::runtime_error);
    CHECK(quoted_fields("add,\"a<b, c>\",3\r") == std::vector<std::string>{"add", "a<b, c>", "3"});
}

// by hand, from the lines of tests/fit/layouts
TEST_CASE("Vidur: milliseconds, two norms and a split layer in a row, a coarse clock") {
    layout_reader reader;
    reader.read(layouts_folder / "a100__Meta-Llama-3-8B__mlp_median.csv");
    const table norm = find_table(reader, "norm"), rotary = find_table(reader, "elementwise", "rotary"),
                act = find_table(reader, "elementwise", "silu_mul"), add = find_table(reader, "elementwise", "add"),
                gather = find_table(reader, "elementwise", "gather");
    CHECK(norm.system == "a100_sxm_80gb");
    CHECK(norm.operand == "float16");
    CHECK(norm.source == "microsoft/vidur @7d475133");
    CHECK(norm.licence == "MIT");
    CHECK(has(norm, 32768, 4096, 825.5));
    CHECK(has(norm, 32768, 4096, 814));
    CHECK(has(rotary, 32768, 5120, 776));
    CHECK(has(rotary, 30720, 640, 108));
    CHECK(has(act, 32768, 14336, 2768.5));
    CHECK(has(act, 30720, 1792, 379));
    CHECK(has(add, 30720, 4096, 447));
    CHECK(gather.rows.size() == 10);  // with more devices it is several kernels
    // 64 tokens took 2 to 5 µs by a clock of 1 µs; on eight devices two rotations took less than 20
    REQUIRE(reader.num_skipped.size() == 1);
    CHECK(reader.num_skipped.begin()->second == 7);
    CHECK(norm.rows.size() == 2 * 18);
    CHECK(norm.min_launch == doctest::Approx(3.5e-6));
    CHECK(rotary.min_launch == doctest::Approx(2.5e-6));
    CHECK(add.min_launch == doctest::Approx(1.5e-6));
    CHECK(gather.min_launch == doctest::Approx(1e-6));
}

TEST_CASE("NeuSight: devices in the rows, scalar operands, one without a datasheet") {
    layout_reader reader;
    for (const char* file : {"test_elem_fp32.csv", "test_linear_fp32.csv", "test_bmm_fp32.csv"})
        reader.read(layouts_folder / file);
    const table add = find_table(reader, "elementwise", "add"), linear = find_table(reader, "gemm"),
                products = find_table(reader, "batched_gemm");
    CHECK(add.system == "a100_pcie_80gb");
    CHECK(add.rows.size() == 14);
    CHECK(reader.num_skipped.at("no datasheet of Tesla P4") == 2);
    CHECK(linear.system == "h100_sxm");
    CHECK(has(linear, 1024, 2560, 383.5519949595133));
    CHECK(products.system == "t4");
    CHECK(products.rows.front().shape.sizes[0] == 192);
    CHECK(products.rows.front().shape.sizes[1] == 96);
    CHECK(products.rows.front().shape.sizes[2] == 196);
    CHECK(products.rows.front().shape.sizes[3] == 196);
    CHECK(std::string_view(layouts[4].operators[4].variant) == "add_scalar");
}

TEST_CASE("LLMServingSim: attention of prompts, of new tokens, and of both in one call") {
    layout_reader reader;
    reader.read(layouts_folder / "RTX4090__Llama-3.1-8B__attention.csv");
    const table prompts = find_table(reader, "context_attention", "bfloat16"),
                decodes = find_table(reader, "generation_attention", "bfloat16");
    CHECK(prompts.rows.size() == 2);
    CHECK(decodes.rows.size() == 1);
    CHECK(decodes.mixed.empty());
    REQUIRE(prompts.mixed.size() == 2);
    const mixed_call& call = prompts.mixed[1];
    CHECK(call.seconds == doctest::Approx(460.097e-6));
    const std::int64_t prompt[]{1, 512, 32, 8, 128, 0, 2048}, decode[]{16, 2048, 32, 8, 128, 0, 0};
    CHECK(std::equal(std::begin(prompt), std::end(prompt), call.prompt.sizes));
    CHECK(std::equal(std::begin(decode), std::end(decode), call.decodes.sizes));
}

TEST_CASE("LLMServingSim: microseconds of vLLM's layers, sizes of the model") {
    layout_reader reader;
    reader.read(layouts_folder / "RTX4090__Llama-3.1-8B__dense.csv");
    reader.read(layouts_folder / "RTX4090__Llama-3.1-8B__per_sequence.csv");
    const table gemm = find_table(reader, "gemm"), act = find_table(reader, "elementwise", "silu_mul"),
                norm = find_table(reader, "elementwise", "add_norm");
    CHECK(gemm.system == "rtx_4090");
    CHECK(gemm.operand == "bfloat16");
    CHECK(has(gemm, 1, 128256, 1096.93));  // the head; products of both files are one kernel's
    CHECK(std::any_of(gemm.rows.begin(), gemm.rows.end(), [](const measurement& r) {
        return r.shape.sizes[1] == 48 * 128 && r.shape.sizes[2] == 4096;  // 32 heads, 8 of keys and 8 of values
    }));
    CHECK(act.rows.front().shape.sizes[1] == 14336);
    CHECK(norm.rows.front().shape.sizes[1] == 4096);
}

TEST_CASE("LLMCompass: a map's elements are rows") {
    layout_reader reader;
    reader.read(layouts_folder / "gelu_A100.csv");
    reader.read(layouts_folder / "softmax_A100.csv");
    CHECK(has(find_table(reader, "elementwise", "gelu"), 1048576, 1, 47.8));
    CHECK(has(find_table(reader, "softmax"), 4096, 32, 13.11));
    CHECK(find_table(reader, "softmax").licence == "BSD-3-Clause");
}

TEST_CASE("a table that is not as its layout says names the line") {
    const std::filesystem::path bad = std::filesystem::temp_directory_path() / "softmax_H100.csv";
    std::ofstream(bad) << "rows,cols,latency_us\n1,2,3\n1,two,3\n";
    layout_reader reader;
    CHECK_THROWS_WITH_AS(reader.read(bad), doctest::Contains("softmax_H100.csv:3: expected a number, found 'two'"),
                         std::runtime_error);
    std::filesystem::remove(bad);
}

// elements of two and of four bytes, by hand
TEST_CASE("an elementwise operation moves what it reads and writes") {
    CHECK(bytes_of("map", "bfloat16", 8, 1000) == 2 * 8000 * 2);
    CHECK(bytes_of("add", "float32", 8, 1000) == 3 * 8000 * 4);
    CHECK(bytes_of("add_scalar", "float32", 8, 1000) == 2 * 8000 * 4);
    CHECK(bytes_of("silu_mul", "float16", 8, 1000) == 3 * 8000 * 2);
    CHECK(bytes_of("add_norm", "bfloat16", 8, 1000) == 4 * 8000 * 2);
    CHECK(bytes_of("rotary", "bfloat16", 8, 1000) == 2 * 8000 * 2);
}
