// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/custom/function_table.hpp>
#include <llmcost/custom/layer_table.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/read_expression.hpp>

// Parses a description: a JSON file with sizes, layers, connections and blocks.
namespace llmcost::custom {

[[nodiscard]] inline std::string_view as_view(string_ref text) { return {text.data(), text.size()}; }

/// The JSON pointer of a value, for later messages.
[[nodiscard]] inline std::string pointer_of(config_view at) {
    char buffer[512];
    llmcost::detail::bounded_text out(buffer);
    llmcost::detail::append_pointer(out, at);
    return std::string(out.view().data(), out.view().size());
}

/// A class name without its module: `torch.nn.Linear` becomes `Linear`.
[[nodiscard]] inline std::string_view without_module(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

template <std::size_t N>
[[nodiscard]] const layer_row* find_row(const layer_row (&table)[N], std::string_view name) {
    for (const layer_row& row : table)
        if (name == row.name) return &row;
    return nullptr;
}

/// Checks that an object has no other keys than these.
inline void check_keys(config_view object, const std::vector<std::string_view>& known) {
    for (const config_view child : object) {
        const std::string_view key = as_view(child.key());
        if (key.starts_with('$') || key == "comment" || std::find(known.begin(), known.end(), key) != known.end())
            continue;
        name_suggestions near(key);
        for (const std::string_view k : known) near.add_candidate(k);
        refuse_at(child, "unknown key" + near.suggestion_or_list());
    }
}

[[nodiscard]] constexpr bool is_of_name(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Parses a name that becomes part of a module path.
[[nodiscard]] inline std::string_view parse_name(config_view at, std::string_view name) {
    if (name.empty() || name.size() > 64) throw_invalid_value(at, "a name of 1 to 64 characters");
    for (const char c : name)
        if (!is_of_name(c)) throw_invalid_value(at, "a name of letters, digits and _");
    return name;
}

[[nodiscard]] inline std::string_view parse_name(config_view at) { return parse_name(at, as_view(at.as_string())); }

/// True if a tensor has integer elements.
[[nodiscard]] inline bool parse_integers(config_view at) {
    const std::string_view type = as_view(at.string("dtype", "float"));
    const bool integers = type == "int" || type == "int64" || type == "int32" || type == "long";
    if (!integers && type.find("float") == std::string_view::npos)
        throw_invalid_value(*at.find("dtype"), "float or int64");
    return integers;
}

/// Global names of a description: sizes and workload variables.
class global_names : public name_table {
public:
    std::vector<std::pair<std::string, meaning>> sizes;

    [[nodiscard]] const meaning* size(std::string_view name) const {
        for (const auto& [known, symbol] : sizes)
            if (known == name) return &symbol;
        return nullptr;
    }
    void insert(const std::string& name, meaning symbol) {
        for (auto& [known, existing] : sizes)
            if (known == name) {
                existing = symbol;
                return;
            }
        sizes.emplace_back(name, symbol);
    }
    [[nodiscard]] std::optional<meaning> find(std::string_view name) const override {
        if (const meaning* const found = size(name)) return *found;
        for (const workload_name& w : workload_names)
            if (name == w.name) return meaning{meaning::symbol_kind::workload, static_cast<std::int64_t>(w.variable)};
        return {};
    }
    void offer_all(name_suggestions& near) const override {
        for (const auto& [name, symbol] : sizes) near.add_candidate(name);
        for (const workload_name& w : workload_names) near.add_candidate(w.name);
    }
};

/// Names of a block: its arguments, repetition indices and tensors, in addition to the global names.
class block_names : public name_table {
public:
    block_names(const global_names& all, block& current_block) : all_(all), block_(current_block) {
        for (const std::string& a : current_block.arguments) variables_.emplace_back(a, current_block.variables++);
    }

    [[nodiscard]] std::optional<meaning> find(std::string_view name) const override {
        for (auto v = variables_.rbegin(); v != variables_.rend(); ++v)
            if (v->first == name) {
                read_ = std::max(read_, v->second);
                return meaning{meaning::symbol_kind::variable, v->second};
            }
        return all_.find(name);
    }
    void offer_all(name_suggestions& near) const override {
        for (const auto& [name, slot] : variables_) near.add_candidate(name);
        all_.offer_all(near);
    }
    /// Opens the scope of a repetition, whose index can have a name.
    struct repetition_names {
        std::int16_t slot = -1;
        std::size_t variables, tensors;
        std::int64_t read_before;
        bool writes_before;
    };
    repetition_names open_repetition(std::string_view index) {
        repetition_names r{-1, variables_.size(), tensors_.size(), read_, writes_out_};
        if (!index.empty())
            variables_.emplace_back(std::string(index), r.slot = static_cast<std::int16_t>(block_.variables++));
        first_inside_ = tensors_.size();
        read_ = -1;
        writes_out_ = false;
        return r;
    }
    /// Closes the scope, so that later steps cannot read its tensors. Returns whether the repetitions differ.
    bool close_repetition(const repetition_names& r, std::size_t inside_before) {
        const bool differ = (r.slot >= 0 && read_ >= r.slot) || writes_out_;
        variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(r.variables), variables_.end());
        tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(r.tensors), tensors_.end());
        read_ = std::max(read_, r.read_before);
        writes_out_ = writes_out_ || r.writes_before;
        first_inside_ = inside_before;
        return differ;
    }
    [[nodiscard]] std::size_t first_inside() const noexcept { return first_inside_; }

    /// The slot of a tensor that a step names. `list[]` appends to a list.
    tensor_reference define(config_view at) {
        const auto [name, list, pop] = name_of(at);
        if (pop) refuse_at(at, "use name[] to append to a list; .pop() reads from it");
        if (previous_step == string_ref(name.data(), name.size()))
            refuse_at(at, "\"previous\" is reserved for the output of the previous step");
        return define_name(name, list);
    }
    tensor_reference define_name(std::string_view name, bool list = false) {
        for (std::size_t i = 0; i < tensors_.size(); ++i)
            if (tensors_[i].first == name && tensors_[i].second.list == list) {
                writes_out_ = writes_out_ || i < first_inside_;
                return tensors_[i].second;
            }
        if (block_.slots == tensor_reference::previous - 1)
            throw_description_error("a block names at most 65534 tensors");
        const tensor_reference made{list ? block_.lists++ : block_.slots++, list, false};
        tensors_.emplace_back(std::string(name), made);
        return made;
    }
    [[nodiscard]] tensor_reference find_tensor(config_view at) {
        const auto [name, list, pop] = name_of(at);
        if (!list && previous_step == string_ref(name.data(), name.size())) return {tensor_reference::previous, false};
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            tensor_reference reference = tensors_[i].second;
            if (tensors_[i].first != name || reference.list != list) continue;
            writes_out_ = writes_out_ || (pop && i < first_inside_);
            reference.pop = pop;
            return reference;
        }
        name_suggestions near(name);
        for (const auto& [known, reference] : tensors_) near.add_candidate(known + (reference.list ? "[]" : ""));
        refuse_at(at, "unknown tensor \"" + std::string(as_view(at.as_string())) + "\"" + near.suggestion_or_list() +
                          "; \"output\" names the result of an earlier step");
    }

private:
    struct tensor_name {
        std::string_view name;
        bool list = false, pop = false;
    };
    static tensor_name name_of(config_view at) {
        tensor_name n{as_view(at.as_string())};
        n.pop = n.name.ends_with(".pop()");
        n.list = n.pop || n.name.ends_with("[]");
        if (n.list) n.name.remove_suffix(n.pop ? 6 : 2);
        if (n.name.empty()) throw_invalid_value(at, "the name of a tensor");
        return n;
    }

    const global_names& all_;
    block& block_;
    std::vector<std::pair<std::string, std::int64_t>> variables_{};
    std::vector<std::pair<std::string, tensor_reference>> tensors_{};
    mutable std::int64_t read_ = -1;  ///< the innermost variable that was read
    std::size_t first_inside_ = 0;    ///< index of the first tensor in the innermost repetition
    bool writes_out_ = false;         ///< a repetition writes a tensor from outside
};

}  // namespace llmcost::custom
