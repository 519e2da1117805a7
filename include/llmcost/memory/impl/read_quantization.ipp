// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/read_quantization.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/quantization_block.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/read_list.hpp>

namespace llmcost::detail {

/// Sets the layout of experts by the key `expert_dtype`: blocks like other weights, or FP4 with one scale per 32
/// inputs.
LLMCOST_INLINE void set_fp8_expert_dtype(config_view place, quantization_group& group) {
    const auto experts = place.optional_string("expert_dtype");
    if (!experts) return;
    if (*experts != "fp8" && *experts != "fp4") throw_invalid_value(place, "expert_dtype", "\"fp8\" or \"fp4\"");
    if (*experts != "fp4") return;
    group.experts =
        weight_layout{.numbers = "weight", .type = "int8", .bits = 4, .block_outputs = 1, .block_inputs = 32};
    group.experts->auxiliary_tensors = group.layout.auxiliary_tensors;
}

LLMCOST_INLINE void parse_fp8(config_view q, quantization& out) {
    weight_layout layout{.numbers = "weight", .type = "float8_e4m3fn"};
    if (const auto block = q.optional_array("weight_block_size")) {
        if (block->size() != 2) throw_invalid_value(*block, "the outputs and inputs of a block");
        layout.block_outputs = (*block)[0].as_positive();
        layout.block_inputs = (*block)[1].as_positive();
    }
    const string_ref scales = q.string("scale_fmt", "float");
    if (scales != "float" && scales != "ue8m0") throw_invalid_value(q, "scale_fmt", "\"float\" or \"ue8m0\"");
    const bool bytes = scales == "ue8m0" && layout.block_inputs != 0;
    const auxiliary_tensor scale{"weight_scale_inv", bytes ? "float8_e8m0fnu" : "float32", bytes ? 8 : 32};
    layout.auxiliary_tensors.push_back(scale);
    const string_ref scheme = q.string("activation_scheme", "dynamic");
    if (scheme != "dynamic" && scheme != "static")
        throw_invalid_value(q, "activation_scheme", "\"dynamic\" or \"static\"");
    const bool fixed = scheme == "static";
    const auxiliary_tensor activations{"activation_scale", "float32", 32, quantization_granularity::matrix};
    if (fixed) layout.auxiliary_tensors.push_back(activations);
    quantization_group all{.layout = layout};
    set_fp8_expert_dtype(q, all);
    const auto tables = parse_rules(q, "modules_to_convert", module_rule::kind::ending);
    if (!tables.empty()) {
        weight_layout table{.numbers = "weight", .type = "float8_e4m3fn"};
        table.auxiliary_tensors.push_back({"weight_scale", "float32", 32, quantization_granularity::matrix});
        out.groups.push_back({.targets = tables, .layout = table});
        out.reach.embedding = true;
    }
    out.groups.push_back(all);
    out.reach.grouped = true;
    out.reach.experts = expert_scope::all;
    const literal list = q.optional_array("modules_to_not_convert") ? "modules_to_not_convert" : "ignored_layers";
    out.modules_to_not_convert = parse_rules(q, list, module_rule::kind::segments);
    out.keeps_head = !q.optional_array(list);
    out.keeps_32_bits = true;
}

LLMCOST_INLINE void parse_mxfp4(config_view q, quantization& out) {
    weight_layout layout{.numbers = "blocks", .type = "uint8", .bits = 4, .block_outputs = 1, .block_inputs = 32};
    layout.auxiliary_tensors.push_back({"scales", "uint8", 8});
    out.groups.push_back({.layout = layout});
    out.reach = {.linear = false, .experts = expert_scope::all};
    out.default_type = dtype::bfloat16;
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
}

/// The layout shared by GPTQ and AWQ: packed values, zero points and scales per group of inputs.
LLMCOST_INLINE weight_layout grouped_integers(config_view q, packing_rule packing_axis, std::int64_t bits) {
    const std::int64_t group = q.integer("group_size", 128);
    if (group != -1 && group <= 0) throw_invalid_value(q, "group_size", "a positive integer or -1");
    if (group > max_input) throw_invalid_value(q, "group_size", "a positive integer below 2^31 or -1");
    weight_layout layout{.numbers = "qweight",
                         .type = "int32",
                         .bits = static_cast<int>(bits),
                         .element_bits = 32,
                         .packs = packing_axis};
    layout.block_outputs = 1;
    layout.block_inputs = group == -1 ? 0 : group;
    layout.auxiliary_tensors.push_back({"qzeros", "int32", layout.bits, quantization_granularity::packed_block});
    layout.auxiliary_tensors.push_back({"scales", "float16", 16});
    return layout;
}

LLMCOST_INLINE void parse_gptq(config_view q, quantization& out) {
    const std::int64_t bits = q.positive("bits");
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8) throw_invalid_value(q, "bits", "2, 3, 4 or 8");
    for (const literal key : {"checkpoint_format", "format"}) {
        const string_ref format = q.string(key, "gptq");
        if (format != "gptq" && format != "gptq_v2")
            throw_unsupported(q, key, "unsupported format; expected gptq or gptq_v2");
    }
    quantization_group all{.layout = grouped_integers(q, packing_rule::inputs, bits)};
    all.layout.auxiliary_tensors.push_back({"g_idx", "int32", 32, quantization_granularity::input});
    if (const auto block_modules = q.optional_array("modules_in_block_to_quantize"))
        for (const config_view entry : *block_modules) {
            if (entry.is_array())
                for (const config_view name : entry) add_rule(all.targets, name, module_rule::kind::ending);
            else
                add_rule(all.targets, entry, module_rule::kind::ending);
        }
    if (const auto dynamic = q.optional_object("dynamic"))
        for (const config_view entry : *dynamic) {
            if (!entry.key().starts_with("-:"))
                throw_unsupported(entry, "settings per module are not supported; expected rules with -:");
            add_rule(out.modules_to_not_convert, entry, entry.key().substr(2), module_rule::kind::expression);
        }
    out.reach = {.relatives = true, .grouped = true, .conv1d = true, .experts = expert_scope::all};
    out.default_type = dtype::float16;
    out.groups.push_back(all);
    if (const auto name = q.optional_string("block_name_to_quantize"))
        out.blocks.emplace_back(*name);
    else
        out.blocks = {"transformer.h",
                      "model.decoder.layers",
                      "gpt_neox.layers",
                      "model.layers",
                      "model.language_model.layers",
                      "h",
                      "decoder.layers",
                      "layers"};
    if (q.boolean("lm_head", false)) throw_unsupported(q, "lm_head", "a quantized head is not supported");
}

LLMCOST_INLINE void parse_awq(config_view q, quantization& out) {
    const literal key = q.contains("version") ? "version" : "format";
    if (const auto format = q.optional_string(key); format && *format != "gemm" && *format != "GEMM")
        throw_unsupported(q, key, "unsupported format; expected gemm");
    const literal bits = q.contains("bits") ? "bits" : "w_bit";
    if (q.positive(bits, 4) != 4) throw_invalid_value(q, bits, "4");
    out.groups.push_back({.layout = grouped_integers(q, packing_rule::outputs, 4)});
    out.reach = {.relatives = true, .grouped = true, .experts = expert_scope::all};
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
    out.keeps_head = out.keeps_32_bits = true;
    out.default_type = dtype::float16;
}

LLMCOST_INLINE void parse_fbgemm_fp8(config_view q, quantization& out) {
    weight_layout layout{.numbers = "weight", .type = "float8_e4m3fn", .block_outputs = 1};
    layout.auxiliary_tensors.push_back({"weight_scale", "float32", 32});
    out.groups.push_back({.layout = layout});
    out.reach = {.relatives = true, .grouped = true, .experts = expert_scope::unpacked};
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
    out.keeps_head = !q.optional_array("modules_to_not_convert");
    out.keeps_32_bits = true;
}

LLMCOST_INLINE void parse_bitnet(config_view q, quantization& out) {
    const string_ref type = q.string("linear_class", "bitlinear"), mode = q.string("quantization_mode", "offline");
    if (type != "bitlinear" && type != "autobitlinear")
        throw_invalid_value(q, "linear_class", "\"bitlinear\" or \"autobitlinear\"");
    if (mode != "online" && mode != "offline") throw_invalid_value(q, "quantization_mode", "\"online\" or \"offline\"");
    if (type == "autobitlinear" && mode == "online") return;
    if (type == "autobitlinear") throw_unsupported(q, "quantization_mode", "unsupported mode; expected online");
    if (q.boolean("use_rms_norm", false))
        throw_unsupported(q, "use_rms_norm", "norms inside of linear layers are not supported");
    weight_layout layout{.numbers = "weight", .type = "uint8", .bits = 2, .packs = packing_rule::outputs};
    layout.auxiliary_tensors.push_back({"weight_scale", "", 0, quantization_granularity::matrix});
    out.groups.push_back({.layout = layout});
    out.reach.relatives = out.reach.grouped = true;
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
    out.keeps_head = !q.optional_array("modules_to_not_convert");
    out.keeps_32_bits = true;
}

LLMCOST_INLINE void parse_bitsandbytes(config_view q, quantization& out) {
    const bool four = q.boolean("load_in_4bit", q.boolean("_load_in_4bit", false));
    const bool eight = q.boolean("load_in_8bit", q.boolean("_load_in_8bit", false));
    if (four == eight) throw_invalid_value(q, "load_in_4bit", "one of load_in_4bit and load_in_8bit to be true");
    weight_layout layout{.numbers = "weight", .type = "int8"};
    if (eight) {
        if (q.boolean("llm_int8_has_fp16_weight", false))
            throw_unsupported(q, "llm_int8_has_fp16_weight", "weights in 16 bits are not supported");
        layout.auxiliary_tensors.push_back({"SCB", "float32", 32, quantization_granularity::output});
        layout.auxiliary_tensors.push_back({"weight_format", "uint8", 8, quantization_granularity::matrix});
    } else {
        const string_ref type = q.string("bnb_4bit_quant_type", "fp4");
        if (type != "nf4" && type != "fp4") throw_invalid_value(q, "bnb_4bit_quant_type", "\"nf4\" or \"fp4\"");
        layout.type = "uint8";
        layout.bits = 4;
        layout.packs = packing_rule::runs;
        layout.block_inputs = 64;
        if (q.boolean("bnb_4bit_use_double_quant", false)) {
            layout.auxiliary_tensors.push_back({"weight.absmax", "uint8", 8, quantization_granularity::run});
            layout.auxiliary_tensors.push_back(
                {"weight.nested_absmax", "float32", 32, quantization_granularity::run_group});
            layout.auxiliary_tensors.push_back(
                {"weight.nested_quant_map", "float32", 32, quantization_granularity::matrix, 256});
        } else {
            layout.auxiliary_tensors.push_back({"weight.absmax", "float32", 32, quantization_granularity::run});
        }
        layout.auxiliary_tensors.push_back({"weight.quant_map", "float32", 32, quantization_granularity::matrix, 16});
    }
    out.groups.push_back({.layout = layout});
    out.reach = {.conv1d = true, .experts = expert_scope::unpacked};
    out.modules_to_not_convert = parse_rules(q, "llm_int8_skip_modules", module_rule::kind::segments);
    out.keeps_head = !q.optional_array("llm_int8_skip_modules");
    out.keeps_32_bits = true;
}

/// The layout of one algorithm of ModelOpt. `node` has the keys `quant_algo` and `group_size`.
[[nodiscard]] LLMCOST_INLINE weight_layout modelopt_layout(config_view node) {
    std::string algorithm(node.string("quant_algo"));
    for (char& c : algorithm)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    weight_layout layout{.numbers = "weight", .type = "float8_e4m3fn"};
    const auxiliary_tensor of_input{"input_scale", "float32", 32, quantization_granularity::matrix};
    const std::int64_t group = node.positive("group_size", 16);
    if (algorithm == "FP8") {
        layout.auxiliary_tensors = {{"weight_scale", "float32", 32}, of_input};
    } else if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") {
        layout.block_outputs = 1;
        layout.auxiliary_tensors = {{"weight_scale", "float32", 32}};
    } else if (algorithm == "FP8_PB_WO") {
        layout.block_outputs = layout.block_inputs = 128;
        layout.auxiliary_tensors = {{"weight_scale", "float32", 32}};
    } else if (algorithm == "NVFP4" || algorithm == "W4A16_NVFP4") {
        layout.type = "uint8";
        layout.bits = 4;
        layout.block_outputs = 1;
        layout.block_inputs = group;
        layout.auxiliary_tensors = {{"weight_scale", "float8_e4m3fn", 8},
                                    {"weight_scale_2", "float32", 32, quantization_granularity::matrix}};
        if (algorithm == "NVFP4") layout.auxiliary_tensors.push_back(of_input);
    } else if (algorithm == "MXFP8") {
        layout.block_outputs = 1;
        layout.block_inputs = 32;
        layout.auxiliary_tensors = {{"weight_scale", "uint8", 8}};
    } else {
        throw_unsupported(node, "quant_algo",
                          "unsupported algorithm; expected FP8, FP8_PER_CHANNEL_PER_TOKEN, FP8_PB_WO, NVFP4, "
                          "W4A16_NVFP4, MXFP8 or MIXED_PRECISION");
    }
    return layout;
}

/// Adds a rule for one module to the group with this layout.
LLMCOST_INLINE void add_module(quantization& out, const weight_layout& layout, config_view node,
                               std::string_view name) {
    for (quantization_group& group : out.groups)
        if (group.layout == layout) return add_rule(group.targets, node, name, module_rule::kind::name);
    out.groups.push_back({.layout = layout});
    add_rule(out.groups.back().targets, node, name, module_rule::kind::name);
}

/// Reads MIXED_PRECISION: an algorithm for each name in `quantized_layers`. All other modules are unquantized.
///
/// A name is a linear layer, all experts of a layer, or a matrix of one expert. All experts of a layer have one layout.
LLMCOST_INLINE void parse_mixed_precision(config_view node, quantization& out) {
    const auto layers = node.optional_object("quantized_layers");
    if (!layers)
        throw_unsupported(node, "quant_algo",
                          "MIXED_PRECISION requires quantized_layers, here or in hf_quant_config.json");
    constexpr std::string_view experts = ".experts.";
    std::unordered_map<std::string, weight_layout> layout_of_matrix;
    for (const config_view entry : *layers) {
        const weight_layout layout = modelopt_layout(entry.as_object());
        std::string name(entry.key());
        const std::size_t position = name.find(experts), begin = position + experts.size();
        const std::size_t end = position == std::string::npos ? position : name.find('.', begin);
        if (end != std::string::npos && name.find_first_not_of("0123456789", begin) == end) {
            name.replace(begin, end - begin, "0");
            const auto [known, is_new] = layout_of_matrix.emplace(name, layout);
            if (!(known->second == layout))
                throw_unsupported(entry, "experts of one layer with several algorithms are not supported");
            if (!is_new) continue;
        }
        add_module(out, layout, entry, name);
    }
}

LLMCOST_INLINE void parse_modelopt(config_view q, quantization& out) {
    const config_view node = modelopt_settings(q);
    const bool is_separate_file = q.contains("quantization");
    out.reach = {.relatives = true, .grouped = true, .experts = expert_scope::all};
    if (node.string("quant_algo") == "MIXED_PRECISION")
        parse_mixed_precision(node, out);
    else
        out.groups.push_back({.layout = modelopt_layout(node)});
    out.modules_to_not_convert = parse_rules(node,
                                             is_separate_file          ? "exclude_modules"
                                             : node.contains("ignore") ? "ignore"
                                                                       : "exclude_modules",
                                             module_rule::kind::part_or_card);
    for (const std::string_view tower : {"vision_tower", "vision_model", "visual"}) {
        out.modules_to_not_convert.push_back(*module_rule::read(module_rule::kind::part_or_card, tower));
        out.modules_to_not_convert.back().is_from_config = false;
    }
}

/// The layout of MLX: values packed into 32-bit words, and per group a scale and a bias, or one scale of 8 bits.
[[nodiscard]] LLMCOST_INLINE weight_layout mlx_layout(config_view node, string_ref default_mode) {
    const string_ref mode = node.string("mode", default_mode);
    const std::int64_t bits = node.positive("bits"), group = node.positive("group_size");
    if (group > max_input) throw_invalid_value(node, "group_size", "a positive integer below 2^31");
    if (bits > 8 || bits == 7) throw_invalid_value(node, "bits", "2, 3, 4, 5, 6 or 8");
    weight_layout layout{
        .numbers = "weight", .type = "uint32", .bits = static_cast<int>(bits), .element_bits = 32, .block_outputs = 1};
    layout.block_inputs = group;
    layout.requires_full_blocks = true;
    if (mode == "affine")
        layout.auxiliary_tensors = {{"scales", "", 0}, {"biases", "", 0}};
    else if (mode == "mxfp4" || mode == "mxfp8" || mode == "nvfp4")
        layout.auxiliary_tensors = {{"scales", "uint8", 8}};
    else
        throw_unsupported(node, "mode", "unsupported mode; expected affine, mxfp4, mxfp8 or nvfp4");
    return layout;
}

LLMCOST_INLINE void parse_mlx(config_view q, quantization& out) {
    const string_ref mode = q.string("mode", "affine");
    for (const config_view entry : q) {
        // MLX has one module for each projection of all experts
        std::string name(entry.key());
        constexpr std::string_view all_experts = ".switch_mlp.";
        if (const std::size_t position = name.find(all_experts); position != std::string::npos)
            name.replace(position, all_experts.size(), ".experts.0.");
        if (entry.is_object())
            add_module(out, mlx_layout(entry, entry.contains("mode") ? "affine" : mode), entry, name);
        if (entry.is_boolean() && !entry.as_boolean())
            add_rule(out.modules_to_not_convert, entry, name, module_rule::kind::name);
    }
    quantization_group all{.layout = mlx_layout(q, "affine")};
    for (const std::string_view type : {"Linear", "Embedding"})
        all.targets.push_back(*module_rule::read(module_rule::kind::name, type));
    for (module_rule& rule : all.targets) rule.is_from_config = false;
    out.groups.push_back(all);
    out.reach = {.relatives = true,
                 .grouped = true,
                 .conv1d = true,
                 .embedding = true,
                 .listed = true,  // routers are linear layers in MLX
                 .experts = expert_scope::all};
    for (const std::string_view tower : {"vision_model", "vision_tower", "visual", "audio_model", "audio_tower"}) {
        out.modules_to_not_convert.push_back(*module_rule::read(module_rule::kind::part_or_card, tower));
        out.modules_to_not_convert.back().is_from_config = false;
    }
}

/// Reads a granularity of torchao: the number of values that share a scale.
LLMCOST_INLINE void parse_granularity(config_view node, weight_layout& layout) {
    const string_ref type = node.string("_type");
    if (type == "PerTensor") return;
    layout.block_outputs = 1;
    if (type == "PerRow") return;
    if (type != "PerGroup")
        throw_unsupported(node, "_type", "unsupported granularity; expected PerTensor, PerRow or PerGroup");
    layout.block_inputs = node.object("_data").positive("group_size");
}

LLMCOST_INLINE void parse_torchao(config_view q, quantization& out) {
    const config_view entry = q.object("quant_type").object("default");
    if (entry.non_negative("_version", 1) != 2)
        throw_unsupported(entry, "_version", "unsupported version; expected version 2");
    const string_ref type = entry.string("_type");
    const config_view data = entry.object("_data");
    weight_layout layout{.numbers = "_weight_qdata", .type = "int8", .block_outputs = 1};
    if (const auto found = data.optional_object("granularity")) {
        layout.block_outputs = 0;
        parse_granularity(*found, layout);
    }
    if (type == "Int8WeightOnlyConfig" || type == "Int8DynamicActivationInt8WeightConfig") {
        layout.auxiliary_tensors = {{"_weight_scale", "float32", 32}, {"_weight_zero_point", "int8", 8}};
    } else if (type == "Float8WeightOnlyConfig") {
        layout.type = "float8_e4m3fn";
        layout.auxiliary_tensors = {{"_weight_scale", "float32", 32}};
    } else if (type == "Int4WeightOnlyConfig") {
        const auto packed = data.optional_object("int4_packing_format");
        if (packed && packed->string("_data") != "PLAIN")
            throw_unsupported(*packed, "_data", "unsupported packing; expected PLAIN");
        layout.type = "uint8";
        layout.bits = 4;
        layout.block_inputs = data.positive("group_size", 128);
        layout.requires_full_blocks = true;
        layout.auxiliary_tensors = {{"_weight_scale", "", 0}, {"_weight_zero_point", "", 0}};
    } else {
        throw_unsupported(entry, "_type",
                          "unsupported configuration; expected Int4WeightOnlyConfig, Int8WeightOnlyConfig, "
                          "Int8DynamicActivationInt8WeightConfig or Float8WeightOnlyConfig");
    }
    if (q.boolean("include_input_output_embeddings", false))
        throw_unsupported(q, "include_input_output_embeddings", "quantized embeddings are not supported");
    out.groups.push_back({.layout = layout});
    out.reach.relatives = out.reach.grouped = true;
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
    out.keeps_head = !q.optional_array("modules_to_not_convert");
    out.keeps_32_bits = true;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE quantization parse_quantization(config_view json) {
    quantization out;
    const auto found = find_quantization(json);
    if (!found) return out;
    string_ref method = quantization_method(*found);
    if (method.empty()) method = found->string("quant_method");
    for (const detail::quantization_reader& format : detail::quantization_readers) {
        if (method != format.method) continue;
        out.method = std::string(method);
        format.read(*found, out);
        // DeepSeek-V4 has the type of experts next to the sizes of the model
        if (method == "fp8" && !found->contains("expert_dtype")) {
            const auto text = json.find("text_config");
            const bool is_nested = text && text->is_object() && text->contains("expert_dtype");
            detail::set_fp8_expert_dtype(is_nested ? *text : json, out.groups.back());
        }
        return out;
    }
    throw_unsupported(*found, "quant_method",
                      "unsupported method; expected fp8, mxfp4, gptq, awq, bitsandbytes, compressed-tensors, "
                      "modelopt, mlx, torchao, fbgemm_fp8 or bitnet");
}

}  // namespace llmcost
