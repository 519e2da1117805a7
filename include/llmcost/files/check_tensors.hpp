// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/report/listing.hpp>

// Compares the tensors of a Hugging Face checkpoint with those of a trace.
namespace llmcost {

/// A tensor that a checkpoint holds in other sizes.
struct tensor_mismatch {
    std::string name;  ///< in the checkpoint
    std::vector<std::uint64_t> predicted;
    std::vector<std::uint64_t> stored;
};

/// How a checkpoint differs from what is predicted.
struct tensor_check {
    std::uint64_t agree = 0;                 ///< tensors of the checkpoint as predicted
    std::vector<std::string> not_predicted;  ///< only in the checkpoint, by its names
    std::vector<std::string> absent;         ///< only predicted, by the names of the trace
    std::vector<tensor_mismatch> other_sizes;
    std::vector<std::string> buffers;  ///< of the checkpoint: no parameters, and so not predicted
    std::vector<std::string> tied;     ///< of the checkpoint: further names of tensors that are counted once
    std::vector<std::string> packed;  ///< of the checkpoint: numbers, scales and the like of weights that are quantised
    std::vector<std::string>
        parameters{};  ///< of each tensor of the checkpoint: the parameter that it stores or belongs to, if any

    [[nodiscard]] bool has_no_mismatch() const noexcept {
        return not_predicted.empty() && absent.empty() && other_sizes.empty();
    }
};

namespace detail {

/// Replaces one part of a text by another.
inline bool replace_part(std::string& text, std::string_view part, std::string_view replacement) {
    const std::size_t at = text.find(part);
    if (at == std::string::npos) return false;
    text.replace(at, part.size(), replacement);
    return true;
}

inline bool is_buffer(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
    for (const std::string_view buffer : {"inv_freq", "position_ids", "e_score_correction_bias", "running_mean",
                                          "running_var", "num_batches_tracked", "masked_bias"})
        if (last == buffer) return true;
    return false;
}

/// A checkpoint's name as Transformers' modules are called since version 5, which renames what it loads.
inline std::string name_of_module(std::string name) {
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

/// Names predicted, with their sizes.
using predicted_tensors = std::unordered_map<std::string, std::vector<std::uint64_t>>;

/// What a checkpoint's names have too much in front, or too little: those of a base model alone lack its prefix.
struct name_prefix {
    std::string added;
    std::string dropped;
    [[nodiscard]] std::string apply(const std::string& name) const {
        if (!dropped.empty()) return name.starts_with(dropped) ? name.substr(dropped.size()) : name;
        return added + name;
    }
};
inline std::string first_module(std::string_view name) {
    const std::size_t dot = name.find('.');
    return dot == std::string_view::npos ? std::string() : std::string(name.substr(0, dot + 1));
}

/// The first of these, each once, without the empty one: a model has few modules on its top level.
inline std::vector<std::string> format_examples(std::vector<std::string> firsts) {
    constexpr std::size_t maximum = 8;
    std::sort(firsts.begin(), firsts.end());
    firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    if (!firsts.empty() && firsts.front().empty()) firsts.erase(firsts.begin());
    if (firsts.size() > maximum) firsts.resize(maximum);
    return firsts;
}

/// The prefix under which most names are predicted; none where it makes no difference.
inline name_prefix find_prefix(const std::vector<std::string>& names, const predicted_tensors& predicted,
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

/// Names by which formats store a quantized weight, and the name of the model that each replaces.
struct packed_name {
    std::string_view ending;
    std::string_view replacement;
};
// read_quantization.hpp and read_compressed_tensors.hpp have the sources
inline constexpr packed_name packed_names[]{
    {".qweight", ".weight"},
    {".qzeros", ".weight"},
    {".scales", ".weight"},
    {".g_idx", ".weight"},
    {".weight_packed", ".weight"},
    {".weight_shape", ".weight"},
    {".weight_scale", ".weight"},
    {".weight_scale_inv", ".weight"},
    {".weight_scale_2", ".weight"},
    {".weight_global_scale", ".weight"},
    {".weight_zero_point", ".weight"},
    {".weight_g_idx", ".weight"},
    {".input_scale", ".weight"},
    {".input_global_scale", ".weight"},
    {".input_zero_point", ".weight"},
    {".output_scale", ".weight"},
    {".activation_scale", ".weight"},
    {".SCB", ".weight"},
    {".weight_format", ".weight"},
    {".weight.absmax", ".weight"},
    {".weight.nested_absmax", ".weight"},
    {".weight.quant_map", ".weight"},
    {".weight.nested_quant_map", ".weight"},
    {".weight.quant_state.bitsandbytes__nf4", ".weight"},
    {".weight.quant_state.bitsandbytes__fp4", ".weight"},
    {"._weight_qdata", ".weight"},
    {"._weight_scale", ".weight"},
    {"._weight_zero_point", ".weight"},
    {"_blocks", ""},
    {"_scales", ""},
    {"_scale_inv", ""},
};

/// The parameter that a tensor is a part of; empty where it is of none.
inline std::string packed_parameter(const std::string& name, const predicted_tensors& predicted) {
    for (const packed_name& p : packed_names) {
        if (!name.ends_with(p.ending)) continue;
        std::string parameter_name = name.substr(0, name.size() - p.ending.size()) + std::string(p.replacement);
        if (predicted.count(parameter_name) != 0) return parameter_name;
    }
    return {};
}

/// Experts that a checkpoint holds one by one are predicted one by one; gives the names of those by the new ones.
inline std::unordered_map<std::string, std::string> unfold_experts(predicted_tensors& predicted,
                                                                   const std::unordered_set<std::string>& stored) {
    constexpr std::string_view gate_up = ".experts.gate_up_proj", down = ".experts.down_proj";
    const auto has_separate_experts = [&](const std::string& prefix) {
        for (const std::string_view numbers : {".weight", ".qweight", ".weight_packed"})
            if (stored.count(prefix + "0.down_proj" + std::string(numbers)) != 0) return true;
        return false;
    };
    predicted_tensors unfolded;
    std::unordered_map<std::string, std::string> folded;
    for (auto at = predicted.begin(); at != predicted.end();) {
        const std::string& name = at->first;
        const std::vector<std::uint64_t>& s = at->second;
        const bool gates = name.ends_with(gate_up);
        const std::string prefix = name.substr(0, name.rfind('.') + 1);
        const bool is_separate = (gates || name.ends_with(down)) && s.size() == 3 && s[0] <= stored.size() &&
                                 stored.count(name) == 0 && has_separate_experts(prefix);
        if (!is_separate) {
            ++at;
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
        at = predicted.erase(at);
    }
    predicted.merge(unfolded);
    return folded;
}

}  // namespace detail

/// Which tensors of a checkpoint are not predicted, which that are predicted it lacks, and which have other sizes.
///
/// Names are those of checkpoints on the hub: with or without the base model's prefix, experts together or one by one,
/// and tied tensors stored or not.
[[nodiscard]] inline tensor_check check_tensors(const model_listing& listing,
                                                const std::vector<stored_tensor>& stored) {
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
