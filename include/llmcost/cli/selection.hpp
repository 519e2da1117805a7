// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/error.hpp>

// Finds the part of a model that a word names, and counts it.
namespace llmcost::cli {

/// What a word names.
enum class scope_kind : std::uint8_t {
    role,       ///< every outermost module with this purpose
    type,       ///< every outermost module of this class
    path,       ///< the module with this path, or the outermost ones of a pattern
    parameter,  ///< the parameter with this name, or those of a pattern
};

/// A word and how it is understood.
struct scope_word {
    scope_kind kind = scope_kind::role;
    std::string word = "all";

    [[nodiscard]] bool is_all() const noexcept { return kind == scope_kind::role && word == "all"; }
};

/// What a word was found to be in a model.
struct found_scope {
    figures sum{};
    bool found = false;
    bool only_tied = false;  ///< the parameter shares a tensor that is named elsewhere first
};

/// Whether a path is one that a pattern means; `*` stands for any letters within one segment.
[[nodiscard]] constexpr bool matches_pattern(std::string_view pattern, std::string_view path) noexcept {
    std::size_t p = 0, s = 0, star = std::string_view::npos, resume = 0;
    while (s < path.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++, resume = s;
        } else if (p < pattern.size() && pattern[p] == path[s]) {
            ++p, ++s;
        } else if (star != std::string_view::npos && path[resume] != '.') {
            p = star + 1, s = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

/// The class in a word such as `torch.nn.Linear`, `nn.Linear`, `Linear`; empty for a word that is a path.
[[nodiscard]] constexpr std::string_view class_in(std::string_view word) noexcept {
    const std::size_t dot = word.rfind('.');
    if (dot == std::string_view::npos) return word;
    const bool module = word.starts_with("torch.nn.") || word.starts_with("nn.") || word.starts_with("transformers.");
    return module ? word.substr(dot + 1) : std::string_view{};
}

/// Walks that list more modules than this are refused: a configuration can name billions.
inline constexpr std::int64_t most_modules = 65536;

namespace detail {

/// Keeps the path of a walk, and refuses walks without end.
class path_listener : public listener {
public:
    void enter(const recorder&, const module_info& m) override {
        if (++modules_ > most_modules)
            throw error(errc::overflow, {}, "more than 65536 modules to list; ask for a role, such as attn or all");
        marks_.push_back(path_.size());
        put(m.name);
        container_ = path_.size();
        if (m.index >= 0) put(count_text{count(m.index)}.view());
    }
    void leave(const recorder&, const module_info&) override {
        path_.resize(marks_.back());
        marks_.pop_back();
    }

protected:
    ~path_listener() = default;
    [[nodiscard]] std::string_view path() const noexcept { return path_; }
    /// The path of the list that the module just entered is in.
    [[nodiscard]] std::string_view container() const noexcept { return std::string_view(path_).substr(0, container_); }
    [[nodiscard]] std::size_t depth() const noexcept { return marks_.size(); }

private:
    void put(std::string_view segment) {
        if (segment.empty()) return;
        if (!path_.empty()) path_ += '.';
        path_ += segment;
    }
    std::string path_;
    std::vector<std::size_t> marks_;
    std::size_t container_ = 0;
    std::int64_t modules_ = 0;
};

/// Sums the outermost modules, or the parameters, that a word names.
class matching_listener final : public path_listener {
public:
    matching_listener(const scope_word& scope, std::string_view type) : scope_(scope), type_(type) {}

    void enter(const recorder& r, const module_info& m) override {
        path_listener::enter(r, m);
        if (inside_ != 0 || scope_.kind == scope_kind::parameter) return;
        if (!matches(m) && !(m.index >= 0 && matches_list())) return;
        inside_ = depth();
        before_ = r.sums();
        found_ = true;
    }
    void leave(const recorder& r, const module_info& m) override {
        if (inside_ == depth() && inside_ != 0) {
            sums_ += r.sums().since(before_);
            inside_ = 0;
        }
        path_listener::leave(r, m);
    }
    void parameter(const recorder& r, literal name, const value& v, bool tied) override {
        const count active = r.sums().active_parameters - active_;
        active_ = r.sums().active_parameters;
        if (scope_.kind != scope_kind::parameter) return;
        std::string full(path());
        if (!full.empty()) full += '.';
        if (!matches_pattern(scope_.word, full += name)) return;
        found_ = true;
        if (tied) return;
        untied_ = true;
        sums_.parameters += count(v.elements);
        sums_.active_parameters += active;
    }
    [[nodiscard]] found_scope found(const storage_types& types) const {
        return {figures_of(sums_, types), found_, found_ && scope_.kind == scope_kind::parameter && !untied_};
    }

private:
    [[nodiscard]] bool matches(const module_info& m) const {
        if (scope_.kind == scope_kind::path) return !path().empty() && matches_pattern(scope_.word, path());
        const std::string_view prefix = m.type.prefix, base = m.type.base;
        return type_.size() == prefix.size() + base.size() && type_.starts_with(prefix) && type_.ends_with(base);
    }
    /// Lists of modules are entered nowhere: they are met in their items.
    [[nodiscard]] bool matches_list() const {
        if (scope_.kind == scope_kind::path) return matches_pattern(scope_.word, container());
        return type_ == "ModuleList";
    }

    const scope_word& scope_;
    std::string_view type_;
    ledger before_{};
    ledger sums_{};
    count active_{};
    std::size_t inside_ = 0;
    bool found_ = false;
    bool untied_ = false;
};

/// Counts the modules that a walk would list.
class counting_listener final : public path_listener {};

}  // namespace detail

/// Throws `overflow` where a walk would list more than `most_modules` modules.
inline void check_size(const model& m, const workload& load) {
    detail::counting_listener ear;
    trace t{resolved(load, types_of(m, load)), &ear};
    m.describe(t);
}

/// Counts what a word names in one forward pass; finds nothing where the model has nothing of this name.
[[nodiscard]] inline found_scope find_scope(const model& m, const workload& load, const scope_word& scope) {
    const storage_types types = types_of(m, load);
    if (scope.kind == scope_kind::role) {
        const role what = role_from(scope.word);
        if (what == role::none) return {};
        trace t{resolved(load, types), nullptr, scope_query(what)};
        m.describe(t);
        return {figures_of(t.sums(), types), t.found(), false};
    }
    const std::string_view type = class_in(scope.word);
    if (scope.kind == scope_kind::type && type.empty()) return {};
    detail::matching_listener ear(scope, type);
    trace t{resolved(load, types), &ear};
    m.describe(t);
    return ear.found(types);
}

}  // namespace llmcost::cli
