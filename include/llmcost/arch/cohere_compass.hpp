// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere.hpp>
#include <llmcost/arch/qwen3_vl.hpp>
#include <llmcost/reading/rope.hpp>

namespace llmcost::arch {

namespace cohere_compass_detail {

enum own : std::uint8_t { turns_full, turns_sliding };
inline constexpr own_key keys[]{
    {.otherwise = 1, .value = own_value::computed},  // layers that see everything rotate queries and keys
    {.otherwise = 1, .value = own_value::computed},  // the same of those that slide
};

/// Both masks, and rotary tables for the kinds of layers that there are and that rotate.
constexpr decoder_context prepare(const site& here, trace& t) {
    const std::int64_t layers = here.dims.num_hidden_layers;
    const auto has = [&](mixer_kind kind) { return here.dims.layers.has(kind, layers); };
    decoder_context c = masks(here, t);
    if (has(mixer_kind::full_attention) && here.dims.own[turns_full] != 0) make_rotary_tables(here, t, c.full);
    if (has(mixer_kind::sliding_attention) && here.dims.own[turns_sliding] != 0) make_rotary_tables(here, t, c.sliding);
    return c;
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    const bool slides = here.kind.mixer == mixer_kind::sliding_attention;
    if (here.dims.own[slides ? turns_sliding : turns_full] != 0) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Whether layers of this kind rotate: the rotary parameters of each kind stand under its name, or null.
constexpr bool reads_turning(config_view config, literal kind) {
    const auto all = config.optional_object("rope_parameters");
    if (!all) fail_missing(config, "rope_parameters", "rotary parameters, or null, for each kind of layers");
    const auto given = all->find(kind);
    if (!given) fail_missing(*all, kind, "rotary parameters, or null");
    if (given->is_null()) return false;
    const auto sections = given->optional_array("mrope_section");
    if (sections && sections->size() < 3) fail_value(*given, "mrope_section", "frequencies of three axes");
    return true;
}

constexpr void read(config_view config, sizes& s) {
    if (s.sliding_window == 0) fail_value(config, "sliding_window", "a number of tokens: a mask is made in any case");
    if (!read_layer_types(config, s)) s.layers.set_all({mixer_kind::full_attention});
    if (s.layers.has(mixer_kind::full_attention, s.num_hidden_layers))
        s.own[turns_full] = reads_turning(config, "full_attention") ? 1 : 0;
    if (s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers))
        s.own[turns_sliding] = reads_turning(config, "sliding_attention") ? 1 : 0;
    if (s.head == head_kind::sequence_classification && config.string("pooling", "eos") != "eos")
        fail_unsupported(config, "pooling", "no row describes a classifier over another token than the last");
}

// behind Qwen3-VL's bounds of pixels
enum whole : std::uint8_t { scales = 4 };
inline constexpr own_key whole_keys[]{qwen3_vl_detail::bound_keys[0], qwen3_vl_detail::bound_keys[1],
                                      qwen3_vl_detail::bound_keys[2], qwen3_vl_detail::bound_keys[3],
                                      {.value = own_value::computed}};

/// Logits are scaled where the text model's part says by how much.
constexpr void read_whole(config_view config, model& m) {
    const auto text = config.optional_object(m.kind->text.key);
    qwen3_vl_detail::read_whole(config, m);
    m.own[scales] = text && text->optional_real("logit_scale") ? 1 : 0;
}
constexpr value finish(const site& here, trace& t, const value& logits) {
    return here.whole.own[scales] != 0 ? t.mul(logits) : logits;
}

}  // namespace cohere_compass_detail

// transformers/models/cohere_compass: Cohere with positions of three axes, tables per kind of layer, some without
inline constexpr architecture cohere_compass_text = [](architecture a) {
    a.model_type = "cohere_compass_text", a.prefix = "CohereCompass", a.read = cohere_compass_detail::read;
    a.base = qwen3_vl_detail::read_base, a.kinds.own = qwen3_vl_detail::deep_layer;
    a.describe = describe_text_decoder, a.own = cohere_compass_detail::keys, a.prepare = cohere_compass_detail::prepare;
    a.attend = cohere_compass_detail::attend, a.rotated = rotation::half, a.axes = rotary_axes::interleaved;
    a.masks = mask_rule::full_and_sliding, a.heads = classifying_decoder_heads;
    a.names.model_type = "TextModel";
    a.defaults.sliding_window = 4096;
    return a;
}(cohere);

// transformers/models/cohere_compass: what sees is Qwen3-VL's
inline constexpr architecture cohere_compass_vision = [](architecture a) {
    a.model_type = "cohere_compass_vision", a.prefix = "CohereCompass";
    return a;
}(qwen3_vl_vision);
inline constexpr architecture cohere_compass = [](architecture a) {
    a.model_type = "cohere_compass", a.prefix = "CohereCompass", a.own = cohere_compass_detail::whole_keys;
    a.read_whole = cohere_compass_detail::read_whole, a.finish = cohere_compass_detail::finish;
    a.text.otherwise = &cohere_compass_text, a.beside[0].otherwise = &cohere_compass_vision;
    return a;
}(qwen3_vl);

}  // namespace llmcost::arch
