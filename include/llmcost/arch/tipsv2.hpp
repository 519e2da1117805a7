// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/dinov2.hpp>
#include <llmcost/walks/pairs.hpp>

namespace llmcost::arch {

namespace tipsv2_detail {

/// Positions that are computed when the model is made.
struct sinusoidal_positions {
    std::int64_t held;
    std::int64_t width;
    class_name named;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, std::int64_t sequence) const {
        const recorder::no_grad_guard constants{t};
        return t.gather(trace::buffer({held, width}), {1, sequence, width});
    }
};

/// Scaled words and positions; layers, a norm, and the mean of all tokens.
constexpr two_values read_words(const site& here, trace& t, bool reads_pool) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size, held = here.dims.max_position_embeddings;
    const module_info embeddings{.name = "embeddings", .type = here.type("TextEmbeddings"), .what = role::embedding};
    t.positions(held, load.sequence);
    t.enter(embeddings);
    const value words = t.call("token_embedding", embedding{here.dims.vocab_size, width}, extents{load.batch, load.sequence});
    const sinusoidal_positions places{held, width, here.type("SinusoidalPositionalEmbedding")};
    value x = t.mul(words);
    x = t.leave(embeddings, t.add(x, t.call("position_embedding", places, load.sequence)));
    const shared_values made{.where = all_positions(load.sequence).where};
    x = t.call("final_layer_norm", norm<norm_kind::layer>{width}, encode(here, t, x, "TextEncoder", made));
    const recorder::off_loss_guard unread{t, !reads_pool};
    return {x, t.mean(x, 1)};
}

inline constexpr architecture texts = [](architecture a) {
    a.prefix = "Tipsv2", a.base = [](const site& here, trace& t) { return read_words(here, t, false).first; };
    a.read = [](config_view config, sizes& s) { share_among_heads(config, s, {"num_attention_heads"}); };
    a.names.layer_type = "TextEncoderLayer", a.names.attention_type = "TextAttention";
    a.defaults.vocab_size = 32000, a.defaults.max_position_embeddings = 64, a.defaults.hidden_act = activation::relu;
    return a;
}(text_tower);

/// DINOv2's keys; the ratio of a block's inner width may be no integer.
inline constexpr own_key keys[]{dinov2_detail::keys[0], {.otherwise = 1, .value = own_value::computed},
                                dinov2_detail::keys[2], dinov2_detail::keys[3],
                                dinov2_detail::keys[4], {.value = own_value::computed}};

constexpr void read_images(config_view config, sizes& s) {
    using namespace dinov2_detail;
    dinov2_detail::read(config, s);
    if (!config.contains("image_size")) s.vision.image_height = s.vision.image_width = 448;
    if (!config.contains("patch_size")) s.vision.patch_size = 14;
    const double inner = config.real("mlp_ratio", 4.0) * static_cast<double>(s.hidden_size);
    if (!(inner >= 1 && inner <= static_cast<double>(largest_input)))
        fail_value(config, "mlp_ratio", "a factor that gives a width up to 2147483647");
    s.intermediate_size = static_cast<std::int64_t>(inner);
    if (s.own[gated]) s.intermediate_size = (s.intermediate_size * 2 / 3 + 7) / 8 * 8;
    s.own[registers] = config.non_negative("num_register_tokens", 1), s.own[registered] = s.own[masked] = 1;
}

inline constexpr architecture images = [](architecture a) {
    a.prefix = "Tipsv2Vision", a.read = read_images, a.own = keys, a.any_image = false;
    return a;
}(dinov2);

/// Scores of every text and image, divided by a learned temperature.
constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = here.type("Model")};
    const site text = here.text(), tower = here.component(0);
    t.enter(whole);
    const value temperature = t.param("temperature", {});
    const value read = pool_text(here, t, [&] { return read_words(text, t, true).second; });
    const value seen = pool_images(here, t, [&] { return t.select(tower.row.base(tower, t), 1); });
    const value scores = t.matmul(direction_by_power(t, read), direction_by_power(t, seen).transpose(0, 1));
    return t.leave(whole, t.div(scores, temperature));
}

constexpr void read(config_view config, model& m) {
    if (m.dims.hidden_size != m.beside[0].dims.hidden_size)
        fail_value(config, "text_config", "the hidden_size of vision_config");
}

}  // namespace tipsv2_detail

// transformers/models/tipsv2: modeling_tipsv2.py, DINOv2 with a register beside a text's mean state
inline constexpr architecture tipsv2 = [](architecture a) {
    a.model_type = "tipsv2", a.prefix = "Tipsv2", a.describe = tipsv2_detail::describe, a.read_whole = tipsv2_detail::read;
    a.heads = {head_kind::none};
    a.text.otherwise = &tipsv2_detail::texts, a.beside[0].otherwise = &tipsv2_detail::images;
    return a;
}(shared_pair);

}  // namespace llmcost::arch
