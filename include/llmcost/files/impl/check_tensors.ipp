// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/check_tensors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/report/listing.hpp>

namespace llmcost::detail {

/// Replaces one part of a text by another.
LLMCOST_INLINE bool replace_part(std::string& text, std::string_view part, std::string_view replacement) {
    const std::size_t position = text.find(part);
    if (position == std::string::npos) return false;
    text.replace(position, part.size(), replacement);
    return true;
}

LLMCOST_INLINE bool is_buffer(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
    for (const std::string_view buffer : {"inv_freq", "position_ids", "e_score_correction_bias", "running_mean",
                                          "running_var", "num_batches_tracked", "masked_bias"})
        if (last == buffer) return true;
    return false;
}

/// A checkpoint's name as Transformers' modules are called since version 5, which renames what it loads.
LLMCOST_INLINE std::string name_of_module(std::string name) {
    if (name.ends_with("LayerNorm.gamma")) name.replace(name.size() - 5, 5, "weight");
    if (name.ends_with("LayerNorm.beta")) name.replace(name.size() - 4, 4, "bias");
    if (name.starts_with("language_model.model.")) name.replace(0, 21, "model.language_model.");
    if (name.starts_with("language_model.lm_head.")) name.erase(0, 15);
    replace_part(name, "vision_tower.vision_model.", "vision_tower.");
    if (replace_part(name, ".block_sparse_moe.", ".mlp.")) {
        replace_part(name, ".w1.", ".gate_proj.");
        replace_part(name, ".w3.", ".up_proj.");
        replace_part(name, ".w2.", ".down_proj.");
    }
    return name;
}

LLMCOST_INLINE std::string name_prefix::apply(const std::string& name) const {
    if (!dropped.empty()) return name.starts_with(dropped) ? name.substr(dropped.size()) : name;
    return added + name;
}

LLMCOST_INLINE std::string first_module(std::string_view name) {
    const std::size_t dot = name.find('.');
    return dot == std::string_view::npos ? std::string() : std::string(name.substr(0, dot + 1));
}

/// The first of these, each once, without the empty one: a model has few modules on its top level.
LLMCOST_INLINE std::vector<std::string> format_examples(std::vector<std::string> firsts) {
    constexpr std::size_t maximum = 8;
    std::sort(firsts.begin(), firsts.end());
    firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    if (!firsts.empty() && firsts.front().empty()) firsts.erase(firsts.begin());
    if (firsts.size() > maximum) firsts.resize(maximum);
    return firsts;
}

/// The prefix under which most names are predicted; none where it makes no difference.
LLMCOST_INLINE name_prefix find_prefix(const std::vector<std::string>& names, const predicted_tensors& predicted,
                                       const std::unordered_set<std::string>& others) {
    std::vector<std::string> ours, theirs;
    for (const auto& [name, sizes] : predicted) ours.push_back(first_module(name));
    for (const std::string& name : names) theirs.push_back(first_module(name));
    std::vector<name_prefix> choices{{}};
    for (const std::string& first : format_examples(std::move(ours))) choices.push_back({first, {}});
    for (const std::string& first : format_examples(std::move(theirs))) choices.push_back({{}, first});
    std::size_t maximum = 0;
    const name_prefix* best = choices.data();
    for (const name_prefix& choice : choices) {
        std::size_t found = 0;
        for (const std::string& name : names) {
            const std::string full = choice.apply(name);
            found += predicted.count(full) + others.count(full);
        }
        if (found > maximum) {
            maximum = found;
            best = &choice;
        }
    }
    return *best;
}

/// The parameter that a tensor is a part of; empty where it is of none.
LLMCOST_INLINE std::string packed_parameter(const std::string& name, const predicted_tensors& predicted) {
    for (const packed_name& p : packed_names) {
        if (!name.ends_with(p.ending)) continue;
        std::string parameter_name = name.substr(0, name.size() - p.ending.size()) + std::string(p.replacement);
        if (predicted.count(parameter_name) != 0) return parameter_name;
    }
    return {};
}

/// Experts that a checkpoint holds one by one are predicted one by one; gives the names of those by the new ones.
LLMCOST_INLINE std::unordered_map<std::string, std::string> unfold_experts(
    predicted_tensors& predicted, const std::unordered_set<std::string>& stored) {
    constexpr std::string_view gate_up = ".experts.gate_up_proj", down = ".experts.down_proj";
    const auto has_separate_experts = [&](const std::string& prefix) {
        for (const std::string_view numbers : {".weight", ".qweight", ".weight_packed"})
            if (stored.count(prefix + "0.down_proj" + std::string(numbers)) != 0) return true;
        return false;
    };
    predicted_tensors unfolded;
    std::unordered_map<std::string, std::string> folded;
    for (auto entry = predicted.begin(); entry != predicted.end();) {
        const std::string& name = entry->first;
        const std::vector<std::uint64_t>& s = entry->second;
        const bool gates = name.ends_with(gate_up);
        const std::string prefix = name.substr(0, name.rfind('.') + 1);
        const bool is_separate = (gates || name.ends_with(down)) && s.size() == 3 && s[0] <= stored.size() &&
                                 stored.count(name) == 0 && has_separate_experts(prefix);
        if (!is_separate) {
            ++entry;
            continue;
        }
        const auto add_expert = [&](std::string expert, std::vector<std::uint64_t> sizes) {
            folded.emplace(expert, name);
            unfolded.emplace(std::move(expert), std::move(sizes));
        };
        for (std::uint64_t e = 0; e < s[0]; ++e) {
            const std::string expert = prefix + std::to_string(e);
            if (!gates) add_expert(expert + ".down_proj.weight", {s[1], s[2]});
            if (gates) {
                add_expert(expert + ".gate_proj.weight", {s[1] / 2, s[2]});
                add_expert(expert + ".up_proj.weight", {s[1] / 2, s[2]});
            }
        }
        entry = predicted.erase(entry);
    }
    predicted.merge(unfolded);
    return folded;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE tensor_check check_tensors(const model_listing& listing, const std::vector<stored_tensor>& stored) {
    detail::predicted_tensors predicted;
    for (const tensor_shape& t : listing.tensors) predicted[t.name].assign(t.sizes.begin(), t.sizes.end());
    const std::unordered_set<std::string> tied(listing.tied.begin(), listing.tied.end());

    // names as they are stored come first: renaming is for those that are not predicted
    std::vector<std::string> names;
    for (const stored_tensor& t : stored) {
        const bool known = predicted.count(t.name) != 0 || tied.count(t.name) != 0;
        names.push_back(known ? t.name : detail::name_of_module(t.name));
    }
    const detail::name_prefix prefix = detail::find_prefix(names, predicted, tied);
    std::unordered_set<std::string> all;
    for (std::string& name : names) {
        if (predicted.count(name) == 0 && tied.count(name) == 0) name = prefix.apply(name);
        all.insert(name);
    }
    const auto folded = detail::unfold_experts(predicted, all);

    tensor_check out;
    std::unordered_set<std::string> quantized;
    for (const std::string& name : names) {
        std::string parameter_name = predicted.count(name) != 0 ? name : detail::packed_parameter(name, predicted);
        if (!parameter_name.empty() && parameter_name != name) quantized.insert(parameter_name);
        out.parameters.push_back(std::move(parameter_name));
    }
    std::vector<std::size_t> tied_indices;
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const auto found = predicted.find(names[i]);
        if (found == predicted.end()) {
            if (tied.count(names[i]) != 0)
                tied_indices.push_back(i);
            else if (!out.parameters[i].empty())
                out.packed.push_back(stored[i].name);
            else
                (detail::is_buffer(names[i]) ? out.buffers : out.not_predicted).push_back(stored[i].name);
            continue;
        }
        if (found->second == stored[i].sizes || quantized.count(names[i]) != 0)
            ++out.agree;
        else
            out.other_sizes.push_back({stored[i].name, found->second, stored[i].sizes});
        predicted.erase(found);
    }
    std::vector<std::string> missing;
    for (const auto& [name, sizes] : predicted)
        if (quantized.count(name) == 0) missing.push_back(name);
    std::sort(missing.begin(), missing.end());
    for (std::string& name : missing) {
        const std::vector<std::uint64_t>& sizes = predicted.find(name)->second;
        // a tensor of several names may be stored under another one than it is counted under
        std::size_t i = 0;
        while (i < tied_indices.size() && stored[tied_indices[i]].sizes != sizes) ++i;
        if (i == tied_indices.size()) {
            out.absent.push_back(std::move(name));
            continue;
        }
        ++out.agree;
        out.parameters[tied_indices[i]] = name;
        tied_indices.erase(tied_indices.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (const std::size_t i : tied_indices) out.tied.push_back(stored[i].name);
    for (std::string& name : out.parameters)
        if (const auto match = folded.find(name); match != folded.end()) name = match->second;
    return out;
}

}  // namespace llmcost
