// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/library_part.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/read_expression.hpp>
#include <llmcost/custom/read_program.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/layers.hpp>
#include <llmcost/forward/mlp.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/layer_plan.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::custom {

LLMCOST_INLINE library_module find_library_class(const model_registry& known, std::string_view name) {
    for (const model_spec* row : known) {
        if (row->draft != draft_kind::none) continue;  // its classes have the names of the target model's
        const std::string_view prefix = row->class_prefix;
        if (prefix.empty() || !name.starts_with(prefix) || row->prepare_inputs == nullptr ||
            row->decoder_layer == nullptr)
            continue;
        const std::string_view rest = name.substr(prefix.size());
        const decoder_module_names& n = row->names;
        if (rest == n.attention_class && row->attention != nullptr) return {row, part_kind::attention};
        if (rest == n.mlp_class) return {row, part_kind::mlp};
        if (rest == n.layer_class) return {row, part_kind::layer};
        if (rest == n.model_class && row->base_model != nullptr) return {row, part_kind::base};
    }
    return {};
}

LLMCOST_INLINE library_part parse_library_part(const model_registry& known, const library_module& module_class,
                                               config_view json, const name_table& names) {
    std::vector<config_node> nodes(json.nodes() + json.index(), json.nodes() + json.node().end);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        config_node& n = nodes[i];
        n.parent = i == 0 ? 0 : n.parent - json.index();
        n.end -= json.index();
        if (n.type != config_node::kind::string) continue;
        const auto found = names.find(as_view(n.string));
        if (!found || found->kind != meaning::symbol_kind::number) continue;
        n.type = config_node::kind::integer;
        n.integer = found->operand;
    }
    nodes.front().key = {};
    try {
        return {known.parse_with(*module_class.row, config_view{nodes, 0}), module_class.kind};
    } catch (const config_error& e) {
        refuse_at(json, std::string(as_view(e.pointer())) + ": " + std::string(as_view(e.message())));
    }
}

LLMCOST_INLINE tensor forward_library_module(const library_part& part, const decoder_inputs& shared,
                                             const module_info& module, trace& t, const tensor& x) {
    const model& m = part.full_model;
    const std::int64_t layer = module.index < 0 ? 0 : module.index;
    const layer_plan& plan = m.config.layers;
    const layer_spec kind = plan.is_heterogeneous() && layer < m.config.num_hidden_layers
                                ? plan.specs[plan.spec_index(layer)]
                                : plan.specs[0];
    const layer_context ctx{m, *m.spec, m.config, &shared.for_layer(kind), kind, layer};
    const child_name place{module.name, module.index};
    switch (part.kind) {
        case part_kind::attention: return t.call(place, attention_module{ctx}, x);
        case part_kind::layer: return t.call(place, decoder_layer{ctx}, x);
        case part_kind::mlp:
            if (module.index >= 0) throw_description_error("repeat is not supported for an MLP of a built-in model");
            return call_mlp(ctx, t, module.name, m.config.intermediate_size, x);
        case part_kind::base: break;
    }
    return forward_in_module({module.name, module.index, ctx.class_of(ctx.spec.names.model_class)}, m.spec->base_model,
                             {m, *m.spec, m.config}, t);
}

}  // namespace llmcost::custom
