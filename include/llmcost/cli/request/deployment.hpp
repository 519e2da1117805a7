// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/name_check.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/devices/networks.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/stage_links.hpp>

// What `llmcost latency` and `llmcost serve` have in common: a model, a device, and how an engine runs one on the
// other.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> routing_names(const program&) {
    return {"balanced", "power_law_1.01", "power_law_1.2"};
}
inline std::vector<std::string_view> network_names(const program&) { return names_in(networks); }

}  // namespace detail

namespace option {

// clang-format off
inline constexpr option_spec
    engine        {"--engine",        value_type::text,   "ENGINE", "trtllm, vllm, sglang: its kernels and its own time", {}, detail::engine_names},
    engine_version{"--version",       value_type::text,   "VERSION", "of the engine's measured kernels (the newest)"},
    linear_dtype  {"--dtype",         value_type::text,   "TYPE",   "of linear layers: bfloat16, fp8, fp8_block, nvfp4 ...", {}, detail::operand_names},
    experts_dtype {"--experts-dtype", value_type::text,   "TYPE",   "of routed experts (as linear layers)", {}, detail::operand_names},
    kv_cache_dtype    {"--cache-dtype",   value_type::text,   "TYPE",   "of the cache (fp8 with fp8 and nvfp4; else 16 bits)", {}, detail::operand_names},
    routing       {"--routing",       value_type::text,   "WORD",   "of tokens: balanced, power_law_1.01, power_law_1.2", {}, detail::routing_names},
    execution     {"--execution",     value_type::choice, "graph|stream|eager", "fused in a CUDA graph; fused, one by one; unfused"},
    tp            {"--tp",            value_type::number, "N",      "devices that share each layer (1)"},
    dp            {"--dp",            value_type::number, "N",      "groups of those, each with sequences of its own (1)"},
    ep            {"--ep",            value_type::number, "N",      "groups of devices that share the routed experts (1)"},
    network       {"--network",       value_type::text,   "GBPS|NAME", "between nodes, GB/s of each device: 50, ib_ndr, roce_400, efa_p5", {}, detail::network_names},
    price         {"--price",         value_type::number, "X",      "of a device for an hour, in any currency"},
    carbon        {"--carbon",        value_type::number, "X",      "grams of CO2 per kWh"};
// clang-format on

}  // namespace option

/// How a model runs on a device.
inline constexpr std::array execution_options{option::device,
                                              option::engine,
                                              option::engine_version,
                                              option::calibration,
                                              option::linear_dtype,
                                              option::experts_dtype,
                                              option::kv_cache_dtype,
                                              option::routing,
                                              option::execution,
                                              option::tp,
                                              option::dp,
                                              option::ep,
                                              option::network,
                                              option::price,
                                              option::carbon};

namespace detail {

/// What a checkpoint is stored in; where that is not known, `types_by` says the types instead.
inline checkpoint_types stored_types_of(const config_document& file, const model& subject, std::string_view types_by) {
    try {
        return file.read_with(
            [&](config_view root) { return llmcost::checkpoint_types_of(root, subject.config.dtype_of_weights); });
    } catch (const error& e) {
        if (e.code() != errc::unsupported) throw;
        throw error(e.code(), {}, e.what() + (": say " + std::string(types_by)));
    }
}

/// What `--dtype` names; `fp8` of a checkpoint in blocks of fp8 is these, as engines read it.
inline checkpoint_types requested_types(const arguments& args, const config_document& file) {
    const std::string_view type_name = args.text(option::linear_dtype);
    const bool in_blocks = file.read_with([](config_view root) {
        const auto quantized = root.optional_object("quantization_config");
        return quantized && quantized->string("quant_method", "") == "fp8" && quantized->contains("weight_block_size");
    });
    checkpoint_types types;
    types.products = &require_operand_type("--dtype", type_name == "fp8" && in_blocks ? "fp8_block" : type_name);
    return types;
}

inline const engine& require_engine(std::string_view option, std::string_view name) {
    if (const engine* known = find_engine(name)) return *known;
    name_suggestions near(name);
    for (const engine& e : engines) near.add_candidate(e.name);
    throw_usage(option, "no engine " + quote(name) + near.suggestion_or_list());
}

}  // namespace detail

/// Refuses a device that an engine does not run on.
inline void require_supported_device(std::string_view option, const engine& engine, const device& device) {
    if (!supports_device(engine, device))
        throw_usage(option, std::string(engine.name) + " runs on devices of " + std::string(engine.required_vendor) +
                                ", not on " + printable(device.title));
}

/// A model on a device under an engine, as a command line says it.
struct deployment {
    std::shared_ptr<const custom_model> custom{};               ///< what `subject` looks at, where a file describes it
    std::shared_ptr<adapter_policy> adapter_policy_of_model{};  ///< and what stands beside its layers
    std::string adapter_label{};                                ///< printable; empty: nothing
    llmcost::model model{};
    model_name name_of_model{};
    llmcost::execution execution{};
    llmcost::engine engine{};
    std::shared_ptr<kernel_library> kernels{};  ///< shared: only who makes it compiles it
    const llmcost::device* device = nullptr;
    std::shared_ptr<llmcost::device> device_with_network{};  ///< `on`, where a command line says what joins its nodes
    prediction_interval interval{};                          ///< of an engine's times (`judge`)
    std::string dtype_warning{};                             ///< what is to be said of them
    double price_per_hour = 0;                               ///< of a device
    double grams_per_kwh = 0;
};

/// `"model"`, and `"as"` where the row of another type than the file's reads it.
inline void write_model(json_writer& json, const deployment& p) {
    json.member("model", p.name_of_model.name);
    if (!p.adapter_label.empty()) json.member("adapter", p.adapter_label);
    if (p.name_of_model.type) json.member("as", p.model.spec->model_type);
}

/// Refuses what cannot be split as it is asked for.
inline void require_valid_parallelism(const model& m, const parallel_config& s) {
    if (const literal problem = parallel_config_error(m, s); !is_empty(problem))
        throw_usage("--tp", std::to_string(s.tensor_parallel_size) + " with --dp " +
                                std::to_string(s.data_parallel_size) + ", --ep " +
                                std::to_string(s.expert_parallel_size) + ": " + std::string(problem));
}

/// Reads `50` or `ib_ndr`: GB/s of each device between nodes.
inline double parse_network(std::string_view option, std::string_view text) {
    if (const network_spec* known = find_network(text)) return known->gigabytes_per_second;
    if (!text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9')))
        return parse_real(option, text, 1e-3, 1e6);
    name_suggestions near(text);
    for (const network_spec& n : networks) near.add_candidate(n.name);
    throw_usage(option,
                "expected GB/s of each device, or a network; no network " + quote(text) + near.suggestion_or_list());
}

/// Refuses more devices than links join where nobody says what joins their nodes.
inline void require_network(std::string_view option, const parallel_config& s, std::int64_t node,
                            const device& device) {
    if (s.world_size() <= node || device.network_bandwidth > 0) return;
    throw_usage(option, "is missing: links join " + std::to_string(node) + " of the " + std::to_string(s.world_size()) +
                            " devices (" + printable(device.title) +
                            "); say what lies between nodes, as 50 (GB/s of each device) or ib_ndr");
}

/// What joins the nodes of a placement, whose layers stand on so many stages of devices; empty where it is one.
inline std::string network_label(const deployment& p, std::int64_t pipeline = 1) {
    const std::int64_t devices = p.execution.parallel.world_size() * pipeline, node = p.execution.devices_per_node;
    if (devices <= node) return {};
    return formatted("%.4g GB/s of each device", network_of(*p.device)) + " between " +
           std::to_string((devices + node - 1) / node) + " nodes of " + std::to_string(node);
}

/// Finds what the times of a placement's engine stand on, by prompts of so many tokens; without an engine nothing.
inline void set_prediction_interval(deployment& p, std::int64_t tokens) {
    if (p.engine.name.empty()) return;
    p.interval = prediction_interval_of(
        p.engine.name, find_evidence(p.model, p.execution, p.engine, *p.device, *p.kernels,
                                     p.execution.parallel.world_size(), tokens < 1024 ? tokens : 1024));
}

/// Refuses a device whose memory nobody knows: whether a model fits it, and how many requests, is unknown.
inline void require_known_memory(const device& device) {
    if (device.memory_gigabytes <= 0)
        throw error(errc::usage, printable(device.names[0]),
                    "no size of memory in its datasheet, which a server needs: how many requests fit is unknown");
}

/// The memory of each device of a placement, whose layers stand on so many stages of devices.
inline memory_limit memory_limit_of(const deployment& p, std::int64_t pipeline = 1) {
    return memory_limit_on(*p.device, p.execution.parallel.world_size() * pipeline);
}

/// How an engine of a placement hands memory out; without an engine only what the model itself needs.
inline const engine_memory_profile& engine_memory_profile_of(const engine& engine) {
    const engine_memory_profile* const known = find_engine_memory_profile(std::string_view(engine.name));
    return known != nullptr ? *known : *find_engine_memory_profile("none");
}

/// Refuses more stages than a model has layers.
inline void require_stages(std::string_view option_name, const model& m, std::int64_t stages) {
    if (stages > 1 && stages > m.config.num_hidden_layers)
        throw_usage(option_name, std::to_string(stages) + " stages for a model of " +
                                     std::to_string(m.config.num_hidden_layers) + " layers: each needs one");
}

/// Refuses what a step of a model does not have: tokens where it reads images, tokens before others where it keeps no
/// cache, those of an encoder where there is none.
inline void require_supported_workload(const model& m, const arguments& args, const workload_request& work) {
    if (reads_pixels(m))
        for (const option_spec& o : {option::sequence, option::past, option::encoder_sequence, option::ragged_batch})
            if (args.has(o))
                throw_usage(o.name, "this model reads images, which have no tokens: say how many by --batch");
    bool has_past = work.base_workload.past > 0;
    for (const request_group& g : work.request_groups) has_past = has_past || g.past > 0;
    if (has_past && !has_kv_cache(m))
        throw_usage((args.has(option::ragged_batch) ? option::ragged_batch : option::past).name,
                    "this model keeps no cache: no tokens stand before those that it reads");
    check_workload(m, work);
}

/// Refuses a model that no server answers with: one without a cache, or with an encoder.
inline void require_autoregressive(const model& m) {
    const workload step{.sequence = 1, .past = 1};
    if (!has_kv_cache(m) || find_scope(m, step, {scope_kind::role, "encoder"}).found)
        throw_usage("serve",
                    "is for models that write token by token from a cache and read no encoder (llmcost latency)");
}

/// In what a model of 32 bits is run, and why, where that is not what its configuration or every engine says.
inline std::string dtype_warning_of(const model& m, const execution& execution, const device& device) {
    const bool is_stored_float32 = m.config.dtype_of_weights == dtype::float32;
    const bool usual = execution.linear_type == find_operand_type("bfloat16");
    if (usual && !is_stored_float32) return {};
    return std::string(is_stored_float32 ? "stored in float32" : "no dtype, so float32") + ", run in " +
           std::string(execution.linear_type->name) + ", as " +
           (usual ? "engines do" : printable(device.title) + " multiplies no bfloat16") + " (--dtype)";
}

/// Which of its kernels nobody measured on a placement's device, as a line; empty where all were.
inline std::string measurement_note(const deployment& p) {
    if (p.kernels->has_no_matches()) return "without measurements: estimated from the datasheet (see --calibration)\n";
    std::string names;
    for (const std::string& kernel : p.kernels->unmeasured_kernels())  // all that are fused without a name are a map
        names += (names.empty() ? "" : ", ") + kernel.substr(0, kernel.size() - (kernel.ends_with(" map") ? 4 : 0));
    return names.empty()
               ? names
               : "not measured on this device: " + names + "; estimated from another device or the datasheet\n";
}
inline void write_unmeasured(json_writer& json, const deployment& p) {
    json.key("not_measured").array();
    for (const std::string& kernel : p.kernels->unmeasured_kernels()) json.value(kernel);
    json.end_array();
}

/// Says, once there is an answer, in what the model was run, which other software's kernels stand in for the engine's,
/// and that so many tokens are beyond the model's context.
inline void print_warnings(const deployment& p, std::int64_t tokens, const streams& io) {
    if (!p.dtype_warning.empty()) io.err << "llmcost: " << p.name_of_model.name << ": " << p.dtype_warning << '\n';
    warn_if_context_exceeded(io.err, p.name_of_model.name, p.model, tokens);
    for (const std::string& note : p.kernels->warnings()) io.err << "llmcost: --engine: " << note << '\n';
}

}  // namespace llmcost::cli
