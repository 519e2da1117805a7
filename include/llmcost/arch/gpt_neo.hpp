// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt2.hpp>

namespace llmcost::arch {

namespace gpt_neo_detail {

enum own : std::uint8_t { window };
inline constexpr own_key keys[]{{"window_size", 256}};

/// The word of layers that see a window; their cache and products are those of the others.
inline constexpr std::uint8_t local = 1;

/// Scores are not scaled; those that a table hides are replaced by the lowest number, then masked again.
constexpr value look_up_hidden(const site& here, trace& t, const qkv& of) {
    context where = here.shared->where;
    if (here.kind.own == local) where.window = here.dims.own[window];
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), where, of.k.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    const value rows = t.to(of.q, dtype::float32), columns = t.to(of.k, dtype::float32).transpose(2, 3);
    value scores = t.matmul(rows, columns, sparse ? where.visible_pairs() : 0);
    if (!sparse) scores = t.add(t.where(scores), here.shared->mask);
    const value probabilities = dropout(t, "attn_dropout", t.to(t.softmax(scores), of.v.type), dropout_of::attention);
    return t.contiguous(t.matmul(probabilities, of.v).transpose(1, 2));
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info inner{.name = "attention", .type = here.type("SelfAttention"), .what = role::attn};
    t.enter(inner);
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    remember(here, t, of);
    const value flat = look_up_hidden(here, t, of).view({x.dim(0), x.dim(1), width});
    return t.leave(inner, dropout(t, "resid_dropout", t.call("out_proj", linear{width, width, true}, flat)));
}

constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const module_info block{.name = "mlp", .type = here.type("MLP"), .what = role::mlp};
    t.enter(block);
    const value h = t.call("act", activation_module{here.dims.hidden_act}, t.call("c_fc", linear{width, inner, true}, x));
    return t.leave(block, dropout(t, "dropout", t.call("c_proj", linear{inner, width, true}, h)));
}

/// Where causal scores are counted, windows bend the figures although no cache has any.
constexpr decoder_context prepare(const site& here, trace& t) {
    if (t.load().attention == attention_scores::causal && here.dims.layers.mixed())
        (void)context_of(t, here.dims.own[window]);
    return masks(here, t);
}

/// Kinds of layers, so many times each list of them (configuration_gpt_neo.py, `expand_attention_types_params`).
constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    share_among_heads(config, s, {"num_heads", "num_attention_heads"});
    if (s.intermediate_size == 0) s.intermediate_size = 4 * s.hidden_size;
    s.attention_bias = false;
    constexpr literal key = "attention_types";
    std::int64_t planned = 0;
    const auto plan = [&](string_ref word) {
        if (word != "global" && word != "local") fail_unsupported(config, key, "no layer describes one of these kinds");
        if (planned < s.num_hidden_layers)
            plan_layer(config, s, planned, {.mixer = mixer, .own = word == "local" ? local : std::uint8_t{}});
        ++planned;
    };
    const auto list = config.optional_array(key);
    if (list) {
        for (const config_view entry : *list)
            for (std::int64_t n = entry[1].as_non_negative(); n > 0 && planned <= s.num_hidden_layers; --n)
                for (const config_view word : entry[0].as_array()) plan(word.as_string());
    } else {
        for (int n = 0; n < 12; ++n) plan("global"), plan("local");
    }
    if (planned != s.num_hidden_layers)
        fail_value(config, list ? key : "num_layers", "as many kinds of attention as there are layers");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "resid_dropout"},
                                             {dropout_of::embeddings, "embed_dropout"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "classifier_dropout", 0.1}};

}  // namespace gpt_neo_detail

// transformers/models/gpt_neo: configuration_gpt_neo.py, modeling_gpt_neo.py; windows by a table, scores without a scale
inline constexpr architecture gpt_neo = [](architecture a) {
    a.model_type = "gpt_neo", a.prefix = "GPTNeo", a.read = gpt_neo_detail::read, a.own = gpt_neo_detail::keys;
    a.prepare = gpt_neo_detail::prepare, a.attend = gpt_neo_detail::attend, a.feed = gpt_neo_detail::feed;
    a.kinds.own = gpt_neo_detail::local;
    a.names.causal_lm_type = "ForCausalLM";
    a.keys[0] = {"num_attention_heads", "num_heads", key_rule::standard_first};
    a.keys[1] = {"num_hidden_layers", "num_layers", key_rule::standard_first};
    a.keys[2] = {"hidden_act", "activation_function", key_rule::written_only};
    a.keys[3] = {}, a.keys[4] = {}, a.keys[5] = {};
    a.defaults.hidden_size = 2048, a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16;
    a.defaults.max_position_embeddings = 2048;
    a.drops = gpt_neo_detail::dropout_rates;
    return a;
}(gpt2);

}  // namespace llmcost::arch
