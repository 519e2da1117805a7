// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace encodec_detail {

enum family_config_index : std::uint8_t {
    channels,
    filters,
    blocks,
    first_kernel,
    last_kernel,
    block_kernel,
    narrows,
    memories,
    shortcuts,
    normed_weights,
    quantizers,
    codebook_rows,
    codebook_width,
    ratio_count,
    first_ratio
};
inline constexpr std::int64_t max_ratios = 8, max_blocks = 64, max_memories = 4;
inline constexpr family_key family_keys[]{
    {"audio_channels", 1},
    {"num_filters", 32},
    {"num_residual_layers", 1, family_key_type::non_negative},
    {"kernel_size", 7},
    {"last_kernel_size", 7},
    {"residual_kernel_size", 3},
    {"compress", 2},
    {"num_lstm_layers", 2},
    {"use_conv_shortcut", 1, family_key_type::boolean},
    {.default_value = 1,
     .type = family_key_type::computed},  // 1 = weight norm (`norm_type`), 0 = group norms after convolutions
    {.type = family_key_type::computed},
    {"codebook_size", 1024},
    {.type = family_key_type::computed},                      // `codebook_dim`, by default `hidden_size`
    {.default_value = 4, .type = family_key_type::computed},  // downsampling factor of each step, and number of steps
    {.default_value = 8, .type = family_key_type::computed},
    {.default_value = 5, .type = family_key_type::computed},
    {.default_value = 4, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};
static_assert(sizeof(family_keys) / sizeof(family_key) == first_ratio + max_ratios);

/// The modules of encoder and decoder, in order.
struct sound_modules {
    const layer_context& ctx;
    not_executed_modules& not_executed;
    std::int64_t num_modules = 0;  ///< number of modules so far

    constexpr void convolution(child_name place, std::int64_t in, std::int64_t out, std::int64_t kernel,
                               bool transposed = false) {
        const literal plain = transposed ? "ConvTranspose1d" : "Conv1d";
        const shape sizes = transposed ? shape{in, out, kernel} : shape{out, in, kernel};
        not_executed.module(place, ctx.class_of(plain), [&] {
            if (!transposed) not_executed.integer_buffer(3);  // `stride`, `kernel_size`, `padding_total`
            if (ctx.config.family[normed_weights] == 0) {
                not_executed.module("conv", {"", plain}, [&] {
                    not_executed.parameter("weight", sizes);
                    not_executed.parameter("bias", {out});
                });
                not_executed.module("norm", {"", "GroupNorm"}, [&] {
                    not_executed.parameter("weight", {out});
                    not_executed.parameter("bias", {out});
                });
                return;
            }
            not_executed.module("conv", {"Parametrized", plain}, [&] {
                not_executed.parameter("bias", {out});
                not_executed.module("parametrizations", {"", "ModuleDict"}, [&] {
                    not_executed.module("weight", {"", "ParametrizationList"}, [&] {
                        not_executed.parameter("original0", {sizes.size[0], 1, 1});
                        not_executed.parameter("original1", sizes);
                        not_executed.module_without_parameters("0", {"", "_WeightNorm"});
                    });
                });
            });
        });
    }
    constexpr void convolved(std::int64_t in, std::int64_t out, std::int64_t kernel, bool transposed = false) {
        convolution({"layers", num_modules++}, in, out, kernel, transposed);
    }
    constexpr void bent() { not_executed.module_without_parameters({"layers", num_modules++}, {"", "ELU"}); }
    constexpr void lstm(std::int64_t width) {
        constexpr literal names[max_memories][4]{{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"},
                                                 {"weight_ih_l1", "weight_hh_l1", "bias_ih_l1", "bias_hh_l1"},
                                                 {"weight_ih_l2", "weight_hh_l2", "bias_ih_l2", "bias_hh_l2"},
                                                 {"weight_ih_l3", "weight_hh_l3", "bias_ih_l3", "bias_hh_l3"}};
        not_executed.module({"layers", num_modules++}, ctx.class_of("LSTM"), [&] {
            not_executed.module("lstm", {"", "LSTM"}, [&] {
                for (std::int64_t i = 0; i < ctx.config.family[memories]; ++i)
                    for (int n = 0; n < 4; ++n)
                        not_executed.parameter(names[i][n], n < 2 ? shape{4 * width, width} : shape{4 * width});
            });
        });
    }
    constexpr void residual_blocks(std::int64_t width) {
        const family_config& family = ctx.config.family;
        for (std::int64_t i = 0; i < family[blocks]; ++i)
            not_executed.module({"layers", num_modules++}, ctx.class_of("ResnetBlock"), [&] {
                const std::int64_t inner = width / family[narrows];
                not_executed.module_without_parameters({"block", 0}, {"", "ELU"});
                convolution({"block", 1}, width, inner, family[block_kernel]);
                not_executed.module_without_parameters({"block", 2}, {"", "ELU"});
                convolution({"block", 3}, inner, width, 1);
                if (family[shortcuts])
                    convolution("shortcut", width, width, 1);
                else
                    not_executed.module_without_parameters("shortcut", {"", "Identity"});
            });
    }
};

/// Declares the codec, which the text model does not call: encoder, decoder, and codebooks as buffers.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    not_executed_modules not_executed{t};
    const std::int64_t steps = family[ratio_count], frames = ctx.config.hidden_size, widest = family[filters] << steps;
    not_executed.module("encoder", ctx.class_of("Encoder"), [&] {
        sound_modules down{ctx, not_executed};
        std::int64_t width = family[filters];
        down.convolved(family[channels], width, family[first_kernel]);
        for (std::int64_t i = steps - 1; i >= 0; --i, width *= 2) {
            down.residual_blocks(width);
            down.bent();
            down.convolved(width, 2 * width, 2 * family[static_cast<std::size_t>(first_ratio + i)]);
        }
        down.lstm(widest);
        down.bent();
        down.convolved(widest, frames, family[last_kernel]);
    });
    not_executed.module("decoder", ctx.class_of("Decoder"), [&] {
        sound_modules up{ctx, not_executed};
        std::int64_t width = widest;
        up.convolved(frames, width, family[first_kernel]);
        up.lstm(width);
        for (std::int64_t i = 0; i < steps; ++i, width /= 2) {
            up.bent();
            up.convolved(width, width / 2, 2 * family[static_cast<std::size_t>(first_ratio + i)], true);
            up.residual_blocks(width / 2);
        }
        up.bent();
        up.convolved(width, family[channels], family[last_kernel]);
    });
    not_executed.module("quantizer", ctx.class_of("ResidualVectorQuantizer"), [&] {
        not_executed.list("layers", family[quantizers], ctx.class_of("VectorQuantization"), [&] {
            not_executed.leaf_module("codebook", ctx.class_of("EuclideanCodebook"), [&] {
                const std::int64_t rows = family[codebook_rows];
                not_executed.buffer({1});                                // `inited`
                not_executed.buffer({rows});                             // `cluster_size`
                not_executed.buffer({2, rows, family[codebook_width]});  // `embed` and `embed_avg`
            });
        });
    });
    return {};
}

/// Number of codebooks for the highest bandwidth.
constexpr std::int64_t parse_quantizers(config_view json, const model_config& config) {
    std::int64_t hop = 1, bits = 0;
    for (std::int64_t i = 0; i < config.family[ratio_count]; ++i)
        hop = checked_product(hop, config.family[static_cast<std::size_t>(first_ratio + i)]);
    const std::int64_t rate = json.positive("sampling_rate", 24000),
                       codebook_size = json.positive("codebook_size", 1024);
    while ((std::int64_t{1} << bits) < codebook_size) ++bits;
    if ((std::int64_t{1} << bits) != codebook_size || bits == 0)
        throw_invalid_value(json, "codebook_size", "a power of two");
    double highest = 24.0;
    if (const auto list = json.optional_array("target_bandwidths")) {
        if (list->size() == 0) throw_invalid_value(json, "target_bandwidths", "a list of numbers");
        highest = (*list)[list->size() - 1].as_real();
    }
    const double per_codebook = static_cast<double>((rate + hop - 1) / hop * bits);
    if (!(highest >= 0 && highest <= 1e9)) throw_invalid_value(json, "target_bandwidths", "rates up to 1000000000");
    return static_cast<std::int64_t>(1000 * highest / per_codebook);
}

constexpr void parse_config(config_view json, model_config& config) {
    if (const auto list = json.optional_array("upsampling_ratios")) {
        if (list->size() == 0 || static_cast<std::int64_t>(list->size()) > max_ratios)
            throw_invalid_value(json, "upsampling_ratios", "a list of 1 to 8 numbers");
        config.family[ratio_count] = static_cast<std::int64_t>(list->size());
        for (std::size_t i = 0; i < max_ratios; ++i)
            config.family[first_ratio + i] = i < list->size() ? (*list)[i].as_positive() : 0;
    }
    const string_ref norms = json.string("norm_type", "weight_norm");
    if (norms != "weight_norm" && norms != "time_group_norm")
        throw_invalid_value(json, "norm_type", "weight_norm or time_group_norm");
    config.family[normed_weights] = norms == "weight_norm";
    if (config.family[blocks] > max_blocks) throw_invalid_value(json, "num_residual_layers", "at most 64");
    if (config.family[memories] > max_memories) throw_invalid_value(json, "num_lstm_layers", "at most 4");
    if (config.family[filters] < config.family[narrows]) throw_invalid_value(json, "compress", "at most num_filters");
    config.family[quantizers] = parse_quantizers(json, config);
    config.family[codebook_width] = json.optional_positive("codebook_dim").value_or(config.hidden_size);
}

}  // namespace encodec_detail

// EnCodec. An audio codec, of which only the parameters are declared.
//
// Source: transformers/models/encodec
inline constexpr submodel_spec encodec{
    .model_type = "encodec",
    .class_prefix = "Encodec",
    .base_model = encodec_detail::encode_audio,
    .parse_config = encodec_detail::parse_config,
    .family_keys = encodec_detail::family_keys,
    .rotary = rotary_style::none,
    .defaults = {.hidden_size = 128, .num_hidden_layers = 1},
};

}  // namespace llmcost::arch
