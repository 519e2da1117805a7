// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/parse_deployment.hpp>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/engine_calibration_file.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/read_adapter.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/stored_weights.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

/// Adds an unmerged adapter to the model of a deployment. Throws: `usage` if it is not supported.
LLMCOST_INLINE void apply_adapter(deployment& p, requested_adapter& requested, const arguments& args,
                                  const program& io) {
    constexpr std::string_view option_name = "--adapter";
    const adapter& adapter_config = requested.file.adapts;
    if (requested.quantizes)
        throw_usage(option_name, "qlora is not supported in inference; use lora with --quantization nf4");
    resolve_adapter(requested, args, p.model, io.err);
    const bool is_plain = adapter_config.is_plain_lora();
    if (!is_plain && !p.engine.name.empty())  // vllm/lora/peft_helper.py, `validate_legal`
        throw_usage(option_name, "cannot be combined with --engine: the engines support only plain LoRA");
    if (!is_plain && p.execution.parallel.world_size() > 1)
        throw_usage(option_name, "only plain LoRA supports several devices; expected --tp 1 --dp 1");
    p.adapter_policy_of_model = std::make_shared<adapter_policy>(adapter_config, p.model);
    p.adapter_policy_of_model->set_tensor_parallel_size(p.execution.parallel.tensor_parallel_size);
    p.adapter_label = requested.label;
    p.model.policy = p.adapter_policy_of_model.get();
}

/// The element types of the weights: options first, then the checkpoint.
LLMCOST_INLINE checkpoint_types parse_types(const arguments& args, const parsed_model& read, const deployment& p) {
    checkpoint_types types;
    if (args.text(option::engine) == torch_engine_name && args.has(option::dtype))  // commands with element types
        types.products = &require_operand_type("--dtype", name_of(args.type(option::dtype)));
    else if (args.has(option::linear_dtype))
        types = detail::requested_types(args, read.found.document);
    else if (read.stored.has_ggml_types)
        throw error(errc::unsupported, p.name_of_model.name,
                    "llama.cpp types are not supported; use --dtype, e.g. int4_wo");
    else
        types = detail::stored_types_of(read.found.document, p.model, "--dtype");
    if (args.has(option::experts_dtype))
        types.experts = &require_operand_type("--experts-dtype", args.text(option::experts_dtype));
    return types;
}

/// The backend of `--all-to-all-backend`; null: the default.
LLMCOST_INLINE const all_to_all_backend* parse_all_to_all(const arguments& args) {
    if (!args.accepts(option::all_to_all) || !args.has(option::all_to_all)) return nullptr;
    const std::string_view name = args.text(option::all_to_all);
    const all_to_all_backend* const backend = find_all_to_all_backend(string_ref(name.data(), name.size()));
    if (backend == nullptr) {
        std::set<string_ref> names;
        for (const all_to_all_backend& b : all_to_all_backends) names.insert(b.name);
        throw_usage(option::all_to_all.name, unknown_name_message(names, name));
    }
    return backend;
}

/// The distribution of tokens over experts, by the name of `--routing`.
LLMCOST_INLINE string_ref parse_routing(const arguments& args, string_ref default_distribution) {
    if (!args.has(option::routing)) return default_distribution;
    const std::string name(args.text(option::routing));
    const std::set<string_ref> variants = variants_of(*find_operator_type("moe"));
    throw_usage_if("--routing", unknown_name_message(variants, name));
    return *variants.find(name);
}

/// Tensor, data and expert parallelism. Throws: `usage` if the model does not support them.
LLMCOST_INLINE parallel_config parse_parallelism(const arguments& args, const model& m, launch_mode launch) {
    const bool has_experts = m.config.moe.num_experts > 1;
    for (const option_spec& o : {option::experts_dtype, option::routing, option::all_to_all, option::redundant_experts})
        if (args.accepts(o) && args.has(o) && !has_experts)
            throw_usage(o.name, "not supported: this model has no routed experts");
    if (args.accepts(option::training) && args.has(option::training)) {
        // experts of a training job have a mesh of their own (`training_parallelism`); data parallelism copies them
        const parallel_config of_attention{
            .tensor_parallel_size = args.number(option::tp, 1),
            .data_parallel_size = args.number(option::dp, 1) * args.number(option::training_replicas, 1)};
        model without_experts = m;
        without_experts.config.moe.num_experts = 0;
        require_valid_parallelism(without_experts, of_attention);
        if (args.number(option::ep, 1) > 1 && !has_experts)
            throw_usage("--ep", "not supported: this model has no routed experts");
        return of_attention;
    }
    parallel_config s =
        make_parallel_config(m, args.number(option::tp, 1), args.number(option::dp, 1), args.number(option::ep, 1));
    if (args.accepts(option::redundant_experts)) {
        s.num_redundant_experts = args.number(option::redundant_experts, 0);
        if (s.num_redundant_experts > 0 && s.expert_parallel_size == 1)
            throw_usage(option::redundant_experts.name, "requires --ep");
    }
    if (s.expert_parallel_size > 1 && !has_experts)
        throw_usage("--ep", "not supported: this model has no routed experts");
    if (s.world_size() % s.expert_parallel_size != 0)
        throw_usage("--ep", std::to_string(s.expert_parallel_size) + " does not divide the number of devices, " +
                                std::to_string(s.world_size()) + " (--tp and --dp)");
    require_valid_parallelism(m, s);
    if (launch == launch_mode::eager && s.world_size() > 1 && has_experts)
        throw_usage("--execution", "eager supports routed experts on one device only; expected --tp 1 --dp 1");
    return s;
}

/// Sets the device and its kernels. Throws: `usage` for a device or version without support by the engine.
LLMCOST_INLINE void set_device(deployment& p, const arguments& args) {
    const std::string calibration(args.text(option::calibration)), version(args.text(option::engine_version));
    p.kernels = std::make_shared<kernel_library>(std::string(args.text(option::device)),
                                                 std::string(p.engine.kernel_software), version, calibration);
    p.kernels->set_type_sources("--dtype", args.has(option::experts_dtype) ? "--experts-dtype" : "--dtype");
    p.device = &p.kernels->target_device("--device");
    if (args.has(option::network)) {
        p.device_with_network = std::make_shared<device>(*p.device);
        p.device_with_network->network_bandwidth = parse_network(option::network.name, args.text(option::network));
        p.device = p.device_with_network.get();
    }
    require_supported_device("--engine", p.engine, *p.device);
    if (!args.has(option::engine_version)) return;
    if (p.engine.name.empty()) throw_usage("--engine-version", "requires --engine");
    throw_usage_if(
        "--engine-version",
        available_kernels(calibration).unknown_version_message(p.engine.kernel_software, version, nullptr, p.device));
}

/// Applies the engine calibration of `--calibration`, or of the folders of calibrations. Throws: `usage` for a file of
/// another engine or device. Warns about a file of another version, and without runs of the model.
LLMCOST_INLINE void calibrate_engine(deployment& p, const arguments& args, const program& io) {
    const std::string version(args.text(option::engine_version));
    const std::optional<engine_calibration> found =
        find_engine_calibration(std::string(args.text(option::calibration)), p.engine, version, *p.device);
    if (!found) return;
    const bool has_shipped_runs = has_measured_runs(*p.device, 1);
    const auto warn = [&](const std::string& note) {
        io.err << "llmcost: warning: " << printable(found->path) << ": " << note << '\n';
    };
    if (!version.empty() && !found->version.empty() && found->version != version)
        warn("is a calibration of " + found->engine + ' ' + printable(found->version) + ", not of " +
             printable(version));
    if (const std::string note = model_calibration_note(*found, p.name_of_model.name, has_shipped_runs); !note.empty())
        warn(printable(note));
    if (auto part = calibration_for_model(*found, p.name_of_model.name, has_shipped_runs))
        apply_calibration(p, std::move(*part));
}

/// The element type of the KV cache, by `--cache-dtype`.
LLMCOST_INLINE const operand_type& parse_cache_dtype(const arguments& args, const model& m) {
    if (!has_kv_cache(m)) throw_usage("--cache-dtype", "not supported: this model has no KV cache");
    const operand_type& type = require_operand_type("--cache-dtype", args.text(option::kv_cache_dtype));
    throw_usage_if("--cache-dtype",
                   unknown_name_message(variants_of(*find_operator_type("generation_attention")), type.name));
    return type;
}

/// Replaces types without products on the device by their weight-only variants. Returns a warning; empty if none was.
LLMCOST_INLINE std::string unpack_unsupported_types(checkpoint_types& types, const deployment& p) {
    std::string warning;
    for (const operand_type** type : {&types.products, &types.experts}) {
        const operand_type* const executed = executed_type_of(*type, p.engine, *p.device);
        if (executed != *type)
            warning = printable(p.device->title) + " does not support " + std::string((*type)->name) +
                      "; using it for weights only, unpacked to bfloat16 (" + std::string(executed->name) + ')';
        *type = executed;
    }
    return warning;
}

LLMCOST_INLINE deployment deployment_of(const arguments& args, const parsed_model& read, const program& io) {
    if (!args.has(option::device))
        throw_usage("--device", "required: a name from llmcost devices, or a datasheet file");
    deployment p;
    requested_adapter adapter = read_adapter(args);
    p.model = read.subject;
    p.custom = read.custom;
    p.name_of_model = read.found.name_of_model;
    if (!read.stored.mismatch_warning.empty()) io.err << "llmcost: warning: " << read.stored.mismatch_warning << '\n';
    const std::string_view engine_name = args.text(option::engine);
    p.is_torch = engine_name == torch_engine_name || engine_name == "pytorch";
    if (p.is_torch && !args.accepts(option::torch_host))
        throw_usage("--engine", "torch is not an inference engine; expected in llmcost latency");
    p.engine = args.has(option::engine) && !p.is_torch ? detail::require_engine("--engine", engine_name) : engine{};
    checkpoint_types types = parse_types(args, read, p);
    const bool is_balanced = args.accepts(option::redundant_experts) && args.number(option::redundant_experts, 0) > 0;
    const string_ref distribution =
        parse_routing(args, is_balanced ? string_ref("balanced") : p.execution.routing_distribution);
    const all_to_all_backend* const all_to_all = parse_all_to_all(args);
    const int execution = args.choice(option::torch_execution,
                                      static_cast<int>(p.is_torch ? launch_mode::eager : launch_mode::cuda_graph));
    p.is_compiled = execution >= execution_compile;
    if (p.is_compiled && !p.is_torch)
        throw_usage(option::torch_execution.name,
                    quote(args.text(option::torch_execution)) + " is not supported by this engine; use --engine torch");
    const launch_mode launch = execution == execution_compile           ? launch_mode::eager
                               : execution == execution_reduce_overhead ? launch_mode::cuda_graph
                                                                        : static_cast<launch_mode>(execution);
    p.tf32 = parse_tf32(args);
    if (p.is_torch && launch != launch_mode::cuda_graph) p.host_microseconds = parse_torch_host(args);
    const parallel_config parallel = parse_parallelism(args, p.model, launch);
    set_device(p, args);
    if (args.has(option::kv_cache_dtype)) types.cache = &parse_cache_dtype(args, p.model);
    const std::string type_warning = unpack_unsupported_types(types, p);
    p.execution = execution_of(p.engine, *p.device, types, parallel, launch);
    if (!p.is_torch) calibrate_engine(p, args, io);
    p.dtype_warning = types.products == nullptr ? dtype_warning_of(p.model, p.execution, *p.device) : type_warning;
    if (read.stored.is_applied &&
        (!args.has(option::linear_dtype) || args.has(option::quantization) || read.found.weights)) {
        p.execution.stored_weight_bytes = stored_weight_parts_of(p.model, read.stored.bytes);
        p.stored_weights = std::make_shared<const stored_bytes>(read.stored.bytes);
        p.execution.stored_parameters = p.stored_weights.get();
        p.execution.stored_expert_format = read.stored.expert_weights;
    }
    detail::set_vision_sizes(read.found.document, p.execution.sglang_vision);
    p.execution.routing_distribution = distribution;
    p.execution.expert_all_to_all = all_to_all;
    parallel_config all_devices = parallel;
    if (args.accepts(option::training) && args.has(option::training))
        all_devices.data_parallel_size *= args.number(option::training_cp, 1) * args.number(option::training_pp, 1);
    require_network(option::network.name, all_devices, p.execution.devices_per_node, *p.device);
    if (!adapter.none()) apply_adapter(p, adapter, args, io);
    p.price_per_hour = args.real(option::price, p.device->price_per_hour, 0, 1e9);
    p.grams_per_kwh = args.real(option::carbon, 0, 0, 1e6);
    return p;
}

LLMCOST_INLINE deployment parse_deployment(const arguments& args, const program& io) {
    if (!args.has(option::device))
        throw_usage("--device", "required: a name from llmcost devices, or a datasheet file");
    (void)read_adapter(args);  // its errors precede those of the model
    return deployment_of(args, io.read(args, io), io);
}

}  // namespace llmcost::cli
