// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace pp_formulanet_detail {

enum tower_own : std::size_t { middle = sizeof sam_detail::keys / sizeof *sam_detail::keys, last };
inline constexpr own_key tower_keys[]{
    sam_detail::keys[0], sam_detail::keys[1],           sam_detail::keys[2],           sam_detail::keys[3],
    sam_detail::keys[4], {"post_conv_mid_channels", 512}, {"post_conv_out_channels", 1024},
};
static_assert(last + 1 == sizeof tower_keys / sizeof *tower_keys);

/// Two convolutions that make the grid smaller, and two projections.
constexpr value tower_base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const value seen = sam_detail::describe_encoder(here, t);
    const std::int64_t between = own[middle], out = own[last];
    const module_info projector{
        .name = "multi_modal_projector", .type = here.type("MultiModalProjector"), .what = role::projector};
    t.enter(projector);
    value x = t.call("conv1", convolution_2d{seen.dim(1), between, 3, 2, 1, 1, false}, seen);
    x = as_tokens(t.call("conv2", convolution_2d{between, out, 3, 2, 1, 1, false}, x));
    x = t.call("linear_1", linear{out, out, true}, x);
    return t.leave(projector, t.call("linear_2", linear{out, here.whole.dims.hidden_size, true}, x));
}

constexpr void read_tower(config_view config, sizes& s) {
    sam_detail::read_windows(config, s);
    if (!config.contains("image_size")) s.vision.image_height = s.vision.image_width = 512;
    if (config.positive("post_conv_in_channels", 256) != s.own[sam_detail::output_channels])
        fail_value(config, "post_conv_in_channels", "output_channels");
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "PPFormulaNet", a.base = tower_base, a.read = read_tower, a.own = tower_keys;
    a.names.model_type = "VisionModel";
    a.defaults.intermediate_size = 3072, a.keys[3] = {"intermediate_size", "mlp_dim", key_rule::written_only};
    return a;
}(sam_detail::tower);

inline constexpr stack_style style{.norm_first = true,
                                   .norm_last = "layer_norm",
                                   .decoder_type = "TextModel",
                                   .positions = learned_positions_after_two};
inline constexpr own_key text_keys[]{{"decoder_layers", 8},
                                     {"decoder_attention_heads", 16},
                                     {"decoder_ffn_dim", 2048},
                                     {.otherwise = 1, .value = own_value::computed}};  // no encoder of texts
inline constexpr architecture texts = [](architecture a) {
    a.prefix = "PPFormulaNet", a.own = text_keys, a.drops = {};
    a.defaults.vocab_size = 50000, a.defaults.hidden_size = 512, a.defaults.max_position_embeddings = 2560;
    a.defaults.tie_word_embeddings = false;
    return a;
}(mbart);

/// MBart's decoder in front of SAM's encoder, whose states it reads.
constexpr value describe(const site& here, trace& t) {
    const bool bare = here.dims.head == head_kind::none;
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const module_info base{.name = bare ? "" : "model", .type = here.type("Model")};
    const site text = here.text();
    if (!bare) t.enter(whole);
    t.enter(base);
    value states;
    {
        const recorder::idle_guard done{t, encoder_is_done(t.load())};
        const recorder::workload_guard shown{t, pictures(t.load(), t.load().batch, 0, 0)};
        states = describe_tower(here, t, 0, "encoder", role::vision);
    }
    if (encoder_is_done(t.load())) states = t.input({t.load().batch, states.dim(1), states.dim(2)});
    const value x = t.leave(base, describe_decoder_module(text, t, style, &states, text.dims.vocab_size));
    if (bare) return x;
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, describe_word_scores(text, t, x, text.dims.vocab_size, false)));
}

/// Every image is made as large as the tower's own.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images > 1) report_description("a text reads one image, through attention to it");
    const vision_sizes& image = m.beside[0].dims.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

constexpr void read(config_view config, model& m) {
    const auto images = config.optional_object("vision_config");
    const std::int64_t width = images ? images->positive("decoder_hidden_size", 512) : 512;
    m.dims.tie_word_embeddings = false;  // whatever it says, nothing is tied
    if (width != m.dims.hidden_size) fail_value(config, "text_config", "a d_model as large as decoder_hidden_size of images");
}

}  // namespace pp_formulanet_detail

// transformers/models/pp_formulanet: modeling_pp_formulanet.py, formulas written by MBart's decoder from SAM's states
inline constexpr architecture pp_formulanet = [](architecture a) {
    a.model_type = "pp_formulanet", a.prefix = "PPFormulaNet", a.describe = pp_formulanet_detail::describe;
    a.read_whole = pp_formulanet_detail::read, a.media = pp_formulanet_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &pp_formulanet_detail::texts, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &pp_formulanet_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
