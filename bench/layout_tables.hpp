// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_tables.hpp"
#include "layouts.hpp"

#include <llmcost/devices.hpp>

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
#include <utility>
#include <vector>

// Reads tables in the layouts of others (layouts.hpp).
namespace llmcost::bench {

/// Columns of a row, words of its file's name, sizes of its model.
using layout_fields = std::map<std::string, std::string, std::less<>>;

/// Whether a name is of this form; the words that stand for braces then join the fields.
inline bool matches(std::string_view form, std::string_view name, layout_fields& fields) {
    while (!form.empty()) {
        if (form.front() != '{') {
            if (name.empty() || name.front() != form.front()) return false;
            form.remove_prefix(1), name.remove_prefix(1);
            continue;
        }
        const std::size_t closed = form.find('}');
        const std::string_view behind = form.substr(closed + 1, form.find('{', closed) - closed - 1);
        const std::size_t end = name.find(behind);
        if (end == 0 || end == std::string_view::npos) return false;
        fields[std::string(form.substr(1, closed - 1))] = name.substr(0, end);
        form.remove_prefix(closed + 1), name.remove_prefix(end);
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
    const auto at = fields.find(name);
    if (at == fields.end()) throw std::runtime_error("no column " + std::string(name));
    return at->second;
}
template <class Number>
Number number_of(std::string_view digits) {
    Number n{};
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (problem != std::errc{} || end != digits.data() + digits.size() || !(n >= 0))
        throw std::runtime_error("expected a number, found '" + std::string(digits) + "'");
    return n;
}

/// Columns and whole numbers with + * / between them, from left to right; a division must leave nothing.
inline std::int64_t size_of(const layout_fields& fields, std::string_view text) {
    std::int64_t sum = 0;
    std::string how = "+";
    const std::vector<std::string> words = split(std::string(text), " ");
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i % 2 == 1) {
            how = words[i];
            continue;
        }
        const bool digits = words[i].find_first_not_of("0123456789") == std::string::npos;
        const auto n = number_of<std::int64_t>(digits ? words[i] : field_of(fields, words[i]));
        if (how == "/" && (n == 0 || sum % n != 0))
            throw std::runtime_error(std::string(text) + ": " + std::to_string(sum) + " in " + std::to_string(n) + " parts");
        sum = how == "+" ? sum + n : how == "*" ? sum * n : sum / n;
    }
    return sum;
}

/// Tables in other layouts, and how many rows were not taken, by the reason.
struct layout_tables {
    std::vector<table> tables;
    std::map<std::string, std::size_t> not_taken;
};

/// The most of a time that its clock's resolution may be.
inline constexpr double coarsest_clock = 0.05;

/// All kernels of these files, those of one kernel in one table whatever file has them.
inline layout_tables read_layouts(std::vector<std::filesystem::path> paths) {
    layout_tables read;
    std::map<std::tuple<const operator_family*, std::string, std::string, std::string, std::string>, table> found;
    // the order of arguments is no part of a fit
    std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) { return a.filename() < b.filename(); });
    for (const std::filesystem::path& path : paths) {
        const measurement_layout& layout = *layout_of(path);
        layout_fields fields;
        matches(layout.file, path.filename().string(), fields);
        for (const model_sizes& m : models_of_layouts)
            if (const auto model = fields.find("model"); model != fields.end() && model->second == m.model)
                for (const auto& [name, n] : m.sizes) fields[std::string(name)] = std::to_string(n);
        std::ifstream file(path, std::ios::binary);
        if (!file) throw std::runtime_error(path.string() + ": cannot be opened");
        std::vector<std::string> columns;
        std::string text;
        for (std::size_t line = 1; std::getline(file, text); ++line) try {
                const std::vector<std::string> cells = quoted_fields(text);
                if (line == 1) {
                    columns = cells;
                    continue;
                }
                if (cells.size() != columns.size()) throw std::runtime_error("other columns than the first line");
                for (std::size_t i = 0; i < cells.size(); ++i) fields[columns[i]] = cells[i];
                const std::string& words = field_of(fields, "Device");
                const auto* known = std::find_if(std::begin(device_words), std::end(device_words),
                                                 [&](const auto& w) { return w.first == words; });
                const device* d = find_device(known == std::end(device_words) ? std::string_view(words) : known->second);
                for (const measured_operator& m : layout.operators) {
                    if (!m.column.empty() && field_of(fields, m.column) != m.value) continue;
                    if (d == nullptr) {
                        ++read.not_taken["no datasheet of " + words];
                        continue;
                    }
                    const double microseconds = layout.microseconds * number_of<double>(field_of(fields, m.time));
                    if (layout.resolution > coarsest_clock * microseconds || microseconds == 0) {
                        ++read.not_taken["of " + std::string(layout.source) + " by a clock of more than a twentieth of their time"];
                        continue;
                    }
                    measurement r;
                    r.shape.family = find_family(m.family), r.shape.operand = find_operand(layout.operand);
                    r.seconds = microseconds * 1e-6;
                    for (std::size_t i = 0; i < r.shape.family->size_count; ++i)
                        r.shape.sizes[i] =
                            m.sizes[i].empty() ? r.shape.family->sizes[i].otherwise : size_of(fields, m.sizes[i]);
                    const std::string system(d->names[0]), software(layout.software), version(layout.version),
                        variant(m.variant);
                    table& t = found[{r.shape.family, system, software + '-' + version, variant, std::string(m.kernel)}];
                    if (t.rows.empty())
                        t = {.family = r.shape.family,
                             .system = system,
                             .software = software,
                             .version = version,
                             .kernel = std::string(m.kernel),
                             .operand = std::string(layout.operand),
                             .variant = variant,
                             .source = std::string(layout.source),
                             .licence = std::string(layout.licence),
                             .rows = {}};
                    t.rows.push_back(r);
                }
            } catch (const std::runtime_error& e) {
                throw std::runtime_error(path.string() + ":" + std::to_string(line) + ": " + e.what());
            }
    }
    for (auto& [key, t] : found) read.tables.push_back(std::move(t));
    return read;
}

}  // namespace llmcost::bench
