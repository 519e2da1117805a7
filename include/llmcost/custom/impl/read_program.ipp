// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/read_program.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/config_text.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/read_expression.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::custom {

LLMCOST_INLINE std::string pointer_of(config_view node) {
    char buffer[512];
    llmcost::detail::bounded_text out(buffer);
    llmcost::detail::append_pointer(out, node);
    return std::string(out.view().data(), out.view().size());
}

LLMCOST_INLINE std::string_view without_module(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

LLMCOST_INLINE void check_keys(config_view object, const std::vector<std::string_view>& known) {
    for (const config_view child : object) {
        const std::string_view key = as_view(child.key());
        if (key.starts_with('$') || key == "comment" || std::find(known.begin(), known.end(), key) != known.end())
            continue;
        name_suggestions near(key);
        for (const std::string_view k : known) near.add_candidate(k);
        refuse_at(child, "unknown key" + near.suggestion_or_list());
    }
}

LLMCOST_INLINE std::string_view parse_name(config_view node, std::string_view name) {
    if (name.empty() || name.size() > 64) throw_invalid_value(node, "a name of 1 to 64 characters");
    for (const char c : name)
        if (!is_of_name(c)) throw_invalid_value(node, "a name of letters, digits and _");
    return name;
}

LLMCOST_INLINE bool parse_integers(config_view node) {
    const std::string_view type = as_view(node.string("dtype", "float"));
    const bool integers = type == "int" || type == "int64" || type == "int32" || type == "long";
    if (!integers && type.find("float") == std::string_view::npos)
        throw_invalid_value(*node.find("dtype"), "float or int64");
    return integers;
}

LLMCOST_INLINE const meaning* global_names::size(std::string_view name) const {
    for (const auto& [known, symbol] : sizes)
        if (known == name) return &symbol;
    return nullptr;
}

LLMCOST_INLINE void global_names::insert(const std::string& name, meaning symbol) {
    for (auto& [known, existing] : sizes)
        if (known == name) {
            existing = symbol;
            return;
        }
    sizes.emplace_back(name, symbol);
}

LLMCOST_INLINE std::optional<meaning> global_names::find(std::string_view name) const {
    if (const meaning* const found = size(name)) return *found;
    for (const workload_name& w : workload_names)
        if (name == w.name) return meaning{meaning::symbol_kind::workload, static_cast<std::int64_t>(w.variable)};
    return {};
}

LLMCOST_INLINE void global_names::add_candidates(name_suggestions& near) const {
    for (const auto& [name, symbol] : sizes) near.add_candidate(name);
    for (const workload_name& w : workload_names) near.add_candidate(w.name);
}

LLMCOST_INLINE std::optional<meaning> block_names::find(std::string_view name) const {
    for (auto v = variables_.rbegin(); v != variables_.rend(); ++v)
        if (v->first == name) {
            last_read_variable_ = std::max(last_read_variable_, v->second);
            return meaning{meaning::symbol_kind::variable, v->second};
        }
    return globals_.find(name);
}

LLMCOST_INLINE void block_names::add_candidates(name_suggestions& near) const {
    for (const auto& [name, slot] : variables_) near.add_candidate(name);
    globals_.add_candidates(near);
}

LLMCOST_INLINE block_names::repetition_names block_names::open_repetition(std::string_view index) {
    repetition_names r{-1, variables_.size(), tensors_.size(), last_read_variable_, has_outer_writes_};
    if (!index.empty())
        variables_.emplace_back(std::string(index), r.slot = static_cast<std::int16_t>(block_.variables++));
    first_inside_ = tensors_.size();
    last_read_variable_ = -1;
    has_outer_writes_ = false;
    return r;
}

LLMCOST_INLINE bool block_names::close_repetition(const repetition_names& r, std::size_t inside_before) {
    const bool differ = (r.slot >= 0 && last_read_variable_ >= r.slot) || has_outer_writes_;
    variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(r.variables), variables_.end());
    tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(r.tensors), tensors_.end());
    last_read_variable_ = std::max(last_read_variable_, r.read_before);
    has_outer_writes_ = has_outer_writes_ || r.writes_before;
    first_inside_ = inside_before;
    return differ;
}

LLMCOST_INLINE tensor_reference block_names::define(config_view node) {
    const auto [name, list, pop] = name_of(node);
    if (pop) refuse_at(node, "use name[] to append to a list; .pop() reads from it");
    if (previous_step == string_ref(name.data(), name.size()))
        refuse_at(node, "\"previous\" is reserved for the output of the previous step");
    return define_name(name, list);
}

LLMCOST_INLINE tensor_reference block_names::define_name(std::string_view name, bool list) {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
        if (tensors_[i].first == name && tensors_[i].second.list == list) {
            has_outer_writes_ = has_outer_writes_ || i < first_inside_;
            return tensors_[i].second;
        }
    if (block_.slots == tensor_reference::previous - 1) throw_description_error("a block names at most 65534 tensors");
    const tensor_reference made{list ? block_.lists++ : block_.slots++, list, false};
    tensors_.emplace_back(std::string(name), made);
    return made;
}

LLMCOST_INLINE tensor_reference block_names::find_tensor(config_view node) {
    const auto [name, list, pop] = name_of(node);
    if (!list && previous_step == string_ref(name.data(), name.size())) return {tensor_reference::previous, false};
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
        tensor_reference reference = tensors_[i].second;
        if (tensors_[i].first != name || reference.list != list) continue;
        has_outer_writes_ = has_outer_writes_ || (pop && i < first_inside_);
        reference.pop = pop;
        return reference;
    }
    name_suggestions near(name);
    for (const auto& [known, reference] : tensors_) near.add_candidate(known + (reference.list ? "[]" : ""));
    refuse_at(node, "unknown tensor \"" + std::string(as_view(node.as_string())) + "\"" + near.suggestion_or_list() +
                        "; \"output\" names the result of an earlier step");
}

LLMCOST_INLINE block_names::tensor_name block_names::name_of(config_view node) {
    tensor_name n{as_view(node.as_string())};
    n.pop = n.name.ends_with(".pop()");
    n.list = n.pop || n.name.ends_with("[]");
    if (n.list) n.name.remove_suffix(n.pop ? 6 : 2);
    if (n.name.empty()) throw_invalid_value(node, "the name of a tensor");
    return n;
}

}  // namespace llmcost::custom
