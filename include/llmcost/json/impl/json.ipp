// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_text.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/json/builder.hpp>
#include <llmcost/json/foreign.hpp>
#include <llmcost/json/override.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost {

LLMCOST_INLINE void throw_error(const config_error& problem, std::string_view name) {
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

LLMCOST_INLINE void config_document::set(std::string_view path, std::string_view value) {
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

LLMCOST_INLINE void config_document::refuse_depth(const std::string& location) const {
    throw error(errc::bad_value, location,
                "expected at most " + std::to_string(limits_.depth) + " levels of arrays and objects");
}

LLMCOST_INLINE std::string config_document::format_echo(std::string_view text) {
    char buffer[80];
    detail::bounded_text out(buffer);
    return std::string(out.write(text, detail::escaping::plain, detail::longest_echo).view());
}

LLMCOST_INLINE config_document parse_config(std::string_view text, std::string name, const config_limits& limits,
                                            document_kind subject) {
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

LLMCOST_INLINE config_document read_config_file(std::istream& in, std::string name, const config_limits& limits,
                                                document_kind subject) {
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

LLMCOST_INLINE config_document read_config_file(const std::string& path, const config_limits& limits,
                                                document_kind subject) {
    const std::optional<std::string> file = detail::config_file_at(path);
    if (!file) throw error(errc::io, path, detail::without_config(path));
    // a named pipe is the user's choice, e.g. <(...) of a shell; one in a folder would wait for ever
    std::error_code none;
    if (*file != path && !std::filesystem::is_regular_file(*file, none) && std::filesystem::exists(*file, none))
        throw error(errc::io, *file, "expected a regular file");
    errno = 0;
    std::ifstream in(*file, std::ios::binary);
    if (!in)
        throw error(errc::io, *file, "cannot be opened: " + std::generic_category().message(errno == 0 ? EIO : errno));
    return read_config_file(in, *file, limits, subject);
}

}  // namespace llmcost
