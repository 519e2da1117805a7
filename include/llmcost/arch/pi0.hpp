// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/paligemma.hpp>
#include <llmcost/forward/linear_image_projector.hpp>

namespace llmcost::arch {

namespace pi0_detail {

// the first is PaliGemma's
enum family_config_index : std::uint8_t { projection_dim, chunk, state_width, action_width };

inline constexpr family_key family_keys[]{{.default_value = 2048, .type = family_key_type::computed},
                                          {"chunk_size", 50},
                                          {"max_state_dim", 32},
                                          {"max_action_dim", 32}};

static_assert(std::uint8_t{projection_dim} == std::uint8_t{linear_image_projector::projection_dim});

/// Embeds the robot state and noisy actions at one time step: (B, 1 + actions, width).
constexpr tensor embed_actions(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, n = ctx.model.family[chunk], width = ctx.component(1).config.hidden_size;
    const module_info embeds{.name = "embed_action_time",
                             .class_of_module = ctx.class_of("ActionTimeEmbedding"),
                             .module_role = role::embedding};
    const module_info moment{
        .name = "sinusoid_embeds", .class_of_module = ctx.class_of("TimestepEmbeddings"), .is_leaf = true};
    const std::int64_t of_state = ctx.model.family[state_width], of_action = ctx.model.family[action_width];
    t.enter(embeds);
    const tensor state = t.call("state_proj", linear{of_state, width, true}, t.input({batch, of_state}));
    const tensor actions = t.call("action_in_proj", linear{of_action, width, true}, t.input({batch, n, of_action}));
    t.enter(moment);
    t.register_buffer(count(width / 2 * 4));
    const tensor angles = t.mul(trace::buffer({1, width / 2}), trace::buffer({batch, 1}));
    const tensor time = t.leave(moment, t.cat({t.sin(angles), t.cos(angles)}, 1));
    const tensor moved = t.to(time.unsqueeze(1).expand({batch, n, width}), actions.type);
    const tensor h = t.call("action_time_mlp_in", linear{2 * width, width, true}, t.cat({actions, moved}, 2));
    const tensor merged = t.call("action_time_mlp_out", linear{width, width, true}, t.silu(h));
    return t.leave(embeds, t.cat({state.unsqueeze(1), merged}, 1));
}

/// Runs PaliGemma on text and images. Its states are unused; the action expert reads its KV cache.
constexpr void read_prefix(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard read_before{t, t.load().past > 0};
    const recorder::discarded_cache_guard handed_on{t};
    const layer_context text = ctx.text_model(), model_ctx{ctx.model, paligemma, ctx.config};
    const module_info vlm{.name = "vlm", .class_of_module = model_ctx.class_of("Model")};
    const module_info language{.name = "language_model", .class_of_module = text.class_of(text.spec.names.model_class)};
    const std::int64_t width = text.config.hidden_size, batch = t.load().batch, sequence = t.load().sequence;
    tensor features;
    t.enter(vlm);
    {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        features = t.call("multi_modal_projector", linear_image_projector::projector{model_ctx}, states);
    }
    t.leave(vlm, features);
    if (has_images(t)) {
        t.add_to_encoder_cache(features);
        features = t.gather_with_saved_source(features, {batch, sequence, width});
    }
    t.enter(vlm);
    t.enter(language);
    tensor x = text.spec.embed_tokens(text, t);
    t.leave(language, x);
    t.leave(vlm, x);
    if (has_images(t)) x = t.where(features, x);
    (void)t.zeros_like(x);  // of which kinds of tokens are made
    t.enter(vlm);
    const decoder_inputs made = make_masks(text, t);
    t.enter(language);
    x = apply_norm(text, t, text.spec.names.norm, forward_layers(text, t, add_rotary_embeddings(text, t, made), x));
    t.leave(language, x);
    t.leave(vlm, x);
}

/// Runs the action expert with the cache of all previous inputs. States and actions attend to it, and actions attend to
/// each other.
constexpr tensor denoise(const layer_context& ctx, trace& t, const tensor& actions) {
    const layer_context expert = ctx.component(1);
    const module_info m{.name = "dit", .class_of_module = expert.class_of(expert.spec.names.model_class)};
    workload step = t.load();
    step.past = step.past > 0 ? step.past : step.sequence;
    step.sequence = actions.dim(1);
    const recorder::workload_guard step_workload{t, step};
    attention_inputs shared;
    shared.pattern = {.query_length = step.sequence,
                      .cached_length = step.past,
                      .num_previous_tokens = step.past,
                      .is_causal = false};
    shared.mask = eager_mask(t, shared.pattern, step.batch);
    t.enter(m);
    {
        const recorder::not_executed_guard unused_embedding{t};
        (void)expert.spec.embed_tokens(expert, t);
    }
    compute_rotary_embeddings(expert, t, shared);
    tensor x = actions;
    for (loop layer_loop = t.loop_modules(expert.config.num_hidden_layers, expert.config.layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, decoder_layer{expert.for_layer(layer_loop, shared)}, x);
    return t.leave(m, apply_norm(expert, t, expert.spec.names.norm, x));
}

/// One denoising step: the first one encodes text and images, later ones read their KV cache.
constexpr tensor move(const layer_context& ctx, trace& t, const tensor& actions) {
    if (t.is_training())
        throw_description_error("training is not supported for a model that reads the KV cache of another model");
    read_prefix(ctx, t);
    return denoise(ctx, t, actions);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const std::int64_t n = ctx.model.family[chunk], width = ctx.component(1).config.hidden_size;
    const module_info model{.name = "model", .class_of_module = ctx.class_of("Model")};
    if (ctx.config.head == head_kind::none) {
        const module_info bare{.class_of_module = ctx.class_of("Model")};
        t.enter(bare);
        return t.leave(bare, move(ctx, t, t.input({t.load().batch, 1 + n, width})));
    }
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    t.enter(model_info);
    const tensor actions = embed_actions(ctx, t);
    t.enter(model);
    const tensor x = t.leave(model, move(ctx, t, actions));
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const head_linear out{{width, ctx.model.family[action_width], true}};
    return t.leave(model_info, t.select_model_output(x, t.call("action_out_proj", out, t.slice(x, 1, n))));
}

/// The default sizes of Gemma, for a part that is missing.
inline constexpr submodel_spec expert = [](model_spec spec) {
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 18;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.num_key_value_heads = 1;
    return spec;
}(gemma);

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.defaults.intermediate_size = 4304;
    return spec;
}(paligemma_vision_encoder);

/// Parses `config.json`; `vlm_config` contains the vision encoder and the text model of this spec.
constexpr void parse_config(config_view json, model& m) {
    const config_view empty_json{&detail::no_keys, 0};
    const auto vlm = json.optional_object("vlm_config");
    if (vlm && vlm->string("model_type", "paligemma") != "paligemma")
        throw_unsupported(*vlm, "model_type", "unsupported vision-language model; expected PaliGemma");
    const auto part = [&](literal key, const model_spec& expected_spec, const model_spec& missing) {
        const auto found = vlm ? vlm->optional_object(key) : maybe<config_view>{};
        if (found && found->string("model_type", expected_spec.model_type) != expected_spec.model_type)
            throw_unsupported(*found, "model_type", "unsupported component");
        return vlm && found ? component_model{&expected_spec, parse_sizes(expected_spec, *found, true)}
                            : component_model{&missing, parse_sizes(missing, empty_json, true)};
    };
    m.components[1] = {m.text_spec, m.config};
    m.components[0] = part("vision_config", siglip_vision_model, vlm ? paligemma_vision_encoder : tower);
    const component_model text = part("text_config", gemma, paligemma_text_decoder);
    const head_kind head = m.config.head;
    const dtype type = m.config.dtype_of_weights;
    m.text_spec = text.spec;
    m.config = text.config;
    m.config.head = head;
    if (type != dtype::unspecified) m.config.dtype_of_weights = type;
    m.family[projection_dim] = vlm ? vlm->positive("projection_dim", 2048) : 2048;
    if (m.family[projection_dim] != m.config.hidden_size)
        throw_invalid_value(json, "vlm_config", "a projection_dim as wide as the text, into which patches are put");
    const model_config& acts = m.components[1].config;
    if (m.text_spec != &gemma && m.text_spec != &paligemma_text_decoder)
        throw_unsupported(json, "vlm_config", "unsupported text model; expected Gemma");
    if (acts.num_hidden_layers != m.config.num_hidden_layers ||
        acts.num_key_value_heads != m.config.num_key_value_heads || acts.head_dim != m.config.head_dim)
        throw_invalid_value(json, "dit_config",
                            "layers, num_key_value_heads and head_dim of the text model, whose cache it reads");
    if (acts.hidden_size % 2 != 0) throw_invalid_value(json, "dit_config", "an even hidden_size");
}

}  // namespace pi0_detail

// transformers/models/pi0: PaliGemma, and a second Gemma that denoises actions with its KV cache
inline constexpr model_spec pi0 = [](model_spec spec) {
    spec.model_type = "pi0";
    spec.class_prefix = "PI0";
    spec.forward = pi0_detail::forward;
    spec.parse_composite_config = pi0_detail::parse_config;
    spec.family_keys = pi0_detail::family_keys;
    spec.compute_media_shapes = count_patch_tokens;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "dit_config", .default_spec = &gemma, .spec_if_absent = &pi0_detail::expert};
    spec.config_keys.add("tie_word_embeddings", key_rule::absent);
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
