// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace prophetnet_detail {

enum family_config_index : std::uint8_t {
    decoder_layers,
    decoder_heads,
    decoder_inner,
    encoder_inner,
    streams,
    buckets,
    crosses
};
inline constexpr family_key family_keys[]{{"num_decoder_layers", 12},
                                          {"num_decoder_attention_heads", 16},
                                          {"decoder_ffn_dim", 4096},
                                          {"encoder_ffn_dim", 4096},
                                          {"ngram", 2},
                                          {"num_buckets", 32},
                                          {"add_cross_attention", 1, family_key_type::boolean}};

/// Index of the shared tensor for the mask of the predicting streams; the main mask is separate.
constexpr std::size_t predicting_mask = 0;

/// Attention of the encoder over itself, or of the decoder over the encoder's states.
struct attention {
    const layer_context& ctx;
    std::int64_t heads;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* source) const {
        const std::int64_t batch = x.dim(0), length = x.dim(1), width = x.dim(2), d = width / heads;
        const tensor& key_value_states = source != nullptr ? *source : x;
        const attention_pattern all{.query_length = key_value_states.dim(1), .is_causal = false};
        const linear projection{width, width, true};
        const auto by_heads = [&](const tensor& a) { return a.view({batch, -1, heads, d}).transpose(1, 2); };
        const tensor q = by_heads(t.div_scalar(t.call("query_proj", projection, x)));
        const bool from_cache = source != nullptr && is_encoder_cached(t.load());
        tensor k, v;
        {
            const recorder::not_executed_guard unused{t, from_cache};
            k = by_heads(t.call("key_proj", projection, key_value_states));
            v = by_heads(t.call("value_proj", projection, key_value_states));
        }
        if (from_cache) {
            k = v = trace::buffer({batch, heads, key_value_states.dim(1), d});
            t.add_to_cache(k);
            t.add_to_cache(v);
        } else if (source != nullptr) {
            k = update_kv_cache(t, k, all);
            v = update_kv_cache(t, v, all);
        }
        tensor mixed;
        {
            const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, heads, all, key_value_states.dim(1))};
            const tensor features = t.softmax(einsum(t, "bsij,bsjk->bsik", q, k.transpose(2, 3)));
            mixed = t.reshape(einsum(t, "bsij,bsjk->bsik", features, v).transpose(1, 2), {batch, length, width});
        }
        return t.call("out_proj", projection, mixed);
    }
};
struct cross_attention : attention {
    static constexpr role module_role = role::cross_attn;
};

/// Buckets of so many distances, spelled out in floating point (`compute_relative_buckets`).
constexpr void make_buckets(trace& t, std::int64_t distances) {
    const tensor distance = t.full({distances});
    const tensor large = t.add_scalar(t.mul_scalar(t.div_scalar(t.log(t.div_scalar(distance)))));
    (void)t.minimum(large, t.mul_scalar(t.full({distances})));
}

/// Attention of (B, (1 + n)·S, width): the main stream over itself, and n that predict, each over the main one and
/// itself.
struct ngram_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("NgramSelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t n = ctx.config.family[streams], heads = ctx.config.num_attention_heads;
        const std::int64_t batch = x.dim(0), length = x.dim(1), width = x.dim(2), d = width / heads;
        const std::int64_t sequence = length / (1 + n);
        const linear projection{width, width, true};
        const auto by_heads = [&](const tensor& a) {
            return t.contiguous(a.view({batch, length, heads, d}).transpose(1, 2));
        };
        tensor q = t.call("query_proj", projection, x), k = t.call("key_proj", projection, x);
        tensor v = t.call("value_proj", projection, x);
        q = by_heads(t.div_scalar(q));
        k = by_heads(k);
        v = by_heads(v);
        // chunks of all streams are alike: one chunk represents the main stream, the other one the predicting streams
        const tensor stream = x.slice(1, sequence);
        q = q.slice(2, sequence);
        k = k.slice(2, sequence);
        v = v.slice(2, sequence);
        const tensor main_k = update_kv_cache(t, k, ctx.inputs->pattern),
                     main_v = update_kv_cache(t, v, ctx.inputs->pattern);

        const tensor main_scores = einsum(t, "bntc,bncs->bnts", q, main_k.transpose(2, 3));
        const tensor main_distances = distances_of(t, stream).view({batch, sequence, -1, heads}).permute({0, 3, 1, 2});
        const tensor main_weights =
            masked_softmax(t, biased(t, main_scores, main_distances), mask_of(ctx.inputs->mask));
        const tensor main_out = einsum(t, "bntc,bncs->bnts", main_weights, main_v).transpose(1, 2);
        const tensor main = t.call("out_proj", projection, t.reshape(main_out, {batch, 1, sequence, width}));

        const recorder::shared_parameters_guard shared_parameters{t};
        const tensor predict_q = stacked(t, n, q, 1), predict_k = stack_with_main(t, n, main_k, k, 1);
        const tensor predicting = stacked(t, n, stream, 2), predict_v = stack_with_main(t, n, main_v, v, 2);
        const tensor scores = einsum(t, "bnhtc,bnhsc->bnhts", predict_q, predict_k);
        const tensor distances = distances_of(t, predicting.transpose(1, 2)).view({batch, n, sequence, -1, heads});
        const tensor with_distances = biased(t, scores, distances.permute({0, 2, 1, 4, 3}));
        const tensor mask = ctx.inputs->family_tensors[predicting_mask];
        const tensor by_streams = mask.rank != 0 ? mask.permute({0, 2, 1, 3, 4}) : mask;
        const tensor features = masked_softmax(t, with_distances, mask_of(by_streams));
        const tensor out = einsum(t, "bnhts,bnhsc->bnhtc", features, predict_v.transpose(1, 2)).transpose(2, 3);
        const tensor predicted = t.call("out_proj", projection, t.reshape(out, {batch, n, sequence, width}));
        return t.cat({main, predicted}, 1).view({batch, length, width});
    }

private:
    /// A number for each bucket of distances and head, which every token has for itself.
    [[nodiscard]] constexpr tensor distances_of(trace& t, const tensor& x) const {
        const std::int64_t numbers = ctx.config.family[buckets] * ctx.config.num_attention_heads;
        return t.call("relative_pos_embeddings", linear{x.dim(-1), numbers, true}, x);
    }
    /// Scores (…, keys) and what the distance of each pair picks of (…, buckets); without tables where there is a past.
    static constexpr tensor biased(trace& t, const tensor& scores, const tensor& distances) {
        if (t.load().past > 0) make_buckets(t, scores.dim(0) * scores.dim(-1));
        const tensor rows = t.reshape(distances, {-1, distances.dim(-1)});
        const tensor picked = t.gather_with_saved_source(rows, {rows.dim(0), scores.dim(-1)});
        return t.add(scores, sized_as(picked, scores));
    }
    static constexpr tensor sized_as(const tensor& x, const tensor& target) {
        shape to;
        for (int i = 0; i < target.rank; ++i) to.size[to.rank++] = target.size[i];
        return x.view(to);
    }
    static constexpr const tensor* mask_of(const tensor& mask) { return mask.rank != 0 ? &mask : nullptr; }
    static constexpr tensor masked_softmax(trace& t, const tensor& scores, const tensor* mask) {
        const tensor masked = mask != nullptr ? t.add(scores, *mask) : scores;
        return t.to(t.softmax(t.to(masked, dtype::float32)), masked.type);
    }
    /// `torch.stack` of a chunk for each stream that predicts.
    static constexpr tensor stacked(trace& t, std::int64_t n, const tensor& chunk, int dim) {
        tensor parts[trace::max_cat_inputs];
        for (std::int64_t i = 0; i < n; ++i) parts[i] = chunk.unsqueeze(dim);
        return t.cat(parts, static_cast<int>(n), dim);
    }
    /// Concatenates each predicting chunk to the main stream's tensor.
    static constexpr tensor stack_with_main(trace& t, std::int64_t n, const tensor& main, const tensor& chunk,
                                            int dim) {
        tensor parts[trace::max_cat_inputs];
        for (std::int64_t i = 0; i < n; ++i) parts[i] = t.cat({main, chunk}, 2).unsqueeze(dim);
        return t.cat(parts, static_cast<int>(n), dim);
    }
};

struct feed_forward {
    const layer_context& ctx;
    std::int64_t inner;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("FeedForward"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("intermediate", linear{x.dim(-1), inner, true}, x);
        const tensor active = t.call("activation_fn", activation_module{ctx.config.hidden_act}, h);
        return t.call("output", linear{inner, x.dim(-1), true}, active);
    }
};

constexpr tensor normed(trace& t, literal name, const tensor& x) {
    return t.call(name, norm_module{norm_kind::layer, x.dim(-1)}, x);
}
constexpr tensor mlp(const layer_context& ctx, trace& t, std::int64_t inner, const tensor& x) {
    const tensor h = t.call("feed_forward", feed_forward{ctx, inner}, x);
    return normed(t, "feed_forward_layer_norm", t.add(h, x));
}

constexpr tensor encoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor* const itself = nullptr;
    const tensor h = t.call("self_attn", attention{ctx, ctx.config.encoder.num_attention_heads}, x, itself);
    return mlp(ctx, t, ctx.config.encoder.intermediate_size, normed(t, "self_attn_layer_norm", t.add(h, x)));
}

constexpr tensor over_encoder(const layer_context& ctx, trace& t, const tensor& x, const tensor& encoded) {
    const tensor h = t.call("cross_attn", cross_attention{{ctx, ctx.config.num_attention_heads}}, x, &encoded);
    return normed(t, "cross_attn_layer_norm", t.add(h, x));
}
/// Without an encoder its attention is parameters only.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x, const tensor* encoded) {
    tensor h = t.add(x, t.call("self_attn", ngram_attention{ctx}, x));
    h = normed(t, "self_attn_layer_norm", h);
    if (encoded != nullptr) {
        h = over_encoder(ctx, t, h, *encoded);
    } else if (ctx.config.family[crosses] != 0) {
        const recorder::not_executed_guard no_encoder{t};
        (void)over_encoder(ctx, t, h, h);
    }
    return mlp(ctx, t, ctx.config.intermediate_size, h);
}

constexpr tensor lookup_word_embeddings(const layer_context& ctx, trace& t, std::int64_t length) {
    const embedding table{
        ctx.config.vocab_size, ctx.config.hidden_size, false, {"", "Embedding"}, ctx.config.tie_word_embeddings};
    return t.call("word_embeddings", table, shape{t.load().batch, length});
}
constexpr module_info positions(const layer_context& ctx) {
    return {.name = "position_embeddings",
            .class_of_module = ctx.class_of("PositionalEmbeddings"),
            .module_role = role::embedding,
            .is_leaf = true};
}
constexpr tensor position_table(const layer_context& ctx, trace& t) {
    return t.param("weight", {ctx.config.max_position_embeddings, ctx.config.hidden_size});
}

/// Positions beyond the table are those of its last row.
constexpr tensor encoder(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load), width = ctx.config.hidden_size;
    const recorder::not_executed_guard done{t, is_encoder_cached(load)};
    const module_info module{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    t.enter(module);
    tensor x = lookup_word_embeddings(ctx, t, length);
    t.enter(positions(ctx));
    const tensor places = t.gather(position_table(ctx, t), {load.batch, length, width});
    x = normed(t, "embeddings_layer_norm", t.add(x, t.leave(positions(ctx), places)));
    for (loop layer_loop = t.loop_modules(ctx.config.encoder.num_hidden_layers, x); layer_loop.next();) {
        const module_info layer{
            .name = "layers", .index = layer_loop.index(), .class_of_module = ctx.class_of("EncoderLayer")};
        t.enter(layer);
        x = t.leave(layer, encoder_layer(ctx, t, x));
    }
    t.leave(module);
    return is_encoder_cached(load) ? t.input({load.batch, length, width}) : x;
}

/// The causal mask, and what each predicting stream may see: cut out of one for as many tokens as there are positions.
constexpr void make_masks(const layer_context& ctx, trace& t, attention_inputs& inputs) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, heads = ctx.config.num_attention_heads;
    const std::int64_t n = ctx.config.family[streams], max_positions = ctx.config.max_position_embeddings;
    const dtype type = t.activation_type();
    (void)t.full({sequence, sequence}, type);  // full, then its upper triangle
    inputs.mask = t.full({sequence, sequence}, type).expand({batch, heads, sequence, sequence});
    t.add_written_elements(2);  // the lowest number and the zero
    const tensor left = t.full({n, max_positions, max_positions}, type),
                 right = t.full({n, max_positions, max_positions}, type);
    const tensor full_mask = t.cat({left, right}, 2);
    const tensor part = full_mask.slice(1, sequence).slice(2, sequence);
    inputs.family_tensors[predicting_mask] =
        t.cat({part, part}, -1).unsqueeze(0).unsqueeze(0).expand({batch, heads, n, sequence, 2 * sequence});
}

/// Buckets of all distances that there are positions for, of the main stream and of those that predict.
constexpr void make_all_buckets(const layer_context& ctx, trace& t) {
    const std::int64_t maximum = ctx.config.max_position_embeddings - 1;
    make_buckets(t, maximum * maximum);
    make_buckets(t, 2 * maximum * maximum);
}

/// All streams of all tokens, the main one first: (B, (1 + n)·S, width).
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t n = ctx.config.family[streams], width = ctx.config.hidden_size, sequence = load.sequence;
    const bool extends = load.past > 0;
    if (!extends) make_all_buckets(ctx, t);
    tensor streams_of[trace::max_cat_inputs];
    const tensor x = lookup_word_embeddings(ctx, t, sequence);
    t.enter(positions(ctx));
    const tensor table = position_table(ctx, t);
    const shape places = extends ? shape{1, 1, width} : shape{load.batch, sequence, width};
    const tensor main = t.leave(positions(ctx), t.gather(table, places));
    const tensor next = t.gather(table, places);  // of the next token, in the decoder itself
    streams_of[0] = t.add(x, main);
    const module_info ngrams{.name = "ngram_embeddings",
                             .class_of_module = {"", "Embedding"},
                             .module_role = role::embedding,
                             .is_leaf = true};
    t.enter(ngrams);
    const tensor offsets = t.param("weight", {n, width});
    t.leave(ngrams);
    for (std::int64_t i = 1; i <= n; ++i) {
        const tensor sum = t.add(t.select(offsets, 0), next);
        streams_of[i] = extends ? t.copy(sum.expand({load.batch, 1, width})) : sum;
    }
    return normed(t, "embeddings_layer_norm", t.cat(streams_of, static_cast<int>(n + 1), 1));
}

/// Each token's position is one more than its number, and it looks up the next one, too.
///
/// With a past the reference takes one token at a time (`ProphetNetDecoder.forward`).
constexpr void check_positions(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    t.check_positions(ctx.config.max_position_embeddings - 2, load.past + load.sequence);
    if (load.past > 0 && load.sequence > 1 && !t.is_not_executed()) throw_position_error(1, load.sequence);
}

constexpr tensor decoder(const layer_context& ctx, trace& t, const tensor* encoded) {
    const module_info module{
        .name = "decoder", .class_of_module = ctx.class_of("Decoder"), .module_role = role::decoder};
    t.enter(module);
    check_positions(ctx, t);
    tensor x = embed(ctx, t);
    attention_inputs shared{.pattern = attention_pattern_of(t, 0)};
    if (t.load().past == 0) make_masks(ctx, t, shared);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();) {
        const module_info layer{
            .name = "layers", .index = layer_loop.index(), .class_of_module = ctx.class_of("DecoderLayer")};
        t.enter(layer);
        x = t.leave(layer, decoder_layer(ctx.for_layer(layer_loop, shared), t, x, encoded));
    }
    return t.leave(module, x);
}

/// Declares the word embeddings that both stacks are tied to; without tying they are unused.
constexpr void declare_word_embeddings(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard unread{t, !ctx.config.tie_word_embeddings};
    embedding{ctx.config.vocab_size, ctx.config.hidden_size}.declare(t, "word_embeddings");
}
constexpr tensor forward_seq2seq(const layer_context& ctx, trace& t) {
    declare_word_embeddings(ctx, t);
    const tensor encoded = encoder(ctx, t);
    return decoder(ctx, t, &encoded);
}
constexpr tensor forward_decoder_only(const layer_context& ctx, trace& t) {
    declare_word_embeddings(ctx, t);
    return decoder(ctx, t, nullptr);
}

/// Computes the logits of each predicting stream; returns those of the first one.
constexpr tensor score(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = ctx.config.family[streams], batch = x.dim(0), sequence = t.load().sequence;
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    tensor predicting = t.slice(x, 1, n * sequence).view({batch, n, sequence, -1});
    if (t.load().head == logits::last) predicting = t.slice(predicting, 2, 1);
    const linear head{ctx.config.hidden_size, ctx.config.vocab_size, false, ctx.config.tie_word_embeddings};
    const tensor first = t.select(t.call("lm_head", head_linear{head}, predicting), 1);
    return ctx.config.head == head_kind::conditional_generation ? t.contiguous(first) : first;
}

}  // namespace prophetnet_detail

/// An encoder-decoder whose decoder has predicting streams in addition to the main one, each for one further future
/// token.
///
/// Source: transformers/models/prophetnet/modeling_prophetnet.py.
constexpr tensor forward_prophetnet(const layer_context& ctx, trace& t) {
    using namespace prophetnet_detail;
    if (t.load().attention == attention_scores::causal)
        throw_description_error(
            "prophetnet: causal attention scores are not supported (masks of prefill and decode differ); use "
            "--attention full");
    const bool causal = ctx.config.head == head_kind::causal_lm, bare = ctx.config.head == head_kind::none;
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    const module_info base{.name = bare ? "" : "prophetnet",
                           .class_of_module = ctx.class_of(causal ? "DecoderWrapper" : "Model")};
    if (!bare) t.enter(model_info);
    const tensor x = forward_in_module(base, causal ? forward_decoder_only : forward_seq2seq, ctx, t);
    if (bare) return t.slice(x, 1, t.load().sequence);
    return t.leave(model_info, t.select_model_output(x, score(ctx, t, x)));
}

constexpr void parse_prophetnet(config_view json, model_config& config) {
    using namespace prophetnet_detail;
    reject_sliding_window(json);
    config.encoder = {config.num_hidden_layers, config.num_attention_heads, config.family[encoder_inner]};
    divide_by_heads(json, config, {"num_encoder_attention_heads", "num_attention_heads"});
    if (config.family[decoder_layers] > config.num_hidden_layers)
        throw_unsupported(
            json, "num_decoder_layers",
            "more decoder layers than encoder layers are not supported: the cache has one entry per encoder layer");
    config.num_hidden_layers = config.family[decoder_layers];
    config.num_attention_heads = config.num_key_value_heads = config.family[decoder_heads];
    config.intermediate_size = config.family[decoder_inner];
    divide_by_heads(json, config, {"num_decoder_attention_heads"});
    if (config.family[streams] >= trace::max_cat_inputs)
        throw_unsupported(json, "ngram", "unsupported number of streams");
    if (config.family[buckets] < 2) throw_invalid_value(json, "num_buckets", "at least 2");
    if (json.positive("relative_max_distance", 128) <= config.family[buckets] / 2)
        throw_invalid_value(json, "relative_max_distance", "more than half of num_buckets");
    (void)checked_size(json, "num_buckets", config.num_attention_heads, config.family[buckets]);
    if (json.non_negative("pad_token_id", 0) != 0)
        throw_unsupported(json, "pad_token_id",
                          "unsupported padding token; the reference decodes only with padding token 0");
    if (config.family[crosses] == 0 && config.head != head_kind::causal_lm)
        throw_invalid_value(json, "add_cross_attention", "true in a model with an encoder");
}

// transformers/models/prophetnet: configuration_prophetnet.py, modeling_prophetnet.py
inline constexpr model_spec prophetnet{
    .model_type = "prophetnet",
    .class_prefix = "ProphetNet",
    .forward = forward_prophetnet,
    .parse_config = parse_prophetnet,
    .family_keys = prophetnet_detail::family_keys,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation},
    .config_keys = {{"num_attention_heads", "num_encoder_attention_heads", key_rule::standard_name_first},
                    {"num_hidden_layers", "num_encoder_layers", key_rule::family_name_only},
                    {"hidden_act", "activation_function", key_rule::family_name_only},
                    absent_num_key_value_heads},
    .defaults = {.vocab_size = 30522,
                 .hidden_size = 1024,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 16,
                 .max_position_embeddings = 512,
                 .hidden_act = activation::gelu,
                 .head = head_kind::conditional_generation,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
