// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v32.hpp>
#include <llmcost/arch/mistral3.hpp>

namespace llmcost::arch {

namespace mistral_large4_detail {

// the first three are those of DeepSeek V3.2, as its reader of indexers looks for them
enum own : std::uint8_t { index_heads, index_head_dim, index_top_k };
static_assert(std::uint8_t{index_top_k} == std::uint8_t{deepseek_v32_detail::index_top_k});

// what a layer's word says, bit by bit
inline constexpr std::uint8_t shares_picks = deepseek_v32_detail::shares_picks, unturned = 2, reuses = 4, stores = 8;

/// Latents and turned keys that later layers read, of layers with positions and of those without.
struct stored_latents {
    value latent[2];
    value key[2];
};

/// Queries times a learned line over the logarithm of their positions, by head: (B, H, S, d) or (B, S, H, d).
struct softmax_scaling {
    class_name named;
    std::int64_t heads;
    bool heads_first;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value scale = t.param("scale", {heads}), bias = t.param("bias", {heads});
        const value positions = t.constant({1, x.dim(heads_first ? 2 : 1)});
        const value logs = t.to(t.unary(op::log, positions), x.type).unsqueeze(heads_first ? 1 : 2);
        const extents along = heads_first ? extents{1, heads, 1} : extents{1, 1, heads};
        const value line = t.add(t.mul(scale.view(along), logs), bias.view(along));
        return t.mul(x, line.unsqueeze(-1));
    }
};

/// DeepSeek V3.2's indexer over queries of its own, made of hidden states.
struct indexer {
    sparse_indexer base;
    class_name scaling;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return base.type(); }
    constexpr value describe(trace& t, const value& x) const {
        const trace::no_grad_guard picks{t};
        const std::int64_t width = base.of.width, heads = base.heads, d = base.head_dim;
        const value normed = t.call("q_input_norm", norm<norm_kind::layer>{width}, x);
        const value q = t.call("wq_b", linear{width, heads * d}, normed).view({x.dim(0), x.dim(1), heads, d});
        return base.pick(t, x, t.call("softmax_scaling", softmax_scaling{scaling, heads, false}, q));
    }
};

/// Latent attention to picked tokens, with latents of its own or those of an earlier layer; some layers turn nothing.
struct attention {
    site here;
    stored_latents& stored;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::uint8_t word = here.kind.own;
        const bool turns = (word & unturned) == 0;
        const shared_values& s = *here.shared;
        mla_sizes dims = here.dims.mla;
        if (!turns) dims.qk_nope_head_dim += dims.qk_rope_head_dim, dims.qk_rope_head_dim = 0;
        const rotation rotated = turns ? rotation::split_pairs : rotation::none;
        const bool bias = here.dims.attention_bias;
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, rank = dims.kv_lora_rank;
        const latent_attention base{width, heads, dims, bias, "MistralLarge4Text", s.where, s.mask, s.cos, s.sin, rotated};
        const class_name scaling = here.type("TextSoftmaxScaling");
        const std::int64_t rope = dims.qk_rope_head_dim, batch = x.dim(0), sequence = x.dim(1);
        const value all = base.queries(t, x);
        value own = all.slice(-1, rope);
        latent_attention::parts p{.q = {}, .latent = stored.latent[turns], .k_rope = stored.key[turns]};
        if ((word & reuses) == 0) {
            const value both = t.call("kv_a_proj_with_mqa", linear{width, rank + rope, bias}, x);
            const norm<norm_kind::rms> scale{rank, here.type("RMSNorm")};
            p.latent = t.call("kv_a_layernorm", scale, both.slice(-1, rank)).view({batch, 1, sequence, rank});
            p.k_rope = both.slice(-1, rope).view({batch, 1, sequence, rope});
        }
        if (turns) own = rotate(t, rotated, own, s.cos, s.sin);
        if ((word & reuses) == 0) {
            if (turns) p.k_rope = rotate(t, rotated, p.k_rope, s.cos, s.sin);
            p.latent = update_cache(t, p.latent, s.where), p.k_rope = update_cache(t, p.k_rope, s.where);
        }
        if ((word & stores) != 0) stored.latent[turns] = p.latent, stored.key[turns] = p.k_rope;
        p.q = t.cat({all.slice(-1, dims.qk_nope_head_dim), own}, -1);
        p.q = t.call("softmax_scaling", softmax_scaling{scaling, heads, true}, p.q);
        const own_sizes& sizes_of = here.dims.own;
        const sparse_indexer small_heads{sizes_of[index_heads], sizes_of[index_head_dim], sizes_of[index_top_k], rotated, base};
        if ((word & shares_picks) == 0)
            (void)t.call("indexer", indexer{small_heads, scaling}, x);
        else if ((word & reuses) != 0)
            t.cache_nothing();
        return base.joined(t, base.looked_up(t, p, t.where(s.mask)));
    }
};

struct text_layer {
    site here;
    stored_latents& stored;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.row.names.layer_type); }
    constexpr value describe(trace& t, const value& x) const {
        const decoder_names& n = here.row.names;
        const value h = t.call(n.attention, attention{here, stored}, normed(here, t, n.norm_before_attention, x));
        const value middle = t.add(x, h);
        return t.add(middle, here.row.feed(here, t, normed(here, t, n.norm_before_feed_forward, middle)));
    }
};

/// Llama's table of frequencies that are scaled by the exponential of a learned buffer.
struct scaled_table {
    rotary_table of;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return of.named; }
    constexpr two_values describe(trace& t, std::int64_t sequence) const {
        const recorder::no_grad_guard constants{t};
        t.owns_buffer(count(of.dim / 2 * 4));
        (void)t.mul(t.unary(op::exp, trace::buffer({of.dim / 2})));
        return of.describe(t, sequence);
    }
};

constexpr value text_base(const site& here, trace& t) {
    value x = here.row.embed(here, t);
    decoder_context shared = masks(here, t);
    const rotary_table table{here.dims.rotary_dim, here.type(here.row.names.rotary_type), rotary_frequencies{here.dims}};
    const auto tables = t.call("rotary_emb", scaled_table{table}, t.load().sequence);
    shared.full.cos = tables.first, shared.full.sin = tables.second;
    stored_latents stored;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"layers", each.index()}, text_layer{here.at(each, shared.full), stored}, x);
    return normed(here, t, "norm", x);
}

/// Softmax in float32, experts of the best groups, whose weights are normed to one.
constexpr two_values pick(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
    const value logits = t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32));
    const value scores = t.softmax_method(logits);
    const router_sizes sizes_of{here.dims.hidden_size, m.num_experts, m.num_experts_per_tok, m.n_group, m.topk_group};
    any_router{router_kind::softmax_grouped, sizes_of, {}}.pick_groups(t, scores, true);
    {
        const recorder::off_loss_guard indices{t};
        (void)t.top_k(t.where(scores), m.num_experts_per_tok);
    }
    value weights = t.gather(scores, {tokens.dim(0), m.num_experts_per_tok});
    t.in_place(op::div, weights, t.add(t.sum(weights, -1, true)));
    return {logits, t.mul(weights)};
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = x.view({-1, here.dims.hidden_size});
    const value weights = call_own_router(here, t, pick, tokens);
    const value routed = call_experts(here, t, tokens, weights).view({x.dim(0), x.dim(1), here.dims.hidden_size});
    return t.add(routed, call_mlp(here, t, "shared_experts", here.dims.moe.shared_intermediate_size, x));
}
constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

/// Which layer's latents each layer reads: its own, or those of an earlier one that has its own.
class latent_sources {
public:
    constexpr latent_sources(config_view config, const sizes& s)
        : layers_(s.num_hidden_layers), list_(config.optional_array("kv_source_layers")) {
        if (!list_) return;
        if (static_cast<std::int64_t>(list_->size()) != layers_)
            fail_value(config, "kv_source_layers", "a list with one layer per hidden layer");
        for (std::int64_t i = 0; i < layers_; ++i)
            if (const std::int64_t source = of(i); source < 0 || source > i || of(source) != source)
                fail_value(config, "kv_source_layers", "each layer itself, or an earlier one that has its own latents");
    }
    [[nodiscard]] constexpr std::int64_t of(std::int64_t layer) const {
        return list_ ? (*list_)[static_cast<std::size_t>(layer)].as_integer() : layer;
    }
    [[nodiscard]] constexpr bool is_read(std::int64_t layer) const {
        if (list_)
            for (std::int64_t i = layer + 1; i < layers_; ++i)
                if (of(i) == layer) return true;
        return false;
    }

private:
    std::int64_t layers_;
    maybe<config_view> list_;
};

constexpr void read_text(config_view config, sizes& s) {
    read_latent_attention(config, s);
    s.mla.q_lora_rank = 0, s.mlp_bias = false;
    deepseek_v32_detail::check_indexed_layers(config, s);
    const std::int64_t dense = deepseek_v32_detail::read_mixture(config, s, 1);
    if (!deepseek_v32_detail::has_indexer(config, s, 0)) fail_value(config, "indexer_types", "a first layer that is full");
    const auto turned = config.optional_array("no_rope_layers");
    if (turned && static_cast<std::int64_t>(turned->size()) < s.num_hidden_layers)
        fail_value(config, "no_rope_layers", "a list with one number per hidden layer");
    const std::int64_t interval = config.positive("no_rope_layer_interval", 4);
    check_planned(config, s);
    const latent_sources sources(config, s);
    bool stored[2]{};
    plan_layers(config, s, [&](std::int64_t i) {
        const bool turns = turned ? (*turned)[static_cast<std::size_t>(i)].as_integer() != 0 : (i + 1) % interval != 0;
        const bool own = sources.of(i) == i, read = sources.is_read(i);
        if (!own && !stored[turns])
            fail_unsupported(config, "kv_source_layers", "no earlier layer with positions, or without, has stored its latents");
        stored[turns] = stored[turns] || read;
        unsigned word = deepseek_v32_detail::has_indexer(config, s, i) ? 0U : shares_picks;
        if (!turns) word |= unturned;
        if (!own) word |= reuses;
        if (read) word |= stores;
        return layer_kind{.experts = is_sparse(config, s, i, i >= dense), .own = static_cast<std::uint8_t>(word)};
    });
}

inline constexpr architecture text = [](architecture a) {
    a.model_type = "mistral_large4_text", a.prefix = "MistralLarge4", a.base = text_base, a.feed = feed;
    a.read = read_text, a.own = deepseek_v32_detail::glm_keys, a.heads = {}, a.drops = {};
    a.kinds.own = shares_picks | unturned | reuses | stores, a.defaults.head = head_kind::none;
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.mlp_type = "TextMLP", a.names.moe_type = "TextMoE", a.names.experts_type = "TextExperts";
    a.names.router_type = "TextTopkRouter", a.names.rotary_type = "TextRotaryEmbedding";
    a.defaults.vocab_size = 204800, a.defaults.intermediate_size = 24576, a.defaults.num_hidden_layers = 72;
    a.defaults.max_position_embeddings = 1048576;
    a.defaults.mla = {.kv_lora_rank = 512, .qk_nope_head_dim = 64, .qk_rope_head_dim = 64, .v_head_dim = 128};
    a.defaults.moe.num_experts = 128, a.defaults.moe.num_experts_per_tok = 4, a.defaults.moe.intermediate_size = 6144;
    return a;
}(glm_moe_dsa);

inline constexpr architecture tower = [](architecture a) {
    a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 6144, a.defaults.num_hidden_layers = 30;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::silu;
    return a;
}(mistral3_detail::tower);

constexpr void read(config_view config, model& m) {
    mistral3_detail::read_whole(config, m);
    m.dims.logits_soft_cap = true;
}

}  // namespace mistral_large4_detail

// transformers/models/mistral_large4: Pixtral and its merger in front of latents that layers share, read by picked tokens
inline constexpr architecture mistral_large4 = [](architecture a) {
    a.model_type = "mistral_large4", a.prefix = "MistralLarge4", a.read_whole = mistral_large4_detail::read;
    a.text = {.key = "text_config", .otherwise = &mistral_large4_detail::text, .always = true};
    a.beside[0].missing = &mistral_large4_detail::tower, a.defaults.tie_word_embeddings = false;
    return a;
}(mistral3);

}  // namespace llmcost::arch
