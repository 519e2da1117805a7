// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace xmod_detail {

// clang-format off
enum own : std::uint8_t {
    norms_before, reduction, adapter_norm, reuses_norm, norm_before_adapter, languages, more_languages, language
};
// clang-format on
inline constexpr own_key keys[]{
    {"pre_norm", 0, own_value::boolean},
    {"adapter_reduction_factor", 2},
    {"adapter_layer_norm", 0, own_value::boolean},
    {"adapter_reuse_layer_norm", 1, own_value::boolean},
    {"ln_before_adapter", 1, own_value::boolean},
    {.value = own_value::computed},  // a bit for each of the first languages below
    {.value = own_value::computed},  // and for each of the others
    {.value = own_value::computed},  // the place of `default_language`
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

constexpr bool has_language(const own_sizes& own, std::int64_t i) {
    return (own[i < per_mask ? languages : more_languages] >> (i % per_mask) & 1) != 0;
}

/// A norm that a module calls in several places: whoever comes first declares it.
struct shared_norm {
    const site& here;
    literal name;
    bool declared = false;

    constexpr value call(trace& t, const value& x) {
        const norm<norm_kind::layer> own{here.dims.hidden_size};
        if (!declared) return declared = true, t.call(name, own, x);
        const module_info again{.name = name, .type = own.type(), .what = role::norm, .leaf = true};
        t.enter(again);
        return t.leave(again, t.layer_norm(x, 2));
    }
};

/// A bottleneck that one language goes through.
struct adapter {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Adapter"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, narrow = width / here.dims.own[reduction];
        const value h = t.call("dense1", linear{width, narrow, true}, x);
        return t.call("dense2", linear{narrow, width, true},
                      t.call("adapter_act_fn", activation_module{here.dims.hidden_act}, h));
    }
};

/// All sequences go through the adapter of one language; the others are called with none.
///
/// Source: `XmodOutput.lang_adapter`.
constexpr value adapt(const site& here, trace& t, const value& x, shared_norm& reused) {
    const own_sizes& own = here.dims.own;
    const auto width = static_cast<std::uint64_t>(here.dims.hidden_size);
    const std::uint64_t narrow = width / static_cast<std::uint64_t>(own[reduction]);
    value h = x;
    if (own[adapter_norm] != 0)
        h = t.call("adapter_layer_norm", norm<norm_kind::layer>{here.dims.hidden_size}, h);
    else if (own[reuses_norm] != 0)
        h = reused.call(t, h);
    const value around = own[norm_before_adapter] != 0 ? h : x;
    value all = t.zeros_like(h);
    const module_info list{.name = "adapter_modules", .type = {"", "ModuleDict"}};
    for (std::int64_t i = 0; i < known_count; ++i) {
        if (!has_language(own, i)) continue;
        const value rows = t.gather(h, {i == own[language] ? h.dim(0) : 0, h.dim(1), h.dim(2)});
        t.enter(list);
        const value adapted = t.leave(list, t.call(known[i], adapter{here}, rows));
        t.copy_into(all, adapted);
        // biases of those that are called with none: a sum of no rows is no addition less
        if (i != own[language]) t.backward({.add = count(narrow + width)});
    }
    all = dropout(t, "dropout", all);
    t.in_place(op::add, all, around);
    return all;
}

struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const module_info output{.name = "output", .type = here.type("SelfOutput")};
        const norm<norm_kind::layer> own{width};
        const bool before = here.dims.own[norms_before] != 0;
        value h = x;
        if (before) t.enter(output), h = t.leave(output, t.call("LayerNorm", own, h));
        h = t.call("self", bert_layers::self_attention_block{here}, h);
        t.enter(output);
        h = t.add(dropout(t, "dropout", t.call("dense", linear{width, width, true}, h)), x);
        return t.leave(output, before ? h : t.call("LayerNorm", own, h));
    }
};

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const bool before = here.dims.own[norms_before] != 0;
    const module_info output{.name = "output", .type = here.type("Output"), .what = role::mlp};
    shared_norm last{here, "LayerNorm"};
    const value middle = t.call("attention", attention{here}, x);
    value h = middle;
    if (before) t.enter(output), h = t.leave(output, last.call(t, h));
    h = t.call("intermediate", bert_layers::intermediate_block{here}, h);
    t.enter(output);
    h = t.add(dropout(t, "dropout", t.call("dense", linear{inner, width, true}, h)), middle);
    h = adapt(here, t, h, last);
    return t.leave(output, before ? h : last.call(t, h));
}

/// Which adapter each sequence goes through is a product, in floating point.
constexpr value encode(const site& here, trace& t) {
    (void)t.mul(t.constant({t.load().batch}));
    return encode_with(here, t,
                       {.type = here.type("Encoder"), .last_norm = here.dims.own[norms_before] != 0 ? "LayerNorm" : ""});
}

constexpr std::int64_t place_of(config_view config, literal key, string_ref name) {
    for (std::int64_t i = 0; i < known_count; ++i)
        if (name == known[i]) return i;
    fail_unsupported(config, key, "no row describes an adapter of this language");
}

constexpr void read(config_view config, sizes& s) {
    roberta_detail::read(config, s);
    if (s.add_cross_attention) fail_unsupported(config, "add_cross_attention", "no row describes it beside adapters");
    if (s.hidden_size < s.own[reduction]) fail_value(config, "adapter_reduction_factor", "at most hidden_size");
    s.own[languages] = s.own[more_languages] = 0;
    const auto add = [&](std::int64_t i) {
        s.own[i < per_mask ? languages : more_languages] |= std::int64_t{1} << (i % per_mask);
    };
    if (const auto list = config.optional_array("languages")) {
        for (const config_view entry : *list) add(place_of(config, "languages", entry.as_string()));
    } else {
        add(0);
    }
    const auto spoken = config.optional_string("default_language");
    if (!spoken) fail_missing(config, "default_language", "one of languages, as the reference asks for it");
    s.own[language] = place_of(config, "default_language", *spoken);
    if (!has_language(s.own, s.own[language])) fail_value(config, "default_language", "one of languages");
}

}  // namespace xmod_detail

// transformers/models/xmod: configuration_xmod.py, modeling_xmod.py; RoBERTa with an adapter for each language
inline constexpr architecture xmod = [](architecture a) {
    a.model_type = "xmod", a.prefix = "Xmod", a.read = xmod_detail::read, a.own = xmod_detail::keys;
    a.base = xmod_detail::encode, a.layer = xmod_detail::layer, a.defaults.vocab_size = 30522;
    return a;
}(roberta);

}  // namespace llmcost::arch
