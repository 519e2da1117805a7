// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/encoder.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace xlnet_detail {

enum family_config_index : std::uint8_t { summary, looks_back, same_length, clamps };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `summary_form`
    {.type = family_key_type::computed},  // `attn_type`
    {"same_length", 0, family_key_type::boolean},
    {.type = family_key_type::computed},  // `clamp_len`
};

/// Sines and cosines of all distances, (distances, batch, width), one for all sequences.
constexpr tensor make_distances(const layer_context& ctx, trace& t) {
    const std::int64_t sequence = t.load().sequence, batch = t.load().batch, half = (ctx.config.hidden_size + 1) / 2;
    const std::int64_t distances = ctx.config.family[looks_back] != 0 ? sequence + 1 : 2 * sequence;
    const tensor exponents = t.div_scalar(t.full({half}));
    const tensor frequencies = t.mul_scalar(t.reciprocal(t.pow(trace::buffer({}), exponents)));
    tensor places = t.full({distances});
    if (ctx.config.family[clamps] != 0) places = t.clamp(places);
    const tensor angles = t.mul(places.unsqueeze(1), frequencies);
    const tensor sin_cos = t.cat({t.sin(angles), t.cos(angles)}, -1).unsqueeze(1);
    return dropout(t, "dropout", sin_cos.expand({distances, batch, 2 * half}));
}

/// What hides later tokens, but not a token from itself: (S, S, 1, 1).
constexpr tensor make_mask(const layer_context& ctx, trace& t) {
    const std::int64_t sequence = t.load().sequence;
    tensor mask = t.full({sequence, sequence});  // ones, cut to a triangle in place
    if (ctx.config.family[same_length] != 0) t.add_(mask, t.masked_fill(mask));
    const dtype type = t.activation_type();
    const tensor hidden = t.full({sequence, sequence}, type), self = t.neg(t.full({sequence, sequence}, type));
    (void)t.add(hidden, self);
    return t.full({sequence, sequence}, type).view({sequence, sequence, 1, 1});
}

/// Scores by distance are shifted, so that each query's begin at its own place (`rel_shift_bnij`).
constexpr tensor shifted(trace& t, const tensor& x) {
    const std::int64_t batch = x.dim(0), heads = x.dim(1), queries = x.dim(2), distances = x.dim(3);
    tensor h = t.slice(t.reshape(x, {batch, heads, distances, queries}), 2, distances - 1);
    h = t.reshape(h, {batch, heads, queries, distances - 1});
    return t.gather(h, {batch, heads, queries, queries});
}

/// Contents and distances meet queries apart; x (S, batch, width).
struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RelativeAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                           d = ctx.config.head_dim;
        const auto weight = [&](literal name) { return t.param(name, {width, heads, d}); };
        const tensor wq = weight("q"), wk = weight("k"), wv = weight("v"), wo = weight("o"), wr = weight("r");
        const tensor at_places = t.param("r_r_bias", {heads, d}), at_contents = t.param("r_w_bias", {heads, d});
        {
            const recorder::not_executed_guard no_segments{t};
            (void)t.param("r_s_bias", {heads, d});
            (void)t.param("seg_embed", {2, heads, d});
        }
        const tensor q = einsum(t, "ibh,hnd->ibnd", x, wq), k = einsum(t, "ibh,hnd->ibnd", x, wk);
        const tensor v = einsum(t, "ibh,hnd->ibnd", x, wv),
                     r = einsum(t, "ibh,hnd->ibnd", t.to(ctx.inputs->family_tensors[0], wr.type), wr);
        tensor mixed;
        {
            const recorder::fused_kernel_guard fused{
                t, fused_attention_kernel(empty_tensor({x.dim(1), heads, x.dim(0), d}), heads,
                                          full_pattern(x.dim(0)).pattern, x.dim(0))};
            const tensor contents = einsum(t, "ibnd,jbnd->bnij", t.add(q, at_contents), k);
            const tensor places = shifted(t, einsum(t, "ibnd,jbnd->bnij", t.add(q, at_places), r));
            tensor scores = t.mul_scalar(t.add_scalar(t.add(contents, places)));  // no segments: a zero
            if (ctx.inputs->mask.rank != 0)
                scores = t.sub(scores, t.mul_scalar(ctx.inputs->mask.permute({2, 3, 0, 1})));
            const tensor features = dropout(t, "dropout", t.softmax(scores), dropout_position::attention);
            mixed = einsum(t, "bnij,jbnd->ibnd", features, v);
        }
        const tensor out = dropout(t, "dropout", einsum(t, "ibnd,hnd->ibh", mixed, wo));
        return t.call("layer_norm", norm_module{norm_kind::layer, width}, t.add(out, x));
    }
};

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const tensor a = t.call("rel_attn", attention{ctx}, x);
    const module_info ff{.name = "ff", .class_of_module = ctx.class_of("FeedForward"), .module_role = role::mlp};
    t.enter(ff);
    tensor h = t.call("layer_1", linear{width, inner, true}, a);
    h = dropout(t, "dropout", t.call("activation_function", activation_module{ctx.config.hidden_act}, h));
    h = dropout(t, "dropout", t.call("layer_2", linear{inner, width, true}, h));
    return t.leave(ff, t.call("layer_norm", norm_module{norm_kind::layer, width}, t.add(h, a)));
}

/// Runs the model in a layout of tokens before sequences.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, width = ctx.config.hidden_size;
    attention_inputs shared;
    {
        const recorder::not_executed_guard unused_mask_embedding{t};
        (void)t.param("mask_emb", {1, 1, width});
    }
    if (ctx.config.family[looks_back] != 0) shared.mask = make_mask(ctx, t);
    tensor x = t.call("word_embedding", embedding{ctx.config.vocab_size, width}, shape{sequence, batch});
    x = dropout(t, "dropout", x);
    shared.family_tensors[0] = make_distances(ctx, t);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, llmcost::decoder_layer{ctx.for_layer(layer_loop, shared)}, x);
    return t.contiguous(dropout(t, "dropout", x).permute({1, 0, 2}));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size;
    const bool chooses = config.head == head_kind::multiple_choice;
    if (config.head == head_kind::token_classification)
        return t.call("classifier", head_linear{{width, config.num_labels, true}}, out.first);
    if (chooses || config.head == head_kind::sequence_classification) {
        const sequence_summary sum{summary_form::unpacked(config.family[summary]), width, config.num_labels,
                                   ctx.class_of("SequenceSummary")};
        const tensor h = t.call("sequence_summary", sum, out.first);
        return t.call("logits_proj", head_linear{{width, chooses ? 1 : config.num_labels, true}}, h);
    }
    const linear lm_head{width, config.vocab_size, true, config.tie_word_embeddings};
    return t.call("lm_loss", head_linear{lm_head}, logits_to_keep(t, out.first));
}
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder(json, config);
    if (json.positive("d_head", config.head_dim) != config.head_dim)
        throw_invalid_value(json, "d_head", "d_model / n_head");
    if (config.hidden_size % 2 != 0) throw_unsupported(json, "d_model", "an odd width is not supported");
    const string_ref kind = json.string("attn_type", "bi");
    config.family[looks_back] = kind == "uni";
    if (kind != "uni" && kind != "bi") throw_invalid_value(json, "attn_type", "\"bi\" or \"uni\"");
    if (json.boolean("bi_data", false)) throw_unsupported(json, "bi_data", "bidirectional data is not supported");
    config.family[clamps] = json.signed_integer("clamp_len", -1) > 0;
    config.family[summary] = parse_sequence_summary(json, {.projects = true, .drops_last = true, .activates = true});
    const summary_form summary_config = summary_form::unpacked(config.family[summary]);
    if (summary_config.projects && summary_config.to_labels)
        throw_invalid_value(json, "summary_proj_to_labels", "false");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout", 0.1},
                                             {dropout_position::attention, "dropout", 0.1}};

}  // namespace xlnet_detail

// transformers/models/xlnet: configuration_xlnet.py, modeling_xlnet.py
inline constexpr model_spec xlnet = [](model_spec spec) {
    spec.model_type = "xlnet";
    spec.class_prefix = "XLNet";
    spec.forward = xlnet_detail::forward;
    spec.parse_config = xlnet_detail::parse_config;
    spec.family_keys = xlnet_detail::family_keys;
    spec.base_model = xlnet_detail::base;
    spec.decoder_layer = xlnet_detail::decoder_layer;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                            head_kind::token_classification, head_kind::multiple_choice};
    spec.names.base_model = "transformer";
    spec.names.causal_lm_class = "LMHeadModel";
    spec.config_keys.add("hidden_size", "d_model", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_head", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layer", key_rule::standard_name_first);
    spec.config_keys.add("vocab_size", "n_token", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "d_inner", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "ff_activation", key_rule::family_name_only);
    spec.defaults.vocab_size = 32000;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = xlnet_detail::dropout_rates;
    return spec;
}(shared_encoder);

}  // namespace llmcost::arch
