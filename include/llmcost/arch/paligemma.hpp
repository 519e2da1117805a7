// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace paligemma_detail {

enum own : std::uint8_t { projection_dim };
inline constexpr own_key keys[]{{"projection_dim", 2048}};

/// What brings patches to the width of the text.
struct projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        return t.call("linear", linear{x.dim(-1), here.whole.own[projection_dim], true}, x);
    }
};

constexpr value base(const site& here, trace& t) {
    return describe_masked_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        return t.masked_scatter(words, t.call("multi_modal_projector", projector{here}, states));
    });
}

constexpr void read_processor(config_view told, model& m) {
    expect_resized(told), expect_picture(told, m.beside[0].dims.vision.image_height);
    expect_side(told, "image_seq_length", patches_of(m.beside[0].dims.vision), "the number of the tower's patches");
}

constexpr void read(config_view config, model& m) {
    if (m.own[projection_dim] != m.dims.hidden_size)
        fail_value(config, "projection_dim", "the width of the text, into which patches are put");
}

// what it takes where it names no text model or tower (configuration_paligemma.py, `sub_configs_defaults`)
inline constexpr architecture text = [](architecture a) {
    a.defaults.vocab_size = 257152, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 16384;
    a.defaults.num_hidden_layers = 18, a.defaults.num_attention_heads = 8, a.defaults.num_key_value_heads = 1;
    return a;
}(gemma);
inline constexpr architecture tower = [](architecture a) {
    a.read = [](config_view config, sizes& s) {
        read_square_image(config, s, 224, 14);
        s.own[siglip_detail::uses_head] = 0;
        share_among_heads(config, s, {"num_attention_heads"});
    };
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 27;
    a.defaults.num_attention_heads = 16;
    return a;
}(siglip_vision_model);

}  // namespace paligemma_detail

// transformers/models/paligemma: SigLIP in front of Gemma, whose images see each other; masks are made by the whole
inline constexpr architecture paligemma = [](architecture a) {
    a.model_type = "paligemma", a.prefix = "PaliGemma", a.base = paligemma_detail::base, a.own = paligemma_detail::keys;
    a.read_whole = paligemma_detail::read, a.media = patches_as_tokens, a.read_processor = paligemma_detail::read_processor,
    a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &gemma, .missing = &paligemma_detail::text, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip_vision_model, .missing = &paligemma_detail::tower};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
