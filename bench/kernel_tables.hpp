// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/latency/operator_types.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// Tables of measurements, read for a fit.
namespace llmcost::bench {

/// What is left out of a fit: single shapes, or all shapes of a site.
enum class left_out { shapes, sites };

struct measurement {
    operator_shape shape;
    double seconds = 0;

    [[nodiscard]] bool is_held_out(left_out holdout) const noexcept {
        const operator_type& f = *shape.type;
        std::uint64_t h = 0;
        const auto hash_combine = [&](std::int64_t size) {
            h += static_cast<std::uint64_t>(size) + 0x9e3779b97f4a7c15U;
            h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
            h = (h ^ (h >> 27)) * 0x94d049bb133111ebU;
            h ^= h >> 31;
        };
        for (std::size_t i = holdout == left_out::sites ? f.num_axes : 0; i < f.num_axes + f.num_layer_shape_sizes; ++i)
            hash_combine(shape.sizes[i]);
        const std::size_t added = f.additive_size_index();
        if (holdout == left_out::shapes && added < f.size_count && shape.sizes[added] != 0)
            hash_combine(shape.sizes[added]);
        return h % 5 == 0;
    }
};

/// A prompt and sequences with one new token that one call takes together.
struct mixed_call {
    operator_shape prompt, decodes;
    double seconds = 0;
};

/// One kernel's rows of a table.
struct table {
    const operator_type* family = nullptr;
    std::string system, software, version, kernel, operand, variant;
    std::string source, licence;   ///< of what was measured
    bool replaces_engines = true;  ///< may replace unmeasured kernels of engines
    std::vector<measurement> rows{};
    std::vector<mixed_call> mixed{};  ///< of prompts of this kernel
    double min_launch = 1e-7;         ///< seconds
    double past_bandwidth_efficiency =
        0;  ///< of prompts: that of the decode kernel of the same software, when it reads a cache

    [[nodiscard]] std::string label() const { return variant.empty() ? operand : operand + ' ' + variant; }
    /// Experts without a gate have two matrices of three.
    [[nodiscard]] double work_share() const { return kernel.ends_with("_nongated") ? 2.0 / 3 : 1; }
};

inline std::vector<std::string> split(const std::string& text, std::string_view separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + separator.size())
        parts.push_back(text.substr(begin, end - begin));
    parts.push_back(text.substr(begin));
    return parts;
}

/// Whether two kernels are one for their callers. An engine takes one for some shapes of a layer and the other for the
/// rest, so that they meet at sites but never at a shape.
inline bool divide_shapes(const table& a, const table& b) {
    if (a.operand != b.operand || a.variant != b.variant || a.work_share() != b.work_share()) return false;
    const std::size_t axes = a.family->num_axes, all = axes + a.family->num_layer_shape_sizes;
    const auto sizes = [&](const measurement& m, std::size_t first) {
        return std::vector<std::int64_t>(m.shape.sizes + first, m.shape.sizes + all);
    };
    std::set<std::vector<std::int64_t>> shapes, sites;
    for (const measurement& m : a.rows) {
        shapes.insert(sizes(m, 0));
        sites.insert(sizes(m, axes));
    }
    bool has_overlap = false;
    for (const measurement& m : b.rows) {
        if (shapes.count(sizes(m, 0)) != 0) return false;
        has_overlap = has_overlap || sites.count(sizes(m, axes)) != 0;
    }
    return has_overlap;
}

/// The kernels of a table, one for each kernel_source and words; those that divide shapes among them together.
inline std::vector<table> read_tables(const std::filesystem::path& path, const std::string& source,
                                      const std::string& licence) {
    const std::vector<std::string> name = split(path.filename().string(), "__");
    const operator_type* family = name.size() == 5 ? find_operator_type(split(name[4], "_perf.")[0]) : nullptr;
    if (family == nullptr)
        throw std::runtime_error(path.string() + ": expected SYSTEM__GROUP__SOFTWARE__VERSION__TYPE_perf.csv");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path.string() + ": cannot be opened");
    std::map<std::vector<std::string>, table> found;
    std::map<std::string, std::size_t, std::less<>> column;
    std::string text;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
        if (!text.empty() && text.back() == '\r') text.pop_back();
        const std::vector<std::string> fields = split(text, ",");
        const std::string location = path.string() + ":" + std::to_string(line);
        if (line == 1) {
            for (std::size_t i = 0; i < fields.size(); ++i) column[fields[i]] = i;
            continue;
        }
        const auto field = [&](std::string_view column_name) -> const std::string& {
            const auto entry = column.find(column_name);
            if (entry == column.end() || entry->second >= fields.size())
                throw std::runtime_error(location + ": no column " + std::string(column_name));
            return fields[entry->second];
        };
        const auto number = [&](std::string_view column_name, auto& out) {
            const std::string& digits = field(column_name);
            const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
            if (problem != std::errc{} || end != digits.data() + digits.size() || !(out >= 0))
                throw std::runtime_error(location + ": expected a number for " + std::string(column_name) +
                                         ", found '" + digits + "'");
        };
        const std::string operand = field(family->operand_column);
        const std::string variant = family->variant_column.empty() ? "" : field(family->variant_column);
        table& t = found[{field("kernel_source"), operand, variant}];
        if (t.rows.empty())
            t = {family, name[0], name[2], name[3], field("kernel_source"), operand, variant, source, licence};
        measurement r;
        r.shape.type = family;
        for (std::size_t i = 0; i < family->size_count; ++i) {
            const operator_size& size = family->sizes[i];
            r.shape.sizes[i] = size.default_value;
            if (size.required || column.count(size.name) != 0) number(size.name, r.shape.sizes[i]);
        }
        double microseconds = 0;
        number("latency_us", microseconds);
        if (microseconds == 0) throw std::runtime_error(location + ": took no time");
        r.seconds = microseconds * 1e-6 * static_cast<double>(r.shape.num_launches());
        t.rows.push_back(r);
    }
    std::vector<table> all;
    for (auto& [key, t] : found) {
        const operand_type* operand = find_operand_type(t.operand);
        if (operand == nullptr) throw std::runtime_error(path.string() + ": no operand " + t.operand);
        for (measurement& r : t.rows) {
            r.shape.operand = operand;
            r.shape.variant = {};
        }
        const auto match =
            std::find_if(all.begin(), all.end(), [&mine = t](const table& a) { return divide_shapes(a, mine); });
        if (match == all.end()) {
            all.push_back(std::move(t));
        } else {
            match->kernel += '+' + t.kernel;
            match->rows.insert(match->rows.end(), t.rows.begin(), t.rows.end());
        }
    }
    return all;
}

}  // namespace llmcost::bench
