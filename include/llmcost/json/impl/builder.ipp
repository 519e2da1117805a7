// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/json/builder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_text.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/json/strings.hpp>
#include <llmcost/json/text.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail {

LLMCOST_INLINE json_builder::json_builder(const shortened_text& text, std::string_view name,
                                          const config_limits& limits, const std::vector<special_number>& specials)
    : text_(text),
      name_(name),
      limits_(limits),
      specials_(specials),
      // decoded strings are never longer than their source, nor is anything else that is stored
      characters_(new char[text.original().size() + 1]) {
    // lists of numbers are as dense as that; what is reserved beyond need is never touched
    nodes_.reserve(std::min(text.view().size() / 3 + 1, limits.nodes));
}

LLMCOST_INLINE bool json_builder::boolean(bool value) {
    add(config_node::kind::boolean)->integer = value ? 1 : 0;
    return true;
}

LLMCOST_INLINE bool json_builder::number_integer(std::int64_t value) {
    if (consume_special()) return true;
    add(config_node::kind::integer)->integer = value;
    return true;
}

LLMCOST_INLINE bool json_builder::number_unsigned(std::uint64_t value) {
    if (consume_special()) return true;
    if (value <= INT64_MAX) {
        add(config_node::kind::integer)->integer = static_cast<std::int64_t>(value);
    } else {
        add_real(static_cast<double>(value), keep(std::to_string(value)));
    }
    return true;
}

LLMCOST_INLINE bool json_builder::number_float(double value, const std::string& written) {
    ++num_numbers_;
    const std::string_view text = keep(written);
    // the reader writes the decimal point of the program's locale
    for (char* c = characters_.get() + num_characters_ - text.size(); c != characters_.get() + num_characters_; ++c)
        if (!std::strchr("0123456789+-eE", *c)) *c = '.';
    add_real(value, text);
    return true;
}

LLMCOST_INLINE bool json_builder::string(const std::string& value) {
    add(config_node::kind::string)->string = keep(full_string(value));
    return true;
}

LLMCOST_INLINE bool json_builder::key(const std::string& value) {
    key_ = keep(full_string(value));
    return true;
}

LLMCOST_INLINE bool json_builder::end_array() {
    nodes_[open_.back()].end = static_cast<std::uint32_t>(nodes_.size());
    open_.pop_back();
    return true;
}

LLMCOST_INLINE bool json_builder::end_object() {
    const std::uint32_t object = open_.back();
    end_array();
    refuse_duplicates(object);
    if (nodes_[object].size == 1 && nodes_[object + 1].key == "__float__") convert_tagged_float(object);
    return true;
}

LLMCOST_INLINE bool json_builder::parse_error(std::size_t position, const std::string& /*token*/,
                                              const nlohmann::json::exception& reason) {
    const std::size_t offset = text_.original_offset(position == 0 ? 0 : position - 1);
    failure_.emplace(errc::bad_value, place_in_text(text_.original(), offset, name_), explain(reason.what()));
    return false;
}

LLMCOST_INLINE std::string_view json_builder::full_string(const std::string& read) {
    const std::vector<string_left_out>& all = text_.left_out();
    const std::size_t ordinal = num_strings_++;
    const bool is_next = next_omitted_ < all.size() && all[next_omitted_].ordinal == ordinal;
    return is_next ? all[next_omitted_++].text : std::string_view(read);
}

LLMCOST_INLINE std::string_view json_builder::keep(std::string_view value) {
    char* const target = characters_.get() + num_characters_;
    std::copy(value.begin(), value.end(), target);
    num_characters_ += value.size();
    return {target, value.size()};
}

LLMCOST_INLINE config_node* json_builder::add(config_node::kind type) {
    if (nodes_.size() >= limits_.nodes || nodes_.size() >= UINT32_MAX)
        throw error(errc::bad_value, std::string(name_),
                    "expected at most " + std::to_string(limits_.nodes) + " values");
    config_node& n = nodes_.emplace_back();
    n.type = type;
    n.end = static_cast<std::uint32_t>(nodes_.size());
    if (!open_.empty()) {
        n.key = key_;
        n.parent = open_.back();
        ++nodes_[n.parent].size;
    }
    key_ = {};
    return &n;
}

LLMCOST_INLINE void json_builder::add_real(double value, std::string_view written) {
    config_node* const n = add(config_node::kind::real);
    n->real = value;
    n->string = written;
}

LLMCOST_INLINE bool json_builder::open(config_node::kind type) {
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    add(type);
    if (open_.size() >= limits_.depth)
        throw error(errc::bad_value, place_in_config(config_view{nodes_, index}, name_),
                    "expected at most " + std::to_string(limits_.depth) + " levels of arrays and objects");
    open_.push_back(index);
    return true;
}

LLMCOST_INLINE bool json_builder::consume_special() {
    const std::size_t ordinal = num_numbers_++;
    if (next_special_ == specials_.size() || specials_[next_special_].ordinal != ordinal) return false;
    const special_number& s = specials_[next_special_++];
    add_real(s.value, keep(s.text));
    return true;
}

LLMCOST_INLINE void json_builder::convert_tagged_float(std::uint32_t object) {
    const config_node& tag = nodes_[object + 1];
    const double* const value = tag.type == config_node::kind::string ? named_real(tag.string) : nullptr;
    if (value == nullptr) return;
    config_node& n = nodes_[object];
    n.type = config_node::kind::real;
    n.real = *value;
    n.string = tag.string;
    n.size = 0;
    n.end = object + 1;
    nodes_.pop_back();
}

LLMCOST_INLINE void json_builder::refuse_duplicates(std::uint32_t object) {
    order_.clear();
    for (std::uint32_t child = object + 1; child != nodes_[object].end; child = nodes_[child].end)
        order_.push_back(child);
    // by length first: most pairs differ there
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        const std::string_view x = nodes_[a].key;
        const std::string_view y = nodes_[b].key;
        if (x.size() != y.size()) return x.size() < y.size();
        const int order = x.compare(y);
        return order != 0 ? order < 0 : a < b;
    });
    const auto duplicate = std::adjacent_find(
        order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return nodes_[a].key == nodes_[b].key; });
    if (duplicate != order_.end())
        throw error(errc::bad_value, place_in_config(config_view{nodes_, *(duplicate + 1)}, name_), "duplicated key");
}

LLMCOST_INLINE std::string json_builder::explain(std::string_view reason) {
    if (const std::size_t place = reason.find("syntax error"); place != std::string_view::npos)
        reason.remove_prefix(place);
    std::string_view rest{};
    if (const std::size_t read = reason.find("; last read: '"); read != std::string_view::npos) {
        const std::size_t expected = reason.rfind("'; expected ");
        if (expected != std::string_view::npos && expected > read) rest = reason.substr(expected + 1);
        reason = reason.substr(0, read);
    }
    char buffer[320];
    bounded_text message(buffer);
    message.write("invalid JSON: ").write(reason, escaping::plain, 160).write(rest, escaping::plain, 100);
    return std::string(message.view());
}

LLMCOST_INLINE parsed_json parse_json(std::string_view text, std::string_view name, const config_limits& limits) {
    if (text.size() > limits.text)
        throw error(errc::bad_value, std::string(name), "expected at most " + std::to_string(limits.text) + " bytes");
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        throw error(errc::bad_value, std::string(name), "expected UTF-8, found UTF-16");
    if (text.find_first_not_of(json_blanks, text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0) ==
        std::string_view::npos)
        throw error(errc::bad_value, std::string(name), "expected a JSON object, found nothing");
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        throw error(errc::bad_value, place_in_text(text, nul, name), "invalid JSON: a NUL character");

    const shortened_text shortened(text);
    std::vector<special_number> specials;
    json_builder plain(shortened, name, limits, specials);
    const auto read = [](std::string_view all, json_builder& builder) {
        // json::sax_parse would compile the readers of five binary formats, too
        auto adapter = nlohmann::detail::input_adapter(all.data(), all.data() + all.size());
        return nlohmann::detail::parser<nlohmann::json, decltype(adapter)>(std::move(adapter)).sax_parse(&builder);
    };
    if (read(shortened.view(), plain)) return plain.release();
    std::string replaced;
    specials = replace_special_numbers(shortened.view(), replaced);
    if (specials.empty()) throw *plain.failure();
    json_builder second(shortened, name, limits, specials);
    if (!read(replaced, second)) throw *second.failure();
    return second.release();
}

}  // namespace llmcost::detail
