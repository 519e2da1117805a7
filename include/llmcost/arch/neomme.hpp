// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace neomme_detail {

inline constexpr std::int64_t max_windows = 8;

enum family_config_index : std::uint8_t { rank, patch_size, full_rotary_dim, sliding_rotary_dim, windows };

inline constexpr family_key family_keys[]{
    {"embedding_rank", 256},
    {"patch_size", 32},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    // from here on, the windows that layers have
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

/// Layer flags: whether value embeddings are added per token, and the window index, counted from 1.
inline constexpr std::uint8_t adds_values = 1, window_step = 2;

constexpr std::int64_t window_of(const model_config& config, const layer_spec& kind) {
    const std::size_t number = kind.family_tag / window_step;
    return number == 0 ? 0 : config.family[windows + number - 1];
}

/// Rows and columns as positions, which alternate: (batch, sequence, dim) twice; of a text both are its places.
struct table_of_rows_and_columns {
    layer_context ctx;
    std::int64_t dim;
    bool slides;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RotaryEmbedding"); }
    constexpr tensor_pair forward(trace& t, std::int64_t sequence) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer({2, dim / 2}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        rotary_frequencies{ctx.config, slides}.update(t, dim);
        const std::int64_t batch = t.load().batch;
        const tensor angles = t.mul(t.full({2, batch, sequence, 1}), trace::buffer({dim / 2}));
        const auto table = [&](const tensor& x) {
            const tensor half =
                empty_tensor({batch, sequence, dim / 4, 1}, x.type);  // every second frequency of an axis
            const tensor doubled = t.cat({half, half}, -1).view({batch, sequence, dim / 2});
            return t.to(t.cat({doubled, doubled}, -1), t.activation_type());
        };
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        return {table(cos), table(sin)};
    }
};

/// What a head found, less its part along the head's own value.
struct exclusive_attention {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ExclusiveSelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& found, const tensor& values) const {
        const tensor alpha = t.param("alpha", {ctx.config.num_attention_heads});
        const std::int64_t groups = ctx.config.num_attention_heads / ctx.config.num_key_value_heads;
        const tensor value_states = t.to(repeat_kv(t, values, groups).transpose(1, 2), dtype::float32);
        const tensor length = t.clamp_min(t.vector_norm(value_states, -1, true));  // at least the smallest difference
        const tensor unit = t.to(t.div(value_states, length.expand({value_states.dim(0), value_states.dim(1),
                                                                    value_states.dim(2), value_states.dim(3)})),
                                 found.type);
        const tensor projection = t.sum(t.mul(found, unit), -1, true);
        const tensor scale = t.tanh(alpha).view({1, 1, ctx.config.num_attention_heads, 1});
        return t.sub(found, t.mul(t.mul(scale, projection), unit));
    }
};

struct gated_projection {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SigmoidGatedProjection"); }
    constexpr tensor forward(trace& t, const tensor& found, const tensor& x) const {
        const tensor gate = t.sigmoid(t.call("gate_proj", linear{x.dim(-1), found.dim(-1)}, x));
        return output_projection(ctx, t, t.mul(found, gate));
    }
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const attention_inputs& s = *ctx.inputs;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    qkv.query = norm_without_weight(ctx, t, "q_norm", qkv.query);
    qkv.key = norm_without_weight(ctx, t, "k_norm", qkv.key);
    for (tensor* const operand : {&qkv.query, &qkv.key})
        *operand = rotate_partial(t, rotary_style::rotate_half, *operand, s.cos.dim(-1), s.cos, s.sin, true);
    if ((ctx.layer.family_tag & adds_values) != 0) {
        const shape split{x.dim(0), x.dim(1), ctx.config.num_key_value_heads, ctx.config.head_dim};
        qkv.value = t.add(qkv.value, s.family_tensors[1].view(split).transpose(1, 2));
    }
    const tensor* const mask = s.mask.rank != 0 ? &s.mask : nullptr;
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, s.pattern, {.mask = mask});
    const tensor found = t.call("exclusive_self_attention", exclusive_attention{ctx}, mixed, qkv.value);
    const tensor flat = t.reshape(found, {x.dim(0), x.dim(1), -1});
    return t.call("output_projection", gated_projection{ctx}, flat, x);
}

/// The states and those before all layers, mixed; norms before blocks, whose outputs are scaled.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor lambdas = t.param("lambdas", {2});
    const tensor weighted = t.mul(t.select(lambdas, 0), x);
    const tensor mixed = t.add(weighted, t.mul(t.select(lambdas, 0), ctx.inputs->family_tensors[0]));
    const tensor h = attention_token_mixer(ctx, t, norm_without_weight(ctx, t, "input_layernorm", mixed));
    const tensor middle = t.add(x, t.mul_scalar(h));
    return t.add(middle,
                 t.mul_scalar(ctx.spec.mlp(ctx, t, norm_without_weight(ctx, t, "post_attention_layernorm", middle))));
}

struct factorized_embeddings {
    layer_context ctx;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Embeddings"); }
    constexpr tensor forward(trace& t) const {
        const std::int64_t embedding_rank = ctx.config.family[rank];
        const shape ids{t.load().batch, t.load().sequence};
        const tensor token_embeddings =
            t.call("word_embeddings", embedding{ctx.config.vocab_size, embedding_rank}, ids);
        return t.call("embedding_projection", linear{embedding_rank, ctx.config.hidden_size}, token_embeddings);
    }
};

constexpr void declare_patches(const layer_context& ctx, trace& t) {
    not_executed_modules m{t};
    const std::int64_t side = ctx.config.family[patch_size], in = 3 * side * side, width = ctx.config.hidden_size;
    m.module({"patch_embeddings"}, ctx.class_of("PatchEmbeddings"), [&] {
        m.layer_norm({"norm"}, in);
        m.linear({"up_proj"}, in, 2 * width, false);
        m.module_without_parameters({"act_fn"}, {"", "GELU"});
        m.linear({"down_proj"}, 2 * width, width);
    });
}

/// Masks are made for each layer by itself, and only where a text is as long as its window.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const std::int64_t sequence = t.load().sequence;
    const tensor token_embeddings = t.call("embed_tokens", factorized_embeddings{ctx});
    declare_patches(ctx, t);
    tensor x = norm_without_weight(ctx, t, "embedding_norm", token_embeddings);
    attention_inputs inputs;
    inputs.pattern = full_pattern(sequence).pattern;
    inputs.family_tensors[0] = x;
    tensor masks[max_windows + 1];
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        const std::int64_t window = window_of(config, config.layers[i]);
        if (window != 0) t.add_region_edge(workload_axis::sequence, window);
        if (window != 0 && sequence >= window)
            masks[config.layers[i].family_tag / window_step] = eager_mask(t, inputs.pattern, t.load().batch);
    }
    tensor_pair tables[2];
    const auto make = [&](token_mixer_kind kind, bool slides) {
        if (!config.layers.contains(kind, config.num_hidden_layers)) return;
        const std::int64_t dim = config.family[slides ? sliding_rotary_dim : full_rotary_dim];
        tables[slides ? 1 : 0] = t.call("rotary_emb", table_of_rows_and_columns{ctx, dim, slides}, sequence);
    };
    make(token_mixer_kind::full_attention, false);
    make(token_mixer_kind::sliding_attention, true);
    const embedding values{config.vocab_size, config.num_key_value_heads * config.head_dim};
    inputs.family_tensors[1] = t.call("value_embeddings", values, shape{t.load().batch, sequence});
    const auto call = [&](const layer_spec& kind, std::int64_t number, const tensor& h) {
        const tensor_pair& table = tables[kind.token_mixer == token_mixer_kind::sliding_attention ? 1 : 0];
        inputs.mask = masks[kind.family_tag / window_step];
        inputs.cos = table.first;
        inputs.sin = table.second;
        return t.call({"layers", number}, llmcost::decoder_layer{{ctx.model, ctx.spec, config, &inputs, kind, number}},
                      h);
    };
    // all layers mix in the first layer's states, which are saved once
    x = call(config.layers[0], 0, x);
    layer_plan rest;
    for (std::int64_t i = 1; i < config.num_hidden_layers; ++i) (void)rest.set(i - 1, config.layers[i]);
    for (loop layer_loop = t.loop_modules(config.num_hidden_layers - 1, rest, x); layer_loop.next();)
        x = call(layer_loop.layer(), layer_loop.index() + 1, x);
    return norm_without_weight(ctx, t, "final_norm", x);
}

/// Words by the two matrices that embed them, the first one the other way round.
constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const std::int64_t embedding_rank = ctx.config.family[rank], width = ctx.config.hidden_size;
    const bool tied = ctx.config.tie_word_embeddings;
    const module_info projection{.name = "unembedding_projection", .class_of_module = {"", "Linear"}, .is_leaf = true};
    t.enter(projection);
    const tensor weight = tied ? t.tied("weight", {width, embedding_rank}) : t.param("weight", {width, embedding_rank});
    t.leave(projection);
    const tensor h = t.matmul_operator(logits_to_keep(t, out.first), weight);
    return t.call("lm_head", head_linear{{embedding_rank, ctx.config.vocab_size, false, tied}}, h);
}

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

// ---- a configuration

/// Returns the window of a layer, 0 for none. Without a list, sliding layers alternate between short and long windows.
constexpr std::int64_t parse_window(config_view json, const model_config& config, std::int64_t layer, bool slides,
                                    std::int64_t num_previous_sliding) {
    const std::int64_t usual = config.sliding_window;
    const auto layers = json.optional_object("per_layer_config");
    if (!layers) return !slides ? 0 : num_previous_sliding % 2 != 0 ? 1024 : usual;
    std::int64_t window = usual;
    for (const config_view entry : *layers) {
        std::int64_t number = 0;
        for (const char c : entry.key()) {
            if (c < '0' || c > '9' || number > max_input / 10)
                throw_unsupported(json, "per_layer_config", "unsupported key; expected a layer index");
            number = number * 10 + (c - '0');
        }
        if (number != layer) continue;
        for (const config_view changed : entry.as_object()) {
            if (changed.key() != "sliding_window")
                throw_unsupported(entry, "only sliding_window can be changed per layer");
            window = changed.is_null() ? 0 : changed.as_positive();
        }
    }
    return window;
}

constexpr std::int64_t parse_rotary_dim(config_view json, const model_config& config, literal kind,
                                        double default_value) {
    const auto all = json.optional_object("rope_parameters");
    if (all && !all->contains(kind))
        return static_cast<std::int64_t>(static_cast<double>(config.head_dim) * default_value);
    const auto kind_json = all ? all->optional_object(kind) : all;
    const double part = kind_json ? detail::rotated_part_in(*kind_json, default_value) : default_value;
    return static_cast<std::int64_t>(static_cast<double>(config.head_dim) * part);
}

constexpr void parse_config(config_view json, model_config& config) {
    if (config.hidden_act != activation::relu2) throw_invalid_value(json, "hidden_act", "\"relu2\"");
    (void)checked_size(json, "patch_size", 3 * config.family[patch_size], config.family[patch_size]);
    const std::int64_t layers = config.num_hidden_layers;
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const auto is_full = [&](std::int64_t i) {
        return listed ? listed_layers[i].token_mixer == token_mixer_kind::full_attention
                      : (i + 1) % 6 == 0 || i == layers - 1;
    };
    validate_layers(json, config);
    std::int64_t first = layers, last = -1;
    for (std::int64_t i = 0; i < layers; ++i)
        if (is_full(i)) {
            first = first < i ? first : i;
            last = i;
        }
    if (last < 0) throw_invalid_value(json, "layer_types", "at least one full_attention layer");
    std::int64_t slid = 0, known = 0, longest = 0;
    set_layers(json, config, [&](std::int64_t i) {
        const bool slides = !is_full(i);
        const std::int64_t window = parse_window(json, config, i, slides, slid);
        slid += slides ? 1 : 0;
        longest = longest > window ? longest : window;
        if (slides && window == 0) throw_invalid_value(json, "sliding_window", "a number of tokens, as layers slide");
        std::int64_t number = 0;
        while (window != 0 && number < known && config.family[windows + static_cast<std::size_t>(number)] != window)
            ++number;
        if (number == max_windows)
            throw_unsupported(json, "per_layer_config", "unsupported number of distinct windows");
        if (window != 0 && number == known) config.family[windows + static_cast<std::size_t>(known++)] = window;
        const std::int64_t family_tag =
            (window != 0 ? (number + 1) * window_step : 0) + (i == first || i == last ? adds_values : 0);
        return layer_spec{
            .token_mixer = slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention,
            .family_tag = static_cast<std::uint8_t>(family_tag)};
    });
    config.sliding_window = longest;
    config.rope_scaling = detail::parse_frequency_rule(json, "full_attention");
    config.sliding_rope_scaling = detail::parse_frequency_rule(json, "sliding_attention");
    config.family[full_rotary_dim] = parse_rotary_dim(json, config, "full_attention", 0.25);
    config.family[sliding_rotary_dim] = slid > 0 ? parse_rotary_dim(json, config, "sliding_attention", 1.0) : 4;
    for (const std::int64_t dim : {config.family[full_rotary_dim], config.family[sliding_rotary_dim]})
        if (dim < 4 || dim % 4 != 0)
            throw_unsupported(json, "head_dim", "unsupported head size; expected a multiple of 4 rotated elements");
}

}  // namespace neomme_detail

// transformers/models/neomme: an encoder whose layers mix in what went into the first one, and look past their own
// values
inline constexpr model_spec neomme = [](model_spec spec) {
    spec.model_type = "neomme";
    spec.class_prefix = "NeoMME";
    spec.forward = neomme_detail::forward;
    spec.base_model = neomme_detail::base;
    spec.parse_config = neomme_detail::parse_config;
    spec.family_keys = neomme_detail::family_keys;
    spec.decoder_layer = neomme_detail::decoder_layer;
    spec.attention = neomme_detail::attention;
    spec.dense_mlp = mlp_kind::plain;
    spec.rotary = rotary_style::none;
    spec.supported_layers.max_family_tag =
        neomme_detail::max_windows * neomme_detail::window_step + neomme_detail::adds_values;
    spec.has_float32_masked_lm_loss = true;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm};
    spec.names.layer_class = "EncoderLayer";
    spec.names.mlp_modules = {.up = "up_proj", .down = "down_proj", .act = "act_fn"};
    spec.defaults = model_config{.vocab_size = 131072,
                                 .hidden_size = 1024,
                                 .intermediate_size = 3584,
                                 .num_hidden_layers = 17,
                                 .num_attention_heads = 16,
                                 .num_key_value_heads = 4,
                                 .head_dim = 64,
                                 .max_position_embeddings = 16384,
                                 .sliding_window = 256,
                                 .hidden_act = activation::relu2,
                                 .head = head_kind::masked_lm,
                                 .tie_word_embeddings = true};
    return spec;
}(llama);

}  // namespace llmcost::arch
