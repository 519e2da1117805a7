// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/distributed/megatron_tape.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/training_step.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "registry.hpp"

// The memory of each rank of a training job: measured runs of Megatron-LM, sizes by hand, and laws.
namespace llmcost {
namespace {

using settings_of_model = std::vector<std::pair<std::string, std::string>>;

model model_of_job(const std::string& name, const settings_of_model& changes) {
    config_document document = read_config_file(LLMCOST_TEST_DIR "/golden/" + name + ".json");
    for (const auto& [key, value] : changes) document.set(key, value);
    return document.read_with([](config_view root) { return parts::registry.read(root); });
}

workload microbatch_of(std::int64_t sequence, dtype type = dtype::bfloat16) {
    workload load;
    load.sequence = sequence;
    load.weights = load.activations = type;
    load.uses_workload_dtypes = true;
    load.implementation = attention_implementation::sdpa;
    return load;
}

training_parallelism megatron_job(std::int64_t tensor, std::int64_t pipeline, std::int64_t context, std::int64_t data) {
    training_parallelism job;
    job.rules = split_rules::megatron;
    job.tensor = tensor;
    job.pipeline = pipeline;
    job.context = context;
    job.data = data;
    job.has_sequence_parallel = tensor > 1;
    job.microbatches = 4;
    return job;
}

double peak_gib(const model& m, std::int64_t sequence, const training_parallelism& job,
                const megatron_settings& settings) {
    constexpr double gibibyte = 1024.0 * 1024 * 1024;
    const training_job_memory memory = training_memory_of(m, microbatch_of(sequence), {}, job, settings);
    return static_cast<double>(memory.largest().peak.total) / gibibyte;
}

settings_of_model llama_sizes(std::int64_t width, std::int64_t inner, std::int64_t heads, std::int64_t groups,
                              std::int64_t layers) {
    // NullTokenizer of Megatron-LM adds one token to 128,256
    return {{"hidden_size", std::to_string(width)},
            {"intermediate_size", std::to_string(inner)},
            {"num_attention_heads", std::to_string(heads)},
            {"num_key_value_heads", std::to_string(groups)},
            {"num_hidden_layers", std::to_string(layers)},
            {"head_dim", "128"},
            {"vocab_size", "128257"},
            {"tie_word_embeddings", "false"}};
}

const model& dense_70b() {
    static const model m = model_of_job("meta-llama__Llama-3.2-1B", llama_sizes(8192, 28672, 64, 8, 12));
    return m;
}

}  // namespace

// Peaks of torch.cuda.max_memory_allocated over all ranks of 8 B200: MooreThreads/SimuMax,
// docs/b200/b200_release_v1.2_summary.md (Megatron-LM 23e00ed0, Transformer Engine 2.11.0), in GiB
TEST_CASE("ranks of dense models need the memory that Megatron-LM was measured with") {
    const model dense_405b = model_of_job("meta-llama__Llama-3.2-1B", llama_sizes(16384, 53248, 128, 16, 4));
    struct measured_run {
        const model& trained;
        std::int64_t sequence, tensor, pipeline, context, data;
        double gib;
    };
    const measured_run runs[]{
        {dense_70b(), 4096, 1, 2, 1, 4, 66.55},    {dense_70b(), 4096, 2, 1, 1, 4, 60.68},
        {dense_70b(), 4096, 4, 1, 1, 2, 39.07},    {dense_70b(), 4096, 8, 1, 1, 1, 28.29},
        {dense_70b(), 32768, 2, 1, 4, 1, 68.43},   {dense_70b(), 32768, 1, 1, 8, 1, 104.51},
        {dense_70b(), 131072, 2, 1, 4, 1, 112.67}, {dense_70b(), 131072, 1, 1, 8, 1, 147.99},
        {dense_405b, 4096, 1, 2, 1, 4, 87.08},     {dense_405b, 4096, 2, 1, 1, 4, 81.59},
        {dense_405b, 4096, 4, 1, 1, 2, 52.89},     {dense_405b, 4096, 8, 1, 1, 1, 38.57},
        {dense_405b, 32768, 2, 1, 4, 1, 87.03},    {dense_405b, 32768, 1, 1, 8, 1, 139.22},
        {dense_405b, 131072, 2, 1, 4, 1, 118.13},
    };
    megatron_settings settings;
    settings.loss = vocabulary_loss::transformer_engine;
    settings.exchanges_heads = true;
    for (const measured_run& run : runs) {
        const double peak = peak_gib(run.trained, run.sequence,
                                     megatron_job(run.tensor, run.pipeline, run.context, run.data), settings);
        CAPTURE(run.gib);
        CAPTURE(peak);
        CHECK(std::abs(peak / run.gib - 1) < 0.002);
    }
}

TEST_CASE("ranks of expert parallelism need the memory that Megatron-LM was measured with") {
    const settings_of_model v3{{"num_hidden_layers", "4"}, {"first_k_dense_replace", "1"}, {"vocab_size", "129281"}};
    const settings_of_model v2{
        {"num_hidden_layers", "4"},     {"first_k_dense_replace", "1"}, {"vocab_size", "102401"},
        {"hidden_size", "5120"},        {"n_routed_experts", "160"},    {"moe_intermediate_size", "1536"},
        {"intermediate_size", "12288"}, {"num_experts_per_tok", "6"},   {"n_shared_experts", "2"}};
    const model deepseek_v2 = model_of_job("deepseek-ai__DeepSeek-V3", v2),
                deepseek_v3 = model_of_job("deepseek-ai__DeepSeek-V3", v3);
    struct measured_run {
        const model& trained;
        std::int64_t expert, pipeline, data;
        double gib;
    };
    const measured_run runs[]{{deepseek_v2, 8, 1, 8, 45.63},
                              {deepseek_v2, 4, 2, 4, 44.70},
                              {deepseek_v3, 8, 1, 8, 104.30},
                              {deepseek_v3, 4, 2, 4, 114.00}};
    megatron_settings settings;
    settings.loss = vocabulary_loss::transformer_engine;
    for (const measured_run& run : runs) {
        training_parallelism job = megatron_job(1, run.pipeline, 1, run.data);
        job.expert = run.expert;
        const double peak = peak_gib(run.trained, 4096, job, settings);
        CAPTURE(run.gib);
        CAPTURE(peak);
        CHECK(std::abs(peak / run.gib - 1) < 0.012);
    }
}

// arXiv 2205.05198, equation 4, without attention scores and dropout masks. Per token, a layer of a llama saves 2 bytes
// for each element of: inputs and outputs of both norms, queries, keys, values, context, three inner features.
TEST_CASE("a layer of Megatron-Core saves the inputs of its fused kernels") {
    const std::int64_t sequence = 512, width = 8192, inner = 28672, groups = 8, heads = 64, size = 128;
    const training_job_memory two =
        training_memory_of(dense_70b(), microbatch_of(sequence), {}, megatron_job(1, 2, 1, 1), {});
    const std::int64_t elements = 2 * (4 * width + 2 * width + 2 * groups * size + 3 * inner);
    const std::int64_t statistics = 4 * (2 + heads);  // one per norm and row, one per head and query
    const std::int64_t layers = 6 * sequence * (elements + statistics);
    const auto tables = static_cast<std::int64_t>(two.stages[0].saved_bytes) - layers;
    CHECK(tables >= 0);
    CHECK(tables <= 4 * sequence * size * 2);  // rotary tables
}

TEST_CASE("Megatron-LM pads the vocabulary and the buffers of the distributed optimizer") {
    CHECK(padded_vocabulary(50257, 128, 1) == 50304);
    CHECK(padded_vocabulary(50257, 128, 8) == 51200);
    CHECK(padded_vocabulary(128256, 128, 2) == 128256);
    tape_parameter first, second;
    first.elements = 100;
    second.elements = 70;
    first.is_trainable = second.is_trainable = true;
    CHECK(buffer_elements({first, second}, false, 6, true) == 384);  // 128 + 70, up to lcm(6, 128)
    CHECK(buffer_elements({first, second}, false, 6, false) == 170);
    CHECK(buffer_elements({first, second}, true, 6, true) == 0);
}

TEST_CASE("a job of one rank has the memory of a step on one device") {
    const model m = model_of_job("meta-llama__Llama-3.2-1B", {{"num_hidden_layers", "3"}});
    for (const recompute_mode recompute : {recompute_mode::none, recompute_mode::full}) {
        training_plan plan;
        plan.schedule.recompute = recompute;
        const workload load = microbatch_of(256, dtype::float32);
        const memory_timeline alone = train(m, load, plan).memory;
        training_parallelism job;
        const training_job_memory memory = training_memory_of(m, load, plan, job);
        CHECK(memory.ranks.size() == 1);
        CHECK(memory.largest().peak.total == alone.peak.bytes.total);
        CHECK(memory.largest().phase == alone.peak.phase);
    }
}

TEST_CASE("pipeline ranks keep as many microbatches as their schedule has in flight") {
    const model m = model_of_job("meta-llama__Llama-3.2-1B", {{"num_hidden_layers", "8"}});
    for (const split_rules rules : {split_rules::torch, split_rules::megatron}) {
        training_parallelism job = megatron_job(1, 4, 1, 1);
        job.rules = rules;
        job.microbatches = 8;
        const training_job_memory one_by_one = training_memory_of(m, microbatch_of(128), {}, job);
        job.schedule = "gpipe";
        const training_job_memory gpipe = training_memory_of(m, microbatch_of(128), {}, job);
        for (std::size_t rank = 0; rank < 4; ++rank) {
            CHECK(one_by_one.ranks[rank].saved_bytes == (4 - rank) * one_by_one.stages[rank].saved_bytes);
            CHECK(gpipe.ranks[rank].saved_bytes == 8 * gpipe.stages[rank].saved_bytes);
            CHECK(gpipe.ranks[rank].peak.total >= one_by_one.ranks[rank].peak.total);
        }
    }
}

TEST_CASE("tensor and sequence parallelism divide parameters and activations") {
    const model m = model_of_job("meta-llama__Llama-3.2-1B", {{"num_hidden_layers", "4"}});
    const auto memory_of = [&](std::int64_t tensor) {
        return training_memory_of(m, microbatch_of(1024), {}, megatron_job(tensor, 2, 1, 1));
    };
    const training_job_memory one = memory_of(1), eight = memory_of(8);
    for (std::size_t stage = 0; stage < 2; ++stage) {
        const std::uint64_t norms = 2048 * (stage == 0 ? 4 : 5), vocabulary_padding = (129024 - 128256) * 2048;
        CHECK(8 * (eight.stages[stage].num_parameters - norms) ==
              one.stages[stage].num_parameters - norms + vocabulary_padding);
        CHECK(eight.stages[stage].received_bytes * 8 == one.stages[stage].received_bytes);
        CHECK(eight.stages[stage].saved_bytes * 8 >= one.stages[stage].saved_bytes);
        CHECK(eight.stages[stage].saved_bytes * 8 <= one.stages[stage].saved_bytes * 21 / 20);
    }
}

TEST_CASE("recomputed modules need less memory between forward and backward") {
    const model m =
        model_of_job("deepseek-ai__DeepSeek-V3", {{"num_hidden_layers", "3"}, {"first_k_dense_replace", "1"}});
    training_parallelism job = megatron_job(1, 1, 1, 8);
    job.expert = 8;
    const auto saved = [&](const megatron_settings& settings, recompute_mode mode) {
        training_plan plan;
        plan.schedule.recompute = mode;
        return training_memory_of(m, microbatch_of(512), plan, job, settings).stages[0].saved_bytes;
    };
    const std::uint64_t all = saved({}, recompute_mode::none);
    megatron_settings norms, activations;
    norms.recomputes_norms = true;
    activations.recomputes_activations = true;
    // outputs of both norms of three layers: of queries and keys, and of the MLP, whose router and experts keep theirs
    CHECK(saved(norms, recompute_mode::none) < all);
    CHECK(all - saved(activations, recompute_mode::none) == std::uint64_t{2} * 512 * 8 * 2048 * 2);
    // of dense layer and experts: queries, keys and values stay
    megatron_settings mlps, moe;
    mlps.recomputes_mlps = true;
    moe.recomputes_moe = true;
    // inputs of the activation function (2 · 18,432) and of the last product (18,432) of the dense layer
    CHECK(all - saved(mlps, recompute_mode::none) == std::uint64_t{2} * 512 * 3 * 18432);
    CHECK(saved(moe, recompute_mode::none) < saved(mlps, recompute_mode::none));
    CHECK(saved({}, recompute_mode::selective) < all);
    CHECK(saved({}, recompute_mode::full) < saved({}, recompute_mode::selective));
}

}  // namespace llmcost
