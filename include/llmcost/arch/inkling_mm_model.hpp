// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/inkling.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace inkling_mm_model_detail {

enum family_config_index : std::uint8_t { patch_side, patch_frames, channels };

inline constexpr family_key family_keys[]{{"patch_size", 40}, {"temporal_patch_size", 2}, {"num_channels", 3}};

enum audio_config_index : std::uint8_t { bins, mel_vocab_size };

inline constexpr family_key keys_of_sound[]{{"n_mel_bins", 80}, {"mel_vocab_size", 256}};

/// Pixels per position along time and along each side, and features of the position.
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

inline constexpr std::int64_t max_scales = 64;

/// All scales from a pixel to a patch: prime factors of the sides from the largest on, then those of time.
struct scales_of_patch {
    scale all[max_scales]{};
    std::int64_t n = 1;

    constexpr scales_of_patch(std::int64_t side, std::int64_t frames, std::int64_t channels) {
        const auto rounded = [](std::int64_t features) { return (features + 63) / 64 * 64; };
        all[0].features = channels;
        const auto grow = [&](std::int64_t size, bool in_time) {
            for (; size > 1; ++n) {
                const std::int64_t factor = largest_prime_of(size);
                all[n] = all[n - 1];
                size /= factor;
                (in_time ? all[n].frames : all[n].side) *= factor;
                const std::int64_t values = all[n].side * all[n].side * all[n].frames * channels;
                all[n].features = in_time ? 64 * values : rounded(values);  // the reference multiplies all in time
            }
        };
        grow(side, false);
        grow(frames, true);
    }
};

/// Selects the scales before each layer and after the last one: those nearest to even logarithmic steps. With fewer
/// layers than scales, it selects the distinct scales with the smallest total distance.
///
/// Source: transformers/models/inkling/modeling_inkling.py, `plan_out_scales`.
struct planned {
    scales_of_patch scales;
    std::int64_t layers;
    double step;

    constexpr planned(const model_config& config)
        : scales(config.family[patch_side], config.family[patch_frames], config.family[channels]),
          layers(config.num_hidden_layers),
          step(logarithm(static_cast<double>(config.family[patch_side] * config.family[patch_side] *
                                             config.family[patch_frames] * config.family[channels])) /
               static_cast<double>(layers)) {}

    [[nodiscard]] constexpr double distance(std::int64_t scale_position, std::int64_t scale_index) const noexcept {
        const double d = static_cast<double>(scale_position) * step - logarithm(scales.all[scale_index].pixels());
        return d < 0 ? -d : d;
    }
    [[nodiscard]] constexpr scale operator[](std::int64_t scale_position) const noexcept {
        if (scale_position == 0) return scales.all[0];
        if (scale_position == layers) return scales.all[scales.n - 1];
        std::int64_t best = 0;
        if (layers < scales.n) return scales.all[assigned_scale(scale_position)];
        for (std::int64_t i = 1; i < scales.n; ++i)
            if (distance(scale_position, i) < distance(scale_position, best)) best = i;
        return scales.all[best];
    }

private:
    /// Both rise, so the best assignment rises too.
    [[nodiscard]] constexpr std::int64_t assigned_scale(std::int64_t scale_position) const noexcept {
        double cost[max_scales]{};  // of places up to this one, the last on this scale or before it
        std::int64_t chosen[max_scales][max_scales]{};
        for (std::int64_t row = 0; row <= layers; ++row) {
            double last[max_scales]{};
            for (std::int64_t i = row; i < scales.n; ++i) {
                last[i] = distance(row, i) + (i > 0 && row > 0 ? cost[i - 1] : 0.0);
                chosen[row][i] = i;
                if (i > row && last[i - 1] <= last[i]) {
                    last[i] = last[i - 1];
                    chosen[row][i] = chosen[row][i - 1];
                }
            }
            for (std::int64_t i = 0; i < scales.n; ++i) cost[i] = last[i];
        }
        std::int64_t scale_index = scales.n;
        for (std::int64_t row = layers; row >= scale_position; --row) scale_index = chosen[row][scale_index - 1];
        return scale_index;
    }
};

/// Places folded into features, projected, normed.
struct vision_layer {
    layer_context ctx;
    scale input_scale;
    scale output_scale;
    bool last;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in_time = output_scale.frames / input_scale.frames,
                           spatial_factor = output_scale.side / input_scale.side;
        const std::int64_t in = input_scale.features * in_time * spatial_factor * spatial_factor;
        const std::int64_t out = last ? ctx.config.hidden_size : output_scale.features;
        tensor h = x;
        if (in_time * spatial_factor > 1) {
            const std::int64_t rows = x.dim(2) / spatial_factor, columns = x.dim(3) / spatial_factor;
            const tensor folded = rows * columns > 1 ? t.clone(x) : x;  // else their order is as before
            h = t.reshape(folded, {x.dim(0), x.dim(1) / in_time, rows, columns, in});
        }
        h = t.call("projection", linear{in, out}, h);
        if (last) return h;
        return t.gelu(call_norm(t, "layer_norm", norm_kind::rms, out, ctx.class_of("RMSNorm"), h));
    }
};

/// Each patch by itself: (patches, width).
constexpr tensor encode_images(const layer_context& ctx, trace& t, std::int64_t patches) {
    const model_config& config = ctx.component(0).config;
    const planned plan{config};
    const std::int64_t width = ctx.config.hidden_size;
    const module_info tower{
        .name = "vision_tower", .class_of_module = ctx.class_of("VisionModel"), .module_role = role::vision};
    t.enter(tower);
    const std::int64_t side = config.family[patch_side], deep = config.family[channels];
    tensor x = t.input({patches, deep, side, side, config.family[patch_frames]}).permute({0, 4, 2, 3, 1});
    for (std::int64_t i = 0; i < plan.layers; ++i)
        x = t.call({"encoder_layers", i}, vision_layer{ctx, plan[i], plan[i + 1], i + 1 == plan.layers}, x);
    x = call_norm(t, "final_norm", norm_kind::rms, width, ctx.class_of("RMSNorm"), x);
    return t.leave(tower, x.view({patches, width}));
}

/// Embeds audio frames as sums of token embeddings.
constexpr void declare_hearing(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard unheard{t, true};
    const module_info tower{
        .name = "audio_tower", .class_of_module = ctx.class_of("AudioModel"), .module_role = role::audio};
    const module_info embedding_module{.name = "embed_audio_tokens",
                                       .class_of_module = ctx.class_of("AudioModelEmbeddings")};
    t.enter(tower);
    t.enter(embedding_module);
    const model_config& config = ctx.component(1).config;
    const embedding frames{config.family[bins] * config.family[mel_vocab_size], ctx.config.hidden_size};
    t.register_integer_buffer(config.family[bins]);  // `audio_tokens_offsets`
    const tensor x = t.leave(embedding_module, t.call("embed_audio_tokens", frames, shape{1, 1}));
    (void)t.leave(tower, call_norm(t, "norm", norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm"), x));
}

/// Returns the patches of an image. The last patch of a row is padded. An extra patch follows each row, and is only
/// padding if no pixels remain.
///
/// Source: transformers/models/inkling/image_processing_inkling.py, `divide_to_patches`.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const std::int64_t side = m.components[0].config.family[patch_side];
    const std::int64_t rows = (load.image_height + side - 1) / side, columns = load.image_width / side + 1;
    return {.image = {.num_tokens = rows * columns, .height = rows * side, .width = columns * side}};
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const auto place = [&](const tensor& token_embeddings) {
        const bool has_image_inputs = has_images(t);
        tensor x;
        {
            const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
            x = encode_images(
                ctx, t,
                has_image_inputs ? images_in(t) * compute_media_shapes(ctx.model, t.load()).image.num_tokens : 1);
        }
        declare_hearing(ctx, t);
        if (!has_image_inputs) return token_embeddings;
        {
            const recorder::detach_guard unread{t};
            (void)t.gather(token_embeddings, {x.dim(0), x.dim(1)});
        }
        return t.masked_scatter(token_embeddings, x);
    };
    return forward_masked_text_after_encoder(ctx, t, "language_model", place);
}

/// Hidden states are divided by a constant before the head.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    if (ctx.config.head == head_kind::none) return forward_decoder(ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of("ForConditionalGeneration")};
    t.enter(model_info);
    const tensor x = forward_in_module({.name = "model", .class_of_module = ctx.class_of(ctx.spec.names.model_class)},
                                       ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, forward_head(ctx, t, t.div_scalar(x))));
}

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& scores) {
    return inkling_detail::process_logits(ctx.text_model(), t, scores);
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    if (config.family[patch_side] < 2 || config.family[patch_side] > 4096)
        throw_invalid_value(json, "patch_size", "2 to 4096 pixels");
    if (config.family[patch_frames] < 2 || config.family[patch_frames] > 4096)
        throw_invalid_value(json, "temporal_patch_size", "2 to 4096 pictures");
}

constexpr void parse_audio_config(config_view json, model_config& config) {
    (void)checked_size(json, "mel_vocab_size", config.family[bins], config.family[mel_vocab_size]);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.family_keys = family_keys;
    spec.parse_config = parse_vision_config;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.hidden_size = 1024;
    spec.defaults.num_attention_heads = 16;
    spec.config_keys.add("num_hidden_layers", "n_layers", key_rule::standard_name_first);
    return spec;
}(shared_tower);

inline constexpr submodel_spec sound = [](model_spec spec) {
    spec.family_keys = keys_of_sound;
    spec.parse_config = parse_audio_config;
    return spec;
}(shared_tower);

}  // namespace inkling_mm_model_detail

// transformers/models/inkling: patches are folded into features step by step; separate text model
inline constexpr model_spec inkling_mm_model = [](model_spec spec) {
    spec.model_type = "inkling_mm_model";
    spec.class_prefix = "Inkling";
    spec.forward = inkling_mm_model_detail::forward;
    spec.base_model = inkling_mm_model_detail::base;
    spec.process_logits = inkling_mm_model_detail::process_logits;
    spec.compute_media_shapes = inkling_mm_model_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &inkling_text, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &inkling_mm_model_detail::tower, .ignores_model_type = true};
    spec.components[1] = {
        .key = "audio_config", .default_spec = &inkling_mm_model_detail::sound, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
