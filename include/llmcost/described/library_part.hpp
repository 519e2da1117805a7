// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/described/read_program.hpp>
#include <llmcost/reading/known_models.hpp>
#include <llmcost/walks/decoder.hpp>

// Parts of the library's own models that descriptions call by Transformers' classes: `LlamaAttention`, `Qwen3DecoderLayer`.
namespace llmcost::described {

/// A class of the library, as a row spells it.
struct library_class {
    const architecture* row = nullptr;
    part_kind what = part_kind::attention;
};

/// The decoder whose class is called so; none where there is no such.
[[nodiscard]] inline library_class find_library_class(const known_models& known, std::string_view name) {
    for (const architecture* row : known) {
        const std::string_view prefix = row->prefix;
        if (prefix.empty() || !name.starts_with(prefix) || row->prepare == nullptr || row->layer == nullptr) continue;
        const std::string_view rest = name.substr(prefix.size());
        const decoder_names& n = row->names;
        if (rest == n.attention_type && row->attend != nullptr) return {row, part_kind::attention};
        if (rest == n.mlp_type) return {row, part_kind::feed_forward};
        if (rest == n.layer_type) return {row, part_kind::layer};
        if (rest == n.model_type && row->base != nullptr) return {row, part_kind::base};
    }
    return {};
}

/// The configuration of a part; a string that is the name of a size is that size.
[[nodiscard]] inline library_part read_library_part(const known_models& known, const library_class& of, config_view config,
                                                    const name_table& names) {
    std::vector<config_node> nodes(config.nodes() + config.index(), config.nodes() + config.node().end);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        config_node& n = nodes[i];
        n.parent = i == 0 ? 0 : n.parent - config.index();
        n.end -= config.index();
        if (n.type != config_node::kind::string) continue;
        const auto found = names.find(as_view(n.string));
        if (!found || found->what != meaning::of::number) continue;
        n.type = config_node::kind::integer, n.integer = found->operand;
    }
    nodes.front().key = {};
    try {
        return {known.read_by(*of.row, config_view{nodes, 0}), of.what};
    } catch (const config_error& e) {
        refuse_at(config, std::string(as_view(e.pointer())) + ": " + std::string(as_view(e.message())));
    }
}

/// Walks a part of a model at the place of a module. `shared` is what its model makes once.
[[nodiscard]] inline value walk_part(const library_part& part, const decoder_context& shared, const module_info& at,
                                     trace& t, const value& x) {
    const model& m = part.whole;
    const std::int64_t layer = at.index < 0 ? 0 : at.index;
    const layer_plan& plan = m.dims.layers;
    const layer_kind kind =
        plan.mixed() && layer < m.dims.num_hidden_layers ? plan.kinds[plan.number(layer)] : plan.kinds[0];
    const site here{m, *m.kind, m.dims, &shared.of(kind), kind, layer};
    const module_place place{at.name, at.index};
    switch (part.what) {
        case part_kind::attention: return t.call(place, attention_module{here}, x);
        case part_kind::layer: return t.call(place, decoder_layer{here}, x);
        case part_kind::feed_forward:
            if (at.index >= 0) report_description("a feed-forward block of the library stands alone, without repeat");
            return call_mlp(here, t, at.name, m.dims.intermediate_size, x);
        case part_kind::base: break;
    }
    return describe_within({at.name, at.index, here.type(here.row.names.model_type)}, m.kind->base, {m, *m.kind, m.dims}, t);
}

}  // namespace llmcost::described
