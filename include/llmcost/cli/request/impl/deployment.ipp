// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/deployment.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/quantization_block.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/name_check.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/devices/networks.hpp>
#include <llmcost/json.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE checkpoint_types stored_types_of(const config_document& file, const model& subject,
                                                std::string_view types_by) {
    try {
        return file.read_with(
            [&](config_view root) { return llmcost::checkpoint_types_of(root, subject.config.dtype_of_weights); });
    } catch (const error& e) {
        if (e.code() != errc::unsupported) throw;
        throw error(e.code(), {}, e.what() + ("; use " + std::string(types_by)));
    }
}

LLMCOST_INLINE checkpoint_types requested_types(const arguments& args, const config_document& file) {
    const std::string type_name = lower(args.text(option::linear_dtype));
    const bool in_blocks = file.read_with([](config_view root) {
        const auto quantized = find_quantization(root);
        return quantized && quantized->string("quant_method", "") == "fp8" && quantized->contains("weight_block_size");
    });
    checkpoint_types types;
    types.products = &require_operand_type("--dtype", type_name == "fp8" && in_blocks ? "fp8_block" : type_name);
    return types;
}

LLMCOST_INLINE const engine& require_engine(std::string_view option, std::string_view name) {
    if (const engine* known = find_engine(name)) return *known;
    if (name == "llama.cpp")
        throw_usage(option,
                    "llama.cpp is not supported by this command; use llmcost memory, fit, latency, serve or local");
    name_suggestions near(name);
    for (const engine& e : engines) near.add_candidate(e.name);
    throw_usage(option, "no engine " + quote(name) + near.suggestion_or_list());
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE void require_supported_device(std::string_view option, const engine& engine, const device& device) {
    if (!supports_device(engine, device))
        throw_usage(option, std::string(engine.name) + " supports devices of " + std::string(engine.required_vendor) +
                                ", not " + printable(device.title));
}

LLMCOST_INLINE void write_model(json_writer& json, const deployment& p) {
    json.member("model", p.name_of_model.name);
    if (!p.adapter_label.empty()) json.member("adapter", p.adapter_label);
    if (p.name_of_model.type) json.member("as", p.model.spec->model_type);
}

LLMCOST_INLINE void require_valid_parallelism(const model& m, const parallel_config& s) {
    if (const literal problem = parallel_config_error(m, s); !is_empty(problem))
        throw_usage("--tp", std::to_string(s.tensor_parallel_size) + " (--dp " + std::to_string(s.data_parallel_size) +
                                ", --ep " + std::to_string(s.expert_parallel_size) + "): " + std::string(problem));
}

LLMCOST_INLINE double parse_network(std::string_view option, std::string_view text) {
    if (const network_spec* known = find_network(text)) return known->gigabytes_per_second;
    if (!text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9')))
        return parse_real(option, text, 1e-3, 1e6);
    name_suggestions near(text);
    for (const network_spec& n : networks) near.add_candidate(n.name);
    throw_usage(option,
                "expected GB/s per device or a network name; no network " + quote(text) + near.suggestion_or_list());
}

LLMCOST_INLINE void require_network(std::string_view option, const parallel_config& s, std::int64_t node,
                                    const device& device) {
    if (s.world_size() <= node || device.network_bandwidth > 0) return;
    throw_usage(option, "required: " + std::to_string(s.world_size()) + " devices span " +
                            std::to_string((s.world_size() + node - 1) / node) + " nodes of " + std::to_string(node) +
                            " (" + printable(device.title) +
                            "); expected GB/s per device, e.g. 50, or a name, e.g. ib_ndr");
}

LLMCOST_INLINE std::string network_label(const deployment& p, std::int64_t pipeline) {
    const std::int64_t devices = p.execution.parallel.world_size() * pipeline, node = p.execution.devices_per_node;
    if (devices <= node) return {};
    return formatted("%.4g GB/s per device", network_of(*p.device)) + " between " +
           std::to_string((devices + node - 1) / node) + " nodes of " + std::to_string(node);
}

LLMCOST_INLINE void apply_calibration(deployment& p, engine_calibration calibration) {
    p.engine = with_constants(p.engine, calibration.constants);
    p.kernels->set_time_factors(factors_of(calibration.constants));
    p.calibration = std::make_shared<const engine_calibration>(std::move(calibration));
}

LLMCOST_INLINE void set_prediction_interval(deployment& p, std::int64_t tokens) {
    if (p.engine.name.empty()) return;
    p.interval = prediction_interval_of(
        p.engine.name, find_evidence(p.model, p.execution, p.engine, *p.device, *p.kernels,
                                     p.execution.parallel.world_size(), tokens < 1024 ? tokens : 1024));
    p.simulated_evidence = p.interval.evidence;
    if (p.calibration == nullptr || p.calibration->tpot.rows + p.calibration->ttft.rows == 0) return;
    p.interval.evidence = serving_evidence::calibrated_engine;
    p.interval.tpot = p.calibration->tpot.interval;
    p.interval.ttft = p.calibration->ttft.interval;
    if (p.calibration->simulated_tpot.rows == 0 || p.calibration->simulated_ttft.rows == 0) return;
    p.simulated_evidence = serving_evidence::calibrated_engine;
    p.interval.simulated_tpot = p.calibration->simulated_tpot.interval;
    p.interval.simulated_ttft = p.calibration->simulated_ttft.interval;
}

LLMCOST_INLINE void require_known_memory(const device& device) {
    if (device.memory_bytes() <= 0)
        throw error(errc::usage, printable(device.names[0]),
                    "the datasheet has no memory size, which is required for the number of requests");
}

LLMCOST_INLINE void require_stages(std::string_view option_name, const model& m, std::int64_t stages) {
    if (stages > 1 && stages > m.config.num_hidden_layers)
        throw_usage(option_name, "expected at most " + std::to_string(m.config.num_hidden_layers) +
                                     " stages, one per layer; found " + std::to_string(stages));
}

LLMCOST_INLINE void require_supported_workload(const model& m, const arguments& args, const workload_request& work) {
    if (reads_pixels(m)) {
        const auto count_at = [&](std::int64_t tokens) {
            workload one = work.base_workload;
            one.sequence = tokens;
            return count_model(m, one);
        };
        for (const option_spec& o : {option::sequence, option::past, option::encoder_sequence, option::ragged_batch}) {
            if (!args.has(o)) continue;
            // the prompt of a denoiser, as the embeddings of its text encoder
            if (o.name == option::sequence.name && !(count_at(1) == count_at(2))) continue;
            throw_usage(o.name, "not supported: images are the only input of this model; use --batch");
        }
    }
    bool has_past = work.base_workload.past > 0;
    for (const request_group& g : work.request_groups) has_past = has_past || g.past > 0;
    if (has_past && !has_kv_cache(m))
        throw_usage((args.has(option::ragged_batch) ? option::ragged_batch : option::past).name,
                    "not supported: this model has no KV cache");
    check_workload(m, work);
}

LLMCOST_INLINE void require_autoregressive(const model& m) {
    if (draft_kind_of(m) != draft_kind::none)
        throw_usage("serve", "a draft head generates no text without its target model; see --draft-model of simulate");
    const workload step{.sequence = 1, .past = 1};
    if (!has_kv_cache(m) || find_scope(m, step, {scope_kind::role, "encoder"}).found)
        throw_usage("serve", "supports decoder-only models with a KV cache; for other models, use llmcost latency");
}

LLMCOST_INLINE std::string dtype_warning_of(const model& m, const execution& execution, const device& device) {
    const bool is_stored_float32 = m.config.dtype_of_weights == dtype::float32;
    const bool usual = execution.linear_type == find_operand_type("bfloat16");
    if (usual && !is_stored_float32) return {};
    return std::string(is_stored_float32 ? "the checkpoint is float32" : "the checkpoint has no dtype (float32)") +
           "; using " + std::string(execution.linear_type->name) + ", " +
           (usual ? "the engines' default" : "because " + printable(device.title) + " does not support bfloat16") +
           " (see --dtype)";
}

LLMCOST_INLINE std::string tf32_note(const deployment& p) {
    if (!p.kernels->has_requested(tf32_operands)) return {};
    return "Assumption: float32 convolutions multiply in TF32, as PyTorch does by default "
           "(torch.backends.cudnn.allow_tf32)\n";
}

LLMCOST_INLINE std::string measurement_note(const deployment& p) {
    if (p.kernels->has_no_matches())
        return "Not measured: all kernels (estimated from the datasheet; see --calibration)\n";
    std::string names;
    for (const std::string& kernel : p.kernels->unmeasured_kernels())  // fused kernels without a name end with "map"
        names += (names.empty() ? "" : ", ") + kernel.substr(0, kernel.size() - (kernel.ends_with(" map") ? 4 : 0));
    return names.empty()
               ? names
               : "Not measured on this device: " + names + " (estimated from another device or the datasheet)\n";
}

LLMCOST_INLINE void write_unmeasured(json_writer& json, const deployment& p) {
    json.key("not_measured").array();
    for (const std::string& kernel : p.kernels->unmeasured_kernels()) json.value(kernel);
    json.end_array();
}

LLMCOST_INLINE void print_warnings(const deployment& p, std::int64_t tokens, const streams& io) {
    if (!p.dtype_warning.empty())
        io.err << "llmcost: warning: " << p.name_of_model.name << ": " << p.dtype_warning << '\n';
    warn_if_context_exceeded(io.err, p.name_of_model.name, p.model, tokens);
    for (const std::string& note : p.kernels->warnings()) io.err << "llmcost: warning: --engine: " << note << '\n';
}

}  // namespace llmcost::cli
