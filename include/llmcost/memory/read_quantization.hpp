// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/read_compressed_tensors.hpp>
#include <llmcost/memory/read_list.hpp>

namespace llmcost {

namespace detail {

/// FP8 by blocks, by tensors without blocks; experts of four bits.
///
/// Sources: transformers/integrations/finegrained_fp8.py, `FP8Linear`, `FP8Experts`, `replace_with_fp8_linear`;
/// utils/quantization_config.py, `FineGrainedFP8Config`. A file without `weight_block_size` is none that Transformers
/// wrote, and has a scale for each tensor (vllm/model_executor/layers/quantization/fp8.py, `Fp8Config.from_config`). A
/// checkpoint has the gate and the other half of experts apart, each with blocks of its own.
inline void parse_fp8(config_view q, quantization& out) {
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
    const string_ref experts = q.string("expert_dtype", "fp8");
    if (experts != "fp8" && experts != "fp4") throw_invalid_value(q, "expert_dtype", "\"fp8\" or \"fp4\"");
    if (experts == "fp4") {
        all.experts =
            weight_layout{.numbers = "weight", .type = "int8", .bits = 4, .block_outputs = 1, .block_inputs = 32};
        all.experts->auxiliary_tensors.push_back(scale);
        if (fixed) all.experts->auxiliary_tensors.push_back(activations);
    }
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

/// Experts alone: sixteen bytes and a scale for 32 numbers.
///
/// Sources: transformers/integrations/mxfp4.py, `replace_with_mxfp4_linear`, `Mxfp4ReverseDeserialize`; all else is in
/// bfloat16 (vllm/model_executor/layers/quantization/mxfp4.py, `get_supported_act_dtypes`).
inline void parse_mxfp4(config_view q, quantization& out) {
    weight_layout layout{.numbers = "blocks", .type = "uint8", .bits = 4, .block_outputs = 1, .block_inputs = 32};
    layout.auxiliary_tensors.push_back({"scales", "uint8", 8});
    out.groups.push_back({.layout = layout});
    out.reach = {.linear = false, .experts = expert_scope::all};
    out.otherwise = dtype::bfloat16;
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
}

/// Numbers, zero points and scales by groups of inputs, as GPTQ and AWQ share them.
inline weight_layout grouped_integers(config_view q, packing_rule packing_axis, std::int64_t bits) {
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

/// Linear layers of the list of layers; the order of inputs is there whether it is another or not.
///
/// Sources: auto_gptq/nn_modules/qlinear/qlinear_cuda.py, `QuantLinear`; optimum/gptq/quantizer.py, `convert_model`,
/// and constants.py, `BLOCK_PATTERNS`; gptqmodel, `dynamic`. AutoGPTQ writes biases of zeros for layers that have none,
/// which loaders skip (vllm/model_executor/models/llama.py): they are no weights of the model.
inline void parse_gptq(config_view q, quantization& out) {
    const std::int64_t bits = q.positive("bits");
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8) throw_invalid_value(q, "bits", "2, 3, 4 or 8");
    for (const literal key : {"checkpoint_format", "format"}) {
        const string_ref format = q.string(key, "gptq");
        if (format != "gptq" && format != "gptq_v2")
            throw_unsupported(q, key, "no layout of these weights is known; those of gptq and gptq_v2 are");
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
                throw_unsupported(entry, "no layout of modules with settings of their own is known; rules with -: are");
            add_rule(out.modules_to_not_convert, entry, entry.key().substr(2), module_rule::kind::expression);
        }
    out.reach = {.relatives = true, .grouped = true, .conv1d = true, .experts = expert_scope::all};
    out.otherwise = dtype::float16;
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
    if (q.boolean("lm_head", false)) throw_unsupported(q, "lm_head", "no layout of a quantised head is known");
}

/// Linear layers but those of the list and the head.
///
/// Sources: awq/modules/linear/gemm.py, `WQLinear_GEMM`; transformers/integrations/awq.py, `replace_with_awq_linear`.
inline void parse_awq(config_view q, quantization& out) {
    const literal key = q.contains("version") ? "version" : "format";
    if (const auto format = q.optional_string(key); format && *format != "gemm" && *format != "GEMM")
        throw_unsupported(q, key, "no layout of these weights is known; that of gemm is");
    const literal bits = q.contains("bits") ? "bits" : "w_bit";
    if (q.positive(bits, 4) != 4) throw_invalid_value(q, bits, "4");
    out.groups.push_back({.layout = grouped_integers(q, packing_rule::outputs, 4)});
    out.reach = {.relatives = true, .grouped = true, .experts = expert_scope::all};
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
    out.keeps_head = out.keeps_32_bits = true;
    out.otherwise = dtype::float16;
}

/// FP8 with a scale for each output.
///
/// Source: transformers/integrations/fbgemm_fp8.py.
inline void parse_fbgemm_fp8(config_view q, quantization& out) {
    weight_layout layout{.numbers = "weight", .type = "float8_e4m3fn", .block_outputs = 1};
    layout.auxiliary_tensors.push_back({"weight_scale", "float32", 32});
    out.groups.push_back({.layout = layout});
    out.reach = {.relatives = true, .grouped = true, .experts = expert_scope::unpacked};
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
    out.keeps_head = !q.optional_array("modules_to_not_convert");
    out.keeps_32_bits = true;
}

/// Four numbers of three values in a byte; online, weights stay as they are and are rounded in every pass.
///
/// Source: transformers/integrations/bitnet.py, `BitLinear`, `AutoBitLinear`.
inline void parse_bitnet(config_view q, quantization& out) {
    const string_ref type = q.string("linear_class", "bitlinear"), mode = q.string("quantization_mode", "offline");
    if (type != "bitlinear" && type != "autobitlinear")
        throw_invalid_value(q, "linear_class", "\"bitlinear\" or \"autobitlinear\"");
    if (mode != "online" && mode != "offline") throw_invalid_value(q, "quantization_mode", "\"online\" or \"offline\"");
    if (type == "autobitlinear" && mode == "online") return;
    if (type == "autobitlinear")
        throw_unsupported(q, "quantization_mode", "no layout of such weights is known; that of online is");
    if (q.boolean("use_rms_norm", false))
        throw_unsupported(q, "use_rms_norm", "no row describes norms inside of linear layers");
    weight_layout layout{.numbers = "weight", .type = "uint8", .bits = 2, .packs = packing_rule::outputs};
    layout.auxiliary_tensors.push_back({"weight_scale", "", 0, quantization_granularity::matrix});
    out.groups.push_back({.layout = layout});
    out.reach.relatives = out.reach.grouped = true;
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
    out.keeps_head = !q.optional_array("modules_to_not_convert");
    out.keeps_32_bits = true;
}

/// Eight bits with a scale for each output, or four in runs of 64 whose scales may be quantised again.
///
/// Sources: bitsandbytes/nn/modules.py, `Linear8bitLt`, `Linear4bit`, `_save_to_state_dict`; functional.py,
/// `quantize_4bit`, `QuantState.as_dict`. The text of a few hundred bytes that `as_dict` packs for each weight is left
/// out: its length depends on the digits of `nested_offset`. Transformers (integrations/bitsandbytes.py) converts no
/// experts.
inline void parse_bitsandbytes(config_view q, quantization& out) {
    const bool four = q.boolean("load_in_4bit", q.boolean("_load_in_4bit", false));
    const bool eight = q.boolean("load_in_8bit", q.boolean("_load_in_8bit", false));
    if (four == eight) throw_invalid_value(q, "load_in_4bit", "one of load_in_4bit and load_in_8bit to be true");
    weight_layout layout{.numbers = "weight", .type = "int8"};
    if (eight) {
        if (q.boolean("llm_int8_has_fp16_weight", false))
            throw_unsupported(q, "llm_int8_has_fp16_weight", "no layout of weights that stay in 16 bits is known");
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

/// What ModelOpt writes.
///
/// Source: vllm/model_executor/layers/quantization/modelopt.py.
inline void parse_modelopt(config_view q, quantization& out) {
    const auto older = q.optional_object("quantization");
    const config_view at = older ? *older : q;
    std::string algorithm(at.string("quant_algo"));
    for (char& c : algorithm)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    weight_layout layout{.numbers = "weight", .type = "float8_e4m3fn"};
    const auxiliary_tensor of_input{"input_scale", "float32", 32, quantization_granularity::matrix};
    const std::int64_t group = at.positive("group_size", 16);
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
        throw_unsupported(
            at, "quant_algo",
            "no layout of these weights is known; those of FP8, FP8_PER_CHANNEL_PER_TOKEN, FP8_PB_WO, NVFP4, "
            "W4A16_NVFP4 and MXFP8 are");
    }
    out.groups.push_back({.layout = layout});
    out.reach = {.relatives = true, .grouped = true, .experts = expert_scope::all};
    out.modules_to_not_convert = parse_rules(at,
                                             older                   ? "exclude_modules"
                                             : at.contains("ignore") ? "ignore"
                                                                     : "exclude_modules",
                                             module_rule::kind::part_or_card);
    for (const std::string_view tower : {"vision_tower", "vision_model", "visual"}) {
        out.modules_to_not_convert.push_back(*module_rule::read(module_rule::kind::part_or_card, tower));
        out.modules_to_not_convert.back().is_from_config = false;
    }
}

/// How many numbers share a scale, as torchao writes a granularity.
inline void parse_granularity(config_view at, weight_layout& layout) {
    const string_ref type = at.string("_type");
    if (type == "PerTensor") return;
    layout.block_outputs = 1;
    if (type == "PerRow") return;
    if (type != "PerGroup")
        throw_unsupported(at, "_type",
                          "no layout of such scales is known; those of PerTensor, PerRow and PerGroup are");
    layout.block_inputs = at.object("_data").positive("group_size");
}

/// The second version of what torchao makes of linear layers.
///
/// Sources: torchao/quantization/quant_api.py;
/// quantize_/workflows/{int4/int4_tensor,int8/int8_tensor,float8/float8_tensor}.py;
/// prototype/safetensors/safetensors_support.py, `flatten_tensor_state_dict`;
/// transformers/quantizers/quantizer_torchao.py.
inline void parse_torchao(config_view q, quantization& out) {
    const config_view entry = q.object("quant_type").object("default");
    if (entry.non_negative("_version", 1) != 2)
        throw_unsupported(entry, "_version", "no layout of this version is known; that of version 2 is");
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
            throw_unsupported(*packed, "_data", "no layout of numbers packed so is known; that of PLAIN is");
        layout.type = "uint8";
        layout.bits = 4;
        layout.block_inputs = data.positive("group_size", 128);
        layout.requires_full_blocks = true;
        layout.auxiliary_tensors = {{"_weight_scale", "", 0}, {"_weight_zero_point", "", 0}};
    } else {
        throw_unsupported(entry, "_type",
                          "no layout of such weights is known; those of Int4WeightOnlyConfig, Int8WeightOnlyConfig, "
                          "Int8DynamicActivationInt8WeightConfig and Float8WeightOnlyConfig are");
    }
    if (q.boolean("include_input_output_embeddings", false))
        throw_unsupported(q, "include_input_output_embeddings", "no layout of quantised embeddings is known");
    out.groups.push_back({.layout = layout});
    out.reach.relatives = out.reach.grouped = true;
    out.modules_to_not_convert = parse_rules(q, "modules_to_not_convert", module_rule::kind::segments);
    out.keeps_head = !q.optional_array("modules_to_not_convert");
    out.keeps_32_bits = true;
}

/// What a configuration may call each format, and who reads it.
struct quantization_reader {
    literal method;
    void (*read)(config_view, quantization&);
};
// clang-format off
inline constexpr quantization_reader quantization_readers[]{
    {"fp8",                parse_fp8},
    {"mxfp4",              parse_mxfp4},
    {"gptq",               parse_gptq},
    {"awq",                parse_awq},
    {"bitsandbytes",       parse_bitsandbytes},
    {"compressed-tensors", parse_compressed_tensors},
    {"modelopt",           parse_modelopt},
    {"modelopt_fp4",       parse_modelopt},
    {"torchao",            parse_torchao},
    {"fbgemm_fp8",         parse_fbgemm_fp8},
    {"bitnet",             parse_bitnet},
};
// clang-format on

}  // namespace detail

/// What a configuration says of its weights, or its text model's does; a plan without a method where neither says
/// anything.
///
/// Throws `config_error` for what is no plan, and with `unsupported` for a format whose layout is not known.
[[nodiscard]] inline quantization parse_quantization(config_view json) {
    quantization out;
    auto found = json.optional_object("quantization_config");
    if (!found)
        if (const auto text = json.find("text_config"); text && text->is_object())
            found = text->optional_object("quantization_config");
    if (!found) return out;
    // what was written before there were methods
    const bool older = !found->contains("quant_method") &&
                       (found->boolean("load_in_4bit", false) || found->boolean("load_in_8bit", false));
    const string_ref method = older ? string_ref("bitsandbytes") : found->string("quant_method");
    for (const detail::quantization_reader& format : detail::quantization_readers) {
        if (method != format.method) continue;
        out.method = std::string(method);
        format.read(*found, out);
        return out;
    }
    throw_unsupported(
        *found, "quant_method",
        "no layout of such weights is known; those of fp8, mxfp4, gptq, awq, bitsandbytes, compressed-tensors, "
        "modelopt, torchao, fbgemm_fp8 and bitnet are");
}

}  // namespace llmcost
