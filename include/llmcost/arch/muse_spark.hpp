// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/muse_glimmer.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/packed.hpp>
#include <llmcost/walks/sound.hpp>

// Muse Glimmer's attention and tower beside gates on residuals, experts of another width, and a tower over waveforms.
namespace llmcost::arch {

namespace muse_spark_detail {

// ---- text

enum text_own : std::uint8_t { expert_width };
inline constexpr own_key text_keys[]{{"moe_hidden_size", 4096}};

/// x times (1 + weight), rounded, then normed (`MuseSparkTextInputScaledRMSNorm`).
struct input_scaled_norm {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextInputScaledRMSNorm"); }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {width});
        const value scaled = t.mul(t.to(x, dtype::float32), t.to(t.add(weight), dtype::float32));
        const value h = t.to(t.to(scaled, x.type), dtype::float32);
        return t.to(t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true)))), x.type);
    }
};

/// Shares of what went around a block and of what it gave, by a learned gate of each feature.
struct residual_gate {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("ResidualGate"); }
    constexpr value describe(trace& t, const value& around, const value& through) const {
        const value w = t.div(t.param("gate", {here.dims.hidden_size}));
        const value beta = t.sigmoid(w);
        const value rest = t.mul(t.sigmoid(t.neg(w)), t.add(beta));
        const value alpha = t.unary(op::sqrt, t.unary(op::compare, rest));  // at least `residual_gate_eps`
        return t.to(t.add(t.mul(alpha, around), t.mul(beta, through)), around.type);
    }
};

/// Attention as Muse Glimmer has it, what each head finds normed before the gate.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim, wide = here.dims.num_attention_heads * d;
    const qkv of = muse_glimmer_detail::turned_qkv(here, t, x);
    const value mixed = eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = &here.shared->mask});
    const value normed = muse_glimmer_detail::without_scale(here, t, "o_norm", d, mixed);
    const value found = t.contiguous(t.reshape(normed, {x.dim(0), x.dim(1), -1}));
    return join(here, t, t.mul(found, t.sigmoid(t.call("gate_proj", linear{here.dims.hidden_size, wide}, x))));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    const std::int64_t width = here.dims.hidden_size;
    value h = here.row.mix(here, t, normed(here, t, n.norm_before_attention, x));
    h = muse_glimmer_detail::without_scale(here, t, n.norm_after_attention, width, h);
    const value middle = t.call("post_attention_residual_gate", residual_gate{here}, x, h);
    h = here.row.feed(here, t, normed(here, t, n.norm_before_feed_forward, middle));
    h = t.call(n.norm_after_feed_forward, input_scaled_norm{here, width}, h);
    return t.call("post_feedforward_residual_gate", residual_gate{here}, middle, h);
}

/// Sigmoids of scaled logits in float32; experts are picked by corrected ones, and weighed by their own, normed to one.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopkRouter"); }
    constexpr value describe(trace& t, const value& tokens) const {
        const moe_sizes& m = here.dims.moe;
        const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
        const value logits = t.mul(t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32)));
        const value scores = t.call("scoring_function", activation_module{activation::sigmoid}, logits);
        const value best = pick_corrected(t, scores, trace::buffer({m.num_experts}), m.num_experts_per_tok);
        return t.mul(t.div(best, t.add(t.sum(best, -1, true))));
    }
};

/// Gated experts whose outputs are normed before they are weighed.
struct normed_experts : routed_rows {
    const site& here;

    static constexpr bool leaf = false;
    constexpr normed_experts(const routed_rows& all, const site& at) : routed_rows(all), here(at) {}
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value half = t.linear(rows, t.select(up, 0)).slice(-1, inner);
        const value h = t.linear(t.mul(t.call("act_fn", activation_module{act}, half), half), t.select(down, 0));
        return summed(t, x, weights, t.call("post_expert_norm", input_scaled_norm{here, width}, h));
    }
};

/// Experts run at a width of their own, between two projections.
constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const std::int64_t width = here.dims.hidden_size, narrow = here.dims.own[expert_width];
    const value tokens = x.view({-1, width});
    const value weights = t.call("gate", router{here}, tokens);
    const any_norm centered{norm_kind::rms_plus_one, narrow, here.type("TextCenteredRMSNorm")};
    const value h = t.call("pre_expert_norm", centered, t.call("pre_expert_proj", linear{width, narrow}, tokens));
    const routed_rows all{
        narrow, m.intermediate_size, m.num_experts, m.num_experts_per_tok, here.dims.hidden_act, here.type("Experts")};
    const value mixed = t.call("experts", normed_experts{all, here}, h, weights);
    return t.call("post_expert_proj", linear{narrow, width}, mixed).view({x.dim(0), x.dim(1), width});
}
constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

constexpr void read_text(config_view config, sizes& s) {
    muse_glimmer_detail::read_text(config, s);
    read_experts(config, s, "num_local_experts");
    check_experts(config, s);
    const sparse_places sparse(config, s, 0);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        layer_kind kind = given[i];
        kind.experts = sparse.has(i);
        return kind;
    });
}

// ---- the tower for sound

inline constexpr std::size_t most_stages = 6;
enum audio_own : std::uint8_t {
    kernel,
    out_width,
    ratio,
    patches,
    widths = patches + most_stages,
    depths = widths + most_stages,
    end_of_depths = depths + most_stages
};
inline constexpr struct audio_table {
    own_key of[end_of_depths]{};
} audio_keys = [] {
    audio_table all;
    all.of[kernel] = {"conv_kernel_size", 7}, all.of[out_width] = {"out_hidden_size", 8192};
    for (std::size_t i = ratio; i < end_of_depths; ++i) all.of[i].value = own_value::computed;
    return all;
}();

constexpr void read_audio(config_view config, sizes& s) {
    if (s.num_hidden_layers > static_cast<std::int64_t>(most_stages))
        fail_unsupported(config, "num_hidden_layers", "no row describes so many stages");
    const auto read = [&](literal key, std::size_t at, std::initializer_list<std::int64_t> otherwise) {
        const auto list = config.optional_array(key);
        const std::size_t n = list ? list->size() : otherwise.size();
        if (static_cast<std::int64_t>(n) != s.num_hidden_layers) fail_value(config, key, "a list with one number per layer");
        for (std::size_t i = 0; i < n; ++i) s.own[at + i] = list ? (*list)[i].as_positive() : otherwise.begin()[i];
    };
    read("patch_sizes", patches, {16, 6, 5, 4}), read("hidden_sizes", widths, {256, 512, 1024, 2048});
    read("depths", depths, {2, 2, 2, 2});
    const double wider = config.real("mlp_ratio", 4);
    s.own[ratio] = __builtin_bit_cast(std::int64_t, wider);
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) {
        const double inner = static_cast<double>(of_stage(s, widths, i)) * wider;
        if (!(inner >= 1 && inner <= static_cast<double>(largest_input)))
            fail_value(config, "mlp_ratio", "a factor that gives a width up to 2147483647");
    }
}

[[nodiscard]] constexpr std::int64_t samples_of_token(const sizes& audio) {
    std::int64_t n = 1;
    for (std::int64_t i = 0; i < audio.num_hidden_layers; ++i) n = checked_product(n, of_stage(audio, patches, i));
    return n;
}

/// A convolution of each channel over what came before.
struct causal_convolution {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioCausalConv1d"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t k = here.dims.own[kernel];
        return convolution_1d{width, width, k, 1, 0, width}.describe(t, t.pad(x, -1, k - 1));
    }
};

struct convolution_block {
    const site& here;
    std::int64_t stage;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioConvBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = of_stage(here.dims, widths, stage);
        const any_mlp block{mlp_kind::plain,
                            width,
                            times_ratio(here.dims, ratio, width),
                            here.dims.hidden_act,
                            here.type("AudioMLP"),
                            true,
                            {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        const value h = t.call("conv", causal_convolution{here, width}, x.transpose(1, 2)).transpose(1, 2);
        const any_norm normed{norm_kind::rms_power, width, here.type("RMSNorm")};
        return t.add(t.call("mlp", block, t.call("norm", normed, h)), x);
    }
};

/// Neighbours side by side become one of another width, then convolutions.
struct stage_layer {
    const site& here;
    std::int64_t stage;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioLayer"); }
    constexpr value describe(trace& t, const value& from) const {
        const std::int64_t width = of_stage(here.dims, widths, stage), by = of_stage(here.dims, patches, stage);
        const std::int64_t in = by * from.dim(2);
        const module_info embedder{.name = "patch_embedder", .type = here.type("AudioPatchEmbedding")};
        t.enter(embedder);
        const value joined = t.reshape(from, {from.dim(0), from.dim(1) / by, in});
        const any_norm normed{norm_kind::rms_power, width, here.type("RMSNorm")};
        value x = t.leave(embedder, t.call("norm", normed, t.call("proj", linear{in, width, true}, joined)));
        for (repetition each = t.repeat(of_stage(here.dims, depths, stage), x); each.next();)
            x = t.call({"conv_blocks", each.index()}, convolution_block{here, stage}, x);
        return x;
    }
};

/// Tokens of a recording, whose last one samples fill up; one where nothing is heard.
[[nodiscard]] constexpr std::int64_t tokens_of(const sizes& audio, const sound_settings& sound, std::int64_t milliseconds) {
    const std::int64_t each = samples_of_token(audio);
    return milliseconds == 0 ? 1 : (sound.samples_of(milliseconds) + each - 1) / each;
}

/// Waveforms through stages that shorten and widen: (B, tokens, width of the text).
constexpr value hear(const site& here, trace& t) {
    const std::int64_t n = hears(t) ? tokens_of(here.dims, here.whole.sound, t.load().audio_milliseconds) : 1;
    const std::int64_t last = of_stage(here.dims, widths, here.dims.num_hidden_layers - 1), out = here.dims.own[out_width];
    value x = t.input({t.load().batch, n * samples_of_token(here.dims)}).unsqueeze(-1);
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) x = t.call({"layers", i}, stage_layer{here, i}, x);
    x = t.call("norm", any_norm{norm_kind::rms_power, last, here.type("RMSNorm")}, x);
    x = t.call("proj", linear{last, out, true}, x);
    return t.call("post_proj_norm", any_norm{norm_kind::rms_power, out, here.type("RMSNorm")}, x);
}

// ---- the whole

/// Source: transformers/models/muse_spark/feature_extraction_muse_spark.py.
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "MuseSparkFeatureExtractor");
    expect_number(*told, "samples_per_token", samples_of_token(m.beside[1].dims),
                  "the product of the audio_config's patch_sizes");
    m.sound.rate = told->positive("sampling_rate", m.sound.rate);
}

constexpr media_shapes show(const model& m, const workload& load) {
    media_shapes all = muse_glimmer_detail::show(m, load);
    const sizes& audio = m.beside[1].dims;
    if (load.audio_milliseconds == 0) return all;
    const std::int64_t tokens = tokens_of(audio, m.sound, load.audio_milliseconds);
    all.audio = {.tokens = tokens, .samples = tokens * samples_of_token(audio)};
    return all;
}

/// Sound in the places of the words that stand for it, normed as words are.
constexpr value place_sound(const site& here, trace& t, const value& words) {
    const recorder::idle_guard silent{t, !hears(t)};
    const value heard = describe_tower(here, t, 1, "audio_tower", role::audio);
    if (!hears(t)) return words;
    const std::int64_t width = here.dims.hidden_size;
    const value kept = t.gather(heard, {heard.dim(0) * heard.dim(1), width});  // of a batch's masked states
    const site text = here.text();
    const module_info model{.name = "language_model", .type = text.type(text.row.names.model_type)};
    const module_info table{.name = "embed_tokens", .type = text.type("TextNormedEmbedding"), .what = role::embedding};
    const recorder::called_again_guard again{t};
    t.enter(model), t.enter(table);
    const value normed = muse_glimmer_detail::without_scale(text, t, "embed_norm", width, kept);
    (void)t.leave(table, normed), (void)t.leave(model, normed);
    return t.masked_scatter(words, normed);
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        return place_sound(here, t, muse_glimmer_detail::place_images(here, t, words));
    });
}

constexpr void read(config_view config, model& m) {
    muse_glimmer_detail::read(config, m);
    if (m.beside[1].dims.own[out_width] != m.dims.hidden_size)
        fail_value(config, "audio_config", "an out_hidden_size of the text's hidden_size");
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "muse_spark_vision", a.prefix = "MuseSpark";
    return a;
}(muse_glimmer_detail::tower);

inline constexpr architecture audio_tower{
    .model_type = "muse_spark_audio",
    .prefix = "MuseSpark",
    .base = hear,
    .read = read_audio,
    .own = audio_keys.of,
    .rotated = rotation::none,
    .names = {.model_type = "AudioModel"},
    .keys = {{"hidden_size", "", key_rule::absent}, {"num_attention_heads", "", key_rule::absent}},
    .defaults = {.hidden_size = 1, .num_hidden_layers = 4, .num_attention_heads = 1, .hidden_act = activation::gelu},
};

}  // namespace muse_spark_detail

// transformers/models/muse_spark, MuseSparkTextConfig
inline constexpr architecture muse_spark_text = [](architecture a) {
    a.model_type = "muse_spark_text", a.prefix = "MuseSpark", a.read = muse_spark_detail::read_text;
    a.own = muse_spark_detail::text_keys, a.layer = muse_spark_detail::layer, a.attend = muse_spark_detail::attend;
    a.feed = muse_spark_detail::feed, a.kinds.experts = true, a.names.moe_type = "MoE";
    a.keys[1] = {};
    a.defaults.hidden_size = 8192, a.defaults.intermediate_size = 16384, a.defaults.num_hidden_layers = 62;
    a.defaults.num_attention_heads = 128, a.defaults.num_key_value_heads = 16, a.defaults.head_dim = 64;
    a.defaults.max_position_embeddings = 1048576;
    a.defaults.moe.num_experts = 256, a.defaults.moe.num_experts_per_tok = 8, a.defaults.moe.intermediate_size = 4096;
    return a;
}(muse_glimmer_text);

// transformers/models/muse_spark: patches of images and waveforms in front of it
inline constexpr architecture muse_spark = [](architecture a) {
    a.model_type = "muse_spark", a.prefix = "MuseSpark", a.base = muse_spark_detail::base;
    a.read_whole = muse_spark_detail::read, a.media = muse_spark_detail::show, a.reads.audio = true;
    a.read_sound = muse_spark_detail::read_sound, a.sound.rate = 24000;
    a.text = {.key = "text_config", .otherwise = &muse_spark_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &muse_spark_detail::tower, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &muse_spark_detail::audio_tower, .always = true};
    return a;
}(muse_glimmer);

}  // namespace llmcost::arch
