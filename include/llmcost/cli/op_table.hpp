// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/csv_input.hpp>
#include <llmcost/cli/word_check.hpp>
#include <llmcost/kernels/shelf.hpp>
#include <llmcost/serving/curve.hpp>

// Many operators at once: rows of a CSV file in, the same rows with predictions out.
namespace llmcost::cli {

/// The least value of a size: what a window or what lies in front may be is nothing.
inline std::int64_t least_of(const operator_size& size) noexcept {
    return size.required || size.otherwise > 0 ? size.least : 0;
}

/// Refuses sizes that do not go together; `where(name)` is the place of the one at fault.
template <class Where>
void check_sizes(const operator_shape& shape, Where where) {
    for (std::size_t i = 0; i < shape.family->size_count; ++i) {
        const operator_size& size = shape.family->sizes[i];
        const std::int64_t n = shape.sizes[i];
        const auto refuse_beside = [&](const char* is, string_ref other) {
            refuse(where(std::string(size.name)),
                   std::to_string(n) + is + std::string(other) + ", which is " + std::to_string(shape.size(other)));
        };
        if (!size.at_most.empty() && n > shape.size(size.at_most)) refuse_beside(" is more than ", size.at_most);
        if (!size.divides.empty() && shape.size(size.divides) % n != 0) refuse_beside(" does not divide ", size.divides);
    }
}

/// Prices the operators of a CSV file: its header names the family's sizes and words and, where rows choose them, `system`,
/// `backend`, `version` and `kernel_source`, in any order among others.
///
/// Gives every line as it came with four columns more (`answer_rows`). Throws `usage` for a header that lacks a column.
class op_table {
public:
    op_table(kernel_shelf& shelf, kernel_choice otherwise, word_check& words)
        : shelf_(shelf), words_(words), otherwise_(std::move(otherwise)) {}

    [[nodiscard]] answered priced(std::istream& in, std::ostream& notes) {
        csv_input rows;
        rows.begin(in);
        read_header(rows.fields());
        return answer_rows(rows, in, "predicted_us,lower_us,upper_us", notes,
                           [&](std::string& out) { put(out, estimate_of(rows)); });
    }

private:
    /// What was found for a choice; its curve is worked out for its second row.
    struct chosen_site {
        chosen_kernel found{};
        residual_table::place_of_site where{};
        measured_curve curve{};
    };
    /// Whether rows of one site may differ in more than the axes and what is added to them.
    static bool has_given_sizes(const operator_family& family) {
        const auto is_given = [](const operator_size& size) { return size.role == size_role::given; };
        return std::any_of(family.sizes, family.sizes + family.size_count, is_given);
    }
    enum word : std::size_t { operand, variant, system, backend, version, kernel, word_count };

    [[nodiscard]] std::string_view name_of(std::size_t column) const {
        static constexpr std::string_view plain[]{"system", "backend", "version", "kernel_source"};
        const operator_family& family = shelf_.family();
        if (column == operand) return family.operand_column;
        if (column == variant) return family.variant_column;
        return column < word_count ? plain[column - system] : std::string_view(family.sizes[column - word_count].name);
    }
    static constexpr std::size_t absent = SIZE_MAX;

    void read_header(const std::vector<std::string>& fields) {
        const operator_family& family = shelf_.family();
        places_.assign(word_count + family.size_count, absent);
        for (std::size_t i = 0; i < fields.size(); ++i)
            for (std::size_t c = 0; c < places_.size(); ++c)
                if (!fields[i].empty() && fields[i] == name_of(c)) {
                    if (places_[c] != absent) refuse("line 1", "the column " + in_quotes(name_of(c)) + " stands twice");
                    places_[c] = i;
                }
        for (std::size_t i = 0; i < family.size_count; ++i)
            if (family.sizes[i].required && places_[word_count + i] == absent)
                refuse("line 1", "expected a column " + in_quotes(name_of(word_count + i)));
        if (places_[system] == absent && otherwise_.device.empty())
            refuse("line 1", "expected a column 'system', or --device");
        if (places_[operand] == absent && otherwise_.operand.empty())
            refuse("line 1", "expected a column " + in_quotes(name_of(operand)) + ", or --dtype");
    }
    latency_estimate estimate_of(const csv_input& row) {
        const auto field = [&](std::size_t c) -> const std::string& { return row.fields()[places_[c]]; };
        const auto word_of = [&](std::size_t c, const std::string& otherwise) -> const std::string& {
            return places_[c] == absent || field(c).empty() ? otherwise : field(c);
        };
        const std::string& software = word_of(backend, otherwise_.software);
        const bool named = words_.software(row.where(), software);
        const auto said_by = [&](std::size_t c, std::string_view option) {
            return places_[c] == absent || field(c).empty() ? option : name_of(c);
        };
        const auto needed = [&](std::size_t c, const std::string& otherwise, const char* expected) -> const std::string& {
            const std::string& said = word_of(c, otherwise);
            if (said.empty()) refuse(name_of(c), "expected " + std::string(expected) + " for rows without one; found ''");
            return said;
        };
        asked_ = {needed(system, otherwise_.device, "a device, or --device"),
                  named ? software : otherwise_.software,
                  word_of(version, otherwise_.version),
                  word_of(kernel, otherwise_.kernel),
                  needed(operand, otherwise_.operand, "a type, or --dtype"),
                  word_of(variant, otherwise_.variant),
                  {}};
        const operator_family& family = shelf_.family();
        operator_shape shape;
        shape.family = &family;
        for (std::size_t i = 0; i < family.size_count; ++i) {
            const operator_size& size = family.sizes[i];
            const bool open = places_[word_count + i] == absent || (!size.required && field(word_count + i).empty());
            shape.sizes[i] = open ? size.otherwise : read_size(size, field(word_count + i));
        }
        check_sizes(shape, [](const std::string& name) { return name; });
        std::copy_n(shape.site(), family.sites, asked_.site.begin());
        auto known = chosen_.find(asked_);
        const bool fresh = known == chosen_.end();
        if (fresh) {
            const bool by_row = said_by(system, {}) == "system";
            words_.row(row.where(), asked_,
                       by_row ? shelf_.device_of(asked_.device, "system", device_word::name)
                              : shelf_.device_of(asked_.device, "--device"));
            const chosen_kernel found = shelf_.choose_near(asked_, said_by(operand, "--dtype"));
            words_.found(row.where() + ": ", asked_, found, named ? said_by(backend, "--kernels") : "--kernels");
            if (found.kernel != nullptr && !asked_.kernel.empty() && !(found.kernel->kernel == asked_.kernel))
                words_.kernel(row.where(), asked_.kernel, shelf_.kernels_beside(asked_, found));
            known = chosen_.try_emplace(asked_).first;
            known->second.found = found;
            if (found.kernel != nullptr) known->second.where = found.kernel->residual.locate(asked_.site.data());
        }
        chosen_site& here = known->second;
        const auto& [on, type, word, kernel] = here.found;
        shape.operand = type, shape.variant = word;
        kernel_shelf::check_priced(*on, shape, said_by(operand, "--dtype"));
        if (fresh) words_.nodes(row.where() + ": ", shape, here.found);
        if (!fresh && here.curve.empty() && kernel != nullptr && !has_given_sizes(family))
            here.curve = {*on, without_added(shape), *kernel, here.where};
        return estimate_around(predicted_seconds(here.curve, *on, shape, kernel, here.where), *on, shape, kernel);
    }
    static std::int64_t read_size(const operator_size& size, std::string_view text) {
        const std::string_view digits = llmcost::detail::whole_digits(text);
        std::int64_t n = 0;
        const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
        const bool whole = problem == std::errc{} && end == digits.data() + digits.size();
        if (whole && n >= least_of(size) && n <= size.most) return n;
        return read_number(std::string_view(size.name), text, least_of(size), size.most);  // says why not
    }
    static void put(std::string& out, const latency_estimate& e) {
        std::array<char, 96> text{};
        const int n =
            std::snprintf(text.data(), text.size(), ",%.5g,%.5g,%.5g,", e.seconds * 1e6, e.lower * 1e6, e.upper * 1e6);
        out.append(text.data(), static_cast<std::size_t>(n));
    }

    kernel_shelf& shelf_;
    word_check& words_;
    kernel_choice otherwise_;
    std::vector<std::size_t> places_;
    kernel_choice asked_;
    std::map<kernel_choice, chosen_site> chosen_;
};

}  // namespace llmcost::cli
