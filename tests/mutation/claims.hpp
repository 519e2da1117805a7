// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutable_prices.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "registry.hpp"

/// What may change without a golden that turns red, and why. A change is green exactly where one of these says so.
namespace llmcost::testing {

/// Types whose goldens do not hold every field and size of their row yet: too few layers, no bfloat16, or only
/// recordings of multimodal inputs, which are not tried. Also types whose description divides by a size that a change
/// makes zero.
inline constexpr std::string_view unmutated_types[]{"aimv2_vision_model",
                                                    "aya_vision",
                                                    "data2vec-vision",
                                                    "dbrx",
                                                    "deepseek_ocr2_text",
                                                    "dinov2",
                                                    "donut-swin",
                                                    "dots3_note",
                                                    "encoder-decoder",
                                                    "fnet",
                                                    "fuyu",
                                                    "gemma4",
                                                    "gemma4_unified",
                                                    "granite_speech5_ctc",
                                                    "hgnet_v2",
                                                    "hiera",
                                                    "hunyuan_vl_text",
                                                    "lasr_ctc",
                                                    "levit",
                                                    "longcat_flash",
                                                    "mobilenet_v2",
                                                    "mobilevit",
                                                    "mobilevitv2",
                                                    "modernvbert",
                                                    "neomme",
                                                    "parakeet_ctc",
                                                    "perceiver",
                                                    "phimoe",
                                                    "pp_lcnet",
                                                    "pvt_v2",
                                                    "qwen2_5_omni_text",
                                                    "qwen3_omni_moe_text",
                                                    "recurrent_gemma",
                                                    "seamless_m4t",
                                                    "seamless_m4t_v2",
                                                    "segformer",
                                                    "speech_to_text",
                                                    "speecht5",
                                                    "swiftformer",
                                                    "swin",
                                                    "swinv2",
                                                    "t5gemma2",
                                                    "textnet",
                                                    "ultravbert",
                                                    "vjepa2",
                                                    "xmod",
                                                    "yoso",
                                                    "zamba"};
[[nodiscard]] inline bool is_unmutated(std::string_view type) {
    return std::find(std::begin(unmutated_types), std::end(unmutated_types), type) != std::end(unmutated_types);
}

/// Whether a word stands in a list of words.
[[nodiscard]] constexpr bool contains_word(std::string_view list, std::string_view name) {
    for (std::size_t position = list.find(name); position != std::string_view::npos;
         position = list.find(name, position + 1)) {
        const bool begins = position == 0 || list[position - 1] == ' ',
                   ends = position + name.size() == list.size() || list[position + name.size()] == ' ';
        if (begins && ends) return true;
    }
    return false;
}

/// Whether a change, `field` or `field=value`, is one of those listed: the same, any value of a field, or all that
/// begin so
/// (`*`).
[[nodiscard]] constexpr bool covers(std::string_view list, std::string_view change) {
    while (!list.empty()) {
        const std::string_view one = list.substr(0, list.find(' '));
        list.remove_prefix(one.size() == list.size() ? one.size() : one.size() + 1);
        if (one == change || one == change.substr(0, change.find('='))) return true;
        if (one.back() == '*' && change.starts_with(one.substr(0, one.size() - 1))) return true;
    }
    return false;
}

// clang-format off

// ---- prices

struct price_claim {
    std::string_view operations;
    std::string_view changes;
    std::string_view reason;
};

inline constexpr price_claim price_claims[] = {
    {"convolution_bias", "kept=input kept=other_operand", "the second factor is a parameter, which is kept anyway"},
    {"convolution convolution_bias", "kept=divisor_or_both", "the second factor always needs a gradient"},
    {"complex_mul polar", "kept", "complex numbers are not counted"},
};

// ---- rows and sizes

/// A change that matters in some workload but in no golden of these types, and why; what matters nowhere needs no claim.
struct claim {
    std::string_view changes;
    std::string_view types;  ///< empty: all
    std::string_view reason;
    std::string_view but = "";  ///< types that have such a golden

    [[nodiscard]] constexpr bool holds(std::string_view change, std::string_view type) const {
        return covers(changes, change) && (types.empty() || contains_word(types, type)) && !contains_word(but, type);
    }
};

inline constexpr claim claims[] = {
    {"type", "", "bytes of what a workload leaves open; goldens are in float32"},
    {"looks_ahead", "", "eager executes all scores, and so do goldens", "gemma4_text gemma4_unified_text"},
    {"looks_ahead=false", "gemma4_unified_text", "eager executes all scores, and so do goldens"},
    {"own.0", "gemma4_text gemma4_unified_text", "of the last logits alone, layers that share keys get one token; goldens ask for all"},
    {"own.0", "hy_v3", "casts of half precision, which write and keep nothing; goldens have its training alone"},
    {"sliding_window", "minimax", "hides more of a mask that is as large, and eager executes all scores"},
    {"norm=rms_cast_last norm=rms_float_variance norm=rms_float_weight", "diffllama jetmoe qwen2_5_vl_text",
     "types in half precision: the forward reads values, and no CPU is asked for them"},
    {"router=softmax_top_k_float", "qwen4_exp_text", "types in half precision: the forward reads values, and no CPU is asked for them"},
    {"rotated=rotate_half_float32", "diffllama jetmoe", "types in half precision: the forward reads values, and no CPU is asked for them"},
};

// ---- defaults

/// Defaults that a row states and that do not reach the sizes of a configuration without keys.
struct default_claim {
    std::string_view changes;
    std::string_view types;
    std::string_view reason;
};

inline constexpr default_claim default_claims[] = {
    {"sliding_window", "mimo qwen2 qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_moe", "0 unless `use_sliding_window` says otherwise"},
    {"output_bias", "gte jina_embeddings_v3 trocr xglm", "as `attention_bias` says"},
    {"num_hidden_layers", "focalnet funnel lfm2_moe nemotron_h poolformer pvt reformer", "as many as a list has"},
    {"intermediate_size", "deepseek_v4 dinov2_with_registers", "made of other sizes"},
    {"num_key_value_heads", "deepseek_v4", "always one"},
    {"max_position_embeddings", "whisper", "two keys of its own say it"},
    {"head", "sam_vision_model", "a part of other models, which has none"},
    {"hidden_act=gelu", "gemma", "`read_gemma` takes it for its approximation"},
};
// clang-format on

/// Keys without a default, or that the defaults of others do not go with, which a configuration has to have.
inline std::string required_keys(std::string_view type) {
    static const std::map<std::string_view, std::string_view> keys{
        {"cohere_compass_text", R"("rope_parameters": {"full_attention": null, "sliding_attention": null})"},
        {"deepseek_v2", R"("num_experts_per_tok": 6)"},
        {"dots1",
         R"("n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1)"},
        {"esm", R"("vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32)"},
        {"glm4_moe", R"("head_dim": 128)"},
        {"glm4v_moe_text", R"("head_dim": 128, "rope_parameters": {"mrope_section": [8, 12, 12]})"},
        {"glm4v_text", R"("rope_parameters": {"mrope_section": [16, 24, 24]})"},
        {"hunyuan_v1_dense", R"("head_dim": 128)"},
        {"hunyuan_v1_moe", R"("head_dim": 128)"},
        {"lfm2_moe", R"("num_hidden_layers": 2, "layer_types": ["conv", "full_attention"])"},
        {"ministral", R"("head_dim": 128)"},
        {"nemotron", R"("num_key_value_heads": 8)"},
        {"qwen4_exp_text",
         R"("indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 256, "indexer_budget": 64, )"
         R"("indexer_compress_ratio": 8)"}};
    const auto found = keys.find(type);
    return found == keys.end() ? "" : std::string(found->second);
}

}  // namespace llmcost::testing
