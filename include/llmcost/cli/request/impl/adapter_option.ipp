// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/adapter_option.hpp>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/json.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_match.hpp>
#include <llmcost/memory/adapter_targets.hpp>
#include <llmcost/memory/module_names.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/read_adapter.hpp>
#include <llmcost/memory/read_quantization.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

/// Parses layer numbers `0-7+12`. Throws: `usage`.
LLMCOST_INLINE std::vector<std::int64_t> read_layer_numbers(std::string_view text) {
    constexpr std::string_view option_name = "--adapter: layers";
    constexpr std::int64_t maximum = 100'000;
    std::vector<std::int64_t> out;
    for (const std::string& part : split_list(text, '+')) {
        const std::size_t dash = part.find('-');
        const std::int64_t first = parse_integer(option_name, std::string_view(part).substr(0, dash), 0, maximum);
        const std::int64_t last =
            dash == std::string::npos
                ? first
                : parse_integer(option_name, std::string_view(part).substr(dash + 1), first, maximum);
        for (std::int64_t n = first; n <= last; ++n) out.push_back(n);
    }
    if (out.empty()) throw_usage(option_name, "expected layer numbers such as 0-7+12, found " + quote(text));
    return out;
}

/// Parses one `key=value` of a short form. Throws: `usage`.
LLMCOST_INLINE void parse_adapter_parameter(std::string_view part, adapter& out, double& alpha) {
    constexpr std::string_view option_name = "--adapter";
    const std::string_view key = part.substr(0, part.find('='));
    const std::string_view value = key.size() < part.size() ? part.substr(key.size() + 1) : std::string_view{};
    const auto names = [&] {
        std::vector<std::string> list = split_list(value, '+');
        if (list.empty() || value.ends_with('+') ||
            std::ranges::any_of(list, [](const std::string& name) { return name.empty(); }))
            throw_usage(option_name, "expected " + std::string(key) + "=NAME+NAME, found " + quote(part));
        return list;
    };
    if (key == "r")
        out.rank = parse_integer(option_name, value, 1);
    else if (key == "alpha")
        alpha = parse_real(option_name, value, 0, 1e9);
    else if (key == "n")
        out.tokens = parse_integer(option_name, value, 1);
    else if (key == "hidden")
        out.hidden = parse_integer(option_name, value, 1);
    else if (key == "targets" && value == "all-linear")
        out.all_linear = true;
    else if (key == "targets")
        out.targets.endings = names();
    else if (key == "exclude")
        out.excluded.endings = names();
    else if (key == "feedforward")
        out.feedforward.endings = names();
    else if (key == "save")
        out.saved = names();
    else if (key == "params")
        out.parameters = names();
    else if (key == "layers")
        out.layers = read_layer_numbers(value);
    else if (key == "bias" && (value == "none" || value == "all" || value == "lora_only"))
        out.bias = value == "all" ? adapter_bias::all : value == "none" ? adapter_bias::none : adapter_bias::lora_only;
    else
        throw_usage(option_name,
                    "expected r=, alpha=, n=, hidden=, targets=, exclude=, layers=, feedforward=, save=, params= or "
                    "bias=none|all|lora_only; found " +
                        quote(part));
}

/// Parses the short form `lora:r=16,targets=q_proj+v_proj`: a kind and parameters of the PEFT configuration.
LLMCOST_INLINE adapter parse_adapter_short_form(const adapter_short_form& kind, std::string_view rest) {
    adapter out;
    out.kind = kind.kind;
    double alpha = -1;
    if (out.kind == adapter_kind::frozen) {
        out.frozen = split_list(rest, '+');
        if (out.frozen.empty())
            throw_usage("--adapter", "freeze requires modules, e.g. freeze:vision or freeze:vision_tower+lm_head");
        return out;
    }
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        parse_adapter_parameter(rest.substr(0, comma), out, alpha);
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
    const auto rank = static_cast<double>(out.rank);
    out.unit_scale = kind.name == "rslora" ? alpha * alpha == rank : alpha == rank;
    if (out.all_linear && !out.layers.empty())
        throw_usage("--adapter", "layers= cannot be combined with targets=all-linear in PEFT");
    return out;
}

/// Reads a PEFT configuration from a file or its directory.
LLMCOST_INLINE adapter_file read_adapter_file(std::string_view text) {
    const std::filesystem::path path{std::string(text)};
    std::error_code none;
    const bool folder = std::filesystem::is_directory(path, none);
    const std::string file = folder ? (path / "adapter_config.json").string() : path.string();
    if (folder && !std::filesystem::exists(file, none))
        throw error(errc::io, printable(text), "no adapter_config.json in this directory");
    return read_config_file(file, {}, document_kind::adapter).read_with([](config_view root) {
        return parse_adapter(root);
    });
}

LLMCOST_INLINE requested_adapter read_adapter_option(std::string_view text) {
    requested_adapter out;
    out.label = printable(text);
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const auto known = std::ranges::find(adapter_short_forms, kind, &adapter_short_form::name);
    if (known != std::end(adapter_short_forms)) {
        out.quantizes = kind == "qlora";
        out.file.adapts = parse_adapter_short_form(
            *known, colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1));
        return out;
    }
    std::error_code none;
    const bool is_path = text.ends_with(".json") || text.find('/') != std::string_view::npos || text.starts_with('.');
    if (is_path || std::filesystem::exists(std::string(text), none)) {
        out.file = read_adapter_file(text);
        out.is_file = true;
        return out;
    }
    name_suggestions near(kind);
    for (const adapter_short_form& k : adapter_short_forms) near.add_candidate(k.name);
    throw_usage("--adapter", "no adapter type or file " + quote(kind) + near.suggestion_or_list());
}

/// A model name in lower case, without its revision.
LLMCOST_INLINE std::string plain_model_name(std::string_view name) {
    std::string out(name.substr(0, name.find('@')));
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

LLMCOST_INLINE void resolve_adapter(requested_adapter& requested, const model& m, std::ostream& notes) {
    adapter& adapter_config = requested.file.adapts;
    if (requested.none()) return;
    constexpr std::string_view option_name = "--adapter";
    const std::string_view type(m.spec->model_type);
    adapter_config = with_usual_targets(std::move(adapter_config), type);
    if (adapter_config.needs_targets())
        throw_usage(option_name, "PEFT has no default targets for " + quote(type) + "; use targets=NAME+NAME" +
                                     (adapter_config.kind == adapter_kind::norms ? "" : " or targets=all-linear"));
    std::string missing;
    adapter_config = with_fused_experts(std::move(adapter_config), type, missing);
    if (!missing.empty())
        throw_usage(option_name, "the experts of " + quote(type) + " have fused matrices (" + missing +
                                     "); the adapter has only one of them as target");
    const adapter_match_result found = find_adapter_targets(adapter_config, m);
    if (!found.problem.empty()) throw_usage(option_name, printable(found.problem));
    const bool has_no_match = found.adapted.empty() && adapter_config.kind != adapter_kind::bitfit;
    for (const std::string& name : found.unmatched) {
        name_suggestions near(name);
        for (const std::string& known : found.names) near.add_candidate(known);
        const std::string text = "no module " + quote(name) + " in this model" + near.suggestion_text("");
        if (has_no_match || adapter_config.kind == adapter_kind::frozen) throw_usage(option_name, text);
        // PEFT trains the targets that match
        notes << "llmcost: warning: --adapter: " << text << "; the other targets are trained\n";
    }
    if (has_no_match && !adapter_config.frozen_parameters.empty())
        throw_usage("--freeze",
                    "no parameter of this model is named " + quote(adapter_config.frozen_parameters.front()));
    if (has_no_match) throw_usage(option_name, "no module of this model is a target of the adapter");
}

/// Warns if an adapter was trained for a model other than `name`.
LLMCOST_INLINE void note_on_base(const requested_adapter& requested, std::string_view name, std::ostream& notes) {
    const std::string& base = requested.file.base;
    if (base.empty() || name.empty() || plain_model_name(base) == plain_model_name(name)) return;
    notes << "llmcost: warning: --adapter: trained for " << printable(base) << ", used with " << printable(name)
          << '\n';
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string adapter_text(const arguments& args) {
    const bool has_lora = args.has(option::lora), has_qlora = args.has(option::qlora);
    if (!has_lora && !has_qlora) return std::string(args.text(option::adapter, "none"));
    const option_spec& used = has_lora ? option::lora : option::qlora;
    if (args.has(option::adapter)) throw_usage(used.name, "cannot be combined with --adapter");
    const std::string kind = has_qlora ? "qlora" : "lora";
    if (!has_lora) return kind;
    const std::string_view parameters = args.text(option::lora);
    const bool is_rank = !parameters.empty() && parameters.find_first_not_of("0123456789") == std::string_view::npos;
    return kind + ':' + (is_rank ? "r=" : "") + std::string(parameters);
}

LLMCOST_INLINE requested_adapter read_adapter(const arguments& args) {
    requested_adapter out = detail::read_adapter_option(adapter_text(args));
    if (!args.has(option::freeze)) return out;
    if (!out.none() && out.file.adapts.kind != adapter_kind::frozen)
        throw_usage("--freeze", "cannot be combined with an adapter, which freezes all parameters of the model");
    out.file.adapts.kind = adapter_kind::frozen;
    out.label = "frozen parameters";
    for (const std::string_view pattern : args.all(option::freeze))
        out.file.adapts.frozen_parameters.emplace_back(pattern);
    return out;
}

LLMCOST_INLINE quantization base_of(const requested_adapter& requested, const parsed_model& read,
                                    const workload& load) {
    const bool has_16_bit_weights = load.weights == dtype::bfloat16 || load.weights == dtype::float16;
    const bool in_16_bits = has_16_bit_weights && !load.autocast, stored = read.subject.config.quantized;
    if (requested.quantizes && !in_16_bits) throw_usage("--adapter", "qlora requires --precision bf16 or fp16");
    const adapter_kind kind = requested.file.adapts.kind;
    const bool frozen = !requested.none() && kind != adapter_kind::bitfit && kind != adapter_kind::frozen;
    if (!frozen || !in_16_bits || (!requested.quantizes && !stored)) return {};
    const auto plan = [](config_view root) { return parse_quantization(root); };
    quantization out =
        stored ? read.found.document.read_with(plan)
               : parse_config(R"({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": true,
                                                 "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": true}})",
                              "qlora")
                     .read_with(plan);
    const bool in_4_bits = out.method == "bitsandbytes" && out.groups.front().layout.bits == 4;
    if (requested.quantizes && !in_4_bits)
        throw_usage("--adapter", "qlora is not supported: the checkpoint is quantized with " + printable(out.method));
    if (in_4_bits && requested.file.adapts.kind == adapter_kind::dora)
        throw_usage("--adapter", "dora is not supported with 4-bit weights");
    return in_4_bits ? out : quantization{};
}

LLMCOST_INLINE void resolve_adapter(requested_adapter& requested, const arguments& args, const model& m,
                                    std::ostream& notes) {
    detail::note_on_base(requested, args.text(option::model), notes);
    detail::resolve_adapter(requested, m, notes);
}

}  // namespace llmcost::cli
