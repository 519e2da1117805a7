// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace pixtral_detail {

/// The longest side at most so long, both a whole number of steps, rounded up.
///
/// Source: transformers/models/pixtral/image_processing_pixtral.py, `get_resize_output_image_size`.
[[nodiscard]] constexpr image_sides resized(image_sides shown, std::int64_t longest, std::int64_t step) {
    const auto share = [](std::int64_t side, std::int64_t most) { return static_cast<double>(side) / static_cast<double>(most); };
    const double by_height = share(shown.height, longest), by_width = share(shown.width, longest);
    const double ratio = by_height > by_width ? by_height : by_width;
    const auto whole = [&](std::int64_t side) {
        const auto scaled = ratio > 1 ? static_cast<std::int64_t>(static_cast<double>(side) / ratio) : side;
        if (scaled < 1) report_description("an image of these sides has no height or no width left when it is made smaller");
        return (scaled - 1) / step * step + step;
    };
    return {whole(shown.height), whole(shown.width)};
}

/// Patches of all images in one sequence behind a mask that keeps images apart.
constexpr value base(const site& here, trace& t) {
    const value patches = embed_patches(here, t, "patch_conv", false, images_of(here, t));
    const std::int64_t images = patches.dim(0), each = patches.dim(1), n = images * each, width = here.dims.hidden_size;
    const norm<norm_kind::rms> before{width, here.type("RMSNorm")};
    const value x = t.call("ln_pre", before, t.copy(patches).view({1, n, width}));
    const two_values tables =
        t.call("patch_positional_embedding", axial_table{here.dims.head_dim, here.type("VisionRotaryEmbedding")}, n);
    decoder_context shared;
    shared.full.where = {.sequence = n, .causal = false}, shared.full.mask = t.constant({1, 1, n, n}, x.type);
    shared.full.cos = tables.first, shared.full.sin = tables.second;
    const module_info transformer{.name = "transformer", .type = here.type("Transformer")};
    t.enter(transformer);
    return t.leave(transformer, describe_layers(here, t, shared, x));
}

constexpr void read(config_view config, sizes& s) {
    read_square_image(config, s, 1024, 16);
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = s.output_bias = false, s.rotary_dim = s.head_dim;
}

}  // namespace pixtral_detail

// transformers/models/pixtral: Mistral's layers over patches of all images at once
inline constexpr architecture pixtral = [](architecture a) {
    a.model_type = "pixtral", a.prefix = "Pixtral", a.base = pixtral_detail::base, a.read = pixtral_detail::read;
    a.rotated = rotation::half, a.any_image = true;
    a.layer = layer_normed_before, a.mix = mix_by_attention, a.attend = attend_turned_patches, a.feed = feed_forward;
    a.residual = add_residual;
    a.names.layer_type = "AttentionLayer", a.names.attention = "attention", a.names.feed_forward = "feed_forward";
    a.names.norm_before_attention = "attention_norm", a.names.norm_before_feed_forward = "ffn_norm", a.names.o = "o_proj";
    a.defaults.attention_bias = false;
    a.keys[3] = no_mlp_bias;
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

}  // namespace llmcost::arch
