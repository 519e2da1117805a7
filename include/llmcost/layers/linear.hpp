// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// `nn.Linear`: x (…, in_features) -> (…, out_features).
///
/// Cost with n inputs: MULT n·in·out, ADD n·(in−1)·out; a bias adds ADD n·out.
struct linear {
    std::int64_t in_features;
    std::int64_t out_features;
    bool bias = false;
    bool is_weight_tied = false;  ///< tied to a tensor that another module declares
    bool is_bias_tied = false;    ///< the bias is tied
    class_name reference_class{"", "Linear"};

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return reference_class; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        if (leaf_module_policy* const policy = t.policy()) {
            const tensor weight = declare_weight(t), b = bias ? declare_bias(t) : tensor{};
            const tensor read = policy->transform_linear_input(t, x);
            return policy->transform_linear_output(t, x, weight, false, bias ? &b : nullptr,
                                                   t.linear(read, weight, bias ? &b : nullptr));
        }
        const tensor weight = declare_weight(t);
        if (!bias) return t.linear(x, weight);
        const tensor b = declare_bias(t);
        return t.linear(x, weight, &b);
    }

private:
    constexpr tensor declare_weight(trace& t) const {
        return is_weight_tied ? t.tied("weight", {out_features, in_features})
                              : t.param("weight", {out_features, in_features});
    }
    constexpr tensor declare_bias(trace& t) const {
        return is_bias_tied ? t.tied("bias", {out_features}) : t.param("bias", {out_features});
    }
};

/// A linear layer with the role of a model head.
struct head_linear : linear {
    static constexpr role module_role = role::head;
};

/// A linear layer that projects encoder features to the text model's hidden size.
struct projector_linear : linear {
    static constexpr role module_role = role::projector;
};

/// `nn.Embedding`: indices (…) -> (…, embedding_dim). A gather of weight rows, without arithmetic.
struct embedding {
    std::int64_t num_embeddings;
    std::int64_t embedding_dim;
    bool has_scale = false;  ///< output is multiplied by a constant inside the module
    class_name named{"", "Embedding"};
    bool shares_weight = false;    ///< tied to a tensor that another module declares
    bool creates_indices = false;  ///< indices are created in the forward pass (positions)
    bool is_frozen = false;        ///< the class does not train the table (`requires_grad=False`)

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const shape& ids) const {
        const tensor weight = is_frozen       ? t.frozen_parameter("weight", {num_embeddings, embedding_dim})
                              : shares_weight ? t.tied("weight", {num_embeddings, embedding_dim})
                                              : t.param("weight", {num_embeddings, embedding_dim});
        shape to = ids;
        if (creates_indices) t.save_integers_for_backward(count(num_elements(ids.size, ids.rank)));
        to.size[to.rank++] = embedding_dim;
        leaf_module_policy* const policy = t.policy();
        const tensor x = t.gather(weight, policy == nullptr ? to : policy->transform_embedding_ids(num_embeddings, to));
        const tensor found = has_scale ? t.mul_scalar(x) : x;
        return policy == nullptr ? found : policy->transform_embedding_output(t, weight, has_scale, found);
    }
    /// Declares the parameters without a lookup, for modules with tied weights.
    constexpr void declare(trace& t, literal name) const {
        const module_info m{.name = name, .class_of_module = named, .module_role = module_role, .is_leaf = is_leaf};
        t.enter(m);
        (void)t.param("weight", {num_embeddings, embedding_dim});
        t.leave(m);
    }
};

}  // namespace llmcost
