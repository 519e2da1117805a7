// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3n.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace gemma4_detail {

// clang-format off
enum own : std::uint8_t {
    shared_layers, full_head_dim, full_key_value_heads, input_rows, input_width, keys_are_values, widens_shared, has_experts
};
// clang-format on
inline constexpr own_key keys[]{
    {"num_kv_shared_layers", 0, own_value::non_negative},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {"vocab_size_per_layer_input", 262144},
    {"hidden_size_per_layer_input", 256, own_value::non_negative},
    {"attention_k_eq_v", 0, own_value::boolean},
    {"use_double_wide_mlp", 0, own_value::boolean},
    {"enable_moe_block", 0, own_value::boolean},
};
/// The unified model has neither inputs of layers nor experts.
inline constexpr own_key unified_keys[]{
    {"num_kv_shared_layers", 0, own_value::non_negative},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {"attention_k_eq_v", 0, own_value::boolean},
    {"use_double_wide_mlp", 0, own_value::boolean},
    {.value = own_value::computed},
};

using gemma3n_detail::kept_keys;
using gemma3n_detail::reuses;
using gemma3n_detail::stores;
using gemma3n_detail::turned;

struct head_sizes {
    std::int64_t dim, groups;
};
constexpr head_sizes heads_of(const sizes& dims, mixer_kind kind) {
    if (kind == mixer_kind::sliding_attention) return {dims.head_dim, dims.num_key_value_heads};
    return {dims.own[full_head_dim], dims.own[full_key_value_heads]};
}

/// Keys and values of this layer, or of the one that it shares them with.
constexpr qkv keys_and_values(const site& here, trace& t, const value& x) {
    const auto [d, groups] = heads_of(here.dims, here.kind.mixer);
    const extents split{x.dim(0), x.dim(1), groups, d};
    const shared_values& s = *here.shared;
    qkv of;
    of.k = project(here, t, "k_proj", groups * d, x).view(split);
    const bool one = here.dims.own[keys_are_values] != 0 && here.kind.mixer != mixer_kind::sliding_attention;
    of.v = one ? of.k : project(here, t, "v_proj", groups * d, x).view(split);
    of.k = turned(t, norm_of(here, t, "k_norm", d, of.k), s.cos, s.sin).transpose(1, 2);
    of.v = gemma3n_detail::norm_without_weight(here, t, "v_norm", of.v).transpose(1, 2);
    remember(here, t, of);
    return of;
}

struct attention {
    site here;
    kept_keys* kept;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = here.dims.num_attention_heads, d = heads_of(here.dims, here.kind.mixer).dim;
        value q = project(here, t, "q_proj", heads * d, x).view({x.dim(0), x.dim(1), heads, d});
        q = turned(t, norm_of(here, t, "q_norm", d, q), here.shared->cos, here.shared->sin).transpose(1, 2);
        if ((here.kind.own & reuses) != 0) t.cache_nothing();
        qkv of = (here.kind.own & reuses) != 0 ? kept->of(here.kind) : keys_and_values(here, t, x);
        if ((here.kind.own & stores) != 0) kept->of(here.kind) = of;
        const shared_values& s = *here.shared;
        const value found = eager_attention(t, q, of.k, of.v, s.where, {.mask = s.mask.rank != 0 ? &s.mask : nullptr});
        return join(here, t, t.contiguous(t.reshape(found, {x.dim(0), x.dim(1), -1})));
    }
};

/// The largest k of a softmax, divided by their sum, times what each expert has learned.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextRouter"); }
    constexpr value describe(trace& t, const value& tokens) const {
        const moe_sizes& m = here.dims.moe;
        const value scale = t.param("scale", {here.dims.hidden_size}),
                    of_experts = t.param("per_expert_scale", {m.num_experts});
        const value h = t.mul(t.mul(gemma3n_detail::norm_without_weight(here, t, "norm", tokens), scale));
        const value scores = t.call("proj", linear{here.dims.hidden_size, m.num_experts}, h);
        value weights = t.top_k(t.softmax(t.to(scores, dtype::float32)), m.num_experts_per_tok);
        t.in_place(op::div, weights, t.sum(weights, -1, true));
        return t.mul(weights, t.gather(of_experts, {tokens.dim(0), m.num_experts_per_tok}));
    }
};

/// Experts over what the feed-forward block was given, beside it.
constexpr value mixed_with_experts(const site& here, trace& t, const value& dense, const value& around) {
    const value first = normed(here, t, "post_feedforward_layernorm_1", dense);
    const value tokens = t.reshape(around, {-1, here.dims.hidden_size});
    const value weights = t.call("router", router{here}, tokens);
    const value routed = call_experts(here, t, normed(here, t, "pre_feedforward_layernorm_2", tokens), weights);
    const value shaped = t.reshape(routed, {around.dim(0), around.dim(1), here.dims.hidden_size});
    return t.add(first, normed(here, t, "post_feedforward_layernorm_2", shaped));
}

struct layer {
    site here;
    const value& inputs;  ///< of all layers
    kept_keys* kept;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextDecoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, narrow = here.dims.own[input_width];
        value h = t.call("self_attn", attention{here, kept}, normed(here, t, "input_layernorm", x));
        const value middle = t.add(x, normed(here, t, "post_attention_layernorm", h));
        h = feed_forward(here, t, normed(here, t, "pre_feedforward_layernorm", middle));
        if (here.dims.own[has_experts] != 0) h = mixed_with_experts(here, t, h, middle);
        value out = t.add(middle, normed(here, t, "post_feedforward_layernorm", h));
        if (narrow != 0) {
            h = t.call("act_fn", activation_module{here.dims.hidden_act},
                       t.call("per_layer_input_gate", linear{width, narrow}, out));
            h = t.call("per_layer_projection", linear{narrow, width}, t.mul(h, t.select(inputs, 2)));
            out = t.add(out, normed(here, t, "post_per_layer_input_norm", h));
        }
        t.in_place(op::mul, out);
        return out;
    }
};

/// Of tokens that see later ones, only sliding layers hide some, and where all tokens fit into the window none.
///
/// Source: transformers/masking_utils.py, `create_bidirectional_sliding_window_mask` and `_ignore_bidirectional_mask_sdpa`.
constexpr decoder_context masks_that_hide(const site& here, trace& t) {
    decoder_context c;
    c.full.where = context_of(t, 0), c.sliding.where = context_of(t, here.dims.sliding_window);
    c.full.where.causal = c.sliding.where.causal = false;
    const bool slides = here.dims.layers.has(mixer_kind::sliding_attention, here.dims.num_hidden_layers);
    const context& read = slides ? c.sliding.where : c.full.where;
    const bool made = slides || here.row.masks != mask_rule::present;
    if (made && read.length() >= here.dims.sliding_window) c.sliding.mask = eager_mask(t, read, t.load().batch);
    return c;
}
constexpr decoder_context make_masks(const site& here, trace& t) {
    return here.dims.looks_ahead ? masks_that_hide(here, t) : masks(here, t);
}
/// A table for each kind of layers that there is, as wide as its heads.
constexpr decoder_context with_tables_of_kinds(const site& here, trace& t, decoder_context c) {
    const auto make = [&](mixer_kind kind, shared_values& into) {
        if (!here.dims.layers.has(kind, here.dims.num_hidden_layers)) return;
        const rotary_table table{heads_of(here.dims, kind).dim, here.type(here.row.names.rotary_type),
                                 rotary_frequencies{here.dims, kind == mixer_kind::sliding_attention}};
        const two_values made = t.call("rotary_emb", table, t.load().sequence);
        into.cos = made.first, into.sin = made.second;
    };
    make(mixer_kind::full_attention, c.full), make(mixer_kind::sliding_attention, c.sliding);
    return c;
}
constexpr decoder_context prepare(const site& here, trace& t) { return with_tables_of_kinds(here, t, make_masks(here, t)); }

/// What layers read whose keys are others': of one token, where no more is asked for.
///
/// Source: `_maybe_slice_kv_shared_inputs`.
constexpr void keep_last_token(trace& t, shared_values& s) {
    s.where.past = s.where.length() - 1, s.where.seen += s.where.sequence - 1, s.where.sequence = 1;
    if (s.mask.rank != 0) s.mask = t.slice(s.mask, 2, 1);
    if (s.cos.rank != 0) s.cos = t.slice(s.cos, 1, 1), s.sin = t.slice(s.sin, 1, 1);
}

/// All layers and the last norm; `inputs` are those of layers, if any.
constexpr value walk(const site& here, trace& t, value x, value inputs, decoder_context shared) {
    const std::int64_t layers = here.dims.num_hidden_layers, first = layers - here.dims.own[shared_layers];
    kept_keys kept;
    const auto call = [&](const site& place, const value& h) {
        return t.call({"layers", place.layer}, layer{place, inputs, &kept}, h);
    };
    x = gemma3n_detail::walk_layers(here, t, shared, x, 0, first, call);
    if (first < layers && t.load().head == logits::last && t.load().sequence > 1) {
        keep_last_token(t, shared.full), keep_last_token(t, shared.sliding);
        x = t.slice(x, 1, 1);
        if (inputs.rank != 0) inputs = t.slice(inputs, 1, 1);
    }
    return normed(here, t, "norm", gemma3n_detail::walk_layers(here, t, shared, x, first, layers, call));
}
constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    value inputs;
    if (here.dims.own[input_width] != 0) {
        inputs = gemma3n_detail::looked_up_inputs(here, t, here.dims.own[input_rows], here.dims.own[input_width]);
        inputs = gemma3n_detail::projected_inputs(here, t, x, inputs, false);
    }
    const decoder_context shared = here.row.prepare(here, t);
    return walk(here, t, x, inputs, shared);
}

// ---- a configuration

/// What `per_layer_config` says of the heads of layers of a kind: all of them must have the same.
constexpr head_sizes overridden(config_view config, config_view layers, const sizes& s, mixer_kind kind) {
    head_sizes found{0, 0};
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) {
        if (s.layers[i].mixer != kind) continue;
        head_sizes own{s.head_dim, s.num_key_value_heads};
        for (const config_view entry : layers) {
            std::int64_t number = 0;
            for (const char c : entry.key()) {
                if (c < '0' || c > '9' || number > largest_input / 10)
                    fail_unsupported(config, "per_layer_config", "its keys are numbers of layers");
                number = number * 10 + (c - '0');
            }
            if (number != i) continue;
            for (const config_view changed : entry.as_object())
                if (changed.key() != "head_dim" && changed.key() != "num_key_value_heads")
                    fail_unsupported(entry, "changes what no row describes by layer");
            own = {entry.positive("head_dim", own.dim), entry.positive("num_key_value_heads", own.groups)};
        }
        if (found.dim != 0 && (found.dim != own.dim || found.groups != own.groups))
            fail_unsupported(config, "per_layer_config", "layers of one kind have heads of different sizes");
        found = own;
    }
    return found.dim != 0 ? found : head_sizes{s.head_dim, s.num_key_value_heads};
}

constexpr void read_heads(config_view config, sizes& s) {
    const auto layers = config.optional_object("per_layer_config");
    head_sizes full{config.positive("global_head_dim", 512), s.num_key_value_heads};
    if (s.own[keys_are_values] != 0) full.groups = config.positive("num_global_key_value_heads", full.groups);
    if (layers) {
        const head_sizes sliding = overridden(config, *layers, s, mixer_kind::sliding_attention);
        full = overridden(config, *layers, s, mixer_kind::full_attention);
        s.head_dim = s.rotary_dim = sliding.dim, s.num_key_value_heads = sliding.groups;
    }
    s.own[full_head_dim] = full.dim, s.own[full_key_value_heads] = full.groups;
    (void)checked_width(config, "global_head_dim", s.num_attention_heads, full.dim);
    if (full.dim % 2 != 0) fail_value(config, "global_head_dim", "an even number");
    for (const std::int64_t groups : {full.groups, s.num_key_value_heads})
        if (s.num_attention_heads % groups != 0)
            fail_value(config, "num_global_key_value_heads", "a divisor of num_attention_heads");
}

/// Every sixth layer is full, and the last one whatever a list says; full ones have heads of their own size.
constexpr void read(config_view config, sizes& s) {
    check_window_is_given(config);
    const literal cap = "final_logit_softcapping";
    s.logits_soft_cap = config.optional_real(cap).has_value();
    if (const auto both = config.optional_string("use_bidirectional_attention")) {
        if (*both != "all" && *both != "vision") fail_value(config, "use_bidirectional_attention", "all, vision or null");
        s.looks_ahead = *both == "all";
        if (s.looks_ahead) s.sliding_window = s.sliding_window / 2 + 1;  // as far ahead as back
    }
    const bool listed = read_layer_types(config, s);
    layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool full = listed ? given[i].mixer == mixer_kind::full_attention : (i + 1) % 6 == 0;
        const bool last = i == s.num_hidden_layers - 1;
        return layer_kind{full || last ? mixer_kind::full_attention : mixer_kind::sliding_attention};
    });
    const auto turn = [&](mixer_kind kind, literal key) {
        if (s.layers.has(kind, s.num_hidden_layers) && !rotates_layers(config, key, true))
            fail_value(config, "rope_parameters", "parameters for each kind of layers");
    };
    turn(mixer_kind::full_attention, "full_attention"), turn(mixer_kind::sliding_attention, "sliding_attention");
    read_heads(config, s);
    const gemma3n_detail::sharing shares(config, s, s.own[shared_layers]);
    given = s.layers;
    const std::int64_t wide = checked_width(config, "intermediate_size", 2, s.intermediate_size);
    plan_layers(config, s, [&](std::int64_t i) {
        const std::uint8_t word = shares.word_of(i);
        const bool wider = s.own[widens_shared] != 0 && word == reuses;
        return layer_kind{.mixer = given[i].mixer, .own = word, .inner = wider ? static_cast<std::int32_t>(wide) : 0};
    });
}

constexpr void read_text(config_view config, sizes& s) {
    read(config, s);
    if (s.own[shared_layers] > 0 && s.own[input_width] == 0)
        fail_value(config, "hidden_size_per_layer_input", "at least 1, where layers share keys");
    (void)checked_width(config, "hidden_size_per_layer_input", s.num_hidden_layers, s.own[input_width]);
    if (s.own[has_experts] == 0) return;
    s.moe.num_experts = config.positive("num_experts");
    s.moe.num_experts_per_tok = config.positive("top_k_experts");
    s.moe.intermediate_size = config.positive("moe_intermediate_size");
    if (s.moe.num_experts_per_tok > s.moe.num_experts) fail_value(config, "top_k_experts", "at most the number of experts");
}

}  // namespace gemma4_detail

// transformers/models/gemma4: heads of two sizes, late layers that read others' keys, inputs for each layer, experts beside
// the feed-forward block
inline constexpr architecture gemma4_text = [](architecture a) {
    a.heads = language_heads;
    a.rotary_per_mixer = true;
    a.model_type = "gemma4_text", a.prefix = "Gemma4", a.read = gemma4_detail::read_text, a.own = gemma4_detail::keys;
    a.base = gemma4_detail::base, a.prepare = gemma4_detail::prepare, a.embed = embed_words_scaling_by_buffer;
    a.norm = norm_kind::rms_power, a.masks = mask_rule::full_and_sliding;
    a.kinds.own = gemma3n_detail::reuses;
    a.names.model_type = "TextModel", a.names.mlp_type = "TextMLP", a.names.rotary_type = "TextRotaryEmbedding";
    a.names.embedding_type = "TextScaledWordEmbedding", a.names.experts_type = "TextExperts";
    a.keys[0] = no_mlp_bias, a.keys[1] = {"hidden_act", "hidden_activation", key_rule::written_only};
    a.defaults.vocab_size = 262144, a.defaults.hidden_size = 2304, a.defaults.intermediate_size = 9216;
    a.defaults.num_hidden_layers = 30, a.defaults.num_attention_heads = 8, a.defaults.num_key_value_heads = 4;
    a.defaults.head_dim = 256, a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 512;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_decoder);

// transformers/models/gemma4_unified: neither inputs for layers nor experts
inline constexpr architecture gemma4_unified_text = [](architecture a) {
    a.model_type = "gemma4_unified_text", a.prefix = "Gemma4Unified", a.read = gemma4_detail::read;
    a.own = gemma4_detail::unified_keys;
    a.defaults.max_position_embeddings = 262144, a.defaults.sliding_window = 1024;
    return a;
}(gemma4_text);

}  // namespace llmcost::arch
