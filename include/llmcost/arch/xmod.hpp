// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace xmod_detail {

// clang-format off
enum family_config_index : std::uint8_t {
    norms_before, reduction, adapter_norm, reuses_norm, norm_before_adapter, languages, more_languages, language
};
// clang-format on
inline constexpr family_key family_keys[]{
    {"pre_norm", 0, family_key_type::boolean},
    {"adapter_reduction_factor", 2},
    {"adapter_layer_norm", 0, family_key_type::boolean},
    {"adapter_reuse_layer_norm", 1, family_key_type::boolean},
    {"ln_before_adapter", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // a bit for each of the first languages below
    {.type = family_key_type::computed},  // and for each of the others
    {.type = family_key_type::computed},  // the place of `default_language`
};

/// Languages that adapters are named after, those of facebook/xmod-base.
inline constexpr literal known[]{
    "en_XX", "id_ID", "vi_VN", "ru_RU", "fa_IR", "sv_SE", "ja_XX", "fr_XX", "de_DE", "ro_RO", "ko_KR", "hu_HU",
    "es_XX", "fi_FI", "uk_UA", "da_DK", "pt_XX", "no_XX", "th_TH", "pl_PL", "bg_BG", "nl_XX", "zh_CN", "he_IL",
    "el_GR", "it_IT", "sk_SK", "hr_HR", "tr_TR", "ar_AR", "cs_CZ", "lt_LT", "hi_IN", "zh_TW", "ca_ES", "ms_MY",
    "sl_SI", "lv_LV", "ta_IN", "bn_IN", "et_EE", "az_AZ", "sq_AL", "sr_RS", "kk_KZ", "ka_GE", "tl_XX", "ur_PK",
    "is_IS", "hy_AM", "ml_IN", "mk_MK", "be_BY", "la_VA", "te_IN", "eu_ES", "gl_ES", "mn_MN", "kn_IN", "ne_NP",
    "sw_KE", "si_LK", "mr_IN", "af_ZA", "gu_IN", "cy_GB", "eo_EO", "km_KH", "ky_KG", "uz_UZ", "ps_AF", "pa_IN",
    "ga_IE", "ha_NG", "am_ET", "lo_LA", "ku_TR", "so_SO", "my_MM", "or_IN", "sa_IN"};
inline constexpr std::int64_t known_count = sizeof known / sizeof *known, per_mask = 62;

constexpr bool has_language(const family_config& family, std::int64_t i) {
    return (family[i < per_mask ? languages : more_languages] >> (i % per_mask) & 1) != 0;
}

/// A norm that a module calls in several places; the first call declares it.
struct shared_norm {
    const layer_context& ctx;
    literal name;
    bool declared = false;

    constexpr tensor call(trace& t, const tensor& x) {
        const norm_module layer_norm{norm_kind::layer, ctx.config.hidden_size};
        if (!declared) {
            declared = true;
            return t.call(name, layer_norm, x);
        }
        const module_info reused_norm{
            .name = name, .class_of_module = layer_norm.type_name(), .module_role = role::norm, .is_leaf = true};
        t.enter(reused_norm);
        return t.leave(reused_norm, t.layer_norm(x, 2));
    }
};

/// A bottleneck that one language goes through.
struct adapter {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Adapter"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, bottleneck = width / ctx.config.family[reduction];
        const tensor h = t.call("dense1", linear{width, bottleneck, true}, x);
        return t.call("dense2", linear{bottleneck, width, true},
                      t.call("adapter_act_fn", activation_module{ctx.config.hidden_act}, h));
    }
};

/// All sequences go through the adapter of one language; the others are called with none.
///
/// Source: `XmodOutput.lang_adapter`.
constexpr tensor adapt(const layer_context& ctx, trace& t, const tensor& x, shared_norm& reused) {
    const family_config& family = ctx.config.family;
    const auto width = static_cast<std::uint64_t>(ctx.config.hidden_size);
    const std::uint64_t bottleneck = width / static_cast<std::uint64_t>(family[reduction]);
    tensor h = x;
    if (family[adapter_norm] != 0)
        h = t.call("adapter_layer_norm", norm_module{norm_kind::layer, ctx.config.hidden_size}, h);
    else if (family[reuses_norm] != 0)
        h = reused.call(t, h);
    const tensor residual = family[norm_before_adapter] != 0 ? h : x;
    tensor all = t.zeros_like(h);
    const module_info list{.name = "adapter_modules", .class_of_module = {"", "ModuleDict"}};
    for (std::int64_t i = 0; i < known_count; ++i) {
        if (!has_language(family, i)) continue;
        const tensor rows = t.gather(h, {i == family[language] ? h.dim(0) : 0, h.dim(1), h.dim(2)});
        t.enter(list);
        const tensor adapted = t.leave(list, t.call(known[i], adapter{ctx}, rows));
        t.copy_into_slice(all, adapted);
        // biases of those that are called with none: a sum of no rows is no addition less
        if (i != family[language]) t.add_backward_cost({.add = count(bottleneck + width)});
    }
    all = dropout(t, "dropout", all);
    t.add_(all, residual);
    return all;
}

struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const module_info output{.name = "output", .class_of_module = ctx.class_of("SelfOutput")};
        const norm_module layer_norm{norm_kind::layer, width};
        const bool is_pre_norm = ctx.config.family[norms_before] != 0;
        tensor h = x;
        if (is_pre_norm) {
            t.enter(output);
            h = t.leave(output, t.call("LayerNorm", layer_norm, h));
        }
        h = t.call("self", bert_layers::self_attention_block{ctx}, h);
        t.enter(output);
        h = t.add(dropout(t, "dropout", t.call("dense", linear{width, width, true}, h)), x);
        return t.leave(output, is_pre_norm ? h : t.call("LayerNorm", layer_norm, h));
    }
};

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const bool is_pre_norm = ctx.config.family[norms_before] != 0;
    const module_info output{.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp};
    shared_norm last{ctx, "LayerNorm"};
    const tensor middle = t.call("attention", attention{ctx}, x);
    tensor h = middle;
    if (is_pre_norm) {
        t.enter(output);
        h = t.leave(output, last.call(t, h));
    }
    h = t.call("intermediate", bert_layers::intermediate_block{ctx}, h);
    t.enter(output);
    h = t.add(dropout(t, "dropout", t.call("dense", linear{inner, width, true}, h)), middle);
    h = adapt(ctx, t, h, last);
    return t.leave(output, is_pre_norm ? h : last.call(t, h));
}

/// Which adapter each sequence goes through is a product, in floating point.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    (void)t.mul_scalar(t.full({t.load().batch}));
    return forward_encoder_with(
        ctx, t,
        {.type = ctx.class_of("Encoder"), .last_norm = ctx.config.family[norms_before] != 0 ? "LayerNorm" : ""});
}

constexpr std::int64_t place_of(config_view json, literal key, string_ref name) {
    for (std::int64_t i = 0; i < known_count; ++i)
        if (name == known[i]) return i;
    throw_unsupported(json, key, "unsupported language of an adapter");
}

constexpr void parse_config(config_view json, model_config& config) {
    roberta.parse_config(json, config);
    if (config.add_cross_attention)
        throw_unsupported(json, "add_cross_attention", "cross-attention is not supported with adapters");
    if (config.hidden_size < config.family[reduction])
        throw_invalid_value(json, "adapter_reduction_factor", "at most hidden_size");
    config.family[languages] = config.family[more_languages] = 0;
    const auto add = [&](std::int64_t i) {
        config.family[i < per_mask ? languages : more_languages] |= std::int64_t{1} << (i % per_mask);
    };
    if (const auto list = json.optional_array("languages")) {
        for (const config_view entry : *list) add(place_of(json, "languages", entry.as_string()));
    } else {
        add(0);
    }
    const auto spoken = json.optional_string("default_language");
    if (!spoken) throw_missing_key(json, "default_language", "one of the languages, required by the reference");
    config.family[language] = place_of(json, "default_language", *spoken);
    if (!has_language(config.family, config.family[language]))
        throw_invalid_value(json, "default_language", "one of languages");
}

}  // namespace xmod_detail

// transformers/models/xmod: configuration_xmod.py, modeling_xmod.py; RoBERTa with an adapter for each language
inline constexpr model_spec xmod = [](model_spec spec) {
    spec.model_type = "xmod";
    spec.class_prefix = "Xmod";
    spec.parse_config = xmod_detail::parse_config;
    spec.family_keys = xmod_detail::family_keys;
    spec.base_model = xmod_detail::encode;
    spec.decoder_layer = xmod_detail::decoder_layer;
    spec.defaults.vocab_size = 30522;
    return spec;
}(roberta);

}  // namespace llmcost::arch
