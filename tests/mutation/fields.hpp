// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutable_prices.hpp"

#include <llmcost/forward/decoder.hpp>

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
    constexpr std::string_view full_signature = signature<Value>();
    const std::size_t start = full_signature.find("Value = ") + 8;
    return full_signature.substr(start, full_signature.find_first_of(";]", start) - start);
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
        return value == static_cast<E>(N) ? std::string(name.substr(name.rfind(':') + 1))
                                          : name_of_value<E, N + 1>(value);
    }
    return "?";
}

}  // namespace detail

/// Visits the fields of a value and changes one of them: the `target`-th of all the changes that there are.
///
/// The lists below name every member, so that a new one does not compile until it stands there, too.
class one_change {
public:
    explicit one_change(std::size_t target, bool doubles = false) noexcept : target_(target), is_doubled_(doubles) {}

    /// `field=value`, empty where there was no such change.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Whether an integer was changed, which may also be doubled.
    [[nodiscard]] bool integer() const noexcept { return integer_; }
    /// What a number, a flag or an enumerator was before.
    [[nodiscard]] std::int64_t original_value() const noexcept { return original_value_; }

    void visit_fields(model_spec& row) {
        auto& [model_type, prefix, remote_code, forward, base, embed, prepare, layer, token_mixer, recurrent_block,
               attend, mlp, residual, finish, predict, read, parse_composite_config, read_processor, read_sound,
               family_keys, drops, text, components, compressed, media, reads, sound, shows_encoder, tokens_ahead,
               kinds, norm, qk_norm, rotated, axes, dense_mlp, masks, router, expert, shared_experts, rotary_per_mixer,
               context_scaling, eager_only, float_head, float_loss, as_written, any_image, joins_rotated, heads,
               alternatives, draft, nested_keys, published_head, names, keys, defaults] = row;
        (void)context_scaling;  // the longest context, which no recording has
        (void)eager_only;       // the default of training
        (void)float_head;       // of weights in 16 bits: tests/memory/float32_parameters.txt
        (void)float_loss;       // of a training step in 16 bits: tests/memory/recordings_types.txt
        (void)compressed;       // pages of an engine: tests/memory/block_pool_test.cpp
        (void)alternatives;     // names that are accepted
        (void)nested_keys;      // so are these
        (void)draft;            // of a server, and of names that are accepted
        (void)published_head;   // of checkpoints: tests/cli/published_test.cpp
        (void)model_type;       // how a row is found
        (void)remote_code;      // what pages say of it
        (void)predict;          // not part of the model
        (void)as_written;       // of rows that files describe, which no registry has
        (void)any_image;        // so is this
        (void)forward;          // the walk itself
        (void)recurrent_block;  // no two families share one
        (void)read;             // what it reads are sizes, which are changed by themselves
        (void)parse_composite_config;
        (void)family_keys;  // so are these
        (void)drops;        // rates, which recordings hold one by one
        (void)text;
        (void)components;      // other rows
        (void)read_processor;  // sizes, too
        (void)read_sound;
        (void)sound;  // of what recordings become: tests/golden/sounds.txt holds it
        (void)media;
        (void)reads;
        (void)shows_encoder;
        (void)tokens_ahead;  // multimodal inputs: recordings verify them
        (void)kinds;         // a plan of others is refused
        (void)defaults;      // what a configuration leaves out: a test of their own
        const model_spec& usual = default_decoder;
        if (base == usual.base_model) {
            change("embed", embed, usual.embed_tokens);
            change("prepare", prepare, usual.prepare_inputs);
            change("layer", layer, usual.decoder_layer);
            change("mix", token_mixer, usual.token_mixer);
            change("attend", attend, usual.attention);
            change("feed", mlp, usual.mlp);
            change("residual", residual, usual.add_residual);
            change("finish", finish, usual.process_logits);
        }
        change("prefix", prefix);
        change("norm", norm);
        change("qk_norm", qk_norm);
        change("rotated", rotated);
        change("axes", axes);
        change("feed_forward", dense_mlp);
        change("masks", masks);
        change("router", router);
        change("expert", expert);
        change("shared_experts", shared_experts);
        change("rotary_per_mixer", rotary_per_mixer);
        change("joins_rotated", joins_rotated);
        change(heads);
        visit_fields(names);
        visit_fields(keys);
    }

    void visit_fields(model_config& config) {
        auto& [vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, num_key_value_heads,
               head_dim, rotary_dim, max_position_embeddings, num_position_axes, scaled_context, first_position,
               sliding_window, type_vocab_size, embedding_size, num_labels, mtp_layers, num_draft_tokens, hidden_act,
               type, recurrent_state, head, tie_word_embeddings, attention_bias, output_bias, mlp_bias, is_decoder,
               add_cross_attention, head_bias, qk_norm, clips_qkv, frequencies, sliding_frequencies, rope_interleave,
               parallel_residual, looks_ahead, attention_soft_cap, logits_soft_cap, quantized, moe, mla, ssm, delta,
               encoder, vision, drops, family, layers] = config;
        (void)mtp_layers;         // not part of the model
        (void)num_draft_tokens;   // of draft heads, which have no golden: tests/golden/draft_heads.txt
        (void)num_position_axes;  // the size of an engine's tables, which no recording has
        (void)scaled_context;     // the longest context, which no recording has
        (void)recurrent_state;    // of engines: tests/memory/block_pool_test.cpp
        (void)drops;              // of training steps that keep dropout, whose rates are recorded one by one
        change("vocab_size", vocab_size);
        change("hidden_size", hidden_size);
        change("intermediate_size", intermediate_size);
        change("num_hidden_layers", num_hidden_layers);
        change("num_attention_heads", num_attention_heads);
        change("num_key_value_heads", num_key_value_heads);
        change("head_dim", head_dim);
        change("rotary_dim", rotary_dim);
        change("max_position_embeddings", max_position_embeddings);
        change("sliding_window", sliding_window);
        change("type_vocab_size", type_vocab_size);
        change("embedding_size", embedding_size);
        change("first_position", first_position);
        change("is_decoder", is_decoder);
        change("add_cross_attention", add_cross_attention);
        change("frequencies", frequencies);
        change("sliding_frequencies", sliding_frequencies);
        change("looks_ahead", looks_ahead);
        change("num_labels", num_labels);
        change("hidden_act", hidden_act);
        change("type", type);
        change("head", head);
        change("tie_word_embeddings", tie_word_embeddings);
        change("attention_bias", attention_bias);
        change("output_bias", output_bias);
        change("mlp_bias", mlp_bias);
        change("head_bias", head_bias);
        change("qk_norm", qk_norm);
        change("clips_qkv", clips_qkv);
        change("rope_interleave", rope_interleave);
        change("parallel_residual", parallel_residual);
        change("attention_soft_cap", attention_soft_cap);
        change("logits_soft_cap", logits_soft_cap);
        change("quantized", quantized);
        visit_fields(moe);
        visit_fields(mla);
        visit_fields(ssm);
        visit_fields(delta);
        visit_fields(encoder);
        visit_fields(vision);
        visit_fields(layers, num_hidden_layers);
        for (std::size_t i = 0; i < max_family_keys; ++i) change("own." + std::to_string(i), family[i]);
    }

private:
    void visit_fields(decoder_module_names& names) {
        auto& [base, base_under_answers, embed_tokens, layers, norm, rotary, lm_head, token_classifier, attention, q, k,
               v, o, q_norm, k_norm, recurrent, mlp_name, norm_before_attention, norm_after_attention, pre_mlp_norm,
               post_mlp_norm, attention_dropout, mlp_dropout, mlp, router, model_type, causal_lm_type, layer_type,
               recurrent_layer_type, norm_type, embedding_type, attention_type, mlp_type, moe_type, experts_type,
               router_type, rotary_type, mlp_prefix] = names;
        auto& [gate, up, down, act] = mlp;
        change("names.base", base);
        change("names.base_under_answers", base_under_answers);
        change("names.embed_tokens", embed_tokens);
        change("names.layers", layers);
        change("names.norm", norm);
        change("names.rotary", rotary);
        change("names.lm_head", lm_head);
        change("names.token_classifier", token_classifier);
        change("names.attention", attention);
        change("names.q", q);
        change("names.k", k);
        change("names.v", v);
        change("names.o", o);
        change("names.q_norm", q_norm);
        change("names.k_norm", k_norm);
        change("names.recurrent", recurrent);
        change("names.feed_forward", mlp_name);
        change("names.norm_before_attention", norm_before_attention);
        change("names.norm_after_attention", norm_after_attention);
        change("names.norm_before_feed_forward", pre_mlp_norm);
        change("names.norm_after_feed_forward", post_mlp_norm);
        change("names.attention_type", attention_type);
        change("names.mlp_type", mlp_type);
        change("names.experts_type", experts_type);
        change("names.attention_dropout", attention_dropout);
        change("names.feed_forward_dropout", mlp_dropout);
        change("names.mlp.gate", gate);
        change("names.mlp.up", up);
        change("names.mlp.down", down);
        change("names.mlp.act", act);
        change("names.router", router);
        change("names.model_type", model_type);
        change("names.causal_lm_type", causal_lm_type);
        change("names.layer_type", layer_type);
        change("names.recurrent_layer_type", recurrent_layer_type);
        change("names.norm_type", norm_type);
        change("names.embedding_type", embedding_type);
        change("names.moe_type", moe_type);
        change("names.router_type", router_type);
        change("names.rotary_type", rotary_type);
        change("names.mlp_prefix", mlp_prefix);
    }
    void visit_fields(config_key_table& keys) {
        for (key_name& key : keys) {
            if (is_empty(key.family_name)) continue;
            const std::string field = "keys." + std::string(key.family_name);
            change(field, key.family_name);
        }
    }
    void visit_fields(moe_config& moe) {
        auto& [num_experts, num_experts_per_tok, intermediate_size, shared_intermediate_size, n_group, topk_group,
               norm_topk_prob, limits_groups, weighs_balance, float32_correction] = moe;
        (void)float32_correction;  // the type of a buffer: tests/memory/buffers.txt
        change("moe.num_experts", num_experts);
        change("moe.num_experts_per_tok", num_experts_per_tok);
        change("moe.intermediate_size", intermediate_size);
        change("moe.shared_intermediate_size", shared_intermediate_size);
        change("moe.n_group", n_group);
        change("moe.topk_group", topk_group);
        change("moe.norm_topk_prob", norm_topk_prob);
        change("moe.limits_groups", limits_groups);
        change("moe.weighs_balance", weighs_balance);
    }
    void visit_fields(mla_config& mla) {
        auto& [q_lora_rank, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim] = mla;
        change("mla.q_lora_rank", q_lora_rank);
        change("mla.kv_lora_rank", kv_lora_rank);
        change("mla.qk_nope_head_dim", qk_nope_head_dim);
        change("mla.qk_rope_head_dim", qk_rope_head_dim);
        change("mla.v_head_dim", v_head_dim);
    }
    void visit_fields(state_space_config& ssm) {
        auto& [state_size, conv_kernel, intermediate_size, time_step_rank, n_groups, num_heads, head_dim, chunk_size,
               use_bias, use_conv_bias, residual_in_fp32] = ssm;
        change("ssm.state_size", state_size);
        change("ssm.conv_kernel", conv_kernel);
        change("ssm.intermediate_size", intermediate_size);
        change("ssm.time_step_rank", time_step_rank);
        change("ssm.n_groups", n_groups);
        change("ssm.num_heads", num_heads);
        change("ssm.head_dim", head_dim);
        change("ssm.chunk_size", chunk_size);
        change("ssm.use_bias", use_bias);
        change("ssm.use_conv_bias", use_conv_bias);
        change("ssm.residual_in_fp32", residual_in_fp32);
    }
    void visit_fields(gated_delta_net_config& delta) {
        auto& [num_key_heads, num_value_heads, key_head_dim, value_head_dim, conv_kernel] = delta;
        change("delta.num_key_heads", num_key_heads);
        change("delta.num_value_heads", num_value_heads);
        change("delta.key_head_dim", key_head_dim);
        change("delta.value_head_dim", value_head_dim);
        change("delta.conv_kernel", conv_kernel);
    }
    void visit_fields(encoder_config& encoder) {
        auto& [num_hidden_layers, num_attention_heads, intermediate_size] = encoder;
        change("encoder.num_hidden_layers", num_hidden_layers);
        change("encoder.num_attention_heads", num_attention_heads);
        change("encoder.intermediate_size", intermediate_size);
    }
    void visit_fields(vision_config& vision) {
        auto& [image_height, image_width, patch_size, num_channels] = vision;
        change("vision.image_height", image_height);
        change("vision.image_width", image_width);
        change("vision.patch_size", patch_size);
        change("vision.num_channels", num_channels);
    }
    /// The first and the last layer each of another kind; where all are of one kind, all of them.
    void visit_fields(layer_plan& layers, std::int64_t n) {
        if (!layers.is_heterogeneous()) return visit_fields("layers", layers.specs[0]);
        layer_spec first = layers[0], last = layers[n - 1];
        visit_fields("layers.first", first);
        visit_fields("layers.last", last);
        layer_plan changed;
        for (std::int64_t i = 0; i < n; ++i) (void)changed.set(i, i == 0 ? first : i == n - 1 ? last : layers[i]);
        layers = changed;
    }
    void visit_fields(const std::string& field, layer_spec& kind) {
        auto& [mixer, experts, family_tag, inner] = kind;
        change(field + ".mixer", mixer);
        change(field + ".experts", experts);
        if (now()) {
            original_value_ = family_tag;
            family_tag = static_cast<std::uint8_t>(family_tag == 0 ? 1 : 0);
            record_change(field + ".own", "");
        }
        if (now()) {
            original_value_ = inner;
            ++inner;
            record_change(field + ".inner", "");
        }
    }

    [[nodiscard]] bool now() noexcept { return index_++ == target_; }

    void change(std::string_view field, bool& value) {
        if (now()) {
            original_value_ = value;
            value = !value;
            record_change(field, value ? "true" : "false");
        }
    }
    void change(std::string_view field, std::int64_t& value) {
        if (now()) {
            original_value_ = value;
            value = is_doubled_ ? 2 * value : value + 1;
            integer_ = true;
            record_change(field, "");
        }
    }
    void change(std::string_view field, literal& name) {
        static std::deque<std::string> pool;  // names in it outlive every mutation
        if (now()) {
            name = pool.emplace_back(std::string(name) + "x").c_str();
            record_change(field, "");
        }
    }
    template <class E>
    requires std::is_enum_v<E>
    void change(std::string_view field, E& value) {
        constexpr std::size_t n = detail::enumerators<E>();
        static_assert(n > 1);
        const auto original_index = static_cast<std::size_t>(value);
        for (std::size_t step = 1; step < n; ++step)
            if (now()) {
                original_value_ = static_cast<std::int64_t>(original_index);
                value = static_cast<E>((original_index + step) % n);
                record_change(field, detail::name_of_value(value));
            }
    }
    /// Heads that the row has are taken from it, others given.
    void change(head_set& heads) {
        for (std::size_t i = 0; i < detail::enumerators<head_kind>(); ++i) {
            const auto head = static_cast<head_kind>(i);
            if (now()) {
                heads.bits ^= 1U << i;
                record_change(heads.has(head) ? "heads with" : "heads without", detail::name_of_value(head));
            }
        }
    }
    /// A part that is not the usual one gives way to it.
    template <class Part>
    void change(std::string_view field, Part& part, Part usual) {
        if (part != usual && usual != nullptr && now()) {
            original_value_ = 1;
            part = usual;
            record_change(field, "usual");
        }
    }
    void record_change(std::string_view field, std::string_view value) {
        text_ = value.empty() ? std::string(field) : std::string(field) + "=" + std::string(value);
    }

    std::size_t target_;
    std::size_t index_ = 0;
    std::int64_t original_value_ = 0;
    bool is_doubled_;
    bool integer_ = false;
    std::string text_;
};

}  // namespace llmcost::testing
