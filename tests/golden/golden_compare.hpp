// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_models.hpp"

#include <algorithm>
#include <llmcost/report/listing.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llmcost::testing {

[[nodiscard]] inline std::string text_of(count n) { return std::string(count_text{n}.view()); }
[[nodiscard]] inline std::string text_of(std::string_view text) { return std::string(text); }
[[nodiscard]] inline std::string text_of(const std::vector<tensor_shape>& tensors) {
    std::string text;
    for (const tensor_shape& shape : tensors) {
        text += text.empty() ? "" : " ";
        for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : "x") + std::to_string(shape[i]);
        if (shape.empty()) text += "scalar";
    }
    return text.empty() ? "nothing" : text;
}
[[nodiscard]] inline std::string text_of(const tensor_shape& shape) {
    return text_of(std::vector<tensor_shape>(1, shape));
}

/// The differences between a golden and the library, in words.
class comparison {
public:
    template <class A, class B>
    void equal(const std::string& location, std::string_view quantity, const A& expected, const B& got) {
        if (expected == got) return;
        ++differences_;
        if (differences_ <= max_printed)
            text_ += "\n  " + location + " " + std::string(quantity) + ": expected " + text_of(expected) + ", got " +
                     text_of(got);
    }
    [[nodiscard]] std::size_t differences() const noexcept { return differences_; }
    /// The first difference, in one line; empty if there is none.
    [[nodiscard]] std::string first() const {
        return text_.substr(0, text_.find('\n', 1)).substr(text_.empty() ? 0 : 1);
    }
    /// The first differences, a line each.
    [[nodiscard]] std::string text() const {
        return std::to_string(differences_) + " differences" + text_ + (differences_ > max_printed ? "\n  ..." : "");
    }

private:
    static constexpr std::size_t max_printed = 12;
    std::size_t differences_ = 0;
    std::string text_;
};

/// Our listing by path.
using scopes_by_path = std::unordered_map<std::string_view, const scope_figures*>;
[[nodiscard]] inline scopes_by_path by_path(const model_listing& listing) {
    scopes_by_path found;
    for (const scope_figures& s : listing.scopes) found.emplace(s.path, &s);
    return found;
}

[[nodiscard]] inline tensor_shape shape_of(const std::vector<std::int64_t>& sizes) {
    return {sizes.begin(), sizes.end()};
}

/// Names and shapes of tensors, tied names, the number of parameters.
inline void compare_tensors(comparison& c, const golden_file& golden, const model_listing& listing) {
    c.equal("model", "parameters", count(golden.parameters), listing.total.params);
    std::map<std::string, tensor_shape> left = golden.tensors;
    for (const llmcost::tensor_shape& t : listing.tensors) {
        const auto known = left.find(t.name);
        if (known == left.end()) {
            c.equal(t.name, "tensor", std::string_view("none"), text_of(shape_of(t.sizes)));
            continue;
        }
        c.equal(t.name, "shape", known->second, shape_of(t.sizes));
        left.erase(known);
    }
    for (const auto& [name, shape] : left) c.equal(name, "tensor", text_of(shape), std::string_view("none"));
    std::set<std::string> tied = golden.tied;
    for (const std::string& name : listing.tied)
        if (tied.erase(name) == 0) c.equal(name, "tied", std::string_view("no"), std::string_view("yes"));
    for (const std::string& name : tied) c.equal(name, "tied", std::string_view("yes"), std::string_view("no"));
}

/// The class of every module that we list, and the parameters below it.
///
/// A module that we do not list must be one that has no parameters; that it does nothing is held by `compare_modules`.
/// One that is not in the reference's list was made by a run, which tells its figures.
inline void compare_classes(comparison& c, const golden_file& golden, const model_listing& listing) {
    std::unordered_map<std::string, std::uint64_t> parameters;
    for (const auto& [name, shape] : golden.tensors)
        for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
            parameters[name.substr(0, dot)] += elements(shape);
    const scopes_by_path scopes = by_path(listing);
    for (const auto& [path, type] : golden.classes) {
        const auto found = scopes.find(path);
        const auto parameter = parameters.find(path);
        const count expected(parameter == parameters.end() ? 0 : parameter->second);
        if (found == scopes.end()) {
            c.equal(path, "parameters", expected, count{});
            continue;
        }
        c.equal(path, "class", type, found->second->type);
        c.equal(path, "parameters", expected, found->second->sums.parameters);
    }
    const auto is_made = [&](const std::string& path) {
        return std::any_of(golden.runs.begin(), golden.runs.end(),
                           [&](const golden_run& run) { return run.modules && run.modules->contains(path); });
    };
    for (const scope_figures& s : listing.scopes)
        if (s.path.empty())
            c.equal("model", "class", golden.architecture, s.type);
        else if (!golden.classes.contains(s.path) && !is_made(s.path))
            c.equal(s.path, "class", std::string_view("no such module"), s.type);
}

inline void compare_figures(comparison& c, const std::string& location, const golden_figures& expected,
                            const llmcost::model_metrics& got) {
    const std::vector<count> columns = columns_of(got);
    for (std::size_t i = 0; i < columns.size(); ++i)
        c.equal(location, figure_names[i], count(expected.values[i]), columns[i]);
}

/// What every module executed, its children included; a module that one side does not list has done nothing.
inline void compare_modules(comparison& c, const std::string& kind,
                            const std::map<std::string, golden_figures>& modules, const model_listing& listing) {
    const scopes_by_path scopes = by_path(listing);
    for (const auto& [path, expected] : modules) {
        const auto found = scopes.find(path);
        const llmcost::model_metrics got =
            found == scopes.end() ? llmcost::model_metrics{} : model_metrics_of(found->second->sums);
        compare_figures(c, kind + " " + path, expected, got);
    }
    for (const scope_figures& s : listing.scopes)
        if (!s.path.empty() && !modules.contains(s.path))
            compare_figures(c, kind + " " + s.path, {}, model_metrics_of(s.sums));
}

/// Layers of a cache that keeps one state of each recurrent layer in a list behind the others (`MiniMaxCache`): each
/// where `got` has a layer of one tensor.
inline std::vector<std::vector<tensor_shape>> with_states_in_their_places(
    std::vector<std::vector<tensor_shape>> layers, const std::vector<std::vector<tensor_shape>>& got) {
    if (layers.empty()) return layers;
    const std::vector<tensor_shape> states = layers.back();
    layers.pop_back();
    std::erase_if(layers, [](const std::vector<tensor_shape>& layer) { return layer.empty(); });
    std::size_t next = 0;
    for (std::size_t i = 0; i < got.size() && i <= layers.size() && next < states.size(); ++i)
        if (got[i].size() == 1) layers.insert(layers.begin() + static_cast<std::ptrdiff_t>(i), {states[next++]});
    return next == states.size() ? layers : std::vector<std::vector<tensor_shape>>{};
}

inline void compare_cache(comparison& c, const std::string& kind, const golden_cache& expected,
                          const model_listing& listing) {
    c.equal(kind, "cache", count(expected.total), listing.total.cache_elements);
    std::vector<std::vector<tensor_shape>> got;
    for (const auto& layer : listing.cache) {
        got.emplace_back();
        for (const std::vector<std::int64_t>& sizes : layer.tensors) got.back().push_back(shape_of(sizes));
    }
    const std::vector<std::vector<tensor_shape>>& layers = expected.layers;
    if (layers != got && with_states_in_their_places(layers, got) == got) return;
    c.equal(kind, "layers with a cache", count(layers.size()), count(got.size()));
    for (std::size_t i = 0; i < layers.size() && i < got.size(); ++i)
        c.equal(kind + " " + listing.cache[i].path, "cache", layers[i], got[i]);
}

/// The elements of each layer's tensors together, if the model returned a cache. Recordings of multimodal inputs have
/// some in several tensors, and for more layers than a decoder has (`VisionEncoderDecoderModel`).
inline void compare_cache_by_layer(comparison& c, const std::string& kind, const golden_cache& expected,
                                   const model_listing& listing) {
    c.equal(kind, "cache", count(expected.total), listing.total.cache_elements);
    for (std::size_t i = 0; i < expected.layers.size() || i < listing.cache.size(); ++i) {
        std::uint64_t expected_elements = 0, got = 0;
        if (i < expected.layers.size())
            for (const tensor_shape& shape : expected.layers[i]) expected_elements += elements(shape);
        if (i < listing.cache.size())
            for (const std::vector<std::int64_t>& sizes : listing.cache[i].tensors) got += elements(shape_of(sizes));
        c.equal(kind + " layer " + std::to_string(i), "cache", count(expected_elements), count(got));
    }
}

/// One forward pass: the folded walk and the listed one, the whole and every module.
inline void compare_run(comparison& c, const golden_run& run, const model& m, const model_listing& listing,
                        bool shows) {
    const std::string location = run.kind + " " + std::to_string(run.batch) + "x" + std::to_string(run.sequence) + "@" +
                                 std::to_string(run.past);
    const llmcost::model_metrics folded = count_model(m, workload_of(run));
    if (m.spec->compute_media_shapes != nullptr) {
        const media_shapes shapes = m.spec->compute_media_shapes(m, workload_of(run));
        const golden_media& recorded_media = run.shows;
        const std::int64_t audio_tokens = recorded_media.milliseconds > 0 ? shapes.audio.num_tokens : 0;
        const std::int64_t got[3]{static_cast<std::int64_t>(recorded_media.images) * shapes.image.num_tokens,
                                  static_cast<std::int64_t>(recorded_media.videos) * shapes.video.num_tokens,
                                  audio_tokens};
        for (std::size_t i = 0; i < 3; ++i)
            c.equal(location, "tokens", count(run.tokens[i]), count(static_cast<std::uint64_t>(got[i])));
    }
    compare_figures(c, location, run.total, folded);
    compare_figures(c, location + " (listed)", run.total, listing.total);
    c.equal(location, "TORCH_FLOPS", count(run.torch_flops), folded.torch_flops);
    if (run.cache || !shows)
        c.equal(location, "cache (folded)", count(run.cache ? run.cache->total : 0), folded.cache_elements);
    if (!shows)
        compare_cache(c, location, run.cache.value_or(golden_cache{}), listing);
    else if (run.cache)
        compare_cache_by_layer(c, location, *run.cache, listing);
    if (run.modules) compare_modules(c, location, *run.modules, listing);
}

inline void compare_training(comparison& c, const golden_training& step, const model& m) {
    const llmcost::model_metrics f = count_model(m, workload_of(step));
    const std::string location = "training in " + std::string(name_of(step.type));
    c.equal(location, "TORCH_FLOPS forward", count(step.forward_torch_flops), f.torch_flops);
    c.equal(location, "TORCH_FLOPS backward", count(step.backward_torch_flops), f.backward_torch_flops);
    c.equal(location, "SAVED", count(step.saved_bytes), f.saved_bytes);
    for (std::size_t i = 0; step.has_backward && i < primitive_columns; ++i)
        c.equal(location + " backward", figure_names[i], count(step.backward[i]),
                f.backward.*primitive_members<count>[i]);
}

/// Holds a model against everything that its golden records.
[[nodiscard]] inline comparison compare(const golden_file& golden, const model& m) {
    comparison c;
    const bool shows = golden.config_path.parent_path().filename() == media_folder().filename();
    const model_listing listing =
        list_model(m, golden.runs.empty() ? workload{.sequence = 3} : workload_of(golden.runs.front()));
    compare_tensors(c, golden, listing);
    compare_classes(c, golden, listing);
    for (const golden_run& run : golden.runs)
        if (run.unknown.empty()) compare_run(c, run, m, list_model(m, workload_of(run)), shows);
    for (const golden_training& step : golden.trainings) compare_training(c, step, m);
    return c;
}

}  // namespace llmcost::testing
