// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/reformer_attention.hpp>
#include <llmcost/layers/heads.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace reformer_detail {

inline constexpr own_key keys[]{
    {"local_attn_chunk_length", 64},
    {"local_num_chunks_before", 1, own_value::non_negative},
    {"local_num_chunks_after", 0, own_value::non_negative},
    {"lsh_attn_chunk_length", 64},
    {"lsh_num_chunks_before", 1, own_value::non_negative},
    {"lsh_num_chunks_after", 0, own_value::non_negative},
    {"num_hashes", 1},
    {"axial_pos_embds", 1, own_value::boolean},
    {.otherwise = 64, .value = own_value::computed},  // `axial_pos_shape`
    {.otherwise = 64, .value = own_value::computed},
    {.otherwise = 64, .value = own_value::computed},  // of `axial_pos_embds_dim`; columns have the rest
    {.value = own_value::computed},                   // `num_buckets`; 0: by the length of the text
    {.value = own_value::computed},                   // a second factor of them
};

/// What the cache has of all layers: buckets, a tensor of nothing where there are none, then states.
constexpr void keep_states(const site& here, trace& t) {
    if (!keeps(here.dims.head)) return;
    const std::int64_t past = t.load().past, length = past + t.load().sequence, batch = t.load().batch;
    const std::int64_t layers = here.dims.num_hidden_layers;
    const bool sorted = is_sorted(here, past > 0 ? past : length), fills = length >= here.dims.own[hashed_chunk];
    const value nothing = trace::buffer({0});
    std::int64_t appended = 0;  // by each later token to no layer of its own
    for (std::int64_t i = 0; i < layers; ++i) {
        const bool hashes_now = here.dims.layers[i].own == hashed;
        if (past > 0 && (!hashes_now || (!sorted && !fills))) ++appended;
        if (hashes_now && sorted) continue;  // integers
        if (hashes_now && past > 0 && fills)
            t.cache(trace::buffer({batch, here.dims.num_attention_heads, here.dims.own[hashes], length}));
        else
            t.cache(nothing);
    }
    for (; appended > 0; --appended) t.cache(nothing);
    for (std::int64_t i = 0; i < layers; ++i) t.cache(trace::buffer({batch, length, here.dims.hidden_size}));
}
/// New states behind those of before, and buckets behind a tensor of nothing, which makes them floating.
constexpr void keep_one(const site& here, trace& t, const value& x) {
    const std::int64_t past = past_of(here, t), length = past + x.dim(1);
    if (past == 0) return;
    (void)behind(t, x, past);
    if (here.kind.own == hashed && !is_sorted(here, past) && length >= here.dims.own[hashed_chunk])
        (void)t.constant({x.dim(0), here.dims.num_attention_heads, here.dims.own[hashes], length});
}

constexpr value attention(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.num_attention_heads * here.dims.head_dim;
    const bool sorts = here.kind.own == hashed;
    const module_info whole{.name = "attention", .type = here.type("Attention"), .what = role::attn};
    const module_info own{.name = "self_attention", .type = {"", sorts ? "LSHSelfAttention" : "LocalSelfAttention"}};
    const module_info output{.name = "output", .type = here.type("SelfOutput")};
    t.enter(whole);
    const value h = t.call("layer_norm", norm<norm_kind::layer>{width}, x);
    t.enter(own);
    const value out = t.leave(own, sorts ? attend_by_hashes(here, t, h) : attend_as_they_stand(here, t, h));
    keep_one(here, t, h);
    t.enter(output);
    return t.leave(whole, t.leave(output, t.call("dense", linear{inner, width}, out)));
}

constexpr value feed_tokens(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const module_info whole{.name = "feed_forward", .type = {"", "ChunkReformerFeedForward"}, .what = role::mlp};
    const module_info dense{.name = "dense", .type = here.type("FeedForwardDense")};
    const module_info output{.name = "output", .type = here.type("FeedForwardOutput")};
    t.enter(whole);
    value h = t.call("layer_norm", norm<norm_kind::layer>{width}, x);
    t.enter(dense);
    h = t.call("dense", linear{width, inner, true}, h);
    h = t.leave(dense, t.call("act_fn", activation_module{here.dims.hidden_act}, h));
    t.enter(output);
    return t.leave(whole, t.leave(output, t.call("dense", linear{inner, width, true}, h)));
}

/// Positions of rows and columns side by side, for all that the rows of a text need; then those of each sequence.
constexpr value axial_positions(const site& here, trace& t, std::int64_t length) {
    const std::int64_t batch = t.load().batch, high = here.dims.own[rows], wide = here.dims.own[columns];
    const std::int64_t width = here.dims.hidden_size, first = here.dims.own[width_of_rows], past = past_of(here, t);
    const module_info module{.name = "position_embeddings", .type = {"", "AxialPositionEmbeddings"}};
    const module_info list{.name = "weights", .type = {"", "ParameterList"}};
    t.enter(module);
    t.enter(list);
    const value of_rows = t.param("0", {high, 1, first}), of_columns = t.param("1", {1, wide, width - first});
    t.leave(list);
    const std::int64_t needed = (past + length - 1 + wide) / wide;
    const auto spread = [&](const value& x) { return x.expand({batch, high, wide, x.dim(2)}).slice(1, needed); };
    const value all = t.cat({spread(of_rows), spread(of_columns)}, -1);
    return t.leave(module, t.cat({t.gather(all, {batch, length, width})}, 0));
}
constexpr value plain_positions(const site& here, trace& t, std::int64_t length) {
    const module_info module{.name = "position_embeddings", .type = {"", "PositionEmbeddings"}};
    t.enter(module);
    const embedding table{here.dims.max_position_embeddings, here.dims.hidden_size};
    return t.leave(module, t.call("embedding", table, extents{t.load().batch, length}));
}
constexpr value embed(const site& here, trace& t, std::int64_t length) {
    const module_info module{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    t.enter(module);
    const embedding table{here.dims.vocab_size, here.dims.hidden_size};
    const value words = t.call("word_embeddings", table, extents{t.load().batch, length});
    const value places = (here.dims.own[axial] != 0 ? axial_positions : plain_positions)(here, t, length);
    return t.leave(module, t.add(words, places));
}

/// Who has a past takes one token at a time, and backward asks for the mode of training (`ReformerLayer.backward_pass`).
constexpr void check_load(const site& here, trace& t, std::int64_t length) {
    const std::int64_t past = past_of(here, t), held = here.dims.max_position_embeddings;
    const std::int64_t places = checked_product(here.dims.own[rows], here.dims.own[columns]);
    const bool by_axes = here.dims.own[axial] != 0;
    t.formless();
    if (t.training()) report_description("reformer: the reference goes back in the mode of training alone");
    if (here.dims.is_decoder && t.load().attention == attention_scores::causal)
        report_description(
            "reformer: which pairs a sorted chunk shows depends on the hashes of its tokens: --attention full");
    t.positions(by_axes && (past > 0 || places < held) ? places : held, past + length);
    if (past > 0 && length > 1 && !t.idle()) report_positions(1, length);
}

/// Two streams, each of which is added to by what is made of the other.
constexpr value base(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size;
    const std::int64_t length = past_of(here, t) > 0 ? load.sequence : padded(here.dims, load.sequence);
    check_load(here, t, length);
    const value x = embed(here, t, length);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    const value both = t.cat({x, x}, -1);
    value states = both.slice(-1, width), attended = states;
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, states); each.next();) {
        const site there = here.at(each, nothing);
        const module_info layer{.name = "layers", .index = each.index(), .type = here.type("Layer")};
        t.enter(layer);
        attended = t.add(attended, attention(there, t, states));
        states = t.leave(layer, t.add(states, feed_tokens(there, t, attended)));
    }
    const value out = t.cat({attended, states}, -1);
    const value normed_out = t.leave(encoder, t.call("layer_norm", norm<norm_kind::layer>{2 * width}, out));
    keep_states(here, t);
    return normed_out.slice(1, load.sequence);
}

constexpr value score_words(const site& here, trace& t, const value& x) {
    const module_info head{.name = "lm_head", .type = here.type("OnlyLMHead"), .what = role::head};
    t.enter(head);
    {
        const recorder::idle_guard unread{t};
        (void)t.param("bias", {here.dims.vocab_size});
    }
    return t.leave(head, t.call("decoder", linear{x.dim(2), here.dims.vocab_size}, kept_positions(t, x)));
}
constexpr value classify(const site& here, trace& t, const value& x) {
    const module_info head{.name = "classifier", .type = here.type("ClassificationHead"), .what = role::head};
    t.enter(head);
    value h = dropout(t, "dropout", x.select(1));
    h = t.tanh(t.call("dense", linear{x.dim(2), here.dims.hidden_size, true}, h));
    const linear labels{here.dims.hidden_size, here.dims.num_labels, true};
    return t.leave(head, t.call("out_proj", labels, dropout(t, "dropout", h)));
}

constexpr value describe(const site& here, trace& t) {
    const head_kind head = here.dims.head;
    const bool bare = head == head_kind::none;
    const module_info inside{.name = bare ? "" : "reformer", .type = here.type("Model")};
    if (bare) return describe_within(inside, base, here, t);
    const module_info whole{.type = here.type(head == head_kind::causal_lm ? here.row.names.causal_lm_type : name_of(head))};
    t.enter(whole);
    const value x = describe_within(inside, base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const value scores = head == head_kind::sequence_classification ? reformer_detail::classify(here, t, x)
                         : head == head_kind::question_answering    ? answer_scores(t, x)
                                                                    : score_words(here, t, x);
    return t.leave(whole, t.returns(x, scores));
}

constexpr void read_layers(config_view config, sizes& s) {
    const auto list = config.optional_array("attn_layers");
    s.num_hidden_layers = list ? static_cast<std::int64_t>(list->size()) : 6;
    if (s.num_hidden_layers == 0) fail_value(config, "attn_layers", "a list of \"local\" and \"lsh\"");
    plan_layers(config, s, [&](std::int64_t i) {
        if (!list) return layer_kind{.own = i % 2 != 0 ? hashed : std::uint8_t{}};
        const string_ref word = (*list)[static_cast<std::size_t>(i)].as_string();
        if (word != "lsh" && word != "local") fail_value(config, "attn_layers", "a list of \"local\" and \"lsh\"");
        return layer_kind{.own = word == "lsh" ? hashed : std::uint8_t{}};
    });
}
/// Rows and columns of positions, and the widths of each.
constexpr void read_axes(config_view config, sizes& s) {
    if (s.own[axial] == 0) return;
    if (const auto shape = config.optional_array("axial_pos_shape")) {
        if (shape->size() != 2) fail_value(config, "axial_pos_shape", "two numbers");
        s.own[rows] = (*shape)[0].as_positive(), s.own[columns] = (*shape)[1].as_positive();
    }
    std::int64_t rest = 192;
    if (const auto widths = config.optional_array("axial_pos_embds_dim")) {
        if (widths->size() != 2) fail_value(config, "axial_pos_embds_dim", "two widths");
        s.own[width_of_rows] = (*widths)[0].as_positive(), rest = (*widths)[1].as_positive();
    }
    if (s.own[width_of_rows] + rest != s.hidden_size)
        fail_value(config, "axial_pos_embds_dim", "widths that add up to hidden_size");
}
constexpr void read_buckets(config_view config, sizes& s) {
    const auto given = config.find("num_buckets");
    if (!given || given->is_null()) return;
    if (given->is_array() && (given->size() < 1 || given->size() > 2))
        fail_unsupported(config, "num_buckets", "no row describes buckets of more than two factors");
    s.own[buckets] = given->is_array() ? (*given)[0].as_positive() : given->as_positive();
    if (given->is_array() && given->size() == 2) s.own[more_buckets] = (*given)[1].as_positive();
    if (s.own[buckets] % 2 != 0 || s.own[more_buckets] % 2 != 0) fail_value(config, "num_buckets", "even numbers");
}
constexpr void read(config_view config, sizes& s) {
    for (const literal key : {"chunk_size_feed_forward", "chunk_size_lm_head"})
        if (config.non_negative(key, 0) != 0) fail_unsupported(config, key, "no row describes a block in chunks");
    refuse_window(config);
    s.is_decoder = config.boolean("is_decoder", false);
    if (s.is_decoder ? s.head == head_kind::masked_lm : s.head == head_kind::causal_lm)
        fail_value(config, "is_decoder", s.is_decoder ? "false where words are masked" : "true under this head");
    read_layers(config, s), read_axes(config, s), read_buckets(config, s);
    for (const std::size_t first : {std::size_t{local_before}, std::size_t{hashed_before}})
        if (s.own[first] + s.own[first + 1] >= trace::most_joined)
            fail_unsupported(config, first == local_before ? "local_num_chunks_before" : "lsh_num_chunks_before",
                             "no walk joins so many chunks");
    if (s.head == head_kind::causal_lm && (s.own[local_after] != 0 || s.own[hashed_after] != 0))
        fail_value(config, s.own[local_after] != 0 ? "local_num_chunks_after" : "lsh_num_chunks_after", "0 in a decoder");
    if (s.num_attention_heads >= s.own[hashed_chunk])
        fail_unsupported(config, "lsh_attn_chunk_length", "the reference takes as many heads for a whole chunk");
    s.num_key_value_heads = s.num_attention_heads;
    if (s.head == head_kind::question_answering) s.num_labels = 2;
}

}  // namespace reformer_detail

// transformers/models/reformer: configuration_reformer.py, modeling_reformer.py
inline constexpr architecture reformer = [] {
    architecture a{.model_type = "reformer",
                   .prefix = "Reformer",
                   .describe = reformer_detail::describe,
                   .read = reformer_detail::read,
                   .own = reformer_detail::keys};
    a.rotated = rotation::none, a.kinds.own = reformer_detail::hashed;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::masked_lm, head_kind::sequence_classification,
               head_kind::question_answering};
    a.names.causal_lm_type = "ModelWithLMHead";
    a.keys[0] = {"head_dim", "attention_head_size", key_rule::written_only};
    a.keys[1] = {"intermediate_size", "feed_forward_size", key_rule::written_only};
    a.keys[2] = no_key_value_heads;
    a.defaults.vocab_size = 320, a.defaults.hidden_size = 256, a.defaults.intermediate_size = 512;
    a.defaults.num_hidden_layers = 6, a.defaults.num_attention_heads = 12, a.defaults.head_dim = 64;
    a.defaults.max_position_embeddings = 4096, a.defaults.hidden_act = activation::relu;
    a.defaults.head = head_kind::none;
    return a;
}();

}  // namespace llmcost::arch
