// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/timm.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/reading/keys.hpp>
#include <llmcost/walks/tower.hpp>

// timm's `Eva` as the language side of Perception Encoder has it, in Transformers' wrapper.
namespace llmcost::arch {

namespace timm_eva_detail {

enum own : std::uint8_t { tokens_ahead, norms_last, pools };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // a class token, or none
    {.value = own_value::computed},
    {"do_pooling", 1, own_value::boolean},
};

/// What stands under a name of `timm.create_model`.
struct variant {
    literal name;
    std::int64_t width, layers, inner, ahead;
};
inline constexpr variant variants[]{
    {"vit_pe_lang_large_patch14_448", 1024, 23, 4096, 1},
    {"vit_pe_lang_gigantic_patch14_448", 1536, 47, 8960, 0},
};
inline constexpr std::int64_t heads = 16;

using timm_detail::within;

/// Patches' queries or keys turned by rows and columns, behind those of a class token (`apply_rot_embed_cat`).
constexpr value turned(const site& here, trace& t, const value& x) {
    const std::int64_t ahead = here.dims.own[tokens_ahead], patches = x.dim(2) - ahead;
    const value table = trace::buffer({1, patches, x.dim(3)});
    const value first = t.slice(x, 2, ahead), rest = t.slice(x, 2, patches);
    return t.cat({first, rotate<rotation::interleaved>(t, rest, table, table)}, 2);
}

/// Attention that timm leaves to PyTorch's own call, whatever the reference is told.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = x.dim(2), batch = x.dim(0), tokens = x.dim(1), d = width / heads;
    const value all = t.call("qkv", linear{width, 3 * width, true}, x);
    const value each = t.reshape(all, {batch, tokens, 3, heads, d}).permute({2, 0, 3, 1, 4}).select(0);
    const value q = turned(here, t, t.call("q_norm", identity{}, each));
    const value k = turned(here, t, t.call("k_norm", identity{}, each));
    const context where{.sequence = tokens, .causal = false};
    const bool fused = t.load().implementation == attention_implementation::sdpa;
    const value mixed =
        fused ? attention_heads_in_one_call(t, q, k, each, where, {}) : attention_heads_by_parts(t, q, k, each, where);
    const value joined = t.call("norm", identity{}, t.reshape(mixed.transpose(1, 2), {batch, tokens, width}));
    return dropout(t, "proj_drop", t.call("proj", linear{width, width, true}, joined));
}

constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t width = x.dim(2), inner = here.dims.intermediate_size;
    value h = t.call("act", gelu_module{}, t.call("fc1", linear{width, inner, true}, x));
    h = t.call("norm", identity{}, dropout(t, "drop1", h));
    return dropout(t, "drop2", t.call("fc2", linear{inner, width, true}, h));
}

constexpr value block(const site& here, trace& t, const value& x) {
    const std::int64_t width = x.dim(2);
    const norm<norm_kind::layer> layer_norm{width};
    const value first = t.param("gamma_1", {width}), second = t.param("gamma_2", {width});
    value h = within(t, "attn", "AttentionRope", t.call("norm1", layer_norm, x),
                     [&](const value& normed) { return timm_eva_detail::attend(here, t, normed); }, role::attn);
    const value middle = t.add(x, t.call("drop_path1", identity{}, t.mul(first, h)));
    h = within(t, "mlp", "Mlp", t.call("norm2", layer_norm, middle),
               [&](const value& normed) { return feed(here, t, normed); }, role::mlp);
    return t.add(middle, t.call("drop_path2", identity{}, t.mul(second, h)));
}

/// The wrapper asks for features and pools them by methods of the model, so that what these do themselves is its own.
constexpr value base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, ahead = here.dims.own[tokens_ahead], patches = patches_of(image);
    const convolution_2d by_patch{image.num_channels, width, image.patch_size, image.patch_size, 0, 1, false};
    const auto in_model = [&](const value& x, const auto& inside) { return within(t, "timm_model", "Eva", x, inside); };
    const value pixels = pixels_of(here, t);
    t.owns_buffer(count(patches) * count(2 * (width / heads)) * count(4));  // turns of all patches, in float32
    value token, places;
    value x = in_model(pixels, [&](const value& shown) {
        if (ahead > 0) token = t.param("cls_token", {1, 1, width});
        places = t.param("pos_embed", {1, patches + ahead, width});
        return within(t, "patch_embed", "PatchEmbed", shown, [&](const value& image_pixels) {
            return t.call("norm", identity{}, as_tokens(t.call("proj", by_patch, image_pixels)));
        });
    });
    if (ahead > 0) x = t.cat({token.expand({x.dim(0), 1, width}), x}, 1);
    x = t.add(x, places);
    x = in_model(x, [&](value h) {
        h = t.call("norm_pre", norm<norm_kind::layer>{width}, dropout(t, "pos_drop", h));
        for (repetition each = t.repeat(here.dims.num_hidden_layers, h); each.next();)
            h = within(t, {"blocks", each.index()}, "EvaBlock", h, [&](const value& in) { return block(here, t, in); });
        return here.dims.own[norms_last] != 0 ? t.call("norm", norm<norm_kind::layer>{width}, h)
                                              : t.call("norm", identity{}, h);
    });
    const recorder::off_loss_guard unread{t};
    const recorder::idle_guard unused{t, here.dims.own[pools] == 0};
    (void)in_model(x, [&](const value& h) {
        const value kept = dropout(t, "head_drop", t.call("fc_norm", identity{}, h));
        return t.call("head", identity{}, kept);
    });
    return x;
}

/// Sides of images: one number or a pair.
constexpr void read_sides(config_view given, vision_sizes& image) {
    if (!given.is_array()) {
        image.image_height = image.image_width = given.as_positive();
        return;
    }
    if (given.size() != 2) fail_value(given, "one side or two");
    image.image_height = given[0].as_positive(), image.image_width = given[1].as_positive();
}

constexpr void read(config_view config, sizes& s) {
    (void)config.find("architectures");  // of the wrapper, which has one
    const string_ref asked = config.string("architecture", "resnet50");
    const string_ref name = asked.substr(0, asked.find('.'));
    const variant* found = nullptr;
    for (const variant& each : variants)
        if (name == each.name) found = &each;
    if (found == nullptr) fail_unsupported(config, "architecture", "of timm's models, this one is no tower that a row describes");
    s.vision = {448, 448, 14, 3};
    s.hidden_size = found->width, s.num_hidden_layers = found->layers, s.own[tokens_ahead] = found->ahead;
    const double ratio = static_cast<double>(found->inner) / static_cast<double>(found->width);
    bool unpooled = false;
    if (const auto args = config.optional_object("model_args"))
        for (const config_view each : *args) {
            const string_ref key = each.key();
            if (each.is_null()) continue;  // `timm.create_model` leaves it out
            if (key == "embed_dim")
                s.hidden_size = each.as_positive();
            else if (key == "depth")
                s.num_hidden_layers = each.as_positive();
            else if (key == "img_size")
                read_sides(each, s.vision);
            else if (key == "use_post_transformer_norm")
                s.own[norms_last] = each.as_boolean() ? 1 : 0;
            else if (key == "global_pool" && each.as_string().empty())
                unpooled = true;
            else if (key != "ref_feat_shape" && key != "init_values")
                fail_unsupported(each, "no row describes this argument of timm's model");
        }
    if (!unpooled) fail_missing(config, "model_args", "\"global_pool\": \"\"");
    if (s.hidden_size % (4 * heads) != 0) fail_unsupported(config, "model_args", "16 heads need an embed_dim of multiples of 64");
    if (s.vision.image_height < 14 || s.vision.image_width < 14)
        fail_unsupported(config, "model_args", "an img_size is smaller than a patch");
    s.intermediate_size = static_cast<std::int64_t>(static_cast<double>(s.hidden_size) * ratio);
    (void)checked_width(config, "model_args", 6, s.hidden_size);
}

}  // namespace timm_eva_detail

// timm/models/eva.py, transformers/models/timm_wrapper: patches under learned and rotary positions
inline constexpr architecture timm_eva = [](architecture a) {
    a.model_type = "timm_wrapper", a.prefix = "TimmWrapper", a.base = timm_eva_detail::base, a.read = timm_eva_detail::read;
    a.own = timm_eva_detail::keys, a.names.model_type = "Model", a.heads = {};
    a.keys[3] = {"hidden_size", "", key_rule::absent}, a.keys[4] = {"num_attention_heads", "", key_rule::absent};
    return a;
}(shared_tower);

}  // namespace llmcost::arch
