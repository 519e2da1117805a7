// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/architecture.hpp>

// Models of images: what surrounds their stages.
namespace llmcost {

/// Defaults of a row whose stages have sizes of their own.
[[nodiscard]] constexpr sizes image_defaults(activation act) {
    sizes s;
    s.hidden_size = s.num_hidden_layers = 1;
    s.hidden_act = act;
    s.head = head_kind::image_classification;
    return s;
}

/// `int(width * ratio)`.
[[nodiscard]] constexpr std::int64_t times_ratio(const sizes& dims, std::size_t at, std::int64_t width) {
    return static_cast<std::int64_t>(static_cast<double>(width) * __builtin_bit_cast(double, dims.own[at]));
}

/// The number of a stage's list that begins at `at`.
[[nodiscard]] constexpr std::int64_t of_stage(const sizes& dims, std::size_t at, std::int64_t stage) {
    return dims.own[at + static_cast<std::size_t>(stage)];
}

/// A module that drops what a block adds for some of the images in training, or where its rate is zero hands it on.
///
/// Source: transformers/models/swin/modeling_swin.py, `SwinDropPath`; drawing costs nothing.
struct drop_path_module {
    literal prefix;
    bool drops;
    bool always_named = false;  ///< of this class where its rate is zero, too

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const {
        return drops || always_named ? class_name{prefix, "DropPath"} : class_name{"", "Identity"};
    }
    constexpr value describe(trace& t, const value& x) const {
        if (!drops || !t.drops(dropout_of::always)) return x;
        extents each{x.dim(0)};
        while (each.rank < x.rank) each.size[each.rank++] = 1;
        const value kept = t.unary(op::compare, t.add(t.constant(each, x.type)));
        return t.mul(t.div(x), kept);
    }
};

/// The images of a workload: one for each batch entry, of the sides that the configuration says or the workload asks for.
constexpr value images_of(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const workload& load = t.load();
    const bool own = load.image_height == 0;
    return t.input({load.batch, image.num_channels, own ? image.image_height : load.image_height,
                    own ? image.image_width : load.image_width});
}

/// Rows and columns of the patches of these images.
[[nodiscard]] constexpr extents patch_grid(const site& here, const trace& t) noexcept {
    const vision_sizes& image = here.dims.vision;
    const workload& load = t.load();
    return {(load.image_height > 0 ? load.image_height : image.image_height) / image.patch_size,
            (load.image_width > 0 ? load.image_width : image.image_width) / image.patch_size};
}

/// A model of images, bare, or under a classifier of what the base hands out.
constexpr value describe_image_model(const site& here, trace& t, literal name, source_part base, layer_part classify) {
    const class_name type = here.type(here.row.names.model_type);
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, base, here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const value x = describe_within({.name = name, .type = type}, base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, classify(here, t, x)));
}

/// `classifier`: a linear layer, or nothing where there are no labels.
constexpr value classify_linear(const site& here, trace& t, const value& x) {
    if (here.dims.num_labels == 0) return t.call("classifier", identity{"Identity"}, x);
    return t.call("classifier", head_linear{{x.dim(-1), here.dims.num_labels, true}}, x);
}

/// The same behind a dropout module.
constexpr value classify_dropped(const site& here, trace& t, const value& x) {
    return classify_linear(here, t, dropout(t, "dropout", x));
}

/// `classifier` behind `nn.Flatten`, in an `nn.Sequential`.
constexpr value classify_flat(const site& here, trace& t, const value& x) {
    const module_info classifier{.name = "classifier", .type = {"", "Sequential"}, .what = role::head};
    t.enter(classifier);
    const value flat = t.call("0", flatten{}, x);
    if (here.dims.num_labels == 0) return t.leave(classifier, t.call("1", identity{"Identity"}, flat));
    return t.leave(classifier, t.call("1", linear{flat.dim(-1), here.dims.num_labels, true}, flat));
}

/// Learned positions of the configuration's patches behind those of tokens in front, resampled where the images have others:
/// (1, ahead + patches, width).
///
/// Source: transformers/models/dinov2/modeling_dinov2.py, `interpolate_pos_encoding`.
constexpr value resampled_places(const site& here, trace& t, const value& places, std::int64_t ahead) {
    const vision_sizes& image = here.dims.vision;
    const workload& load = t.load();
    const std::int64_t high = image.image_height / image.patch_size, wide = image.image_width / image.patch_size;
    const extents grid = patch_grid(here, t);
    const std::int64_t n = grid.size[0] * grid.size[1], width = places.dim(2);
    const bool square = load.image_height > 0 ? load.image_height == load.image_width : image.image_height == image.image_width;
    if (n == high * wide && square) return places;
    const value first = ahead > 0 ? t.slice(places, 1, ahead) : value{};
    const value before = t.slice(places, 1, high * wide).view({1, high, wide, width}).permute({0, 3, 1, 2});
    const value after = t.reshape(t.resample(op::bicubic, before, grid).permute({0, 2, 3, 1}), {1, n, width});
    return ahead > 0 ? t.cat({first, after}, 1) : after;
}

/// Means of images under `avg_pool` and `flatten`, which `classifier` lists again, and `fc`: a linear layer, or nothing
/// where there are no labels.
constexpr value classify_listed(const site& here, trace& t, const value& x) {
    const module_info again{.name = "classifier", .type = {"", "ModuleList"}};
    const value flat = t.call("flatten", flatten{}, t.call("avg_pool", global_average_pool{}, x));
    const std::int64_t labels = here.dims.num_labels;
    const value out =
        labels == 0 ? t.call("fc", identity{}, flat) : t.call("fc", head_linear{{x.dim(1), labels, true}}, flat);
    t.enter(again);
    return t.leave(again, out);
}

}  // namespace llmcost
