// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/unused_keys.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/config_text.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/edit_distance.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>

namespace llmcost {

LLMCOST_INLINE void key_usage::on_key_read(const config_view& object, string_ref key) {
    for (object_keys& known : objects_)
        if (known.index == object.index()) return add(known, key);
    objects_.push_back({object.index(), {}});
    add(objects_.back(), key);
}

LLMCOST_INLINE std::vector<unused_key> key_usage::find_unused(config_view root) const {
    std::vector<unused_key> out;
    for (const object_keys& read_keys : objects_) {
        const config_view object{root.nodes(), read_keys.index};
        for (const config_view child : object) {
            if (has(read_keys, child.key())) continue;
            out.push_back({pointer_of(child), value_of(child), nearest(read_keys, child.key())});
        }
    }
    return out;
}

LLMCOST_INLINE std::string key_usage::nearest(const object_keys& read_keys, string_ref key) {
    constexpr std::size_t longest = 64;  // of all used keys
    std::string best;
    int minimum = static_cast<int>(std::min<std::size_t>(key.size(), longest) / 5) + 1;
    if (key.size() > longest) return best;
    for (const std::string& known : read_keys.keys) {
        const int distance = detail::edit_distance(key, known);
        if (distance < minimum) {
            minimum = distance;
            best = known;
        }
    }
    return best;
}

LLMCOST_INLINE std::string key_usage::pointer_of(config_view node) {
    char buffer[512];
    detail::bounded_text out(buffer);
    detail::append_pointer(out, node);
    return std::string(std::string_view(out.view()));
}

LLMCOST_INLINE std::string key_usage::value_of(config_view node) {
    char buffer[256];
    detail::bounded_text out(buffer);
    detail::append_value(out, node);
    return std::string(std::string_view(out.view()));
}

}  // namespace llmcost
