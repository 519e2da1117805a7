// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/blip_2.hpp>

namespace llmcost::arch {

namespace instructblip_detail {

/// Words of an instruction that queries read beside an image, where nothing says how many there are.
inline constexpr std::int64_t instruction = 32;

/// Frames that the processor shows of whatever it is given.
///
/// Source: transformers/models/instructblipvideo/video_processing_instructblipvideo.py, processing_instructblipvideo.py.
inline constexpr std::int64_t frames = 4;

constexpr media_shapes show_frames(const model& m, const workload& load) {
    media_shapes shown = blip_2_detail::show(m, load);
    shown.image.tokens *= frames;
    return shown;
}

/// Words behind learned queries, a norm over both; queries leave the layers, words do not.

constexpr value query(const site& here, trace& t, const value& seen) {
    const site there = here.component(1);
    const own_sizes& own = there.dims.own;
    const std::int64_t n = here.whole.own[blip_2_detail::queries], width = there.dims.hidden_size, pictures = seen.dim(0);
    if (instruction > own[blip_2_detail::positions])
        report_description("an instruction has more words than there are positions");
    const value learned = t.param("query_tokens", {1, n, width}).expand({pictures, n, width});
    const module_info model{.name = "qformer", .type = there.type("QFormerModel")};
    const module_info embeddings{.name = "embeddings", .type = there.type("QFormerEmbeddings"), .what = role::embedding};
    t.enter(model), t.enter(embeddings);
    const value words =
        t.call("word_embeddings", embedding{own[blip_2_detail::words], width}, extents{pictures, instruction});
    const value places =
        t.call("position_embeddings", embedding{own[blip_2_detail::positions], width}, extents{1, instruction});
    const value all = t.cat({learned, t.add(words, places)}, 1);
    const value first = dropout(t, "dropout", t.call("layernorm", norm<norm_kind::layer>{width}, all));
    const value out = blip_2_detail::ask(there, t, t.leave(embeddings, first), seen, n);
    return t.slice(t.leave(model, out), 1, n);
}

inline constexpr own_key former_keys[]{blip_2_detail::former_keys[0],
                                       {.otherwise = 1, .value = own_value::computed},
                                       blip_2_detail::former_keys[2],
                                       blip_2_detail::former_keys[3]};

/// Parts of BLIP-2 with names of these.
constexpr architecture tower_of(architecture a, literal prefix) {
    a.prefix = prefix;
    return a;
}
constexpr architecture former_of(architecture a, literal prefix) {
    a.prefix = prefix, a.own = former_keys;
    return a;
}
inline constexpr architecture tower = tower_of(blip_2_detail::tower, "InstructBlip");
inline constexpr architecture former = former_of(blip_2_detail::former, "InstructBlip");
inline constexpr architecture video_tower = tower_of(blip_2_detail::tower, "InstructBlipVideo");
inline constexpr architecture video_former = former_of(blip_2_detail::former, "InstructBlipVideo");

}  // namespace instructblip_detail

// transformers/models/instructblip: BLIP-2 whose queries read an instruction, too
inline constexpr architecture instructblip = [](architecture a) {
    a.model_type = "instructblip", a.prefix = "InstructBlip";
    a.describe = blip_2_detail::describe<instructblip_detail::query>;
    a.beside[0].otherwise = &instructblip_detail::tower, a.beside[1].otherwise = &instructblip_detail::former;
    return a;
}(blip_2);

// transformers/models/instructblipvideo: the same for four frames of a clip
inline constexpr architecture instructblipvideo = [](architecture a) {
    a.model_type = "instructblipvideo", a.prefix = "InstructBlipVideo", a.media = instructblip_detail::show_frames;
    a.describe = blip_2_detail::describe<instructblip_detail::query, instructblip_detail::frames>;
    a.beside[0].otherwise = &instructblip_detail::video_tower;
    a.beside[1].otherwise = &instructblip_detail::video_former;
    return a;
}(instructblip);

}  // namespace llmcost::arch
