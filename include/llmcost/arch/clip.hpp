// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/reading/pairs.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/pairs.hpp>

namespace llmcost::arch {

namespace clip_detail {

/// Patches behind a class token, with learned positions; layers; the class token behind a norm is what pools, beside them.
constexpr two_values states_and_pool(const site& here, trace& t, bool reads_pool, literal encoder = "Encoder") {
    const std::int64_t width = here.dims.hidden_size;
    const value pixels = pixels_of(here, t);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value token = t.param("class_embedding", {width});
    const value patches = embed_patches(here, t, "patch_embedding", false, pixels);
    const value with = t.cat({token.view({1, 1, width}).expand({pixels.dim(0), 1, width}), patches}, 1);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision) + 1, width);
    value x = t.leave(embeddings, t.add(with, places));
    const norm<norm_kind::layer> layer_norm{width};
    x = encode(here, t, t.call("pre_layrnorm", layer_norm, x), encoder);
    const recorder::off_loss_guard unread{t, !reads_pool};
    return {x, t.call("post_layernorm", layer_norm, t.select(x, 1))};
}
constexpr value base(const site& here, trace& t) { return states_and_pool(here, t, false).first; }

constexpr void read(config_view config, sizes& s) {
    read_square_image(config, s, 224, 32);
    share_among_heads(config, s, {"num_attention_heads"});
}

constexpr void read_text(config_view config, sizes& s) { share_among_heads(config, s, {"num_attention_heads"}); }

enum own : std::uint8_t { projection };
inline constexpr own_key keys[]{{"projection_dim", 512}};

/// A text's tokens see those before, and the state of its last one pools it.
constexpr two_values read_text_half(const site& here, trace& t, bool reads_pool) {
    const value x = describe_words(here, t, text_mask::causal);
    const recorder::off_loss_guard unread{t, !reads_pool};
    return {x, t.gather(x, {x.dim(0), x.dim(2)})};
}
constexpr value text_base(const site& here, trace& t) { return read_text_half(here, t, false).first; }

/// Older files write a part's configuration a second time, and that one holds (configuration_clip.py, `text_config_dict`).
constexpr void read_pair(config_view config, model& m) {
    read_written_twice(config, m, "text_config_dict", "vision_config_dict");
    keep_image_half(m);
}

/// Scores of every text and image, from the directions of what pools each; `pool` makes that of the texts.
template <class Pool>
constexpr value score_with(const site& here, trace& t, const Pool& pool, literal encoder = "Encoder") {
    const module_info whole{.type = here.type("Model")};
    const site tower = here.component(0);
    const std::int64_t width = here.whole.own[projection];
    t.enter(whole);
    const value scale = t.param("logit_scale", {});
    const value end = pool();
    const value image = pool_images(here, t, [&] { return states_and_pool(tower, t, true, encoder).second; });
    const value seen = t.call("visual_projection", projector_linear{tower.dims.hidden_size, width}, image);
    const value read = t.call("text_projection", projector_linear{end.dim(1), width}, end);
    return t.leave(whole, score_pairs(t, direction_by_power(t, read), direction_by_power(t, seen), scale));
}

constexpr value classify_patches(const site& here, trace& t, const value& x) {
    return classify_linear(here, t, t.mean(t.slice(x, 1, x.dim(1) - 1), 1));
}
constexpr value describe_pair(const site& here, trace& t) {
    if (here.dims.head == head_kind::image_classification) return describe_image_half(here, t, classify_patches);
    const site text = here.text();
    return score_with(here, t, [&] { return pool_text(here, t, [&] { return read_text_half(text, t, true).second; }); });
}

}  // namespace clip_detail

// transformers/models/clip: `CLIPVisionModel`, the images' half
inline constexpr architecture clip_vision_model = [](architecture a) {
    a.model_type = "clip_vision_model", a.prefix = "CLIP", a.base = clip_detail::base, a.read = clip_detail::read;
    a.tokens_ahead = 1, a.defaults.hidden_act = activation::quick_gelu, a.drops = tower_dropout;
    return a;
}(shared_tower);

// `CLIPVisionModel` of ViT-L/14 at 336 pixels, which LLaVA and its relatives take where they name no tower
inline constexpr architecture clip_of_llava = [](architecture a) {
    a.read = [](config_view config, sizes& s) {
        read_square_image(config, s, 336, 14);
        share_among_heads(config, s, {"num_attention_heads"});
    };
    a.defaults.intermediate_size = 4096, a.defaults.hidden_size = 1024, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16;
    return a;
}(clip_vision_model);

// transformers/models/clip: `CLIPTextModel`, the texts' half
inline constexpr architecture clip_text_model = [](architecture a) {
    a.model_type = "clip_text_model", a.prefix = "CLIP", a.base = clip_detail::text_base, a.read = clip_detail::read_text;
    a.defaults.vocab_size = 49408, a.defaults.hidden_size = 512, a.defaults.intermediate_size = 2048;
    a.defaults.num_attention_heads = 8, a.defaults.max_position_embeddings = 77;
    a.defaults.hidden_act = activation::quick_gelu;
    return a;
}(text_tower);

// transformers/models/clip: modeling_clip.py, texts and images in one space, and the images' half under a classifier
inline constexpr architecture clip = [](architecture a) {
    a.model_type = "clip", a.prefix = "CLIP", a.describe = clip_detail::describe_pair;
    a.read_whole = clip_detail::read_pair, a.own = clip_detail::keys;
    a.text.otherwise = &clip_text_model, a.beside[0].otherwise = &clip_vision_model;
    return a;
}(shared_pair);

}  // namespace llmcost::arch
