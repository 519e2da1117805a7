// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/model/architecture.hpp>

// What a decoder makes once in front of its layers: masks, and tables of rotary positions.
namespace llmcost {

/// The rotary tables of a row, into what layers read.
constexpr void make_rotary_tables(const site& here, trace& t, shared_values& into, bool sliding = false) {
    const class_name named = here.type(here.row.names.rotary_type);
    const rotary_frequencies frequencies{here.dims, sliding};
    if (here.row.rotated == rotation::complex_pairs) {
        const complex_rotary_table table{here.dims.rotary_dim, named, frequencies};
        into.cos = t.call(here.row.names.rotary, table, t.load().sequence);
        return;
    }
    const rotary_table table{here.dims.rotary_dim, named, frequencies, here.row.rotated, here.row.axes};
    const auto tables = t.call(here.row.names.rotary, table, t.load().sequence);
    into.cos = tables.first, into.sin = tables.second;
}

/// One mask for layers of both kinds, as long as the caches of those that slide: while these have forgotten nothing.
///
/// Later the reference adds it to longer scores and fails (Mistral with `layer_types`).
constexpr value mask_for_both_kinds(trace& t, const context& slides) {
    const std::int64_t past = t.load().past;
    if (past > slides.past && !t.idle()) report_positions(slides.past, past);
    return eager_mask(t, slides, t.load().batch);
}

/// Masks by the row's rule, for each kind of attention that layers are of.
constexpr decoder_context masks(const site& here, trace& t) {
    const architecture& row = here.row;
    const workload& load = t.load();
    const layer_plan& plan = here.dims.layers;
    const std::int64_t layers = here.dims.num_hidden_layers;
    const bool chunked = plan.has(mixer_kind::chunked_attention, layers);
    decoder_context c;
    c.full.where = context_of(t, 0);
    c.sliding.where = context_of(t, here.dims.sliding_window, chunked ? window_kind::chunked : window_kind::sliding);
    c.full.where.causal = c.sliding.where.causal = !here.dims.looks_ahead;
    const bool slides = chunked || plan.has(mixer_kind::sliding_attention, layers);
    const bool full = plan.has(mixer_kind::full_attention, layers);
    if (row.masks == mask_rule::by_window && slides && full) {
        c.full.mask = c.sliding.mask = mask_for_both_kinds(t, c.sliding.where);
        return c;
    }
    // as long as the cache of a layer that reads it, or where none does, of the first (masking_utils.py, `layer_idx`)
    const context& longest = slides && !full ? c.sliding.where : c.full.where;
    const context& shortest = slides ? c.sliding.where : c.full.where;
    const bool by_layers = row.masks == mask_rule::by_window || row.masks == mask_rule::present;
    if (!by_layers || full) c.full.mask = eager_mask(t, longest, load.batch);
    if (row.masks == mask_rule::full_and_sliding || slides) c.sliding.mask = eager_mask(t, shortest, load.batch);
    return c;
}

/// Rotary tables beside masks: one for all layers, or one for each kind of attention.
constexpr decoder_context with_tables(const site& here, trace& t, decoder_context c) {
    const architecture& row = here.row;
    const layer_plan& plan = here.dims.layers;
    const std::int64_t layers = here.dims.num_hidden_layers;
    if (row.rotated == rotation::none) return c;
    const bool full = plan.has(mixer_kind::full_attention, layers), slides = plan.has(mixer_kind::sliding_attention, layers);
    if (full || !row.rotary_per_mixer) make_rotary_tables(here, t, c.full);
    if (row.rotary_per_mixer && slides) make_rotary_tables(here, t, c.sliding, true);
    if (!row.rotary_per_mixer) c.sliding.cos = c.full.cos, c.sliding.sin = c.full.sin;
    return c;
}

/// Elements of a head that each kind of attention rotates.
struct rotated_parts {
    std::int64_t full;
    std::int64_t sliding;
};
/// Masks, then rotary tables for each kind of attention that there is, over parts of their own.
constexpr decoder_context masks_and_tables_by_kind(const site& here, trace& t, rotated_parts of, rotation form) {
    decoder_context c = masks(here, t);
    const auto make = [&](shared_values& into, std::int64_t rotated, mixer_kind mixer) {
        if (!here.dims.layers.has(mixer, here.dims.num_hidden_layers)) return;
        const class_name named = here.type(here.row.names.rotary_type);
        const bool sliding = mixer == mixer_kind::sliding_attention;
        const rotary_table table{rotated, named, rotary_frequencies{here.dims, sliding}, form};
        const auto tables = t.call(here.row.names.rotary, table, t.load().sequence);
        into.cos = tables.first, into.sin = tables.second;
    };
    make(c.full, of.full, mixer_kind::full_attention);
    make(c.sliding, of.sliding, mixer_kind::sliding_attention);
    return c;
}

/// Masks, then rotary tables.
constexpr decoder_context masks_and_tables(const site& here, trace& t) { return with_tables(here, t, masks(here, t)); }

}  // namespace llmcost
