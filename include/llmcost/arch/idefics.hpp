// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/layers/einsum.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace idefics_detail {

/// The word of layers behind a block that reads images.
inline constexpr std::uint8_t reads_images = 1;

enum own : std::uint8_t { more_words, interval, norms_queries, resamples, frozen_text, frozen_tower, wide_gates };
inline constexpr own_key keys[]{
    {"additional_vocab_size", 0, own_value::non_negative},
    {"cross_layer_interval", 1},
    {"qk_layer_norms", 0, own_value::boolean},
    {"use_resampler", 0, own_value::boolean},
    {"freeze_text_layers", 1, own_value::boolean},
    {"freeze_vision_layers", 1, own_value::boolean},
    {.value = own_value::computed},  // of blocks that read images: one number each, or one for each feature
};

enum resampler_own : std::uint8_t { latents, norms_heads };
inline constexpr own_key resampler_keys[]{{"resampler_n_latents", 64}, {"qk_layer_norms_perceiver", 0, own_value::boolean}};

/// Words, of which those of a second table overwrite the first's (`IdeficsDecoupledEmbedding`); a text has none of them.
constexpr value embed(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, more = here.dims.own[more_words];
    const embedding first{here.dims.vocab_size, width};
    const module_info m{
        .name = "embed_tokens", .type = here.type("DecoupledEmbedding"), .what = role::embedding, .leaf = more == 0};
    t.enter(m);
    const value x = first.describe(t, extents{t.load().batch, t.load().sequence});
    if (more > 0) {
        const recorder::idle_guard of_no_word{t};
        (void)t.call("additional_embedding", embedding{more, width}, extents{1});
    }
    return t.leave(m, x);
}

/// Scores of both tables' words side by side (`IdeficsDecoupledLinear`).
constexpr value score(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, more = here.dims.own[more_words];
    const bool ties = here.dims.tie_word_embeddings;
    const module_info m{.name = "lm_head", .type = here.type("DecoupledLinear"), .what = role::head, .leaf = more == 0};
    t.enter(m);
    value out = linear{width, here.dims.vocab_size, false, ties}.describe(t, x);
    if (more > 0) out = t.cat({out, t.call("additional_fc", linear{width, more, false, ties}, x)}, -1);
    return t.leave(m, out);
}

/// Attention of the text to itself, each with a table of its own.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    shared_values made = *here.shared;
    make_rotary_tables(here, t, made);
    site turned = here;
    turned.shared = &made;
    turn(turned, t, of), remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

// what layers share
enum shared_own : std::uint8_t { image_states, image_mask };

/// Attention to images' states, made anew in every pass: (B, S, hidden) -> the same.
struct image_attention {
    site here;

    static constexpr role what = role::cross_attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
        const value &states = here.shared->own[image_states], &mask = here.shared->own[image_mask];
        const auto split = [&](literal name, const value& from) {
            const value all = t.call(name, linear{from.dim(2), width}, from);
            return all.view({from.dim(0), from.dim(1), heads, d}).transpose(1, 2);
        };
        value q = split("q_proj", x), k = split("k_proj", states);
        const value v = split("v_proj", states);
        if (here.dims.own[norms_queries] != 0)
            q = norm_of(here, t, "q_layer_norm", d, q), k = norm_of(here, t, "k_layer_norm", d, k);
        const context where{.sequence = x.dim(1), .past = states.dim(1) - x.dim(1), .causal = false};
        const value mixed = eager_attention(t, q, k, v, where, {.mask = &mask});
        return join(here, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
    }
};

/// A block that reads images: both of its parts are let in by numbers that begin at zero.
struct image_block {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("GatedCrossAttentionLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const extents sizes = here.dims.own[wide_gates] != 0 ? extents{1, 1, width} : extents{1};
        const activation_module opens{activation::tanh};
        const value first = t.param("alpha_cross_attn", sizes), second = t.param("alpha_dense", sizes);
        value h = t.call("cross_attn", image_attention{here}, normed(here, t, "input_layernorm", x));
        h = t.where(h);  // words that see no image
        const value middle = t.add(x, t.mul(t.call("act_cross_attn", opens, first), h));
        h = feed_forward(here, t, normed(here, t, "post_attention_layernorm", middle));
        return t.add(middle, t.mul(t.call("act_dense", opens, second), h));
    }
};

/// A block of the resampler: latents attend to an image's states and to themselves, their largest score taken off.
constexpr value attend_latents(const site& here, trace& t, const value& x, const value& states) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const norm<norm_kind::layer> layer_norm{width}, of_heads{d};
    const module_info m{.name = "0", .type = here.type("PerceiverAttention"), .what = role::attn};
    t.enter(m);
    const value around = t.call("context_layer_norm", layer_norm, states);
    const value own = t.call("latents_layer_norm", layer_norm, x);
    const auto split = [&](const value& all) { return all.view({all.dim(0), all.dim(1), heads, d}).transpose(1, 2); };
    const linear to_heads{width, heads * d};
    const value queries = t.call("q_proj", to_heads, own);
    const value keys = t.call("k_proj", to_heads, t.cat({around, own}, -2));
    value q = split(queries), k = split(keys);
    const value v = split(t.call("v_proj", to_heads, t.cat({around, own}, -2)));
    if (here.dims.own[norms_heads] != 0) q = t.call("q_layer_norm", of_heads, q), k = t.call("k_layer_norm", of_heads, k);
    const value scores = einsum(t, "bhid,bhjd->bhij", t.mul(q), k);
    value largest;
    {
        const recorder::no_grad_guard detached{t};
        largest = t.max_over(scores, -1, true);
    }
    const value mixed = einsum(t, "bhij,bhjd->bhid", t.softmax_method(t.sub(scores, largest)), v);
    const value joined = t.reshape(mixed.transpose(1, 2), {x.dim(0), x.dim(1), heads * d});
    return t.leave(m, t.call("output_proj", linear{heads * d, width}, joined));
}

constexpr value feed_latents(const site& here, trace& t, const value& x) {
    const std::int64_t width = x.dim(2);
    const module_info m{.name = "1", .type = here.type("MLP"), .what = role::mlp};
    t.enter(m);
    const value wide = t.call("fc", linear{width, 4 * width}, t.call("ln", norm<norm_kind::layer>{width}, x));
    return t.leave(m, t.call("c_proj", linear{4 * width, width}, t.call("act", activation_module{activation::relu}, wide)));
}

/// Learned latents read an image's states in some blocks (`IdeficsPerceiverResampler`).
constexpr value resample(const site& here, trace& t, const value& states) {
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[latents];
    const value learned = t.param("latents", {n, width}).unsqueeze(0);
    value x = t.copy(learned.expand({states.dim(0), n, width}));
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();) {
        const module_info pair{.name = "blocks", .index = each.index(), .type = {"", "ModuleList"}};
        t.enter(pair);
        x = t.add(t.leave(pair, attend_latents(here, t, x, states)), x);
        t.enter(pair);
        x = t.add(t.leave(pair, feed_latents(here, t, x)), x);
    }
    return t.call("layer_norm", norm<norm_kind::layer>{width}, x);
}

/// Images of each sequence: the reference refuses a text without any.
[[nodiscard]] constexpr std::int64_t images_of_each(const trace& t) noexcept { return t.load().images > 0 ? t.load().images : 1; }

/// States of a sequence's images behind each other; later passes are handed them.
constexpr value see(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, shown = images_of_each(t);
    const recorder::idle_guard seen_before{t, t.load().past > 0};
    value states;
    {
        const recorder::workload_guard all{t, pictures(t.load(), batch * shown, 0, 0)};
        states = describe_tower(here, t, 0, "vision_model", role::vision);
    }
    if (here.dims.own[resamples] != 0) {
        const site inside = here.component(1);
        const module_info m{.name = "perceiver_resampler", .type = inside.type("PerceiverResampler")};
        t.enter(m);
        states = t.leave(m, resample(inside, t, states));
    }
    return states.view({batch, shown * states.dim(1), states.dim(2)});
}

/// Which words see which states, as numbers to add, and which see any; zero and the lowest number are written besides.
constexpr value mask_states(trace& t, const value& states) {
    const recorder::no_grad_guard constants{t};
    t.written(2);
    const value mask = t.constant({states.dim(0), 1, t.load().sequence, states.dim(1)}, t.activation_type());
    (void)t.constant({states.dim(0), 1, t.load().sequence}, t.activation_type());
    return mask;
}

constexpr value base(const site& here, trace& t) {
    if (t.training() && (here.dims.own[frozen_text] != 0 || here.dims.own[frozen_tower] != 0))
        report_description("no walk describes a step that trains a part: freeze_text_layers, freeze_vision_layers");
    value x = here.row.embed(here, t);
    const value states = see(here, t);
    const value mask = mask_states(t, states);
    shared_values shared = here.row.prepare(here, t).full;
    shared.own[image_states] = states, shared.own[image_mask] = mask;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        const site inside = here.at(each, shared);
        const module_place block{"gated_cross_attn_layers", each.index() / here.dims.own[interval]};
        if (each.kind().own == reads_images) x = t.call(block, image_block{inside}, x);
        x = t.call({"layers", each.index()}, decoder_layer{inside}, x);
    }
    return normed(here, t, "norm", x);
}

constexpr value describe(const site& here, trace& t) {
    if (here.dims.head == head_kind::none) return describe_bare(here, t);
    const module_info whole{.type = here.type(here.row.names.causal_lm_type)};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = here.type("Model")}, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, score(here, t, kept_positions(t, x))));
}

/// Masks are made of causal attention; tables are made in every attention.
constexpr decoder_context prepare(const site& here, trace& t) { return masks(here, t); }

/// Every image is made as large as the tower's own; its states stand in no word's place.
constexpr media_shapes show(const model& m, const workload&) {
    const vision_sizes& image = m.beside[0].dims.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

constexpr void read(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.num_hidden_layers % s.own[interval] != 0)
        fail_value(config, "cross_layer_interval", "a divisor of num_hidden_layers");
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{.own = i % s.own[interval] == 0 ? reads_images : std::uint8_t{}};
    });
    const string_ref gates = config.string("alpha_type", "float"), begin = config.string("alpha_initializer", "zeros");
    if (gates != "float" && gates != "vector") fail_value(config, "alpha_type", "float or vector");
    s.own[wide_gates] = gates == "vector" ? 1 : 0;
    for (const literal known : {"zeros", "ones", "normal", "gaussian", "random"})
        if (begin == known) return;
    fail_value(config, "alpha_initializer", "zeros, ones, normal, gaussian or random");
}

constexpr void read_whole(config_view config, model& m) {
    sizes& of = m.beside[1].dims;
    of.hidden_size = m.beside[0].dims.hidden_size;
    (void)checked_width(config, "perceiver_config", of.num_attention_heads, of.head_dim);
    (void)checked_width(config, "vision_config", 4, of.hidden_size);
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "idefics_vision", a.prefix = "Idefics";
    a.base = [](const site& here, trace& t) { return clip_detail::states_and_pool(here, t, false, "VisionEncoder").first; };
    a.read = [](config_view config, sizes& s) {
        read_square_image(config, s, 224, 14);
        share_among_heads(config, s, {"num_attention_heads"});
    };
    a.names.model_type = "VisionTransformer", a.names.layer_type = "VisionEncoderLayer";
    a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP", a.heads = {};
    a.keys[3] = {"hidden_size", "embed_dim", key_rule::standard_first};
    a.defaults.intermediate_size = 5120, a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 16;
    a.defaults.hidden_act = activation::gelu;
    return a;
}(clip_vision_model);

inline constexpr architecture resampler = [](architecture a) {
    a.model_type = "idefics_perciever", a.prefix = "Idefics", a.own = resampler_keys, a.rotated = rotation::none;
    a.keys[0] = {"num_hidden_layers", "resampler_depth", key_rule::written_only};
    a.keys[1] = {"num_attention_heads", "resampler_n_heads", key_rule::written_only};
    a.keys[2] = {"head_dim", "resampler_head_dim", key_rule::written_only};
    a.keys[3] = {"hidden_size", "", key_rule::absent};
    a.heads = {};
    a.defaults.hidden_size = 768, a.defaults.num_hidden_layers = 6, a.defaults.num_attention_heads = 16;
    a.defaults.head_dim = 96, a.defaults.intermediate_size = 3072;
    return a;
}(architecture{});

}  // namespace idefics_detail

// transformers/models/idefics: Llama behind blocks that read images' states, CLIP's tower beside them
inline constexpr architecture idefics = [](architecture a) {
    a.model_type = "idefics", a.prefix = "Idefics", a.describe = idefics_detail::describe, a.base = idefics_detail::base;
    a.embed = idefics_detail::embed, a.prepare = idefics_detail::prepare, a.attend = idefics_detail::attend;
    a.read = idefics_detail::read, a.read_whole = idefics_detail::read_whole, a.own = idefics_detail::keys;
    a.media = idefics_detail::show, a.reads.images = true, a.kinds.own = idefics_detail::reads_images;
    a.norm = norm_kind::rms_float_variance, a.drops = {};
    a.beside[0] = {.key = "vision_config", .otherwise = &idefics_detail::tower, .always = true};
    a.beside[1] = {.key = "perceiver_config", .otherwise = &idefics_detail::resampler, .always = true};
    a.names.causal_lm_type = "ForVisionText2Text", a.heads = language_heads;
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias, a.keys[2] = {"sliding_window", "", key_rule::absent};
    a.keys[3] = no_key_value_heads, a.keys[4] = {"head_dim", "", key_rule::absent};
    a.defaults.vocab_size = 32000, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 11008;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 32, a.defaults.max_position_embeddings = 2048;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
