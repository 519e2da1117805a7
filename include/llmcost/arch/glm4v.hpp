// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/arch/qwen2_vl.hpp>

namespace llmcost::arch {

namespace glm4v_detail {

enum own : std::uint8_t { patch, frames, channels, merge, out_width, image, heads };
inline constexpr own_key keys[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3}, {"spatial_merge_size", 2},
    {"out_hidden_size", 4096}, {"image_size", 336},        {"num_heads", 12},
};
inline constexpr own_key keys_of_ocr[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3}, {"spatial_merge_size", 2},
    {"out_hidden_size", 1536}, {"image_size", 336},        {"num_heads", 16},
};

/// Several patches as one: a projection with its norm, a gated block as wide as `inner`.
struct merger {
    class_name named;
    activation act;
    std::int64_t width;
    std::int64_t inner;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const linear wide{width, inner};
        value h = t.call("post_projection_norm", norm<norm_kind::layer>{width}, t.call("proj", linear{width, width}, x));
        h = t.call("act1", gelu_module{}, h);
        const value gate = t.call("act_fn", activation_module{act}, t.call("gate_proj", wide, h));
        return t.call("down_proj", linear{inner, width}, t.mul(gate, t.call("up_proj", wide, h)));
    }
};

/// A block: norm, attention, residual; norm, a gated feed-forward block, residual.
template <bool Ocr>
struct block {
    site here;
    const packed_context& made;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.dims.own;
        const decoder_names& n = here.row.names;
        const std::int64_t in = here.dims.hidden_size;
        const bool bias = here.dims.attention_bias;
        const class_name norm_type = here.type("RMSNorm");
        const norm<norm_kind::rms> rms_norm{in, norm_type};
        const packed_attention attention{here.type("VisionAttention"), own[heads],  made, made.pictures.whole(), bias,
                                         Ocr && bias,                  Ocr ? norm_type : class_name{}};
        const value middle = t.add(x, t.call("attn", attention, t.call("norm1", rms_norm, x)));
        const mlp<mlp_kind::gated> feed{in,
                                        Ocr ? here.dims.intermediate_size : own[out_width],
                                        here.dims.hidden_act,
                                        {is_empty(n.mlp_prefix) ? here.row.prefix : n.mlp_prefix, n.mlp_type},
                                        Ocr && bias,
                                        {.act = "act_fn"}};
        return t.add(middle, t.call("mlp", feed, t.call("norm2", rms_norm, middle)));
    }
};

/// Learned positions of a square, sampled bicubically at where patches stand, and added: (S, width) -> the same.
struct positions {
    site here;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEmbeddings"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t side = here.dims.own[image] / here.dims.own[patch], width = x.dim(1), patches = x.dim(0);
        const module_info table{.name = "position_embedding", .type = {"", "Embedding"}, .leaf = true};
        t.enter(table);  // its weight is read, the module is not called
        const value weight = t.param("weight", {side * side, width});
        t.leave(table);
        const auto places = [&] {
            const recorder::no_grad_guard constants{t};
            const value sides = t.constant({patches});
            return t.sub(t.mul(t.div(t.add(trace::buffer({patches})), sides)), trace::buffer({1}));
        };
        const value across = places(), down = places();
        (void)t.cat({across.unsqueeze(1), down.unsqueeze(1)}, 1);
        const value square = weight.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
        // `aten::grid_sampler_2d` is one call for every mode, priced at four taps
        const value found = t.resample(op::bilinear, t.to(square, dtype::float32), {patches, 1});
        return t.add(x, t.to(found.view({width, patches}).transpose(0, 1), x.type));
    }
};

/// Patches of several frames, layers with rotary positions, a merger; `Ocr`: biases and norms of queries and keys instead
/// of learned positions.
template <bool Ocr>
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, out = own[out_width];
    const norm<norm_kind::rms> rms_norm{in, here.type("RMSNorm")};
    packed_context made{.pictures = qwen2_vl_detail::grid_of(here, t)};
    const qwen2_vl_detail::patch_embed embed{here, here.type("VisionPatchEmbed"), in, true};
    value x = t.call("patch_embed", embed, qwen2_vl_detail::patches_in(here, t, made.pictures));
    if (!Ocr) x = t.call("post_conv_layernorm", rms_norm, x);
    const packed_table table{in / own[heads], here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first, made.sin = turns.second;
    if (!Ocr) x = t.call("embeddings", positions{here}, x);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"blocks", each.index()}, block<Ocr>{here, made}, x);
    x = t.call("post_layernorm", rms_norm, x).view({-1, own[merge], own[merge], in}).permute({0, 3, 1, 2});
    const convolution_2d together{in, out, own[merge], own[merge]};
    x = t.call("downsample", together, x).view({-1, out});
    const std::int64_t wide = Ocr ? out * own[channels] : here.dims.intermediate_size;
    return t.call("merger", merger{here.type("VisionPatchMerger"), here.dims.hidden_act, out, wide}, x);
}

/// What a processor makes of images and videos: a still image is a video of one pair of frames.
constexpr media_shapes show(const model& m, const workload& load) {
    return qwen2_vl_detail::show_within(m, load, {.all_frames = true, .of_pairs = true});
}

/// The last norm is of another class than those of the layers.
constexpr value moe_base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return call_norm(t, "norm", norm_kind::rms, here.dims.hidden_size, here.type("RMSNorm"),
                     describe_layers(here, t, shared, x));
}

// what the head over experts needs of the text model's part
enum whole : std::uint8_t { weighs_balance = pixel_bounds };
inline constexpr own_key whole_keys[]{
    {.otherwise = 112 * 112, .value = own_value::computed},
    {.otherwise = 28 * 28 * 15000, .value = own_value::computed},
    {.otherwise = 112 * 112, .value = own_value::computed},
    {.otherwise = 28 * 28 * 2 * 30000, .value = own_value::computed},
    {.value = own_value::computed},
};

inline constexpr own_key keys_of_glmga[]{
    {.otherwise = 112 * 112, .value = own_value::computed},
    {.otherwise = 28 * 28 * 15000, .value = own_value::computed},
    {.otherwise = 112 * 112, .value = own_value::computed},
    {.otherwise = 28 * 28 * 2 * 55790, .value = own_value::computed},
    {.value = own_value::computed},
};

constexpr void read_whole(config_view config, model& m) {
    weigh_balance_of_text(config, m);
    m.own[weighs_balance] = m.dims.moe.weighs_balance ? 1 : 0;
    m.dims.moe.weighs_balance = false;
}

/// How evenly the routers pick is weighed from logits in float32, as they hand them out.
constexpr value finish(const site& here, trace& t, const value& logits) {
    const sizes& s = here.dims;
    const recorder::off_loss_guard unread{t};  // added to a loss over labels
    if (here.whole.own[weighs_balance] != 0)
        weigh_balance(t, s.layers.with_experts(s.num_hidden_layers), t.load().batch * t.load().sequence, s.moe,
                      dtype::float32);
    return logits;
}

/// A part of each head is rotated, by frequencies that three axes share.
constexpr void read_rotary(config_view config, sizes& s, double otherwise) {
    const double part = detail::read_partial_rotary_factor(config, otherwise);
    s.rotary_dim = whole_pairs(s.head_dim, part);
    if (2 * read_sections(config, {3, 32}).frequencies != s.rotary_dim)
        fail_sections(config, "frequencies per axis that add up to half of what is rotated of a head");
}

/// Heads share the width whatever `head_dim` says.
constexpr void read_text(config_view config, sizes& s) {
    const std::int64_t given = s.head_dim;
    s.head_dim = s.hidden_size / s.num_attention_heads;
    if (s.head_dim != given) fail_value(config, "head_dim", "hidden_size / num_attention_heads, or no such key");
    s.attention_bias = true, s.output_bias = false;
    plan_one_mask(config, s);
    read_rotary(config, s, 1.0);
}

constexpr void read_ocr_text(config_view config, sizes& s) {
    s.attention_bias = s.output_bias = false;
    plan_one_mask(config, s);
    read_rotary(config, s, 1.0);
}

/// Dense layers first, then experts with some that all tokens meet.
constexpr void read_moe_text(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    check_experts(config, s);
    s.moe.shared_intermediate_size =
        checked_width(config, "n_shared_experts", config.positive("n_shared_experts", 1), s.moe.intermediate_size);
    s.moe.n_group = config.positive("n_group", 1), s.moe.topk_group = config.positive("topk_group", 1);
    s.moe.limits_groups = true;
    check_groups(config, s);
    if (s.moe.num_experts / s.moe.n_group < 2) fail_value(config, "n_group", "at most half as many groups as experts");
    s.output_bias = false;
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    const std::int64_t dense = config.non_negative("first_k_dense_replace", 1);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, i >= dense}; });
    read_rotary(config, s, 0.5);
}

}  // namespace glm4v_detail

// transformers/models/glm4v: norms around each block, even and odd elements rotated, positions of three axes
inline constexpr architecture glm4v_text = [](architecture a) {
    a.model_type = "glm4v_text", a.prefix = "Glm4v", a.read = glm4v_detail::read_text, a.heads = {head_kind::none};
    a.layer = layer_normed_around, a.feed_forward = mlp_kind::fused_gated;
    a.rotated = rotation::interleaved, a.axes = rotary_axes::sections, a.joins_rotated = true;
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.mlp_type = "TextMLP", a.names.rotary_type = "TextRotaryEmbedding";
    a.names.norm_after_attention = "post_self_attn_layernorm", a.names.norm_after_feed_forward = "post_mlp_layernorm";
    a.names.mlp.gate = "gate_up_proj", a.names.mlp.act = "activation_fn";
    a.keys[0] = no_mlp_bias, a.keys[1] = no_attention_bias;
    a.defaults = {.vocab_size = 151552,
                  .hidden_size = 4096,
                  .intermediate_size = 13696,
                  .num_hidden_layers = 40,
                  .num_attention_heads = 32,
                  .num_key_value_heads = 2,
                  .max_position_embeddings = 32768,
                  .head = head_kind::none};
    return a;
}(shared_decoder);

// transformers/models/glm4v_moe: halves rotated, no norms behind the blocks, experts as in DeepSeek V3
inline constexpr architecture glm4v_moe_text = [](architecture a) {
    a.model_type = "glm4v_moe_text", a.prefix = "Glm4vMoe", a.read = glm4v_detail::read_moe_text;
    a.base = glm4v_detail::moe_base;
    a.layer = layer_normed_before, a.feed_forward = mlp_kind::gated, a.rotated = rotation::half;
    a.router = router_kind::sigmoid_grouped, a.shared_experts = shared_expert_kind::added;
    a.names.mlp = {}, a.names.norm_type = "TextRMSNorm";
    a.names.moe_type = "TextMoE", a.names.experts_type = "TextExperts", a.names.router_type = "TextTopkRouter";
    a.keys[1] = {};
    a.defaults.vocab_size = 151424, a.defaults.intermediate_size = 10944, a.defaults.num_hidden_layers = 46;
    a.defaults.num_attention_heads = 96, a.defaults.num_key_value_heads = 8, a.defaults.max_position_embeddings = 65536;
    a.defaults.attention_bias = true;
    a.defaults.moe = {.num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 1408, .norm_topk_prob = true};
    return a;
}(glm4v_text);

// transformers/models/glm_ocr: heads as wide as `head_dim`, no biases
inline constexpr architecture glm_ocr_text = [](architecture a) {
    a.model_type = "glm_ocr_text", a.prefix = "GlmOcr", a.read = glm4v_detail::read_ocr_text;
    a.defaults.vocab_size = 59392, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 16, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072;
    return a;
}(glm4v_text);

// transformers/models/glm4v, Glm4vVisionConfig
inline constexpr architecture glm4v_vision{
    .model_type = "glm4v_vision",
    .prefix = "Glm4v",
    .base = glm4v_detail::see<false>,
    .own = glm4v_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionModel", .mlp_type = "VisionMlp", .mlp_prefix = "Glm4"},
    .keys = {{"num_hidden_layers", "depth", key_rule::standard_first}},
    .defaults = {.hidden_size = 1536, .intermediate_size = 13696, .num_hidden_layers = 24},
};
inline constexpr architecture glm4v_moe_vision = [](architecture a) {
    a.model_type = "glm4v_moe_vision", a.prefix = "Glm4vMoe";
    a.names.mlp_prefix = "", a.names.mlp_type = "isionMlp";  // as the reference spells it
    return a;
}(glm4v_vision);
inline constexpr architecture glm_ocr_vision = [](architecture a) {
    a.model_type = "glm_ocr_vision", a.prefix = "GlmOcr", a.base = glm4v_detail::see<true>;
    a.own = glm4v_detail::keys_of_ocr, a.names.mlp_prefix = "";
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.attention_bias = true;
    return a;
}(glm4v_vision);

// transformers/models/glm4v
inline constexpr architecture glm4v = [](architecture a) {
    a.model_type = "glm4v", a.prefix = "Glm4v", a.base = qwen2_vl_detail::see_and_read<false>;
    a.own = glm4v_detail::whole_keys, a.media = glm4v_detail::show, a.reads.images = a.reads.videos = true;
    a.read_processor = qwen2_vl_detail::read_size_alone;
    a.text = {.key = "text_config", .otherwise = &glm4v_text, .always = true, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &glm4v_vision, .always = true};
    return a;
}(shared_composite);

// transformers/models/glm4v_moe
inline constexpr architecture glm4v_moe = [](architecture a) {
    a.model_type = "glm4v_moe", a.prefix = "Glm4vMoe";
    a.read_whole = glm4v_detail::read_whole, a.finish = glm4v_detail::finish;
    a.text.otherwise = &glm4v_moe_text, a.beside[0].otherwise = &glm4v_moe_vision;
    return a;
}(glm4v);

// transformers/models/glm_ocr
inline constexpr architecture glm_ocr = [](architecture a) {
    a.model_type = "glm_ocr", a.prefix = "GlmOcr";
    a.text.otherwise = &glm_ocr_text, a.beside[0].otherwise = &glm_ocr_vision;
    return a;
}(glm4v);

// transformers/models/glm46v: the class of the text model is that which its part names
inline constexpr architecture glm46v = [](architecture a) {
    a.model_type = "glm46v", a.prefix = "Glm46V";
    a.text.always = a.text.ties = a.beside[0].always = false;
    return a;
}(glm4v);

// transformers/models/glmga: the classes of GLM-4.6V; videos may be larger
inline constexpr architecture glmga = [](architecture a) {
    a.model_type = "glmga", a.own = glm4v_detail::keys_of_glmga;
    return a;
}(glm46v);

}  // namespace llmcost::arch
