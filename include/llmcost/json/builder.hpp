// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <llmcost/base/config_view.hpp>
#include <llmcost/json/strings.hpp>
#include <llmcost/json/text.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost {

/// How large a configuration may be; what is larger is refused before it costs time or memory.
struct config_limits {
    std::size_t text = std::size_t{4} << 20;   ///< bytes
    std::size_t depth = 64;                    ///< containers inside each other, the outermost included
    std::size_t nodes = std::size_t{1} << 20;  ///< values, containers included
};

}  // namespace llmcost

namespace llmcost::detail {

/// Nodes of a text and the characters that they look at.
struct parsed_json {
    std::vector<config_node> nodes{};
    std::shared_ptr<const char[]> characters{};
};

/// Listens to a JSON reader and writes down nodes; throws `error` at what is no configuration.
class json_builder {
public:
    /// `specials` are in the order of the text.
    json_builder(const shortened_text& text, std::string_view name, const config_limits& limits,
                 const std::vector<special_number>& specials);

    /// What the reader did not understand, once it has given up.
    [[nodiscard]] const std::optional<error>& failure() const noexcept { return failure_; }
    [[nodiscard]] parsed_json release() { return {std::move(nodes_), std::move(characters_)}; }

    // the reader calls these by name; each returns whether to go on
    bool null() { return add(config_node::kind::null) != nullptr; }
    bool boolean(bool value);
    bool number_integer(std::int64_t value);
    bool number_unsigned(std::uint64_t value);
    bool number_float(double value, const std::string& written);
    bool string(const std::string& value);
    bool binary(const std::vector<std::uint8_t>& /*value*/) { return false; }
    bool start_object(std::size_t /*size*/) { return open(config_node::kind::object); }
    bool start_array(std::size_t /*size*/) { return open(config_node::kind::array); }
    bool key(const std::string& value);
    bool end_array();
    bool end_object();
    bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& reason);

private:
    std::string_view full_string(const std::string& read);
    std::string_view keep(std::string_view value);

    config_node* add(config_node::kind type);
    void add_real(double value, std::string_view written);
    bool open(config_node::kind type);
    bool consume_special();
    // transformers writes {"__float__": "Infinity"} since version 5
    void convert_tagged_float(std::uint32_t object);
    void refuse_duplicates(std::uint32_t object);
    // keeps the reason of "[id] parse error at line 1, column 2: syntax error while parsing X - reason; last read:
    // '...'; expected Y"
    static std::string explain(std::string_view reason);

    const shortened_text& text_;
    std::string_view name_;
    const config_limits& limits_;
    const std::vector<special_number>& specials_;
    std::unique_ptr<char[]> characters_;
    std::size_t num_characters_ = 0;
    std::size_t num_strings_ = 0;
    std::size_t next_omitted_ = 0;
    std::size_t num_numbers_ = 0;
    std::size_t next_special_ = 0;
    std::string_view key_{};
    std::vector<config_node> nodes_{};
    std::vector<std::uint32_t> open_{};
    std::vector<std::uint32_t> order_{};
    std::optional<error> failure_{};
};

/// Reads one JSON value; numbers that JSON has no place for are read in a second try.
parsed_json parse_json(std::string_view text, std::string_view name, const config_limits& limits);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/json/impl/builder.ipp>  // IWYU pragma: export
#endif
