// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/json/override.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/json/builder.hpp>
#include <llmcost/json/text.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail {

/// Puts a new value in the place of a subtree, or, with `replaced` 0, in front of node `index`.
///
/// `value` is a configuration of its own whose root takes the given key and parent.
LLMCOST_INLINE void splice_nodes(std::vector<config_node>& nodes, std::uint32_t index, std::uint32_t replaced,
                                 std::uint32_t parent, std::string_view key, std::vector<config_node> value) {
    const auto length = static_cast<std::uint32_t>(value.size());
    for (config_node& n : value) {
        n.parent += index;
        n.end += index;
    }
    value.front().parent = parent;
    value.front().key = key;
    for (std::uint32_t i = index + replaced; i < nodes.size(); ++i) {
        nodes[i].end = nodes[i].end - replaced + length;
        if (nodes[i].parent >= index + replaced) nodes[i].parent = nodes[i].parent - replaced + length;
    }
    for (std::uint32_t ancestor = parent;; ancestor = nodes[ancestor].parent) {
        nodes[ancestor].end = nodes[ancestor].end - replaced + length;
        if (ancestor == 0) break;
    }
    if (replaced == 0) ++nodes[parent].size;
    const auto place = nodes.erase(nodes.begin() + index, nodes.begin() + index + replaced);
    nodes.insert(place, value.begin(), value.end());
}

LLMCOST_INLINE std::size_t nesting(const std::vector<config_node>& nodes) {
    std::vector<std::size_t> depths(nodes.size());
    std::size_t deepest = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const bool container = nodes[i].type == config_node::kind::array || nodes[i].type == config_node::kind::object;
        depths[i] = (i == 0 ? 0 : depths[nodes[i].parent]) + (container ? 1 : 0);
        if (depths[i] > deepest) deepest = depths[i];
    }
    return deepest;
}

LLMCOST_INLINE parsed_json parse_override(std::string_view text, std::string_view name, const config_limits& limits) {
    const std::size_t first = text.find_first_not_of(json_blanks);
    if (first != std::string_view::npos && text.size() <= limits.text) {
        const char c = text[first];
        const bool must_be_json = c == '{' || c == '[' || c == '"';
        if (must_be_json) return parse_json(text, name, limits);
        const std::string_view literal_text = text.substr(first, text.find_last_not_of(json_blanks) + 1 - first);
        if (literal_text == "null" || literal_text == "true" || literal_text == "false" ||
            named_real(literal_text) != nullptr || is_json_number(literal_text))
            return parse_json(text, name, limits);
    }
    if (text.size() > limits.text)
        throw error(errc::bad_value, std::string(name), "expected at most " + std::to_string(limits.text) + " bytes");
    parsed_json result;
    std::shared_ptr<char[]> copy(new char[text.size() + 1]);
    std::copy(text.begin(), text.end(), copy.get());
    config_node n;
    n.type = config_node::kind::string;
    n.string = {copy.get(), text.size()};
    n.end = 1;
    result.nodes.push_back(n);
    result.characters = std::move(copy);
    return result;
}

LLMCOST_INLINE void override_node(std::vector<config_node>& nodes, std::string_view path,
                                  std::vector<config_node> value) {
    std::uint32_t index = 0;
    for (std::string_view rest = path;;) {
        const std::size_t dot = rest.find('.');
        const bool last = dot == std::string_view::npos;
        const std::string_view name = rest.substr(0, dot);
        if (!last) rest.remove_prefix(dot + 1);
        if (name.empty())
            fail_at(config_problem::bad_value, config_view{nodes, 0}, {}, "expected a dotted path without empty parts");
        if (nodes[index].type == config_node::kind::null) nodes[index].type = config_node::kind::object;

        const config_view current{nodes, index};
        std::uint32_t child = 0;  // the root has no parent
        if (current.is_array()) {
            std::uint32_t i = 0;
            const char* const stop = name.data() + name.size();
            const auto [end, problem] = std::from_chars(name.data(), stop, i);
            if (problem != std::errc() || end != stop || i >= current.size()) {
                const std::string message = "expected an index below " + std::to_string(current.size());
                fail_at(config_problem::bad_value, current, string_ref(name),
                        current.size() == 0 ? "expected nothing in an empty array" : message);
            }
            child = current[i].index();
        } else if (current.is_object()) {
            if (const auto found = current.find(name)) child = found->index();
        } else {
            throw_invalid_value(current, "an object or an array to set a value in");
        }

        if (child != 0 && !last) {
            index = child;
        } else if (child != 0) {
            splice_nodes(nodes, child, nodes[child].end - child, index, nodes[child].key, std::move(value));
            return;
        } else {
            config_node empty;
            if (!last) empty.type = config_node::kind::object;
            empty.end = 1;
            const std::uint32_t made = nodes[index].end;
            splice_nodes(nodes, made, 0, index, name, last ? std::move(value) : std::vector<config_node>{empty});
            if (last) return;
            index = made;
        }
    }
}

}  // namespace llmcost::detail
