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

/// The kernels of one calibration, with the memory that they look at; moving it keeps them valid.
class calibration_document {
public:
    /// Reads a calibration (docs/latency.md). Throws `config_error` with the JSON pointer where it is none.
    explicit calibration_document(const config_document& file) : characters_(file.characters()) {
        file.read_with([this](config_view root) {
            check_keys(root, {"device", "source", "licence", "kernels"});
            device_ = root.string("device");
            if (root.string("source").empty()) fail_value(root, "source", "who measured");
            for (const config_view kernel : root.array("kernels")) read_kernel(kernel.as_object());
            return 0;
        });
    }
    calibration_document(calibration_document&&) noexcept = default;
    calibration_document& operator=(calibration_document&&) noexcept = default;

    /// The device that was measured.
    [[nodiscard]] string_ref device_name() const noexcept { return device_; }
    [[nodiscard]] const std::vector<kernel_calibration>& kernels() const noexcept { return kernels_; }

private:
    /// What is larger is no measurement, and times must stay finite.
    static double positive(config_view object, literal key, double least = 1e-6) {
        const double n = object.real(key);
        if (!(n >= least && n <= 1e6)) fail_value(object, key, "a positive number, neither tiny nor beyond a million");
        return n;
    }
    /// log2 of a ratio.
    static double octaves(config_view object, literal key, double least, double most) {
        const double n = object.real(key);
        if (!(n >= least && n <= most)) fail_value(object, key, least < 0 ? "from -64 to 0" : "from 0 to 64");
        return n;
    }
    /// Whole numbers from 0, rising.
    const std::vector<std::int64_t>& rising_numbers(config_view list) {
        std::vector<std::int64_t>& all = numbers_.emplace_back();
        for (const config_view n : list) {
            all.push_back(n.as_non_negative());
            if (all.size() > 1 && all[all.size() - 2] >= all.back()) fail_value(n, "more than the number before it");
        }
        if (all.empty()) fail_value(list, "numbers");
        return all;
    }
    /// Whole numbers in a text, thousands of which are read in no time; of `together` a comma behind so many but the last.
    const std::vector<std::int64_t>& numbers_in(config_view from, literal key, std::size_t together, std::int64_t least,
                                                std::int64_t most) {
        std::vector<std::int64_t>& all = numbers_.emplace_back();
        const string_ref text = from.string(key);
        const char *at = text.data(), *const end = at + text.size();
        for (;;) {
            const std::string_view rest(at, end);
            const auto [behind, problem] = std::from_chars(at, end, all.emplace_back());
            const bool is_written_once = !rest.starts_with("-0") && !(rest.starts_with('0') && behind > at + 1);
            if (problem != std::errc{} || !is_written_once || all.back() < least || all.back() > most)
                fail_numbers(
                    from, key,
                    "whole numbers from " + std::to_string(least) + " to " + std::to_string(most) + "; none such is",
                    all.size());
            const bool may_end = together == 0 || all.size() % together == 0;
            if (behind == end && may_end) return all;
            const std::string_view between = together != 0 && may_end ? ", " : " ";
            if (!std::string_view(behind, end).starts_with(between) || behind + between.size() == end)
                fail_numbers(from, key,
                             may_end ? (together == 0 ? "nothing, or a blank and another, behind"
                                                      : "nothing, or a comma and the next site, behind")
                                     : "a blank and another behind",
                             all.size());
            at = behind + between.size();
        }
    }
    [[noreturn]] static void fail_numbers(config_view from, literal key, const std::string& expected, std::size_t n) {
        fail_value(from, key, (expected + " number " + std::to_string(n)).c_str());
    }
    /// A number for each site.
    const std::vector<std::int64_t>& of_sites(config_view from, literal key, std::size_t count, std::int64_t least) {
        constexpr std::int64_t most = 4096;  // steps
        const std::vector<std::int64_t>& all = numbers_in(from, key, 0, least, most);
        if (all.size() != count) fail_value(from, key, ("a number for each of " + std::to_string(count) + " sites").c_str());
        return all;
    }
    /// Throws for a key that is none of these: one that is misspelt must not count as one that is missing.
    static void check_keys(config_view object, std::initializer_list<literal> keys) {
        for (const config_view member : object) {
            const auto same = [&](literal key) { return member.key() == key; };
            if (std::any_of(keys.begin(), keys.end(), same)) continue;
            std::string expected;
            for (const literal key : keys) expected += (expected.empty() ? "expected one of " : ", ") + std::string(key);
            fail_unsupported(member, expected.c_str());
        }
    }
    template <class Row, std::size_t count>
    static std::string one_of(const Row (&table)[count]) {
        std::string names;
        for (const Row& row : table) names += (names.empty() ? "one of " : ", ") + std::string(row.name);
        return names;
    }
    void read_kernel(config_view from) {
        check_keys(from, {"family", "software", "version", "kernel", "operand", "variant", "work_share", "takes_decodes",
                          "past_bandwidth_efficiency", "roofline", "held_out", "held_out_sites", "residual"});
        kernel_calibration c;
        c.device = device_;
        c.family = from.string("family");
        c.software = from.string("software");
        c.version = from.string("version", "");
        c.kernel = from.string("kernel", "");
        c.operand = from.string("operand");
        c.variant = from.string("variant", "");
        c.work_share = from.real("work_share", 1);
        c.takes_decodes = read_taken(from, c.family);
        if (from.contains("past_bandwidth_efficiency"))
            c.past_bandwidth_efficiency = positive(from, "past_bandwidth_efficiency");
        const operator_family* family = find_family(c.family);
        if (family == nullptr) fail_value(from, "family", one_of(operator_families).c_str());
        if (find_operand(c.operand) == nullptr) fail_value(from, "operand", one_of(operand_table).c_str());
        if (!(c.work_share > 0 && c.work_share <= 1)) fail_value(from, "work_share", "a share above 0 and up to 1");
        const config_view base = from.object("roofline");
        check_keys(base, {"launch_us", "compute_efficiency", "bandwidth_efficiency", "smoothness"});
        c.base = {1e-6 * positive(base, "launch_us"), positive(base, "compute_efficiency"),
                  positive(base, "bandwidth_efficiency"), positive(base, "smoothness", 0.1)};
        c.error = read_error(from.object("held_out"));
        if (const auto elsewhere = from.optional_object("held_out_sites")) c.error_elsewhere = read_error(*elsewhere);
        if (const auto residual = from.optional_object("residual")) c.residual = read_residual(*residual, *family);
        kernels_.push_back(c);
    }
    static taken_decodes read_taken(config_view from, string_ref family) {
        const string_ref word = from.string("takes_decodes", "no");
        if (word == "no") return taken_decodes::no;
        if (family != "context_attention") fail_value(from, "takes_decodes", "no, which context_attention alone can do");
        if (word == "in_launch") return taken_decodes::in_launch;
        if (word == "in_tiles") return taken_decodes::in_tiles;
        fail_value(from, "takes_decodes", "one of no, in_launch, in_tiles");
    }
    static held_out_error read_error(config_view from) {
        check_keys(from, {"rows", "median", "low", "high"});
        return {from.non_negative("rows"), from.real("median"), octaves(from, "low", -64, 0), octaves(from, "high", 0, 64)};
    }
    residual_table read_residual(config_view from, const operator_family& family) {
        check_keys(from, {"step", "axes", "sites", "centres", "units", "sites_per_page", "pages"});
        residual_table r;
        r.step = positive(from, "step");
        r.columns = family.sites;
        const config_view axes = from.array("axes");
        if (axes.size() != family.axes) fail_value(axes, "a list of numbers for each axis of the family");
        std::size_t cells = 1;
        for (std::size_t i = 0; i < family.axes; ++i) {
            const std::vector<std::int64_t>& axis = rising_numbers(axes[i].as_array());
            r.axis[i] = axis.data(), r.length[i] = axis.size();
            cells *= axis.size();
        }
        const std::vector<std::int64_t>& sites = numbers_in(from, "sites", r.columns, 0, INT32_MAX);
        r.sites = sites.data(), r.site_count = sites.size() / r.columns;
        for (std::size_t i = 1; i < r.site_count; ++i) {
            const std::int64_t* const at = r.sites + r.columns * i;
            if (!std::lexicographical_compare(at - r.columns, at, at, at + r.columns))
                fail_value(from, "sites", "sites in rising order");
        }
        std::vector<double>& octaves = octaves_.emplace_back();
        for (const std::int64_t n : sites) octaves.push_back(std::log2(static_cast<double>(n < 1 ? 1 : n)));
        r.octaves_of_sites = octaves.data();
        const std::vector<std::int64_t>& centres = of_sites(from, "centres", r.site_count, -4096);
        const std::vector<std::int64_t>& units = of_sites(from, "units", r.site_count, 1);
        r.centres = centres.data(), r.units = units.data();
        for (std::size_t i = 0; i < r.site_count; ++i) {
            const double steps =
                static_cast<double>((centres[i] < 0 ? -centres[i] : centres[i]) + residual_character::most * units[i]);
            if (steps * r.step > 64) fail_value(from, "step", "deviations up to 64 octaves");
        }
        r.sites_per_page = static_cast<std::size_t>(from.positive("sites_per_page"));
        std::vector<string_ref>& pages = pages_.emplace_back();
        std::size_t left = r.site_count;
        for (const config_view page : from.array("pages")) {
            const string_ref text = page.as_string();
            const std::size_t here = left < r.sites_per_page ? left : r.sites_per_page;
            if (here == 0 || text.size() != here * cells) fail_value(page, "a character per site and place on the axes");
            for (const char c : text)
                if (!residual_character::is_one(c))
                    fail_value(page, "characters from # to ~ without vowels and the backslash");
            pages.push_back(text);
            left -= here;
        }
        if (left != 0) fail_value(from, "pages", "a page for every site");
        r.pages = pages.data();
        return r;
    }

    std::vector<std::shared_ptr<const char[]>> characters_;
    string_ref device_{};
    std::vector<kernel_calibration> kernels_;
    std::deque<std::vector<std::int64_t>> numbers_;  // what the residuals look at: growing moves none of it
    std::deque<std::vector<double>> octaves_;
    std::deque<std::vector<string_ref>> pages_;
};

}  // namespace llmcost
