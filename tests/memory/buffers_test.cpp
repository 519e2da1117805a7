// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/training_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "registry.hpp"

// Parameters that a class freezes and buffers that it registers, as the reference has them (tests/oracle/buffers.py).
namespace llmcost {
namespace {

struct expected_storage {
    std::string configuration;
    std::uint64_t trained = 0, frozen = 0, float32_buffers = 0, bfloat16_buffers = 0;
};

/// A step of one sequence, of a length that the model supports.
training_run run_step(const model& m, dtype type) {
    const training_plan plan{.loss = training_loss::sum};
    workload load = minimal_workload(m);
    load.weights = load.activations = type;
    for (const std::int64_t length : {16, 64}) try {
            load.sequence = length;
            return train(m, load, plan);
        } catch (const workload_error&) {  // a number of chunks, or of tokens for an image
        }
    load.sequence = 1;
    return train(m, load, plan);
}

}  // namespace

TEST_CASE("frozen parameters and buffers are those of the reference") {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/buffers.txt");
    int num_checked = 0;
    for (std::string line; std::getline(in, line); ++num_checked) {
        std::istringstream fields(line);
        expected_storage expected;
        fields >> expected.configuration >> expected.trained >> expected.frozen >> expected.float32_buffers >>
            expected.bfloat16_buffers;
        REQUIRE(static_cast<bool>(fields));
        INFO(expected.configuration);
        const config_document document =
            read_config_file(LLMCOST_TEST_DIR "/golden/" + expected.configuration + ".json");
        const model m = document.read_with([](config_view root) { return parts::registry.read(root); });
        const memory_timeline in_float32 = run_step(m, dtype::float32).memory;
        CHECK(in_float32.num_trainable == expected.trained);
        CHECK(in_float32.peak.bytes[memory_category::parameters] == 4 * (expected.trained + expected.frozen));
        CHECK(in_float32.peak.bytes[memory_category::buffers] == expected.float32_buffers);
        const memory_timeline in_bfloat16 = run_step(m, dtype::bfloat16).memory;
        CHECK(in_bfloat16.peak.bytes[memory_category::buffers] == expected.bfloat16_buffers);
    }
    CHECK(num_checked == 787);
}

// Bytes of the parameters of a model in bfloat16 whose class keeps parameters in float32
// (`_keep_in_fp32_modules_strict`): decays and convolutions of Bailing Hybrid, routers of Beam.
TEST_CASE("parameters that are kept in float32 have four bytes per element") {
    const auto parameter_bytes = [](const std::string& name) {
        const config_document document = read_config_file(LLMCOST_TEST_DIR "/golden/" + name + ".json");
        const model m = document.read_with([](config_view root) { return parts::registry.read(root); });
        return run_step(m, dtype::bfloat16).memory.peak.bytes[memory_category::parameters];
    };
    CHECK(parameter_bytes("variant__bailing_hybrid_small") == 222'788);
    CHECK(parameter_bytes("variant__beam_mixed") == 322'440);
}

}  // namespace llmcost
