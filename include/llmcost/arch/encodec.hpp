// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace encodec_detail {

enum own : std::uint8_t {
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
    ratio_count,
    first_ratio
};
inline constexpr std::int64_t most_ratios = 8, most_blocks = 64, most_memories = 4;
inline constexpr own_key keys[]{
    {"audio_channels", 1},
    {"num_filters", 32},
    {"num_residual_layers", 1, own_value::non_negative},
    {"kernel_size", 7},
    {"last_kernel_size", 7},
    {"residual_kernel_size", 3},
    {"compress", 2},
    {"num_lstm_layers", 2},
    {"use_conv_shortcut", 1, own_value::boolean},
    {.otherwise = 1, .value = own_value::computed},  // convolutions by direction and length, else norms behind them
    {.value = own_value::computed},
    {.otherwise = 4, .value = own_value::computed},  // by how much each step shortens the sound, and how many steps
    {.otherwise = 8, .value = own_value::computed},
    {.otherwise = 5, .value = own_value::computed},
    {.otherwise = 4, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};
static_assert(sizeof(keys) / sizeof(own_key) == first_ratio + most_ratios);

/// The modules of both halves, one behind the other.
struct sound_modules {
    const site& here;
    idle_modules& held;
    std::int64_t at = 0;  ///< how many there are so far

    constexpr void convolution(module_place place, std::int64_t in, std::int64_t out, std::int64_t kernel,
                               bool transposed = false) {
        const literal plain = transposed ? "ConvTranspose1d" : "Conv1d";
        const extents sizes = transposed ? extents{in, out, kernel} : extents{out, in, kernel};
        held.within(place, here.type(plain), [&] {
            if (here.dims.own[normed_weights] == 0) {
                held.within("conv", {"", plain}, [&] { held.tensor("weight", sizes), held.tensor("bias", {out}); });
                held.within("norm", {"", "GroupNorm"}, [&] { held.tensor("weight", {out}), held.tensor("bias", {out}); });
                return;
            }
            held.within("conv", {"Parametrized", plain}, [&] {
                held.tensor("bias", {out});
                held.within("parametrizations", {"", "ModuleDict"}, [&] {
                    held.within("weight", {"", "ParametrizationList"}, [&] {
                        held.tensor("original0", {sizes.size[0], 1, 1}), held.tensor("original1", sizes);
                        held.plain("0", {"", "_WeightNorm"});
                    });
                });
            });
        });
    }
    constexpr void convolved(std::int64_t in, std::int64_t out, std::int64_t kernel, bool transposed = false) {
        convolution({"layers", at++}, in, out, kernel, transposed);
    }
    constexpr void bent() { held.plain({"layers", at++}, {"", "ELU"}); }
    constexpr void remembered(std::int64_t width) {
        constexpr literal names[most_memories][4]{{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"},
                                                  {"weight_ih_l1", "weight_hh_l1", "bias_ih_l1", "bias_hh_l1"},
                                                  {"weight_ih_l2", "weight_hh_l2", "bias_ih_l2", "bias_hh_l2"},
                                                  {"weight_ih_l3", "weight_hh_l3", "bias_ih_l3", "bias_hh_l3"}};
        held.within({"layers", at++}, here.type("LSTM"), [&] {
            held.within("lstm", {"", "LSTM"}, [&] {
                for (std::int64_t i = 0; i < here.dims.own[memories]; ++i)
                    for (int n = 0; n < 4; ++n)
                        held.tensor(names[i][n], n < 2 ? extents{4 * width, width} : extents{4 * width});
            });
        });
    }
    constexpr void residual_blocks(std::int64_t width) {
        const own_sizes& own = here.dims.own;
        for (std::int64_t i = 0; i < own[blocks]; ++i)
            held.within({"layers", at++}, here.type("ResnetBlock"), [&] {
                const std::int64_t inner = width / own[narrows];
                held.plain({"block", 0}, {"", "ELU"});
                convolution({"block", 1}, width, inner, own[block_kernel]);
                held.plain({"block", 2}, {"", "ELU"});
                convolution({"block", 3}, inner, width, 1);
                if (own[shortcuts])
                    convolution("shortcut", width, width, 1);
                else
                    held.plain("shortcut", {"", "Identity"});
            });
    }
};

/// A codec that a text does not call: convolutions and recurrences down to frames and back, and codebooks, which are
/// buffers.
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    idle_modules held{t};
    const std::int64_t steps = own[ratio_count], frames = here.dims.hidden_size, widest = own[filters] << steps;
    held.within("encoder", here.type("Encoder"), [&] {
        sound_modules down{here, held};
        std::int64_t width = own[filters];
        down.convolved(own[channels], width, own[first_kernel]);
        for (std::int64_t i = steps - 1; i >= 0; --i, width *= 2) {
            down.residual_blocks(width), down.bent();
            down.convolved(width, 2 * width, 2 * own[static_cast<std::size_t>(first_ratio + i)]);
        }
        down.remembered(widest), down.bent(), down.convolved(widest, frames, own[last_kernel]);
    });
    held.within("decoder", here.type("Decoder"), [&] {
        sound_modules up{here, held};
        std::int64_t width = widest;
        up.convolved(frames, width, own[first_kernel]), up.remembered(width);
        for (std::int64_t i = 0; i < steps; ++i, width /= 2) {
            up.bent(), up.convolved(width, width / 2, 2 * own[static_cast<std::size_t>(first_ratio + i)], true);
            up.residual_blocks(width / 2);
        }
        up.bent(), up.convolved(width, own[channels], own[last_kernel]);
    });
    held.within("quantizer", here.type("ResidualVectorQuantizer"), [&] {
        held.list("layers", own[quantizers], here.type("VectorQuantization"),
                  [&] { held.plain("codebook", here.type("EuclideanCodebook")); });
    });
    return {};
}

/// As many codebooks as the highest rate has room for.
constexpr std::int64_t read_quantizers(config_view config, const sizes& s) {
    std::int64_t hop = 1, bits = 0;
    for (std::int64_t i = 0; i < s.own[ratio_count]; ++i)
        hop = checked_product(hop, s.own[static_cast<std::size_t>(first_ratio + i)]);
    const std::int64_t rate = config.positive("sampling_rate", 24000), words = config.positive("codebook_size", 1024);
    while ((std::int64_t{1} << bits) < words) ++bits;
    if ((std::int64_t{1} << bits) != words || bits == 0) fail_value(config, "codebook_size", "a power of two");
    double highest = 24.0;
    if (const auto list = config.optional_array("target_bandwidths")) {
        if (list->size() == 0) fail_value(config, "target_bandwidths", "a list of numbers");
        highest = (*list)[list->size() - 1].as_real();
    }
    const double per_codebook = static_cast<double>((rate + hop - 1) / hop * bits);
    if (!(highest >= 0 && highest <= 1e9)) fail_value(config, "target_bandwidths", "rates up to 1000000000");
    return static_cast<std::int64_t>(1000 * highest / per_codebook);
}

constexpr void read(config_view config, sizes& s) {
    if (const auto list = config.optional_array("upsampling_ratios")) {
        if (list->size() == 0 || static_cast<std::int64_t>(list->size()) > most_ratios)
            fail_value(config, "upsampling_ratios", "a list of 1 to 8 numbers");
        s.own[ratio_count] = static_cast<std::int64_t>(list->size());
        for (std::size_t i = 0; i < most_ratios; ++i)
            s.own[first_ratio + i] = i < list->size() ? (*list)[i].as_positive() : 0;
    }
    const string_ref norms = config.string("norm_type", "weight_norm");
    if (norms != "weight_norm" && norms != "time_group_norm")
        fail_value(config, "norm_type", "weight_norm or time_group_norm");
    s.own[normed_weights] = norms == "weight_norm";
    if (s.own[blocks] > most_blocks) fail_value(config, "num_residual_layers", "at most 64");
    if (s.own[memories] > most_memories) fail_value(config, "num_lstm_layers", "at most 4");
    if (s.own[filters] < s.own[narrows]) fail_value(config, "compress", "at most num_filters");
    s.own[quantizers] = read_quantizers(config, s);
}

}  // namespace encodec_detail

// transformers/models/encodec: sound as codes and back, parameters only
inline constexpr architecture encodec{
    .model_type = "encodec",
    .prefix = "Encodec",
    .base = encodec_detail::hear,
    .read = encodec_detail::read,
    .own = encodec_detail::keys,
    .rotated = rotation::none,
    .defaults = {.hidden_size = 128, .num_hidden_layers = 1},
};

}  // namespace llmcost::arch
