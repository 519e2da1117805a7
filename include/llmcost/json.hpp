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
#include <llmcost/base/error.hpp>
#include <llmcost/json/builder.hpp>
#include <llmcost/json/foreign.hpp>
#include <llmcost/json/override.hpp>
#include <llmcost/json/text.hpp>

namespace llmcost {

/// Throws the `error` that a `config_error` is at the boundary: `configs/x.json: /num_attention_heads: expected ...`.
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

/// What a JSON object is expected to configure.
enum class document_kind : std::uint8_t { model, adapter, processor };

namespace detail {

/// What is said to be expected of a file that is something else; of a model's each kind of file says so itself.
[[nodiscard]] constexpr std::string_view expected_content_of(document_kind subject) noexcept {
    return subject == document_kind::adapter     ? "expected the adapter_config.json of an adapter (PEFT)"
           : subject == document_kind::processor ? "expected the settings of a processor"
                                                 : std::string_view{};
}

}  // namespace detail

/// A configuration that was read, with the characters that its nodes look at. Copies share the characters.
///
/// Views of it are valid until `set`, assignment or the end of its life; moving the document keeps them valid.
class config_document {
public:
    /// Where it came from, for messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] config_view root() const noexcept { return config_view{nodes_, 0}; }

    /// Gives `read(root())`, with every `config_error` in it turned into an `error` that names this file.
    template <class Read>
    decltype(auto) read_with(Read&& read) const {
        try {
            return std::forward<Read>(read)(root());
        } catch (const config_error& problem) {
            throw_error(problem, name_);
        }
    }

    /// What strings of its nodes look at; who keeps it may let the document go.
    [[nodiscard]] std::vector<std::shared_ptr<const char[]>> characters() const { return characters_; }

    /// Sets a value: `set("rope_scaling.factor", "8")`, `set("layer_types.3", "full_attention")`, `set("head_dim",
    /// "null")`.
    ///
    /// The value is read as JSON, or taken as a string where it is none. Objects that are missing or null are made; an
    /// element of an array is named by its index from 0. Throws `error` with `bad_value` where the path goes through
    /// another value or past the end of an array, or where the limits are passed; the document is then as before.
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

/// Reads a configuration from a text: JSON as Python writes it, with Infinity, -Infinity and NaN, in UTF-8.
///
/// Throws `error` with `bad_value` and a place, `name:line:column` or `name: pointer`: what is not JSON, a duplicated
/// key, a text that is no object, or one beyond the limits. A file of another kind, such as weights, a page or a
/// tokenizer's settings, is told by its first bytes or its keys: the error says what it is and what is expected.
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

/// Reads a configuration from a stream, such as the standard input; never more of it than the limit.
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
        // no more is read of weights
        if (first) detail::refuse_foreign(detail::foreign_file(text), name, detail::expected_content_of(subject));
    }
    if (in.bad()) throw error(errc::io, std::move(name), "cannot be read");
    return parse_config(text, std::move(name), limits, subject);
}

/// Reads a configuration file, or the `json.json` of a folder. Throws `error` with `io` where there is none or it
/// cannot be read, else as `parse_config`.
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
