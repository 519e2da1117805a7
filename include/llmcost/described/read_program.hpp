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

#include <llmcost/described/function_table.hpp>
#include <llmcost/described/layer_table.hpp>
#include <llmcost/described/program.hpp>
#include <llmcost/described/read_expression.hpp>

// Reads a description: JSON with layers, how they connect, sizes and blocks.
namespace llmcost::described {

[[nodiscard]] inline std::string_view as_view(string_ref text) { return {text.data(), text.size()}; }

/// The pointer of a place, for messages of later.
[[nodiscard]] inline std::string pointer_of(config_view at) {
    char buffer[512];
    llmcost::detail::bounded_text out(buffer);
    llmcost::detail::put_pointer(out, at);
    return std::string(out.view().data(), out.view().size());
}

/// A name without the module in front of it: `torch.nn.Linear` is `Linear`.
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

/// Refuses keys of an object that are none of these.
inline void check_keys(config_view object, const std::vector<std::string_view>& known) {
    for (const config_view child : object) {
        const std::string_view key = as_view(child.key());
        if (key.starts_with('$') || key == "comment" || std::find(known.begin(), known.end(), key) != known.end()) continue;
        nearest_names near(key);
        for (const std::string_view k : known) near.offer(k);
        refuse_at(child, "nothing reads this key" + near.hint_or_all());
    }
}

[[nodiscard]] constexpr bool is_of_name(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Reads a name that becomes a part of paths.
[[nodiscard]] inline std::string_view read_name(config_view at, std::string_view name) {
    if (name.empty() || name.size() > 64) fail_value(at, "a name of 1 to 64 characters");
    for (const char c : name)
        if (!is_of_name(c)) fail_value(at, "a name of letters, digits and _");
    return name;
}

[[nodiscard]] inline std::string_view read_name(config_view at) { return read_name(at, as_view(at.as_string())); }

/// Whether a tensor holds integers.
[[nodiscard]] inline bool read_integers(config_view at) {
    const std::string_view type = as_view(at.string("dtype", "float"));
    const bool integers = type == "int" || type == "int64" || type == "int32" || type == "long";
    if (!integers && type.find("float") == std::string_view::npos) fail_value(*at.find("dtype"), "float or int64");
    return integers;
}

/// Names of the whole description: sizes and numbers of the workload.
class global_names : public name_table {
public:
    std::vector<std::pair<std::string, meaning>> sizes;

    [[nodiscard]] const meaning* size(std::string_view name) const {
        for (const auto& [known, what] : sizes)
            if (known == name) return &what;
        return nullptr;
    }
    void put(const std::string& name, meaning what) {
        for (auto& [known, before] : sizes)
            if (known == name) {
                before = what;
                return;
            }
        sizes.emplace_back(name, what);
    }
    [[nodiscard]] std::optional<meaning> find(std::string_view name) const override {
        if (const meaning* const found = size(name)) return *found;
        for (const workload_name& w : workload_names)
            if (name == w.name) return meaning{meaning::of::asked, static_cast<std::int64_t>(w.word)};
        return {};
    }
    void offer_all(nearest_names& near) const override {
        for (const auto& [name, what] : sizes) near.offer(name);
        for (const workload_name& w : workload_names) near.offer(w.name);
    }
};

/// Names of one block: its arguments and the numbers of repetitions in front of the global ones; its tensors.
class block_names : public name_table {
public:
    block_names(const global_names& all, block& of) : all_(all), of_(of) {
        for (const std::string& a : of.arguments) variables_.emplace_back(a, of.variables++);
    }

    [[nodiscard]] std::optional<meaning> find(std::string_view name) const override {
        for (auto v = variables_.rbegin(); v != variables_.rend(); ++v)
            if (v->first == name) {
                read_ = std::max(read_, v->second);
                return meaning{meaning::of::variable, v->second};
            }
        return all_.find(name);
    }
    void offer_all(nearest_names& near) const override {
        for (const auto& [name, slot] : variables_) near.offer(name);
        all_.offer_all(near);
    }
    /// Opens the names of a repetition, whose number may have one.
    struct repetition_names {
        std::int16_t slot = -1;
        std::size_t variables, tensors;
        std::int64_t read_before;
        bool writes_before;
    };
    repetition_names open_repetition(std::string_view index) {
        repetition_names r{-1, variables_.size(), tensors_.size(), read_, writes_out_};
        if (!index.empty()) variables_.emplace_back(std::string(index), r.slot = static_cast<std::int16_t>(of_.variables++));
        first_inside_ = tensors_.size(), read_ = -1, writes_out_ = false;
        return r;
    }
    /// Closes them, so that nobody reads what each repetition makes; says whether the repetitions differ.
    bool close_repetition(const repetition_names& r, std::size_t inside_before) {
        const bool differ = (r.slot >= 0 && read_ >= r.slot) || writes_out_;
        variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(r.variables), variables_.end());
        tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(r.tensors), tensors_.end());
        read_ = std::max(read_, r.read_before), writes_out_ = writes_out_ || r.writes_before;
        first_inside_ = inside_before;
        return differ;
    }
    [[nodiscard]] std::size_t first_inside() const noexcept { return first_inside_; }

    /// The place of a tensor that a step names; `list[]` gathers all that are given to it.
    place define(config_view at) {
        const auto [name, list, pop] = name_of(at);
        if (pop) refuse_at(at, "a step adds to a list by name[]; .pop() takes from it");
        if (previous_step == string_ref(name.data(), name.size()))
            refuse_at(at, "\"previous\" is what the step before made");
        return define_name(name, list);
    }
    place define_name(std::string_view name, bool list = false) {
        for (std::size_t i = 0; i < tensors_.size(); ++i)
            if (tensors_[i].first == name && tensors_[i].second.list == list) {
                writes_out_ = writes_out_ || i < first_inside_;
                return tensors_[i].second;
            }
        if (of_.slots == place::previous - 1) report_description("a block names at most 65534 tensors");
        const place made{list ? of_.lists++ : of_.slots++, list, false};
        tensors_.emplace_back(std::string(name), made);
        return made;
    }
    [[nodiscard]] place find_tensor(config_view at) {
        const auto [name, list, pop] = name_of(at);
        if (!list && previous_step == string_ref(name.data(), name.size())) return {place::previous, false};
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            place where = tensors_[i].second;
            if (tensors_[i].first != name || where.list != list) continue;
            writes_out_ = writes_out_ || (pop && i < first_inside_);
            where.pop = pop;
            return where;
        }
        nearest_names near(name);
        for (const auto& [known, where] : tensors_) near.offer(known + (where.list ? "[]" : ""));
        refuse_at(at, "no tensor in front of this is called \"" + std::string(as_view(at.as_string())) + "\"" +
                          near.hint_or_all() + "; a step names what it makes by \"output\"");
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
        if (n.name.empty()) fail_value(at, "the name of a tensor");
        return n;
    }

    const global_names& all_;
    block& of_;
    std::vector<std::pair<std::string, std::int64_t>> variables_{};
    std::vector<std::pair<std::string, place>> tensors_{};
    mutable std::int64_t read_ = -1;  ///< the innermost variable that was read
    std::size_t first_inside_ = 0;    ///< of the tensors of the innermost repetition
    bool writes_out_ = false;         ///< a repetition writes what was there before it
};

}  // namespace llmcost::described
