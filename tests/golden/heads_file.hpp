// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_models.hpp"

#include <llmcost/analysis/counts.hpp>

#include <cstdint>
#include <exception>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry.hpp"

namespace llmcost::testing {

/// One class of a model type: the configuration that it was built from, and what a small prefill of it executed.
struct recorded_class {
    std::string name;
    std::string configuration;            ///< a golden's name
    std::vector<std::uint64_t> figures;   ///< parameters, torch FLOPs, cache, encoder length, a run's columns
    std::vector<std::string> parameters;  ///< the first, and those outside of the base model: name and sizes
    bool failed = false;                  ///< the reference has the class, and could not run it with this configuration
};

/// All classes that the reference has, by model type; tests/oracle/heads.py has the format.
[[nodiscard]] inline std::map<std::string, std::vector<recorded_class>> read_classes() {
    std::ifstream in(golden_folder() / "heads.txt");
    std::map<std::string, std::vector<recorded_class>> found;
    std::vector<recorded_class>* classes = nullptr;
    for (std::string line; std::getline(in, line);) {
        std::istringstream line_stream(line);
        std::string text, name;
        line_stream >> text >> name;
        if (text == "type") {
            classes = &found[name];
        } else if (text == "class" && classes != nullptr) {
            recorded_class one{name, {}, {}, {}};
            line_stream >> one.configuration;
            for (std::uint64_t n = 0; line_stream >> n;) one.figures.push_back(n);
            classes->push_back(std::move(one));
        } else if (text == "-" && classes != nullptr && !classes->empty()) {
            std::string sizes;
            line_stream >> sizes;
            classes->back().parameters.push_back(name + " " + sizes);
        } else if (text == "error" && classes != nullptr) {
            if (!classes->empty()) classes->push_back({name, classes->front().configuration, {}, {}, true});
        } else if (text != "#") {
            throw std::runtime_error("heads.txt: " + line);
        }
    }
    return found;
}

/// Classes of the reference that no row describes yet, and that are refused, by model type: lines `TYPE CLASS`.
[[nodiscard]] inline std::set<std::pair<std::string, std::string>> read_open_classes() {
    std::ifstream in(golden_folder() / "heads_open.txt");
    std::set<std::pair<std::string, std::string>> found;
    for (std::string type, name; in >> type >> name;) found.emplace(type, name);
    return found;
}

/// Every class of a row's type, through a row that may be changed.
class class_reader {
public:
    /// Those of one type, their configurations read.
    explicit class_reader(std::string_view model_type) {
        static const std::map<std::string, std::vector<recorded_class>> all = read_classes();
        static const std::set<std::pair<std::string, std::string>> open = read_open_classes();
        const auto known = all.find(std::string(model_type));
        if (known == all.end()) return;
        for (const recorded_class& one : known->second) {
            config_document document = read_config_file((golden_folder() / (one.configuration + ".json")).string());
            document.set("architectures", "[\"" + one.name + "\"]");
            classes_.push_back({one, std::move(document), open.contains({known->first, one.name})});
        }
    }
    /// Where a row differs from what was recorded; empty where nowhere.
    [[nodiscard]] std::string differences(const model_spec& row) const {
        std::string text;
        std::uint32_t heads = 0;
        for (std::size_t h = 0; h < 32; ++h)
            for (const built_class& one : classes_)
                if ((one.recorded.failed || one.open) &&
                    one.recorded.name == std::string(row.class_prefix) + name_of(static_cast<head_kind>(h)))
                    heads |= 1U << h;
        for (const built_class& one : classes_) try {
                const model m =
                    one.document.read_with([&](config_view root) { return parts::registry.parse_with(row, root); });
                heads |= 1U << static_cast<unsigned>(m.config.head);
                if (one.recorded.failed) continue;
                text += one.open ? one.recorded.name + " stands in heads_open.txt and is read\n"
                                 : difference(one.recorded, m);
            } catch (const std::exception& problem) {
                if (!one.open && !one.recorded.failed)
                    text += one.recorded.name + " is refused: " + problem.what() + "\n";
            }
        if (!classes_.empty() && (row.supported_heads.bits & ~heads) != 0)
            text += "a head that the reference has not\n";
        return text;
    }

private:
    struct built_class {
        recorded_class recorded;
        config_document document;
        bool open;
    };
    [[nodiscard]] static std::string difference(const recorded_class& recorded, const model& m) {
        const auto encoder_sequence = static_cast<std::int64_t>(recorded.figures.at(3));
        const workload load{.batch = 2, .sequence = 5, .encoder_sequence = encoder_sequence, .weights = dtype::float32};
        const llmcost::model_metrics f = count_model(m, load);
        std::vector<count> ours{f.params, f.torch_flops, f.cache_elements, count(recorded.figures[3])};
        for (const count n : columns_of(f)) ours.push_back(n);
        std::string text;
        for (std::size_t i = 0; i < ours.size(); ++i)
            if (i >= recorded.figures.size() || ours[i] != count(recorded.figures[i]))
                text += recorded.name + " column " + std::to_string(i) + ": " +
                        std::string(count_text{ours[i]}.view()) + "\n";
        std::set<std::string> listed;
        for (const llmcost::tensor_shape& tensor : list_model(m, load).tensors) {
            std::string signature = tensor.name;
            for (const std::int64_t n : tensor.sizes)
                signature += (signature == tensor.name ? " " : "x") + std::to_string(n);
            listed.insert(signature);
        }
        for (const std::string& parameter : recorded.parameters)
            if (!listed.contains(parameter)) text += recorded.name + " has " + parameter + "\n";
        return text;
    }

    std::vector<built_class> classes_;
};

}  // namespace llmcost::testing
