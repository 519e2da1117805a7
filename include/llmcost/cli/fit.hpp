// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/memory.hpp>
#include <llmcost/cli/stored.hpp>
#include <llmcost/cli/train.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/quantization_words.hpp>
#include <llmcost/serving/sharding.hpp>

// `llmcost fit`: how much of something a memory holds, and what would make it hold more.
namespace llmcost::cli {

namespace option {
inline constexpr option_row fit_devices{"--devices", value_kind::number, "N", "that share each layer; figures of one (1)",
                                        "Memory"};
}

namespace detail {

/// A change by itself, and what is needed with it.
struct suggestion {
    std::string change;
    count needed{};
    bool fits = false;
    std::int64_t devices = 0;  ///< where that alone is the change
};

/// A model over devices that share each layer, and the bytes of its stored weights on one of them.
struct share_of_device {
    model subject;
    maybe<count> stored;
};

/// What one of `n` devices holds, its share of every routed expert among it; throws `usage` where the model cannot be split
/// so. Of weights that a checkpoint stores otherwise, as much as of parameters.
inline share_of_device share_over(const model& m, const workload& load, std::int64_t n, maybe<count> stored) {
    if (n == 1) return {m, stored};
    const sharding s = shared_over(m, n);
    if (const literal problem = sharding_problem(m, s); !is_empty(problem))
        refuse(option::fit_devices.name, in_quotes(std::to_string(n)) + ": " + std::string(problem));
    const model part = sharded(m, s);
    const count devices(static_cast<std::uint64_t>(n));
    const count routed = count_model(part, load, scope_query{role::experts}).weight_bytes;
    const count held = count_model(part, load).weight_bytes - routed + (routed + devices - count{1}) / devices;
    if (!stored) return {part, held};
    return {part, *stored * held / count_model(m, load).weight_bytes};
}

/// The fewest devices, a power of two, each of which holds its share; 0 where none up to 1,024 do.
inline std::int64_t fewest_devices(const model& m, const workload& load, const engine_memory& by, std::uint64_t bytes,
                                   maybe<count> stored) {
    const auto available = count(static_cast<std::uint64_t>(static_cast<double>(bytes) * by.share));
    for (std::int64_t n = 1; n <= 1024; n *= 2) {
        if (!is_empty(sharding_problem(m, shared_over(m, n)))) break;
        const share_of_device share = share_over(m, load, n, stored);
        if (inference_memory_of(share.subject, load, by, share.stored).total() <= available) return n;
    }
    return 0;
}

/// Bytes of weights as a method would store them; none where it does not store this model's.
inline maybe<count> bytes_quantized_by(const quantization_word& word, model m, dtype weights) {
    const bool routes = m.dims.moe.num_experts > 1 && !word.experts.empty();
    const std::string text = R"({"quantization_config": )" + std::string(routes ? word.experts : word.plan) + '}';
    if (weights != dtype::unspecified) m.dims.type = weights;
    try {
        const config_document plan = parse_config(text, std::string(word.name));
        return stored_by_plan(m, plan.read_with([](config_view root) { return read_quantization(root); }), {}).bytes.total;
    } catch (const error&) {
        return {};
    }
}

inline std::vector<suggestion> serving_suggestions(const model& m, const workload& load, const engine_memory& by,
                                                   std::uint64_t bytes, maybe<count> stored) {
    const auto available = count(static_cast<std::uint64_t>(static_cast<double>(bytes) * by.share));
    std::vector<suggestion> out;
    const count now = inference_memory_of(m, load, by, stored).total();
    const auto offer = [&](std::string change, const workload& changed, maybe<count> weights = {}) {
        const count needed = inference_memory_of(m, changed, by, weights).total();
        if (needed < now) out.push_back({std::move(change), needed, needed <= available});
    };
    workload w = load;
    const int bits = bits_of(types_of(m, load).weights);
    if (bits_of(types_of(m, load).cache) > 8 && count_model(m, load).cache != count{})
        w.cache = dtype::float8_e4m3fn, offer("--cache-dtype fp8", w, stored), w = load;
    for (const auto& [type, words] :
         {std::pair{dtype::bfloat16, "--dtype bfloat16"}, std::pair{dtype::float8_e4m3fn, "--dtype fp8"},
          std::pair{dtype::int4, "--dtype int4"}}) {
        if (bits_of(type) >= bits) continue;
        w.weights = type;
        offer(words, w), w = load;
    }
    if (stored) return out;  // it is quantised already
    // of the methods, whose weights are smaller and smaller, the first that makes it fit
    for (const std::string_view name : {"fp8", "awq", "nf4"}) {
        const quantization_word& word = *find_quantization_word(name);
        const maybe<count> weights = bytes_quantized_by(word, m, load.weights);
        if (!weights) continue;
        const std::size_t before = out.size();
        offer("--quantization " + std::string(name), load, weights);
        if (out.size() > before && out.back().fits) break;
        if (out.size() > before && name != "nf4") out.pop_back();
    }
    return out;
}

inline std::vector<suggestion> training_suggestions(const model& m, const workload& load, const training_plan& plan,
                                                    std::uint64_t bytes) {
    std::vector<suggestion> out;
    const auto offer = [&](std::string change, const workload& changed, const training_plan& with) {
        try {
            const count needed(train(m, changed, with).memory.peak.bytes.total);
            out.push_back({std::move(change), needed, needed <= count(bytes)});
        } catch (const description_error&) {  // this model's attention is not called at once
        }
    };
    workload w = load;
    training_plan p = plan;
    if (load.implementation == attention_implementation::eager)
        w.implementation = attention_implementation::sdpa, offer("--attention-implementation sdpa", w, p), w = load;
    for (const auto& [how, words] : {std::pair{recomputation::selective, "--recompute selective"},
                                     std::pair{recomputation::full, "--recompute full"}}) {
        if (plan.step.recompute == recomputation::none) p.step.recompute = how, offer(words, load, p), p = plan;
    }
    if (load.batch > 1) {  // as many sequences to a step, one after the other
        w.batch = 1, p.step.accumulation = plan.step.accumulation * load.batch;
        offer("--batch 1 --gradient-accumulation " + std::to_string(p.step.accumulation), w, p), w = load, p = plan;
    }
    if (load.weights == dtype::float32)
        w.weights = w.activations = dtype::bfloat16, w.autocast = false, offer("--precision bf16", w, p), w = load;
    if (plan.step.optimizer->state == optimizer_state::two)
        p.step.optimizer = find_optimizer("adamw8bit"), offer("--optimizer adamw8bit", load, p), p = plan;
    if (plan.step.shards == 1 && plan.step.optimizer->is_elementwise() && !plan.step.steps_in_backward &&
        !plan.step.master_weights && !plan.step.gradients_in_float && !plan.step.offloads_optimizer) {
        p.step.shares = sharing::layers;  // as few devices as do
        for (p.step.shards = 2; p.step.shards < 64; p.step.shards *= 2)
            if (count(train(m, load, p).memory.peak.bytes.total) <= count(bytes)) break;
        const std::size_t before = out.size();
        offer("--fsdp --shards " + std::to_string(p.step.shards), load, p);
        if (out.size() > before) out.back().devices = p.step.shards;
        p = plan;
    }
    if (plan.adapts.kind == adapter_kind::none) {
        p.adapts.kind = adapter_kind::lora, p.adapts.rank = 16, p.adapts.all_linear = true;
        std::string missing;
        p.adapts = with_fused_experts(std::move(p.adapts), std::string_view(m.kind->model_type), missing);
        offer("--adapter lora:r=16,targets=all-linear", load, p);
        p.step.recompute = recomputation::full, w.weights = w.activations = dtype::bfloat16;
        offer("--adapter lora:r=16,targets=all-linear --precision bf16 --recompute full", w, p);
    }
    return out;
}

inline std::string fit_page(const read_subject& read, const workload& load, const fit_figures& f, std::int64_t devices,
                            std::int64_t fewest, const std::vector<suggestion>& more, const room_asked& room,
                            bool training) {
    std::string out = read.found.who.name + "\n";
    if (devices > 1) out += "each of " + grouped(count(devices)) + " devices, which share its layers:\n";
    out += line_on_room(room, f.needed) + '\n';
    const auto line = [&](std::string_view words, std::int64_t n, std::string_view of) {
        out += "  " + left(words, 24) + right(n > 0 ? grouped(count(n)) : "none", 12) + "  " + std::string(of) + '\n';
    };
    const input_unit unit = unit_of(read.subject, load);
    line("largest batch", f.max_batch,
         unit == input_unit::token   ? "of " + grouped(count(load.past) + count(load.sequence)) + " tokens each"
         : unit == input_unit::sound ? "of " + sound_words(load.audio_milliseconds) + " each"
                                     : std::string(inputs_name(read.subject, load)));
    if (unit == input_unit::token)
        line("longest context", f.max_context > 0 ? f.max_context + load.past : 0,
             "tokens, batch " + grouped(count(load.batch)));
    if (!training && f.max_concurrency > 0)
        line("most requests at a time", f.max_concurrency, "of that length in the cache");
    if (training && fewest > 0) line("fewest devices", fewest, "which share it as --fsdp does");
    if (!training)
        line("fewest devices", fewest, fewest == 0 ? "splits over up to 1,024 do not do" : "that share each layer");
    if (f.fits || more.empty()) return out;
    out += "\nWith one change\n";
    for (const suggestion& s : more)
        out += "  " + left(s.fits ? "fits" : "", 6) + right(in_bytes(s.needed), 9) + "  " + s.change + '\n';
    return out;
}

}  // namespace detail

/// What `llmcost fit` prints.
[[nodiscard]] inline answered fit_answer(const arguments& given, const program& io) {
    const room_asked room = read_room(given);
    if (!room.asked()) refuse("fit", "needs --device NAME or --memory SIZE");
    const bool training = given.has(option::training);
    const engine_memory by = detail::engine_memory_of(given);
    for (const option_row& o : training_options)
        if (!training && given.has(o)) refuse(o.name, "needs --training");
    for (const option_row& o : {option::past, option::dtype, option::quantization, option::activation_dtype,
                                option::cache_dtype, option::allocator, option::utilization, option::engine_memory})
        if (training && given.has(o)) refuse(o.name, "means nothing with --training");
    if (training && given.has(option::fit_devices)) refuse("--devices", "with --training, devices are --shards");
    workload load = training ? detail::training_workload(given) : detail::memory_workload(given);
    training_plan plan = detail::read_training_plan(given);
    asked_adapter adapter = read_adapter(given);
    const read_subject read = io.read(given, io);
    complete_workload(read.subject, given, load);
    check_workload(read.subject, {.base = load});
    settle_adapter(adapter, given, read.subject, io.err);
    plan.adapts = adapter.file.adapts;
    if (training) detail::check_training(given, read.subject, load, plan);
    if (training) plan.base = base_of(adapter, read, load);
    if (!training) detail::note_on_weights(read, io);
    const std::int64_t devices = given.number(option::fit_devices, 1);
    const maybe<count> of_all = detail::bytes_of_weights(read);
    const detail::share_of_device share = detail::share_over(read.subject, load, devices, of_all);
    const model& subject = share.subject;
    const maybe<count>& bytes = share.stored;
    const fit_figures f =
        training ? fit_training(read.subject, load, plan, room.bytes) : fit_inference(subject, load, by, room.bytes, bytes);
    std::int64_t fewest =
        training ? (f.fits ? plan.step.shards : 0) : detail::fewest_devices(read.subject, load, by, room.bytes, of_all);
    std::vector<detail::suggestion> more;
    if (!f.fits)
        more = training ? detail::training_suggestions(read.subject, load, plan, room.bytes)
                        : detail::serving_suggestions(subject, load, by, room.bytes, bytes);
    if (!f.fits && !training && fewest > 0) {
        const detail::share_of_device of = detail::share_over(read.subject, load, fewest, of_all);
        more.push_back(
            {"--devices " + std::to_string(fewest), inference_memory_of(of.subject, load, by, of.stored).total(), true});
    }
    for (const detail::suggestion& s : more)
        if (s.devices != 0 && s.fits) fewest = s.devices;
    const exit_code code = f.fits ? exit_code::ok : exit_code::does_not_fit;
    if (given.choice(option::plain_or_json) == 0)
        return {detail::fit_page(read, load, f, devices, fewest, more, room, training), code};
    json_writer json;
    json.object().member("model", read.found.who.name).member("needed", f.needed);
    json.member("available", count(room.bytes)).member("fits", f.fits).member("max_batch", f.max_batch);
    json.member("max_context", f.max_context > 0 ? f.max_context + load.past : 0);
    json.member("max_concurrency", f.max_concurrency)
        .member("devices", devices)
        .member("min_devices", fewest)
        .key("suggestions")
        .array();
    for (const detail::suggestion& s : more)
        json.object().member("change", s.change).member("needed", s.needed).member("fits", s.fits).end_object();
    json.end_array().end_object();
    return {json.text() + "\n", code};
}

inline constexpr std::array fit_options =
    joined(model_options, room_options,
           std::array{option::batch, option::sequence, option::past, option::encoder_sequence, option::image, option::images,
                      option::video, option::videos, option::audio, option::dtype, option::quantization,
                      option::activation_dtype, option::cache_dtype, option::allocator, option::utilization,
                      option::engine_memory, option::fit_devices, option::training},
           training_options, std::array{option::plain_or_json}, help_option);

inline constexpr std::array<example_row, 2> fit_examples{{
    {"llmcost fit --model meta-llama/Llama-3.1-8B --dtype bfloat16 --memory 24GB --sequence 8192", "how many, how long?"},
    {"llmcost fit --model Qwen/Qwen3-8B --training --memory 24GB --sequence 2048", "what would let me train it?"},
}};

inline constexpr command fit_command{.name = "fit",
                                     .meaning = "how much of something a memory holds",
                                     .usage = "(--model NAME | --config FILE) (--device NAME | --memory SIZE) [option]...",
                                     .about =
                                         "Largest batch, longest context, most requests and fewest devices; where the\n"
                                         "workload does not fit, what each change by itself would take.\n",
                                     .options = fit_options,
                                     .answer = fit_answer,
                                     .examples = fit_examples};

}  // namespace llmcost::cli
