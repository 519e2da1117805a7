// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A layer of one's own: a linear layer with a low-rank adapter beside it, y = x Wᵀ + α (x Aᵀ) Bᵀ.
//
// expects: 56 parameters, MULT 180, ADD 150, 30 elements returned
#include <iostream>

#include <llmcost/llmcost.hpp>

struct adapted_linear {
    std::int64_t in, out, rank;

    // what a layer is: a role, whether it has children, the name of its class, and how its forward pass goes
    static constexpr llmcost::role module_role = llmcost::role::none;
    static constexpr bool is_leaf = false;
    constexpr llmcost::class_name type_name() const { return {"My", "AdaptedLinear"}; }
    constexpr llmcost::tensor forward(llmcost::trace& t, const llmcost::tensor& x) const {
        const auto base = t.call("base_layer", llmcost::linear{in, out}, x);
        const auto low = t.call("lora_A", llmcost::linear{in, rank}, x);
        const auto high = t.call("lora_B", llmcost::linear{rank, out}, low);
        return t.add(base, t.mul_scalar(high));
    }
};

constexpr llmcost::model_metrics figures_of_one(const adapted_linear& layer, std::int64_t rows) {
    llmcost::trace t{{}};
    t.call("layer", layer, t.input({rows, layer.in}));
    return llmcost::model_metrics_of(t.totals());
}

int main() {
    // 3 rows, 8 -> 4 features, rank 2. MULT: 3*8*4 + 3*8*2 + 3*2*4 in products, 3*4 for α.
    // ADD: 3*7*4 + 3*7*2 + 3*1*4 in products, 3*4 in the sum. Parameters: 8*4 + 8*2 + 2*4. Returned: 3*4 + 3*2 + 3*4.
    constexpr llmcost::model_metrics f = figures_of_one({.in = 8, .out = 4, .rank = 2}, 3);
    static_assert(f.mult == 180 && f.add == 150 && f.params == 56);
    std::cout << f.params.to_64() << " parameters, MULT " << f.mult.to_64() << ", ADD " << f.add.to_64() << ", "
              << f.module_output_elements.to_64() << " elements returned\n";
}
