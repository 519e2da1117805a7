// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/bundled/all.hpp>
#include <llmcost/graph/operator_graph.hpp>
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/torch/kernel_list.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry.hpp"

// The operation of each kernel: its index in the graph of the same pass.
namespace llmcost {
namespace {

std::vector<op> kinds_of(const operator_graph& g) {
    std::vector<op> kinds;
    for (const graph_operation& o : g.operations) kinds.push_back(o.kind);
    return kinds;
}

std::vector<op> kinds_of(const tape& pass) {
    std::vector<op> kinds;
    for (const tape_node& n : pass.nodes)
        if (!n.is_autograd_function) kinds.push_back(n.kind);
    return kinds;
}

using named_model = std::pair<std::string, model>;

/// A bundled model of each type.
std::vector<named_model> bundled_models() {
    std::vector<named_model> models;
    std::set<std::string> types;
    for (const bundled_config& config : bundled_configs) {
        if (!config.variant.empty()) continue;
        const model m = parse_config(config.json, std::string(config.name)).read_with([](config_view root) {
            return parts::registry.read(root);
        });
        if (types.insert(std::string(std::string_view(m.spec->model_type))).second)
            models.emplace_back(std::string(config.name), m);
    }
    return models;
}

workload small_workload(bool is_training) {
    workload load;
    load.batch = 2;
    load.sequence = 64;
    load.weights = load.activations = load.cache = dtype::bfloat16;
    load.cuda_capability = 90;
    load.training = is_training;
    return load;
}

}  // namespace

TEST_CASE("the operations of a recorded training step begin with those of its graph") {
    std::size_t num_models = 0;
    for (const named_model& bundled : bundled_models()) {
        const auto& [name, m] = bundled;
        CAPTURE(bundled.first);
        workload load = small_workload(true);
        try {
            const std::vector<op> recorded = kinds_of(record_training(m, load, {}).pass);
            load.is_train_mode = load.keeps_float32_parameters = true;
            const std::vector<op> drawn = kinds_of(graph_of(m, load));
            REQUIRE(recorded.size() > drawn.size());  // the loss follows
            CHECK(std::equal(drawn.begin(), drawn.end(), recorded.begin()));
            ++num_models;
        } catch (const description_error&) {
            continue;  // a model without training
        }
    }
    CHECK(num_models > 100);
}

TEST_CASE("products have the operation of a product in the graph, in forward and backward") {
    for (const named_model& bundled : bundled_models()) {
        const auto& [name, m] = bundled;
        if (name != "Qwen/Qwen3-0.6B" && name != "openai-community/gpt2" && name != "google/vit-base-patch16-224")
            continue;
        CAPTURE(bundled.first);
        for (const bool is_training : {false, true}) {
            workload load = small_workload(is_training);
            const std::vector<torch_kernel> kernels =
                is_training ? training_kernels(m, load, {}) : forward_kernels(m, load);
            load.is_train_mode = load.keeps_float32_parameters = is_training;
            const std::vector<op> kinds = kinds_of(graph_of(m, load));
            std::size_t num_products = 0;
            for (const torch_kernel& k : kernels) {
                if (k.kind != torch_kernel_kind::product || k.phase == step_phase::optimizer) continue;
                REQUIRE(k.operation >= 0);
                REQUIRE(static_cast<std::size_t>(k.operation) < kinds.size());
                const op kind = kinds[static_cast<std::size_t>(k.operation)];
                CHECK((kind == op::matmul || kind == op::matmul_bias));
                ++num_products;
            }
            CHECK(num_products > 0);
        }
    }
}

}  // namespace llmcost
