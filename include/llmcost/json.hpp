// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/json/builder.hpp>
#include <llmcost/json/foreign.hpp>
#include <llmcost/json/override.hpp>
#include <llmcost/json/text.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost {

/// Throws a `config_error` as an `error` with the file name: `configs/x.json: /num_attention_heads: expected ...`.
[[noreturn]] void throw_error(const config_error& problem, std::string_view name);

/// The kind of configuration that a JSON document is expected to contain.
enum class document_kind : std::uint8_t { model, adapter, processor };

namespace detail {

/// The expected content, for errors about files of another kind. Empty for models, whose errors include it.
[[nodiscard]] constexpr std::string_view expected_content_of(document_kind subject) noexcept {
    return subject == document_kind::adapter     ? "expected the adapter_config.json of an adapter (PEFT)"
           : subject == document_kind::processor ? "expected a processor configuration"
                                                 : std::string_view{};
}

}  // namespace detail

/// A configuration and the characters that its nodes refer to. Copies share the characters.
///
/// Views are valid until `set`, assignment or destruction. Moving the document keeps them valid.
class config_document {
public:
    /// Name of the file or source, for messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] config_view root() const noexcept { return config_view{nodes_, 0}; }

    /// Returns `read(root())`. Converts a `config_error` to an `error` that names this file.
    ///
    /// Throws: `error`.
    template <class Read>
    decltype(auto) read_with(Read&& read) const {
        try {
            return std::forward<Read>(read)(root());
        } catch (const config_error& problem) {
            throw_error(problem, name_);
        }
    }

    /// Owners of the characters that nodes refer to. With them, views outlive the document.
    [[nodiscard]] std::vector<std::shared_ptr<const char[]>> characters() const { return characters_; }

    /// Sets a value: `set("rope_scaling.factor", "8")`, `set("layer_types.3", "full_attention")`, `set("head_dim",
    /// "null")`.
    ///
    /// The value is parsed as JSON; otherwise it is a string. Missing or null objects are created. Array elements are
    /// given by their index from 0. After an error, the document is unchanged.
    ///
    /// Throws: `error` with `bad_value` if the path leads through a scalar or past the end of an array, or if a limit
    /// is exceeded.
    void set(std::string_view path, std::string_view value);

private:
    config_document(std::string name, const config_limits& limits, detail::parsed_json parsed)
        : name_(std::move(name)), limits_(limits), nodes_(std::move(parsed.nodes)) {
        characters_.push_back(std::move(parsed.characters));
    }
    [[noreturn]] void refuse_depth(const std::string& location) const;
    static std::string format_echo(std::string_view text);

    friend config_document parse_config(std::string_view text, std::string name, const config_limits& limits,
                                        document_kind subject);

    std::string name_;
    config_limits limits_;
    std::vector<config_node> nodes_;
    std::vector<std::shared_ptr<const char[]>> characters_{};
};

/// Parses a configuration: JSON in UTF-8 as Python writes it, including Infinity, -Infinity and NaN.
///
/// Files of other kinds, such as weights, web pages or tokenizer settings, are recognized by their first bytes or keys.
/// The error describes them and the expected content.
///
/// Throws: `error` with `bad_value` and a location, `name:line:column` or `name: pointer`, for invalid JSON, a
/// duplicated key, a document that is not an object, or an exceeded limit.
[[nodiscard]] config_document parse_config(std::string_view text, std::string name, const config_limits& limits = {},
                                           document_kind subject = document_kind::model);

/// Reads a configuration from a stream, such as standard input. Reads at most the limit.
[[nodiscard]] config_document read_config_file(std::istream& in, std::string name, const config_limits& limits = {},
                                               document_kind subject = document_kind::model);

/// Reads a configuration file, or the `config.json` of a folder.
///
/// Throws: `error` with `io` if the file does not exist or cannot be read, and the errors of `parse_config`.
[[nodiscard]] config_document read_config_file(const std::string& path, const config_limits& limits = {},
                                               document_kind subject = document_kind::model);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/json/impl/json.ipp>  // IWYU pragma: export
#endif
