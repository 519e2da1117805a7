// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/serving/calibration_fit.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/server.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

const engine& vllm = *find_engine("vllm");

std::size_t index_of(std::string_view name) {
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        if (std::string_view(calibrated_constants[i].name) == name) return i;
    return calibrated_constant_count;
}

/// A row of sizes of its own: seconds of kernels by class, lengths and concurrency, without a server.
measured_load row_of(std::int64_t input, std::int64_t output, double concurrency) {
    measured_load row;
    row.load = {.input_tokens = input, .output_tokens = output, .concurrency = concurrency};
    const auto tokens = static_cast<double>(input);
    // products, prefill attention, decode attention, experts, collectives, network, others
    row.prefill_seconds = {1e-5 * tokens, 2e-10 * tokens * tokens, 0, 0, 2e-6 * tokens, 0, 1e-6 * tokens};
    row.decode_seconds = {
        6e-3 + 4e-6 * concurrency, 0, 4e-9 * tokens * concurrency, 0, 1e-3 + 1e-6 * concurrency, 0, 1e-3};
    row.kernels.num_running = row.kernels.num_running_per_rank = concurrency;
    for (std::size_t i = 0; i < kernel_class_count; ++i) {
        row.kernels.prefill.seconds += row.prefill_seconds[i];
        row.kernels.decode.seconds += row.decode_seconds[i];
    }
    return row;
}

/// Rows whose measurements are predictions with these constants.
std::vector<measured_load> rows_with(const constant_values& truth) {
    std::vector<measured_load> rows;
    for (const std::int64_t input : {128, 1024, 8192, 32768})
        for (const std::int64_t output : {128, 1024})
            for (const double concurrency : {1.0, 4.0, 16.0, 64.0, 256.0}) {
                measured_load row = row_of(input, output, concurrency);
                row.measured = predict(vllm, truth, row);
                rows.push_back(row);
            }
    return rows;
}
std::vector<const measured_load*> pointers(const std::vector<measured_load>& rows) {
    std::vector<const measured_load*> all;
    for (const measured_load& row : rows) all.push_back(&row);
    return all;
}

log_errors held_out(const std::vector<measured_load>& rows) { return cross_validate(vllm, rows).errors; }

}  // namespace

TEST_CASE("a fit finds the constants that rows were computed with") {
    constant_values truth = shipped_constants(vllm);
    truth[index_of("host_seconds_per_step")] = 1.5e-3;
    truth[index_of("host_seconds_per_sequence")] = 3e-5;
    truth[index_of("host_seconds_per_request")] = 0.04;
    truth[index_of("decode_attention_time_factor")] = 1.4;
    truth[index_of("prefill_attention_time_factor")] = 0.8;
    const std::vector<measured_load> rows = rows_with(truth);
    const constant_values fitted = fit_constants(vllm, pointers(rows));
    CHECK(fitted[index_of("host_seconds_per_step")] == doctest::Approx(1.5e-3).epsilon(0.25));
    CHECK(fitted[index_of("host_seconds_per_sequence")] == doctest::Approx(3e-5).epsilon(0.15));
    CHECK(fitted[index_of("host_seconds_per_request")] == doctest::Approx(0.04).epsilon(0.1));
    CHECK(fitted[index_of("decode_attention_time_factor")] == doctest::Approx(1.4).epsilon(0.1));
    for (const measured_load& row : rows) {
        const load_measurements p = predict(vllm, fitted, row);
        CHECK(p.tpot_seconds == doctest::Approx(row.measured.tpot_seconds).epsilon(0.02));
        CHECK(p.ttft_seconds == doctest::Approx(row.measured.ttft_seconds).epsilon(0.05));
    }
    // nothing depends on experts and the network
    CHECK(fitted[index_of("experts_time_factor")] == 1);
    CHECK(fitted[index_of("network_time_factor")] == 1);
}

TEST_CASE("without rows, and with rows as predicted, constants stay as shipped") {
    const constant_values shipped = shipped_constants(vllm);
    CHECK(fit_constants(vllm, {}) == shipped);
    const std::vector<measured_load> rows = rows_with(shipped);
    const constant_values fitted = fit_constants(vllm, pointers(rows));
    for (std::size_t i = 0; i < shipped.size(); ++i) CHECK(fitted[i] == doctest::Approx(shipped[i]).epsilon(1e-6));
}

TEST_CASE("one row moves each constant by less than the width of its prior, more rows move further") {
    constant_values truth = shipped_constants(vllm);
    truth[index_of("products_time_factor")] = 1.6;
    const std::vector<measured_load> rows = rows_with(truth);
    const constant_values one = fit_constants(vllm, {&rows[2]}), all = fit_constants(vllm, pointers(rows));
    for (std::size_t i = 0; i < one.size(); ++i)
        CHECK(std::fabs(prior_distance(i, one[i], shipped_constants(vllm)[i])) < 1);
    const std::size_t products = index_of("products_time_factor");
    CHECK(one[products] > 1);
    CHECK(all[products] > one[products]);
    // the rows do not tell this factor from that of all kernels, and the predictions are the same
    for (const measured_load& row : rows)
        CHECK(predict(vllm, all, row).tpot_seconds == doctest::Approx(row.measured.tpot_seconds).epsilon(0.03));
}

TEST_CASE("a row that is several times off hardly counts") {
    std::vector<measured_load> rows = rows_with(shipped_constants(vllm));
    rows[7].measured.tpot_seconds *= 10;
    rows[7].measured.ttft_seconds *= 10;
    const constant_values fitted = fit_constants(vllm, pointers(rows));
    CHECK(predict(vllm, fitted, rows[12]).tpot_seconds ==
          doctest::Approx(rows[12].measured.tpot_seconds).epsilon(0.01));
}

TEST_CASE("host times are never negative") {
    std::vector<measured_load> rows = rows_with(shipped_constants(vllm));
    for (measured_load& row : rows) row.measured.ttft_seconds = row.measured.tpot_seconds = 1e-4;
    const constant_values fitted = fit_constants(vllm, pointers(rows));
    for (std::size_t i = 0; i < fitted.size(); ++i) CHECK(fitted[i] >= 0);
    CHECK(fitted[index_of("host_seconds_per_step")] == 0);
}

TEST_CASE("rows are held out of the fit that predicts them") {
    constant_values truth = shipped_constants(vllm);
    truth[index_of("kernel_time_factor")] = 1.3;
    std::vector<measured_load> rows = rows_with(truth);
    rows.resize(10);
    const log_errors errors = held_out(rows);
    CHECK(errors.tpot.size() == 10);
    CHECK(errors.ttft.size() == 10);
    CHECK(median_error(errors.tpot) < 0.05);
    rows.resize(1);  // no other row: the shipped constants
    CHECK(held_out(rows).tpot.front() ==
          doctest::Approx(
              std::log2(rows[0].measured.tpot_seconds / predict(vllm, shipped_constants(vllm), rows[0]).tpot_seconds)));
}

// nine of ten distances are at most 0.1, so that the tenth of eleven counts: 0.5; (10 * 0.5 + 4 * 0.4) / 14
TEST_CASE("an interval is that of nine in ten held-out rows, and of the shipped one as four rows") {
    const std::vector<double> errors{0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.1, -0.5};
    const held_out_error e = held_out_error_of(errors, {-0.4, 0.9});
    CHECK(e.rows == 10);
    CHECK(e.interval.low == doctest::Approx(-(5 + 1.6) / 14));
    CHECK(e.interval.high == doctest::Approx((5 + 3.6) / 14));
    CHECK(e.median == doctest::Approx((std::exp2(0.1) - 1 + 1 - std::exp2(-0.1)) / 2).epsilon(0.1));
    CHECK(held_out_error_of({}, {-0.4, 0.9}).interval.high == 0.9);
}

TEST_CASE("a static batch has no server: its prefill, then steps of all requests") {
    measured_load row = row_of(1024, 100, 8);
    row.is_static_batch = true;
    constant_values values = shipped_constants(vllm);
    values[index_of("host_seconds_per_step")] = 1e-3;
    values[index_of("host_seconds_per_request")] = 5;
    const load_measurements p = predict(vllm, values, row);
    const double s = vllm.kernel_time_factor,
                 step = s * row.kernels.decode.seconds + 1e-3 + 8 * vllm.host_seconds_per_sequence;
    CHECK(p.ttft_seconds == doctest::Approx(s * row.kernels.prefill.seconds + 1e-3));
    CHECK(p.tpot_seconds == doctest::Approx(step));
    CHECK(p.batch_seconds == doctest::Approx(p.ttft_seconds + 99 * step));
    CHECK(p.tokens_per_second == doctest::Approx(8 * 100 / p.batch_seconds));
}

TEST_CASE("kernel classes add up to a step, and factors change their times") {
    struct scaled final : kernel_source {
        kernel_time_factors factors{};
        const kernel_calibration* find(const operator_shape&) override { return nullptr; }
        [[nodiscard]] double time_factor(const operator_shape& shape, bool is_decode_step) const override {
            return factors.factor(kernel_class_of(shape), is_decode_step);
        }
    } source;
    execution execution_config;
    execution_config.parallel.tensor_parallel_size = 4;
    measured_load row;
    row.load = {.input_tokens = 2000, .output_tokens = 500, .concurrency = 16};
    const auto evaluate = [&](const kernel_time_factors& factors) {
        source.factors = factors;
        server one(presets::llama_3_1_70b, execution_config, vllm, h200, source);
        return one.kernels(row.load);
    };
    measure_kernel_classes(row, evaluate);
    double prefill = 0, decode = 0;
    for (std::size_t i = 0; i < kernel_class_count; ++i) {
        prefill += row.prefill_seconds[i];
        decode += row.decode_seconds[i];
    }
    CHECK(prefill == doctest::Approx(row.kernels.prefill.seconds));
    CHECK(decode == doctest::Approx(row.kernels.decode.seconds));
    const auto part = [&](kernel_class c) { return static_cast<std::size_t>(c); };
    CHECK(row.prefill_seconds[part(kernel_class::prefill_attention)] > 0);
    CHECK(row.prefill_seconds[part(kernel_class::decode_attention)] == 0);
    CHECK(row.decode_seconds[part(kernel_class::decode_attention)] > 0);
    CHECK(row.decode_seconds[part(kernel_class::experts)] == 0);
    CHECK(row.decode_seconds[part(kernel_class::collectives)] > 0);
    CHECK(row.decode_seconds[part(kernel_class::network)] == 0);
    // a prediction with factors is that of a server with these factors
    kernel_time_factors factors;
    factors.values = {1.2, 0.7, 1.5, 2, 0.5, 3, 1.1};
    factors.prefill = 0.8;
    constant_values values = shipped_constants(vllm);
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        if (calibrated_constants[i].is_prefill_factor)
            values[i] = factors.prefill;
        else if (calibrated_constants[i].member == nullptr)
            values[i] = factors.values[part(calibrated_constants[i].kernels)];
    const load_times expected = server::times(vllm, row.load, evaluate(factors));
    CHECK(predict(vllm, values, row).tpot_seconds == doctest::Approx(expected.tpot_seconds));
    CHECK(predict(vllm, values, row).ttft_seconds == doctest::Approx(expected.ttft_seconds));
}

// the tokenizer's time is part of TTFT only
TEST_CASE("host time per prompt token delays the first token") {
    measured_load row = row_of(1000, 100, 1);
    engine slow = vllm;
    slow.host_seconds_per_prompt_token = 1e-5;
    const load_times a = server::times(vllm, row.load, row.kernels), b = server::times(slow, row.load, row.kernels);
    CHECK(b.ttft_seconds - a.ttft_seconds == doctest::Approx(0.01));
    CHECK(b.tpot_seconds == a.tpot_seconds);
}

// half of the logarithm of 1.44 is 1.2; the client's and the prompt's constants are as shipped
TEST_CASE("a calibration for other models is that of several models, or a part of that of one") {
    engine_calibration c;
    c.engine = "vllm";
    c.device = "b200_sxm";
    c.models = {"meta-llama/Llama-3.1-70B"};
    c.rows = 10;
    c.constants = shipped_constants(vllm);
    c.constants[index_of("products_time_factor")] = 1.44;
    c.constants[index_of("prefill_time_factor")] = 2;
    c.constants[index_of("host_seconds_per_step")] = 1e-3;
    c.constants[index_of("host_seconds_per_request")] = 1;
    c.tpot.rows = c.ttft.rows = 10;
    CHECK(has_runs_of(c, "configs/meta-llama__llama-3.1-70B.json"));
    CHECK_FALSE(has_runs_of(c, "Qwen/Qwen3-8B"));
    CHECK(calibration_for_model(c, "Llama-3.1-70B", true)->constants == c.constants);
    CHECK_FALSE(calibration_for_model(c, "Qwen/Qwen3-8B", true));
    const engine_calibration part = *calibration_for_model(c, "Qwen/Qwen3-8B", false);
    CHECK(part.tpot.rows == 0);
    CHECK(part.constants[index_of("products_time_factor")] == doctest::Approx(1.2));
    CHECK(part.constants[index_of("prefill_time_factor")] == 1);
    CHECK(part.constants[index_of("host_seconds_per_step")] == 1e-3);
    CHECK(part.constants[index_of("host_seconds_per_request")] == vllm.host_seconds_per_request);
    CHECK(part.constants[index_of("kernel_time_factor")] == doctest::Approx(vllm.kernel_time_factor));
    c.models.push_back("openai/gpt-oss-120b");
    CHECK(calibration_for_model(c, "Qwen/Qwen3-8B", true)->constants == c.constants);
    c.models.clear();
    CHECK(calibration_for_model(c, "Qwen/Qwen3-8B", true)->tpot.rows == 10);
}
