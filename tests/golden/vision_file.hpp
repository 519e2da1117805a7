// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_compare.hpp"

#include <llmcost/bundled/torchvision.hpp>
#include <llmcost/cli/args/variant.hpp>
#include <llmcost/custom/custom_model.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

// What torchvision's models are and execute, a few lines each: torchvision.txt, which tests/oracle/vision.py writes.
namespace llmcost::testing {

/// A description of a family in a folder of `configs/models`.
struct vision_family {
    std::string name;
    std::string json;
    std::vector<std::string> variants{};
};

/// All of them, in the order of their names.
[[nodiscard]] inline std::vector<vision_family> read_families(const std::string& folder) {
    std::vector<vision_family> all;
    for (const auto& entry : std::filesystem::directory_iterator(golden_folder() / "../../configs/models" / folder)) {
        if (entry.path().extension() != ".json") continue;
        std::ifstream in(entry.path());
        all.push_back({entry.path().stem().string(), std::string(std::istreambuf_iterator<char>(in), {})});
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (vision_family& family : all)
        parse_config(family.json, family.name).read_with([&](config_view root) {
            for (const config_view variant : root.object("variants"))
                family.variants.emplace_back(variant.key().data(), variant.key().size());
        });
    return all;
}

/// JSON without the blanks between its words.
[[nodiscard]] inline std::string without_blanks(const std::string& json) {
    std::string out;
    bool quoted = false;
    for (const char c : json) {
        if (c == '"') quoted = !quoted;
        if (quoted || (c != ' ' && c != '\n')) out += c;
    }
    return out;
}

/// What is held of one model; hashes of the lines that name its tensors, classes and what modules execute.
struct vision_record {
    std::map<std::string, std::string> lines;  ///< by their first word

    friend bool operator==(const vision_record&, const vision_record&) = default;
};

[[nodiscard]] inline std::map<std::string, vision_record> read_vision_records(const char* file = "torchvision.txt") {
    std::ifstream in(golden_folder() / file);
    std::map<std::string, vision_record> all;
    vision_record* last = nullptr;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        const std::size_t blank = line.find(' ');
        const std::string name = line.substr(0, blank);
        std::string rest = line.substr(blank + 1);
        if (name == "model") {
            const std::size_t end = rest.find(' ');
            last = &all[rest.substr(0, end)];
            rest = rest.substr(end + 1);
        }
        if (last == nullptr) throw std::runtime_error(std::string(file) + ": expected a line that names a model");
        last->lines[name] = rest;
    }
    return all;
}

/// The first line in which two texts differ, as "line N: expected A, got B"; empty if they are equal.
[[nodiscard]] inline std::string first_difference(const std::string& expected, const std::string& got) {
    std::istringstream a(expected), b(got);
    for (int line = 1; a || b; ++line) {
        std::string x, y;
        std::getline(a, x);
        std::getline(b, y);
        if (x != y) return "line " + std::to_string(line) + ": expected " + x + ", got " + y;
    }
    return "";
}

/// The header of a bundle with the descriptions of a folder. `parameters` are those of a variant, 0 if unknown.
struct bundle {
    std::string folder;
    std::string prefix;  ///< of the names
    std::string source;
    std::string description;  ///< its table is, as a sentence
    std::string written_by;
};
template <class Parameters>
[[nodiscard]] std::string bundled_header(const bundle& b, Parameters parameters) {
    std::string families;
    std::map<std::string, std::string> family_of;
    for (const vision_family& family : read_families(b.folder)) {
        families += "inline constexpr std::string_view custom_model_" + b.folder + "_" + family.name +
                    " =\n    R\"json(" + without_blanks(family.json) + ")json\"sv;\n";
        for (const std::string& variant : family.variants) family_of[variant] = family.name;
    }
    std::vector<std::string> names;
    for (const auto& [name, family] : family_of) names.push_back(name);
    std::sort(names.begin(), names.end(), [](const std::string& x, const std::string& y) {
        return llmcost::detail::compare_ignoring_case(x, y) < 0;
    });
    std::string rows;
    for (const std::string& name : names)
        rows += "    {\"" + b.prefix + name + "\"sv, \"" + b.source + "\"sv, detail::custom_model_" + b.folder + "_" +
                family_of[name] + ", " + parameters(name) + ", \"" + name + "\"sv},\n";
    return R"(// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

// Written by tests/golden/)" +
           b.written_by + " from configs/models/" + b.folder + R"(.
namespace llmcost {

// clang-format off
namespace detail {

)" + families +
           R"(
}  // namespace detail

/// )" + b.description +
           R"(
inline constexpr bundled_config bundled_)" +
           b.folder + R"([] = {
)" + rows + R"(};
// clang-format on

}  // namespace llmcost
)";
}

/// FNV-1a, 64 bits, of lines in the order of their bytes.
[[nodiscard]] inline std::string hash_of(std::vector<std::string> lines) {
    std::sort(lines.begin(), lines.end());
    std::uint64_t state = 0xcbf29ce484222325;
    for (const std::string& line : lines)
        for (const char c : line + '\n') state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state));
    return text;
}

template <class Numbers>
[[nodiscard]] std::string row_of(const Numbers& numbers) {
    std::string out;
    for (const count n : numbers) out += (out.empty() ? "" : " ") + text_of(n);
    return out;
}

/// The model of a bundled description.
[[nodiscard]] inline custom_model build_custom_model(const bundled_config& c) {
    config_document document = parse_config(c.json, std::string(c.name));
    cli::use_variant(document, c.variant);
    return document.read_with([&](config_view root) { return custom_model(root, std::string(c.name)); });
}

/// Two images of a size.
[[nodiscard]] inline workload two_images(std::int64_t height, std::int64_t width) {
    workload load{.batch = 2, .sequence = 1, .weights = dtype::float32};
    load.image_height = height;
    load.image_width = width;
    return load;
}

/// Verifies one of llmcost's own descriptions, then a training step.
[[nodiscard]] inline vision_record record_of(const model& m, workload load = two_images(224, 224)) {
    const model_listing listing = list_model(m, load);
    const model_metrics folded = count_model(m, load);
    load.training = true;
    const model_metrics step = count_model(m, load);

    std::vector<std::string> tensors, classes, modules;
    for (const llmcost::tensor_shape& t : listing.tensors) tensors.push_back(t.name + ' ' + text_of(shape_of(t.sizes)));
    for (const scope_figures& s : listing.scopes) {
        if (s.path.empty()) continue;
        classes.push_back(s.path + ' ' + s.type);
        const std::vector<count> columns = columns_of(model_metrics_of(s.sums));
        if (std::any_of(columns.begin(), columns.end(), [](count n) { return n != count(); }))
            modules.push_back(s.path + ' ' + row_of(columns));
    }
    std::vector<count> backward;
    for (const auto member : primitive_members<count>) backward.push_back(step.backward.*member);
    vision_record r;
    r.lines["model"] = listing.scopes.front().type + ' ' + text_of(listing.total.params);
    r.lines["hashes"] = hash_of(tensors) + ' ' + hash_of(classes) + ' ' + hash_of(modules);
    r.lines["total"] = row_of(columns_of(listing.total));
    if (row_of(columns_of(folded)) != r.lines["total"]) r.lines["folded"] = row_of(columns_of(folded));
    r.lines["torch"] = text_of(folded.torch_flops) + ' ' + text_of(step.backward_torch_flops);
    r.lines["saved"] = text_of(step.saved_bytes);
    r.lines["backward"] = row_of(backward);
    return r;
}

}  // namespace llmcost::testing
