// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/quantization_names.hpp>
#include <llmcost/serving/parallel_config.hpp>

// `llmcost fit`: how much of something a memory holds, and what would make it hold more.
namespace llmcost::cli {

namespace option {
inline constexpr option_spec fit_devices{"--devices", value_type::number, "N",
                                         "that share each layer; figures of one (1)", "Memory"};
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
struct sharded_model {
    model subject;
    maybe<count> stored;
};

/// What one of `n` devices holds, its share of every routed expert among it; throws `usage` where the model cannot be
/// split so. Of weights that a checkpoint stores otherwise, as much as of parameters.
inline sharded_model shard_for_fit(const model& m, const workload& load, std::int64_t n, maybe<count> stored) {
    if (n == 1) return {m, stored};
    const parallel_config s = make_parallel_config(m, n);
    if (const literal problem = parallel_config_error(m, s); !is_empty(problem))
        throw_usage(option::fit_devices.name, quote(std::to_string(n)) + ": " + std::string(problem));
    const model part = shard_model(m, s);
    const count devices(static_cast<std::uint64_t>(n));
    const count routed = count_model(part, load, scope_query{role::experts}).weight_bytes;
    const count shard_bytes = count_model(part, load).weight_bytes - routed + (routed + devices - count{1}) / devices;
    if (!stored) return {part, shard_bytes};
    return {part, *stored * shard_bytes / count_model(m, load).weight_bytes};
}

/// The fewest devices, a power of two, each of which holds its share; 0 where none up to 1,024 do.
inline std::int64_t fewest_devices(const model& m, const workload& load, const engine_memory_profile& memory_profile,
                                   std::uint64_t bytes, maybe<count> stored) {
    const auto available =
        count(static_cast<std::uint64_t>(static_cast<double>(bytes) * memory_profile.gpu_memory_utilization));
    for (std::int64_t n = 1; n <= 1024; n *= 2) {
        if (!is_empty(parallel_config_error(m, make_parallel_config(m, n)))) break;
        const sharded_model share = shard_for_fit(m, load, n, stored);
        if (inference_memory_of(share.subject, load, memory_profile, share.stored).total_bytes() <= available) return n;
    }
    return 0;
}

/// Bytes of weights as a method would store them; none where it does not store this model's.
inline maybe<count> bytes_quantized_by(const quantization_preset& method, model m, dtype weights) {
    const bool routes = m.config.moe.num_experts > 1 && !method.experts.empty();
    const std::string text = R"({"quantization_config": )" + std::string(routes ? method.experts : method.plan) + '}';
    if (weights != dtype::unspecified) m.config.dtype_of_weights = weights;
    try {
        const config_document plan = parse_config(text, std::string(method.name));
        return weights_by_quantization(m, plan.read_with([](config_view root) { return parse_quantization(root); }), {})
            .bytes.total;
    } catch (const error&) {
        return {};
    }
}

inline std::vector<suggestion> serving_suggestions(const model& m, const workload& load,
                                                   const engine_memory_profile& memory_profile, std::uint64_t bytes,
                                                   maybe<count> stored) {
    const auto available =
        count(static_cast<std::uint64_t>(static_cast<double>(bytes) * memory_profile.gpu_memory_utilization));
    std::vector<suggestion> out;
    const count now = inference_memory_of(m, load, memory_profile, stored).total_bytes();
    const auto offer = [&](std::string change, const workload& changed, maybe<count> weights = {}) {
        const count needed = inference_memory_of(m, changed, memory_profile, weights).total_bytes();
        if (needed < now) out.push_back({std::move(change), needed, needed <= available});
    };
    workload w = load;
    const int bits = bits_of(storage_types_of(m, load).weights);
    if (bits_of(storage_types_of(m, load).cache) > 8 && count_model(m, load).cache_elements != count{}) {
        w.cache = dtype::float8_e4m3fn;
        offer("--cache-dtype fp8", w, stored);
        w = load;
    }
    for (const auto& [type, option_text] :
         {std::pair{dtype::bfloat16, "--dtype bfloat16"}, std::pair{dtype::float8_e4m3fn, "--dtype fp8"},
          std::pair{dtype::int4, "--dtype int4"}}) {
        if (bits_of(type) >= bits) continue;
        w.weights = type;
        offer(option_text, w);
        w = load;
    }
    if (stored) return out;  // it is quantised already
    // of the methods, whose weights are smaller and smaller, the first that makes it fit
    for (const std::string_view name : {"fp8", "awq", "nf4"}) {
        const quantization_preset& method = *find_quantization_preset(name);
        const maybe<count> weights = bytes_quantized_by(method, m, load.weights);
        if (!weights) continue;
        const std::size_t previous_size = out.size();
        offer("--quantization " + std::string(name), load, weights);
        if (out.size() > previous_size && out.back().fits) break;
        if (out.size() > previous_size && name != "nf4") out.pop_back();
    }
    return out;
}

inline std::vector<suggestion> training_suggestions(const model& m, const workload& load, const training_plan& plan,
                                                    std::uint64_t bytes) {
    std::vector<suggestion> out;
    const auto offer = [&](std::string change, const workload& changed, const training_plan& changed_plan) {
        try {
            const count needed(train(m, changed, changed_plan).memory.peak.bytes.total);
            out.push_back({std::move(change), needed, needed <= count(bytes)});
        } catch (const description_error&) {  // this model's attention is not called at once
        }
    };
    workload w = load;
    training_plan p = plan;
    if (load.implementation == attention_implementation::eager) {
        w.implementation = attention_implementation::sdpa;
        offer("--attention-implementation sdpa", w, p);
        w = load;
    }
    for (const auto& [recompute, option_text] : {std::pair{recompute_mode::selective, "--recompute selective"},
                                                 std::pair{recompute_mode::full, "--recompute full"}}) {
        if (plan.schedule.recompute == recompute_mode::none) {
            p.schedule.recompute = recompute;
            offer(option_text, load, p);
            p = plan;
        }
    }
    if (load.batch > 1) {  // as many sequences to a step, one after the other
        w.batch = 1;
        p.schedule.gradient_accumulation_steps = plan.schedule.gradient_accumulation_steps * load.batch;
        offer("--batch 1 --gradient-accumulation " + std::to_string(p.schedule.gradient_accumulation_steps), w, p);
        w = load;
        p = plan;
    }
    if (load.weights == dtype::float32) {
        w.weights = w.activations = dtype::bfloat16;
        w.autocast = false;
        offer("--precision bf16", w, p);
        w = load;
    }
    if (plan.schedule.optimizer->state == optimizer_state::two) {
        p.schedule.optimizer = find_optimizer("adamw8bit");
        offer("--optimizer adamw8bit", load, p);
        p = plan;
    }
    if (plan.schedule.data_parallel_size == 1 && plan.schedule.optimizer->is_elementwise() &&
        !plan.schedule.has_optimizer_in_backward && !plan.schedule.has_master_weights &&
        !plan.schedule.has_float32_gradients && !plan.schedule.offloads_optimizer) {
        p.schedule.sharding = sharding_strategy::fsdp;  // as few devices as do
        for (p.schedule.data_parallel_size = 2; p.schedule.data_parallel_size < 64; p.schedule.data_parallel_size *= 2)
            if (count(train(m, load, p).memory.peak.bytes.total) <= count(bytes)) break;
        const std::size_t previous_size = out.size();
        offer("--fsdp --shards " + std::to_string(p.schedule.data_parallel_size), load, p);
        if (out.size() > previous_size) out.back().devices = p.schedule.data_parallel_size;
        p = plan;
    }
    if (plan.adapter_config.kind == adapter_kind::none) {
        p.adapter_config.kind = adapter_kind::lora;
        p.adapter_config.rank = 16;
        p.adapter_config.all_linear = true;
        std::string missing;
        p.adapter_config =
            with_fused_experts(std::move(p.adapter_config), std::string_view(m.spec->model_type), missing);
        offer("--adapter lora:r=16,targets=all-linear", load, p);
        p.schedule.recompute = recompute_mode::full;
        w.weights = w.activations = dtype::bfloat16;
        offer("--adapter lora:r=16,targets=all-linear --precision bf16 --recompute full", w, p);
    }
    return out;
}

inline std::string fit_page(const parsed_model& read, const workload& load, const fit_figures& f, std::int64_t devices,
                            std::int64_t fewest, const std::vector<suggestion>& suggestions, const memory_limit& limit,
                            bool training) {
    std::string out = read.found.name_of_model.name + "\n";
    if (devices > 1) out += "each of " + grouped(count(devices)) + " devices, which share its layers:\n";
    out += memory_fit_text(limit, f.needed) + '\n';
    const auto line = [&](std::string_view label, std::int64_t n, std::string_view description) {
        out += "  " + left(label, 24) + right(n > 0 ? grouped(count(n)) : "none", 12) + "  " +
               std::string(description) + '\n';
    };
    const input_unit unit = unit_of(read.subject, load);
    line("largest batch", f.max_batch,
         unit == input_unit::token   ? "of " + grouped(count(load.past) + count(load.sequence)) + " tokens each"
         : unit == input_unit::sound ? "of " + audio_label(load.audio_milliseconds) + " each"
                                     : std::string(inputs_name(read.subject, load)));
    if (unit == input_unit::token)
        line("longest context", f.max_context > 0 ? f.max_context + load.past : 0,
             "tokens, batch " + grouped(count(load.batch)));
    if (!training && f.max_concurrency > 0)
        line("most requests at a time", f.max_concurrency, "of that length in the cache");
    if (training && fewest > 0) line("fewest devices", fewest, "which share it as --fsdp does");
    if (!training)
        line("fewest devices", fewest, fewest == 0 ? "splits over up to 1,024 do not do" : "that share each layer");
    if (f.fits || suggestions.empty()) return out;
    out += "\nWith one change\n";
    for (const suggestion& s : suggestions)
        out += "  " + left(s.fits ? "fits" : "", 6) + right(in_bytes(s.needed), 9) + "  " + s.change + '\n';
    return out;
}

}  // namespace detail

/// What `llmcost fit` prints.
[[nodiscard]] inline command_output run_fit(const arguments& args, const program& io) {
    const memory_limit limit = parse_memory_limit(args);
    if (!limit.is_set()) throw_usage("fit", "needs --device NAME or --memory SIZE");
    const bool training = args.has(option::training);
    const engine_memory_profile memory_profile = detail::parse_engine_memory_profile(args);
    for (const option_spec& o : training_options)
        if (!training && args.has(o)) throw_usage(o.name, "needs --training");
    for (const option_spec& o : {option::past, option::dtype, option::quantization, option::activation_dtype,
                                 option::cache_dtype, option::allocator, option::utilization, option::engine_memory})
        if (training && args.has(o)) throw_usage(o.name, "means nothing with --training");
    if (training && args.has(option::fit_devices)) throw_usage("--devices", "with --training, devices are --shards");
    workload load = training ? detail::training_workload(args) : detail::memory_workload(args);
    training_plan plan = detail::parse_training_plan(args);
    requested_adapter adapter = read_adapter(args);
    const parsed_model read = io.read(args, io);
    complete_workload(read.subject, args, load);
    check_workload(read.subject, {.base_workload = load});
    resolve_adapter(adapter, args, read.subject, io.err);
    plan.adapter_config = adapter.file.adapts;
    if (training) detail::require_supported_training(args, read.subject, load, plan);
    if (training) plan.base_quantization = base_of(adapter, read, load);
    if (!training) detail::warn_on_weights(read, io);
    const std::int64_t devices = args.number(option::fit_devices, 1);
    const maybe<count> of_all = detail::stored_weight_bytes(read);
    const detail::sharded_model share = detail::shard_for_fit(read.subject, load, devices, of_all);
    const model& subject = share.subject;
    const maybe<count>& bytes = share.stored;
    const fit_figures f = training ? fit_training(read.subject, load, plan, limit.bytes)
                                   : fit_inference(subject, load, memory_profile, limit.bytes, bytes);
    std::int64_t fewest = training ? (f.fits ? plan.schedule.data_parallel_size : 0)
                                   : detail::fewest_devices(read.subject, load, memory_profile, limit.bytes, of_all);
    std::vector<detail::suggestion> suggestions;
    if (!f.fits)
        suggestions = training ? detail::training_suggestions(read.subject, load, plan, limit.bytes)
                               : detail::serving_suggestions(subject, load, memory_profile, limit.bytes, bytes);
    if (!f.fits && !training && fewest > 0) {
        const detail::sharded_model fitting_shard = detail::shard_for_fit(read.subject, load, fewest, of_all);
        suggestions.push_back(
            {"--devices " + std::to_string(fewest),
             inference_memory_of(fitting_shard.subject, load, memory_profile, fitting_shard.stored).total_bytes(),
             true});
    }
    for (const detail::suggestion& s : suggestions)
        if (s.devices != 0 && s.fits) fewest = s.devices;
    const exit_code code = f.fits ? exit_code::ok : exit_code::does_not_fit;
    if (args.choice(option::text_or_json_format) == 0)
        return {detail::fit_page(read, load, f, devices, fewest, suggestions, limit, training), code};
    json_writer json;
    json.object().member("model", read.found.name_of_model.name).member("needed", f.needed);
    json.member("available", count(limit.bytes)).member("fits", f.fits).member("max_batch", f.max_batch);
    json.member("max_context", f.max_context > 0 ? f.max_context + load.past : 0);
    json.member("max_concurrency", f.max_concurrency)
        .member("devices", devices)
        .member("min_devices", fewest)
        .key("suggestions")
        .array();
    for (const detail::suggestion& s : suggestions)
        json.object().member("change", s.change).member("needed", s.needed).member("fits", s.fits).end_object();
    json.end_array().end_object();
    return {json.text() + "\n", code};
}

inline constexpr std::array fit_options =
    concatenate(model_options, memory_limit_options,
                std::array{option::batch, option::sequence, option::past, option::encoder_sequence, option::image,
                           option::images, option::video, option::videos, option::audio, option::dtype,
                           option::quantization, option::activation_dtype, option::cache_dtype, option::allocator,
                           option::utilization, option::engine_memory, option::fit_devices, option::training},
                training_options, std::array{option::text_or_json_format}, help_option);

inline constexpr std::array<command_example, 2> fit_examples{{
    {"llmcost fit --model meta-llama/Llama-3.1-8B --dtype bfloat16 --memory 24GB --sequence 8192",
     "how many, how long?"},
    {"llmcost fit --model Qwen/Qwen3-8B --training --memory 24GB --sequence 2048", "what would let me train it?"},
}};

inline constexpr command fit_command{
    .name = "fit",
    .summary = "how much of something a memory holds",
    .usage = "(--model NAME | --config FILE) (--device NAME | --memory SIZE) [option]...",
    .description =
        "Largest batch, longest context, most requests and fewest devices; where the\n"
        "workload does not fit, what each change by itself would take.\n",
    .options = fit_options,
    .run = run_fit,
    .examples = fit_examples};

}  // namespace llmcost::cli
