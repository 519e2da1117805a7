// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/walks/conformer.hpp>

namespace llmcost::arch {

namespace wav2vec2_conformer_detail {

using namespace wav2vec2_detail;

struct own_table {
    own_key keys[adapter_width + 1];

    constexpr own_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) keys[i] = wav2vec2_detail::keys[i];
        keys[further] = {"conv_depthwise_kernel_size", 31};
    }
};
inline constexpr own_table table{};

/// Positions come from a table; the convolution that hears them is there, and nobody calls it.
constexpr value encode(const site& here, trace& t, const value& features) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    const distance_rule rule = is(here, relative) ? distance_rule::relative : distance_rule::none;
    const conformer_sizes s{here.dims.hidden_size, here.dims.num_attention_heads, here.dims.intermediate_size,
                            here.dims.hidden_act,  here.dims.own[further],        rule,
                            0,                     false,                         here.row.prefix};
    t.enter(encoder);
    {
        const recorder::idle_guard uncalled{t};
        (void)positions(here, t, features);
    }
    value x = dropout(t, "dropout", features);
    value distances;
    if (is(here, relative))
        distances = t.call("embed_positions", sines_of_distances{s.width, here.type("RelPositionalEmbedding")}, x.dim(1));
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, conformer_layer{s, distances}, x);
    return t.leave(encoder, layer_norm(here, t, "layer_norm", x));
}

constexpr void read(config_view config, sizes& s) {
    read_shared(config, s);
    read_adapter_layers(config, s);
    s.own[switches] &= ~stable;
    if (s.own[further] % 2 == 0) fail_value(config, "conv_depthwise_kernel_size", "an odd number");
    const auto kind = config.find("position_embeddings_type");
    if (kind && kind->is_null()) return;
    const string_ref name = kind ? kind->as_string() : string_ref("relative");
    if (name == "rotary")
        fail_unsupported(config, "position_embeddings_type", "no row describes conformers with rotary positions");
    put(s, relative, name == "relative");
}

}  // namespace wav2vec2_conformer_detail

// transformers/models/wav2vec2_conformer: features of wav2vec 2.0, layers of a conformer
inline constexpr architecture wav2vec2_conformer = [](architecture a) {
    a.model_type = "wav2vec2-conformer", a.prefix = "Wav2Vec2Conformer", a.names.base = "wav2vec2_conformer";
    a.read = wav2vec2_conformer_detail::read, a.layer = wav2vec2_conformer_detail::encode, a.attend = nullptr;
    a.own = wav2vec2_conformer_detail::table.keys;
    return a;
}(wav2vec2);

}  // namespace llmcost::arch
