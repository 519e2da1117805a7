// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/inkling.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace inkling_mm_model_detail {

enum own : std::uint8_t { patch_side, patch_frames, channels };
inline constexpr own_key keys[]{{"patch_size", 40}, {"temporal_patch_size", 2}, {"num_channels", 3}};

enum own_of_sound : std::uint8_t { bins, words_of_bin };
inline constexpr own_key keys_of_sound[]{{"n_mel_bins", 80}, {"mel_vocab_size", 256}};

/// How many pixels stand in one place, along time and along each side, and how many features it has.
struct scale {
    std::int64_t frames = 1;
    std::int64_t side = 1;
    std::int64_t features = 0;

    [[nodiscard]] constexpr double pixels() const noexcept { return static_cast<double>(frames * side * side); }
};

/// The natural logarithm of a number of at least 1.
[[nodiscard]] constexpr double logarithm(double x) noexcept {
    constexpr double ln2 = 0.693147180559945309417;
    double out = 0;
    for (; x > 1.5; x /= 2) out += ln2;
    const double z = (x - 1) / (x + 1);
    double power = z;
    for (int i = 1; i < 60; i += 2, power *= z * z) out += 2 * power / i;
    return out;
}

[[nodiscard]] constexpr std::int64_t largest_prime_of(std::int64_t n) noexcept {
    for (std::int64_t p = 2; p * p <= n; ++p)
        while (n > p && n % p == 0) n /= p;
    return n;
}

inline constexpr std::int64_t most_scales = 64;

/// All scales from a pixel to a patch: prime factors of the sides from the largest on, then those of time.
struct scales_of_patch {
    scale all[most_scales]{};
    std::int64_t n = 1;

    constexpr scales_of_patch(std::int64_t side, std::int64_t frames, std::int64_t channels) {
        const auto rounded = [](std::int64_t features) { return (features + 63) / 64 * 64; };
        all[0].features = channels;
        const auto grow = [&](std::int64_t whole, bool in_time) {
            for (; whole > 1; ++n) {
                const std::int64_t factor = largest_prime_of(whole);
                all[n] = all[n - 1], whole /= factor;
                (in_time ? all[n].frames : all[n].side) *= factor;
                const std::int64_t values = all[n].side * all[n].side * all[n].frames * channels;
                all[n].features = in_time ? 64 * values : rounded(values);  // the reference multiplies all in time
            }
        };
        grow(side, false), grow(frames, true);
    }
};

/// The scale in front of each layer and behind the last: the nearest to even steps of the logarithm, or where there are
/// fewer layers than scales, those different ones that are nearest together.
///
/// Source: transformers/models/inkling/modeling_inkling.py, `plan_out_scales`.
struct planned {
    scales_of_patch from;
    std::int64_t layers;
    double step;

    constexpr planned(const sizes& s)
        : from(s.own[patch_side], s.own[patch_frames], s.own[channels]),
          layers(s.num_hidden_layers),
          step(logarithm(static_cast<double>(s.own[patch_side] * s.own[patch_side] * s.own[patch_frames] *
                                             s.own[channels])) /
               static_cast<double>(layers)) {}

    [[nodiscard]] constexpr double off(std::int64_t at, std::int64_t which) const noexcept {
        const double d = static_cast<double>(at) * step - logarithm(from.all[which].pixels());
        return d < 0 ? -d : d;
    }
    [[nodiscard]] constexpr scale operator[](std::int64_t at) const noexcept {
        if (at == 0) return from.all[0];
        if (at == layers) return from.all[from.n - 1];
        std::int64_t best = 0;
        if (layers < from.n) return from.all[among_few(at)];
        for (std::int64_t i = 1; i < from.n; ++i)
            if (off(at, i) < off(at, best)) best = i;
        return from.all[best];
    }

private:
    /// Both rise, so the best assignment rises too.
    [[nodiscard]] constexpr std::int64_t among_few(std::int64_t at) const noexcept {
        double cost[most_scales]{};  // of places up to this one, the last on this scale or in front of it
        std::int64_t chosen[most_scales][most_scales]{};
        for (std::int64_t row = 0; row <= layers; ++row) {
            double last[most_scales]{};
            for (std::int64_t i = row; i < from.n; ++i) {
                last[i] = off(row, i) + (i > 0 && row > 0 ? cost[i - 1] : 0.0);
                chosen[row][i] = i;
                if (i > row && last[i - 1] <= last[i]) last[i] = last[i - 1], chosen[row][i] = chosen[row][i - 1];
            }
            for (std::int64_t i = 0; i < from.n; ++i) cost[i] = last[i];
        }
        std::int64_t which = from.n;
        for (std::int64_t row = layers; row >= at; --row) which = chosen[row][which - 1];
        return which;
    }
};

/// Places folded into features, projected, normed.
struct vision_layer {
    site here;
    scale before;
    scale behind;
    bool last;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in_time = behind.frames / before.frames, along = behind.side / before.side;
        const std::int64_t in = before.features * in_time * along * along;
        const std::int64_t out = last ? here.dims.hidden_size : behind.features;
        value h = x;
        if (in_time * along > 1) {
            const std::int64_t rows = x.dim(2) / along, columns = x.dim(3) / along;
            const value folded = rows * columns > 1 ? t.clone(x) : x;  // else their order is as before
            h = t.reshape(folded, {x.dim(0), x.dim(1) / in_time, rows, columns, in});
        }
        h = t.call("projection", linear{in, out}, h);
        if (last) return h;
        return t.unary(op::gelu, call_norm(t, "layer_norm", norm_kind::rms, out, here.type("RMSNorm"), h));
    }
};

/// Each patch by itself: (patches, width).
constexpr value see(const site& here, trace& t, std::int64_t patches) {
    const sizes& dims = here.component(0).dims;
    const planned plan{dims};
    const std::int64_t width = here.dims.hidden_size;
    const module_info tower{.name = "vision_tower", .type = here.type("VisionModel"), .what = role::vision};
    t.enter(tower);
    const std::int64_t side = dims.own[patch_side], deep = dims.own[channels];
    value x = t.input({patches, deep, side, side, dims.own[patch_frames]}).permute({0, 4, 2, 3, 1});
    for (std::int64_t i = 0; i < plan.layers; ++i)
        x = t.call({"encoder_layers", i}, vision_layer{here, plan[i], plan[i + 1], i + 1 == plan.layers}, x);
    x = call_norm(t, "final_norm", norm_kind::rms, width, here.type("RMSNorm"), x);
    return t.leave(tower, x.view({patches, width}));
}

/// Frames of sound become sums of words.
constexpr void declare_hearing(const site& here, trace& t) {
    const recorder::idle_guard unheard{t, true};
    const module_info tower{.name = "audio_tower", .type = here.type("AudioModel"), .what = role::audio};
    const module_info words{.name = "embed_audio_tokens", .type = here.type("AudioModelEmbeddings")};
    t.enter(tower), t.enter(words);
    const sizes& dims = here.component(1).dims;
    const embedding frames{dims.own[bins] * dims.own[words_of_bin], here.dims.hidden_size};
    const value x = t.leave(words, t.call("embed_audio_tokens", frames, extents{1, 1}));
    (void)t.leave(tower, call_norm(t, "norm", norm_kind::rms, here.dims.hidden_size, here.type("RMSNorm"), x));
}

/// Patches of an image, the row's last one padded; behind each row stands another that is padding where nothing is left.
///
/// Source: transformers/models/inkling/image_processing_inkling.py, `divide_to_patches`.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const std::int64_t side = m.beside[0].dims.own[patch_side];
    const std::int64_t rows = (load.image_height + side - 1) / side, columns = load.image_width / side + 1;
    return {.image = {.tokens = rows * columns, .height = rows * side, .width = columns * side}};
}

constexpr value base(const site& here, trace& t) {
    const auto place = [&](const value& words) {
        const bool sees = sees_images(t);
        value x;
        {
            const recorder::idle_guard no_pixels{t, !sees};
            x = see(here, t, sees ? images_in(t) * show(here.whole, t.load()).image.tokens : 1);
        }
        declare_hearing(here, t);
        if (!sees) return words;
        {
            const recorder::off_loss_guard unread{t};
            (void)t.gather(words, {x.dim(0), x.dim(1)});
        }
        return t.masked_scatter(words, x);
    };
    return describe_masked_text_after(here, t, "language_model", place);
}

/// Hidden states are divided by a constant in front of the head.
constexpr value describe(const site& here, trace& t) {
    if (here.dims.head == head_kind::none) return describe_decoder(here, t);
    const module_info whole{.type = here.type("ForConditionalGeneration")};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = here.type(here.row.names.model_type)}, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, describe_head(here, t, t.div(x))));
}

constexpr value finish(const site& here, trace& t, const value& scores) {
    return inkling_detail::finish(here.text(), t, scores);
}

constexpr void read_tower(config_view config, sizes& s) {
    if (s.own[patch_side] < 2 || s.own[patch_side] > 4096) fail_value(config, "patch_size", "2 to 4096 pixels");
    if (s.own[patch_frames] < 2 || s.own[patch_frames] > 4096)
        fail_value(config, "temporal_patch_size", "2 to 4096 pictures");
}
constexpr void read_sound(config_view config, sizes& s) {
    (void)checked_width(config, "mel_vocab_size", s.own[bins], s.own[words_of_bin]);
}

inline constexpr architecture tower = [](architecture a) {
    a.own = keys, a.read = read_tower, a.defaults.num_hidden_layers = 24, a.defaults.hidden_size = 1024;
    a.defaults.num_attention_heads = 16, a.keys[4] = {"num_hidden_layers", "n_layers", key_rule::standard_first};
    return a;
}(shared_tower);

inline constexpr architecture sound = [](architecture a) {
    a.own = keys_of_sound, a.read = read_sound;
    return a;
}(shared_tower);

}  // namespace inkling_mm_model_detail

// transformers/models/inkling: patches folded into features step by step beside the text model
inline constexpr architecture inkling_mm_model = [](architecture a) {
    a.model_type = "inkling_mm_model", a.prefix = "Inkling", a.describe = inkling_mm_model_detail::describe;
    a.base = inkling_mm_model_detail::base, a.finish = inkling_mm_model_detail::finish;
    a.media = inkling_mm_model_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &inkling_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &inkling_mm_model_detail::tower, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &inkling_mm_model_detail::sound, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
