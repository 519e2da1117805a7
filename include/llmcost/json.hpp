// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <istream>
#include <memory>
#include <optional>
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
[[noreturn]] inline void throw_error(const config_error& problem, std::string_view name) {
    constexpr auto code_of = [](config_problem p) {
        switch (p) {
            case config_problem::missing_key: return errc::missing_key;
            case config_problem::bad_value: return errc::bad_value;
            case config_problem::unsupported: return errc::unsupported;
            case config_problem::unknown_model_type: return errc::unknown_model_type;
        }
        return errc::bad_value;
    };
    std::string location(name);
    if (!location.empty() && !problem.pointer().empty()) location += ": ";
    location += problem.pointer();
    throw error(code_of(problem.problem()), std::move(location), std::string(problem.message()));
}

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
    void set(std::string_view path, std::string_view value) {
        std::shared_ptr<char[]> keys(new char[path.size() + 1]);
        std::copy(path.begin(), path.end(), keys.get());
        const std::string label = (name_.empty() ? "" : name_ + ": ") + "value set for " + format_echo(path);
        detail::parsed_json parsed = detail::parse_override(value, label, limits_);
        if (static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')) >= limits_.depth) refuse_depth(label);
        std::vector<config_node> nodes = nodes_;
        try {
            detail::override_node(nodes, {keys.get(), path.size()}, std::move(parsed.nodes));
        } catch (const config_error& problem) {
            throw_error(problem, name_);
        }
        if (nodes.size() > limits_.nodes)
            throw error(errc::bad_value, label, "expected at most " + std::to_string(limits_.nodes) + " values");
        if (detail::nesting(nodes) > limits_.depth) refuse_depth(label);
        characters_.reserve(characters_.size() + 2);
        characters_.push_back(std::move(keys));
        characters_.push_back(std::move(parsed.characters));
        nodes_ = std::move(nodes);
    }

private:
    config_document(std::string name, const config_limits& limits, detail::parsed_json parsed)
        : name_(std::move(name)), limits_(limits), nodes_(std::move(parsed.nodes)) {
        characters_.push_back(std::move(parsed.characters));
    }
    [[noreturn]] void refuse_depth(const std::string& location) const {
        throw error(errc::bad_value, location,
                    "expected at most " + std::to_string(limits_.depth) + " levels of arrays and objects");
    }
    static std::string format_echo(std::string_view text) {
        char buffer[80];
        detail::bounded_text out(buffer);
        return std::string(out.write(text, detail::escaping::plain, detail::longest_echo).view());
    }

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
[[nodiscard]] inline config_document parse_config(std::string_view text, std::string name,
                                                  const config_limits& limits = {},
                                                  document_kind subject = document_kind::model) {
    detail::refuse_foreign(detail::foreign_file(text), name, detail::expected_content_of(subject));
    detail::parsed_json parsed = detail::parse_json(text, name, limits);
    const config_view root{parsed.nodes, 0};
    if (!root.is_object()) {
        try {
            throw_invalid_value(root, "a JSON object");
        } catch (const config_error& problem) {
            throw_error(problem, name);
        }
    }
    if (subject == document_kind::model) detail::refuse_foreign(detail::foreign_object(root), name, {});
    if (subject == document_kind::adapter)
        detail::refuse_foreign(detail::foreign_adapter(root), name, detail::expected_content_of(subject));
    return {std::move(name), limits, std::move(parsed)};
}

/// Reads a configuration from a stream, such as standard input. Reads at most the limit.
[[nodiscard]] inline config_document read_config_file(std::istream& in, std::string name,
                                                      const config_limits& limits = {},
                                                      document_kind subject = document_kind::model) {
    constexpr std::size_t block = 65536;
    std::string text;
    const std::unique_ptr<char[]> buffer(new char[block]);
    while (in && text.size() <= limits.text) {
        in.read(buffer.get(), static_cast<std::streamsize>(block));
        const bool first = text.empty();
        text.append(buffer.get(), static_cast<std::size_t>(in.gcount()));
        // a file of weights is rejected after the first block
        if (first) detail::refuse_foreign(detail::foreign_file(text), name, detail::expected_content_of(subject));
    }
    if (in.bad()) throw error(errc::io, std::move(name), "cannot be read");
    return parse_config(text, std::move(name), limits, subject);
}

/// Reads a configuration file, or the `config.json` of a folder.
///
/// Throws: `error` with `io` if the file does not exist or cannot be read, and the errors of `parse_config`.
[[nodiscard]] inline config_document read_config_file(const std::string& path, const config_limits& limits = {},
                                                      document_kind subject = document_kind::model) {
    const std::optional<std::string> file = detail::config_file_at(path);
    if (!file) throw error(errc::io, path, detail::without_config(path));
    errno = 0;
    std::ifstream in(*file, std::ios::binary);
    if (!in)
        throw error(errc::io, *file, "cannot be opened: " + std::generic_category().message(errno == 0 ? EIO : errno));
    return read_config_file(in, *file, limits, subject);
}

}  // namespace llmcost
