// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/chinese_clip.hpp>
#include <llmcost/arch/efficientnet.hpp>

namespace llmcost::arch {

namespace align_detail {

enum own : std::uint8_t { projection };
inline constexpr own_key keys[]{{"projection_dim", 640}};

inline constexpr architecture texts = chinese_clip_detail::texts_of("AlignText");

/// EfficientNet's blocks without a convolution behind them, and the mean of all places beside them.
constexpr two_values states_and_pool(const site& here, trace& t, bool reads_pool) {
    using namespace efficientnet_detail;
    const value embedded = embed(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    const value x = t.leave(encoder, call_blocks(here, t, embedded));
    const recorder::off_loss_guard unread{t, !reads_pool};
    const value pooled = t.call("pooler", pool_of_everything{here.dims.own[top], here.dims.own[pools_maximum] != 0}, x);
    return {x, t.reshape(pooled, {x.dim(0), x.dim(1)})};
}

inline constexpr architecture images = [](architecture a) {
    a.prefix = "AlignVision", a.names.model_type = "Model", a.read = read_efficientnet_blocks;
    a.base = [](const site& here, trace& t) { return states_and_pool(here, t, false).first; };
    return a;
}(efficientnet);

/// Scores of every text and image, divided by a learned temperature; of a text its first token's state is read.
constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = here.type("Model")};
    const site text = here.text(), tower = here.component(0);
    t.enter(whole);
    const value temperature = t.param("temperature", {});
    const value words = pool_text(here, t, [&] {
        make_padding_mask(t);
        const value x = text.row.base(text, t);
        const recorder::off_loss_guard unread{t};
        (void)pool_first(text, t, x);
        return x;
    });
    const value seen = pool_images(here, t, [&] { return states_and_pool(tower, t, true).second; });
    const projector_linear to_images{text.dims.hidden_size, here.whole.own[projection], true};
    const value read = t.call("text_projection", to_images, t.select(words, 1));
    const value scores = t.matmul(direction(t, read), direction(t, seen).transpose(0, 1));
    return t.leave(whole, t.div(scores, temperature));
}

constexpr void read(config_view config, model& m) {
    const sizes& images = m.beside[0].dims;
    const std::int64_t last = images.own[efficientnet_detail::stages] - 1;
    const std::int64_t width = efficientnet_detail::stage_sizes::read(images, last).out;
    if (m.own[projection] != width) fail_value(config, "projection_dim", "as many as the last blocks of images hand out");
}

}  // namespace align_detail

// transformers/models/align: modeling_align.py, BERT and EfficientNet in one space
inline constexpr architecture align = [](architecture a) {
    a.model_type = "align", a.prefix = "Align", a.describe = align_detail::describe, a.read_whole = align_detail::read;
    a.own = align_detail::keys, a.heads = {head_kind::none};
    a.text.otherwise = &align_detail::texts, a.beside[0].otherwise = &align_detail::images;
    return a;
}(shared_pair);

}  // namespace llmcost::arch
