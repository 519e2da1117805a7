// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/read_compressed_tensors.hpp>

#include <cstdint>
#include <string_view>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/read_list.hpp>

namespace llmcost::detail {

LLMCOST_INLINE compression_arguments parse_arguments(config_view node) {
    compression_arguments a;
    a.bits = node.positive("num_bits", 8);
    if (a.bits > 8) throw_invalid_value(node, "num_bits", "1 to 8");
    const string_ref type = node.string("type", "int");
    if (type != "int" && type != "float") throw_invalid_value(node, "type", "\"int\" or \"float\"");
    a.floating = type == "float";
    a.symmetric = node.boolean("symmetric", true);
    const std::int64_t group = node.integer("group_size", 0);
    if (group < -1 || group > max_input) throw_invalid_value(node, "group_size", "a positive integer below 2^31 or -1");
    const bool grouped = node.optional_integer("group_size").has_value();
    if (grouped && group == 0) throw_invalid_value(node, "group_size", "a positive integer or -1");
    a.strategy = node.string("strategy", !grouped ? "tensor" : group == -1 ? "channel" : "group");
    if (a.strategy == "group" || a.strategy == "tensor_group") {
        if (group <= 0) throw_invalid_value(node, "group_size", "a positive integer, as the strategy requires it");
        a.group = a.block_inputs = group;
        a.block_outputs = 1;
    } else if (a.strategy == "channel") {
        a.block_outputs = 1;
    } else if (a.strategy == "block") {
        const config_view block = node.array("block_structure");
        if (block.size() != 2) throw_invalid_value(block, "the outputs and inputs of a block");
        a.block_outputs = block[0].as_positive();
        a.block_inputs = block[1].as_positive();
    } else if (a.strategy != "tensor" && a.strategy != "token") {
        throw_unsupported(node, "strategy",
                          "unsupported strategy; expected tensor, channel, group, tensor_group or block");
    }
    a.scales_are_bytes = node.string("scale_dtype", "") == "torch.uint8" || node.string("scale_dtype", "") == "uint8";
    if (const auto order = node.find("actorder"); order && !order->is_null())
        a.reorders_groups = order->is_string() ? order->as_string() == "group" : order->as_boolean();
    return a;
}

LLMCOST_INLINE activation_scales parse_dynamic(config_view node) {
    const auto found = node.find("dynamic");
    if (!found || found->is_null()) return activation_scales::static_scales;
    if (found->is_string()) {
        if (found->as_string() != "local") throw_invalid_value(*found, "true, false or \"local\"");
        return activation_scales::of_groups;
    }
    return found->as_boolean() ? activation_scales::none : activation_scales::static_scales;
}

/// Adds the stored scales of a layer's inputs or outputs.
LLMCOST_INLINE void add_activation_scales(config_view group, literal key, bool inputs, weight_layout& layout) {
    const auto found = group.optional_object(key);
    if (!found) return;
    const compression_arguments a = parse_arguments(*found);
    const activation_scales stored_scales = parse_dynamic(*found);
    if (stored_scales == activation_scales::none) return;
    if (a.strategy == "tensor_group")
        layout.auxiliary_tensors.push_back(
            {inputs ? "input_global_scale" : "output_global_scale", "float32", 32, quantization_granularity::matrix});
    if (stored_scales == activation_scales::of_groups) return;
    if (a.strategy != "tensor")
        throw_unsupported(*found, "strategy", "unsupported strategy of static activation scales; expected tensor");
    layout.auxiliary_tensors.push_back(
        {inputs ? "input_scale" : "output_scale", "", 0, quantization_granularity::matrix});
    if (!a.symmetric)
        layout.auxiliary_tensors.push_back({inputs ? "input_zero_point" : "output_zero_point",
                                            a.floating ? "float8_e4m3fn" : "int8", 8,
                                            quantization_granularity::matrix});
}

/// The format if neither the group nor the file specifies one.
LLMCOST_INLINE string_ref inferred_format(const compression_arguments& a, config_view group) {
    const auto in = group.optional_object("input_activations");
    const bool floating_inputs = in && in->string("type", "int") == "float";
    if (a.floating && a.bits == 4 && a.group == 32) return "mxfp4-pack-quantized";
    if (a.floating && a.bits == 8 && a.group == 32 && a.scales_are_bytes) return "mxfp8-quantized";
    if (a.floating && a.bits == 4 && a.group == 16) return "nvfp4-pack-quantized";
    if (!a.floating && in && !floating_inputs) return "int-quantized";
    return !a.floating && !floating_inputs ? "pack-quantized" : "naive-quantized";
}

LLMCOST_INLINE weight_layout parse_group_layout(config_view file, config_view group) {
    const config_view weights = group.object("weights");
    const compression_arguments a = parse_arguments(weights);
    if (a.strategy == "token") throw_invalid_value(weights, "strategy", "a strategy for weights");
    weight_layout layout;
    layout.bits = static_cast<int>(a.bits);
    layout.block_outputs = a.block_outputs;
    layout.block_inputs = a.block_inputs;
    const config_view place = group.optional_string("format") ? group : file;
    string_ref format = place.string("format", "");
    if (format.empty() || format == "mixed-precision") format = inferred_format(a, group);
    const string_ref type = a.floating ? "float8_e4m3fn" : "int8";
    if (format == "pack-quantized" && !a.floating) {
        layout.numbers = "weight_packed";
        layout.type = "int32";
        layout.element_bits = 32;
        layout.auxiliary_tensors = {{"weight_scale", "", 0},
                                    {"weight_shape", "int64", 64, quantization_granularity::matrix, 2}};
        const bool packs = a.strategy == "group" || a.strategy == "channel";
        if (!a.symmetric)
            layout.auxiliary_tensors.push_back(
                {"weight_zero_point", packs ? "int32" : "int8", packs ? layout.bits : 8,
                 packs ? quantization_granularity::packed_block : quantization_granularity::block});
        // vllm/model_executor/layers/quantization/compressed_tensors/schemes/compressed_tensors_wNa16.py, `has_g_idx`
        if (a.reorders_groups)
            layout.auxiliary_tensors.push_back({"weight_g_idx", "int32", 32, quantization_granularity::input});
    } else if (format == "int-quantized" || format == "float-quantized" || format == "naive-quantized") {
        if (a.floating && a.bits != 8) throw_invalid_value(weights, "num_bits", "8");
        layout.numbers = "weight";
        layout.type = std::string_view(type);
        layout.bits = 8;
        layout.auxiliary_tensors = {{"weight_scale", "", 0}};
        if (!a.symmetric) layout.auxiliary_tensors.push_back({"weight_zero_point", layout.type, 8});
    } else if ((format == "nvfp4-pack-quantized" || format == "mxfp4-pack-quantized") && a.floating && a.bits == 4) {
        const bool nv = format == "nvfp4-pack-quantized";
        layout.numbers = "weight_packed";
        layout.type = "uint8";
        layout.auxiliary_tensors = {{"weight_scale", nv ? "float8_e4m3fn" : "uint8", 8}};
        if (a.strategy == "tensor_group")
            layout.auxiliary_tensors.push_back(
                {"weight_global_scale", "float32", 32, quantization_granularity::matrix});
    } else if (format == "mxfp8-quantized" && a.floating && a.bits == 8) {
        layout.numbers = "weight";
        layout.type = "float8_e4m3fn";
        layout.auxiliary_tensors = {{"weight_scale", "uint8", 8}};
    } else {
        throw_unsupported(place, "format",
                          "unsupported format; expected pack-quantized, int-quantized, float-quantized, "
                          "naive-quantized, nvfp4-pack-quantized, mxfp4-pack-quantized or mxfp8-quantized");
    }
    add_activation_scales(group, "input_activations", true, layout);
    add_activation_scales(group, "output_activations", false, layout);
    return layout;
}

LLMCOST_INLINE void parse_compressed_tensors(config_view q, quantization& out) {
    if (const auto sparse = q.optional_object("sparsity_config"))
        if (const string_ref format = sparse->string("format", "dense"); format != "dense")
            throw_unsupported(*sparse, "format", "sparse weights are not supported");
    for (const config_view group : q.object("config_groups")) {
        if (!group.is_object())
            throw_unsupported(group, "unsupported preset; expected a group with weights and targets");
        if (!group.optional_object("weights")) continue;
        quantization_group one{.targets = parse_names(group, "targets"), .layout = parse_group_layout(q, group)};
        if (one.targets.empty()) throw_invalid_value(group, "targets", "a list of modules");
        out.groups.push_back(std::move(one));
    }
    out.reach = {.relatives = true, .grouped = true, .embedding = true, .experts = expert_scope::all};
    out.modules_to_not_convert = parse_names(q, "ignore");
}

}  // namespace llmcost::detail
