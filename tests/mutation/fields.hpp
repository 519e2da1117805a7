// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutable_prices.hpp"

#include <llmcost/architecture.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>

/// Every field of a row and of its sizes, to be changed one at a time.
namespace llmcost::testing {

namespace detail {

template <auto Value>
constexpr std::string_view signature() {
    return __PRETTY_FUNCTION__;
}
/// An enumerator as the compiler writes it: `llmcost::norm_kind::rms`, or a cast where there is none.
template <auto Value>
constexpr std::string_view spelled() {
    constexpr std::string_view whole = signature<Value>();
    const std::size_t from = whole.find("Value = ") + 8;
    return whole.substr(from, whole.find_first_of(";]", from) - from);
}
template <auto Value>
inline constexpr bool is_enumerator = spelled<Value>().find(')') == std::string_view::npos;

/// How many enumerators an enumeration counts up to from zero.
template <class E, std::size_t N = 0>
constexpr std::size_t enumerators() {
    if constexpr (is_enumerator<static_cast<E>(N)>)
        return enumerators<E, N + 1>();
    else
        return N;
}
template <class E, std::size_t N = 0>
std::string name_of_value(E value) {
    if constexpr (N < enumerators<E>()) {
        constexpr std::string_view name = spelled<static_cast<E>(N)>();
        return value == static_cast<E>(N) ? std::string(name.substr(name.rfind(':') + 1)) : name_of_value<E, N + 1>(value);
    }
    return "?";
}

}  // namespace detail

/// Visits the fields of a value and changes one of them: the `target`-th of all the changes that there are.
///
/// The lists below name every member, so that a new one does not compile until it stands there, too.
class one_change {
public:
    explicit one_change(std::size_t target, bool doubles = false) noexcept : target_(target), doubles_(doubles) {}

    /// `field=value`, empty where there was no such change.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Whether an integer was changed, which may also be doubled.
    [[nodiscard]] bool integer() const noexcept { return integer_; }
    /// What a number, a flag or an enumerator was before.
    [[nodiscard]] std::int64_t before() const noexcept { return before_; }

    void of(architecture& row) {
        auto& [model_type, prefix, describe, read, norm, placement, qk_norm, rotated, axes, feed_forward, masks, router,
               expert, shared_experts, mixer, latent, gates_attention, sinks, fused_qkv, norm_bias, scales_in_embedding,
               scales_embedding, scales_residual, scales_logits, divides_logits, rotary_per_mixer, positions_per_token,
               flat_heads, joins_rotated, heads, names, keys, defaults] = row;
        (void)model_type;  // how a row is found
        (void)describe;    // the walk itself
        (void)read;        // what it reads are sizes, which are changed by themselves
        (void)defaults;    // what a configuration leaves out: a test of their own
        change("prefix", prefix), change("norm", norm), change("placement", placement);
        change("qk_norm", qk_norm), change("rotated", rotated), change("axes", axes), change("feed_forward", feed_forward),
            change("masks", masks);
        change("router", router), change("expert", expert), change("shared_experts", shared_experts), change("mixer", mixer);
        change("latent", latent), change("gates_attention", gates_attention), change("sinks", sinks);
        change("fused_qkv", fused_qkv), change("norm_bias", norm_bias), change("scales_in_embedding", scales_in_embedding);
        change("scales_embedding", scales_embedding), change("scales_residual", scales_residual);
        change("scales_logits", scales_logits), change("divides_logits", divides_logits);
        change("rotary_per_mixer", rotary_per_mixer), change("joins_rotated", joins_rotated);
        change("positions_per_token", positions_per_token), change("flat_heads", flat_heads);
        change(heads), of(names), of(keys);
    }

    void of(shape& sizes) {
        auto& [vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, num_key_value_heads,
               head_dim, rotary_dim, max_position_embeddings, first_position, sliding_window, type_vocab_size,
               embedding_size, relative_attention_num_buckets, num_labels, hidden_act, pooler_act, type, head,
               tie_word_embeddings, attention_bias, output_bias, mlp_bias, gated_mlp, is_decoder, add_cross_attention,
               scales_output, head_bias, qk_norm, tunes_temperature, clips_qkv, frequencies, rope_interleave,
               parallel_residual, norms_apart, norms_after_sums, residual_from_norm, norm_affine, final_norm, alibi,
               upcast_attention, qkv, looks_ahead, attention_soft_cap, logits_soft_cap, quantized, moe, mla, ssm, delta,
               encoder, vision, layers] = sizes;
        change("vocab_size", vocab_size), change("hidden_size", hidden_size), change("intermediate_size", intermediate_size);
        change("num_hidden_layers", num_hidden_layers), change("num_attention_heads", num_attention_heads);
        change("num_key_value_heads", num_key_value_heads), change("head_dim", head_dim), change("rotary_dim", rotary_dim);
        change("max_position_embeddings", max_position_embeddings), change("sliding_window", sliding_window);
        change("type_vocab_size", type_vocab_size), change("embedding_size", embedding_size);
        change("first_position", first_position), change("is_decoder", is_decoder);
        change("add_cross_attention", add_cross_attention), change("frequencies", frequencies);
        change("looks_ahead", looks_ahead);
        change("relative_attention_num_buckets", relative_attention_num_buckets), change("num_labels", num_labels);
        change("hidden_act", hidden_act), change("pooler_act", pooler_act), change("type", type), change("head", head);
        change("tie_word_embeddings", tie_word_embeddings), change("attention_bias", attention_bias);
        change("output_bias", output_bias), change("mlp_bias", mlp_bias), change("gated_mlp", gated_mlp);
        change("scales_output", scales_output), change("head_bias", head_bias), change("qk_norm", qk_norm);
        change("tunes_temperature", tunes_temperature), change("clips_qkv", clips_qkv),
            change("rope_interleave", rope_interleave);
        change("parallel_residual", parallel_residual), change("norms_apart", norms_apart);
        change("norms_after_sums", norms_after_sums), change("residual_from_norm", residual_from_norm);
        change("norm_affine", norm_affine), change("final_norm", final_norm), change("alibi", alibi);
        change("upcast_attention", upcast_attention), change("qkv", qkv), change("attention_soft_cap", attention_soft_cap);
        change("logits_soft_cap", logits_soft_cap), change("quantized", quantized);
        of(moe), of(mla), of(ssm), of(delta), of(encoder), of(vision), of(layers, num_hidden_layers);
    }

private:
    void of(decoder_names& names) {
        auto& [base, base_under_answers, embed_tokens, layers, norm, rotary, lm_head, token_classifier, attention, q, k, v,
               o, q_norm, k_norm, linear_mixer, feed_forward, norm_1, norm_2, norm_3, norm_4, attention_dropout,
               feed_forward_dropout, mlp, router, model_type, causal_lm_type, layer_type, linear_layer_type, norm_type,
               embedding_type, moe_type, router_type, rotary_type, mlp_prefix] = names;
        auto& [gate, up, down, act] = mlp;
        change("names.base", base), change("names.base_under_answers", base_under_answers);
        change("names.embed_tokens", embed_tokens), change("names.layers", layers), change("names.norm", norm);
        change("names.rotary", rotary), change("names.lm_head", lm_head), change("names.token_classifier", token_classifier);
        change("names.attention", attention), change("names.q", q), change("names.k", k), change("names.v", v);
        change("names.o", o), change("names.q_norm", q_norm), change("names.k_norm", k_norm);
        change("names.linear_mixer", linear_mixer), change("names.feed_forward", feed_forward),
            change("names.norm_1", norm_1);
        change("names.norm_2", norm_2), change("names.norm_3", norm_3), change("names.norm_4", norm_4);
        change("names.attention_dropout", attention_dropout), change("names.feed_forward_dropout", feed_forward_dropout);
        change("names.mlp.gate", gate), change("names.mlp.up", up), change("names.mlp.down", down),
            change("names.mlp.act", act);
        change("names.router", router), change("names.model_type", model_type);
        change("names.causal_lm_type", causal_lm_type), change("names.layer_type", layer_type);
        change("names.linear_layer_type", linear_layer_type), change("names.norm_type", norm_type);
        change("names.embedding_type", embedding_type), change("names.moe_type", moe_type);
        change("names.router_type", router_type), change("names.rotary_type", rotary_type);
        change("names.mlp_prefix", mlp_prefix);
    }
    void of(key_name (&keys)[most_key_names]) {
        for (key_name& key : keys) {
            if (is_empty(key.written)) continue;
            const std::string field = "keys." + std::string(key.written);
            change(field, key.written);
        }
    }
    void of(moe_shape& moe) {
        auto& [num_experts, num_experts_per_tok, intermediate_size, shared_intermediate_size, n_group, topk_group,
               norm_topk_prob, limits_groups, weighs_balance] = moe;
        change("moe.num_experts", num_experts), change("moe.num_experts_per_tok", num_experts_per_tok);
        change("moe.intermediate_size", intermediate_size);
        change("moe.shared_intermediate_size", shared_intermediate_size), change("moe.n_group", n_group);
        change("moe.topk_group", topk_group), change("moe.norm_topk_prob", norm_topk_prob);
        change("moe.limits_groups", limits_groups), change("moe.weighs_balance", weighs_balance);
    }
    void of(mla_shape& mla) {
        auto& [q_lora_rank, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim] = mla;
        change("mla.q_lora_rank", q_lora_rank), change("mla.kv_lora_rank", kv_lora_rank);
        change("mla.qk_nope_head_dim", qk_nope_head_dim), change("mla.qk_rope_head_dim", qk_rope_head_dim);
        change("mla.v_head_dim", v_head_dim);
    }
    void of(state_space_shape& ssm) {
        auto& [state_size, conv_kernel, intermediate_size, time_step_rank, n_groups, num_heads, head_dim, chunk_size,
               use_bias, use_conv_bias, residual_in_fp32] = ssm;
        change("ssm.state_size", state_size), change("ssm.conv_kernel", conv_kernel);
        change("ssm.intermediate_size", intermediate_size), change("ssm.time_step_rank", time_step_rank);
        change("ssm.n_groups", n_groups), change("ssm.num_heads", num_heads), change("ssm.head_dim", head_dim);
        change("ssm.chunk_size", chunk_size), change("ssm.use_bias", use_bias), change("ssm.use_conv_bias", use_conv_bias);
        change("ssm.residual_in_fp32", residual_in_fp32);
    }
    void of(delta_shape& delta) {
        auto& [num_key_heads, num_value_heads, key_head_dim, value_head_dim, conv_kernel] = delta;
        change("delta.num_key_heads", num_key_heads), change("delta.num_value_heads", num_value_heads);
        change("delta.key_head_dim", key_head_dim), change("delta.value_head_dim", value_head_dim);
        change("delta.conv_kernel", conv_kernel);
    }
    void of(encoder_shape& encoder) {
        auto& [num_hidden_layers, num_attention_heads, intermediate_size] = encoder;
        change("encoder.num_hidden_layers", num_hidden_layers), change("encoder.num_attention_heads", num_attention_heads);
        change("encoder.intermediate_size", intermediate_size);
    }
    void of(vision_shape& vision) {
        auto& [image_height, image_width, patch_size, num_channels, encoder_stride] = vision;
        change("vision.image_height", image_height), change("vision.image_width", image_width);
        change("vision.patch_size", patch_size), change("vision.num_channels", num_channels);
        change("vision.encoder_stride", encoder_stride);
    }
    /// The first and the last layer each of every other kind; where all are of one kind, all of them.
    void of(layer_plan& layers, std::int64_t n) {
        auto& [kinds, common, mixed] = layers;
        const bool chunks = layers.has(mixer_kind::chunked_attention, n);
        if (!mixed) return change_kind("layers", common, chunks);
        change_kind("layers.first", kinds[0], chunks);
        change_kind("layers.last", kinds[static_cast<std::size_t>(n - 1)], chunks);
    }

    [[nodiscard]] bool now() noexcept { return at_++ == target_; }

    void change(std::string_view field, bool& value) {
        if (now()) before_ = value, value = !value, say(field, value ? "true" : "false");
    }
    void change(std::string_view field, std::int64_t& value) {
        if (now()) before_ = value, value = doubles_ ? 2 * value : value + 1, integer_ = true, say(field, "");
    }
    void change(std::string_view field, literal& name) {
        static std::deque<std::string> pool;  // names in it outlive every mutation
        if (now()) name = pool.emplace_back(std::string(name) + "x").c_str(), say(field, "");
    }
    template <class E>
    requires std::is_enum_v<E>
    void change(std::string_view field, E& value) {
        constexpr std::size_t n = detail::enumerators<E>();
        static_assert(n > 1);
        const auto before = static_cast<std::size_t>(value);
        for (std::size_t step = 1; step < n; ++step)
            if (now())
                before_ = static_cast<std::int64_t>(before), value = static_cast<E>((before + step) % n),
                say(field, detail::name_of_value(value));
    }
    /// Heads that the row has are taken from it, others given.
    void change(head_set& heads) {
        for (std::size_t i = 0; i < detail::enumerators<head_kind>(); ++i) {
            const auto head = static_cast<head_kind>(i);
            if (now())
                heads.bits ^= 1U << i, say(heads.has(head) ? "heads with" : "heads without", detail::name_of_value(head));
        }
    }
    void change_kind(std::string_view field, std::uint8_t& code, bool chunks) {
        const std::uint8_t before = code;
        for (int step = 1; step < layer_kind::codes; ++step) {
            const auto other = static_cast<std::uint8_t>((before + step) % layer_kind::codes);
            const layer_kind kind = layer_kind::from(other);
            if (!chunks && (kind.mixer == mixer_kind::chunked_attention || kind.unrotated))
                continue;  // other rows have none
            if (!now()) continue;
            before_ = before;
            code = other;
            say(field,
                detail::name_of_value(kind.mixer) + (kind.experts ? "+experts" : "") + (kind.unrotated ? "+unrotated" : ""));
        }
    }
    void say(std::string_view field, std::string_view value) {
        text_ = value.empty() ? std::string(field) : std::string(field) + "=" + std::string(value);
    }

    std::size_t target_;
    std::size_t at_ = 0;
    std::int64_t before_ = 0;
    bool doubles_;
    bool integer_ = false;
    std::string text_;
};

}  // namespace llmcost::testing
