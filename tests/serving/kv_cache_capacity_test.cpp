// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/bundled/all.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/read_quantization.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/stored_weights.hpp>
#include <llmcost/simulation/scheduler.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/trace/scope.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "parts.hpp"
#include "unmeasured.hpp"

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// A bundled model that a server can run, with the weights of its checkpoint.
struct served_model {
    model subject;
    checkpoint_types types;
    std::optional<stored_bytes> stored;
};

/// Nothing for encoders, encoder-decoders, draft heads, and checkpoints without a type in which an engine runs them.
std::optional<served_model> read_served(const bundled_config& config) {
    if (!config.variant.empty()) return std::nullopt;
    const config_document file = parse_config(config.json, std::string(config.name));
    served_model out{file.read_with([](config_view root) { return parts::registry.read(root); }), {}, {}};
    const model& m = out.subject;
    if (draft_kind_of(m) != draft_kind::none || m.config.encoder.num_hidden_layers > 0 || m.config.vocab_size == 0 ||
        !has_kv_cache(m))
        return std::nullopt;
    try {
        if (cli::find_scope(m, {.sequence = 1, .past = 1}, {scope_kind::role, "encoder"}).found) return std::nullopt;
        out.types =
            file.read_with([&](config_view root) { return checkpoint_types_of(root, m.config.dtype_of_weights); });
        const quantization plan = file.read_with([](config_view root) { return parse_quantization(root); });
        if (!plan.none()) out.stored = to_weight_parts(quantized_weights(m, plan));
    } catch (const std::exception&) {
        return std::nullopt;
    }
    return out;
}

rank_memory ranks_of_checkpoint(const served_model& s, const workload& load, const engine_memory_profile& profile,
                                const inference_sharding& sharding) {
    if (!s.stored) return {s.subject, load, profile, sharding};
    return {s.subject,       load,
            profile,         sharding,
            s.stored->total, [&](const std::string& path) { return s.stored->parameter_bytes(path); }};
}

constexpr std::uint64_t bytes_of_gib(std::uint64_t gib) { return gib << 30; }

}  // namespace

// `memory` and `fit` compute from the checkpoint; `serve`, `simulate` and `plan` from the execution by an engine.
TEST_CASE("memory, fit, serve, simulate and plan have one KV cache, for every bundled model and engine") {
    std::int64_t num_compared = 0;
    for (const bundled_config& config : bundled_configs) {
        const std::optional<served_model> s = read_served(config);
        if (!s) continue;
        CAPTURE(config.name);
        for (const engine& e : engines) {
            CAPTURE(std::string(e.name));
            const std::int64_t tokens = s->subject.config.context_length() > 0
                                            ? std::min<std::int64_t>(1536, s->subject.config.context_length())
                                            : 1536;
            execution config_of_execution = execution_of(e, h200, s->types);
            if (s->stored) {
                config_of_execution.stored_weight_bytes = stored_weight_parts_of(s->subject, *s->stored);
                config_of_execution.stored_parameters = &*s->stored;
            }
            server llm_server(s->subject, config_of_execution, e, h200, no_kernels);
            const engine_memory_profile profile = memory_profile_of(e, h200);
            workload load = workload_of(config_of_execution);
            load.sequence = tokens;
            const auto device_bytes = static_cast<std::uint64_t>(h200.memory_bytes());
            const rank_memory ranks = ranks_of_checkpoint(*s, load, profile, {});
            const maybe<kv_cache_capacity> expected = ranks.capacity(load, device_bytes);
            REQUIRE(expected);

            const maybe<kv_cache_capacity> served = llm_server.kv_cache(tokens);
            REQUIRE(served);
            const bool has_own_types = !s->stored && config_of_execution.linear_type->weight_bytes !=
                                                         config_of_execution.unquantized_type()->weight_bytes;
            if (has_own_types) continue;  // the checkpoint is stored in another type than it is executed in
            CHECK(served->bytes == expected->bytes);
            CHECK(served->num_blocks == expected->num_blocks);
            CHECK(served->block_bytes == expected->block_bytes);
            CHECK(llm_server.max_sequences_per_rank(tokens) ==
                  (expected->max_concurrency < 1 ? 0 : expected->max_concurrency));

            const simulated_engine simulated{.server = &llm_server, .policy = default_policy(e.name, h200)};
            const kv_cache_capacity pages = kv_cache_of(simulated, tokens);
            CHECK(pages.bytes == expected->bytes);
            CHECK(pages.num_blocks == expected->num_blocks);
            CHECK(fits_kv_cache(simulated, tokens) == (expected->max_concurrency >= 1));
            cluster_config plan;
            set_kv_cache(plan, pages, 16);
            CHECK(plan.num_pages == std::max<std::int64_t>(1, expected->num_blocks));
            CHECK(plan.pages_of_request(tokens) == expected->blocks_of_request(tokens));
            ++num_compared;
        }
    }
    CHECK(num_compared > 200);
}

TEST_CASE("fit finds as many requests as the KV cache has") {
    for (const char* name : {"meta-llama/Llama-3.2-1B", "openai/gpt-oss-20b", "Qwen/Qwen3.5-0.8B"}) {
        CAPTURE(name);
        const std::optional<served_model> s = read_served(*find_bundled(name));
        REQUIRE(s);
        for (const char* engine_name : {"vllm", "trtllm"})
            for (const std::uint64_t gib : {24U, 141U}) {
                const engine_memory_profile profile = *find_engine_memory_profile(engine_name);
                workload load{.sequence = 4096, .head = logits::last};
                const rank_memory ranks = ranks_of_checkpoint(*s, load, profile, {});
                const maybe<kv_cache_capacity> capacity = ranks.capacity(load, bytes_of_gib(gib));
                const fit_figures f = fit_inference(ranks, load, bytes_of_gib(gib));
                CHECK(f.max_concurrency == static_cast<std::int64_t>(capacity->max_concurrency));
                // its activations are those of all sequences; states are no blocks of TensorRT-LLM
                if (capacity->has_block_table) CHECK(f.max_batch <= f.max_concurrency);
                CHECK(f.fits == (f.max_batch > 0));
            }
    }
}

TEST_CASE("the KV cache grows with the memory, and holds no more of longer requests") {
    for (const bundled_config& config : bundled_configs) {
        const std::optional<served_model> s = read_served(config);
        if (!s) continue;
        CAPTURE(config.name);
        const engine_memory_profile profile = *find_engine_memory_profile("vllm");
        const workload load{.sequence = 1, .head = logits::last};
        const rank_memory ranks = ranks_of_checkpoint(*s, load, profile, {});
        maybe<kv_cache_capacity> previous;
        for (const std::uint64_t gib : {8U, 40U, 80U, 192U, 4096U}) {
            const maybe<kv_cache_capacity> capacity = ranks.capacity(load, bytes_of_gib(gib));
            REQUIRE(capacity);
            if (previous) {
                CHECK(capacity->bytes >= previous->bytes);
                CHECK(capacity->num_blocks >= previous->num_blocks);
            }
            previous = capacity;
        }
        CHECK(previous->num_blocks > 0);
        const request_blocks& blocks = previous->blocks_of_request;
        for (std::int64_t tokens = 1; tokens < 100'000; tokens += 1 + tokens / 3) {
            CHECK(blocks(tokens + 1) >= blocks(tokens));
            CHECK(blocks(tokens) >= 1);
        }
    }
}

// num_blocks(n) = 1 state + 2 · ceil(n / 32) + 3 · ceil(min(n, 100) / 16), counted for each request on its own
TEST_CASE("a scheduler allocates the blocks of windows and states") {
    const request_blocks blocks{.fixed_blocks = 1,
                                .kinds = {{.num_tables = 2, .block_size = 32, .max_tokens = 0},
                                          {.num_tables = 3, .block_size = 16, .max_tokens = 100}}};
    const auto expected = [](std::int64_t n) {
        return 1 + 2 * ((n + 31) / 32) + 3 * ((std::min<std::int64_t>(n, 100) + 15) / 16);
    };
    CHECK(blocks(1) == 6);
    CHECK(blocks(100) == 1 + 8 + 21);
    CHECK(blocks(1000) == 1 + 64 + 21);
    scheduling_policy policy = scheduling_policies[0];
    for (const std::int64_t first_input : {1, 60, 96, 99, 100, 101, 300}) {
        CAPTURE(first_input);
        const std::vector<simulated_request> requests{{.input_tokens = first_input, .output_tokens = 200},
                                                      {.input_tokens = 47, .output_tokens = 90},
                                                      {.input_tokens = 5, .output_tokens = 150}};
        std::vector<request_progress> progress(requests.size());
        scheduler engine(policy, 100'000, 1, {requests, progress}, 0, 1, blocks);
        for (std::size_t i = 0; i < requests.size(); ++i) engine.add_request(i, 0);
        std::vector<std::int64_t> lengths(requests.size());  // tokens in the cache
        std::vector<bool> is_finished(requests.size());
        for (int step = 0; step < 500; ++step) {
            step_batch& batch = engine.schedule(0);
            if (batch.empty()) break;
            if (step % 3 == 1 && batch.num_steps > 1) engine.truncate(batch, batch.num_steps / 2);
            if (!batch.prefills.empty())
                for (std::size_t i = 0; i < requests.size(); ++i) lengths[i] = requests[i].input_tokens;
            else
                for (std::size_t i = 0; i < requests.size(); ++i)
                    if (!is_finished[i]) lengths[i] += batch.num_steps;
            std::int64_t all = 0;
            for (std::size_t i = 0; i < requests.size(); ++i)
                if (!is_finished[i]) all += expected(lengths[i]);
            CHECK(engine.kv_cache().num_used() == static_cast<double>(all));
            const std::vector<std::size_t> finished = batch.finished;
            for (const std::size_t i : finished) is_finished[i] = true;
            engine.free_finished(finished);
        }
        CHECK(engine.num_running() == 0);
        CHECK(engine.kv_cache().num_used() == 0);
        CHECK(std::all_of(is_finished.begin(), is_finished.end(), [](bool done) { return done; }));
    }
}

TEST_CASE("the stage with the fewest requests limits a pipeline") {
    const std::optional<served_model> s = read_served(*find_bundled("meta-llama/Llama-3.2-1B"));
    REQUIRE(s);
    const engine_memory_profile profile = *find_engine_memory_profile("vllm");
    const workload load{.sequence = 2048, .head = logits::last};
    const rank_memory ranks = ranks_of_checkpoint(*s, load, profile, {.parallel = {}, .pipeline_parallel_size = 3});
    const maybe<kv_cache_capacity> tightest = ranks.capacity(load, bytes_of_gib(24));
    REQUIRE(tightest);
    double minimum = 1e9;
    for (std::int64_t stage = 0; stage < 3; ++stage)
        minimum = std::min(minimum, ranks.capacity(load, stage, bytes_of_gib(24))->max_concurrency);
    CHECK(tightest->max_concurrency == minimum);
    CHECK(ranks.capacity(load, tightest->stage, bytes_of_gib(24))->max_concurrency == minimum);
}

// 1,235,814,400 parameters of 16 bits; 16 layers of 2 · 8 · 64 elements next to 32 layers of 2 · 8 · 128
TEST_CASE("weights and KV cache of a draft model are taken from the pool") {
    const std::optional<served_model> target = read_served(*find_bundled("meta-llama/Llama-3.1-8B")),
                                      draft = read_served(*find_bundled("meta-llama/Llama-3.2-1B"));
    REQUIRE((target && draft));
    for (const char* name : {"vllm", "trtllm"}) {
        const engine& e = *find_engine(name);
        server llm_server(target->subject, execution_of(e, h200, target->types), e, h200, no_kernels),
            draft_server(draft->subject, execution_of(e, h200, draft->types), e, h200, no_kernels);
        const kv_cache_capacity alone = *llm_server.kv_cache(2048);
        llm_server.set_draft_model({.num_draft_tokens = 3, .draft_server = &draft_server});
        const kv_cache_capacity shared = *llm_server.kv_cache(2048);
        const double share = std::string(name) == "trtllm" ? 0.9 : 1;
        CHECK(static_cast<double>((alone.bytes - shared.bytes).to_64()) ==
              doctest::Approx(share * 2 * 1235814400.0).epsilon(1e-6));
        CHECK(shared.block_bytes == alone.block_bytes + alone.block_bytes * count(16 * 64) / count(32 * 128));
        CHECK(shared.max_concurrency < alone.max_concurrency);
        const simulated_engine simulated{.server = &llm_server,
                                         .policy = default_policy(e.name, h200),
                                         .draft_model = {.num_draft_tokens = 3, .draft_server = &draft_server}};
        CHECK(kv_cache_of(simulated, 2048).num_blocks == shared.num_blocks);
    }
}

TEST_CASE("memory and scheduler have the same limits of a step on every device") {
    for (const device& d : devices) {
        if (d.memory_bytes() <= 0 || !(d.vendor == "NVIDIA" || d.vendor == "AMD")) continue;
        CAPTURE(std::string(d.names[0]));
        const engine_memory_profile profile = memory_profile_of(*find_engine("vllm"), d);
        const scheduling_policy policy = default_policy("vllm", d);
        CHECK(profile.max_num_batched_tokens == policy.max_num_batched_tokens);
        CHECK(profile.max_num_seqs == policy.max_num_seqs);
        CHECK(profile.block_size == policy.page_size);
    }
}
