// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/reformer_attention.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/heads.hpp>

namespace llmcost::arch {

namespace reformer_detail {

inline constexpr family_key family_keys[]{
    {"local_attn_chunk_length", 64},
    {"local_num_chunks_before", 1, family_key_type::non_negative},
    {"local_num_chunks_after", 0, family_key_type::non_negative},
    {"lsh_attn_chunk_length", 64},
    {"lsh_num_chunks_before", 1, family_key_type::non_negative},
    {"lsh_num_chunks_after", 0, family_key_type::non_negative},
    {"num_hashes", 1},
    {"axial_pos_embds", 1, family_key_type::boolean},
    {.default_value = 64, .type = family_key_type::computed},  // `axial_pos_shape`
    {.default_value = 64, .type = family_key_type::computed},
    {.default_value = 64, .type = family_key_type::computed},  // of `axial_pos_embds_dim`; columns have the rest
    {.type = family_key_type::computed},                       // `num_buckets`; 0: by the length of the text
    {.type = family_key_type::computed},                       // a second factor of them
};

/// What the cache has of all layers: buckets, a tensor of nothing where there are none, then states.
constexpr void cache_states(const layer_context& ctx, trace& t) {
    if (!is_cached(ctx.config.head)) return;
    const std::int64_t past = t.load().past, length = past + t.load().sequence, batch = t.load().batch;
    const std::int64_t layers = ctx.config.num_hidden_layers;
    const bool sorted = is_sorted(ctx, past > 0 ? past : length), fills = length >= ctx.config.family[hashed_chunk];
    const tensor empty = trace::buffer({0});
    std::int64_t appended = 0;  // by each later token to no layer of its own
    for (std::int64_t i = 0; i < layers; ++i) {
        const bool hashes_now = ctx.config.layers[i].family_tag == hashed;
        if (past > 0 && (!hashes_now || (!sorted && !fills))) ++appended;
        if (hashes_now && sorted) continue;  // integers
        if (hashes_now && past > 0 && fills)
            t.add_to_cache(trace::buffer({batch, ctx.config.num_attention_heads, ctx.config.family[hashes], length}));
        else
            t.add_to_cache(empty);
    }
    for (; appended > 0; --appended) t.add_to_cache(empty);
    for (std::int64_t i = 0; i < layers; ++i) t.add_to_cache(trace::buffer({batch, length, ctx.config.hidden_size}));
}
/// Concatenates new states to the cached ones, and buckets to an empty tensor, which makes them floating-point.
constexpr void cache_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t past = past_of(ctx, t), length = past + x.dim(1);
    if (past == 0) return;
    (void)prepend_past(t, x, past);
    if (ctx.layer.family_tag == hashed && !is_sorted(ctx, past) && length >= ctx.config.family[hashed_chunk])
        (void)t.full({x.dim(0), ctx.config.num_attention_heads, ctx.config.family[hashes], length});
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.num_attention_heads * ctx.config.head_dim;
    const bool sorts = ctx.layer.family_tag == hashed;
    const module_info model_info{
        .name = "attention", .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
    const module_info self_attention_info{.name = "self_attention",
                                          .class_of_module = {"", sorts ? "LSHSelfAttention" : "LocalSelfAttention"}};
    const module_info output{.name = "output", .class_of_module = ctx.class_of("SelfOutput")};
    t.enter(model_info);
    const tensor h = t.call("layer_norm", norm_module{norm_kind::layer, width}, x);
    t.enter(self_attention_info);
    const tensor out =
        t.leave(self_attention_info, sorts ? attend_by_hashes(ctx, t, h) : attend_as_they_stand(ctx, t, h));
    cache_layer(ctx, t, h);
    t.enter(output);
    return t.leave(model_info, t.leave(output, t.call("dense", linear{inner, width}, out)));
}

constexpr tensor chunked_feed_forward(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const module_info model_info{
        .name = "feed_forward", .class_of_module = {"", "ChunkReformerFeedForward"}, .module_role = role::mlp};
    const module_info dense{.name = "dense", .class_of_module = ctx.class_of("FeedForwardDense")};
    const module_info output{.name = "output", .class_of_module = ctx.class_of("FeedForwardOutput")};
    t.enter(model_info);
    tensor h = t.call("layer_norm", norm_module{norm_kind::layer, width}, x);
    t.enter(dense);
    h = t.call("dense", linear{width, inner, true}, h);
    h = t.leave(dense, t.call("act_fn", activation_module{ctx.config.hidden_act}, h));
    t.enter(output);
    return t.leave(model_info, t.leave(output, t.call("dense", linear{inner, width, true}, h)));
}

/// Positions of rows and columns side by side, for all that the rows of a text need; then those of each sequence.
constexpr tensor axial_positions(const layer_context& ctx, trace& t, std::int64_t length) {
    const std::int64_t batch = t.load().batch, high = ctx.config.family[rows],
                       expanded_width = ctx.config.family[columns];
    const std::int64_t width = ctx.config.hidden_size, first = ctx.config.family[width_of_rows], past = past_of(ctx, t);
    const module_info module{.name = "position_embeddings", .class_of_module = {"", "AxialPositionEmbeddings"}};
    const module_info list{.name = "weights", .class_of_module = {"", "ParameterList"}};
    t.enter(module);
    t.enter(list);
    const tensor of_rows = t.param("0", {high, 1, first}),
                 of_columns = t.param("1", {1, expanded_width, width - first});
    t.leave(list);
    const std::int64_t needed = (past + length - 1 + expanded_width) / expanded_width;
    const auto spread = [&](const tensor& x) {
        return x.expand({batch, high, expanded_width, x.dim(2)}).slice(1, needed);
    };
    const tensor all = t.cat({spread(of_rows), spread(of_columns)}, -1);
    return t.leave(module, t.cat({t.gather(all, {batch, length, width})}, 0));
}
constexpr tensor plain_positions(const layer_context& ctx, trace& t, std::int64_t length) {
    const module_info module{.name = "position_embeddings", .class_of_module = {"", "PositionEmbeddings"}};
    t.enter(module);
    const embedding table{ctx.config.max_position_embeddings, ctx.config.hidden_size};
    return t.leave(module, t.call("embedding", table, shape{t.load().batch, length}));
}
constexpr tensor embed(const layer_context& ctx, trace& t, std::int64_t length) {
    const module_info module{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    t.enter(module);
    const embedding table{ctx.config.vocab_size, ctx.config.hidden_size};
    const tensor token_embeddings = t.call("word_embeddings", table, shape{t.load().batch, length});
    const tensor places = (ctx.config.family[axial] != 0 ? axial_positions : plain_positions)(ctx, t, length);
    return t.leave(module, t.add(token_embeddings, places));
}

/// Checks the workload. With a past, each pass has one token, and backward requires training mode
/// (`ReformerLayer.backward_pass`).
constexpr void check_load(const layer_context& ctx, trace& t, std::int64_t length) {
    const std::int64_t past = past_of(ctx, t), max_positions = ctx.config.max_position_embeddings;
    const std::int64_t places = checked_product(ctx.config.family[rows], ctx.config.family[columns]);
    const bool by_axes = ctx.config.family[axial] != 0;
    t.disable_closed_form();
    if (t.is_training())
        throw_description_error(
            "reformer: training is not supported: backward of the reference requires training mode");
    if (ctx.config.is_causal && t.load().attention == attention_scores::causal)
        throw_description_error(
            "reformer: causal attention scores are not supported in hashed chunks; use --attention full");
    t.check_positions(by_axes && (past > 0 || places < max_positions) ? places : max_positions, past + length);
    if (past > 0 && length > 1 && !t.is_not_executed()) throw_position_error(1, length);
}

/// Two streams, each of which is added to by what is made of the other.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size;
    const std::int64_t length = past_of(ctx, t) > 0 ? load.sequence : padded(ctx.config, load.sequence);
    check_load(ctx, t, length);
    const tensor x = embed(ctx, t, length);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    const tensor doubled_states = t.cat({x, x}, -1);
    tensor states = doubled_states.slice(-1, width), attended = states;
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, states);
         layer_loop.next();) {
        const layer_context layer_ctx = ctx.for_layer(layer_loop, no_inputs);
        const module_info layer{
            .name = "layers", .index = layer_loop.index(), .class_of_module = ctx.class_of("Layer")};
        t.enter(layer);
        attended = t.add(attended, reformer_detail::attention(layer_ctx, t, states));
        states = t.leave(layer, t.add(states, chunked_feed_forward(layer_ctx, t, attended)));
    }
    const tensor out = t.cat({attended, states}, -1);
    const tensor normed_out = t.leave(encoder, t.call("layer_norm", norm_module{norm_kind::layer, 2 * width}, out));
    cache_states(ctx, t);
    return normed_out.slice(1, load.sequence);
}

constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info head{.name = "lm_head", .class_of_module = ctx.class_of("OnlyLMHead"), .module_role = role::head};
    t.enter(head);
    {
        const recorder::not_executed_guard unread{t};
        (void)t.param("bias", {ctx.config.vocab_size});
    }
    return t.leave(head, t.call("decoder", linear{x.dim(2), ctx.config.vocab_size}, logits_to_keep(t, x)));
}
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info head{
        .name = "classifier", .class_of_module = ctx.class_of("ClassificationHead"), .module_role = role::head};
    t.enter(head);
    tensor h = dropout(t, "dropout", x.select(1));
    h = t.tanh(t.call("dense", linear{x.dim(2), ctx.config.hidden_size, true}, h));
    const linear labels{ctx.config.hidden_size, ctx.config.num_labels, true};
    return t.leave(head, t.call("out_proj", labels, dropout(t, "dropout", h)));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const head_kind head = ctx.config.head;
    const bool bare = head == head_kind::none;
    const module_info base_model_info{.name = bare ? "" : "reformer", .class_of_module = ctx.class_of("Model")};
    if (bare) return forward_in_module(base_model_info, base, ctx, t);
    const module_info model_info{
        .class_of_module = ctx.class_of(head == head_kind::causal_lm ? ctx.spec.names.causal_lm_class : name_of(head))};
    t.enter(model_info);
    const tensor x = forward_in_module(base_model_info, base, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const tensor scores = head == head_kind::sequence_classification ? reformer_detail::classify(ctx, t, x)
                          : head == head_kind::question_answering    ? question_answering_logits(t, x)
                                                                     : reformer_detail::lm_head_logits(ctx, t, x);
    return t.leave(model_info, t.select_model_output(x, scores));
}

constexpr void parse_layers(config_view json, model_config& config) {
    const auto list = json.optional_array("attn_layers");
    config.num_hidden_layers = list ? static_cast<std::int64_t>(list->size()) : 6;
    if (config.num_hidden_layers == 0) throw_invalid_value(json, "attn_layers", "a list of \"local\" and \"lsh\"");
    set_layers(json, config, [&](std::int64_t i) {
        if (!list) return layer_spec{.family_tag = i % 2 != 0 ? hashed : std::uint8_t{}};
        const string_ref name = (*list)[static_cast<std::size_t>(i)].as_string();
        if (name != "lsh" && name != "local")
            throw_invalid_value(json, "attn_layers", "a list of \"local\" and \"lsh\"");
        return layer_spec{.family_tag = name == "lsh" ? hashed : std::uint8_t{}};
    });
}
/// Rows and columns of positions, and the widths of each.
constexpr void parse_axes(config_view json, model_config& config) {
    if (config.family[axial] == 0) return;
    if (const auto shape = json.optional_array("axial_pos_shape")) {
        if (shape->size() != 2) throw_invalid_value(json, "axial_pos_shape", "two numbers");
        config.family[rows] = (*shape)[0].as_positive();
        config.family[columns] = (*shape)[1].as_positive();
    }
    std::int64_t rest = 192;
    if (const auto widths = json.optional_array("axial_pos_embds_dim")) {
        if (widths->size() != 2) throw_invalid_value(json, "axial_pos_embds_dim", "two widths");
        config.family[width_of_rows] = (*widths)[0].as_positive();
        rest = (*widths)[1].as_positive();
    }
    if (config.family[width_of_rows] + rest != config.hidden_size)
        throw_invalid_value(json, "axial_pos_embds_dim", "widths that add up to hidden_size");
}
constexpr void parse_buckets(config_view json, model_config& config) {
    const auto buckets_json = json.find("num_buckets");
    if (!buckets_json || buckets_json->is_null()) return;
    if (buckets_json->is_array() && (buckets_json->size() < 1 || buckets_json->size() > 2))
        throw_unsupported(json, "num_buckets", "buckets of more than two factors are not supported");
    config.family[buckets] = buckets_json->is_array() ? (*buckets_json)[0].as_positive() : buckets_json->as_positive();
    if (buckets_json->is_array() && buckets_json->size() == 2)
        config.family[more_buckets] = (*buckets_json)[1].as_positive();
    if (config.family[buckets] % 2 != 0 || config.family[more_buckets] % 2 != 0)
        throw_invalid_value(json, "num_buckets", "even numbers");
}
constexpr void parse_config(config_view json, model_config& config) {
    for (const literal key : {"chunk_size_feed_forward", "chunk_size_lm_head"})
        if (json.non_negative(key, 0) != 0) throw_unsupported(json, key, "a chunked block is not supported");
    reject_sliding_window(json);
    config.is_causal = json.boolean("is_decoder", false);
    if (config.is_causal ? config.head == head_kind::masked_lm : config.head == head_kind::causal_lm)
        throw_invalid_value(json, "is_decoder",
                            config.is_causal ? "false with a masked language head" : "true with this head");
    parse_layers(json, config);
    parse_axes(json, config);
    parse_buckets(json, config);
    for (const std::size_t first : {std::size_t{local_before}, std::size_t{hashed_before}})
        if (config.family[first] + config.family[first + 1] >= trace::max_cat_inputs)
            throw_unsupported(json, first == local_before ? "local_num_chunks_before" : "lsh_num_chunks_before",
                              "unsupported number of chunks");
    if (config.head == head_kind::causal_lm && (config.family[local_after] != 0 || config.family[hashed_after] != 0))
        throw_invalid_value(json, config.family[local_after] != 0 ? "local_num_chunks_after" : "lsh_num_chunks_after",
                            "0 in a decoder");
    if (config.num_attention_heads >= config.family[hashed_chunk])
        throw_unsupported(json, "lsh_attn_chunk_length",
                          "unsupported chunk length; the reference requires more than num_attention_heads");
    config.num_key_value_heads = config.num_attention_heads;
    if (config.head == head_kind::question_answering) config.num_labels = 2;
}

}  // namespace reformer_detail

// transformers/models/reformer: configuration_reformer.py, modeling_reformer.py
inline constexpr model_spec reformer = [] {
    model_spec spec{.model_type = "reformer",
                    .class_prefix = "Reformer",
                    .forward = reformer_detail::forward,
                    .parse_config = reformer_detail::parse_config,
                    .family_keys = reformer_detail::family_keys};
    spec.rotary = rotary_style::none;
    spec.supported_layers.max_family_tag = reformer_detail::hashed;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::masked_lm,
                            head_kind::sequence_classification, head_kind::question_answering};
    spec.names.causal_lm_class = "ModelWithLMHead";
    spec.config_keys.add("head_dim", "attention_head_size", key_rule::family_name_only);
    spec.config_keys.add("intermediate_size", "feed_forward_size", key_rule::family_name_only);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults.vocab_size = 320;
    spec.defaults.hidden_size = 256;
    spec.defaults.intermediate_size = 512;
    spec.defaults.num_hidden_layers = 6;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.head_dim = 64;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.head = head_kind::none;
    return spec;
}();

}  // namespace llmcost::arch
