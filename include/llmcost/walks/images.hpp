// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/reading/reader.hpp>

// What configurations say of images and of the stages that shrink them.
namespace llmcost {

/// More stages of an encoder of images are refused: `own_sizes` holds three lists of so many.
inline constexpr std::int64_t most_stages = 6;

/// The size of images, one number or a pair, and their channels; a convolution takes any that is large enough.
constexpr vision_sizes read_images(config_view config, std::int64_t size) {
    vision_sizes image{size, size, 0, config.positive("num_channels", 3)};
    const auto found = config.find("image_size");
    if (!found || found->is_null()) return image;
    if (!found->is_array()) {
        image.image_height = image.image_width = found->as_positive();
        return image;
    }
    if (found->size() != 2) fail_value(config, "image_size", "a size or a pair of sizes");
    image.image_height = (*found)[0].as_positive(), image.image_width = (*found)[1].as_positive();
    return image;
}

/// Defaults of a row whose stages have sizes of their own.
[[nodiscard]] constexpr sizes image_defaults(activation act) {
    sizes s;
    s.hidden_size = s.num_hidden_layers = 1;
    s.hidden_act = act;
    s.head = head_kind::image_classification;
    return s;
}

/// A list of a number for each stage, or what it is without one, into `own` from `at` on: how many there are.
constexpr std::int64_t read_stages(config_view config, literal key, std::initializer_list<std::int64_t> otherwise,
                                   own_sizes& own, std::size_t at, std::int64_t most = most_stages, bool zeros = false) {
    const auto found = config.find(key);
    std::int64_t n = 0;
    if (!found || found->is_null()) {
        for (const std::int64_t each : otherwise) own[at + static_cast<std::size_t>(n++)] = each;
        return n;
    }
    if (!found->is_array()) fail_value(config, key, "a list with a number for each stage");
    if (found->size() == 0) fail_value(config, key, "a list of at least one stage");
    if (found->size() > most) fail_unsupported(config, key, "no row describes so many stages");
    for (const config_view each : *found)
        own[at + static_cast<std::size_t>(n++)] = zeros ? each.as_non_negative() : each.as_positive();
    return n;
}

/// The same for a list that must have a number for each of so many stages.
constexpr void read_stages_of(config_view config, literal key, std::initializer_list<std::int64_t> otherwise, own_sizes& own,
                              std::size_t at, std::int64_t stages, std::int64_t most = most_stages, bool zeros = false) {
    if (read_stages(config, key, otherwise, own, at, most, zeros) != stages)
        fail_value(config, key, "a number for each stage");
}

/// A ratio among a family's sizes: its bits, so that widths come out as the reference's floating-point products do.
constexpr void read_ratio(config_view config, literal key, double otherwise, own_sizes& own, std::size_t at) {
    const double ratio = config.real(key, otherwise);
    if (!(ratio > 0.0 && ratio < 1e6)) fail_value(config, key, "a positive ratio");
    own[at] = __builtin_bit_cast(std::int64_t, ratio);
}
/// `int(width * ratio)`.
[[nodiscard]] constexpr std::int64_t times_ratio(const sizes& dims, std::size_t at, std::int64_t width) {
    return static_cast<std::int64_t>(static_cast<double>(width) * __builtin_bit_cast(double, dims.own[at]));
}

/// The number of a stage's list that begins at `at`.
[[nodiscard]] constexpr std::int64_t of_stage(const sizes& dims, std::size_t at, std::int64_t stage) {
    return dims.own[at + static_cast<std::size_t>(stage)];
}

/// A module that drops what a block adds in training, or where its rate is zero hands it on.
struct drop_path_module : identity {
    literal prefix;

    constexpr drop_path_module(literal of, bool drops) noexcept
        : identity{drops ? "DropPath" : "Identity"}, prefix(drops ? of : "") {}
    [[nodiscard]] constexpr class_name type() const { return {prefix, named}; }
};

/// The images of a workload: one for each batch entry.
constexpr value images_of(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    return t.input({t.load().batch, image.num_channels, image.image_height, image.image_width});
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

}  // namespace llmcost
