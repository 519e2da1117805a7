// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/paligemma.hpp>

namespace llmcost::arch {

namespace pi0_detail {

// the first is PaliGemma's
enum own : std::uint8_t { projection_dim, chunk, state_width, action_width };
inline constexpr own_key keys[]{
    {.otherwise = 2048, .value = own_value::computed}, {"chunk_size", 50}, {"max_state_dim", 32}, {"max_action_dim", 32}};
static_assert(std::uint8_t{projection_dim} == std::uint8_t{paligemma_detail::projection_dim});

/// What a robot does and how it stands, at a moment of the noise's way: (B, 1 + actions, width).
constexpr value embed_actions(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, n = here.whole.own[chunk], width = here.component(1).dims.hidden_size;
    const module_info embeds{.name = "embed_action_time", .type = here.type("ActionTimeEmbedding"), .what = role::embedding};
    const module_info moment{.name = "sinusoid_embeds", .type = here.type("TimestepEmbeddings"), .leaf = true};
    const std::int64_t of_state = here.whole.own[state_width], of_action = here.whole.own[action_width];
    t.enter(embeds);
    const value state = t.call("state_proj", linear{of_state, width, true}, t.input({batch, of_state}));
    const value actions = t.call("action_in_proj", linear{of_action, width, true}, t.input({batch, n, of_action}));
    t.enter(moment);
    t.owns_buffer(count(width / 2 * 4));
    const value angles = t.mul(trace::buffer({1, width / 2}), trace::buffer({batch, 1}));
    const value time = t.leave(moment, t.cat({t.unary(op::sin, angles), t.unary(op::cos, angles)}, 1));
    const value moved = t.to(time.unsqueeze(1).expand({batch, n, width}), actions.type);
    const value h = t.call("action_time_mlp_in", linear{2 * width, width, true}, t.cat({actions, moved}, 2));
    const value merged = t.call("action_time_mlp_out", linear{width, width, true}, t.silu(h));
    return t.leave(embeds, t.cat({state.unsqueeze(1), merged}, 1));
}

/// PaliGemma over words and images, whose states are not read: its keys and values are what the other model sees.
constexpr void read_prefix(const site& here, trace& t) {
    const recorder::idle_guard read_before{t, t.load().past > 0};
    const recorder::dropped_cache_guard handed_on{t};
    const site text = here.text(), whole{here.whole, paligemma, here.dims};
    const module_info vlm{.name = "vlm", .type = whole.type("Model")};
    const module_info language{.name = "language_model", .type = text.type(text.row.names.model_type)};
    const std::int64_t width = text.dims.hidden_size, batch = t.load().batch, sequence = t.load().sequence;
    value features;
    t.enter(vlm);
    {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        features = t.call("multi_modal_projector", paligemma_detail::projector{whole}, states);
    }
    t.leave(vlm, features);
    if (sees_images(t)) t.keep_encoded(features), features = t.gather_along(features, {batch, sequence, width});
    t.enter(vlm), t.enter(language);
    value x = text.row.embed(text, t);
    t.leave(language, x), t.leave(vlm, x);
    if (sees_images(t)) x = t.where(features, x);
    (void)t.zeros_like(x);  // of which kinds of tokens are made
    t.enter(vlm);
    const decoder_context made = masks(text, t);
    t.enter(language);
    x = normed(text, t, text.row.names.norm, describe_layers(text, t, with_tables(text, t, made), x));
    t.leave(language, x), t.leave(vlm, x);
}

/// What moves, behind all that was read: states and actions see it, and actions each other.
constexpr value denoise(const site& here, trace& t, const value& actions) {
    const site expert = here.component(1);
    const module_info m{.name = "dit", .type = expert.type(expert.row.names.model_type)};
    workload step = t.load();
    step.past = step.past > 0 ? step.past : step.sequence, step.sequence = actions.dim(1);
    const recorder::workload_guard behind{t, step};
    shared_values shared;
    shared.where = {.sequence = step.sequence, .past = step.past, .seen = step.past, .causal = false};
    shared.mask = eager_mask(t, shared.where, step.batch);
    t.enter(m);
    {
        const recorder::idle_guard not_looked_up{t};
        (void)expert.row.embed(expert, t);
    }
    make_rotary_tables(expert, t, shared);
    value x = actions;
    for (repetition each = t.repeat(expert.dims.num_hidden_layers, expert.dims.layers, x); each.next();)
        x = t.call({"layers", each.index()}, decoder_layer{expert.at(each, shared)}, x);
    return t.leave(m, normed(expert, t, expert.row.names.norm, x));
}

/// One step of denoising: the first reads words and images, later ones what was kept of them.
constexpr value move(const site& here, trace& t, const value& actions) {
    if (t.training()) report_description("no row describes a training step of a model behind another one's cache");
    read_prefix(here, t);
    return denoise(here, t, actions);
}

constexpr value describe(const site& here, trace& t) {
    const std::int64_t n = here.whole.own[chunk], width = here.component(1).dims.hidden_size;
    const module_info model{.name = "model", .type = here.type("Model")};
    if (here.dims.head == head_kind::none) {
        const module_info bare{.type = here.type("Model")};
        t.enter(bare);
        return t.leave(bare, move(here, t, t.input({t.load().batch, 1 + n, width})));
    }
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    t.enter(whole);
    const value actions = embed_actions(here, t);
    t.enter(model);
    const value x = t.leave(model, move(here, t, actions));
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const head_linear out{{width, here.whole.own[action_width], true}};
    return t.leave(whole, t.returns(x, t.call("action_out_proj", out, t.slice(x, 1, n))));
}

/// The sizes of Gemma that `otherwise` holds, where a part is left out.
inline constexpr architecture expert = [](architecture a) {
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 18;
    a.defaults.num_attention_heads = 8, a.defaults.num_key_value_heads = 1;
    return a;
}(gemma);
inline constexpr architecture tower = [](architecture a) {
    a.defaults.intermediate_size = 4304;
    return a;
}(paligemma_detail::tower);

/// What is shown and read stands in one part, whose text model is this one's.
constexpr void read(config_view config, model& m) {
    const config_view nothing{&detail::no_keys, 0};
    const auto vlm = config.optional_object("vlm_config");
    if (vlm && vlm->string("model_type", "paligemma") != "paligemma")
        fail_unsupported(*vlm, "model_type", "no row describes another model than PaliGemma here");
    const auto part = [&](literal key, const architecture& given, const architecture& missing) {
        const auto found = vlm ? vlm->optional_object(key) : maybe<config_view>{};
        if (found && found->string("model_type", given.model_type) != given.model_type)
            fail_unsupported(*found, "model_type", "no row describes this type as a part of another");
        return vlm && found ? component{&given, read_sizes(given, *found, true)}
                            : component{&missing, read_sizes(missing, nothing, true)};
    };
    m.beside[1] = {m.text, m.dims};
    m.beside[0] = part("vision_config", siglip_vision_model, vlm ? paligemma_detail::tower : tower);
    const component text = part("text_config", gemma, paligemma_detail::text);
    const head_kind head = m.dims.head;
    const dtype type = m.dims.type;
    m.text = text.kind, m.dims = text.dims, m.dims.head = head;
    if (type != dtype::unspecified) m.dims.type = type;
    m.own[projection_dim] = vlm ? vlm->positive("projection_dim", 2048) : 2048;
    if (m.own[projection_dim] != m.dims.hidden_size)
        fail_value(config, "vlm_config", "a projection_dim as wide as the text, into which patches are put");
    const sizes& acts = m.beside[1].dims;
    if (m.text != &gemma && m.text != &paligemma_detail::text)
        fail_unsupported(config, "vlm_config", "no row describes another text model than Gemma here");
    if (acts.num_hidden_layers != m.dims.num_hidden_layers || acts.num_key_value_heads != m.dims.num_key_value_heads ||
        acts.head_dim != m.dims.head_dim)
        fail_value(config, "dit_config", "layers, num_key_value_heads and head_dim of the text model, whose cache it reads");
    if (acts.hidden_size % 2 != 0) fail_value(config, "dit_config", "an even hidden_size");
}

}  // namespace pi0_detail

// transformers/models/pi0: PaliGemma, and a second Gemma that moves noise to actions behind its cache
inline constexpr architecture pi0 = [](architecture a) {
    a.model_type = "pi0", a.prefix = "PI0", a.describe = pi0_detail::describe, a.read_whole = pi0_detail::read;
    a.own = pi0_detail::keys, a.media = patches_as_tokens, a.reads.images = true;
    a.text = {.key = "dit_config", .otherwise = &gemma, .missing = &pi0_detail::expert};
    a.keys[0] = {"tie_word_embeddings", "", key_rule::absent};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
