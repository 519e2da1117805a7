// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3n.hpp>
#include <llmcost/arch/gemma3n_audio.hpp>
#include <llmcost/arch/gemma3n_vision.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace gemma3n_media_detail {

enum own : std::uint8_t { image_tokens, sound_tokens };
inline constexpr own_key keys[]{{"vision_soft_tokens_per_image", 256}, {"audio_soft_tokens_per_image", 188}};

/// So many tokens for an image or a recording, whatever is shown.
constexpr media_shapes show(const model& m, const workload& load) {
    media_shapes shown{.image = {.tokens = m.own[image_tokens], .height = image_side, .width = image_side}};
    if (load.audio_milliseconds == 0) return shown;
    shown.audio = frames_of(m.sound, load.audio_milliseconds);
    shown.audio.tokens = m.own[sound_tokens];
    return shown;
}

/// A norm and a projection to the width of the text, of words of a tower's own vocabulary or of what the tower gives.
struct embedder {
    site text;
    const sizes& tower;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return text.type("MultimodalEmbedder"); }
    constexpr value describe(trace& t, const extents& ids) const {
        const std::int64_t in = tower.hidden_size;
        const value x =
            norm_of(text, t, "hard_embedding_norm", in, t.call("embedding", embedding{tower.vocab_size, in}, ids));
        {
            const recorder::idle_guard unused{t};
            (void)norm_of(text, t, "soft_embedding_norm", in, x);
        }
        return project(t, x);
    }
    /// Called again, after words have been.
    constexpr value describe(trace& t, const value& seen) const {
        return project(t, norm_of(text, t, "soft_embedding_norm", tower.hidden_size, seen));
    }

private:
    constexpr value project(trace& t, const value& x) const {
        const value h = t.call("embedding_projection", linear{tower.hidden_size, text.dims.hidden_size}, x);
        return gemma3n_detail::norm_without_weight(text, t, "embedding_post_projection_norm", h);
    }
};

/// The tower for images, whose places become words.
constexpr value look(const site& here, trace& t, const value& words) {
    const recorder::idle_guard no_pixels{t, !sees_images(t)};
    const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
    value x = describe_tower(here, t, 0, "vision_tower", role::vision);
    if (const std::int64_t width = here.component(0).dims.hidden_size; x.dim(1) != width) {
        if (sees_images(t)) report_description("the tower's features are not as wide as vision_config says");
        x = t.input({x.dim(0), width, x.dim(2), x.dim(3)});  // a text alone reads no features
    }
    x = t.reshape(x, {x.dim(0), x.dim(1), x.dim(2) * x.dim(3)}).permute({0, 2, 1});
    t.in_place(op::mul, x);
    const recorder::called_again_guard again{t};
    return t.masked_scatter(words, t.call("embed_vision", embedder{here.text(), here.component(0).dims}, x));
}

/// The tower for sound, filled up with one word to as many tokens as every recording has.
constexpr value listen(const site& here, trace& t, const value& words) {
    const recorder::idle_guard no_sound{t, !hears(t)};
    const value x = describe_tower(here, t, 1, "audio_tower", role::audio);
    const recorder::called_again_guard again{t};
    const embedder embeds{here.text(), here.component(1).dims};
    const value heard = t.call("embed_audio", embeds, x), filler = t.call("embed_audio", embeds, extents{1, 1});
    const std::int64_t batch = heard.dim(0), more = here.whole.own[sound_tokens] - heard.dim(1);
    if (hears(t) && more < 0) report_description("a recording gives more states than tokens stand for it");
    const value chosen = t.where(heard);
    return t.masked_scatter(words, t.cat({chosen, filler.expand({batch, more > 0 ? more : 0, heard.dim(2)})}, 1));
}

/// A text, too, is looked up in the vocabularies of both towers, and where it has none of their words its own are taken.
///
/// Source: `Gemma3nModel.forward`.
constexpr value base(const site& here, trace& t) {
    const site text = here.text();
    const module_info m{.name = "language_model", .type = text.type(text.row.names.model_type)};
    t.enter(m);
    value x = text.row.embed(text, t);
    const value given = gemma3n_detail::inputs_of_words(text, t);
    t.leave(m);
    const extents ids{t.load().batch, t.load().sequence};
    x = t.where(t.call("embed_vision", embedder{text, here.component(0).dims}, ids), x);
    x = t.where(t.call("embed_audio", embedder{text, here.component(1).dims}, ids), x);
    x = listen(here, t, look(here, t, x));
    t.enter(m);
    return t.leave(m, gemma3n_detail::walk(text, t, x, given));
}

constexpr void read_processor(config_view told, model&) { expect_resized(told), expect_picture(told, image_side); }

/// Source: transformers/models/gemma3n/feature_extraction_gemma3n.py; processing_gemma3n.py, `audio_seq_length`.
constexpr void read_sound(config_view config, model& m) {
    if (const auto whole = config.optional_object("processor_config"))
        expect_number(*whole, "audio_seq_length", m.own[sound_tokens], "audio_soft_tokens_per_image of the configuration");
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "Gemma3nAudioFeatureExtractor");
    expect_bands(*told, {"feature_size"}, m.beside[1].dims.own[features]);
    read_frames_by_time(*told, m.sound);
}

/// The text model's cap is the whole's.
constexpr void read(config_view config, model& m) {
    const auto text = config.optional_object("text_config");
    m.dims.logits_soft_cap = !text || gemma3n_detail::caps_logits(*text);
    if (m.own[image_tokens] != token_side * token_side)
        fail_value(config, "vision_soft_tokens_per_image", "256, as many as the tower's places");
}

}  // namespace gemma3n_media_detail

// transformers/models/gemma3n: timm's MobileNetV5 and a conformer beside Gemma 3n, with vocabularies of their own
inline constexpr architecture gemma3n = [](architecture a) {
    a.model_type = "gemma3n", a.prefix = "Gemma3n", a.base = gemma3n_media_detail::base;
    a.read_whole = gemma3n_media_detail::read, a.own = gemma3n_media_detail::keys;
    a.media = gemma3n_media_detail::show, a.read_processor = gemma3n_media_detail::read_processor,
    a.reads.images = a.reads.audio = true, a.read_sound = gemma3n_media_detail::read_sound;
    a.sound = gemma3n_media_detail::own_sound;
    a.text = {.key = "text_config", .otherwise = &gemma3n_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &gemma3n_media_detail::vision, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &gemma3n_media_detail::audio, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
