// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/training_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "registry.hpp"

// Parameters that a class freezes and buffers that it registers, as the reference has them (tests/oracle/buffers.py),
// and parameters that it loads in float32 (tests/oracle/float32_parameters.py).
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

/// Elements that a model in bfloat16 has in float32, by configuration.
std::map<std::string, std::uint64_t> recorded_float32_parameters() {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/float32_parameters.txt");
    std::map<std::string, std::uint64_t> elements;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string configuration;
        fields >> configuration;
        REQUIRE(static_cast<bool>(fields >> elements[configuration]));
    }
    return elements;
}

/// Whether a model in bfloat16 cannot be executed, so that no training step has its float32 parameters.
///
/// Reformer adds axial positions in float32 to its embeddings, and XLNet projects bfloat16 states with float32 weights.
/// PyTorch has no kernel for such a norm or product.
bool has_no_bfloat16_step(const model& m) {
    const std::string type(m.spec->model_type);
    return type == "reformer" || type == "xlnet";
}

}  // namespace

TEST_CASE("frozen parameters and buffers are those of the reference") {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/buffers.txt");
    const std::map<std::string, std::uint64_t> float32_parameters = recorded_float32_parameters();
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
        if (!float32_parameters.contains(expected.configuration))
            CHECK(in_bfloat16.peak.bytes[memory_category::parameters] == 2 * (expected.trained + expected.frozen));
    }
    CHECK(num_checked == 787);
}

TEST_CASE("a model in bfloat16 has the float32 parameters of the reference") {
    const std::map<std::string, std::uint64_t> float32_parameters = recorded_float32_parameters();
    CHECK(float32_parameters.size() == 43);
    for (const auto& recorded : float32_parameters) {
        const std::string& configuration = recorded.first;
        INFO(configuration);
        const config_document document = read_config_file(LLMCOST_TEST_DIR "/golden/" + configuration + ".json");
        const model m = document.read_with([](config_view root) { return parts::registry.read(root); });
        if (has_no_bfloat16_step(m)) continue;
        const std::uint64_t in_float32 = run_step(m, dtype::float32).memory.peak.bytes[memory_category::parameters];
        CHECK(run_step(m, dtype::bfloat16).memory.peak.bytes[memory_category::parameters] ==
              in_float32 / 2 + 2 * recorded.second);
    }
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
