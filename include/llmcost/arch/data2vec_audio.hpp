// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>

namespace llmcost::arch {

namespace data2vec_audio_detail {

using namespace wav2vec2_detail;

/// The table of wav2vec 2.0 with other keys for its positions.
struct own_table {
    own_key keys[adapter_width + 1];

    constexpr own_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) keys[i] = wav2vec2_detail::keys[i];
        keys[position_kernel] = {"conv_pos_kernel_size", 19};
        keys[further] = {"num_conv_pos_embeddings", 5};
    }
};
inline constexpr own_table table{};

/// One of several convolutions that hear positions, each with a norm without weights.
struct position_layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("PositionalConvLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, kernel = here.dims.own[position_kernel];
        const convolution_1d wide{width, width, kernel, 1, kernel / 2, here.dims.own[position_groups]};
        const value h = t.call("padding", same_places{here.type("PadLayer"), kernel}, t.call("conv", wide, x));
        const norm<norm_kind::layer> plain{width, {}, false, false};
        return t.call("activation", activation_module{act_of(here)},
                      t.call("layer_norm", plain, h.transpose(1, 2)).transpose(1, 2));
    }
};

constexpr value positions(const site& here, trace& t, const value& x) {
    const module_info places{.name = "pos_conv_embed", .type = here.type("PositionalConvEmbedding")};
    value h = x.transpose(1, 2);
    t.enter(places);
    for (std::int64_t i = 0; i < here.dims.own[further]; ++i) h = t.call({"layers", i}, position_layer{here}, h);
    return t.leave(places, h.transpose(1, 2));
}

constexpr value encode(const site& here, trace& t, const value& x) { return encode_with(here, t, x, positions); }

constexpr void read(config_view config, sizes& s) {
    read_shared(config, s);
    read_adapter_layers(config, s);
    s.own[switches] &= ~(groups_norm | stable);
    put(s, always_norms, true);
    if (s.own[further] > 64) fail_unsupported(config, "num_conv_pos_embeddings", "no row describes more than 64");
}

}  // namespace data2vec_audio_detail

// transformers/models/data2vec, Data2VecAudioConfig: norms behind all convolutions, several of which hear positions
inline constexpr architecture data2vec_audio = [](architecture a) {
    a.model_type = "data2vec-audio", a.prefix = "Data2VecAudio", a.names.base = "data2vec_audio";
    a.read = data2vec_audio_detail::read, a.layer = data2vec_audio_detail::encode;
    a.own = data2vec_audio_detail::table.keys;
    return a;
}(wav2vec2);

}  // namespace llmcost::arch
