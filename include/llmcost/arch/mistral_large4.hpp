// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/glm_moe_dsa.hpp>
#include <llmcost/arch/mistral3.hpp>
#include <llmcost/forward/merged_patches.hpp>
#include <llmcost/forward/sparse_attention.hpp>

namespace llmcost::arch {

namespace mistral_large4_detail {

// the first three are those of DeepSeek V3.2, as its reader of indexers looks for them
enum family_config_index : std::uint8_t { index_heads, index_head_dim, index_top_k };

static_assert(std::uint8_t{index_top_k} == std::uint8_t{sparse_attention::index_top_k});

// layer flags (`family_tag`)
inline constexpr std::uint8_t shares_picks = sparse_attention::shares_picks, unturned = 2, reuses = 4, stores = 8;

/// Latents and turned keys that later layers read, of layers with positions and of those without.
struct stored_latents {
    tensor latent[2];
    tensor key[2];
};

/// Queries times a learned line over the logarithm of their positions, by head: (B, H, S, d) or (B, S, H, d).
struct softmax_scaling {
    class_name named;
    std::int64_t heads;
    bool heads_first;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor scale = t.param("scale", {heads}), bias = t.param("bias", {heads});
        const tensor positions = t.full({1, x.dim(heads_first ? 2 : 1)});
        const tensor logs = t.to(t.log(positions), x.type).unsqueeze(heads_first ? 1 : 2);
        const shape broadcast_shape = heads_first ? shape{1, heads, 1} : shape{1, 1, heads};
        const tensor line = t.add(t.mul(scale.view(broadcast_shape), logs), bias.view(broadcast_shape));
        return t.mul(x, line.unsqueeze(-1));
    }
};

/// DeepSeek V3.2's indexer over queries of its own, made of hidden states.
struct indexer {
    sparse_indexer base;
    class_name scaling;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return base.type_name(); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const trace::no_grad_guard picks{t};
        const std::int64_t width = base.attention.width, heads = base.heads, d = base.head_dim;
        const tensor normed = t.call("q_input_norm", norm_module{norm_kind::layer, width}, x);
        const tensor q = t.call("wq_b", linear{width, heads * d}, normed).view({x.dim(0), x.dim(1), heads, d});
        return base.route(t, x, t.call("softmax_scaling", softmax_scaling{scaling, heads, false}, q));
    }
};

/// Latent attention to picked tokens, with latents of its own or those of an earlier layer; some layers turn nothing.
struct attention {
    layer_context ctx;
    stored_latents& stored;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::uint8_t family_tag = ctx.layer.family_tag;
        const bool turns = (family_tag & unturned) == 0;
        const attention_inputs& s = *ctx.inputs;
        mla_config mla = ctx.config.mla;
        if (!turns) {
            mla.qk_nope_head_dim += mla.qk_rope_head_dim;
            mla.qk_rope_head_dim = 0;
        }
        const rotary_style rotated = turns ? rotary_style::interleaved_split : rotary_style::none;
        const bool bias = ctx.config.attention_bias;
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                           rank = mla.kv_lora_rank;
        const latent_attention base{width,     heads,  mla,   bias,  "MistralLarge4Text",
                                    s.pattern, s.mask, s.cos, s.sin, rotated};
        const class_name scaling = ctx.class_of("TextSoftmaxScaling");
        const std::int64_t rope = mla.qk_rope_head_dim, batch = x.dim(0), sequence = x.dim(1);
        const tensor all = base.project_queries(t, x);
        tensor q_rope = all.slice(-1, rope);
        latent_attention::projected_states p{.q = {}, .latent = stored.latent[turns], .k_rope = stored.key[turns]};
        if ((family_tag & reuses) == 0) {
            const tensor compressed_kv = t.call("kv_a_proj_with_mqa", linear{width, rank + rope, bias}, x);
            const norm_module scale{norm_kind::rms, rank, ctx.class_of("RMSNorm")};
            p.latent = t.call("kv_a_layernorm", scale, compressed_kv.slice(-1, rank)).view({batch, 1, sequence, rank});
            p.k_rope = compressed_kv.slice(-1, rope).view({batch, 1, sequence, rope});
        }
        if (turns) q_rope = rotate(t, rotated, q_rope, s.cos, s.sin);
        if ((family_tag & reuses) == 0) {
            if (turns) p.k_rope = rotate(t, rotated, p.k_rope, s.cos, s.sin);
            p.latent = update_kv_cache(t, p.latent, s.pattern);
            p.k_rope = update_kv_cache(t, p.k_rope, s.pattern);
        }
        if ((family_tag & stores) != 0) {
            stored.latent[turns] = p.latent;
            stored.key[turns] = p.k_rope;
        }
        p.q = t.cat({all.slice(-1, mla.qk_nope_head_dim), q_rope}, -1);
        p.q = t.call("softmax_scaling", softmax_scaling{scaling, heads, true}, p.q);
        const family_config& sizes_of = ctx.config.family;
        const sparse_indexer small_heads{sizes_of[index_heads], sizes_of[index_head_dim], sizes_of[index_top_k],
                                         rotated, base};
        if ((family_tag & shares_picks) == 0)
            (void)t.call("indexer", indexer{small_heads, scaling}, x);
        else if ((family_tag & reuses) != 0)
            t.add_empty_cache_entry();
        return base.output_projection(t, base.latent_attention_forward(t, p, t.masked_fill(s.mask)));
    }
};

struct text_layer {
    layer_context ctx;
    stored_latents& stored;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(ctx.spec.names.layer_class); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const decoder_module_names& n = ctx.spec.names;
        const tensor h = t.call(n.attention, attention{ctx, stored}, apply_norm(ctx, t, n.pre_attention_norm, x));
        const tensor middle = t.add(x, h);
        return t.add(middle, ctx.spec.mlp(ctx, t, apply_norm(ctx, t, n.pre_mlp_norm, middle)));
    }
};

/// Llama's table of frequencies that are scaled by the exponential of a learned buffer.
struct scaled_table {
    rotary_table base_table;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return base_table.named; }
    constexpr tensor_pair forward(trace& t, std::int64_t sequence) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer(count(base_table.dim / 2 * 4));
        (void)t.mul_scalar(t.exp(trace::buffer({base_table.dim / 2})));
        return base_table.forward(t, sequence);
    }
};

constexpr tensor text_base(const layer_context& ctx, trace& t) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs shared = make_masks(ctx, t);
    const rotary_table table{ctx.config.rotary_dim, ctx.class_of(ctx.spec.names.rotary_class),
                             rotary_frequencies{ctx.config}};
    const auto tables = t.call("rotary_emb", scaled_table{table}, t.load().sequence);
    shared.full.cos = tables.first;
    shared.full.sin = tables.second;
    stored_latents stored;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, text_layer{ctx.for_layer(layer_loop, shared.full), stored}, x);
    return apply_norm(ctx, t, "norm", x);
}

/// Softmax in float32, experts of the best groups, whose weights are normed to one.
constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const tensor weight = t.float32_param("weight", {moe.num_experts, ctx.config.hidden_size});
    const tensor float_tokens = t.to(tokens, dtype::float32);
    const tensor logits = t.linear(float_tokens, t.to(weight, dtype::float32));
    const tensor scores = t.softmax_method(logits);
    const router_config sizes_of{ctx.config.hidden_size, moe.num_experts, moe.num_experts_per_tok, moe.n_group,
                                 moe.topk_group};
    moe_router{router_kind::softmax_grouped, sizes_of, {}}.make_group_mask(t, scores, true);
    {
        const recorder::detach_guard indices{t};
        (void)t.topk(t.masked_fill(scores), moe.num_experts_per_tok);
    }
    tensor weights = t.gather(scores, {tokens.dim(0), moe.num_experts_per_tok});
    t.div_(weights, t.add_scalar(t.sum(weights, -1, true)));
    return {logits, t.mul_scalar(weights)};
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const tensor weights = call_custom_router(ctx, t, route, tokens);
    const tensor routed = call_experts(ctx, t, tokens, weights).view({x.dim(0), x.dim(1), ctx.config.hidden_size});
    return t.add(routed, call_mlp(ctx, t, "shared_experts", ctx.config.moe.shared_intermediate_size, x));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

/// Which layer's latents each layer reads: its own, or those of an earlier one that has its own.
class latent_sources {
public:
    constexpr latent_sources(config_view json, const model_config& config)
        : layers_(config.num_hidden_layers), list_(json.optional_array("kv_source_layers")) {
        if (!list_) return;
        if (static_cast<std::int64_t>(list_->size()) != layers_)
            throw_invalid_value(json, "kv_source_layers", "a list with one layer per hidden layer");
        for (std::int64_t i = 0; i < layers_; ++i)
            if (const std::int64_t source = source_layer(i); source < 0 || source > i || source_layer(source) != source)
                throw_invalid_value(json, "kv_source_layers",
                                    "each layer itself, or an earlier one that has its own latents");
    }
    [[nodiscard]] constexpr std::int64_t source_layer(std::int64_t layer) const {
        return list_ ? (*list_)[static_cast<std::size_t>(layer)].as_integer() : layer;
    }
    [[nodiscard]] constexpr bool is_read(std::int64_t layer) const {
        if (list_)
            for (std::int64_t i = layer + 1; i < layers_; ++i)
                if (source_layer(i) == layer) return true;
        return false;
    }

private:
    std::int64_t layers_;
    maybe<config_view> list_;
};

constexpr void parse_text_config(config_view json, model_config& config) {
    parse_latent_attention(json, config);
    config.mla.q_lora_rank = 0;
    config.mlp_bias = false;
    sparse_attention::check_indexed_layers(json, config);
    const std::int64_t dense = sparse_attention::parse_moe_config(json, config, 1);
    if (!sparse_attention::has_indexer(json, config, 0))
        throw_invalid_value(json, "indexer_types", "a first layer that is full");
    const auto no_rope_layers = json.optional_array("no_rope_layers");
    if (no_rope_layers && static_cast<std::int64_t>(no_rope_layers->size()) < config.num_hidden_layers)
        throw_invalid_value(json, "no_rope_layers", "a list with one number per hidden layer");
    const std::int64_t interval = json.positive("no_rope_layer_interval", 4);
    validate_layers(json, config);
    const latent_sources sources(json, config);
    bool stored[2]{};
    set_layers(json, config, [&](std::int64_t i) {
        const bool turns =
            no_rope_layers ? (*no_rope_layers)[static_cast<std::size_t>(i)].as_integer() != 0 : (i + 1) % interval != 0;
        const bool owns_latents = sources.source_layer(i) == i, read = sources.is_read(i);
        if (!owns_latents && !stored[turns])
            throw_unsupported(json, "kv_source_layers",
                              "a layer reuses latents that no earlier layer of its kind has stored");
        stored[turns] = stored[turns] || read;
        unsigned family_tag = sparse_attention::has_indexer(json, config, i) ? 0U : shares_picks;
        if (!turns) family_tag |= unturned;
        if (!owns_latents) family_tag |= reuses;
        if (read) family_tag |= stores;
        return layer_spec{.has_experts = is_sparse(json, config, i, i >= dense),
                          .family_tag = static_cast<std::uint8_t>(family_tag)};
    });
}

inline constexpr submodel_spec text = [](model_spec spec) {
    spec.model_type = "mistral_large4_text";
    spec.class_prefix = "MistralLarge4";
    spec.base_model = text_base;
    spec.mlp = mlp;
    spec.parse_config = parse_text_config;
    spec.family_keys = sparse_attention::glm_keys;
    spec.supported_heads = {};
    spec.dropout_keys = {};
    spec.supported_layers.max_family_tag = shares_picks | unturned | reuses | stores;
    spec.defaults.head = head_kind::none;
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.mlp_class = "TextMLP";
    spec.names.moe_class = "TextMoE";
    spec.names.experts_class = "TextExperts";
    spec.names.router_class = "TextTopkRouter";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.defaults.vocab_size = 204800;
    spec.defaults.intermediate_size = 24576;
    spec.defaults.num_hidden_layers = 72;
    spec.defaults.max_position_embeddings = 1048576;
    spec.defaults.mla = {.kv_lora_rank = 512, .qk_nope_head_dim = 64, .qk_rope_head_dim = 64, .v_head_dim = 128};
    spec.defaults.moe.num_experts = 128;
    spec.defaults.moe.num_experts_per_tok = 4;
    spec.defaults.moe.intermediate_size = 6144;
    return spec;
}(glm_moe_dsa);

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = 30;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::silu;
    return spec;
}(mistral3_vision_encoder);

constexpr void parse_config(config_view json, model& m) {
    merged_patches::parse_config(json, m);
    m.config.logits_soft_cap = true;
}

}  // namespace mistral_large4_detail

// transformers/models/mistral_large4: Pixtral and its merger before latents that layers share, read by picked
// tokens
inline constexpr model_spec mistral_large4 = [](model_spec spec) {
    spec.model_type = "mistral_large4";
    spec.class_prefix = "MistralLarge4";
    spec.alternative_classes = "";
    spec.published_head = published_head_kind::as_built;
    spec.parse_composite_config = mistral_large4_detail::parse_config;
    spec.text_model = {.key = "text_config", .default_spec = &mistral_large4_detail::text, .ignores_model_type = true};
    spec.components[0].spec_if_absent = &mistral_large4_detail::tower;
    spec.defaults.tie_word_embeddings = false;
    return spec;
}(mistral3);

}  // namespace llmcost::arch
