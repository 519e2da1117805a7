// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace mlcd_detail {

/// Angles of rows and columns with the same frequencies: (patches, head) twice.
struct table {
    std::int64_t head_dim;
    class_name named;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, std::int64_t patches) const {
        const recorder::no_grad_guard constants{t};
        const value angles = t.mul(t.constant({patches, 2, 1}), trace::buffer({head_dim / 4}));
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        const auto spread = [&](const value& x) {
            const value both = t.cat({x.select(1), x.select(1)}, -1);
            return t.cat({both, both}, -1);
        };
        return {spread(cos), spread(sin)};
    }
};

/// x (B, S, heads, d) turned by tables (S, d), in float32.
constexpr value turned(trace& t, const value& x, const value& cos, const value& sin) {
    const std::int64_t half = x.dim(3) / 2;
    const value wide = t.to(x, dtype::float32);
    const auto shown = [](const value& one) { return one.unsqueeze(0).unsqueeze(2); };
    const value plain = t.mul(wide, shown(cos));
    const value behind = t.neg(t.slice(wide, -1, half)), before = t.slice(wide, -1, half);
    return t.to(t.add(plain, t.mul(t.cat({behind, before}, -1), shown(sin))), x.type);
}

/// Heads are copied in front of positions, positions in front of images.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t batch = x.dim(0), n = x.dim(1), width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const shared_values& made = *here.shared;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, true}, x).view({batch, n, heads, width / heads});
    };
    const value q = turned(t, split("q_proj"), made.cos, made.sin), k = turned(t, split("k_proj"), made.cos, made.sin);
    const value v = split("v_proj");
    const auto heads_first = [&](const value& each) { return t.contiguous(each.permute({0, 2, 1, 3})); };
    const value mixed = eager_attention(t, heads_first(q), heads_first(k), heads_first(v), all_positions(n).where, {});
    const value joined = t.contiguous(mixed.permute({1, 0, 2, 3})).view({n, batch, width});
    return t.contiguous(t.call("out_proj", linear{width, width, true}, joined).permute({1, 0, 2}));
}

constexpr value base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const norm<norm_kind::layer> layer_norm{width};
    const value turn_of_class = t.param("class_pos_emb", {1, here.dims.head_dim / 2});
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value pixels = images_of(here, t);
    const value token = t.param("class_embedding", {width});
    const value patches = embed_patches(here, t, "patch_embedding", false, pixels);
    value x = t.cat({token.view({1, 1, width}).expand({pixels.dim(0), 1, width}), patches}, 1);
    t.leave(embeddings);
    x = t.call("pre_layrnorm", layer_norm, x);
    const table of_patches{here.dims.head_dim, here.type("RotaryEmbedding")};
    const two_values tables = t.call("vision_rotary_embedding", of_patches, patches.dim(1));
    const value of_class = t.cat({turn_of_class, turn_of_class}, -1);
    shared_values made;
    made.cos = t.cat({t.unary(op::cos, of_class), tables.first}, 0);
    made.sin = t.cat({t.unary(op::sin, of_class), tables.second}, 0);
    x = encode(here, t, x, "Encoder", made);
    const recorder::off_loss_guard unread{t};
    (void)t.call("post_layernorm", layer_norm, t.select(x, 1));
    return x;
}

constexpr void read(config_view config, sizes& s) {
    read_square_image(config, s, 336, 14);
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.head_dim % 4 != 0) fail_value(config, "num_attention_heads", "heads of a width that 4 divides");
    if (config.positive("num_key_value_groups", 1) != 1)
        fail_unsupported(config, "num_key_value_groups", "every head has keys and values of its own");
}

}  // namespace mlcd_detail

// transformers/models/mlcd: modeling_mlcd.py, CLIP's tower with patches, and their class, turned by where they stand
inline constexpr architecture mlcd_vision_model = [](architecture a) {
    a.model_type = "mlcd_vision_model", a.prefix = "MLCD", a.base = mlcd_detail::base, a.read = mlcd_detail::read;
    a.attend = mlcd_detail::attend, a.any_image = true, a.tokens_ahead = 1, a.drops = tower_dropout;
    a.defaults.hidden_size = 1664, a.defaults.intermediate_size = 8192, a.defaults.num_hidden_layers = 48;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

}  // namespace llmcost::arch
