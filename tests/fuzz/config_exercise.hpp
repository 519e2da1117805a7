// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/json.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

// What must hold of every input, however hostile; run by the fuzzer and, over the files it left, by an ordinary test.
namespace llmcost::testing {

/// A promise that an input has broken.
struct broken_promise {
    std::string message;
};

inline void require(bool holds, const char* message) {
    if (!holds) throw broken_promise{message};
}

inline bool is_clean(std::string_view message) {
    return !message.empty() && message.size() < 4096 && std::none_of(message.begin(), message.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
}

inline bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t n = detail::utf8_length(text);
        if (n == 0) return false;
        text.remove_prefix(n);
    }
    return true;
}

/// The array of nodes is a tree in pre-order, without two children of one name.
inline void require_tree(config_view root) {
    const config_node* const nodes = root.nodes();
    const std::uint32_t count = root.node().end;
    require(root.index() == 0 && count > 0 && nodes[0].parent == 0 && nodes[0].key.empty(), "root");
    for (std::uint32_t i = 0; i < count; ++i) {
        const config_node& n = nodes[i];
        const bool container = n.type == config_node::kind::array || n.type == config_node::kind::object;
        require(n.end > i && n.end <= nodes[n.parent].end && (i == 0 || n.parent < i), "nesting");
        require(container || (n.size == 0 && n.end == i + 1), "a scalar with children");
        require(n.type != config_node::kind::array || nodes[n.parent].end >= n.end, "array");
        std::vector<std::string_view> names;
        std::uint32_t children = 0;
        for (const config_view child : config_view{nodes, i}) {
            require(child.node().parent == i, "parent");
            require(config_view{nodes, i}[children].index() == child.index(), "index");
            if (n.type == config_node::kind::object) names.push_back(child.key());
            if (n.type == config_node::kind::array) require(child.key().empty(), "an array with names");
            ++children;
        }
        require(children == n.size, "size");
        std::sort(names.begin(), names.end());
        require(std::adjacent_find(names.begin(), names.end()) == names.end(), "duplicated key");
    }
}

template <class Ask>
void check_accessor(Ask get) {
    try {
        (void)get();
    } catch (const config_error& problem) {
        require(is_clean(problem.message()), "message");
        require(is_clean(problem.what()), "what");
        require(problem.pointer().empty() || problem.pointer()[0] == '/', "pointer");
        require(std::strlen(problem.what()) ==
                    problem.message().size() + (problem.pointer().empty() ? 0 : problem.pointer().size() + 2),
                "length");
    }
}

/// Every question about a value is answered or refused with a clean message.
inline void check_all_accessors(config_view value) {
    check_accessor([&] {
        const std::int64_t n = value.as_positive();
        require(n >= 1 && n <= max_input, "positive");
        return n;
    });
    check_accessor([&] {
        const std::int64_t n = value.as_non_negative();
        require(n >= 0 && n <= max_input, "non-negative");
        return n;
    });
    check_accessor([&] {
        const double r = value.as_real();
        require(std::isfinite(r), "finite");
        return r;
    });
    check_accessor([&] { return value.as_integer(); });
    check_accessor([&] { return value.as_extended_real(); });
    check_accessor([&] { return value.as_boolean(); });
    check_accessor([&] { return value.as_string(); });
    check_accessor([&] { return value.as_array(); });
    check_accessor([&] { return value.as_object(); });
    check_accessor([&] { return value.find("rope_scaling"); });
    check_accessor([&] { return value.positive("hidden_size", 1); });
    check_accessor([&] { return value[value.size()]; });
}

/// The double that Python's json module gives for a text that is no JSON number.
inline bool is_special(const config_node& n) { return n.type == config_node::kind::real && !std::isfinite(n.real); }

/// The nodes say what a DOM reader says of the same text.
inline void require_same(const nlohmann::json& dom, config_view view) {
    const config_node& n = view.node();
    if (is_special(n)) {
        require(dom.is_object() && dom.size() == 1 && dom.contains("__float__") &&
                    dom["__float__"] == std::string(n.string),
                "special number");
        return;
    }
    if (dom.is_null()) require(view.is_null(), "null");
    if (dom.is_boolean()) require(view.is_boolean() && view.as_boolean() == dom.get<bool>(), "boolean");
    if (dom.is_string()) require(view.is_string() && view.as_string() == dom.get_ref<const std::string&>(), "string");
    if (dom.is_number_float()) require(n.type == config_node::kind::real && n.real == dom.get<double>(), "real");
    if (dom.is_number_unsigned() && dom.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
        require(n.type == config_node::kind::real && n.real == dom.get<double>(), "large integer");
    } else if (dom.is_number_integer()) {
        require(n.type == config_node::kind::integer && n.integer == dom.get<std::int64_t>(), "integer");
    }
    if (dom.is_structured()) {
        require(dom.is_array() ? view.is_array() : view.is_object(), "container");
        require(dom.size() == view.size(), "size of a container");
        std::size_t i = 0;
        for (const config_view child : view)
            require_same(dom.is_array() ? dom.at(i++) : dom.at(std::string(child.key())), child);
    }
}

/// Reads a text and looks at all of it; then, after each NUL, a path and, after another, a value to set there.
///
/// Throws `broken_promise`. Anything but an `error` of two codes is broken, too.
inline void exercise_config(std::string_view input) {
    const std::string_view text = input.substr(0, input.find('\0'));
    const config_limits limits{.text = 65536, .depth = 16, .nodes = 4096};
    if (text.size() != input.size()) {
        bool refused = false;
        try {
            (void)parse_config(input, "fuzz.json", limits);
        } catch (const error&) {
            refused = true;
        }
        require(refused, "a NUL was read over");
    }
    try {
        const nlohmann::json dom = nlohmann::json::parse(text, nullptr, false);
        config_document document = parse_config(text, "fuzz.json", limits);
        const config_view root = document.root();
        require_tree(root);
        if (!dom.is_discarded()) require_same(dom, root);
        bool special = false;
        for (std::uint32_t i = 0; i < root.node().end; ++i) {
            const config_view value{root.nodes(), i};
            require(is_utf8(value.key()) && is_utf8(value.node().string), "UTF-8");
            special = special || is_special(value.node());
            check_all_accessors(value);
        }
        require(special || !dom.is_discarded(), "not JSON, yet accepted");

        for (std::string_view rest = input.substr(text.size()); !rest.empty();) {
            rest.remove_prefix(1);
            const std::string_view path = rest.substr(0, rest.find('\0'));
            rest.remove_prefix(std::min(path.size() + 1, rest.size()));
            const std::string_view value = rest.substr(0, rest.find('\0'));
            rest.remove_prefix(value.size());
            const config_document original = document;
            try {
                document.set(path, value);
            } catch (const error& problem) {
                require(problem.code() == errc::bad_value && is_clean(problem.what()), "refusal of an override");
                require(document.root().nodes() != original.root().nodes(), "a copy of its own");
            }
            require_tree(document.root());
            require_tree(original.root());
        }
        for (std::uint32_t i = 0; i < document.root().node().end; ++i)
            check_all_accessors(config_view{document.root().nodes(), i});
    } catch (const error& problem) {
        require(problem.code() == errc::bad_value && is_clean(problem.what()), "refusal");
        require(problem.location().starts_with("fuzz.json"), "a refusal without a place");
    }
}

}  // namespace llmcost::testing
