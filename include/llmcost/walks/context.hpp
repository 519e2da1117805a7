// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/model/architecture.hpp>

// What a decoder makes once in front of its layers: masks, and tables of rotary positions.
namespace llmcost {

/// The rotary tables of a row, into what layers read.
constexpr void make_rotary_tables(const site& here, trace& t, shared_values& into) {
    const class_name named = here.type(here.row.names.rotary_type);
    const rotary_frequencies frequencies{here.dims};
    if (here.row.rotated == rotation::complex_pairs) {
        const complex_rotary_table table{here.dims.rotary_dim, named, frequencies};
        into.cos = t.call(here.row.names.rotary, table, t.load().sequence);
        return;
    }
    const rotary_table table{here.dims.rotary_dim, named, frequencies, here.row.rotated, here.row.axes};
    const auto tables = t.call(here.row.names.rotary, table, t.load().sequence);
    into.cos = tables.first, into.sin = tables.second;
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
    // as long as the cache of a layer that reads it, or where none does, of the first (masking_utils.py, `layer_idx`)
    const context& longest = slides && !full ? c.sliding.where : c.full.where;
    const context& shortest = slides ? c.sliding.where : c.full.where;
    if (row.masks != mask_rule::by_window || full) c.full.mask = eager_mask(t, longest, load.batch);
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
    if (row.rotary_per_mixer && slides) make_rotary_tables(here, t, c.sliding);
    if (!row.rotary_per_mixer) c.sliding.cos = c.full.cos, c.sliding.sin = c.full.sin;
    return c;
}

/// Masks, then rotary tables.
constexpr decoder_context masks_and_tables(const site& here, trace& t) { return with_tables(here, t, masks(here, t)); }

}  // namespace llmcost
