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

// A deployment: a model, a device, and the execution by an inference engine.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> routing_names(const program&) {
    return {"balanced", "power_law_1.01", "power_law_1.2"};
}
inline std::vector<std::string_view> network_names(const program&) { return names_in(networks); }

}  // namespace detail

namespace option {

inline constexpr option_spec engine{.name = "--engine",
                                    .value = "NAME",
                                    .type = value_type::text,
                                    .help =
                                        "trtllm, vllm or sglang: its kernels and host overhead (default: kernels only, "
                                        "no host overhead)",
                                    .completions = detail::engine_names};
inline constexpr option_spec engine_version{.name = "--engine-version",
                                            .value = "VERSION",
                                            .type = value_type::text,
                                            .help = "version of the kernel measurements (default: newest)"};
inline constexpr option_spec linear_dtype{
    .name = "--dtype",
    .value = "TYPE",
    .type = value_type::text,
    .help =
        "weight type of linear layers: bfloat16, fp8, fp8_block, nvfp4 ... (default: as "
        "the checkpoint)",
    .completions = detail::operand_names};
inline constexpr option_spec experts_dtype{.name = "--experts-dtype",
                                           .value = "TYPE",
                                           .type = value_type::text,
                                           .help = "weight type of routed experts (default: as --dtype)",
                                           .completions = detail::operand_names};
inline constexpr option_spec kv_cache_dtype{.name = "--cache-dtype",
                                            .aliases = {"--kv-cache-dtype"},
                                            .value = "TYPE",
                                            .type = value_type::text,
                                            .help = "KV cache type (default: fp8 with fp8 and nvfp4, else 16 bits)",
                                            .completions = detail::operand_names};
inline constexpr option_spec routing{.name = "--routing",
                                     .value = "NAME",
                                     .type = value_type::text,
                                     .help =
                                         "token distribution over experts: balanced, power_law_1.01 or power_law_1.2 "
                                         "(default power_law_1.2)",
                                     .completions = detail::routing_names};
inline constexpr option_spec execution{.name = "--execution",
                                       .value = "TYPE",
                                       .type = value_type::choice,
                                       .choices = "graph|stream|eager",
                                       .help =
                                           "graph: fused kernels in a CUDA graph; stream: fused, launched one by one; "
                                           "eager: not fused (default graph)"};
inline constexpr option_spec tp{.name = "--tp",
                                .aliases = {"--tensor-parallel-size"},
                                .value = "N",
                                .type = value_type::number,
                                .help = "tensor-parallel size (default 1)"};
inline constexpr option_spec dp{.name = "--dp",
                                .aliases = {"--data-parallel-size"},
                                .value = "N",
                                .type = value_type::number,
                                .help = "data-parallel ranks with separate requests (default 1)"};
inline constexpr option_spec ep{
    .name = "--ep", .value = "N", .type = value_type::number, .help = "expert-parallel size (default 1)"};
inline constexpr option_spec network{.name = "--network",
                                     .value = "GBPS|NAME",
                                     .type = value_type::text,
                                     .help = "bandwidth between nodes per device: GB/s, or ib_ndr, roce_400, efa_p5",
                                     .completions = detail::network_names};
inline constexpr option_spec price{
    .name = "--price", .value = "X", .type = value_type::number, .help = "price of a device per hour, in any currency"};
inline constexpr option_spec carbon{
    .name = "--carbon", .value = "X", .type = value_type::number, .help = "carbon intensity, in grams of CO2 per kWh"};

}  // namespace option

/// Tensor, data and expert parallelism of a model on devices.
inline constexpr std::array parallel_options{option::tp, option::dp, option::ep};
/// The device, the engine and its kernels.
inline constexpr std::array hardware_options{option::device,      option::engine,    option::engine_version,
                                             option::calibration, option::execution, option::network};
/// The element types of weights and KV cache.
inline constexpr std::array precision_options{option::linear_dtype, option::experts_dtype, option::kv_cache_dtype};
/// The price and the carbon intensity of a device.
inline constexpr std::array cost_options{option::price, option::carbon};
/// How a model is executed on devices.
inline constexpr std::array execution_options =
    concatenate(parallel_options, hardware_options, precision_options, std::array{option::routing}, cost_options);

namespace detail {

/// The element types of a checkpoint. Throws: `unsupported` with a hint to the option `types_by`.
inline checkpoint_types stored_types_of(const config_document& file, const model& subject, std::string_view types_by) {
    try {
        return file.read_with(
            [&](config_view root) { return llmcost::checkpoint_types_of(root, subject.config.dtype_of_weights); });
    } catch (const error& e) {
        if (e.code() != errc::unsupported) throw;
        throw error(e.code(), {}, e.what() + ("; use " + std::string(types_by)));
    }
}

/// The types of `--dtype`; `fp8` of a block-quantized fp8 checkpoint is `fp8_block`, as in the engines.
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

/// Throws: `usage` if an engine does not support a device.
inline void require_supported_device(std::string_view option, const engine& engine, const device& device) {
    if (!supports_device(engine, device))
        throw_usage(option, std::string(engine.name) + " supports devices of " + std::string(engine.required_vendor) +
                                ", not " + printable(device.title));
}

/// A model on devices, executed by an inference engine.
struct deployment {
    std::shared_ptr<const custom_model> custom{};  ///< owner of the specs of `model`; null for built-in types
    std::shared_ptr<adapter_policy> adapter_policy_of_model{};  ///< adapter of its layers; null: none
    std::string adapter_label{};                                ///< printable; empty: no adapter
    llmcost::model model{};
    model_name name_of_model{};
    llmcost::execution execution{};
    llmcost::engine engine{};
    std::shared_ptr<kernel_library> kernels{};  ///< shared pointer of an incomplete type
    const llmcost::device* device = nullptr;
    std::shared_ptr<llmcost::device> device_with_network{};  ///< copy of the device with the bandwidth of `--network`
    prediction_interval interval{};                          ///< of TTFT and TPOT (`set_prediction_interval`)
    std::string dtype_warning{};                             ///< warning about a changed element type; empty: none
    double price_per_hour = 0;                               ///< price of a device per hour
    double grams_per_kwh = 0;
};

/// Writes `"model"`, and `"adapter"` and `"as"` if they are set.
inline void write_model(json_writer& json, const deployment& p) {
    json.member("model", p.name_of_model.name);
    if (!p.adapter_label.empty()) json.member("adapter", p.adapter_label);
    if (p.name_of_model.type) json.member("as", p.model.spec->model_type);
}

/// Throws: `usage` if a model does not support a parallel configuration.
inline void require_valid_parallelism(const model& m, const parallel_config& s) {
    if (const literal problem = parallel_config_error(m, s); !is_empty(problem))
        throw_usage("--tp", std::to_string(s.tensor_parallel_size) + " (--dp " + std::to_string(s.data_parallel_size) +
                                ", --ep " + std::to_string(s.expert_parallel_size) + "): " + std::string(problem));
}

/// Parses `50` or `ib_ndr`: bandwidth between nodes in GB/s per device. Throws: `usage`.
inline double parse_network(std::string_view option, std::string_view text) {
    if (const network_spec* known = find_network(text)) return known->gigabytes_per_second;
    if (!text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9')))
        return parse_real(option, text, 1e-3, 1e6);
    name_suggestions near(text);
    for (const network_spec& n : networks) near.add_candidate(n.name);
    throw_usage(option,
                "expected GB/s per device or a network name; no network " + quote(text) + near.suggestion_or_list());
}

/// Throws: `usage` if the devices exceed a node and the bandwidth between nodes is unknown.
inline void require_network(std::string_view option, const parallel_config& s, std::int64_t node,
                            const device& device) {
    if (s.world_size() <= node || device.network_bandwidth > 0) return;
    throw_usage(option, "required: " + std::to_string(s.world_size()) + " devices span " +
                            std::to_string((s.world_size() + node - 1) / node) + " nodes of " + std::to_string(node) +
                            " (" + printable(device.title) +
                            "); expected GB/s per device, e.g. 50, or a name, e.g. ib_ndr");
}

/// A label of the network of a deployment with `pipeline` stages; empty for one node.
inline std::string network_label(const deployment& p, std::int64_t pipeline = 1) {
    const std::int64_t devices = p.execution.parallel.world_size() * pipeline, node = p.execution.devices_per_node;
    if (devices <= node) return {};
    return formatted("%.4g GB/s per device", network_of(*p.device)) + " between " +
           std::to_string((devices + node - 1) / node) + " nodes of " + std::to_string(node);
}

/// Sets the prediction interval of a deployment for prompts of `tokens` tokens; does nothing without an engine.
inline void set_prediction_interval(deployment& p, std::int64_t tokens) {
    if (p.engine.name.empty()) return;
    p.interval = prediction_interval_of(
        p.engine.name, find_evidence(p.model, p.execution, p.engine, *p.device, *p.kernels,
                                     p.execution.parallel.world_size(), tokens < 1024 ? tokens : 1024));
}

/// Throws: `usage` for a device without a memory size.
inline void require_known_memory(const device& device) {
    if (device.memory_gigabytes <= 0)
        throw error(errc::usage, printable(device.names[0]),
                    "the datasheet has no memory size, which is required for the number of requests");
}

/// The memory limit per device of a deployment with `pipeline` stages.
inline memory_limit memory_limit_of(const deployment& p, std::int64_t pipeline = 1) {
    return memory_limit_on(*p.device, p.execution.parallel.world_size() * pipeline);
}

/// The memory management of an engine; without an engine, that of `none`.
inline const engine_memory_profile& engine_memory_profile_of(const engine& engine) {
    const engine_memory_profile* const known = find_engine_memory_profile(std::string_view(engine.name));
    return known != nullptr ? *known : *find_engine_memory_profile("none");
}

/// Throws: `usage` if there are more pipeline stages than layers.
inline void require_stages(std::string_view option_name, const model& m, std::int64_t stages) {
    if (stages > 1 && stages > m.config.num_hidden_layers)
        throw_usage(option_name, "expected at most " + std::to_string(m.config.num_hidden_layers) +
                                     " stages, one per layer; found " + std::to_string(stages));
}

/// Throws: `usage` for a workload that a model does not support: tokens of an image model, past tokens without a KV
/// cache, or encoder tokens without an encoder.
inline void require_supported_workload(const model& m, const arguments& args, const workload_request& work) {
    if (reads_pixels(m))
        for (const option_spec& o : {option::sequence, option::past, option::encoder_sequence, option::ragged_batch})
            if (args.has(o)) throw_usage(o.name, "not supported: images are the only input of this model; use --batch");
    bool has_past = work.base_workload.past > 0;
    for (const request_group& g : work.request_groups) has_past = has_past || g.past > 0;
    if (has_past && !has_kv_cache(m))
        throw_usage((args.has(option::ragged_batch) ? option::ragged_batch : option::past).name,
                    "not supported: this model has no KV cache");
    check_workload(m, work);
}

/// Throws: `usage` for a model that is not decoder-only, or has no KV cache.
inline void require_autoregressive(const model& m) {
    const workload step{.sequence = 1, .past = 1};
    if (!has_kv_cache(m) || find_scope(m, step, {scope_kind::role, "encoder"}).found)
        throw_usage("serve", "supports decoder-only models with a KV cache; for other models, use llmcost latency");
}

/// The warning about a changed element type: the engines run float32 checkpoints in 16 bits. Empty: no change.
inline std::string dtype_warning_of(const model& m, const execution& execution, const device& device) {
    const bool is_stored_float32 = m.config.dtype_of_weights == dtype::float32;
    const bool usual = execution.linear_type == find_operand_type("bfloat16");
    if (usual && !is_stored_float32) return {};
    return std::string(is_stored_float32 ? "the checkpoint is float32" : "the checkpoint has no dtype (float32)") +
           "; using " + std::string(execution.linear_type->name) + ", " +
           (usual ? "the engines' default" : "because " + printable(device.title) + " does not support bfloat16") +
           " (see --dtype)";
}

/// A line with the kernels without measurements on the device; empty if all were measured.
inline std::string measurement_note(const deployment& p) {
    if (p.kernels->has_no_matches())
        return "Not measured: all kernels (estimated from the datasheet; see --calibration)\n";
    std::string names;
    for (const std::string& kernel : p.kernels->unmeasured_kernels())  // fused kernels without a name end with "map"
        names += (names.empty() ? "" : ", ") + kernel.substr(0, kernel.size() - (kernel.ends_with(" map") ? 4 : 0));
    return names.empty()
               ? names
               : "Not measured on this device: " + names + " (estimated from another device or the datasheet)\n";
}
inline void write_unmeasured(json_writer& json, const deployment& p) {
    json.key("not_measured").array();
    for (const std::string& kernel : p.kernels->unmeasured_kernels()) json.value(kernel);
    json.end_array();
}

/// Prints the warnings of a deployment: a changed element type, an exceeded context length, kernels of other engines.
inline void print_warnings(const deployment& p, std::int64_t tokens, const streams& io) {
    if (!p.dtype_warning.empty())
        io.err << "llmcost: warning: " << p.name_of_model.name << ": " << p.dtype_warning << '\n';
    warn_if_context_exceeded(io.err, p.name_of_model.name, p.model, tokens);
    for (const std::string& note : p.kernels->warnings()) io.err << "llmcost: warning: --engine: " << note << '\n';
}

}  // namespace llmcost::cli
