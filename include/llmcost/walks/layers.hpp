// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/activation.hpp>
#include <llmcost/model/architecture.hpp>

// Layers of a decoder: where norms and residuals stand around what mixes tokens and what feeds forward.
namespace llmcost {

/// A norm of a layer or behind all of them.
constexpr value normed(const site& here, trace& t, literal name, const value& x) {
    return call_norm(t, name, here.row.norm, here.dims.hidden_size, here.type(here.row.names.norm_type), x);
}

/// What mixes the tokens of this layer: its recurrence, or attention.
constexpr value mixed(const site& here, trace& t, const value& x) {
    if (here.kind.mixer != mixer_kind::recurrent) return here.row.mix(here, t, x);
    if (here.row.recur == nullptr) report_description("a recurrent layer of a row without a recurrence");
    return here.row.recur(here, t, x);
}

/// A dropout module, where the row has one of this name.
constexpr value dropped(trace& t, literal name, const value& x) { return is_empty(name) ? x : dropout(t, name, x); }

/// x + h.
constexpr value add_residual(const site&, trace& t, const value& around, const value& through) {
    return t.add(around, through);
}
/// x + h, of which something is dropped.
constexpr value add_dropped_residual(const site&, trace& t, const value& around, const value& through) {
    return t.add(around, drop(t, through, dropout_of::hidden));
}
/// x + h · constant.
constexpr value add_scaled_residual(const site&, trace& t, const value& around, const value& through) {
    return t.add(around, t.mul(through));
}

/// Norm, mixer, residual; norm, feed-forward, residual (Llama).
constexpr value layer_normed_before(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    value h = mixed(here, t, normed(here, t, n.norm_before_attention, x));
    const value middle = here.row.residual(here, t, x, dropped(t, n.attention_dropout, h));
    h = here.row.feed(here, t, normed(here, t, n.norm_before_feed_forward, middle));
    return here.row.residual(here, t, middle, dropped(t, n.feed_forward_dropout, h));
}

/// Norms on each block's output, inside of the residual (OLMo 2).
constexpr value layer_normed_after(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    value h = normed(here, t, n.norm_after_attention, dropped(t, n.attention_dropout, mixed(here, t, x)));
    const value middle = here.row.residual(here, t, x, h);
    h = normed(here, t, n.norm_after_feed_forward, dropped(t, n.feed_forward_dropout, here.row.feed(here, t, middle)));
    return here.row.residual(here, t, middle, h);
}

/// Norms before and after each block (Gemma 2).
constexpr value layer_normed_around(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    value h = mixed(here, t, normed(here, t, n.norm_before_attention, x));
    const value middle = here.row.residual(here, t, x, normed(here, t, n.norm_after_attention, h));
    h = here.row.feed(here, t, normed(here, t, n.norm_before_feed_forward, middle));
    return here.row.residual(here, t, middle, normed(here, t, n.norm_after_feed_forward, h));
}

/// Mixer and feed-forward side by side behind one norm (Cohere).
constexpr value layer_in_parallel(const site& here, trace& t, const value& x) {
    const value h = normed(here, t, here.row.names.norm_before_attention, x);
    const value a = mixed(here, t, h);
    const value f = dropped(t, here.row.names.feed_forward_dropout, here.row.feed(here, t, h));
    return t.add(t.add(x, a), f);
}

/// The module around a row's `layer`.
struct decoder_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        const bool recurs = here.kind.mixer == mixer_kind::recurrent;
        return here.type(recurs ? here.row.names.recurrent_layer_type : here.row.names.layer_type);
    }
    constexpr value describe(trace& t, const value& x) const { return here.row.layer(here, t, x); }
};

}  // namespace llmcost
