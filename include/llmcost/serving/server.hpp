// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step_time_model.hpp>

namespace llmcost {

/// The load of a server.
struct serving_load {
    std::int64_t input_tokens = 1024;
    std::int64_t output_tokens = 1024;
    double concurrency = 1;             ///< requests in the system
    double prefix_hit_rate = 0;         ///< fraction of the input that is in the prefix cache
    std::int64_t chunk_tokens = 0;      ///< prompt tokens per step (chunked prefill); 0: the complete prompt
    std::int64_t num_draft_tokens = 0;  ///< draft tokens per step, at no cost of their own
    double acceptance_rate = 0;         ///< probability that a draft token is accepted, given that all before it are
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
           kernel_source& kernels)
        : execution_(execution),
          engine_(engine),
          device_(device),
          weights_(weight_bytes(model, execution)),
          layers_(model.config.num_hidden_layers),
          hidden_size_(model.config.hidden_size),
          shares_experts_(model.config.moe.num_experts > 1),
          kernels_(&kernels),
          figures_of_part_(shard_model(model, execution.parallel)),
          prompts_(model, execution, device, kernels),
          decoding_(model, decoding(execution), device, kernels) {}

    /// Bytes of weights on each device.
    [[nodiscard]] double weight_bytes_per_device() const noexcept { return weights_; }
    /// Data-parallel ranks: groups of devices with their own sequences.
    [[nodiscard]] std::int64_t data_parallel_size() const noexcept { return execution_.parallel.data_parallel_size; }
    /// Bytes of the KV cache of a sequence of `tokens` tokens, on each device.
    [[nodiscard]] double kv_cache_bytes(std::int64_t tokens) {
        const model_metrics f =
            figures_of_part_({.sequence = 1, .past = tokens > 1 ? tokens - 1 : 0, .head = logits::none});
        return static_cast<double>(f.cache_elements.to_64()) * execution_.kv_cache_type->weight_bytes;
    }
    /// Sequences of `tokens` tokens that fit into the memory of one device next to the weights. 0: less than one.
    ///
    /// The limit is `gpu_memory_utilization` of the engine. It is the complete memory if the weights alone exceed that
    /// limit, as in measured runs (DeepSeek-V3 on four B200: 97 %; docs/latency.md).
    /// Returns 1 if a sequence fits only into the complete memory.
    [[nodiscard]] double max_sequences_per_rank(std::int64_t tokens, std::int64_t pipeline = 1) {
        const bool all =
            weights_ / static_cast<double>(pipeline) > engine_.gpu_memory_utilization * 1e9 * device_.memory_gigabytes;
        const double usual = max_sequences(all ? 1 : engine_.gpu_memory_utilization, tokens, pipeline);
        return usual > 0 ? usual : max_sequences(1, tokens, pipeline) > 0 ? 1 : 0;
    }
    /// Tokens that fit into the memory of one device next to the weights, for sequences of `tokens` tokens.
    [[nodiscard]] double max_cache_tokens(std::int64_t tokens, std::int64_t pipeline = 1) {
        return max_sequences_per_rank(tokens, pipeline) * static_cast<double>(tokens);
    }
    [[nodiscard]] const execution& execution_config() const noexcept { return execution_; }
    [[nodiscard]] const engine& serving_engine() const noexcept { return engine_; }
    [[nodiscard]] const device& target_device() const noexcept { return device_; }
    /// Layers of the unsharded model.
    [[nodiscard]] std::int64_t num_layers() const noexcept { return layers_; }
    /// The links between pipeline stages. Ranks that share experts form one stage; other ranks are separate engines.
    [[nodiscard]] stage_links stage_links_of(std::int64_t stages) const {
        return {
            stages,       shares_experts_ ? execution_.parallel.world_size() : execution_.parallel.tensor_parallel_size,
            hidden_size_, execution_,
            device_,      *kernels_};
    }
    /// Step times with prefills, and of decode steps.
    [[nodiscard]] step_time_model& prefill_step_model() noexcept { return prompts_; }
    [[nodiscard]] step_time_model& decode_step_model() noexcept { return decoding_; }
    /// Whether one sequence of `tokens` tokens needs more than `gpu_memory_utilization` of the memory.
    [[nodiscard]] bool needs_full_device_memory(std::int64_t tokens, std::int64_t pipeline = 1) {
        return max_sequences(engine_.gpu_memory_utilization, tokens, pipeline) == 0;
    }

    /// Text tokens with the prefill time of the multimodal inputs of a request, encoder and prompt tokens together.
    [[nodiscard]] std::int64_t equivalent_text_tokens(const serving_load& load) {
        constexpr std::int64_t maximum = std::int64_t{1} << 20;
        const double all = prompts_(1, load.input_tokens, 0).seconds + load.multimodal_inputs.encoder_cost.seconds;
        std::int64_t shorter = load.input_tokens, longer = maximum;
        while (longer - shorter > 1) {
            const std::int64_t middle = shorter + (longer - shorter) / 2;
            (prompts_(1, middle, 0).seconds <= all ? shorter : longer) = middle;
        }
        return shorter - (load.input_tokens - load.multimodal_inputs.num_tokens);
    }
    /// The kernel costs of a load. Throws: `workload_error` if the model has fewer positions.
    [[nodiscard]] load_kernels kernels(const serving_load& load) {
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
        k.decode.seconds +=
            sent(load.pipeline_parallel_size,
                 std::llround(k.num_running_per_rank / stages * static_cast<double>(load.num_draft_tokens + 1)));
        double chance = 1;  // probability that a draft token is accepted
        for (std::int64_t i = 0; i < load.num_draft_tokens; ++i) k.tokens_per_step += chance *= load.acceptance_rate;
        const double tokens_after_first = load.output_tokens > 2 ? static_cast<double>(load.output_tokens - 1) : 1;
        if (k.tokens_per_step > tokens_after_first)
            k.tokens_per_step = tokens_after_first;  // requests end before they produce more
        return k;
    }

    /// The latencies of a load on an engine.
    ///
    /// `b`: `num_running_per_rank`; `n`: stages; `s`: `kernel_time_factor`; `a`, `c`, `r`: host seconds per step,
    /// sequence and request; `w`: `num_steps_before_prefill`. Transfers between stages are part of `t_prefill` and
    /// `t_decode`. `tpot = s * (t_decode(b / n, input + output / 2) + (b - 1) / output * t_prefill / n) + a + c * b`
    /// `ttft = r + a + s * t_prefill * (1 + num_prefills_in_queue) + w * (s * t_decode + a + c * b)`
    ///
    /// A request that exceeds the cache also waits until another request completes. TTFT is infinite if no request
    /// fits.
    [[nodiscard]] static load_times times(const engine& engine, const serving_load& load,
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
        t.ttft_unloaded = engine.host_seconds_per_request + first + engine.host_seconds_per_step;
        t.ttft_seconds =
            t.ttft_unloaded +
            first * num_prefills_in_queue(load, k.num_running_per_rank, first, output / k.tokens_per_step * decoding) +
            num_steps_before_prefill(engine, load, k.num_running_per_rank) * decoding;
        if (load.concurrency > k.num_running)
            t.ttft_seconds += (load.concurrency - k.num_running) / k.num_running * output * t.tpot_seconds;
        return t;
    }

    /// The performance under a load.
    [[nodiscard]] serving_metrics operator()(const serving_load& load) {
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
        f.tokens_per_second =
            load.concurrency * output / (f.ttft_seconds + (output - 1) * f.tpot_seconds);  // Little's law
        const double busy =
            k.num_running_per_rank < stages ? k.num_running_per_rank / stages : 1;  // fraction of stages that have work
        const double prompts = k.num_running_per_rank / output * k.tokens_per_step / stages;
        f.watts_per_device = watts_of(device_, (k.decode * busy).add(k.prefill, prompts), t.step_seconds);
        f.joules_per_output_token = f.watts_per_device * f.num_devices / f.tokens_per_second;
        return f;
    }

    /// The performance at a request rate in 1/s. The concurrency follows from Little's law.
    ///
    /// Returns nothing if the rate exceeds the capacity.
    [[nodiscard]] std::optional<serving_metrics> evaluate_at_rate(serving_load load, double requests_per_second) {
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

    /// The highest rate in 1/s for which `evaluate_at_rate` returns a value; 0 if no request fits into memory.
    [[nodiscard]] double max_request_rate(serving_load load) {
        load.initial_burst_fraction = 0;
        double requests_per_second = 0;
        for (double n = 1, maximum = max_num_running(load); n <= maximum; n = next_concurrency(n, maximum)) {
            const double throughput = n / seconds_of_answer(load, n);
            if (throughput > requests_per_second) requests_per_second = throughput;
        }
        return requests_per_second;
    }

    /// Prefills before that of a new request.
    ///
    /// Half of the other requests that arrive at once, and the others that are in their prefill. A request is in its
    /// prefill for `prompt` of `prompt + answer` seconds.
    [[nodiscard]] static double num_prefills_in_queue(const serving_load& load, double num_running_per_rank,
                                                      double prompt, double answer) noexcept {
        const double others = num_running_per_rank > 1 ? num_running_per_rank - 1 : 0;
        return others * (load.initial_burst_fraction / 2 + (prompt > 0 ? prompt / (prompt + answer) : 0));
    }

    /// Steps before the prefill of a new request, if another request decodes.
    ///
    /// Steps that the engine has scheduled, and steps for which it delays prefills.
    [[nodiscard]] static double num_steps_before_prefill(const engine& engine, const serving_load& load,
                                                         double num_running_per_rank) noexcept {
        const double others = num_running_per_rank > 1 ? num_running_per_rank - 1 : 0;
        return (engine.queueing_steps + static_cast<double>(load.batch_wait_steps)) * (others < 1 ? others : 1);
    }

private:
    [[nodiscard]] static execution decoding(execution execution) noexcept {
        execution.is_decode_step = true;
        return execution;
    }
    [[nodiscard]] double max_sequences(double share, std::int64_t tokens, std::int64_t pipeline) {
        const auto stages = static_cast<double>(pipeline);
        const double free = share * device_.memory_gigabytes * 1e9 - weights_ / stages;
        const double bytes_per_sequence = kv_cache_bytes(tokens) / stages;
        return free <= 0 || free < bytes_per_sequence ? 0 : bytes_per_sequence == 0 ? 1e9 : free / bytes_per_sequence;
    }
    /// Requests that fit into the memory of all devices.
    [[nodiscard]] double max_num_running(const serving_load& load) {
        return max_sequences_per_rank(load.input_tokens + load.output_tokens / 2, load.pipeline_parallel_size) *
               static_cast<double>(data_parallel_size());
    }
    /// Doubles the concurrency, up to `maximum`.
    [[nodiscard]] static double next_concurrency(double n, double maximum) noexcept {
        return n < maximum && 2 * n > maximum ? maximum : 2 * n;
    }
    /// End-to-end latency at a concurrency.
    [[nodiscard]] double seconds_of_answer(serving_load load, double concurrency) {
        load.concurrency = concurrency;
        const serving_metrics f = (*this)(load);
        return f.ttft_seconds + static_cast<double>(load.output_tokens - 1) * f.tpot_seconds;
    }
    /// Seconds of all transfers between stages for at least one token.
    [[nodiscard]] double sent(std::int64_t stages, std::int64_t tokens) {
        if (stages == 1) return 0;
        if (linked_stages_ != stages) {
            links_ = stage_links_of(stages);
            linked_stages_ = stages;
        }
        return links_.all(tokens > 0 ? tokens : 1);
    }
    /// The prefill of one request after its cached tokens, in chunks.
    [[nodiscard]] step_cost prefill(const serving_load& load) {
        auto done =
            static_cast<std::int64_t>(std::floor(load.prefix_hit_rate * static_cast<double>(load.input_tokens)));
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
    /// A decode step. Interpolates between integer batch sizes.
    [[nodiscard]] step_cost decode(double batch, std::int64_t sequence, std::int64_t past) {
        const double model = std::floor(batch), share = batch - model;
        if (batch <= 1) return decoding_(1, sequence, past);
        const step_cost low = decoding_(static_cast<std::int64_t>(model), sequence, past);
        if (share == 0) return low;
        return (low * (1 - share)).add(decoding_(static_cast<std::int64_t>(model) + 1, sequence, past), share);
    }

    execution execution_;
    engine engine_;
    const device& device_;
    double weights_;
    std::int64_t layers_, hidden_size_;
    bool shares_experts_;
    kernel_source* kernels_;
    stage_links links_;
    std::int64_t linked_stages_ = 1;  ///< stages of `links_`
    cost_evaluator figures_of_part_;
    step_time_model prompts_;
    step_time_model decoding_;
};

}  // namespace llmcost
