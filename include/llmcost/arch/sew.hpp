// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>

namespace llmcost::arch {

namespace sew_detail {

using namespace wav2vec2_detail;

struct own_table {
    own_key keys[adapter_width + 1];

    constexpr own_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) keys[i] = wav2vec2_detail::keys[i];
        keys[further] = {"squeeze_factor", 2};
        keys[adapter_kernel] = keys[adapter_stride] = {.value = own_value::computed};
    }
};
inline constexpr own_table table{};

/// `nn.AvgPool1d`.
struct squeeze {
    std::int64_t by;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "AvgPool1d"}; }
    constexpr value describe(trace& t, const value& x) const { return t.pool(op::average_pool, x, by, by); }
};

/// Fewer places, each the mean of some, plus what a convolution of as large a stride hears: (B, S, width) -> (B, S / by, width).
constexpr value fewer_places(const site& here, trace& t, const value& features) {
    const std::int64_t by = here.dims.own[further];
    const value x = features.transpose(1, 2), heard = hear_positions(here, t, x, by), pooled = t.call("pool", squeeze{by}, x);
    const std::int64_t least = heard.dim(-1) < pooled.dim(-1) ? heard.dim(-1) : pooled.dim(-1);
    return t.add(t.slice(pooled, -1, least), t.slice(heard, -1, least)).transpose(1, 2);
}

/// As many places as before: each of the fewer becomes so many, and zeros fill up the rest.
constexpr value more_places(const site& here, trace& t, const value& x, std::int64_t places) {
    const std::int64_t by = here.dims.own[further], width = here.dims.hidden_size;
    const module_info up{.name = "upsample", .type = here.type("Upsampling")};
    t.enter(up);
    value h = t.call("projection", linear{width, width * by, true}, x);
    h = t.call("activation", activation_module{act_of(here)}, h);
    if (by > 1) h = t.leave(up, h.view({x.dim(0), x.dim(1) * by, width}));
    else h = t.leave(up, h);
    return h.dim(1) < places ? t.pad(h, 1, places - h.dim(1)) : h;
}

constexpr value encode(const site& here, trace& t, const value& features) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    t.enter(encoder);
    value x = dropout(t, "dropout", layer_norm(here, t, "layer_norm", fewer_places(here, t, features)));
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();) {
        const site at = here.at(each, nothing);
        x = t.call({"layers", each.index()}, layer_with<attention_module>{at, {at}}, x);
    }
    return t.leave(encoder, more_places(here, t, x, features.dim(1)));
}

/// Features, normed and brought to the width of the layers beside them.
constexpr value base(const site& here, trace& t) {
    declare_mask(here, t);
    const std::int64_t from = features_of(here), to = here.dims.hidden_size;
    value x = t.call("layer_norm", norm<norm_kind::layer>{from}, extract(here, t));
    if (from != to) x = t.call("feature_projection", linear{from, to, true}, x);
    return here.row.layer(here, t, dropout(t, "feature_dropout", x));
}

constexpr void read(config_view config, sizes& s) {
    read_shared(config, s, most_convolutions);
    s.own[switches] &= ~stable;
}

}  // namespace sew_detail

// transformers/models/sew: layers over fewer places than there are features
inline constexpr architecture sew = [](architecture a) {
    a.model_type = "sew", a.prefix = "SEW", a.names.base = "sew", a.base = sew_detail::base;
    a.read = sew_detail::read, a.layer = sew_detail::encode, a.own = sew_detail::table.keys;
    return a;
}(wav2vec2);

}  // namespace llmcost::arch
