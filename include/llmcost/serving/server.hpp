// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/draft_model.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/step_time_model.hpp>

namespace llmcost {

/// The load of a server.
struct serving_load {
    std::int64_t input_tokens = 1024;
    std::int64_t output_tokens = 1024;
    double concurrency = 1;             ///< requests in the system
    double prefix_hit_rate = 0;         ///< fraction of the input that is in the prefix cache
    std::int64_t chunk_tokens = 0;      ///< prompt tokens per step (chunked prefill); 0: the complete prompt
    std::int64_t num_draft_tokens = 0;  ///< draft tokens per step; their cost is that of `server::draft_model`
    double acceptance_rate = 0;         ///< probability that a draft token is accepted, given that all before it are
    double accepted_tokens = 0;         ///< measured mean of accepted draft tokens per step; 0: by `acceptance_rate`
    std::int64_t pipeline_parallel_size = 1;  ///< pipeline stages
    multimodal_cost multimodal_inputs{};      ///< per request; their tokens are part of `input_tokens`
    std::int64_t batch_wait_steps = 0;  ///< steps that a prefill waits for more requests while any request decodes
    double initial_burst_fraction =
        0.1;  ///< fraction of requests that arrive at once at the start; 0.1: each client sends ten requests
};

/// The performance of a server under a load.
struct serving_metrics {
    double ttft_seconds = 0;           ///< time to first token, including queueing
    double unloaded_ttft_seconds = 0;  ///< time to first token of a single request
    double tpot_seconds = 0;           ///< time per output token after the first
    double num_running = 0;            ///< concurrently running requests on all devices; the others wait
    double max_num_running = 0;        ///< requests that fit into the memory of all devices
    double tokens_per_second = 0;      ///< output tokens of all requests
    double num_devices = 1;
    double watts_per_device = 0;
    device_utilization utilization{};
    double joules_per_output_token = 0;  ///< of all devices
};

/// The kernel costs of a load on one data-parallel rank, without the time that an engine adds.
struct load_kernels {
    step_cost prefill{};              ///< of one request
    step_cost decode{};               ///< of one step of the running requests
    double tokens_per_step = 1;       ///< output tokens per request and step
    double num_running_per_rank = 0;  ///< running requests per rank
    double num_running = 0;           ///< running requests of all ranks
};

/// The latencies of a load.
struct load_times {
    double step_seconds = 0;   ///< a step of the running requests, with its share of prefills
    double tpot_seconds = 0;   ///< per output token after the first
    double ttft_seconds = 0;   ///< time to first token, including queueing
    double ttft_unloaded = 0;  ///< time to first token of a single request
};

/// A model on devices with an engine.
class server {
public:
    server(const model& model, const execution& execution, const engine& engine, const device& device,
           kernel_source& kernels);

    /// Bytes of weights on each device.
    [[nodiscard]] double weight_bytes_per_device() const noexcept { return weights_; }
    /// Data-parallel ranks: groups of devices with their own sequences.
    [[nodiscard]] std::int64_t data_parallel_size() const noexcept { return execution_.parallel.data_parallel_size; }
    /// Bytes of the KV cache of a sequence of `tokens` tokens, on each device.
    [[nodiscard]] double kv_cache_bytes(std::int64_t tokens);
    /// The memory management of the engine. Default: `memory_profile_of(engine, device)`.
    [[nodiscard]] const engine_memory_profile& memory_profile() const noexcept { return memory_profile_; }
    void set_memory_profile(const engine_memory_profile& profile) { memory_profile_ = profile; }
    /// The draft model of speculative decoding, whose weights and KV cache are on the same devices.
    [[nodiscard]] const draft_model_config& draft_model() const noexcept { return draft_model_; }
    void set_draft_model(const draft_model_config& drafts) { draft_model_ = drafts; }
    /// The KV cache of each rank for requests of `tokens` tokens: `rank_memory::capacity`, with `pipeline` stages.
    ///
    /// Returns nothing for a model without a KV cache. `profile`: limits of a scheduler instead of `memory_profile`.
    [[nodiscard]] maybe<kv_cache_capacity> kv_cache(std::int64_t tokens, std::int64_t pipeline = 1) {
        return kv_cache(tokens, pipeline, memory_profile_);
    }
    [[nodiscard]] maybe<kv_cache_capacity> kv_cache(std::int64_t tokens, std::int64_t pipeline,
                                                    const engine_memory_profile& profile);
    /// The memory of each rank, with the draft model.
    [[nodiscard]] const rank_memory& ranks(std::int64_t pipeline, const engine_memory_profile& profile);
    /// Sequences of `tokens` tokens whose KV cache fits into a rank. 0: less than one.
    [[nodiscard]] double max_sequences_per_rank(std::int64_t tokens, std::int64_t pipeline = 1);
    [[nodiscard]] const execution& execution_config() const noexcept { return execution_; }
    [[nodiscard]] const engine& serving_engine() const noexcept { return engine_; }
    [[nodiscard]] const device& target_device() const noexcept { return device_; }
    /// Layers of the unsharded model.
    [[nodiscard]] std::int64_t num_layers() const noexcept { return layers_; }
    /// The links between pipeline stages. Ranks that share experts form one stage; other ranks are separate engines.
    [[nodiscard]] stage_links stage_links_of(std::int64_t stages) const;
    /// Step times with prefills, and of decode steps.
    [[nodiscard]] step_time_model& prefill_step_model() noexcept { return prompts_; }
    [[nodiscard]] step_time_model& decode_step_model() noexcept { return decoding_; }
    /// Text tokens with the prefill time of the multimodal inputs of a request, encoder and prompt tokens together.
    [[nodiscard]] std::int64_t equivalent_text_tokens(const serving_load& load);
    /// The kernel costs of a load. Throws: `workload_error` if the model has fewer positions.
    [[nodiscard]] load_kernels kernels(const serving_load& load);

    /// The latencies of a load on an engine.
    ///
    /// `b`: `num_running_per_rank`; `n`: stages; `s`: `kernel_time_factor`; `a`, `c`, `r`: host seconds per step,
    /// sequence and request, the latter with its prompt tokens; `w`: `num_steps_before_prefill`. Transfers between
    /// stages are part of `t_prefill` and `t_decode`. `tpot = s * (t_decode(b / n, input + output / 2) + (b - 1) /
    /// output * t_prefill / n) + a + c * b` `ttft = r + a + s * t_prefill * (1 + num_prefills_in_queue) + w * (s *
    /// t_decode + a + c * b)`
    ///
    /// A request that exceeds the cache also waits until another request completes. TTFT is infinite if no request
    /// fits.
    [[nodiscard]] static load_times times(const engine& engine, const serving_load& load,
                                          const load_kernels& k) noexcept;

    /// The performance under a load.
    [[nodiscard]] serving_metrics operator()(const serving_load& load);

    /// The performance at a request rate in 1/s. The concurrency follows from Little's law.
    ///
    /// Returns nothing if the rate exceeds the capacity.
    [[nodiscard]] std::optional<serving_metrics> evaluate_at_rate(serving_load load, double requests_per_second);

    /// The highest rate in 1/s for which `evaluate_at_rate` returns a value; 0 if no request fits into memory.
    [[nodiscard]] double max_request_rate(serving_load load);

    /// Prefills before that of a new request.
    ///
    /// Half of the other requests that arrive at once, and the others that are in their prefill. A request is in its
    /// prefill for `prompt` of `prompt + answer` seconds.
    [[nodiscard]] static double num_prefills_in_queue(const serving_load& load, double num_running_per_rank,
                                                      double prompt, double answer) noexcept;

    /// Steps before the prefill of a new request, if another request decodes.
    ///
    /// Steps that the engine has scheduled, and steps for which it delays prefills.
    [[nodiscard]] static double num_steps_before_prefill(const engine& engine, const serving_load& load,
                                                         double num_running_per_rank) noexcept;

private:
    [[nodiscard]] static execution decoding(execution execution) noexcept;
    /// Requests that fit into the memory of all devices.
    [[nodiscard]] double max_num_running(const serving_load& load);
    /// Doubles the concurrency, up to `maximum`.
    [[nodiscard]] static double next_concurrency(double n, double maximum) noexcept {
        return n < maximum && 2 * n > maximum ? maximum : 2 * n;
    }
    /// End-to-end latency at a concurrency.
    [[nodiscard]] double seconds_of_answer(serving_load load, double concurrency);
    /// Seconds of all transfers between stages for at least one token.
    [[nodiscard]] double sent(std::int64_t stages, std::int64_t tokens);
    /// The prefill of one request after its cached tokens, in chunks.
    [[nodiscard]] step_cost prefill(const serving_load& load);
    /// The cost `step(n)` of a batch of n sequences, interpolated between integers.
    template <class Step>
    [[nodiscard]] static step_cost interpolate_batch(double batch, const Step& step) {
        const double lower = std::floor(batch), share = batch - lower;
        if (batch <= 1) return step(1);
        const step_cost low = step(static_cast<std::int64_t>(lower));
        if (share == 0) return low;
        return (low * (1 - share)).add(step(static_cast<std::int64_t>(lower) + 1), share);
    }
    /// The draft tokens of a decode step. Interpolates between integer batch sizes.
    [[nodiscard]] step_cost draft_decode_cost(double batch, std::int64_t num_draft_tokens, std::int64_t past);
    /// A decode step. Interpolates between integer batch sizes.
    [[nodiscard]] step_cost decode(double batch, std::int64_t sequence, std::int64_t past);

    /// The scheduler limits of an engine on which `ranks` and `kv_cache` depend, the number of stages, and the lengths.
    using memory_key = std::array<double, 11>;
    [[nodiscard]] memory_key key_of(std::int64_t tokens, std::int64_t pipeline,
                                    const engine_memory_profile& profile) const noexcept;

    model model_;
    execution execution_;
    engine engine_;
    const device& device_;
    double weights_;
    std::int64_t layers_, hidden_size_;
    bool shares_experts_;
    kernel_source* kernels_;
    stage_links links_;
    std::int64_t linked_stages_ = 1;  ///< stages of `links_`
    cost_evaluator shard_costs_;
    step_time_model prompts_;
    step_time_model decoding_;
    engine_memory_profile memory_profile_;
    draft_model_config draft_model_{};
    std::map<memory_key, rank_memory> ranks_;
    std::map<memory_key, maybe<kv_cache_capacity>> kv_caches_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/server.ipp>  // IWYU pragma: export
#endif
