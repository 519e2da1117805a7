// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/decoder.hpp>
#include <llmcost/reader.hpp>

namespace llmcost::arch {

/// Every layer slides where the configuration has a window (Mistral, Phi-3, StarCoder2).
constexpr void read_window(config_view config, shape& s) { plan_one_mask(config, s); }

/// Qwen: a window only where `use_sliding_window` says so, for layers from `max_window_layers` on.
constexpr void plan_qwen_window(config_view config, shape& s, std::int64_t otherwise) {
    if (!config.boolean("use_sliding_window", false)) s.sliding_window = 0;
    const std::int64_t full = config.non_negative("max_window_layers", otherwise);
    if (!read_layer_types(config, s))
        plan_layers(config, s, [&](std::int64_t i) {
            const bool slides = s.sliding_window > 0 && i >= full;
            return layer_kind{slides ? mixer_kind::sliding_attention : mixer_kind::full_attention, false};
        });
}

constexpr void read_qwen_window(config_view config, shape& s) { plan_qwen_window(config, s, 28); }

constexpr void read_qwen2(config_view config, shape& s) {
    read_qwen_window(config, s);
    s.attention_bias = true;
    s.output_bias = false;
}

/// How many frequencies the first three axes of positions have, or all of them; without the key, so many.
struct rotary_sections {
    std::int64_t axes;
    std::int64_t frequencies;
};
constexpr rotary_sections read_sections(config_view config, rotary_sections otherwise) {
    const auto rope = detail::rope_parameters(config);
    const auto list = rope ? rope->optional_array("mrope_section") : maybe<config_view>{};
    if (!list) return otherwise;
    rotary_sections found{static_cast<std::int64_t>(list->size()), 0};
    for (const config_view entry : *list) {
        const std::int64_t n = entry.as_integer();
        if (n < 0 || n > largest_input || found.frequencies > largest_input)
            fail_value(*rope, "mrope_section", "a list of how many frequencies each axis has");
        found.frequencies += n;
    }
    return found;
}

[[noreturn]] inline void fail_sections(config_view config, literal expected) {
    const auto rope = detail::rope_parameters(config);
    if (rope) fail_value(*rope, "mrope_section", expected);
    fail_value(config, "rope_parameters", expected);
}

/// Heads share the width whatever `head_dim` says; a window only for layers from `max_window_layers` on.
constexpr void read_qwen2_vl(config_view config, shape& s) {
    const std::int64_t given = s.head_dim;
    plan_qwen_window(config, s, 80);
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.head_dim != given) fail_value(config, "head_dim", "hidden_size / num_attention_heads, or no such key");
    if (2 * read_sections(config, {3, 64}).frequencies != s.rotary_dim)
        fail_sections(config, "frequencies per axis that add up to half of a head");
    s.attention_bias = true;
    s.output_bias = false;
}

/// Phi-3 called longrope `su` and `yarn` at first (configuration_phi3.py, `convert_rope_params_to_dict`).
constexpr void read_phi3(config_view config, shape& s) {
    read_window(config, s);
    for (const literal type : {"su", "yarn"})
        if (detail::has_rope_type(config, type)) s.frequencies = frequency_rule::picked;
}

constexpr void read_starcoder2(config_view config, shape& s) {
    read_window(config, s);
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("use_bias", true);
}

constexpr void read_stablelm(config_view config, shape& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = config.boolean("use_qkv_bias", false);
    s.output_bias = false;
    s.parallel_residual = config.boolean("use_parallel_residual", false);
    s.qk_norm = config.boolean("qk_layernorm", false);
    s.rotary_dim =
        static_cast<std::int64_t>(static_cast<double>(s.head_dim) * detail::read_partial_rotary_factor(config, 0.25));
}

constexpr void read_cohere(config_view config, shape& s) {
    plan_one_mask(config, s);
    s.qk_norm = config.boolean("use_qk_norm", false);
}

/// Keys that Llama has and a relative has not.
inline constexpr key_name no_attention_bias{"attention_bias", "", key_rule::absent};
inline constexpr key_name no_mlp_bias{"mlp_bias", "", key_rule::absent};

/// Heads of the decoders that have classification heads besides the language model's.
inline constexpr head_set decoder_heads{head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                                        head_kind::token_classification};
inline constexpr head_set answering_decoder_heads{head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                                                  head_kind::token_classification, head_kind::question_answering};
inline constexpr head_set classifying_decoder_heads{head_kind::none, head_kind::causal_lm,
                                                    head_kind::sequence_classification};
inline constexpr head_set language_heads{head_kind::none, head_kind::causal_lm};

// transformers/models/llama: configuration_llama.py, modeling_llama.py
inline constexpr architecture llama{
    .model_type = "llama",
    .prefix = "Llama",
    .describe = describe_decoder,
    .heads = answering_decoder_heads,
    .names = {.base_under_answers = "transformer"},
    .defaults = {.vocab_size = 32000,
                 .hidden_size = 4096,
                 .intermediate_size = 11008,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 32,
                 .max_position_embeddings = 2048},
};

// transformers/models/mistral: one mask, sliding where there is a window
inline constexpr architecture mistral = [](architecture a) {
    a.model_type = "mistral", a.prefix = "Mistral", a.read = read_window;
    a.names.base_under_answers = "model";
    a.defaults.intermediate_size = 14336, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 4096;
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/qwen2: biases on q, k, v, none on o; masks per kind of layer
inline constexpr architecture qwen2 = [](architecture a) {
    a.model_type = "qwen2", a.prefix = "Qwen2", a.read = read_qwen2, a.masks = mask_rule::full_and_present;
    a.defaults.vocab_size = 151936, a.defaults.intermediate_size = 22016, a.defaults.num_key_value_heads = 32;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/qwen2_vl: the text model alone, positions of three axes
inline constexpr architecture qwen2_vl_text = [](architecture a) {
    a.model_type = "qwen2_vl_text", a.prefix = "Qwen2VL", a.read = read_qwen2_vl, a.heads = {head_kind::none};
    a.axes = rotary_axes::sections, a.names.model_type = "TextModel", a.names.mlp_prefix = "Qwen2";
    a.defaults.vocab_size = 152064, a.defaults.hidden_size = 8192, a.defaults.intermediate_size = 29568;
    a.defaults.num_hidden_layers = 80, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096, a.defaults.head = head_kind::none;
    return a;
}(qwen2);

// transformers/models/qwen3: norms of queries and keys per head
inline constexpr architecture qwen3 = [](architecture a) {
    a.model_type = "qwen3", a.prefix = "Qwen3", a.read = read_qwen_window, a.qk_norm = qk_norm_kind::per_head;
    a.defaults.head_dim = 128;
    return a;
}(qwen2);

// transformers/models/phi3: q, k, v and gate, up in one projection each; dropout modules in the residual
inline constexpr architecture phi3 = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "phi3", a.prefix = "Phi3", a.read = read_phi3, a.fused_qkv = true, a.joins_rotated = true;
    a.feed_forward = mlp_kind::fused_gated;
    a.names.q = "qkv_proj", a.names.mlp = {.gate = "gate_up_proj", .act = "activation_fn"};
    a.names.attention_dropout = "resid_attn_dropout", a.names.feed_forward_dropout = "resid_mlp_dropout";
    a.defaults.vocab_size = 32064, a.defaults.hidden_size = 3072, a.defaults.intermediate_size = 8192;
    a.defaults.max_position_embeddings = 4096;
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/starcoder2: layer norms, a plain feed-forward block, biases
inline constexpr architecture starcoder2 = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "starcoder2", a.prefix = "Starcoder2", a.read = read_starcoder2, a.norm = norm_kind::layer;
    a.feed_forward = mlp_kind::plain;
    a.names.mlp = {.up = "c_fc", .down = "c_proj", .act = "act"};
    a.defaults.vocab_size = 49152, a.defaults.hidden_size = 3072, a.defaults.intermediate_size = 12288;
    a.defaults.num_hidden_layers = 30, a.defaults.num_attention_heads = 24, a.defaults.num_key_value_heads = 2;
    a.defaults.max_position_embeddings = 4096, a.defaults.sliding_window = 0;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh, a.defaults.tie_word_embeddings = true;
    return a;
}(mistral);

// transformers/models/cohere: one norm before both blocks, interleaved rotation, scaled logits
inline constexpr architecture cohere = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "cohere", a.prefix = "Cohere", a.read = read_cohere, a.qk_norm = qk_norm_kind::weight_per_head,
    a.norm = norm_kind::layer_spelled;
    a.placement = norm_placement::parallel, a.rotated = rotation::interleaved, a.scales_logits = true;
    a.names.norm_type = "LayerNorm";
    a.defaults.vocab_size = 256000, a.defaults.hidden_size = 8192, a.defaults.intermediate_size = 22528;
    a.defaults.num_hidden_layers = 40, a.defaults.num_attention_heads = 64, a.defaults.max_position_embeddings = 8192;
    a.defaults.tie_word_embeddings = true;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/olmo2: norms on the blocks' outputs, and of whole queries and keys
inline constexpr architecture olmo2 = [](architecture a) {
    a.heads = classifying_decoder_heads;
    a.model_type = "olmo2", a.prefix = "Olmo2", a.placement = norm_placement::after, a.norm = norm_kind::rms_cast_last,
    a.qk_norm = qk_norm_kind::whole, a.rotated = rotation::half_in_float;
    a.defaults.vocab_size = 50304;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/granite: constants on embeddings, residuals and logits
inline constexpr architecture granite = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "granite", a.prefix = "Granite";
    a.scales_embedding = a.scales_residual = a.divides_logits = true;
    return a;
}(llama);

// transformers/models/stablelm: layer norms, a quarter of each head rotated, dropout after the feed-forward block
inline constexpr architecture stablelm = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "stablelm", a.prefix = "StableLm", a.read = read_stablelm, a.norm = norm_kind::layer,
    a.joins_rotated = true;
    a.qk_norm = qk_norm_kind::module_per_head, a.names.q_norm = "q_layernorm", a.names.k_norm = "k_layernorm";
    a.names.feed_forward_dropout = "dropout";
    a.defaults.vocab_size = 50304, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 6912;
    a.defaults.num_key_value_heads = 32, a.defaults.max_position_embeddings = 4096;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
