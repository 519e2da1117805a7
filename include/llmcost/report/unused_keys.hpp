// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/edit_distance.hpp>

namespace llmcost {

/// An unused key: its location, and a similar key that is used (empty: none).
struct unused_key {
    std::string pointer;
    std::string value;
    std::string nearest;
};

/// Records which keys of a configuration are used, and reports the others.
///
/// Pass `root.with_observer(usage)` to a parser, then call `usage.find_unused(root)`.
class key_usage final : public config_observer {
public:
    void on_key_read(const config_view& object, string_ref key) override {
        for (object_keys& known : objects_)
            if (known.index == object.index()) return add(known, key);
        objects_.push_back({object.index(), {}});
        add(objects_.back(), key);
    }

    /// The unused keys of the root, and of objects with used keys.
    [[nodiscard]] std::vector<unused_key> find_unused(config_view root) const {
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

private:
    struct object_keys {
        std::uint32_t index;
        std::vector<std::string> keys;
    };
    static bool has(const object_keys& in, string_ref key) {
        return std::any_of(in.keys.begin(), in.keys.end(), [&](const std::string& k) { return key == k; });
    }
    static void add(object_keys& to, string_ref key) {
        if (!has(to, key)) to.keys.emplace_back(std::string_view(key));
    }
    /// The used key within an edit distance of one letter in five; empty if there is none.
    static std::string nearest(const object_keys& read_keys, string_ref key) {
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
    static std::string pointer_of(config_view at) {
        char buffer[512];
        detail::bounded_text out(buffer);
        detail::append_pointer(out, at);
        return std::string(std::string_view(out.view()));
    }
    static std::string value_of(config_view at) {
        char buffer[256];
        detail::bounded_text out(buffer);
        detail::append_value(out, at);
        return std::string(std::string_view(out.view()));
    }

    std::vector<object_keys> objects_;
};

}  // namespace llmcost
