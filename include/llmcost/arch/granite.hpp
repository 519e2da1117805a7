// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace granite_detail {

enum own : std::uint8_t { rotary_tables };
inline constexpr own_key keys[]{
    {.otherwise = 1, .value = own_value::computed},  // as many as layers have different bases of frequencies
};

/// At most so many tables; a layer's word is the number of its table from 1, or this where it knows of no positions.
inline constexpr std::uint8_t unrotated = 0;
inline constexpr std::int64_t most_tables = 32;

/// What queries find, scaled by how little of the softmax a logit more of each head would take: (B, S, heads, d).
constexpr value look_up_beside_sinks(const site& here, trace& t, const qkv& of, const value& sinks) {
    const shared_values& s = *here.shared;
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), s.where, of.k.dim(2))};
    const std::int64_t heads = of.q.dim(1), groups = heads / of.k.dim(1);
    const value keys = repeat_kv(t, of.k, groups), values = repeat_kv(t, of.v, groups);
    const bool sparse = t.load().attention == attention_scores::causal;
    value scores = t.mul(t.matmul(of.q, keys.transpose(2, 3), sparse ? s.where.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const value left = t.sub(t.logsumexp(scores, -1), sinks.view({1, heads, 1}));
    const value scale = t.sigmoid(t.to(left, dtype::float32)).unsqueeze(-1);
    const value probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), of.q.type);
    const value found = t.matmul(drop(t, probabilities, dropout_of::attention), values);
    return t.contiguous(t.mul(found, t.to(scale, found.type)).transpose(1, 2));
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const value sinks = t.param("sinks", {here.dims.num_attention_heads});
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.kind.own != unrotated) turn(here, t, of);
    remember(here, t, of);
    const value found = look_up_beside_sinks(here, t, of, sinks);
    return join(here, t, t.reshape(found, {x.dim(0), x.dim(1), -1}));
}

/// A table for each base of frequencies, beside a module that makes one and is not called; each layer reads its own.
constexpr value base(const site& here, trace& t) {
    value x = here.row.embed(here, t);
    decoder_context shared = masks(here, t);
    {
        const recorder::idle_guard not_called{t};
        make_rotary_tables(here, t, shared.full);
    }
    const rotary_table table{here.dims.rotary_dim, here.type(here.row.names.rotary_type), rotary_frequencies{here.dims}};
    two_values made[most_tables + 1]{};
    for (std::int64_t i = 0; i < here.dims.own[rotary_tables]; ++i)
        made[i + 1] = t.call({"rotary_embs", i}, table, t.load().sequence);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        shared_values read = shared.of(each.kind());
        read.cos = made[each.kind().own].first, read.sin = made[each.kind().own].second;
        x = t.call({here.row.names.layers, each.index()}, decoder_layer{here.at(each, read)}, x);
    }
    return normed(here, t, here.row.names.norm, x);
}

/// The different bases of frequencies that layers have, but for 0.
class rotary_bases {
public:
    constexpr explicit rotary_bases(config_view config) : list_(config.optional_array("layer_rope_theta")) {
        for (std::size_t i = 0; list_ && i < list_->size(); ++i) {
            const double base = (*list_)[i].as_real();
            if (base == 0 || number_of(base) != 0) continue;
            if (count_ == most_tables) fail_value(config, "layer_rope_theta", "at most 32 different numbers");
            different_[count_++] = base;
        }
    }
    [[nodiscard]] constexpr std::int64_t count() const noexcept { return list_ ? count_ : 1; }
    [[nodiscard]] constexpr bool reach(std::int64_t layers) const {
        return !list_ || static_cast<std::int64_t>(list_->size()) >= layers;
    }
    /// The word of a layer.
    [[nodiscard]] constexpr std::uint8_t word_of(std::int64_t layer) const {
        return list_ ? number_of((*list_)[static_cast<std::size_t>(layer)].as_real()) : std::uint8_t{1};
    }

private:
    [[nodiscard]] constexpr std::uint8_t number_of(double base) const noexcept {
        for (std::uint8_t k = 0; k < count_; ++k)
            if (different_[k] == base) return static_cast<std::uint8_t>(k + 1);
        return unrotated;
    }

    maybe<config_view> list_;
    double different_[most_tables]{};
    std::int64_t count_ = 0;
};

/// Every fourth layer is full, the first one too; each has its base of frequencies, or rotates nothing where that is 0.
constexpr void read_swa(config_view config, sizes& s) {
    check_window_is_given(config);
    const rotary_bases bases(config);
    if (!bases.reach(s.num_hidden_layers)) fail_value(config, "layer_rope_theta", "a list with one number per hidden layer");
    s.own[rotary_tables] = bases.count();
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = i % 4 == 0 ? mixer_kind::full_attention : mixer_kind::sliding_attention;
        return layer_kind{.mixer = listed ? given[i].mixer : by_rule, .own = bases.word_of(i)};
    });
}

/// The text model behind what a whole puts among its words, which are scaled behind that; `layer` calls each of its layers.
template <class Place, class Layer>
constexpr value describe_around(const site& here, trace& t, literal name, const Place& place, const Layer& layer) {
    const site text = here.text();
    const module_info m{.name = name, .type = text.type(text.row.names.model_type)};
    t.enter(m);
    value x = t.leave(m, embed_words(text, t));
    x = place(x);
    t.enter(m);
    x = t.mul(x);
    const decoder_context shared = text.row.prepare(text, t);
    for (repetition each = t.repeat(text.dims.num_hidden_layers, text.dims.layers, x); each.next();)
        x = layer(text.at(each, shared.of(each.kind())), x);
    return t.leave(m, normed(text, t, text.row.names.norm, x));
}

}  // namespace granite_detail

// transformers/models/granite: constants on embeddings, residuals and logits
inline constexpr architecture granite = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "granite", a.prefix = "Granite";
    a.embed = embed_words_scaled, a.residual = add_scaled_residual, a.finish = divide_logits;
    return a;
}(llama);

// transformers/models/granite_swa: one full layer to three sliding ones, sinks, frequencies of their own for each layer
inline constexpr architecture granite_swa = [](architecture a) {
    a.model_type = "granite_swa", a.prefix = "GraniteSWA", a.read = granite_detail::read_swa;
    a.own = granite_detail::keys, a.base = granite_detail::base, a.attend = granite_detail::attend;
    a.masks = mask_rule::full_and_sliding, a.kinds.own = granite_detail::most_tables;
    a.defaults.vocab_size = 100352, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 8192;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 20, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 8192, a.defaults.sliding_window = 128;
    a.defaults.tie_word_embeddings = true;
    return a;
}(granite);

}  // namespace llmcost::arch
