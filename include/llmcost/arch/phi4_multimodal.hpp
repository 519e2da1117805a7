// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/phi3.hpp>
#include <llmcost/arch/phi4_multimodal_audio.hpp>
#include <llmcost/arch/phi4_multimodal_vision.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace phi4_multimodal_detail {

constexpr media_shapes show(const model& m, const workload& load) {
    return {.image = load.images > 0 ? show_image(m, load) : media_shape{}, .audio = show_sound(m, load)};
}

constexpr void read_processor(config_view told, model& m) {
    const sizes& vision = m.beside[0].dims;
    expect_side(told, "size", vision.own[crop], "the crop_size of the configuration's tower");
    expect_side(told, "patch_size", vision.vision.patch_size, "the patch_size of the configuration's tower");
    m.own[most_crops] = told.positive("dynamic_hd", m.own[most_crops]);
}

/// Images and sound, each in words of its own; where both are shown, each token is taken from one of the two by a product
/// with truth values (`Phi4MultimodalFeatureEmbedding`).
constexpr value extend(const site& here, trace& t, const value& words) {
    const module_info m{.name = "embed_tokens_extend", .type = here.type("FeatureEmbedding")};
    t.enter(m);
    const value seen = place_images(here, t, words), heard = place_sound(here, t, words);
    if (!sees_images(t) || !hears(t)) return t.leave(m, sees_images(t) ? seen : heard);
    value places = trace::buffer({words.dim(0), words.dim(1), 1});
    places.type = words.type;
    return t.leave(m, t.add(t.mul(seen, places), t.mul(heard, places)));
}

/// The text model is the model itself: what sees and hears stands beside its layers, and extends its embeddings.
constexpr value base(const site& here, trace& t) {
    const site text = here.text();
    architecture placed = text.row;
    placed.embed = embed_placed;
    shared_values made;
    made.own[0] = extend(here, t, text.row.embed(text, t));
    const value x = placed.base({text.whole, placed, text.dims, &made}, t);
    idle_modules{t}.plain("embed_dropout", {"", "Dropout"});
    return x;
}

}  // namespace phi4_multimodal_detail

// transformers/models/phi4_multimodal, Phi4MultimodalConfig: its text model is Phi-3
inline constexpr architecture phi4_multimodal_text = [](architecture a) {
    a.model_type = "phi4_multimodal", a.prefix = "Phi4Multimodal";
    a.defaults.vocab_size = 200064, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072;
    return a;
}(phi3);

// transformers/models/phi4_multimodal: the text model's keys stand at the root
inline constexpr architecture phi4_multimodal = [](architecture a) {
    a.model_type = "phi4_multimodal", a.prefix = "Phi4Multimodal", a.base = phi4_multimodal_detail::base;
    a.heads = language_heads, a.defaults.head = head_kind::causal_lm;
    a.media = phi4_multimodal_detail::show, a.own = phi4_multimodal_detail::keys;
    a.read_processor = phi4_multimodal_detail::read_processor, a.reads.images = a.reads.audio = true;
    a.read_sound = phi4_multimodal_detail::read_sound, a.sound.transform = 512;
    a.text = {.key = "text_config", .otherwise = &phi4_multimodal_text, .always = true, .flat = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &phi4_multimodal_vision, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &phi4_multimodal_audio, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
