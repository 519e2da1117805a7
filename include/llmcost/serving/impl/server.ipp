// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/server.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/draft_model.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE server::server(const model& model, const execution& execution, const engine& engine,
                              const device& device, kernel_source& kernels)
    : model_(model),
      execution_(execution),
      engine_(engine),
      device_(device),
      weights_(weight_bytes(model, execution)),
      layers_(model.config.num_hidden_layers),
      hidden_size_(model.config.hidden_size),
      shares_experts_(model.config.moe.num_experts > 1),
      kernels_(&kernels),
      shard_costs_(shard_model(model, execution.parallel)),
      prompts_(model, execution, device, kernels),
      decoding_(model, decoding(execution), device, kernels),
      memory_profile_(memory_profile_of(engine, device)) {}

LLMCOST_INLINE double server::kv_cache_bytes(std::int64_t tokens) {
    const model_metrics f = shard_costs_({.sequence = 1, .past = tokens > 1 ? tokens - 1 : 0, .head = logits::none});
    return static_cast<double>(f.cache_elements.to_64()) * execution_.kv_cache_type->weight_bytes;
}

LLMCOST_INLINE server::memory_key server::key_of(std::int64_t tokens, std::int64_t pipeline,
                                                 const engine_memory_profile& profile) const noexcept {
    return {static_cast<double>(tokens),
            static_cast<double>(pipeline),
            static_cast<double>(profile.block_size),
            static_cast<double>(profile.max_num_batched_tokens),
            static_cast<double>(profile.max_num_seqs),
            profile.gpu_memory_utilization,
            profile.sglang.mem_fraction_static,
            static_cast<double>(profile.sglang.page_size),
            static_cast<double>(profile.sglang.chunked_prefill_size),
            static_cast<double>(profile.sglang.max_running_requests),
            draft_model_.draft_server != nullptr ? 1.0 : 0.0};
}

LLMCOST_INLINE const rank_memory& server::ranks(std::int64_t pipeline, const engine_memory_profile& profile) {
    const memory_key key = key_of(0, pipeline, profile);
    if (const auto known = ranks_.find(key); known != ranks_.end()) return known->second;
    rank_memory all = ranks_of_execution(model_, execution_, profile, pipeline);
    if (server* const draft = draft_model_.draft_server)
        all.add_draft_model(ranks_of_execution(draft->model_, draft->execution_, profile));
    return ranks_.emplace(key, std::move(all)).first->second;
}

LLMCOST_INLINE maybe<kv_cache_capacity> server::kv_cache(std::int64_t tokens, std::int64_t pipeline,
                                                         const engine_memory_profile& profile) {
    const memory_key key = key_of(tokens, pipeline, profile);
    if (const auto known = kv_caches_.find(key); known != kv_caches_.end()) return known->second;
    workload load = workload_of(execution_);
    load.sequence = tokens;
    const auto device_bytes = static_cast<std::uint64_t>(device_.memory_bytes());
    return kv_caches_.emplace(key, ranks(pipeline, profile).capacity(load, device_bytes)).first->second;
}

LLMCOST_INLINE double server::max_sequences_per_rank(std::int64_t tokens, std::int64_t pipeline) {
    constexpr double unlimited = 1e9;
    const maybe<kv_cache_capacity> capacity = kv_cache(tokens, pipeline);
    if (!capacity) return unlimited;
    return capacity->max_concurrency >= 1 ? capacity->max_concurrency : 0;
}

LLMCOST_INLINE stage_links server::stage_links_of(std::int64_t stages) const {
    return {stages,       shares_experts_ ? execution_.parallel.world_size() : execution_.parallel.tensor_parallel_size,
            hidden_size_, execution_,
            device_,      *kernels_};
}

LLMCOST_INLINE std::int64_t server::equivalent_text_tokens(const serving_load& load) {
    constexpr std::int64_t maximum = std::int64_t{1} << 20;
    const double all = prompts_(1, load.input_tokens, 0).seconds + load.multimodal_inputs.encoder_cost.seconds;
    std::int64_t shorter = load.input_tokens, longer = maximum;
    while (longer - shorter > 1) {
        const std::int64_t middle = shorter + (longer - shorter) / 2;
        (prompts_(1, middle, 0).seconds <= all ? shorter : longer) = middle;
    }
    return shorter - (load.input_tokens - load.multimodal_inputs.num_tokens);
}

LLMCOST_INLINE load_kernels server::kernels(const serving_load& load) {
    const auto groups = static_cast<double>(execution_.parallel.data_parallel_size),
               stages = static_cast<double>(load.pipeline_parallel_size);
    const std::int64_t mean = load.input_tokens + load.output_tokens / 2;
    (void)kv_cache_bytes(load.input_tokens + load.output_tokens);
    const double maximum = max_num_running(load);
    load_kernels k;
    k.num_running = load.concurrency < maximum ? load.concurrency : maximum;
    k.num_running_per_rank = k.num_running / groups;
    k.prefill = prefill(load);
    k.decode = decode(k.num_running_per_rank / stages, load.num_draft_tokens + 1, mean);
    if (draft_model_.draft_server != nullptr) {
        k.prefill += draft_model_.draft_server->prefill(load);
        k.decode += draft_decode_cost(k.num_running_per_rank / stages, load.num_draft_tokens, mean);
    }
    k.decode.seconds += sent(load.pipeline_parallel_size, std::llround(k.num_running_per_rank / stages *
                                                                       static_cast<double>(load.num_draft_tokens + 1)));
    k.tokens_per_step = expected_tokens_per_step(load.num_draft_tokens, load.acceptance_rate, load.accepted_tokens);
    const double tokens_after_first = load.output_tokens > 2 ? static_cast<double>(load.output_tokens - 1) : 1;
    if (k.tokens_per_step > tokens_after_first)
        k.tokens_per_step = tokens_after_first;  // requests end before they produce more
    return k;
}

LLMCOST_INLINE load_times server::times(const engine& engine, const serving_load& load,
                                        const load_kernels& k) noexcept {
    const auto stages = static_cast<double>(load.pipeline_parallel_size),
               output = static_cast<double>(load.output_tokens);
    const double host = engine.host_seconds_per_step + engine.host_seconds_per_sequence * k.num_running_per_rank;
    const auto mixed_step_seconds = [&](double prompts) {  // a decode step with prefills
        return engine.kernel_time_factor *
                   (k.decode.seconds + prompts / output * k.tokens_per_step * k.prefill.seconds / stages) +
               host;
    };
    load_times t;
    t.step_seconds = mixed_step_seconds(k.num_running_per_rank);
    t.tpot_seconds = mixed_step_seconds(k.num_running_per_rank > 1 ? k.num_running_per_rank - 1 : 0) /
                     k.tokens_per_step;  // its own prefill is part of TTFT
    const double first = engine.kernel_time_factor * k.prefill.seconds,
                 decoding = engine.kernel_time_factor * k.decode.seconds + host;
    t.ttft_unloaded = engine.host_seconds_per_request +
                      engine.host_seconds_per_prompt_token * static_cast<double>(load.input_tokens) + first +
                      engine.host_seconds_per_step;
    t.ttft_seconds =
        t.ttft_unloaded +
        first * num_prefills_in_queue(load, k.num_running_per_rank, first, output / k.tokens_per_step * decoding) +
        num_steps_before_prefill(engine, load, k.num_running_per_rank) * decoding;
    if (load.concurrency > k.num_running)
        t.ttft_seconds += (load.concurrency - k.num_running) / k.num_running * output * t.tpot_seconds;
    return t;
}

LLMCOST_INLINE serving_metrics server::operator()(const serving_load& load) {
    const load_kernels k = kernels(load);
    const load_times t = times(engine_, load, k);
    const auto stages = static_cast<double>(load.pipeline_parallel_size),
               output = static_cast<double>(load.output_tokens);
    serving_metrics f;
    f.ttft_seconds = t.ttft_seconds;
    f.unloaded_ttft_seconds = t.ttft_unloaded;
    f.tpot_seconds = t.tpot_seconds;
    f.num_running = k.num_running;
    f.num_devices = static_cast<double>(execution_.parallel.world_size()) * stages;
    f.max_num_running = max_num_running(load);
    f.tokens_per_second = load.concurrency * output / (f.ttft_seconds + (output - 1) * f.tpot_seconds);  // Little's law
    const double busy =
        k.num_running_per_rank < stages ? k.num_running_per_rank / stages : 1;  // fraction of stages that have work
    const double prompts = k.num_running_per_rank / output * k.tokens_per_step / stages;
    const step_cost done = (k.decode * busy).add(k.prefill, prompts);
    f.watts_per_device = watts_of(device_, done, t.step_seconds);
    f.utilization = utilization_of(done, t.step_seconds);
    f.joules_per_output_token = f.watts_per_device * f.num_devices / f.tokens_per_second;
    return f;
}

LLMCOST_INLINE std::optional<serving_metrics> server::evaluate_at_rate(serving_load load, double requests_per_second) {
    load.initial_burst_fraction = 0;  // independent arrivals
    const auto arriving = [&](double concurrency) {
        return requests_per_second * seconds_of_answer(load, concurrency);
    };
    const double maximum = max_num_running(load);
    double low = 0, high = 1;  // fewer requests may complete faster than as many as fit
    while (high <= maximum && arriving(high) > high) {
        low = high;
        high = next_concurrency(high, maximum);
    }
    if (high > maximum) return std::nullopt;
    for (int i = 0; i < 40 && high - low > 1e-3 * high; ++i) {
        const double middle = (low + high) / 2;
        (arriving(middle) > middle ? low : high) = middle;
    }
    load.concurrency = high;
    return (*this)(load);
}

LLMCOST_INLINE double server::max_request_rate(serving_load load) {
    load.initial_burst_fraction = 0;
    double requests_per_second = 0;
    for (double n = 1, maximum = max_num_running(load); n <= maximum; n = next_concurrency(n, maximum)) {
        const double throughput = n / seconds_of_answer(load, n);
        if (throughput > requests_per_second) requests_per_second = throughput;
    }
    return requests_per_second;
}

LLMCOST_INLINE double server::num_prefills_in_queue(const serving_load& load, double num_running_per_rank,
                                                    double prompt, double answer) noexcept {
    const double others = num_running_per_rank > 1 ? num_running_per_rank - 1 : 0;
    return others * (load.initial_burst_fraction / 2 + (prompt > 0 ? prompt / (prompt + answer) : 0));
}

LLMCOST_INLINE double server::num_steps_before_prefill(const engine& engine, const serving_load& load,
                                                       double num_running_per_rank) noexcept {
    const double others = num_running_per_rank > 1 ? num_running_per_rank - 1 : 0;
    return (engine.queueing_steps + static_cast<double>(load.batch_wait_steps)) * (others < 1 ? others : 1);
}

LLMCOST_INLINE execution server::decoding(execution execution) noexcept {
    execution.is_decode_step = true;
    return execution;
}

LLMCOST_INLINE double server::max_num_running(const serving_load& load) {
    return max_sequences_per_rank(load.input_tokens + load.output_tokens / 2, load.pipeline_parallel_size) *
           static_cast<double>(data_parallel_size());
}

LLMCOST_INLINE double server::seconds_of_answer(serving_load load, double concurrency) {
    load.concurrency = concurrency;
    const serving_metrics f = (*this)(load);
    return f.ttft_seconds + static_cast<double>(load.output_tokens - 1) * f.tpot_seconds;
}

LLMCOST_INLINE double server::sent(std::int64_t stages, std::int64_t tokens) {
    if (stages == 1) return 0;
    if (linked_stages_ != stages) {
        links_ = stage_links_of(stages);
        linked_stages_ = stages;
    }
    return links_.all(tokens > 0 ? tokens : 1);
}

LLMCOST_INLINE step_cost server::prefill(const serving_load& load) {
    auto done = static_cast<std::int64_t>(std::floor(load.prefix_hit_rate * static_cast<double>(load.input_tokens)));
    if (done > load.input_tokens - 1) done = load.input_tokens - 1;
    step_cost sum;
    while (done < load.input_tokens) {
        const std::int64_t left = load.input_tokens - done,
                           now = load.chunk_tokens > 0 && load.chunk_tokens < left ? load.chunk_tokens : left;
        sum += prompts_(1, now, done);
        sum.seconds += sent(load.pipeline_parallel_size, now);
        done += now;
    }
    sum += load.multimodal_inputs.encoder_cost;
    return sum;
}

LLMCOST_INLINE step_cost server::decode(double batch, std::int64_t sequence, std::int64_t past) {
    return interpolate_batch(batch, [&](std::int64_t n) { return decoding_(n, sequence, past); });
}

LLMCOST_INLINE step_cost server::draft_decode_cost(double batch, std::int64_t num_draft_tokens, std::int64_t past) {
    if (num_draft_tokens == 0) return {};
    step_time_model& steps = draft_model_.draft_server->decoding_;
    return interpolate_batch(batch, [&](std::int64_t n) {
        return draft_cost(steps, draft_model_.kind, num_draft_tokens, {n, num_draft_tokens + 1, past});
    });
}

}  // namespace llmcost
