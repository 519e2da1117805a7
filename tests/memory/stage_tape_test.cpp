// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/timeline.hpp>
#include <llmcost/memory/training_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "registry.hpp"

// The tapes of pipeline stages: what torch.distributed.pipelining gave each rank, and laws.
namespace llmcost {
namespace {

model configured(const std::string& name, const std::vector<std::pair<std::string, std::string>>& changes) {
    config_document document = read_config_file(LLMCOST_TEST_DIR "/golden/" + name + ".json");
    for (const auto& [key, value] : changes) document.set(key, value);
    return document.read_with([](config_view root) { return parts::registry.read(root); });
}

/// The llama of the recordings, with this number of layers.
model recorded_llama(int num_layers) {
    return configured("meta-llama__Llama-3.2-1B", {{"hidden_size", "96"},
                                                   {"intermediate_size", "252"},
                                                   {"num_hidden_layers", std::to_string(num_layers)},
                                                   {"num_attention_heads", "8"},
                                                   {"num_key_value_heads", "4"},
                                                   {"head_dim", "12"},
                                                   {"vocab_size", "131"},
                                                   {"tie_word_embeddings", "false"}});
}

recorded_training recorded(const model& m) {
    workload load;
    load.batch = 2;
    load.sequence = 24;
    load.weights = load.activations = dtype::float32;
    load.uses_workload_dtypes = load.uses_cpu_kernels = true;
    training_plan plan;
    plan.schedule.input_bytes = 0;
    return record_training(m, load, plan);
}

std::uint64_t parameter_bytes(const tape& pass) {
    return std::accumulate(pass.parameters.begin(), pass.parameters.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const tape_parameter& p) { return sum + p.bytes; });
}

/// FLOPs of forward and backward: a product costs as much again for each operand with a gradient.
std::uint64_t step_flops(const tape& pass) {
    std::uint64_t flops = 0;
    for (const tape_node& n : pass.nodes) {
        std::uint64_t passes = 1;
        for (std::size_t i = 0; i < n.inputs.size() && i < 2; ++i) passes += n.inputs[i].requires_grad ? 1 : 0;
        flops += passes * n.torch_flops;
    }
    return flops;
}

std::uint64_t moment_bytes(const tape& pass) { return 2 * parameter_bytes(pass) + 4 * pass.parameters.size(); }

std::vector<tape> stage_tapes(const tape& pass, std::int64_t num_layers, std::int64_t num_stages) {
    std::vector<tape> out;
    const std::vector<std::int32_t> regions = layer_regions_of(pass, num_layers);
    for (const stage_layers& layers : divide_layers(num_layers, num_stages))
        out.push_back(stage_tape_of(pass, regions, layers));
    return out;
}

}  // namespace

TEST_CASE("layers are divided evenly, with sizes of the first and the last stage") {
    CHECK(divide_layers(8, 4) == std::vector<stage_layers>{{0, 2}, {2, 4}, {4, 6}, {6, 8}});
    CHECK(divide_layers(7, 3) == std::vector<stage_layers>{{0, 3}, {3, 5}, {5, 7}});
    CHECK(divide_layers(10, 4, 2, 2) == std::vector<stage_layers>{{0, 2}, {2, 5}, {5, 8}, {8, 10}});
    CHECK(divide_layers(126, 8, 15).back() == stage_layers{111, 126});
    CHECK(divide_layers(5, 1, 2, 2) == std::vector<stage_layers>{{0, 5}});
}

// torch 2.15.0, Transformers 5.23.0: PipelineStage of layers of a llama, batch 2, sequence 24, float32, AdamW
TEST_CASE("a pipeline rank has what torch.distributed.pipelining gives it") {
    struct recorded_rank {
        int num_layers, num_stages, microbatches;
        std::vector<std::size_t> stages;
        std::size_t num_parameters;
        std::uint64_t parameters, optimizer, flops;
    };
    const recorded_rank ranks[]{
        {8, 4, 8, {0}, 19, 853632, 1707340, 483065856},    {8, 4, 8, {2}, 18, 803328, 1606728, 483065856},
        {8, 4, 8, {3}, 20, 854016, 1708112, 512040960},    {4, 2, 4, {0}, 19, 853632, 1707340, 241532928},
        {4, 2, 4, {1}, 20, 854016, 1708112, 256020480},    {8, 8, 8, {0, 4}, 19, 853632, 1707340, 483065856},
        {8, 8, 8, {2, 6}, 18, 803328, 1606728, 483065856}, {8, 8, 8, {3, 7}, 20, 854016, 1708112, 512040960},
        {8, 8, 8, {0, 7}, 21, 904320, 1808724, 512040960}, {8, 8, 8, {2, 5}, 18, 803328, 1606728, 483065856},
        {8, 8, 8, {3, 4}, 18, 803328, 1606728, 483065856},
    };
    for (const recorded_rank& rank : ranks) {
        const recorded_training run = recorded(recorded_llama(rank.num_layers));
        const std::vector<tape> stages = stage_tapes(run.pass, rank.num_layers, rank.num_stages);
        std::uint64_t parameters = 0, optimizer = 0, flops = 0;
        std::size_t num_parameters = 0;
        for (const std::size_t stage : rank.stages) {
            parameters += parameter_bytes(stages[stage]);
            optimizer += moment_bytes(stages[stage]);
            num_parameters += stages[stage].parameters.size();
            flops += static_cast<std::uint64_t>(rank.microbatches) * step_flops(stages[stage]);
            CHECK(stages[stage].buffer_bytes == 48);
        }
        CAPTURE(rank.stages.front());
        CHECK(num_parameters == rank.num_parameters);
        CHECK(parameters == rank.parameters);
        CHECK(optimizer == rank.optimizer);
        CHECK(flops == rank.flops);
    }
}

TEST_CASE("neighbors send and receive the hidden states of a microbatch") {
    const recorded_training run = recorded(recorded_llama(8));
    const std::vector<tape> stages = stage_tapes(run.pass, 8, 4);
    for (std::size_t i = 0; i < stages.size(); ++i) {
        CAPTURE(i);
        CHECK(tensor_bytes(stages[i], stages[i].received) == (i == 0 ? 0 : 18432));
        CHECK(tensor_bytes(stages[i], stages[i].sent) == (i == 3 ? 0 : 18432));
        CHECK((stages[i].loss >= 0) == (i == 3));
    }
}

TEST_CASE("the only stage of a pipeline is the model") {
    for (const char* const name : {"meta-llama__Llama-3.2-1B", "openai-community__gpt2", "Qwen__Qwen3-0.6B"}) {
        const model m = configured(name, {});
        const recorded_training run = recorded(m);
        const tape cut = stage_tapes(run.pass, m.config.num_hidden_layers, 1).front();
        CAPTURE(name);
        CHECK(cut.nodes.size() == run.pass.nodes.size());
        CHECK(cut.parameters.size() == run.pass.parameters.size());
        CHECK(cut.received.empty());
        CHECK(cut.sent.empty());
        const memory_timeline undivided = replay_training(run.pass, run.plan.schedule),
                              stage = replay_training(cut, run.plan.schedule);
        CHECK(stage.peak.bytes == undivided.peak.bytes);
        CHECK(stage.peak_by_category == undivided.peak_by_category);
        CHECK(stage.after_forward == undivided.after_forward);
        CHECK(stage.saved_bytes == undivided.saved_bytes);
    }
}

TEST_CASE("stages add up to the model") {
    for (const char* const name : {"meta-llama__Llama-3.2-1B", "openai-community__gpt2", "Qwen__Qwen3-0.6B"}) {
        const model m = configured(name, {{"tie_word_embeddings", "false"}});
        const recorded_training run = recorded(m);
        const std::int64_t layers = m.config.num_hidden_layers;
        for (const std::int64_t num_stages : {std::int64_t{2}, std::int64_t{3}, layers}) {
            std::uint64_t parameters = 0, flops = 0;
            for (const tape& stage : stage_tapes(run.pass, layers, num_stages)) {
                parameters += parameter_bytes(stage);
                flops += step_flops(stage);
            }
            CAPTURE(name);
            CAPTURE(num_stages);
            CHECK(parameters == parameter_bytes(run.pass));
            CHECK(flops == step_flops(run.pass));
        }
    }
}

TEST_CASE("a tied head is a copy in the last stage") {
    const model m = configured("meta-llama__Llama-3.2-1B", {{"num_hidden_layers", "4"}});
    const recorded_training run = recorded(m);
    std::uint64_t parameters = 0;
    for (const tape& stage : stage_tapes(run.pass, 4, 2)) parameters += parameter_bytes(stage);
    const auto table = static_cast<std::uint64_t>(4 * m.config.vocab_size * m.config.hidden_size);
    CHECK(parameters == parameter_bytes(run.pass) + table);
}

}  // namespace llmcost
