// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/chinese_clip.hpp>
#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace altclip_detail {

enum text_own : std::uint8_t { projection };
inline constexpr own_key text_keys[]{{"project_dim", 768}}, keys[]{{"projection_dim", 768}};

inline constexpr architecture texts = [](architecture a) {
    a.prefix = "AltRoberta", a.names.layers = "layers", a.attend = chinese_clip_detail::attend_in_float, a.drops = {};
    a.own = text_keys, a.defaults.vocab_size = 250002, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 514;
    a.defaults.type_vocab_size = 1;
    return a;
}(roberta);

inline constexpr architecture images = [](architecture a) {
    a.prefix = "AltCLIP";
    return a;
}(clip_vision_model);

/// Every token's state is normed and projected, the first of them pools the text.
constexpr value pool(const site& here, trace& t) {
    const site text = here.text();
    const std::int64_t width = text.dims.hidden_size;
    const module_info half{.name = "text_model", .type = here.type("TextModel"), .what = role::encoder};
    const module_info roberta{.name = "roberta", .type = text.type("Model")};
    t.enter(half);
    const value x = t.call("pre_LN", norm<norm_kind::layer>{width}, describe_within(roberta, text.row.base, text, t));
    return t.leave(half, t.select(t.call("transformation", linear{width, text.dims.own[projection], true}, x), 1));
}
constexpr value describe(const site& here, trace& t) {
    return clip_detail::score_with(here, t, [&] { return pool(here, t); });
}

}  // namespace altclip_detail

// transformers/models/altclip: CLIP whose texts RoBERTa reads
inline constexpr architecture altclip = [](architecture a) {
    a.model_type = "altclip", a.prefix = "AltCLIP", a.heads = {head_kind::none};
    a.describe = altclip_detail::describe, a.own = altclip_detail::keys;
    a.text.otherwise = &altclip_detail::texts, a.beside[0].otherwise = &altclip_detail::images;
    return a;
}(clip);

}  // namespace llmcost::arch
