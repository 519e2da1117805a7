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

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/devices/networks.hpp>
#include <llmcost/json.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/torch/kernel.hpp>

// A deployment: a model, a device, and the execution by an inference engine.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> routing_names(const program&) {
    return {"balanced", "power_law_1.01", "power_law_1.2"};
}
inline std::vector<std::string_view> all_to_all_names(const program&) { return names_in(all_to_all_backends); }
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
inline constexpr option_spec all_to_all{
    .name = "--all-to-all-backend",
    .aliases = {"--all2all-backend", "--moe-a2a-backend"},
    .value = "NAME",
    .type = value_type::text,
    .help =
        "how tokens reach experts of other data-parallel ranks: allgather_reducescatter, deepep, "
        "deepep_high_throughput, deepep_low_latency, flashinfer_nvlink_one_sided or flashinfer_nvlink_two_sided "
        "(default: deepep over several nodes)",
    .completions = detail::all_to_all_names};
inline constexpr option_spec redundant_experts{
    .name = "--redundant-experts",
    .aliases = {"--ep-num-redundant-experts", "--num-redundant-experts"},
    .value = "N",
    .type = value_type::number,
    .help = "redundant experts of each layer, which balance the load (EPLB; default 0). Sets --routing balanced"};
inline constexpr option_spec pp{.name = "--pp",
                                .aliases = {"--pipeline-parallel-size"},
                                .value = "N",
                                .type = value_type::number,
                                .help = "pipeline-parallel size (default 1)"};
inline constexpr option_spec network{.name = "--network",
                                     .value = "GBPS|NAME",
                                     .type = value_type::text,
                                     .help = "bandwidth between nodes per device: GB/s, or ib_ndr, roce_400, efa_p5",
                                     .completions = detail::network_names};
inline constexpr option_spec price{.name = "--price",
                                   .value = "X",
                                   .type = value_type::number,
                                   .help = "price of a device per hour, in any currency; a list for several devices"};
inline constexpr option_spec carbon{
    .name = "--carbon", .value = "X", .type = value_type::number, .help = "carbon intensity, in grams of CO2 per kWh"};

}  // namespace option

/// Tensor, data and expert parallelism of a model on devices.
inline constexpr std::array parallel_options{option::tp, option::dp, option::ep, option::all_to_all,
                                             option::redundant_experts};
/// The engine and its kernels.
inline constexpr std::array engine_options{option::engine, option::engine_version, option::calibration,
                                           option::execution, option::network};
/// The device, the engine and its kernels.
inline constexpr std::array hardware_options = concatenate(std::array{option::device}, engine_options);
/// The element types of weights and KV cache.
inline constexpr std::array precision_options{option::linear_dtype, option::experts_dtype, option::kv_cache_dtype};
/// The price and the carbon intensity of a device.
inline constexpr std::array cost_options{option::price, option::carbon};
/// How a model is executed on devices.
inline constexpr std::array execution_options =
    concatenate(parallel_options, hardware_options, precision_options, std::array{option::routing}, cost_options);

namespace detail {

/// The element types of a checkpoint. Throws: `unsupported` with a hint to the option `types_by`.
checkpoint_types stored_types_of(const config_document& file, const model& subject, std::string_view types_by);

/// The types of `--dtype`; `fp8` of a block-quantized fp8 checkpoint is `fp8_block`, as in the engines.
checkpoint_types requested_types(const arguments& args, const config_document& file);

const engine& require_engine(std::string_view option, std::string_view name);

}  // namespace detail

/// Throws: `usage` if an engine does not support a device.
void require_supported_device(std::string_view option, const engine& engine, const device& device);

/// A model on devices, executed by an inference engine.
struct deployment {
    std::shared_ptr<const custom_model> custom{};  ///< owner of the specs of `model`; null for built-in types
    std::shared_ptr<adapter_policy> adapter_policy_of_model{};  ///< adapter of its layers; null: none
    std::string adapter_label{};                                ///< printable; empty: no adapter
    llmcost::model model{};
    model_name name_of_model{};
    std::shared_ptr<const stored_bytes> stored_weights{};  ///< owner of `execution.stored_parameters`
    llmcost::execution execution{};
    llmcost::engine engine{};
    std::shared_ptr<const engine_calibration> calibration{};  ///< of the engine on this device; null: none
    std::shared_ptr<kernel_library> kernels{};                ///< shared pointer of an incomplete type
    bool is_torch = false;                                    ///< a PyTorch program instead of an engine
    bool is_compiled = false;                                 ///< a PyTorch program with `torch.compile`
    double host_microseconds = 0;                             ///< per kernel that its host launches
    tf32_mode tf32 = tf32_mode::standard;                     ///< of its products and convolutions in float32
    const llmcost::device* device = nullptr;
    std::shared_ptr<llmcost::device> device_with_network{};  ///< copy of the device with the bandwidth of `--network`
    prediction_interval interval{};                          ///< of TTFT and TPOT (`set_prediction_interval`)
    serving_evidence simulated_evidence{};                   ///< of the simulated times in `interval`
    std::string dtype_warning{};                             ///< warning about a changed element type; empty: none
    double price_per_hour = 0;                               ///< price of a device per hour
    double grams_per_kwh = 0;
};

/// Writes `"model"`, and `"adapter"` and `"as"` if they are set.
void write_model(json_writer& json, const deployment& p);

/// Throws: `usage` if a model does not support a parallel configuration.
void require_valid_parallelism(const model& m, const parallel_config& s);

/// Parses `50` or `ib_ndr`: bandwidth between nodes in GB/s per device. Throws: `usage`.
double parse_network(std::string_view option, std::string_view text);

/// Throws: `usage` if the devices exceed a node and the bandwidth between nodes is unknown.
void require_network(std::string_view option, const parallel_config& s, std::int64_t node, const device& device);

/// A label of the network of a deployment with `pipeline` stages; empty for one node.
std::string network_label(const deployment& p, std::int64_t pipeline = 1);

/// Applies an engine calibration: the constants of the engine, and the factors of its kernel times.
void apply_calibration(deployment& p, engine_calibration calibration);

/// Sets the prediction interval of a deployment for prompts of `tokens` tokens; does nothing without an engine.
void set_prediction_interval(deployment& p, std::int64_t tokens);

/// Throws: `usage` for a device without a memory size.
void require_known_memory(const device& device);

/// The memory limit per device of a deployment with `pipeline` stages.
inline memory_limit memory_limit_of(const deployment& p, std::int64_t pipeline = 1) {
    return memory_limit_on(*p.device, p.execution.parallel.world_size() * pipeline);
}

/// Throws: `usage` if there are more pipeline stages than layers.
void require_stages(std::string_view option_name, const model& m, std::int64_t stages);

/// Throws: `usage` for a workload that a model does not support: tokens of an image model, past tokens without a KV
/// cache, or encoder tokens without an encoder.
void require_supported_workload(const model& m, const arguments& args, const workload_request& work);

/// Throws: `usage` for a model that is not decoder-only, or has no KV cache, and for a draft head.
void require_autoregressive(const model& m);

/// The warning about a changed element type: the engines run float32 checkpoints in 16 bits. Empty: no change.
std::string dtype_warning_of(const model& m, const execution& execution, const device& device);

/// A line with the assumption of convolutions in TF32; empty if there are none.
std::string tf32_note(const deployment& p);

/// A line with the kernels without measurements on the device; empty if all were measured.
std::string measurement_note(const deployment& p);
void write_unmeasured(json_writer& json, const deployment& p);

/// Prints the warnings of a deployment: a changed element type, an exceeded context length, kernels of other engines.
void print_warnings(const deployment& p, std::int64_t tokens, const streams& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/deployment.ipp>  // IWYU pragma: export
#endif
