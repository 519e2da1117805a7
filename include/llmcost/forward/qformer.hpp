// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/opt_decoder.hpp>
#include <llmcost/forward/t5_stacks.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Q-Former: learned queries that attend to image features (arXiv 2301.12597).
namespace llmcost::qformer {

enum former_config_index : std::uint8_t { crosses_every, reads_text, vocab_size, positions };

inline constexpr family_key former_keys[]{{"cross_attention_frequency", 2},
                                          {"use_qformer_text_input", 0, family_key_type::boolean},
                                          {"vocab_size", 30522},
                                          {"max_position_embeddings", 512}};

/// Multi-head attention of the Q-Former: self-attention, or cross-attention to the vision encoder's states.
struct looking {
    const layer_context& ctx;
    std::int64_t source;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("QFormerMultiHeadAttention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& source_states) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const auto split = [&](literal name, const tensor& states, std::int64_t in) {
            const tensor all = t.call(name, linear{in, width, true}, states);
            return all.view({states.dim(0), states.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const tensor q = split("query", x, width), k = split("key", source_states, source),
                     v = split("value", source_states, source);
        const tensor mixed = attention_forward(t, q, k, v, full_pattern(source_states.dim(1)).pattern, {});
        return t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    }
};

/// Q-Former attention with output projection, residual and norm.
struct former_attention {
    const layer_context& ctx;
    std::int64_t source;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("QFormerAttention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& source_states) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor found = t.call("attention", looking{ctx, source}, x, source_states);
        return t.call("output", bert_layers::output_block{width, width, ctx.class_of("QFormerSelfOutput")}, found, x);
    }
};

struct former_cross_attention : former_attention {
    static constexpr role module_role = role::cross_attn;
};

struct former_intermediate {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("QFormerIntermediate"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("dense", linear{ctx.config.hidden_size, ctx.config.intermediate_size, true}, x);
        return t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h);
    }
};

/// `family_tag` of Q-Former layers with cross-attention.
constexpr std::uint8_t crosses = 1;

/// Sets cross-attention in one of every `cross_attention_frequency` layers.
constexpr void plan_former(config_view json, model_config& config) {
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        set_layer(json, config, i, {.family_tag = i % config.family[crosses_every] == 0 ? crosses : std::uint8_t{0}});
}

/// Q-Former layer: self-attention, cross-attention in tagged layers, and separate MLPs for queries and text.
struct former_layer {
    layer_context ctx;
    std::int64_t queries;
    std::int64_t source;
    const tensor& features;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("QFormerLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor all = t.call("attention", former_attention{ctx, ctx.config.hidden_size}, x, x);
        tensor query_states = t.slice(all, 1, queries);
        if (ctx.layer.family_tag == crosses)
            query_states = t.call("crossattention", former_cross_attention{{ctx, source}}, query_states, features);
        const bool has_text_input = ctx.config.family[reads_text] != 0;
        const std::int64_t length = all.dim(1) - queries;
        if (has_text_input && length == 0) {
            const recorder::not_executed_guard text_not_executed{t};
            (void)feed_forward_chunk(t, "intermediate", "output", query_states);
        }
        query_states = feed_forward_chunk(t, "intermediate_query", "output_query", query_states);
        if (length == 0) return query_states;
        return t.cat({query_states, feed_forward_chunk(t, "intermediate", "output", t.slice(all, 1, length))}, 1);
    }
    constexpr tensor feed_forward_chunk(trace& t, literal up, literal down, const tensor& x) const {
        const bert_layers::mlp_output out{
            {ctx.config.intermediate_size, ctx.config.hidden_size, ctx.class_of("QFormerOutput")}};
        return t.call(down, out, t.call(up, former_intermediate{ctx}, x), x);
    }
};

/// Traces the Q-Former layers over learned queries, followed by optional instruction tokens. Returns the query states.
constexpr tensor forward_qformer_encoder(const layer_context& ctx, trace& t, tensor x, const tensor& features,
                                         std::int64_t queries) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("QFormerEncoder")};
    const std::int64_t source = ctx.model.components[0].config.hidden_size;
    t.enter(encoder);
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()},
                   former_layer{ctx.for_layer(layer_loop, no_inputs), queries, source, features}, x);
    return t.leave(encoder, x);
}

enum family_config_index : std::uint8_t { queries };

constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    const vision_config& image = m.components[0].config.vision;
    return {.image = {.num_tokens = m.family[queries], .height = image.image_height, .width = image.image_width}};
}

/// Instruction tokens of the Q-Former in addition to the image, where the workload gives no number.
inline constexpr std::int64_t instruction = 32;

constexpr tensor query(const layer_context& ctx, trace& t, const tensor& features) {
    const layer_context qformer_ctx = ctx.component(1);
    const family_config& family = qformer_ctx.config.family;
    const std::int64_t n = ctx.model.family[queries], width = qformer_ctx.config.hidden_size,
                       pictures = features.dim(0);
    if (instruction > family[positions])
        throw_description_error("the instruction has more tokens than the model has positions");
    const tensor learned = t.param("query_tokens", {1, n, width}).expand({pictures, n, width});
    const module_info model{.name = "qformer", .class_of_module = qformer_ctx.class_of("QFormerModel")};
    const module_info embeddings{.name = "embeddings",
                                 .class_of_module = qformer_ctx.class_of("QFormerEmbeddings"),
                                 .module_role = role::embedding};
    t.enter(model);
    t.enter(embeddings);
    t.register_integer_buffer(family[positions]);  // `position_ids`
    const tensor token_embeddings =
        t.call("word_embeddings", embedding{family[vocab_size], width}, shape{pictures, instruction});
    const tensor places = t.call("position_embeddings", embedding{family[positions], width}, shape{1, instruction});
    const tensor all = t.cat({learned, t.add(token_embeddings, places)}, 1);
    const tensor first = dropout(t, "dropout", t.call("layernorm", norm_module{norm_kind::layer, width}, all));
    const tensor out = forward_qformer_encoder(qformer_ctx, t, t.leave(embeddings, first), features, n);
    return t.slice(t.leave(model, out), 1, n);
}

}  // namespace llmcost::qformer
