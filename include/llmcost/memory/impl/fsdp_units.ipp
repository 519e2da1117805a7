// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/fsdp_units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::string module_of_parameter(const tape_parameter& p) {
    return p.name.substr(0, std::min(p.name.rfind('.'), p.name.size()));
}

/// Whether a node reads a parameter of a unit.
[[nodiscard]] LLMCOST_INLINE bool reads(const tape_node& n, const fsdp_unit& unit) {
    return std::ranges::any_of(n.inputs, [&](const tape_edge& e) {
        return e.parameter >= 0 && std::ranges::find(unit.parameters, e.parameter) != unit.parameters.end();
    });
}

/// Whether a node reads the first parameter of a unit.
[[nodiscard]] LLMCOST_INLINE bool reads_first(const tape_node& n, const fsdp_unit& unit) {
    return std::ranges::any_of(n.inputs, [&](const tape_edge& e) { return e.parameter == unit.parameters.front(); });
}

/// Adds a module to the name of a unit.
LLMCOST_INLINE void add_module(fsdp_unit& unit, const std::string& module) {
    if (unit.name == module || unit.name.ends_with(", " + module)) return;
    unit.name += unit.name.empty() ? module : ", " + module;
}

/// The units of embedding, final norm and head, and the parameters outside of layers that are left for the model.
class outer_units {
public:
    outer_units(const tape& pass, const fsdp_options& options) {
        const auto count = static_cast<std::int32_t>(pass.parameters.size());
        std::int32_t first_of_layers = 0;
        while (first_of_layers < count && parameter(pass, first_of_layers).region_id < 0) ++first_of_layers;
        const bool is_wrapped = options.wrapping != fsdp_wrapping::layers && first_of_layers < count;
        const std::string embedding_module = first_of_layers > 0 ? module_of_parameter(parameter(pass, 0)) : "";
        for (std::int32_t i = 0; i < count; ++i) {
            const tape_parameter& p = parameter(pass, i);
            if (p.region_id >= 0) continue;
            const bool is_embedding = module_of_parameter(p) == embedding_module, is_tail = i > first_of_layers;
            if (!is_wrapped || (!is_embedding && !is_tail)) {
                model.parameters.push_back(i);
                continue;
            }
            fsdp_unit& unit = is_embedding ? embedding : tail;
            add_module(unit, module_of_parameter(p));
            unit.parameters.push_back(i);
        }
        embedding.reshards_after_forward = options.reshards_after_forward;
        if (options.wrapping == fsdp_wrapping::transformers && is_tied(pass)) join_tied();
    }

    fsdp_unit model{}, embedding{}, tail{};

private:
    [[nodiscard]] static const tape_parameter& parameter(const tape& pass, std::int32_t i) {
        return pass.parameters[static_cast<std::size_t>(i)];
    }
    /// Whether the first and another node read the embedding: the head is tied to it.
    [[nodiscard]] bool is_tied(const tape& pass) const {
        return std::ranges::count_if(pass.nodes, [&](const tape_node& n) { return reads(n, embedding); }) > 1;
    }
    void join_tied() {
        model.parameters.insert(model.parameters.end(), embedding.parameters.begin(), embedding.parameters.end());
        embedding.reshards_after_forward = false;
        add_module(embedding, tail.name);
        embedding.parameters.insert(embedding.parameters.end(), tail.parameters.begin(), tail.parameters.end());
        tail = {};
    }
};

/// Moves the distributed experts of each unit to a unit of their own, behind it.
///
/// Source: transformers/distributed/fsdp.py, `apply_fully_sharded_data_parallelism` (`ep_dispatch_experts`).
LLMCOST_INLINE void split_experts(std::vector<fsdp_unit>& units, const tape& pass) {
    const auto is_expert = [&](std::int32_t p) {
        return pass.parameters[static_cast<std::size_t>(p)].is_distributed_expert;
    };
    for (std::size_t k = 0; k < units.size(); ++k) {
        fsdp_unit experts{.name = {}, .parameters = {}, .reshards_after_forward = true, .is_expert_unit = true};
        std::ranges::copy_if(units[k].parameters, std::back_inserter(experts.parameters), is_expert);
        if (experts.parameters.empty()) continue;
        std::erase_if(units[k].parameters, is_expert);
        experts.name = module_of_parameter(pass.parameters[static_cast<std::size_t>(experts.parameters.front())]);
        for (std::size_t i = 0; i < pass.nodes.size(); ++i) {
            const std::int32_t c = pass.nodes[i].collective_id;
            const bool is_boundary = c >= 0 && pass.collectives[static_cast<std::size_t>(c)].module == experts.name;
            if (!is_boundary && !reads(pass.nodes[i], experts)) continue;
            if (experts.first_node < 0) experts.first_node = static_cast<std::int32_t>(i);
            experts.last_node = static_cast<std::int32_t>(i);
        }
        units.insert(units.begin() + static_cast<std::ptrdiff_t>(++k), std::move(experts));
    }
}

LLMCOST_INLINE std::vector<fsdp_unit> fsdp_units_of(const tape& pass, const fsdp_options& options) {
    outer_units outer(pass, options);
    std::vector<fsdp_unit> out;
    out.push_back(std::move(outer.model));
    const std::size_t first_layer = outer.embedding.parameters.empty() ? 1 : 2;
    if (first_layer == 2) out.push_back(std::move(outer.embedding));
    for (const std::string& path : pass.regions)
        out.push_back({.name = path, .parameters = {}, .reshards_after_forward = options.reshards_after_forward});
    if (!outer.tail.parameters.empty()) out.push_back(std::move(outer.tail));
    for (std::size_t i = 0; i < pass.parameters.size(); ++i)
        if (const std::int32_t region = pass.parameters[i].region_id; region >= 0)
            out[first_layer + static_cast<std::size_t>(region)].parameters.push_back(static_cast<std::int32_t>(i));
    const auto add_node = [](fsdp_unit& unit, std::size_t node) {
        if (unit.first_node < 0) unit.first_node = static_cast<std::int32_t>(node);
        unit.last_node = static_cast<std::int32_t>(node);
    };
    for (std::size_t i = 0; i < pass.nodes.size(); ++i) {
        if (const std::int32_t region = pass.nodes[i].region; region >= 0) {
            add_node(out[first_layer + static_cast<std::size_t>(region)], i);
            continue;
        }
        for (std::size_t k = 1; k < out.size(); ++k) {
            const bool is_outer = k < first_layer || k >= first_layer + pass.regions.size();
            // the head reads a tied embedding as a part of the model, not of the unit with the embedding
            const bool is_head = k < first_layer && out[k].first_node >= 0 && reads_first(pass.nodes[i], out[k]);
            if (is_outer && !is_head && reads(pass.nodes[i], out[k])) add_node(out[k], i);
        }
    }
    split_experts(out, pass);
    return out;
}

}  // namespace llmcost::detail
