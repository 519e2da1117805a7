// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A listener sees each module, tensor and operation of a walk; this one finds the five modules with the most products.
// 16 layers, 1024 tokens: 16*1024*2048*8192 (MLP), 1024*2048*128256 (head), 16*1024*2048*2048 (queries)
//
// expects: 274877906944 model.layers.*.mlp.up_proj
// expects: 274877906944 model.layers.*.mlp.gate_proj
// expects: 274877906944 model.layers.*.mlp.down_proj
// expects: 268972326912 lm_head
// expects: 68719476736 model.layers.*.self_attn.q_proj
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>

struct product_counter final : llmcost::listener {
    std::vector<std::string> path{""};
    std::map<std::string, llmcost::count> products;
    void on_module_enter(const llmcost::recorder&, const llmcost::module_info& m) override {
        const std::string name = std::string(m.name) + (m.index >= 0 ? ".*" : "");
        path.push_back(path.back().empty() || name.empty() ? path.back() + name : path.back() + "." + name);
    }
    void on_module_leave(const llmcost::recorder&, const llmcost::module_info&) override { path.pop_back(); }
    void on_op(const llmcost::recorder&, const llmcost::operation& o) override {
        if (llmcost::op_cost_of(o.kind).torch_flops != 0) products[path.back()] += o.work;  // products of matrices
    }
};

int main() {
    product_counter listener;
    llmcost::trace t{{.sequence = 1024}, &listener};
    llmcost::presets::llama_3_2_1b.trace_with_loss(t);
    std::multimap<llmcost::count, std::string> ranked;
    for (const auto& [module, n] : listener.products) ranked.emplace(n, module);
    auto maximum = ranked.rbegin();
    for (int i = 0; i < 5; ++i, ++maximum) std::cout << maximum->first.to_64() << " " << maximum->second << "\n";
}
