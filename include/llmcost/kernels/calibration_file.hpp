// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <llmcost/json.hpp>
#include <llmcost/latency/calibration.hpp>

namespace llmcost {

/// The kernels of a calibration file and the memory that they refer to. Moving it preserves references.
class calibration_document {
public:
    /// Parses a calibration (docs/latency.md). Throws: `config_error` with a JSON pointer.
    explicit calibration_document(const config_document& file) : characters_(file.characters()) {
        file.read_with([this](config_view root) {
            check_keys(root, {"device", "source", "licence", "kernels"});
            device_ = root.string("device");
            if (root.string("source").empty()) throw_invalid_value(root, "source", "the source of the measurements");
            for (const config_view kernel : root.array("kernels")) parse_kernel(kernel.as_object());
            return 0;
        });
    }
    calibration_document(calibration_document&&) noexcept = default;
    calibration_document& operator=(calibration_document&&) noexcept = default;

    /// The measured device.
    [[nodiscard]] string_ref device_name() const noexcept { return device_; }
    [[nodiscard]] const std::vector<kernel_calibration>& kernels() const noexcept { return kernels_; }

private:
    /// Bounds measurements, so that times are finite.
    static double positive(config_view object, literal key, double minimum = 1e-6) {
        const double n = object.real(key);
        if (!(n >= minimum && n <= 1e6))
            throw_invalid_value(object, key, "a positive number, neither tiny nor beyond a million");
        return n;
    }
    /// log2 of a ratio.
    static double octaves(config_view object, literal key, double minimum, double maximum) {
        const double n = object.real(key);
        if (!(n >= minimum && n <= maximum))
            throw_invalid_value(object, key, minimum < 0 ? "from -64 to 0" : "from 0 to 64");
        return n;
    }
    /// Ascending non-negative integers.
    const std::vector<std::int64_t>& rising_numbers(config_view list) {
        std::vector<std::int64_t>& all = numbers_.emplace_back();
        for (const config_view n : list) {
            all.push_back(n.as_non_negative());
            if (all.size() > 1 && all[all.size() - 2] >= all.back())
                throw_invalid_value(n, "a number above the previous one");
        }
        if (all.empty()) throw_invalid_value(list, "numbers");
        return all;
    }
    /// Parses integers in a string, which is much faster than a JSON array.
    ///
    /// With `group_size`, a comma follows each group except the last.
    const std::vector<std::int64_t>& numbers_in(config_view json, literal key, std::size_t group_size,
                                                std::int64_t minimum, std::int64_t maximum) {
        std::vector<std::int64_t>& all = numbers_.emplace_back();
        const string_ref text = json.string(key);
        const char *at = text.data(), *const end = at + text.size();
        for (;;) {
            const std::string_view rest(at, end);
            const auto [number_end, problem] = std::from_chars(at, end, all.emplace_back());
            const bool is_written_once = !rest.starts_with("-0") && !(rest.starts_with('0') && number_end > at + 1);
            if (problem != std::errc{} || !is_written_once || all.back() < minimum || all.back() > maximum)
                fail_numbers(
                    json, key,
                    "integers from " + std::to_string(minimum) + " to " + std::to_string(maximum) + "; invalid:",
                    all.size());
            const bool may_end = group_size == 0 || all.size() % group_size == 0;
            if (number_end == end && may_end) return all;
            const std::string_view separator = group_size != 0 && may_end ? ", " : " ";
            if (!std::string_view(number_end, end).starts_with(separator) || number_end + separator.size() == end)
                fail_numbers(json, key,
                             may_end ? (group_size == 0 ? "the end, or a space and another integer, after"
                                                        : "the end, or a comma and the next site, after")
                                     : "a space and another integer after",
                             all.size());
            at = number_end + separator.size();
        }
    }
    [[noreturn]] static void fail_numbers(config_view json, literal key, const std::string& expected, std::size_t n) {
        throw_invalid_value(json, key, (expected + " number " + std::to_string(n)).c_str());
    }
    /// One number per layer shape.
    const std::vector<std::int64_t>& of_sites(config_view json, literal key, std::size_t count, std::int64_t minimum) {
        constexpr std::int64_t maximum = 4096;  // steps
        const std::vector<std::int64_t>& all = numbers_in(json, key, 0, minimum, maximum);
        if (all.size() != count)
            throw_invalid_value(json, key, ("a number for each of " + std::to_string(count) + " sites").c_str());
        return all;
    }
    /// Throws: `config_error` for an unknown key, so that a misspelled key does not count as missing.
    static void check_keys(config_view object, std::initializer_list<literal> keys) {
        for (const config_view member : object) {
            const auto is_member_key = [&](literal key) { return member.key() == key; };
            if (std::any_of(keys.begin(), keys.end(), is_member_key)) continue;
            std::string expected;
            for (const literal key : keys)
                expected += (expected.empty() ? "expected one of " : ", ") + std::string(key);
            throw_unsupported(member, expected.c_str());
        }
    }
    template <class Row, std::size_t count>
    static std::string require_one_of(const Row (&table)[count]) {
        std::string names;
        for (const Row& row : table) names += (names.empty() ? "one of " : ", ") + std::string(row.name);
        return names;
    }
    void parse_kernel(config_view json) {
        check_keys(json,
                   {"family", "software", "version", "kernel", "operand", "variant", "work_share", "takes_decodes",
                    "past_bandwidth_efficiency", "roofline", "held_out", "held_out_sites", "residual"});
        kernel_calibration c;
        c.device = device_;
        c.family = json.string("family");
        c.software = json.string("software");
        c.version = json.string("version", "");
        c.kernel = json.string("kernel", "");
        c.operand = json.string("operand");
        c.variant = json.string("variant", "");
        c.work_fraction = json.real("work_share", 1);
        c.mixed_decode_mode = parse_mixed_decode_mode(json, c.family);
        if (json.contains("past_bandwidth_efficiency"))
            c.past_bandwidth_efficiency = positive(json, "past_bandwidth_efficiency");
        const operator_type* family = find_operator_type(c.family);
        if (family == nullptr) throw_invalid_value(json, "family", require_one_of(operator_families).c_str());
        if (find_operand_type(c.operand) == nullptr)
            throw_invalid_value(json, "operand", require_one_of(operand_types).c_str());
        if (!(c.work_fraction > 0 && c.work_fraction <= 1))
            throw_invalid_value(json, "work_share", "a fraction above 0 and up to 1");
        const config_view base = json.object("roofline");
        check_keys(base, {"launch_us", "compute_efficiency", "bandwidth_efficiency", "smoothness"});
        c.roofline_model = {1e-6 * positive(base, "launch_us"), positive(base, "compute_efficiency"),
                            positive(base, "bandwidth_efficiency"), positive(base, "smoothness", 0.1)};
        c.error = read_error(json.object("held_out"));
        if (const auto elsewhere = json.optional_object("held_out_sites"))
            c.unseen_shape_error = read_error(*elsewhere);
        if (const auto residual = json.optional_object("residual")) c.correction = parse_correction(*residual, *family);
        kernels_.push_back(c);
    }
    static mixed_decode_kind parse_mixed_decode_mode(config_view json, string_ref family) {
        const string_ref mode = json.string("takes_decodes", "no");
        if (mode == "no") return mixed_decode_kind::separate_kernel;
        if (family != "context_attention")
            throw_invalid_value(json, "takes_decodes", "no, except for context_attention");
        if (mode == "in_launch") return mixed_decode_kind::same_launch;
        if (mode == "in_tiles") return mixed_decode_kind::as_prefill_tiles;
        throw_invalid_value(json, "takes_decodes", "one of no, in_launch, in_tiles");
    }
    static cross_validation_error read_error(config_view json) {
        check_keys(json, {"rows", "median", "low", "high"});
        return {json.non_negative("rows"), json.real("median"), octaves(json, "low", -64, 0),
                octaves(json, "high", 0, 64)};
    }
    correction_table parse_correction(config_view json, const operator_type& family) {
        check_keys(json, {"step", "axes", "sites", "centres", "units", "sites_per_page", "pages"});
        correction_table r;
        r.step = positive(json, "step");
        r.columns = family.num_layer_shape_sizes;
        const config_view axes = json.array("axes");
        if (axes.size() != family.num_axes)
            throw_invalid_value(axes, "a list of numbers for each axis of the operator type");
        std::size_t cells = 1;
        for (std::size_t i = 0; i < family.num_axes; ++i) {
            const std::vector<std::int64_t>& axis = rising_numbers(axes[i].as_array());
            r.axis[i] = axis.data();
            r.length[i] = axis.size();
            cells *= axis.size();
        }
        const std::vector<std::int64_t>& sites = numbers_in(json, "sites", r.columns, 0, INT32_MAX);
        r.sites = sites.data();
        r.num_layer_shapes = sites.size() / r.columns;
        for (std::size_t i = 1; i < r.num_layer_shapes; ++i) {
            const std::int64_t* const at = r.sites + r.columns * i;
            if (!std::lexicographical_compare(at - r.columns, at, at, at + r.columns))
                throw_invalid_value(json, "sites", "sites in ascending order");
        }
        std::vector<double>& octaves = octaves_.emplace_back();
        for (const std::int64_t n : sites) octaves.push_back(std::log2(static_cast<double>(n < 1 ? 1 : n)));
        r.octaves_of_sites = octaves.data();
        const std::vector<std::int64_t>& centres = of_sites(json, "centres", r.num_layer_shapes, -4096);
        const std::vector<std::int64_t>& units = of_sites(json, "units", r.num_layer_shapes, 1);
        r.centres = centres.data();
        r.units = units.data();
        for (std::size_t i = 0; i < r.num_layer_shapes; ++i) {
            const double steps = static_cast<double>((centres[i] < 0 ? -centres[i] : centres[i]) +
                                                     correction_code::max_units * units[i]);
            if (steps * r.step > 64) throw_invalid_value(json, "step", "deviations up to 64 octaves");
        }
        r.sites_per_page = static_cast<std::size_t>(json.positive("sites_per_page"));
        std::vector<string_ref>& pages = pages_.emplace_back();
        std::size_t left = r.num_layer_shapes;
        for (const config_view page : json.array("pages")) {
            const string_ref text = page.as_string();
            const std::size_t num_on_page = left < r.sites_per_page ? left : r.sites_per_page;
            if (num_on_page == 0 || text.size() != num_on_page * cells)
                throw_invalid_value(page, "one character per site and point of the axes");
            for (const char c : text)
                if (!correction_code::is_one(c))
                    throw_invalid_value(page, "characters from # to ~ without vowels and the backslash");
            pages.push_back(text);
            left -= num_on_page;
        }
        if (left != 0) throw_invalid_value(json, "pages", "a page for every site");
        r.pages = pages.data();
        return r;
    }

    std::vector<std::shared_ptr<const char[]>> characters_;
    string_ref device_{};
    std::vector<kernel_calibration> kernels_;
    std::deque<std::vector<std::int64_t>>
        numbers_;  // referenced by the correction tables; a deque does not move its elements
    std::deque<std::vector<double>> octaves_;
    std::deque<std::vector<string_ref>> pages_;
};

}  // namespace llmcost
