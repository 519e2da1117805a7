// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/media_step.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/plan.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/stage_links.hpp>

namespace llmcost {

/// What is asked of a server: requests of so many tokens in and out, so many of them at a time.
struct serving_load {
    std::int64_t input = 1024;
    std::int64_t output = 1024;
    double concurrency = 1;       ///< requests in the system
    double prefix_hit = 0;        ///< share of the input whose cache is there already
    std::int64_t chunk = 0;       ///< new tokens of a prompt per step; 0: all of them
    std::int64_t draft = 0;       ///< tokens proposed per step and checked together; they cost nothing themselves
    double acceptance = 0;        ///< chance that a proposed token is kept, if those before it were
    std::int64_t pipeline = 1;    ///< devices that hold layers one behind the other
    shown_media shown{};          ///< by each request; its tokens are among `input`
    std::int64_t batch_wait = 0;  ///< steps that a prompt waits for others while any request writes
    double burst = 0.1;  ///< share of requests that arrive at once, at the start: a tenth where each client sends ten
};

/// How a server does under a load.
struct serving_figures {
    double ttft = 0;               ///< s: from sending a request to its first token, queueing included
    double ttft_unloaded = 0;      ///< s: the same with nobody else there
    double tpot = 0;               ///< s per output token after the first
    double running = 0;            ///< requests that are computed at a time, over all devices; the others wait
    double capacity = 0;           ///< requests that the memory of all devices holds
    double tokens_per_second = 0;  ///< output tokens of all requests
    double devices = 1;
    double watts = 0;             ///< of each device
    double joules_per_token = 0;  ///< of an output token, over all devices
};

/// What the kernels of a load take on a group of devices, before an engine adds its own time.
struct load_kernels {
    step_cost prompt{};          ///< of one request
    step_cost step{};            ///< of those that run, each writing
    double tokens_per_step = 1;  ///< that each of them writes
    double here = 0;             ///< requests that run on the group
    double running = 0;          ///< and on all groups
};

/// The seconds of a load.
struct load_times {
    double step = 0;           ///< of those that run, with their share of prompts
    double tpot = 0;           ///< per output token after the first
    double ttft = 0;           ///< to the first token, queueing included
    double ttft_unloaded = 0;  ///< the same with nobody else there
};

/// A model on devices under an engine.
class server {
public:
    server(const model& whole, const execution& how, const engine& by, const device& on, kernel_source& from)
        : how_(how),
          by_(by),
          on_(on),
          weights_(weight_bytes(whole, how)),
          layers_(whole.dims.num_hidden_layers),
          hidden_size_(whole.dims.hidden_size),
          shares_experts_(whole.dims.moe.num_experts > 1),
          from_(&from),
          figures_of_part_(sharded(whole, how.shards)),
          prompts_(whole, how, on, from),
          decoding_(whole, decoding(how), on, from) {}

    /// Bytes of weights on each device.
    [[nodiscard]] double weights() const noexcept { return weights_; }
    /// Groups of devices with sequences of their own.
    [[nodiscard]] std::int64_t groups() const noexcept { return how_.shards.data; }
    /// Bytes of a sequence's cache on each device when it holds so many tokens.
    [[nodiscard]] double cache_bytes(std::int64_t tokens) {
        const figures f = figures_of_part_({.sequence = 1, .past = tokens > 1 ? tokens - 1 : 0, .head = logits::none});
        return static_cast<double>(f.cache.to_64()) * how_.cache->weight_bytes;
    }
    /// Sequences of so many tokens that the memory of one device holds beside the weights; 0 where not a whole one.
    ///
    /// In the engine's usual share of memory, or in all of it where weights alone are more than that, as measured runs were
    /// told to (DeepSeek-V3 on four B200: 97 %; docs/latency.md); one, where only all of memory holds it.
    [[nodiscard]] double capacity(std::int64_t tokens, std::int64_t pipeline = 1) {
        const bool all = weights_ / static_cast<double>(pipeline) > by_.memory_share * 1e9 * on_.memory_gigabytes;
        const double usual = held(all ? 1 : by_.memory_share, tokens, pipeline);
        return usual > 0 ? usual : held(1, tokens, pipeline) > 0 ? 1 : 0;
    }
    /// Tokens that fit in the memory of one device beside the weights, in sequences of so many.
    [[nodiscard]] double cache_tokens(std::int64_t tokens, std::int64_t pipeline = 1) {
        return capacity(tokens, pipeline) * static_cast<double>(tokens);
    }
    [[nodiscard]] const execution& how() const noexcept { return how_; }
    [[nodiscard]] const engine& by() const noexcept { return by_; }
    [[nodiscard]] const device& on() const noexcept { return on_; }
    /// Layers of the whole model.
    [[nodiscard]] std::int64_t layers() const noexcept { return layers_; }
    /// What joins so many stages: groups that share experts are one stage, others engines of their own.
    [[nodiscard]] stage_links links_of(std::int64_t stages) const {
        return {stages, shares_experts_ ? how_.shards.devices() : how_.shards.tensor, hidden_size_, how_, on_, *from_};
    }
    /// Steps of prompts, and of those that write.
    [[nodiscard]] step_plan& steps() noexcept { return prompts_; }
    [[nodiscard]] step_plan& decoding_steps() noexcept { return decoding_; }
    /// Whether it takes more than the engine's usual share of memory to hold even one sequence of so many tokens.
    [[nodiscard]] bool takes_all_memory(std::int64_t tokens, std::int64_t pipeline = 1) {
        return held(by_.memory_share, tokens, pipeline) == 0;
    }

    /// Tokens of a text that would take as long as what a request shows: towers and the tokens that stand for it.
    [[nodiscard]] std::int64_t tokens_as_long_as_shown(const serving_load& load) {
        constexpr std::int64_t most = std::int64_t{1} << 20;
        const double all = prompts_(1, load.input, 0).seconds + load.shown.towers.seconds;
        std::int64_t shorter = load.input, longer = most;
        while (longer - shorter > 1) {
            const std::int64_t middle = shorter + (longer - shorter) / 2;
            (prompts_(1, middle, 0).seconds <= all ? shorter : longer) = middle;
        }
        return shorter - (load.input - load.shown.tokens);
    }
    /// The kernels of a load; throws where the model has fewer positions.
    [[nodiscard]] load_kernels kernels(const serving_load& load) {
        const auto groups = static_cast<double>(how_.shards.data), stages = static_cast<double>(load.pipeline);
        const std::int64_t mean = load.input + load.output / 2;
        (void)cache_bytes(load.input + load.output);
        const double most = room(load);
        load_kernels k;
        k.running = load.concurrency < most ? load.concurrency : most;
        k.here = k.running / groups;
        k.prompt = prefill(load);
        k.step = decode(k.here / stages, load.draft + 1, mean);
        k.step.seconds += sent(load.pipeline, std::llround(k.here / stages * static_cast<double>(load.draft + 1)));
        double chance = 1;  // that a proposed token is kept
        for (std::int64_t i = 0; i < load.draft; ++i) k.tokens_per_step += chance *= load.acceptance;
        const double behind_first = load.output > 2 ? static_cast<double>(load.output - 1) : 1;
        if (k.tokens_per_step > behind_first) k.tokens_per_step = behind_first;  // no step writes more than is asked for
        return k;
    }

    /// What an engine makes of them: `tpot = s·(t_decode(b / n, input + output / 2) + (b − 1) / output · t_prefill / n) + a
    /// + c·b` with b requests running on each group of devices and n stages, whose hand-overs are in `t`; `ttft = r + a +
    /// s·t_prefill·(1 + prompts_ahead)
    /// + w·(s·t_decode + a + c·b)` with w = steps_before, and a whole answer for each that finds no room: without end where
    /// memory holds no request.
    [[nodiscard]] static load_times times(const engine& by, const serving_load& load, const load_kernels& k) noexcept {
        const auto stages = static_cast<double>(load.pipeline), output = static_cast<double>(load.output);
        const double host = by.step_seconds + by.sequence_seconds * k.here;
        const auto beside = [&](double prompts) {  // a step beside so many prompts per step of a request
            return by.overlap * (k.step.seconds + prompts / output * k.tokens_per_step * k.prompt.seconds / stages) + host;
        };
        load_times t;
        t.step = beside(k.here);
        t.tpot =
            beside(k.here > 1 ? k.here - 1 : 0) / k.tokens_per_step;  // its own prompt is in the time to the first token
        const double first = by.overlap * k.prompt.seconds, decoding = by.overlap * k.step.seconds + host;
        t.ttft_unloaded = by.request_seconds + first + by.step_seconds;
        t.ttft = t.ttft_unloaded + first * prompts_ahead(load, k.here, first, output / k.tokens_per_step * decoding) +
                 steps_before(by, load, k.here) * decoding;
        if (load.concurrency > k.running) t.ttft += (load.concurrency - k.running) / k.running * output * t.tpot;
        return t;
    }

    /// The figures under a load.
    [[nodiscard]] serving_figures operator()(const serving_load& load) {
        const load_kernels k = kernels(load);
        const load_times t = times(by_, load, k);
        const auto stages = static_cast<double>(load.pipeline), output = static_cast<double>(load.output);
        serving_figures f;
        f.ttft = t.ttft, f.ttft_unloaded = t.ttft_unloaded, f.tpot = t.tpot, f.running = k.running;
        f.devices = static_cast<double>(how_.shards.devices()) * stages;
        f.capacity = room(load);
        f.tokens_per_second = load.concurrency * output / (f.ttft + (output - 1) * f.tpot);  // Little's law
        const double busy = k.here < stages ? k.here / stages : 1;  // share of stages that have work
        const double prompts = k.here / output * k.tokens_per_step / stages;
        f.watts = watts_of(on_, (k.step * busy).add(k.prompt, prompts), t.step);
        f.joules_per_token = f.watts * f.devices / f.tokens_per_second;
        return f;
    }

    /// The figures where requests arrive at a rate (1/s) by themselves: as many are in the system as arrive while one is
    /// answered (Little's law). Nothing where they arrive faster than they can be answered.
    [[nodiscard]] std::optional<serving_figures> at_rate(serving_load load, double rate) {
        load.burst = 0;  // each comes when it likes
        const auto arriving = [&](double concurrency) { return rate * seconds_of_answer(load, concurrency); };
        const double most = room(load);
        double low = 0, high = 1;  // fewer may be answered faster than as many as fit
        while (high <= most && arriving(high) > high) low = high, high = more(high, most);
        if (high > most) return std::nullopt;
        for (int i = 0; i < 40 && high - low > 1e-3 * high; ++i) {
            const double middle = (low + high) / 2;
            (arriving(middle) > middle ? low : high) = middle;
        }
        load.concurrency = high;
        return (*this)(load);
    }

    /// The highest rate (1/s) that `at_rate` answers; 0 where memory holds no request.
    [[nodiscard]] double highest_rate(serving_load load) {
        load.burst = 0;
        double rate = 0;
        for (double n = 1, most = room(load); n <= most; n = more(n, most)) {
            const double here = n / seconds_of_answer(load, n);
            if (here > rate) rate = here;
        }
        return rate;
    }

    /// Prompts that are computed before a new request's, among `here - 1` others: half of them where they arrive at once,
    /// and of the rest those that are at their prompts, for `prompt` of `prompt + answer` seconds.
    [[nodiscard]] static double prompts_ahead(const serving_load& load, double here, double prompt, double answer) noexcept {
        const double others = here > 1 ? here - 1 : 0;
        return others * (load.burst / 2 + (prompt > 0 ? prompt / (prompt + answer) : 0));
    }

    /// Steps of others before a new request's prompt, while one of `here - 1` writes: those that the engine has planned, and
    /// those that it holds prompts back.
    [[nodiscard]] static double steps_before(const engine& by, const serving_load& load, double here) noexcept {
        const double others = here > 1 ? here - 1 : 0;
        return (by.steps_waited + static_cast<double>(load.batch_wait)) * (others < 1 ? others : 1);
    }

private:
    [[nodiscard]] static execution decoding(execution how) noexcept {
        how.decodes = true;
        return how;
    }
    [[nodiscard]] double held(double share, std::int64_t tokens, std::int64_t pipeline) {
        const auto stages = static_cast<double>(pipeline);
        const double free = share * on_.memory_gigabytes * 1e9 - weights_ / stages;
        const double each = cache_bytes(tokens) / stages;
        return free <= 0 || free < each ? 0 : each == 0 ? 1e9 : free / each;
    }
    /// Requests that all devices hold.
    [[nodiscard]] double room(const serving_load& load) {
        return capacity(load.input + load.output / 2, load.pipeline) * static_cast<double>(groups());
    }
    /// Twice as many requests, or as many as there is room for: what lies between is not asked.
    [[nodiscard]] static double more(double n, double most) noexcept { return n < most && 2 * n > most ? most : 2 * n; }
    /// From sending a request to its last token, among so many.
    [[nodiscard]] double seconds_of_answer(serving_load load, double concurrency) {
        load.concurrency = concurrency;
        const serving_figures f = (*this)(load);
        return f.ttft + static_cast<double>(load.output - 1) * f.tpot;
    }
    /// Seconds in which a pass over so many new tokens, at least one, goes from each stage to the next.
    [[nodiscard]] double sent(std::int64_t stages, std::int64_t tokens) {
        if (stages == 1) return 0;
        if (linked_stages_ != stages) links_ = links_of(stages), linked_stages_ = stages;
        return links_.all(tokens > 0 ? tokens : 1);
    }
    /// One prompt behind what is cached of it, in chunks.
    [[nodiscard]] step_cost prefill(const serving_load& load) {
        auto done = static_cast<std::int64_t>(std::floor(load.prefix_hit * static_cast<double>(load.input)));
        if (done > load.input - 1) done = load.input - 1;
        step_cost sum;
        while (done < load.input) {
            const std::int64_t left = load.input - done, now = load.chunk > 0 && load.chunk < left ? load.chunk : left;
            sum += prompts_(1, now, done);
            sum.seconds += sent(load.pipeline, now);
            done += now;
        }
        sum += load.shown.towers;
        return sum;
    }
    /// A step of so many sequences, which need be no whole number.
    [[nodiscard]] step_cost decode(double batch, std::int64_t sequence, std::int64_t past) {
        const double whole = std::floor(batch), share = batch - whole;
        if (batch <= 1) return decoding_(1, sequence, past);
        const step_cost low = decoding_(static_cast<std::int64_t>(whole), sequence, past);
        if (share == 0) return low;
        return (low * (1 - share)).add(decoding_(static_cast<std::int64_t>(whole) + 1, sequence, past), share);
    }

    execution how_;
    engine by_;
    const device& on_;
    double weights_;
    std::int64_t layers_, hidden_size_;
    bool shares_experts_;
    kernel_source* from_;
    stage_links links_;
    std::int64_t linked_stages_ = 1;  ///< that these join
    evaluator figures_of_part_;
    step_plan prompts_;
    step_plan decoding_;
};

}  // namespace llmcost
