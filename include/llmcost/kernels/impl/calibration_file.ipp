// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/kernels/calibration_file.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/json.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost {

LLMCOST_INLINE calibration_document::calibration_document(const config_document& file)
    : characters_(file.characters()) {
    file.read_with([this](config_view root) {
        check_keys(root, {"device", "source", "licence", "replaces_engines", "kernels"});
        device_ = root.string("device");
        if (root.string("source").empty()) throw_invalid_value(root, "source", "the source of the measurements");
        for (const config_view kernel : root.array("kernels")) parse_kernel(kernel.as_object());
        const bool replaces_engines = root.boolean("replaces_engines", true);
        for (kernel_calibration& kernel : kernels_) kernel.replaces_engines = replaces_engines;
        return 0;
    });
}

LLMCOST_INLINE double calibration_document::positive(config_view object, literal key, double minimum) {
    const double n = object.real(key);
    if (!(n >= minimum && n <= 1e6))
        throw_invalid_value(object, key, "a positive number, neither tiny nor beyond a million");
    return n;
}

LLMCOST_INLINE double calibration_document::octaves(config_view object, literal key, double minimum, double maximum) {
    const double n = object.real(key);
    if (!(n >= minimum && n <= maximum))
        throw_invalid_value(object, key, minimum < 0 ? "from -64 to 0" : "from 0 to 64");
    return n;
}

LLMCOST_INLINE const std::vector<std::int64_t>& calibration_document::rising_numbers(config_view list) {
    std::vector<std::int64_t>& all = numbers_.emplace_back();
    for (const config_view n : list) {
        all.push_back(n.as_non_negative());
        if (all.size() > 1 && all[all.size() - 2] >= all.back())
            throw_invalid_value(n, "a number above the previous one");
    }
    if (all.empty()) throw_invalid_value(list, "numbers");
    return all;
}

LLMCOST_INLINE const std::vector<std::int64_t>& calibration_document::numbers_in(config_view json, literal key,
                                                                                 std::size_t group_size,
                                                                                 std::int64_t minimum,
                                                                                 std::int64_t maximum) {
    std::vector<std::int64_t>& all = numbers_.emplace_back();
    const string_ref text = json.string(key);
    const char *position = text.data(), *const end = position + text.size();
    for (;;) {
        const std::string_view rest(position, static_cast<std::size_t>(end - position));
        const auto [number_end, problem] = std::from_chars(position, end, all.emplace_back());
        const bool is_written_once = !rest.starts_with("-0") && !(rest.starts_with('0') && number_end > position + 1);
        if (problem != std::errc{} || !is_written_once || all.back() < minimum || all.back() > maximum)
            fail_numbers(json, key,
                         "integers from " + std::to_string(minimum) + " to " + std::to_string(maximum) + "; invalid:",
                         all.size());
        const bool may_end = group_size == 0 || all.size() % group_size == 0;
        if (number_end == end && may_end) return all;
        const std::string_view separator = group_size != 0 && may_end ? ", " : " ";
        const std::string_view following = rest.substr(static_cast<std::size_t>(number_end - position));
        if (!following.starts_with(separator) || following.size() == separator.size())
            fail_numbers(json, key,
                         may_end ? (group_size == 0 ? "the end, or a space and another integer, after"
                                                    : "the end, or a comma and the next site, after")
                                 : "a space and another integer after",
                         all.size());
        position = number_end + separator.size();
    }
}

LLMCOST_INLINE const std::vector<std::int64_t>& calibration_document::parse_layer_shape_list(config_view json,
                                                                                             literal key,
                                                                                             std::size_t count,
                                                                                             std::int64_t minimum) {
    constexpr std::int64_t maximum = 4096;  // steps
    const std::vector<std::int64_t>& all = numbers_in(json, key, 0, minimum, maximum);
    if (all.size() != count)
        throw_invalid_value(json, key, ("a number for each of " + std::to_string(count) + " sites").c_str());
    return all;
}

LLMCOST_INLINE void calibration_document::check_keys(config_view object, std::initializer_list<literal> keys) {
    for (const config_view member : object) {
        const auto is_member_key = [&](literal key) { return member.key() == key; };
        if (std::any_of(keys.begin(), keys.end(), is_member_key)) continue;
        std::string expected;
        for (const literal key : keys) expected += (expected.empty() ? "expected one of " : ", ") + std::string(key);
        throw_unsupported(member, expected.c_str());
    }
}

LLMCOST_INLINE void calibration_document::parse_kernel(config_view json) {
    check_keys(json, {"family", "software", "version", "kernel", "operand", "variant", "work_share", "takes_decodes",
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
    if (const auto elsewhere = json.optional_object("held_out_sites")) c.unseen_shape_error = read_error(*elsewhere);
    if (const auto residual = json.optional_object("residual")) c.correction = parse_correction(*residual, *family);
    kernels_.push_back(c);
}

LLMCOST_INLINE mixed_decode_kind calibration_document::parse_mixed_decode_mode(config_view json, string_ref family) {
    const string_ref mode = json.string("takes_decodes", "no");
    if (mode == "no") return mixed_decode_kind::separate_kernel;
    if (family != "context_attention") throw_invalid_value(json, "takes_decodes", "no, except for context_attention");
    if (mode == "in_launch") return mixed_decode_kind::same_launch;
    if (mode == "in_tiles") return mixed_decode_kind::as_prefill_tiles;
    throw_invalid_value(json, "takes_decodes", "one of no, in_launch, in_tiles");
}

LLMCOST_INLINE cross_validation_error calibration_document::read_error(config_view json) {
    check_keys(json, {"rows", "median", "low", "high"});
    const auto rows = json.non_negative("rows");
    const double median = json.real("median");
    if (median < 0) throw_invalid_value(json, "median", "a number that is not negative");
    return {rows, median, octaves(json, "low", -64, 0), octaves(json, "high", 0, 64)};
}

LLMCOST_INLINE correction_table calibration_document::parse_correction(config_view json, const operator_type& family) {
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
        const std::int64_t* const layer_shape = r.sites + r.columns * i;
        if (!std::lexicographical_compare(layer_shape - r.columns, layer_shape, layer_shape, layer_shape + r.columns))
            throw_invalid_value(json, "sites", "sites in ascending order");
    }
    std::vector<double>& octaves = octaves_.emplace_back();
    for (const std::int64_t n : sites) octaves.push_back(std::log2(static_cast<double>(n < 1 ? 1 : n)));
    r.octaves_of_sites = octaves.data();
    const std::vector<std::int64_t>& centres = parse_layer_shape_list(json, "centres", r.num_layer_shapes, -4096);
    const std::vector<std::int64_t>& units = parse_layer_shape_list(json, "units", r.num_layer_shapes, 1);
    r.centres = centres.data();
    r.units = units.data();
    for (std::size_t i = 0; i < r.num_layer_shapes; ++i) {
        const double steps =
            static_cast<double>((centres[i] < 0 ? -centres[i] : centres[i]) + correction_code::max_units * units[i]);
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

}  // namespace llmcost
