// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_tables.hpp"
#include "layouts.hpp"

#include <llmcost/devices/all.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

// Reads tables in the layouts of others (layouts.hpp).
namespace llmcost::bench {

/// Columns of a row, words of its file's name, sizes of its model.
using layout_fields = std::map<std::string, std::string, std::less<>>;

/// Whether a name is of this form; the text that matches the braces is then added to the fields.
inline bool matches(std::string_view form, std::string_view name, layout_fields& fields) {
    while (!form.empty()) {
        if (form.front() != '{') {
            if (name.empty() || name.front() != form.front()) return false;
            form.remove_prefix(1);
            name.remove_prefix(1);
            continue;
        }
        const std::size_t closed = form.find('}');
        const std::string_view suffix = form.substr(closed + 1, form.find('{', closed) - closed - 1);
        const std::size_t end = name.find(suffix);
        if (end == 0 || end == std::string_view::npos) return false;
        fields[std::string(form.substr(1, closed - 1))] = name.substr(0, end);
        form.remove_prefix(closed + 1);
        name.remove_prefix(end);
    }
    return name.empty();
}

/// The layout of a file by its name; nullptr: our own.
inline const measurement_layout* layout_of(const std::filesystem::path& path) {
    for (const measurement_layout& l : layouts)
        if (layout_fields none; matches(l.file, path.filename().string(), none)) return &l;
    return nullptr;
}

/// Fields of a line; those in quotes may have commas.
inline std::vector<std::string> quoted_fields(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            fields.emplace_back();
        else if (c != '\r')
            fields.back() += c;
    }
    return fields;
}

inline const std::string& field_of(const layout_fields& fields, std::string_view name) {
    const auto entry = fields.find(name);
    if (entry == fields.end()) throw std::runtime_error("no column " + std::string(name));
    return entry->second;
}
template <class Number>
Number number_of(std::string_view digits) {
    Number n{};
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (problem != std::errc{} || end != digits.data() + digits.size() || !(n >= 0))
        throw std::runtime_error("expected a number, found '" + std::string(digits) + "'");
    return n;
}

/// Columns and integers with + * / between them, from left to right; a division must leave nothing.
inline std::int64_t size_of(const layout_fields& fields, std::string_view text) {
    std::int64_t sum = 0;
    std::string operation = "+";
    const std::vector<std::string> tokens = split(std::string(text), " ");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i % 2 == 1) {
            operation = tokens[i];
            continue;
        }
        const bool digits = tokens[i].find_first_not_of("0123456789") == std::string::npos;
        const auto n = number_of<std::int64_t>(digits ? tokens[i] : field_of(fields, tokens[i]));
        if (operation == "/" && (n == 0 || sum % n != 0))
            throw std::runtime_error(std::string(text) + ": " + std::to_string(sum) + " in " + std::to_string(n) +
                                     " parts");
        sum = operation == "+" ? sum + n : operation == "*" ? sum * n : sum / n;
    }
    return sum;
}

/// The device of a table; nullptr where there is no datasheet of it.
inline const device* device_in(const layout_fields& fields) {
    const std::string& device_name = field_of(fields, "Device");
    for (const auto& [theirs, ours] : device_aliases)
        if (device_name == theirs) return find_device(ours);
    return find_device(device_name);
}

/// The most of a time that its clock's resolution may be.
inline constexpr double coarsest_clock = 0.05;
/// Seconds: no kernel takes less in any table that reaches down to a row, and few of these tables do.
inline constexpr double min_launch = 1e-6;

/// Reads files in other layouts: all kernels, those of one kernel in one table whatever file has them.
class layout_reader {
public:
    /// How many times were not taken, by the reason.
    std::map<std::string, std::size_t> num_skipped;

    void read(const std::filesystem::path& path) {
        const measurement_layout& layout = *layout_of(path);
        layout_fields fields;
        matches(layout.file, path.filename().string(), fields);
        for (const model_sizes& m : models_of_layouts)
            for (const auto& [name, n] : m.sizes)
                if (path.filename().string().find(m.model) != std::string::npos)
                    fields[std::string(name)] = std::to_string(n);
        std::ifstream file(path, std::ios::binary);
        if (!file) throw std::runtime_error(path.string() + ": cannot be opened");
        std::string text;
        std::getline(file, text);
        const std::vector<std::string> columns = quoted_fields(text);
        for (std::size_t line = 2; std::getline(file, text); ++line) {
            try {
                const std::vector<std::string> cells = quoted_fields(text);
                if (cells.size() != columns.size()) throw std::runtime_error("other columns than the first line");
                for (std::size_t i = 0; i < cells.size(); ++i) fields[columns[i]] = cells[i];
                bool is_matched = false;
                for (const measured_operator& m : layout.operators)
                    if (m.column.empty() || field_of(fields, m.column) == m.value) {
                        add_measurement(layout, m, fields);
                        is_matched = true;
                    }
                if (layout.mixes && !is_matched) add_mixed_call(layout, fields);
            } catch (const std::runtime_error& e) {
                throw std::runtime_error(path.string() + ":" + std::to_string(line) + ": " + e.what());
            }
        }
    }

    [[nodiscard]] std::vector<table> tables() const {
        std::vector<table> all;
        for (const auto& [key, k] : found_) {
            if (k.t.rows.empty()) continue;
            all.push_back(k.t);
            all.back().min_launch = k.too_coarse > min_launch ? k.too_coarse : min_launch;
        }
        return all;
    }

private:
    struct kernel {
        table t;
        double too_coarse = 0;  ///< the least time that a coarse clock may have meant
    };

    void add_measurement(const measurement_layout& layout, const measured_operator& m, const layout_fields& fields) {
        const device* d = device_in(fields);
        if (d == nullptr) {
            ++num_skipped["no datasheet of " + field_of(fields, "Device")];
            return;
        }
        kernel& k = kernel_of(layout, m, *d);
        const double unit = 1e-6 * layout.microseconds, seconds = unit * number_of<double>(field_of(fields, m.time));
        const double resolution = 1e-6 * layout.resolution;
        if (seconds * coarsest_clock < resolution) {
            ++num_skipped["timer resolution above a twentieth of the time (" + std::string(layout.source) + ")"];
            const double minimum = seconds - resolution / 2;
            k.too_coarse = k.too_coarse == 0 ? minimum : std::min(k.too_coarse, minimum);
            return;
        }
        if (seconds == 0) throw std::runtime_error("took no time");
        k.t.rows.push_back({shape_of(layout, m, fields), seconds});
    }
    void add_mixed_call(const measurement_layout& layout, const layout_fields& fields) {
        const device* d = device_in(fields);
        if (d == nullptr) return;
        const measured_operator &prompt = layout.operators[0], &decodes = layout.operators[1];
        const double seconds = 1e-6 * layout.microseconds * number_of<double>(field_of(fields, prompt.time));
        kernel_of(layout, prompt, *d)
            .t.mixed.push_back({shape_of(layout, prompt, fields), shape_of(layout, decodes, fields), seconds});
    }

    kernel& kernel_of(const measurement_layout& layout, const measured_operator& m, const device& d) {
        const operator_type* family = find_operator_type(m.family);
        const std::string system(d.names[0]), software(layout.software), version(layout.version), name(m.kernel);
        kernel& k = found_[{family, system, software, version, std::string(m.variant), name}];
        if (k.t.family == nullptr)
            k.t = {family,
                   system,
                   software,
                   version,
                   name,
                   std::string(layout.operand),
                   std::string(m.variant),
                   std::string(layout.source),
                   std::string(layout.licence)};
        return k;
    }
    static operator_shape shape_of(const measurement_layout& layout, const measured_operator& m,
                                   const layout_fields& fields) {
        operator_shape shape{.type = find_operator_type(m.family), .operand = find_operand_type(layout.operand)};
        for (std::size_t i = 0; i < shape.type->size_count; ++i)
            shape.sizes[i] = m.sizes[i].empty() ? shape.type->sizes[i].default_value : size_of(fields, m.sizes[i]);
        return shape;
    }

    using key_part = std::string;
    std::map<std::tuple<const operator_type*, key_part, key_part, key_part, key_part, key_part>, kernel> found_;
};

}  // namespace llmcost::bench
