// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/inkling.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace inkling_media_detail {

enum seen_by : std::uint8_t { patch, frames, channels };
inline constexpr own_key keys[]{{"patch_size", 40}, {"temporal_patch_size", 2}, {"num_channels", 3}};

/// What is folded into one place: frames, pixels along each side, and how wide it is.
struct fold {
    std::int64_t frames = 1;
    std::int64_t side = 1;
    std::int64_t width = 0;

    [[nodiscard]] constexpr std::int64_t places() const noexcept { return frames * side * side; }
};

/// How far each layer folds a patch: of the steps that its prime factors give those nearest to a geometric growth.
///
/// Source: transformers/models/inkling/modeling_inkling.py, `plan_out_scales`.
struct fold_plan {
    static constexpr int most = 64;
    fold steps[most]{};
    int count = 0;

    constexpr explicit fold_plan(const own_sizes& own) {
        const auto wide = [](std::int64_t elements) { return (elements + 63) / 64 * 64; };
        steps[count++].width = own[channels];
        std::int64_t side = 1, times = 1;
        for (std::int64_t left = own[patch], p = 0; (p = largest_prime(left)) > 1; left /= p) {
            side *= p;
            steps[count++] = {1, side, wide(side * side * own[channels])};
        }
        for (std::int64_t left = own[frames], p = 0; (p = largest_prime(left)) > 1; left /= p) {
            times *= p;
            // the reference does not divide these by 64 first
            steps[count++] = {times, side, side * side * own[channels] * times * 64};
        }
    }
    [[nodiscard]] static constexpr std::int64_t largest_prime(std::int64_t n) noexcept {
        std::int64_t found = 1;
        for (std::int64_t p = 2; p * p <= n; ++p)
            for (; n % p == 0; n /= p) found = p;
        return n > 1 ? n : found;
    }
    /// What is folded in front of a layer, or behind the last (`layer` = `layers`): logarithms are taken in float32.
    [[nodiscard]] constexpr const fold& before(std::int64_t layer, std::int64_t layers, const own_sizes& own) const noexcept {
        if (layer == 0) return steps[0];
        if (layer == layers) return steps[count - 1];
        const float end = __builtin_logf(static_cast<float>(own[patch] * own[patch] * own[frames] * own[channels]));
        const float step = end / static_cast<float>(layers);
        const float ideal = layer < (layers + 1) / 2 ? step * static_cast<float>(layer)
                                                     : end - step * static_cast<float>(layers - layer);  // `linspace`
        const auto distance = [&](const fold& f) {
            const float d = ideal - __builtin_logf(static_cast<float>(f.places()));
            return d < 0 ? -d : d;
        };
        const fold* best = &steps[0];
        for (int i = 1; i < count; ++i)
            if (distance(steps[i]) < distance(*best)) best = &steps[i];
        return *best;
    }
};

/// Places of a cube side by side, a projection, and but in the last layer a norm and an activation.
struct encoder_layer {
    site here;
    const fold& from;
    const fold& to;
    std::int64_t out;
    bool last;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t deep = to.frames / from.frames, wide = to.side / from.side, in = from.width * deep * wide * wide;
        value h = x;
        if (deep > 1 || wide > 1) {  // (n, frames, rows, columns, channels), each cut into cubes
            const std::int64_t rows = x.dim(2) / wide, columns = x.dim(3) / wide;
            // one that is a single cube already lies in its order
            const bool moves = (deep > 1 && rows * columns > 1) || (wide > 1 && columns > 1);
            h = (moves ? t.copy(x) : t.contiguous(x)).view({x.dim(0), x.dim(1) / deep, rows, columns, in});
        }
        h = t.call("projection", linear{in, out}, h);
        if (last) return h;
        return t.unary(op::gelu, call_norm(t, "layer_norm", norm_kind::rms, out, here.type("RMSNorm"), h));
    }
};

/// Patches folded layer by layer into one word each: (n, width of the text).
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const workload& load = t.load();
    const std::int64_t n = load.batch * (load.image_height > 0 ? load.image_height * load.image_width : 1);
    const std::int64_t layers = here.dims.num_hidden_layers, width = here.whole.dims.hidden_size;
    const fold_plan plan(own);
    value x = t.input({n, own[channels], own[patch], own[patch], own[frames]}).permute({0, 4, 2, 3, 1});
    for (std::int64_t i = 0; i < layers; ++i) {
        const fold& from = plan.before(i, layers, own);
        const fold& to = plan.before(i + 1, layers, own);
        const bool last = i == layers - 1;
        x = t.call({"encoder_layers", i}, encoder_layer{here, from, to, last ? width : to.width, last}, x);
    }
    return call_norm(t, "final_norm", norm_kind::rms, width, here.type("RMSNorm"), x).view({n, width});
}

/// Learned vectors of each bin's level, summed: what hears, declared.
enum heard_by : std::uint8_t { bins, levels };
inline constexpr own_key heard_keys[]{{"n_mel_bins", 80}, {"mel_vocab_size", 256}};
constexpr value hear(const site& here, trace& t) {
    const recorder::idle_guard silent{t};
    const std::int64_t width = here.whole.dims.hidden_size, all = here.dims.own[bins] * here.dims.own[levels];
    const module_info words{.name = "embed_audio_tokens", .type = here.type("AudioModelEmbeddings")};
    t.enter(words);
    const value x = t.leave(words, t.call("embed_audio_tokens", embedding{all, width}, extents{1}));
    return call_norm(t, "norm", norm_kind::rms, width, here.type("RMSNorm"), x);
}

/// An image is cut into squares; to the right stands one column more than whole ones, empty or not.
///
/// Source: transformers/models/inkling/image_processing_inkling.py, `divide_to_patches`.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const std::int64_t side = m.beside[0].dims.own[patch];
    const std::int64_t rows = (load.image_height + side - 1) / side, columns = load.image_width / side + 1;
    return {.image = {.tokens = rows * columns, .height = rows, .width = columns}};
}

/// The whole makes the masks, behind what it puts into the words.
constexpr value see_and_read(const site& here, trace& t) {
    const site text = here.text();
    const module_info m{.name = "language_model", .type = text.type(text.row.names.model_type)};
    t.enter(m);
    value words = t.leave(m, text.row.embed(text, t));
    look_at_pictures(here, t, [&] {
        const value seen = describe_tower(here, t, 0, "vision_tower", role::vision);
        if (!sees(t)) return;
        {
            const recorder::off_loss_guard unread{t};  // that there are as many places is counted among the words
            (void)t.gather(words, {seen.dim(0), seen.dim(1)});
        }
        words = t.masked_scatter(words, seen);
    });
    (void)describe_tower(here, t, 1, "audio_tower", role::audio);
    const decoder_context made = masks(text, t);
    t.enter(m);
    return t.leave(m, normed(text, t, text.row.names.norm, describe_layers(text, t, made, words)));
}

/// Hidden states are divided by a constant in front of the language model's head.
constexpr value describe(const site& here, trace& t) {
    if (here.dims.head == head_kind::none) return describe_decoder(here, t);
    const module_info whole{.type = here.type("ForConditionalGeneration")};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = here.type(here.row.names.model_type)}, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, describe_head(here, t, t.div(x))));
}

constexpr void read_vision(config_view config, sizes& s) {
    const fold_plan plan(s.own);
    if (s.num_hidden_layers < plan.count)
        fail_unsupported(config, "n_layers", "no walk describes fewer layers than steps of folding a patch");
}

}  // namespace inkling_media_detail

// transformers/models/inkling, InklingVisionConfig
inline constexpr architecture inkling_vision{
    .model_type = "inkling_vision",
    .prefix = "Inkling",
    .base = inkling_media_detail::see,
    .read = inkling_media_detail::read_vision,
    .own = inkling_media_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionModel"},
    .keys = {{"num_hidden_layers", "n_layers", key_rule::standard_first}, {"intermediate_size", "", key_rule::absent}},
    .defaults = {.hidden_size = 1024, .intermediate_size = 1024, .num_hidden_layers = 24, .num_attention_heads = 16},
};
// transformers/models/inkling, InklingAudioConfig: it has no layers
inline constexpr architecture inkling_audio{
    .model_type = "inkling_audio",
    .prefix = "Inkling",
    .base = inkling_media_detail::hear,
    .own = inkling_media_detail::heard_keys,
    .rotated = rotation::none,
    .names = {.model_type = "AudioModel"},
    .keys = {{"hidden_size", "text_hidden_size", key_rule::standard_first},
             {"num_hidden_layers", "", key_rule::absent},
             {"num_attention_heads", "", key_rule::absent},
             {"intermediate_size", "", key_rule::absent}},
    .defaults = {.hidden_size = 6144, .intermediate_size = 1, .num_hidden_layers = 1, .num_attention_heads = 1},
};

// transformers/models/inkling
inline constexpr architecture inkling_mm_model = [](architecture a) {
    a.model_type = "inkling_mm_model", a.prefix = "Inkling", a.describe = inkling_media_detail::describe;
    a.base = inkling_media_detail::see_and_read, a.finish = inkling_detail::finish;
    a.media = inkling_media_detail::show, a.reads.images = true;
    a.read_whole = [](config_view, model& m) { m.dims.tie_word_embeddings = false; };  // the reference ties none
    a.text = {.key = "text_config", .otherwise = &inkling_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &inkling_vision, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &inkling_audio, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
