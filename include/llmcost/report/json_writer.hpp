// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/utf8.hpp>

namespace llmcost {

/// Writes JSON in valid UTF-8. Integers have all digits, as 128-bit counts need. Other numbers round-trip.
class json_writer {
public:
    explicit json_writer(int indent = 2) : indent_(indent) {}

    json_writer& object() { return open('{'); }
    json_writer& array(bool one_line = false);
    json_writer& end_object() { return close('}'); }
    json_writer& end_array() { return close(']'); }
    json_writer& key(std::string_view name);
    json_writer& value(std::string_view s);
    json_writer& value(const char* s) { return value(std::string_view(s)); }
    json_writer& value(bool b) { return raw(b ? "true" : "false"); }
    json_writer& value(count n) { return raw(count_text{n}.view()); }
    template <std::signed_integral T>
    json_writer& value(T n) {
        return raw(std::to_string(n));
    }
    /// The shortest number that round-trips; null if it is not finite.
    json_writer& value(double n);
    json_writer& null() { return raw("null"); }
    template <class T>
    json_writer& member(std::string_view name, const T& v) {
        key(name);
        return value(v);
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    json_writer& raw(std::string_view s);
    json_writer& open(char c);
    json_writer& close(char c);
    void separate();
    void line();
    void quote(std::string_view s);
    void escape(unsigned unit);

    std::string text_;
    int indent_;
    int depth_ = 0;
    int one_line_depth_ = 0;
    bool is_empty_ = true;
    bool has_pending_key_ = false;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/json_writer.ipp>  // IWYU pragma: export
#endif
