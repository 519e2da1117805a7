// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>

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
    void on_key_read(const config_view& object, string_ref key) override;

    /// The unused keys of the root, and of objects with used keys.
    [[nodiscard]] std::vector<unused_key> find_unused(config_view root) const;

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
    static std::string nearest(const object_keys& read_keys, string_ref key);
    static std::string pointer_of(config_view node);
    static std::string value_of(config_view node);

    std::vector<object_keys> objects_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/unused_keys.ipp>  // IWYU pragma: export
#endif
