// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/detail/nearest.hpp>

namespace llmcost::cli {

/// An option of a command: its name, the word for its value (empty: it takes none), what it does.
struct named_option {
    std::string name;
    std::string value;
    std::string help;
};

/// The options of a command, each at most once; `_` and `-` inside of names are the same.
class named_options {
public:
    /// What belongs to no row goes to `others` with its value, or is refused where that is null.
    named_options(std::string_view command, std::vector<named_option> rows, std::span<const std::string_view> args,
                  std::vector<std::string_view>* others = nullptr)
        : rows_(std::move(rows)), values_(rows_.size()) {
        for (std::size_t i = 0; i < args.size(); ++i) {
            const std::size_t sign = args[i].find('=');
            const std::size_t id = find(args[i].substr(0, sign));
            if (id == rows_.size() && others != nullptr) {
                others->push_back(args[i]);
                continue;
            }
            if (id == rows_.size()) {
                nearest_names near(args[i].substr(0, sign));
                for (const named_option& row : rows_) near.offer(row.name);
                refuse(command, "no option " + in_quotes(args[i].substr(0, sign)) +
                                    near.hint(" (see llmcost " + std::string(command) + " --help)"));
            }
            if (values_[id]) refuse(rows_[id].name, "is given twice");
            const bool flag = rows_[id].value.empty();
            if (flag && sign != std::string_view::npos)
                refuse(rows_[id].name, "takes no value, found " + in_quotes(args[i].substr(sign + 1)));
            if (!flag && sign == std::string_view::npos && i + 1 == args.size())
                refuse(rows_[id].name, "needs a value: " + rows_[id].name + ' ' + rows_[id].value);
            values_[id] = flag ? std::string_view{} : sign == std::string_view::npos ? args[++i] : args[i].substr(sign + 1);
        }
    }

    [[nodiscard]] const std::vector<named_option>& rows() const noexcept { return rows_; }
    [[nodiscard]] const std::string& name(std::size_t id) const { return rows_[id].name; }
    [[nodiscard]] bool has(std::size_t id) const { return values_[id].has_value(); }
    [[nodiscard]] std::string text(std::size_t id, std::string_view otherwise = {}) const {
        return std::string(values_[id].value_or(otherwise));
    }
    [[nodiscard]] std::int64_t number(std::size_t id, std::int64_t otherwise, std::int64_t least = 1) const {
        return has(id) ? read_number(rows_[id].name, *values_[id], least) : otherwise;
    }
    /// A decimal number between two bounds.
    [[nodiscard]] double real(std::size_t id, double otherwise, double least, double most) const {
        return has(id) ? read_real(rows_[id].name, *values_[id], least, most) : otherwise;
    }

private:
    [[nodiscard]] std::size_t find(std::string_view given) const {
        std::size_t id = 0;
        const auto same = [&](std::string_view name) {
            if (name.size() != given.size() || name.size() < 3) return false;
            for (std::size_t k = 0; k < name.size(); ++k) {
                const bool dash = k > 1 && (given[k] == '-' || given[k] == '_') && (name[k] == '-' || name[k] == '_');
                if (given[k] != name[k] && !dash) return false;
            }
            return true;
        };
        while (id < rows_.size() && !same(rows_[id].name)) ++id;
        return id;
    }

    std::vector<named_option> rows_;
    std::vector<std::optional<std::string_view>> values_;
};

}  // namespace llmcost::cli
