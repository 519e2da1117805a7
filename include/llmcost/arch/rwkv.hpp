// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

namespace llmcost::arch {

namespace rwkv_detail {

/// Layer flags: the first layer, after an extra norm; layers whose output is halved.
inline constexpr std::uint8_t first = 1, halves = 2;

/// The token before each: (B, S, width), or the state (B, width) where there is one token.
///
/// The state has no dimension for tokens and broadcasts over those of a batch: one token of each of B sequences goes on
/// as B tokens of each (modeling_rwkv.py, `extract_key_value`).
constexpr tensor shifted(trace& t, const tensor& x) {
    const module_info shift{.name = "time_shift", .class_of_module = {"", "ZeroPad2d"}, .is_leaf = true};
    t.enter(shift);
    if (t.is_training() || x.dim(1) > 1)
        return t.leave(shift, t.pad(x, 1, 0));  // a zero in front, the last one cut off
    t.leave(shift);
    tensor state = trace::buffer({t.load().batch, x.dim(2)});
    state.type = x.type;
    return state;
}
/// Interpolates between x and the previous token with a learned share.
constexpr tensor mixed(trace& t, const tensor& x, const tensor& previous, const tensor& share) {
    tensor one = trace::buffer({});
    one.type = share.type;
    const tensor weighted = t.mul(x, share);
    return t.add(weighted, t.mul(previous, t.sub(one, share)));
}

/// What a channel remembers: a weighted sum of values, that of the weights, the largest exponent.
struct memory {
    tensor sum, weights, largest;

    constexpr void forget_storages() noexcept {
        sum.storage_id = weights.storage_id = largest.storage_id = tensor::no_storage_id;
    }
};

/// One token after the other, as the reference does without its kernel (`rwkv_linear_attention_cpu`): (B, S, width).
constexpr tensor rwkv_linear_attention(trace& t, const tensor& decay, const tensor& bonus, const tensor& key,
                                       const tensor& v) {
    const shape sizes{key.dim(0), key.dim(2)};
    const std::int64_t sequence = key.dim(1);
    tensor out = t.full({key.dim(0), sequence, key.dim(2)}, key.type);
    memory state{trace::buffer(sizes), trace::buffer(sizes), trace::buffer(sizes)};
    if (t.is_training()) {
        state = {t.full(sizes), t.full(sizes), {}};
        const tensor zeros = t.full(sizes);
        state.largest = t.sub_scalar(zeros);
    }
    const auto step = [&](const memory& previous, bool read) {
        const tensor k = t.to(t.select(key, 1), dtype::float32), now = t.select(v, 1);
        const tensor maximum = t.maximum(previous.largest, t.add(k, bonus));
        const tensor old = t.exp(t.sub(previous.largest, maximum)), fresh = t.exp(t.sub(t.add(k, bonus), maximum));
        const tensor old_sum = t.mul(old, previous.sum);
        const tensor above = t.add(old_sum, t.mul(fresh, now));
        const tensor below = t.add(t.mul(old, previous.weights), fresh);
        t.copy_into_slice(out, t.to(t.div(above, below), out.type));
        const recorder::detach_guard unread{t, !read};
        const tensor next = t.maximum(t.add(previous.largest, decay), k);
        const tensor carry_scale = t.exp(t.sub(t.add(previous.largest, decay), next)), added = t.exp(t.sub(k, next));
        const tensor carried_sum = t.mul(carry_scale, previous.sum);
        const tensor sum = t.add(carried_sum, t.mul(added, now));
        memory updated{sum, t.add(t.mul(carry_scale, previous.weights), added), next};
        if (read)
            for (const tensor& x : {updated.sum, updated.weights, updated.largest}) t.save_for_backward(x);
        updated.forget_storages();  // the next reader saves them
        return updated;
    };
    // the first states ask for no gradient, the others do; nothing reads the last ones
    state = step(state, sequence > 1);
    tensor none = trace::buffer({});
    for (loop other_loop = t.loop_time_steps(sequence - 2, none); other_loop.next();) (void)step(state, true);
    if (sequence > 1) (void)step(state, false);
    return out;
}

constexpr tensor time_mixing(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info attention{
        .name = "attention", .class_of_module = ctx.class_of("SelfAttention"), .module_role = role::mixer};
    t.enter(attention);
    tensor decay;
    {
        const recorder::detach_guard unread{t, x.dim(1) == 1};  // no state decays
        decay = t.neg(t.exp(t.param("time_decay", {width})));
    }
    const tensor bonus = t.param("time_first", {width});
    const tensor key_share = t.param("time_mix_key", {1, 1, width}),
                 value_share = t.param("time_mix_value", {1, 1, width});
    const tensor receptance_share = t.param("time_mix_receptance", {1, 1, width});
    const tensor previous = shifted(t, x);
    tensor key = mixed(t, x, previous, key_share), v = mixed(t, x, previous, value_share);
    tensor receptance = mixed(t, x, previous, receptance_share);
    key = t.call("key", linear{width, width}, key);
    v = t.call("value", linear{width, width}, v);
    receptance = t.sigmoid(t.call("receptance", linear{width, width}, receptance));
    const tensor found = rwkv_linear_attention(t, decay, bonus, key, v);
    return t.leave(attention, t.call("output", linear{width, width}, t.mul(receptance, found)));
}

constexpr tensor channel_mixing(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner_width = ctx.config.intermediate_size;
    const module_info block{
        .name = "feed_forward", .class_of_module = ctx.class_of("FeedForward"), .module_role = role::mlp};
    t.enter(block);
    const tensor key_share = t.param("time_mix_key", {1, 1, width});
    const tensor receptance_share = t.param("time_mix_receptance", {1, 1, width});
    const tensor previous = shifted(t, x);
    const tensor key = mixed(t, x, previous, key_share), receptance = mixed(t, x, previous, receptance_share);
    const tensor h =
        t.pow(t.unary(torch_function::relu_function, op::relu, t.call("key", linear{width, inner_width}, key)), 2);
    const tensor v = t.call("value", linear{inner_width, width}, h);
    return t.leave(block, t.mul(t.sigmoid(t.call("receptance", linear{width, width}, receptance)), v));
}

struct block {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Block"); }
    constexpr tensor forward(trace& t, tensor x) const {
        const norm_module normed{norm_kind::layer, ctx.config.hidden_size};
        if ((ctx.layer.family_tag & first) != 0) x = t.call("pre_ln", normed, x);
        x = t.add(x, time_mixing(ctx, t, t.call("ln1", normed, x)));
        return t.add(x, channel_mixing(ctx, t, t.call("ln2", normed, x)));
    }
};

/// States of all layers in one: the token before each block, and what its channels remember.
constexpr void cache_states(const layer_context& ctx, trace& t) {
    if (t.is_training()) return;
    const shape sizes{t.load().batch, ctx.config.hidden_size, ctx.config.num_hidden_layers};
    const bool starts = t.load().past == 0;
    for (int i = 0; i < 5; ++i) {
        tensor state = starts ? t.full(sizes) : trace::buffer(sizes);
        if (starts && i == 4) t.sub_(state);
        t.add_to_cache(state);
    }
}

/// Layers are rescaled once, by the first pass of all; their results are halved in each.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    if (!t.is_training() && load.sequence == 1 && load.batch > 1) t.disable_closed_form();
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size};
    tensor x = t.call("embeddings", token_embedding, shape{load.batch, load.sequence});
    cache_states(ctx, t);
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        x = t.call({"blocks", layer_loop.index()}, block{ctx.for_layer(layer_loop, no_inputs)}, x);
        if ((layer_loop.layer().family_tag & halves) != 0) x = t.div_scalar(x);
    }
    return t.call("ln_out", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const bool bare = ctx.config.head == head_kind::none;
    const module_info base_model_info{.name = bare ? "" : "rwkv", .class_of_module = ctx.class_of("Model")};
    if (bare) return forward_in_module(base_model_info, base, ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of("ForCausalLM")};
    t.enter(model_info);
    const tensor x = forward_in_module(base_model_info, base, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const linear head{ctx.config.hidden_size, ctx.config.vocab_size, false, ctx.config.tie_word_embeddings};
    return t.leave(model_info, t.select_model_output(x, t.call("head", head_linear{head}, logits_to_keep(t, x))));
}

constexpr void parse_config(config_view json, model_config& config) {
    if (config.intermediate_size == 0)
        config.intermediate_size = checked_size(json, "hidden_size", 4, config.hidden_size);
    if (json.optional_positive("attention_hidden_size").value_or(config.hidden_size) != config.hidden_size)
        throw_unsupported(json, "attention_hidden_size", "unsupported attention width; expected hidden_size");
    const std::int64_t every = json.integer("rescale_every", 6);
    set_layers(json, config, [&](std::int64_t i) {
        const bool rescaled = every > 0 && (i + 1) % every == 0;
        return layer_spec{.token_mixer = token_mixer_kind::recurrent,
                          .family_tag = static_cast<std::uint8_t>((i == 0 ? first : 0) | (rescaled ? halves : 0))};
    });
}

}  // namespace rwkv_detail

// transformers/models/rwkv: configuration_rwkv.py, modeling_rwkv.py
inline constexpr model_spec rwkv = [] {
    model_spec spec{.model_type = "rwkv",
                    .class_prefix = "Rwkv",
                    .forward = rwkv_detail::forward,
                    .parse_config = rwkv_detail::parse_config};
    spec.rotary = rotary_style::none;
    spec.supported_layers = supported_layer_set{} | token_mixer_kind::recurrent;
    spec.supported_layers.max_family_tag = rwkv_detail::first | rwkv_detail::halves;
    spec.defaults.vocab_size = 50277;
    spec.defaults.hidden_size = 4096;
    spec.defaults.num_hidden_layers = 32;
    return spec;
}();

}  // namespace llmcost::arch
