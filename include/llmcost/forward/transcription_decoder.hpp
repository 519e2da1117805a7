// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/fast_conformer.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Decoders that transcribe the states of an audio encoder.
namespace llmcost::transcription_decoder {

/// Cross-attention to the encoder's states. After the first pass, the KV cache provides its keys and values.
struct cross_attention_to_sound {
    const layer_context& ctx;

    static constexpr role module_role = role::cross_attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("CrossAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor& source = ctx.inputs->family_tensors[0];
        const tensor& hidden = ctx.inputs->family_tensors[1];
        const std::int64_t d = ctx.config.head_dim, width = ctx.config.hidden_size, kv = ctx.config.num_key_value_heads;
        const std::int64_t heads = ctx.config.num_attention_heads;
        const auto split = [&](literal name, const tensor& states, std::int64_t n) {
            const tensor all = t.call(name, linear{width, n * d, ctx.config.attention_bias}, states);
            return all.view({states.dim(0), states.dim(1), n, d}).transpose(1, 2);
        };
        const tensor q = split("q_proj", x, heads);
        const bool from_cache = is_encoder_cached(t.load());
        tensor k, v;
        {
            const recorder::not_executed_guard unused{t, from_cache};
            k = split("k_proj", source, kv);
            v = split("v_proj", source, kv);
        }
        const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
        if (from_cache) {
            k = v = trace::buffer({x.dim(0), kv, source.dim(1), d});
            t.add_to_cache(k);
            t.add_to_cache(v);
        } else {
            k = update_kv_cache(t, k, cross_pattern);
            v = update_kv_cache(t, v, cross_pattern);
        }
        const tensor mixed =
            attention_forward(t, q, k, v, cross_pattern, {.mask = hidden.rank > 0 ? &hidden : nullptr});
        return output_projection(ctx, t, t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    }
};

struct decoder_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("DecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed{norm_kind::layer, ctx.config.hidden_size};
        tensor h = t.add(x, t.call("self_attn", attention_module{ctx}, t.call("input_layernorm", normed, x)));
        const tensor cross_attention_input = t.call("post_attention_layernorm", normed, h);
        h = t.add(h, t.call("encoder_attn", cross_attention_to_sound{ctx}, cross_attention_input));
        const mlp_module block{mlp_kind::plain,
                               ctx.config.hidden_size,
                               ctx.config.intermediate_size,
                               ctx.config.hidden_act,
                               ctx.class_of("DecoderMLP"),
                               true,
                               {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(h, t.call("mlp", block, t.call("final_layernorm", normed, h)));
    }
};

/// Traces the decoder. If `projects` is set, it projects the encoder's states in every pass.
constexpr tensor decode(const layer_context& ctx, trace& t, tensor states, bool projects, forward_function places) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size;
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of("Decoder"), .module_role = role::decoder};
    t.check_positions(ctx.config.max_position_embeddings, load.past + load.sequence);
    t.enter(decoder);
    if (projects) states = t.call("proj", linear{states.dim(-1), width, true}, states);
    const tensor token_embeddings =
        t.call("embed_tokens", embedding{ctx.config.vocab_size, width}, shape{load.batch, load.sequence});
    tensor x = t.add(token_embeddings, places(ctx, t));
    x = t.call("embedding_layernorm", norm_module{norm_kind::layer, width}, x);
    attention_inputs inputs;
    inputs.pattern = attention_pattern_of(t, 0);
    inputs.mask = eager_mask(t, inputs.pattern, load.batch);
    inputs.family_tensors[0] = states;
    if (fast_conformer::hides_last(ctx.model.components[0].config, ctx.model.audio_preprocessing, load)) {
        const attention_pattern cross_pattern{
            .query_length = load.sequence, .cached_length = states.dim(1) - load.sequence, .is_causal = false};
        inputs.family_tensors[1] = eager_mask(t, cross_pattern, load.batch);
    }
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, decoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
    return t.leave(decoder, t.call("norm", norm_module{norm_kind::layer, width}, x));
}

constexpr tensor forward_encoder_and_decoder(const layer_context& ctx, trace& t, bool projects,
                                             forward_function places) {
    const workload& load = t.load();
    const model_config& audio = ctx.model.components[0].config;
    tensor states;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        states = forward_encoder_component(ctx, t, 0, "encoder", role::encoder);
    }
    if (is_encoder_cached(load))
        states = t.input(
            {load.batch, fast_conformer::states_of(audio, ctx.model.audio_preprocessing, load), audio.hidden_size});
    return decode(ctx, t, states, projects, places);
}

}  // namespace llmcost::transcription_decoder
