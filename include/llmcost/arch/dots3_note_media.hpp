// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/dots3_note.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/idle.hpp>
#include <llmcost/walks/native_patches.hpp>

namespace llmcost::arch {

namespace dots3_note_media_detail {

// ---- the tower for images: the later a layer, the more experts

enum vision_own : std::uint8_t { patch_side, image_channels, merged_side, expert_width, seen_width, picked, uneven };
inline constexpr own_key vision_keys[]{
    {"patch_size", 14},
    {"num_channels", 3},
    {"spatial_merge_size", 2},
    {"moe_intermediate_size", 2112},
    {"adapter_out_dim", 5120},
    {"num_experts_per_tok", 2},
    {.value = own_value::computed},  // layers that pick other numbers of experts
};

/// Sigmoids of scores, the largest picked behind a bias and scaled to sum up to a constant.
struct vision_router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionTopKRouter"); }
    constexpr two_values describe(trace& t, const value& x) const {
        const std::int64_t experts = here.kind.inner, k = here.dims.own[picked], n = x.dim(0);
        const value weight = t.param("weight", {experts, here.dims.hidden_size});
        const value logits = t.linear(t.to(x, dtype::float32), t.to(weight, dtype::float32));
        const value scores = t.sigmoid(logits);
        {
            const recorder::off_loss_guard indices{t};
            (void)t.top_k(t.add(scores, trace::buffer({experts})), k);
        }
        const value weights = t.gather_along(scores, {n, k});
        return {logits, t.mul(t.div(weights, t.add(t.sum(weights, -1, true))))};
    }
};

struct vision_mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionMoE"); }
    constexpr value describe(trace& t, const value& x) const {
        const routed_rows all{here.dims.hidden_size, here.dims.own[expert_width], here.kind.inner,
                              here.dims.own[picked], here.dims.hidden_act,        here.type("Experts")};
        const value weights = t.call("gate", vision_router{here}, x).second;
        return t.call("experts", experts<expert_kind::gated>{all}, x, weights);
    }
};

/// Queries and keys normed and turned, attention within images: (patches, width) -> the same.
struct vision_attention {
    site here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, n = x.dim(0), heads = here.dims.num_attention_heads;
        const bool bias = here.dims.attention_bias;
        const value all = t.call("qkv", linear{width, 3 * width, bias}, x).view({n, 3, heads, -1}).permute({1, 0, 2, 3});
        const norm<norm_kind::rms> scale{width / heads, here.type("RMSNorm")};
        const value q = t.call("q_norm", scale, all.select(0)), k = t.call("k_norm", scale, all.select(0));
        const auto turned = [&](const value& of) {
            const value wide = t.to(of, dtype::float32);
            return t.to(rotate<rotation::half>(t, wide, here.shared->cos, here.shared->sin), of.type);
        };
        const value first = turned(q);
        const packed_runs each = packed_images(t.load(), here.dims.own[patch_side]).whole();
        return t.call("proj", linear{width, width, bias}, attend_packed(t, first, turned(k), all.select(0), each));
    }
};

struct vision_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::rms> scale{here.dims.hidden_size, here.type("RMSNorm")};
        const value middle = t.add(x, t.call("attn", vision_attention{here}, t.call("norm1", scale, x)));
        const value even = t.call("norm2", scale, middle);
        if (here.kind.experts) return t.add(middle, t.call("mlp", vision_mixture{here}, even));
        const mlp<mlp_kind::gated> block{here.dims.hidden_size, here.dims.intermediate_size, here.dims.hidden_act,
                                         here.type("VisionMLP"), here.dims.mlp_bias};
        return t.add(middle, t.call("mlp", block, even));
    }
};

/// Patches, layers, a norm, and squares of patches as tokens of the text: (tokens, width of the text).
constexpr value vision_base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, side = own[patch_side];
    const std::int64_t n = packed_images(t.load(), side).patches();
    const norm<norm_kind::rms> scale{width, here.type("RMSNorm")};
    if (own[uneven] != 0 && !t.idle()) report_description("no row describes layers that pick numbers of experts of their own");
    const module_info patch_embed{.name = "patch_embed", .type = here.type("VisionPatchEmbed"), .what = role::embedding};
    t.enter(patch_embed);
    const value pixels = t.input({n, own[image_channels], side, side});
    const convolution_2d projection{own[image_channels], width, side, side};
    value x = t.leave(patch_embed, t.call("norm", scale, t.call("proj", projection, pixels).view({n, width})));
    shared_values made;
    const packed_table angles{width / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values tables = t.call("rotary_pos_emb", angles, n);
    made.cos = tables.first, made.sin = tables.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"blocks", each.index()}, vision_layer{here.at(each, made)}, x);
    x = t.call("norm", scale, x);
    const std::int64_t wide = width * own[merged_side] * own[merged_side];
    const module_info merger{.name = "merger", .type = here.type("VisionMerger"), .what = role::projector};
    const module_info both{.name = "mlp", .type = {"", "Sequential"}};
    t.enter(merger);
    const value rows = t.call("ln_q", norm<norm_kind::layer>{width}, x).view({-1, wide});
    t.enter(both);
    const value h = t.call(module_place::item(1), gelu_module{}, t.call(module_place::item(0), linear{wide, wide, true}, rows));
    return t.leave(merger, t.leave(both, t.call(module_place::item(2), linear{wide, own[seen_width], true}, h)));
}

// ---- the tower for sound

enum own : std::uint8_t { fewest_pixels, largest };
inline constexpr own_key whole_keys[]{{.otherwise = 56 * 56, .value = own_value::computed},
                                      {.otherwise = 28 * 28 * 1280, .value = own_value::computed}};

enum audio_own : std::uint8_t { features, stem_channels, heard_width };
inline constexpr own_key audio_keys[]{
    {"feature_size", 128},
    {"downsample_hidden_size", 480},
    {"adapter_out_dim", 5120},
};

constexpr void audio_layer(const site& here, idle_modules& m) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    m.within(
        {"self_attn"}, here.type("AudioAttention"),
        [&] {
            for (const literal name : {"q_proj", "v_proj", "o_proj"})
                m.linear({name}, width, width, here.dims.attention_bias);
            m.linear({"k_proj"}, width, width, false);
        },
        role::attn);
    m.within(
        {"mlp"}, here.type("AudioMLP"),
        [&] {
            m.linear({"gate_up_proj"}, width, 2 * inner), m.linear({"down_proj"}, inner, width);
            m.act({"activation_fn"}, here.dims.hidden_act);
        },
        role::mlp);
    for (const literal name : {"input_layernorm", "post_attention_layernorm"}) m.norm({name}, width, here.type("RMSNorm"));
    for (const literal name : {"resid_attn_dropout", "resid_mlp_dropout"}) m.plain({name}, {"", "Dropout"});
}

constexpr value audio_base(const site& here, trace& t) {
    idle_modules m{t};
    const std::int64_t width = here.dims.hidden_size, out = here.dims.own[heard_width];
    const std::int64_t channels = here.dims.own[stem_channels];
    m.within({"conv_stem"}, here.type("AudioConvStem"), [&] {
        for (std::int64_t i = 0; i < 3; ++i)
            m.weighted({"convs", i}, {"", "Conv2d"}, {channels, i == 0 ? 1 : channels, 3, 3});
        m.linear({"conv_out"}, channels * ((here.dims.own[features] + 7) / 8), width, false);
    });
    m.plain({"rotary_embedding"}, here.type("AudioRotaryEmbedding"));
    m.list("layers", here.dims.num_hidden_layers, here.type("AudioLayer"), [&] { audio_layer(here, m); });
    m.norm({"layer_norm"}, width, here.type("RMSNorm"));
    m.within({"adapter"}, here.type("AudioAdapter"), [&] {
        m.layer_norm({"norm"}, width);
        m.linear({"fc1"}, width, out);
        m.act({"activation"}, activation::gelu);
        m.linear({"fc2"}, out, out);
    });
    return trace::buffer({1});
}

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const own_sizes& own = m.beside[0].dims.own;
    return {.image = resized_to_patches(load, own[patch_side], own[merged_side], m.own[fewest_pixels], m.own[largest])};
}

constexpr void read_processor(config_view told, model& m) {
    expect_patches(told, m.beside[0].dims.own[patch_side], m.beside[0].dims.own[merged_side]);
    read_bounds_of_pixels(told, m.own, fewest_pixels, largest);
}

constexpr value base(const site& here, trace& t) {
    const value x = describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const own_sizes& own = here.whole.beside[0].dims.own;
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
        const recorder::workload_guard shown{t, packed_workload(t, each, own[patch_side] * own[merged_side])};
        const value features = describe_tower(here, t, 0, "vision_tower", role::vision);
        return scatter_counted(t, words, features);
    });
    (void)describe_tower(here, t, 1, "audio_tower", role::audio);
    return x;
}

// ---- configurations

/// How many experts a layer has; 0: none.
///
/// Source: `Dots3NoteVisionConfig.__post_init__`: a list of numbers, or of words and what single layers say.
class expert_numbers {
public:
    constexpr expert_numbers(config_view config, const sizes& s)
        : config_(config),
          numbers_(config.optional_array("pyramid_num_routed")),
          words_(numbers_ ? maybe<config_view>{} : config.optional_array("mlp_layer_types")),
          single_(config.optional_object("per_layer_config")),
          otherwise_(config.positive("num_local_experts", 64)) {
        const std::int64_t layers = s.num_hidden_layers;
        const auto covers = [&](const maybe<config_view>& list) {
            return static_cast<std::int64_t>(list->size()) >= layers;
        };
        if (numbers_ && !covers(numbers_)) fail_value(config, "pyramid_num_routed", "a list with one number per layer");
        if (words_ && !covers(words_)) fail_value(config, "mlp_layer_types", "a list with one kind per layer");
        if (!numbers_ && !words_ && layers > described)
            fail_value(config, "num_hidden_layers", "at most 42 layers without a list of their experts");
        if (single_)
            for (const config_view entry : *single_)
                if (number_of(entry) >= layers) fail_value(entry, "an entry of one of the layers");
        if (!single_ && !words_)
            for (std::int64_t i = layers; i < (numbers_ ? static_cast<std::int64_t>(numbers_->size()) : described); ++i)
                if (listed(i) > 0) fail_value(config, "num_hidden_layers", "as many layers as have numbers of experts");
    }
    [[nodiscard]] constexpr std::int64_t of(std::int64_t layer) const {
        const bool sparse = words_ ? is_sparse(*words_, layer) : listed(layer) > 0;
        if (!sparse) return 0;
        if (!single_) return words_ ? otherwise_ : listed(layer);
        for (const config_view entry : *single_)
            if (number_of(entry) == layer) return entry.positive("num_local_experts", otherwise_);
        return otherwise_;
    }

private:
    static constexpr std::int64_t described = 42;

    [[nodiscard]] static constexpr bool is_sparse(config_view words, std::int64_t layer) {
        const string_ref word = words[static_cast<std::size_t>(layer)].as_string();
        if (word != "sparse" && word != "dense") fail_value(words, "a list of dense and sparse");
        return word == "sparse";
    }
    [[nodiscard]] constexpr std::int64_t listed(std::int64_t layer) const {
        if (numbers_) return (*numbers_)[static_cast<std::size_t>(layer)].as_integer();
        return layer < 25 ? 0 : layer < 41 ? 4 * (layer - 24) : 64;
    }
    [[nodiscard]] constexpr std::int64_t number_of(config_view entry) const {
        std::int64_t number = 0;
        for (const char c : entry.key()) {
            if (c < '0' || c > '9' || number > largest_input / 10)
                fail_unsupported(config_, "per_layer_config", "its keys are numbers of layers");
            number = number * 10 + (c - '0');
        }
        for (const config_view changed : entry.as_object())
            if (changed.key() != "num_local_experts" && changed.key() != "num_experts_per_tok")
                fail_unsupported(entry, "changes what no row describes by layer");
        return number;
    }

    config_view config_;
    maybe<config_view> numbers_, words_, single_;
    std::int64_t otherwise_;
};

constexpr void read_vision(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_heads", "num_attention_heads"});
    if (config.positive("adapter_in_dim", 1536) != s.hidden_size) fail_value(config, "adapter_in_dim", "hidden_size");
    if (config.positive("adapter_merge_size", 2) != s.own[merged_side])
        fail_value(config, "adapter_merge_size", "spatial_merge_size");
    (void)checked_width(config, "spatial_merge_size", checked_product(s.hidden_size, s.own[merged_side]),
                        s.own[merged_side]);
    (void)checked_width(config, "patch_size", s.own[patch_side], s.own[patch_side]);
    (void)checked_width(config, "hidden_size", 3, s.hidden_size);
    (void)checked_width(config, "moe_intermediate_size", 2, s.own[expert_width]);
    const auto rope = config.optional_object("rope_parameters");
    const string_ref type = rope ? rope->string("rope_type", "axial") : string_ref("axial");
    if (type != "axial" && type != "default") fail_value(*rope, "rope_type", "\"axial\"");
    if (const auto single = config.optional_object("per_layer_config"))
        for (const config_view entry : *single)
            if (entry.positive("num_experts_per_tok", s.own[picked]) != s.own[picked]) s.own[uneven] = 1;
    const expert_numbers experts(config, s);
    plan_layers(config, s, [&](std::int64_t i) {
        const std::int64_t n = experts.of(i);
        if (n > largest_input) fail_value(config, "pyramid_num_routed", "numbers of experts");
        if (n > 0 && s.mlp_bias) fail_value(config, "mlp_bias", "false, as experts have none");
        return layer_kind{.experts = n > 0, .inner = static_cast<std::int32_t>(n)};
    });
}

/// Released files name sizes as Whisper does, in an object of their own.
constexpr void read_audio(config_view config, sizes& s) {
    if (const auto whisper = config.optional_object("whisper_config")) {
        s.hidden_size = whisper->positive("d_model", s.hidden_size);
        s.num_attention_heads = whisper->positive("encoder_attention_heads", s.num_attention_heads);
        s.num_hidden_layers = whisper->positive("encoder_layers", s.num_hidden_layers);
        s.intermediate_size = whisper->positive("encoder_ffn_dim", s.intermediate_size);
        s.own[features] = whisper->positive("num_mel_bins", s.own[features]);
    }
    share_among_heads(config, s, {"num_attention_heads"});
    const std::int64_t in = config.positive("adapter_input_size", 1280);
    if (config.positive("whisper_adapter_in_dim", in) != s.hidden_size)
        fail_value(config, "adapter_input_size", "hidden_size");
    s.own[heard_width] = config.positive("adapter_output_size", s.own[heard_width]);
    s.own[heard_width] = config.positive("whisper_adapter_out_dim", s.own[heard_width]);
    (void)checked_width(config, "intermediate_size", 2, s.intermediate_size);
    (void)checked_width(config, "downsample_hidden_size", s.own[stem_channels], s.own[features] / 8 + 1);
    s.layers.set_all({});
}

/// Both towers end as wide as the text.
constexpr void read(config_view config, model& m) {
    if (m.beside[0].dims.own[seen_width] != m.dims.hidden_size)
        fail_value(config, "vision_config", "an adapter_out_dim of the text's hidden_size");
    if (m.beside[1].dims.own[heard_width] != m.dims.hidden_size)
        fail_value(config, "audio_config", "an adapter_out_dim of the text's hidden_size");
}

inline constexpr architecture part = [](architecture a) {
    a.prefix = "Dots3Note", a.rotated = rotation::none, a.heads = {};
    a.keys[0] = {"head_dim", "", key_rule::absent}, a.keys[1] = no_key_value_heads;
    return a;
}(architecture{});
inline constexpr architecture vision = [](architecture a) {
    a.model_type = "dots3_note_vision_encoder", a.base = vision_base, a.read = read_vision, a.own = vision_keys;
    a.names.model_type = "VisionModel", a.kinds.experts = a.kinds.inner = true;
    a.keys[2] = {"hidden_size", "embed_dim"}, a.keys[3] = {"num_attention_heads", "num_heads"};
    a.keys[4] = {"attention_bias", "use_bias"};
    a.defaults.hidden_size = 1536, a.defaults.intermediate_size = 4224, a.defaults.num_hidden_layers = 42;
    a.defaults.num_attention_heads = 24;
    return a;
}(part);
inline constexpr architecture audio = [](architecture a) {
    a.model_type = "dots3_note_audio_encoder", a.base = audio_base, a.read = read_audio, a.own = audio_keys;
    a.names.model_type = "AudioModel";
    a.defaults.hidden_size = 1280, a.defaults.intermediate_size = 5120, a.defaults.num_hidden_layers = 32;
    a.defaults.num_attention_heads = 20, a.defaults.attention_bias = true;
    return a;
}(part);

}  // namespace dots3_note_media_detail

// transformers/models/dots3_note: towers for images and sound beside the text model
inline constexpr architecture dots3_note = [](architecture a) {
    a.model_type = "dots3_note", a.prefix = "Dots3Note", a.base = dots3_note_media_detail::base;
    a.media = dots3_note_media_detail::show, a.read_processor = dots3_note_media_detail::read_processor,
    a.own = dots3_note_media_detail::whole_keys, a.reads.images = true;
    a.read_whole = dots3_note_media_detail::read;
    a.text = {.key = "text_config", .otherwise = &dots3_note_text, .always = true, .flat = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &dots3_note_media_detail::vision, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &dots3_note_media_detail::audio, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
