// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/quantized_weights.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

LLMCOST_INLINE std::uint64_t stored_weights::bytes_of(std::string_view format) const noexcept {
    std::uint64_t sum = 0;
    for (const weight_bytes_row& row : rows) sum += row.format == format ? row.bytes : 0;
    return sum;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE std::vector<std::string> names_of_module(const std::string& path) {
    std::vector<std::string> out{path};
    if (!path.starts_with("model.")) return out;
    constexpr std::string_view language_model_prefix = "model.language_model.";
    if (path.starts_with(language_model_prefix)) {
        const std::string inner = path.substr(language_model_prefix.size());
        out.push_back("model." + inner);
        out.push_back("language_model.model." + inner);
        out.push_back("language_model." + inner);
    } else {
        out.push_back(path.substr(6));
    }
    return out;
}

LLMCOST_INLINE weights_listener::weights_listener(const quantization& plan, std::int64_t vocab_size)
    : vocab_size_(vocab_size) {
    for (const module_rule& rule : plan.modules_to_not_convert) rules_.push_back(&rule);
    for (const quantization_group& group : plan.groups)
        for (const module_rule& rule : group.targets) rules_.push_back(&rule);
    is_rule_matched_.resize(rules_.size());
}

LLMCOST_INLINE void weights_listener::on_module_enter(const recorder&, const module_info& m) {
    std::string path = open_.empty() ? std::string() : modules_[open_.back().index].path;
    const std::string_view name = m.name;
    if (!name.empty()) path.append(path.empty() ? "" : ".").append(name);
    if (m.index >= 0) path.append(path.empty() ? "" : ".").append(std::to_string(m.index));
    mark_matching_rules(names_of_module(path), m.class_of_module.suffix);
    open_.push_back({modules_.size(), m.module_role});
    modules_.push_back({std::move(path), m.class_of_module.prefix, m.class_of_module.suffix});
}

LLMCOST_INLINE void weights_listener::on_parameter(const recorder&, literal name, const tensor& v, bool tied) {
    if (tied) return;
    const reported_module& m = modules_[open_.back().index];
    reported_weight w{open_.back().index, name, kind_of(m, name, v.rank), {v.size, v.size + v.rank}, false, false};
    w.head = open_.back().module_role == role::head && v.rank == 2 && v.size[0] == vocab_size_;
    w.unpacked = m.prefix == "Llama4" && m.base == "TextExperts";
    if (w.kind == weight_kind::experts) {
        const auto row =
            std::ranges::find_if(expert_tensors, [&](const expert_tensor& e) { return e.tensor == w.parameter; });
        if (row != std::end(expert_tensors)) w.made_of = row;
        for (const std::string& matrix : matrices_of(w)) mark_matching_rules(names_of_module(matrix), "Linear");
    }
    weights_.push_back(std::move(w));
}

LLMCOST_INLINE bool weights_listener::has_module_below(const std::string& path) const {
    return std::ranges::any_of(modules_, [&](const reported_module& m) {
        return m.path.starts_with(path) && m.path.size() > path.size() && m.path[path.size()] == '.';
    });
}

LLMCOST_INLINE std::vector<std::string> weights_listener::unmet() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (!is_rule_matched_[i] && rules_[i]->is_from_config) out.push_back(rules_[i]->text);
    return out;
}

LLMCOST_INLINE std::vector<std::string> weights_listener::matrices_of(const reported_weight& w) const {
    const std::string one = modules_[w.module].path + ".0.";
    if (w.made_of == nullptr) return {one + std::string(w.parameter)};
    std::vector<std::string> out;
    for (const string_ref part : w.made_of->parts) out.push_back(one + std::string(part));
    return out;
}

LLMCOST_INLINE bool weights_listener::means(const module_rule& rule, const std::vector<std::string>& names,
                                            std::string_view type) {
    if (rule.means == module_rule::kind::name && rule.text == type) return true;
    return std::ranges::any_of(names, [&](const std::string& name) { return rule.matches_module(name); });
}

LLMCOST_INLINE void weights_listener::mark_matching_rules(const std::vector<std::string>& names,
                                                          std::string_view type) {
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (!is_rule_matched_[i] && means(*rules_[i], names, type)) is_rule_matched_[i] = true;
}

LLMCOST_INLINE weight_kind weights_listener::kind_of(const reported_module& m, std::string_view name, int rank) {
    if (rank == 3 && m.path.ends_with(".experts") && name.ends_with("_proj")) return weight_kind::experts;
    if (name != "weight" || rank != 2) return weight_kind::unsupported;
    if (m.base == "Linear") return m.prefix.empty() ? weight_kind::linear : weight_kind::relative;
    if (m.base == "NonDynamicallyQuantizableLinear") return weight_kind::relative;
    if (m.base == "GroupedLinear") return weight_kind::grouped;
    if (m.base == "Conv1D") return weight_kind::conv1d;
    return m.base == "Embedding" ? weight_kind::embedding : weight_kind::unsupported;
}

LLMCOST_INLINE weights_writer::weights_writer(const model& m, const quantization& plan, dtype default_type,
                                              const weights_listener& listener, stored_weights& out)
    : plan_(plan), default_type_(default_type), listener_(listener), out_(out) {
    for (const unquantized_module& w : unquantized_modules)
        if (plan.keeps_32_bits && (is(m.spec, w) || is(m.text_spec, w))) float32_suffixes_.push_back(w.ending);
    for (const std::string& block : plan.blocks)
        if (listener.has_module_below(block)) {
            block_ = block + ".";
            break;
        }
    hidden_ = m.config.hidden_size;
}

LLMCOST_INLINE void weights_writer::write() {
    // most quantized weights have one tensor of scales
    const std::vector<reported_weight>& weights = listener_.weights();
    const auto num_quantized = std::ranges::count_if(weights, [&](const auto& w) { return layout_of(w) != nullptr; });
    out_.rows.reserve(weights.size() + static_cast<std::size_t>(num_quantized));
    const std::vector<reported_weight>& all = listener_.weights();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_excluded_head = plan_.keeps_head && (all[i].head || i + 1 == all.size());
        const weight_layout* layout = is_excluded_head ? nullptr : layout_of(all[i]);
        if (layout != nullptr && layout->requires_full_blocks && inputs_of(all[i]) % layout->block_inputs != 0)
            layout = nullptr;
        layout == nullptr ? store_unquantized(all[i]) : store_quantized(all[i], *layout);
    }
}

LLMCOST_INLINE bool weights_writer::reaches(const reported_weight& w) const {
    switch (w.kind) {
        case weight_kind::unsupported: return plan_.reach.listed && w.parameter == "weight" && w.sizes.size() == 2;
        case weight_kind::linear: return plan_.reach.linear;
        case weight_kind::relative: return plan_.reach.relatives;
        case weight_kind::grouped: return plan_.reach.grouped;
        case weight_kind::conv1d: return plan_.reach.conv1d;
        case weight_kind::embedding: return plan_.reach.embedding;
        case weight_kind::experts: break;
    }
    return plan_.reach.experts == expert_scope::all || (plan_.reach.experts == expert_scope::unpacked && w.unpacked);
}

LLMCOST_INLINE const weight_layout* weights_writer::layout_of(const reported_weight& w) const {
    const std::string& path = listener_.module_of(w).path;
    const bool is_outside_blocks = !plan_.blocks.empty() && (block_.empty() || !path.starts_with(block_));
    if (is_outside_blocks || !reaches(w)) return nullptr;
    const bool is_kept_in_float32 =
        std::ranges::any_of(float32_suffixes_, [&](std::string_view ending) { return path.ends_with(ending); });
    if (is_kept_in_float32) return nullptr;
    const bool experts = w.kind == weight_kind::experts;
    std::vector<std::string> names = names_of_module(path);
    if (experts)
        for (const std::string& matrix : listener_.matrices_of(w))
            for (std::string& name : names_of_module(matrix)) names.push_back(std::move(name));
    const std::string_view type = w.kind == weight_kind::embedding     ? "Embedding"
                                  : w.kind == weight_kind::unsupported ? ""  // by its name only
                                                                       : "Linear";
    const auto means = [&](const module_rule& rule) { return weights_listener::means(rule, names, type); };
    if (std::ranges::any_of(plan_.modules_to_not_convert, means)) return nullptr;
    for (const quantization_group& group : plan_.groups) {
        // an embedding table is quantized if a list contains it, a linear layer if no list excludes it
        const bool named = group.targets.empty()
                               ? w.kind != weight_kind::embedding && w.kind != weight_kind::unsupported
                               : std::ranges::any_of(group.targets, means);
        if (named) return experts && group.experts ? &*group.experts : &group.layout;
    }
    return nullptr;
}

LLMCOST_INLINE bool weights_writer::is_transposed(const reported_weight& w) const {
    if (w.kind != weight_kind::experts) return w.kind == weight_kind::conv1d;
    const bool down = w.made_of != nullptr && w.made_of->to_width;
    const std::int64_t in = w.sizes[2], out = w.sizes[1];
    return down ? out != hidden_ && in == hidden_ : in != hidden_ && out == hidden_;
}

LLMCOST_INLINE void weights_writer::add(std::string name, const reported_weight& w, std::uint64_t elements, count bytes,
                                        std::string_view format) {
    out_.rows.push_back({std::move(name), elements, bytes.to_64(), format, name_of_parameter(w)});
    out_.elements = (count(out_.elements) + count(elements)).to_64();
    out_.bytes = (count(out_.bytes) + bytes).to_64();
}

LLMCOST_INLINE std::uint64_t weights_writer::elements_of(const reported_weight& w) {
    count n = 1;
    for (const std::int64_t size : w.sizes) n *= count(size);
    return n.to_64();
}

LLMCOST_INLINE std::string weights_writer::name_of_parameter(const reported_weight& w) const {
    const std::string& path = listener_.module_of(w).path;
    return path.empty() ? std::string(w.parameter) : path + "." + std::string(w.parameter);
}

LLMCOST_INLINE std::string weights_writer::name_of_tensor(const reported_weight& w, std::string_view tensor) const {
    std::string name = name_of_parameter(w);
    if (w.kind != weight_kind::experts)
        return name.replace(name.size() - w.parameter.size(), w.parameter.size(), tensor);
    if (tensor.starts_with("weight")) return name.append(tensor.substr(6));
    return name.append(tensor.starts_with("_") ? "" : "_").append(tensor);
}

LLMCOST_INLINE void weights_writer::store_unquantized(const reported_weight& w) {
    const std::uint64_t elements = elements_of(w);
    const count bits = count(elements) * count(bits_of(default_type_));
    add(name_of_parameter(w), w, elements, (bits + count(7)) / count(8), name_of(default_type_));
}

LLMCOST_INLINE void weights_writer::store_quantized(const reported_weight& w, const weight_layout& layout) {
    const bool experts = w.kind == weight_kind::experts;
    std::int64_t outputs = w.sizes[w.sizes.size() - 2], inputs = w.sizes.back();
    if (is_transposed(w)) std::swap(outputs, inputs);
    const count matrices = (experts ? count(w.sizes[0]) : count(1)) * count(w.layers());
    outputs /= w.layers();
    const std::uint64_t elements = elements_of(w);
    add(name_of_tensor(w, layout.numbers), w, elements, matrices * bytes_of_numbers(layout, outputs, inputs),
        layout.type);
    for (const auxiliary_tensor& t : layout.auxiliary_tensors)
        add(name_of_tensor(w, t.name), w, 0,
            matrices * bytes_of_auxiliary_tensor(layout, t, outputs, inputs, default_type_),
            t.type.empty() ? std::string_view(name_of(default_type_)) : t.type);
    out_.quantized = (count(out_.quantized) + count(elements)).to_64();
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE stored_weights quantized_weights(const model& m, const quantization& plan, dtype default_type) {
    if (default_type == dtype::unspecified) default_type = m.config.dtype_of_weights;
    if (default_type == dtype::unspecified) default_type = plan.default_type;
    if (default_type == dtype::unspecified) default_type = dtype::float32;
    stored_weights out;
    detail::weights_listener listener{plan, m.config.vocab_size};
    const workload load = minimal_workload(m);
    trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
    m.trace_with_loss(t);
    detail::weights_writer{m, plan, default_type, listener, out}.write();
    out.unmatched = listener.unmet();
    return out;
}

}  // namespace llmcost
