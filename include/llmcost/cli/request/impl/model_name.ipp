// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/model_name.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

/// Removes the host of an address of the Hub. Returns whether there was one.
LLMCOST_INLINE bool remove_hub_host(std::string_view& name) {
    constexpr std::string_view schemes[]{"https://", "http://", "hf://"};
    constexpr std::string_view hosts[]{"huggingface.co/", "www.huggingface.co/", "hf.co/"};
    bool found = false;
    for (const std::string_view scheme : schemes)
        if (name.starts_with(scheme)) {
            name.remove_prefix(scheme.size());
            found = scheme == schemes[2];
        }
    for (const std::string_view host : hosts)
        if (name.starts_with(host)) {
            name.remove_prefix(host.size());
            found = true;
        }
    return found;
}

/// The name of a model up to its first number, if a second one follows: `qwen3.5` of `Qwen3.5-27B`; otherwise empty.
LLMCOST_INLINE std::string series_of(std::string_view name) {
    constexpr std::string_view digits = "0123456789";
    const std::size_t begin = name.find_first_of(digits);
    const std::size_t end = begin == std::string_view::npos ? begin : name.find_first_not_of("0123456789.", begin);
    if (end == std::string_view::npos || name.find_first_of(digits, end) == std::string_view::npos) return {};
    return lower(name.substr(0, end));
}

/// The letters and digits of a name, in lower case: `llama38b` of `Llama-3-8B`.
LLMCOST_INLINE std::string letters_and_digits(std::string_view name) {
    std::string out = lower(name);
    std::erase_if(out, [](char c) { return (c < 'a' || c > 'z') && (c < '0' || c > '9'); });
    return out;
}

/// The number of parts of a name before one that begins with these letters and digits; -1 if there is none.
LLMCOST_INLINE int parts_before(std::string_view name, std::string_view letters) {
    for (int num_parts = 0;; ++num_parts) {
        if (letters_and_digits(name).starts_with(letters)) return num_parts;
        const std::size_t end = name.find('-');
        if (end == std::string_view::npos) return -1;
        name.remove_prefix(end + 1);
    }
}

/// The name of a model without its organization.
LLMCOST_INLINE std::string_view without_organization(std::string_view name) { return name.substr(name.find('/') + 1); }

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string similar_bundled_names(std::span<const bundled_config> bundled, std::string_view name) {
    const std::string_view typed = detail::without_organization(name);
    name_suggestions near(typed);
    const std::string series = detail::series_of(typed), letters = detail::letters_and_digits(typed);
    for (const bundled_config& b : bundled) {
        const std::string_view known = detail::without_organization(b.name);
        const int d = near.distance(known);
        const bool is_other_series = !series.empty() && detail::letters_and_digits(detail::series_of(known)) !=
                                                            detail::letters_and_digits(series);
        if (d <= 2 && !is_other_series) near.add_candidate(b.name, d - 1);  // before names that begin with it
        const int num_parts = letters.size() < 4 ? -1 : detail::parts_before(known, letters);
        const bool is_of_series = !series.empty() && !is_other_series,
                   is_variant = b.name.find(',') != std::string::npos;
        if (d > 2 && num_parts >= 0 && !is_variant) near.add_candidate(b.name, num_parts == 0 ? 1 : 2);
        if (d > 2 && is_of_series && !is_variant) near.add_candidate(b.name, 3);
    }
    return near.suggestion_text("", "; similar bundled names: ");
}

LLMCOST_INLINE std::string repository_of_address(std::string_view name) {
    std::string_view path = name;
    if (!detail::remove_hub_host(path)) return std::string(name);
    path = path.substr(0, path.find_first_of("?#"));
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        if (end > 0) parts.push_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    if (!parts.empty() && parts.front() == "models") parts.erase(parts.begin());
    if (parts.empty()) throw_usage(option::model.name, "expected the address of a repository, found " + quote(name));
    constexpr std::string_view views[]{"tree", "blob", "resolve", "raw", "commit"};
    const auto view = std::find_if(parts.begin(), parts.end(), [&](std::string_view part) {
        return std::find(std::begin(views), std::end(views), part) != std::end(views);
    });
    std::string out(parts.front());
    if (view - parts.begin() != 1 && parts.size() > 1) out.append("/").append(parts[1]);
    if (view != parts.end() && view + 1 != parts.end() && view[1] != "main") out.append("@").append(view[1]);
    return out;
}

LLMCOST_INLINE std::string_view complete_model_name(std::span<const bundled_config> bundled, std::string_view name) {
    if (name.empty() || name.find('/') != std::string_view::npos) return {};
    std::vector<std::string_view> found;
    for (const bundled_config& b : bundled) {
        const std::string_view part = b.name.substr(b.name.find('/') + 1);
        if (llmcost::detail::compare_ignoring_case(part, name) == 0) found.push_back(b.name);
    }
    if (found.size() < 2) return found.empty() ? std::string_view{} : found.front();
    std::string names;
    for (const std::string_view candidate : found) names.append(names.empty() ? "" : ", ").append(candidate);
    throw_usage(option::model.name, quote(name) + " is the name of several models: " + names);
}

LLMCOST_INLINE bool is_model_argument(std::string_view text, const program& io) {
    if (text.empty() || text == "-") return false;
    if (std::string_view address = text; detail::remove_hub_host(address)) return true;
    if (find_bundled(io.bundled, text) != nullptr) return true;
    const std::size_t slash = text.find('/');
    const bool is_repository = slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
                               text.find('/', slash + 1) == std::string_view::npos;
    const bool is_file = text.ends_with(".json") || text.ends_with(".gguf");
    const bool is_path = text.starts_with('.') || text.starts_with('/') || text.starts_with('~');
    std::error_code none;
    if (is_file || is_path) return std::filesystem::exists(std::string(text), none);
    if (is_repository) return !text.ends_with(".csv") && text.find_first_of("*, ") == std::string_view::npos;
    const auto has_name = [&](const bundled_config& b) {
        return llmcost::detail::compare_ignoring_case(b.name.substr(b.name.find('/') + 1), text) == 0;
    };
    return std::any_of(io.bundled.begin(), io.bundled.end(), has_name);
}

LLMCOST_INLINE void move_models_to_option(const command& c, arguments& args, const program& io) {
    if (c.has_model_arguments || !has_option(args.options(), option::model.name)) return;
    for (const option_spec& o : {option::model, option::config, option::gguf, option::safetensors})
        if (args.has(o)) return;
    std::size_t num_models = 0;
    while (num_models < args.positional().size() && is_model_argument(args.positional()[num_models], io)) ++num_models;
    args.require_positional(option::model, num_models);
}

}  // namespace llmcost::cli
