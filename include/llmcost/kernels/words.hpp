// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/error.hpp>
#include <llmcost/detail/messages.hpp>
#include <llmcost/detail/nearest.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/files/own_files.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/serving/engines.hpp>

// The words that people choose kernels by, and those that there are.
namespace llmcost {

/// Where calibrations lie: folders, or one file; empty: a person's own and the program's; `none`: nowhere.
[[nodiscard]] inline std::vector<std::string> calibrations_at(const std::string& calibration) {
    if (calibration.empty()) return default_calibrations();
    return calibration == "none" ? std::vector<std::string>{} : std::vector<std::string>{calibration};
}

/// The type of operands of a name; `where` says it.
[[nodiscard]] inline const operand_row& operand_of(std::string_view where, std::string_view name) {
    if (const operand_row* row = find_operand(name)) return *row;
    nearest_names near(name);
    for (const operand_row& row : operand_table) near.offer(row.name);
    refuse(where, "no type " + in_quotes(name) + near.hint_or_all());
}

/// Whether a format packs weights alone, which are unpacked to 16 bits before they are multiplied.
[[nodiscard]] constexpr bool packs_weights(const operand_row& row) noexcept {
    return row.weight_bytes < row.activation_bytes && row.unit == &device::bf16;
}

/// The words that a family knows; types among them are those of a cache, which no format of weights alone is.
[[nodiscard]] inline std::set<string_ref> words_of(const operator_family& family) {
    std::set<string_ref> words;
    for (std::size_t i = 0; family.words.at != nullptr && !family.words.at(i).empty(); ++i) {
        const operand_row* const type = find_operand(family.words.at(i));
        if (type == nullptr || !packs_weights(*type)) words.insert(family.words.at(i));
    }
    return words;
}

/// `expected one of a, b; found 'c'`; empty where it is one of them, or there are none.
[[nodiscard]] inline std::string not_among(const std::set<string_ref>& known, std::string_view word) {
    if (known.empty() || known.contains(word)) return {};
    std::string names;
    for (const string_ref name : known) names += (names.empty() ? "" : ", ") + printable(name);
    return "expected one of " + names + "; found " + in_quotes(word);
}

/// A word that ends in `_` and a number, as `power_law_1.2`: what stands before the number, and it.
struct numbered_word {
    std::string_view stem;
    double number = 0;
};
[[nodiscard]] inline std::optional<numbered_word> numbered(std::string_view word) {
    const std::size_t at = word.find_last_not_of("0123456789.") + 1;
    numbered_word n{word.substr(0, at)};
    const char* const end = word.data() + word.size();
    const auto [stop, problem] = std::from_chars(word.data() + at, end, n.number);
    return problem == std::errc{} && stop == end && n.stem.ends_with('_') ? std::optional(n) : std::nullopt;
}

/// The words whose kernels may stand in where that of a word was not measured: the same with another number, the nearest
/// first, then what the family names.
[[nodiscard]] inline std::vector<string_ref> stand_ins(const operator_family& family, std::string_view word) {
    std::vector<string_ref> words;
    if (const auto asked = numbered(word)) {
        for (const string_ref known : words_of(family))
            if (const auto other = numbered(known); other && other->stem == asked->stem) words.push_back(known);
        std::stable_sort(words.begin(), words.end(), [&](std::string_view a, std::string_view b) {
            return std::fabs(numbered(a)->number - asked->number) < std::fabs(numbered(b)->number - asked->number);
        });
    }
    if (!family.stand_in.empty()) words.push_back(family.stand_in);
    std::erase(words, word);
    return words;
}

/// What calibrations have, by the names of their folders and files.
class known_kernels {
public:
    explicit known_kernels(const std::string& calibration) : at_(calibrations_at(calibration)) {}

    /// What is wrong with the name of a software; empty: nothing, or nothing was measured that it could choose among.
    [[nodiscard]] std::string software_problem(std::string_view word) {
        std::set<string_ref> known;
        for (const place& p : all()) known.insert(p.software);
        if (!known.empty())
            for (const engine& e : engines) known.insert(e.software);
        return not_among(known, word);
    }
    /// The same of a version: one of those that were measured on a device for a family (or any), or else anywhere.
    [[nodiscard]] std::string version_problem(std::string_view software, std::string_view version,
                                              const operator_family* family, const device* on) {
        std::set<string_ref> here, anywhere;
        for (const place& p : all()) {
            if (p.software != software) continue;
            anywhere.insert(p.version);
            const bool fits =
                (family == nullptr || p.family == family->name) && (on == nullptr || answers_to(*on, p.device));
            if (fits) here.insert(p.version);
        }
        return not_among(here.empty() ? anywhere : here, version);
    }
    /// The same of a family's word: one that it knows, but for the number at its end, or that was measured.
    [[nodiscard]] std::string variant_problem(const operator_family& family, std::string_view word) {
        std::set<string_ref> known = words_of(family);
        const auto asked = numbered(word);
        for (const string_ref k : known)
            if (const auto other = numbered(k); asked && other && asked->stem == other->stem) return {};
        if (const operand_row* type = find_operand(word); type != nullptr && known.contains(type->name)) return {};
        if (known.contains(word)) return {};
        for (const place& p : all())
            if (p.family == family.name && !p.variant.empty()) known.insert(p.variant);
        return not_among(known, word);
    }

private:
    struct place {
        std::string device, family, software, version, variant;
    };
    static std::pair<std::string, std::string> parted(const std::string& name) {
        const std::size_t dash = name.find('-');
        return {name.substr(0, dash), dash == std::string::npos ? std::string{} : name.substr(dash + 1)};
    }
    const std::vector<place>& all() {
        if (read_) return places_;
        for (const std::string& root : at_) {
            if (!is_folder_at(root)) {
                const calibration_document file(read_regular_file(root));
                for (const kernel_calibration& k : file.kernels())
                    places_.push_back({std::string(file.device_name()), std::string(k.family), std::string(k.software),
                                       std::string(k.version), std::string(k.variant)});
                continue;
            }
            for (const std::string& of_device : names_in_folder(root))
                for (const std::string& of_family : names_in_folder(root + '/' + of_device)) {
                    const std::string versions = root + '/' + of_device + '/' + of_family;
                    for (const std::string& of_version : names_in_folder(versions))
                        for (const std::string& file : names_in_folder(versions + '/' + of_version)) {
                            const auto [software, version] = parted(of_version);
                            places_.push_back(
                                {of_device, of_family, software, version, parted(file.substr(0, file.rfind('.'))).second});
                        }
                }
        }
        read_ = true;
        return places_;
    }

    std::vector<std::string> at_;
    std::vector<place> places_;
    bool read_ = false;
};

}  // namespace llmcost
