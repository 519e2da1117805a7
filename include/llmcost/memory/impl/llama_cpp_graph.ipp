// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/llama_cpp_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/ggml_graph.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/layer_plan.hpp>

namespace llmcost::detail {

LLMCOST_INLINE llama_cpp_architecture llama_cpp_architecture_of(const model& m) {
    const std::string_view type = (m.text_spec != nullptr ? m.text_spec : m.spec)->model_type;
    for (const llama_cpp_architecture& architecture : llama_cpp_architectures)
        if (architecture.model_type == type) return architecture;
    return {.model_type = type};
}

/// Builds the graph of one model.
class llama_cpp_graph_builder {
public:
    llama_cpp_graph_builder(const model& m, const llama_cpp_placement& placement, const llama_cpp_batch& batch)
        : config_(m.config),
          architecture_(llama_cpp_architecture_of(m)),
          placement_(placement),
          batch_(batch),
          num_tokens_(batch.num_tokens),
          heads_(config_.num_attention_heads),
          kv_heads_(config_.num_key_value_heads > 0 ? config_.num_key_value_heads : config_.num_attention_heads) {}

    [[nodiscard]] ggml_graph build() {
        tensor hidden = embeddings();
        positions_ = graph_.add_input(bytes(num_tokens_));
        full_ = cache_inputs(batch_.cells);
        if (architecture_.has_sliding_cache) sliding_ = cache_inputs(batch_.sliding_cells);
        output_ids_ = graph_.add_input(bytes(batch_.num_outputs));
        for (std::int64_t i = 0; i < config_.num_hidden_layers; ++i) hidden = layer(hidden, i);
        if (architecture_.selects_after_layers) {
            graph_.mark_output(hidden);
            hidden = select_outputs(hidden);
        }
        hidden = norm(hidden, placement_.output);
        graph_.mark_output(hidden);
        const tensor logits =
            linear(config_.vocab_size, config_.hidden_size, batch_.num_outputs, hidden, placement_.output);
        graph_.mark_output(logits);
        graph_.expand(logits);
        return std::move(graph_);
    }

private:
    using tensor = ggml_graph::tensor;
    /// Inputs of the layers that share a cache.
    struct cache_input {
        tensor key_indices = -1;
        tensor value_indices = -1;
        tensor mask = -1;
        tensor key_rotation = -1;
        tensor value_rotation = -1;
        std::int64_t cells = 0;
    };

    /// Bytes of float32 elements, and of int32 elements.
    [[nodiscard]] static std::uint64_t bytes(std::int64_t elements) { return static_cast<std::uint64_t>(elements) * 4; }
    [[nodiscard]] std::int64_t hidden_elements() const { return config_.hidden_size * num_tokens_; }

    [[nodiscard]] tensor weight(std::int64_t elements, std::int32_t backend) {
        return graph_.add_weight(static_cast<std::uint64_t>(static_cast<double>(elements) * batch_.bytes_per_weight),
                                 backend);
    }
    /// Vectors are stored in float32.
    [[nodiscard]] tensor norm_weight(std::int32_t backend) {
        return graph_.add_weight(bytes(config_.hidden_size), backend);
    }
    [[nodiscard]] tensor linear(std::int64_t rows, std::int64_t columns, std::int64_t num_tokens, tensor input,
                                std::int32_t backend) {
        return graph_.add_operation(bytes(rows * num_tokens), {weight(rows * columns, backend), input});
    }
    [[nodiscard]] tensor in_place_of(tensor t, std::vector<tensor> sources) {
        sources.insert(sources.begin(), t);
        return graph_.add_in_place(graph_.nodes()[static_cast<std::size_t>(t)].bytes, std::move(sources));
    }
    [[nodiscard]] tensor norm(tensor input, std::int32_t backend) {
        return in_place_of(in_place_of(input, {}), {norm_weight(backend)});
    }
    /// A norm that runs on the device of its layer, so that it is not copied from that of the previous layer
    /// (`llama_context::graph_get_cb`).
    [[nodiscard]] tensor layer_norm(tensor input, std::int32_t backend) {
        const tensor normed = in_place_of(input, {});
        if (placement_.is_complete) graph_.set_backend(normed, backend);
        return in_place_of(normed, {norm_weight(backend)});
    }

    /// The token embeddings. Embeddings of other inputs, and batches that mix both, are branches that are also
    /// allocated (`build_inp_embd`).
    [[nodiscard]] tensor embeddings() {
        const std::int32_t host = placement_.host();
        const tensor table = weight(config_.vocab_size * config_.hidden_size, host);
        const std::uint64_t size = bytes(hidden_elements());
        const tensor tokens = graph_.add_input(bytes(num_tokens_));
        const tensor vectors = graph_.add_input(size);
        tensor hidden = graph_.add_row_lookup(size, {table, tokens});
        const tensor mixed_tokens = graph_.add_input(bytes(num_tokens_));
        const tensor mixed_slots = graph_.add_input(2 * bytes(num_tokens_));
        const tensor mixed_vectors = graph_.add_input(size);
        const tensor copy = graph_.add_operation(size, {mixed_vectors});
        const tensor mixed = graph_.add_write(copy, {graph_.add_row_lookup(size, {table, mixed_tokens}), mixed_slots});
        for (const tensor branch : {hidden, vectors, mixed}) graph_.expand(branch);
        if (architecture_.embedding == embedding_scaling::constant) return in_place_of(hidden, {});
        if (architecture_.embedding == embedding_scaling::by_token) {
            hidden = in_place_of(hidden, {graph_.add_input(bytes(num_tokens_))});
            graph_.expand(hidden);
        }
        return hidden;
    }

    [[nodiscard]] cache_input cache_inputs(std::int64_t cells) {
        cache_input inputs;
        inputs.cells = cells;
        inputs.key_indices = graph_.add_input(2 * bytes(num_tokens_));
        // Without flash attention, values are transposed in the cache, and each element has an index.
        const std::int64_t value_elements = batch_.has_flash_attention ? 1 : kv_heads_ * config_.head_dim;
        inputs.value_indices = graph_.add_input(2 * bytes(num_tokens_ * value_elements));
        const std::uint64_t mask_bytes = bytes(cells * num_tokens_);
        inputs.mask = graph_.add_input(batch_.has_flash_attention ? mask_bytes / 2 : mask_bytes);
        if (batch_.rotates_keys) {
            std::int64_t size = 64;
            while (config_.head_dim % (2 * size) == 0) size *= 2;
            inputs.key_rotation = graph_.add_input(bytes(size * size));
        }
        if (batch_.rotates_values) inputs.value_rotation = graph_.add_input(bytes(64 * 64));
        return inputs;
    }

    [[nodiscard]] tensor select_outputs(tensor t) {
        return graph_.add_operation(bytes(config_.hidden_size * batch_.num_outputs), {t, output_ids_});
    }

    [[nodiscard]] tensor layer(tensor input, std::int64_t index) {
        const std::int32_t backend = placement_.layers[static_cast<std::size_t>(index)];
        tensor residual = input;
        tensor hidden = attention(layer_norm(input, backend), index, backend);
        const bool is_last = index == config_.num_hidden_layers - 1;
        if (is_last && !architecture_.selects_after_layers) {
            hidden = select_outputs(hidden);
            residual = select_outputs(residual);
            num_tokens_ = batch_.num_outputs;
        }
        if (architecture_.has_post_norms) hidden = layer_norm(hidden, backend);
        const tensor middle = in_place_of(hidden, {residual});
        const tensor normed = layer_norm(middle, backend);
        hidden = config_.layers[index].has_experts ? experts(normed, index, backend)
                                                   : mlp(normed, mlp_width(index), backend);
        if (architecture_.has_post_norms) hidden = layer_norm(hidden, backend);
        return architecture_.adds_to_residual ? in_place_of(middle, {hidden}) : in_place_of(hidden, {middle});
    }

    [[nodiscard]] std::int64_t mlp_width(std::int64_t index) const {
        const std::int64_t width = config_.layers[index].intermediate_size;
        return width > 0 ? width : config_.intermediate_size;
    }

    [[nodiscard]] tensor rotate(tensor t, tensor rotation) {
        const std::uint64_t size = graph_.nodes()[static_cast<std::size_t>(t)].bytes;
        return graph_.add_view(graph_.add_operation(size, {rotation, graph_.add_view(t)}));
    }

    [[nodiscard]] tensor attention(tensor input, std::int64_t index, std::int32_t backend) {
        const std::int64_t q_size = heads_ * config_.head_dim, kv_size = kv_heads_ * config_.head_dim;
        const bool is_sliding =
            architecture_.has_sliding_cache && config_.layers[index].token_mixer != token_mixer_kind::full_attention;
        const cache_input& cache = is_sliding ? sliding_ : full_;

        const auto projection = [&](std::int64_t size) {
            return graph_.add_view(linear(size, config_.hidden_size, num_tokens_, input, backend));
        };
        tensor query = -1, key = -1, value = -1;
        if (architecture_.has_fused_projections) {
            const tensor all = linear(q_size + 2 * kv_size, config_.hidden_size, num_tokens_, input, backend);
            const auto part = [&](std::int64_t size) {
                return graph_.add_view(all, bytes(size + (num_tokens_ - 1) * (q_size + 2 * kv_size)));
            };
            query = part(q_size);
            key = part(kv_size);
            value = part(kv_size);
        } else {
            query = projection(q_size);
            key = projection(kv_size);
            value = projection(kv_size);
        }
        const auto position = [&](tensor projected, std::int64_t size) {
            const std::uint64_t size_bytes = bytes(size * num_tokens_);
            if (architecture_.has_qk_norm) projected = graph_.add_in_place(size_bytes, {projected});
            return graph_.add_in_place(size_bytes, {projected, positions_});
        };
        query = position(query, q_size);
        key = position(key, kv_size);
        if (cache.key_rotation >= 0) {
            query = rotate(query, cache.key_rotation);
            key = rotate(key, cache.key_rotation);
        }
        if (cache.value_rotation >= 0) value = rotate(value, cache.value_rotation);
        graph_.expand(query);
        graph_.expand(architecture_.has_sliding_cache ? key : value);
        graph_.expand(architecture_.has_sliding_cache ? value : key);

        const auto cache_of = [&](const ggml_block& type) {
            return graph_.add_cache(
                type.bytes_of(count(kv_size) * count(cache.cells) * count(batch_.num_streams)).to_64(), backend);
        };
        const tensor keys = cache_of(batch_.keys), values = cache_of(batch_.values);
        graph_.expand(graph_.add_write(keys, {graph_.add_view(key), cache.key_indices}));
        // Transposed values are written element by element, from contiguous memory.
        const bool copies_values = architecture_.has_fused_projections && !batch_.has_flash_attention;
        const tensor written = copies_values ? graph_.add_operation(bytes(kv_size * num_tokens_), {value}) : value;
        graph_.expand(graph_.add_write(values, {graph_.add_view(written), cache.value_indices}));

        const std::uint64_t output_bytes = bytes(q_size * num_tokens_);
        const tensor read_query = graph_.add_view(query);
        tensor output = -1;
        if (batch_.has_flash_attention) {
            output = graph_.add_view(graph_.add_operation(
                output_bytes, {read_query, graph_.add_view(keys), graph_.add_view(values), cache.mask}));
        } else {
            const std::uint64_t score_bytes = bytes(cache.cells * num_tokens_ * heads_);
            const tensor scores = graph_.add_operation(score_bytes, {graph_.add_view(keys), read_query});
            const tensor product =
                graph_.add_operation(output_bytes, {graph_.add_view(values), in_place_of(scores, {cache.mask})});
            output = graph_.add_operation(output_bytes, {graph_.add_view(product)});
        }
        graph_.expand(output);
        if (cache.value_rotation >= 0)
            output =
                graph_.add_view(graph_.add_operation(output_bytes, {cache.value_rotation, graph_.add_view(output)}));
        return linear(config_.hidden_size, q_size, num_tokens_, output, backend);
    }

    [[nodiscard]] tensor mlp(tensor input, std::int64_t width, std::int32_t backend) {
        const std::uint64_t width_bytes = bytes(width * num_tokens_);
        tensor activated = -1;
        if (architecture_.has_fused_projections) {
            activated = graph_.add_operation(width_bytes,
                                             {linear(2 * width, config_.hidden_size, num_tokens_, input, backend)});
        } else {
            const tensor gate = linear(width, config_.hidden_size, num_tokens_, input, backend);
            const tensor up = linear(width, config_.hidden_size, num_tokens_, input, backend);
            activated = graph_.add_operation(width_bytes, {gate, up});
        }
        return linear(config_.hidden_size, width, num_tokens_, activated, backend);
    }

    /// A mixture of experts (`build_moe_ffn`).
    [[nodiscard]] tensor experts(tensor input, std::int64_t index, std::int32_t backend) {
        const moe_config& moe = config_.moe;
        const std::int64_t selected = moe.num_experts_per_tok * num_tokens_;
        const std::int32_t expert_backend = placement_.experts[static_cast<std::size_t>(index)];
        const tensor scores = linear(moe.num_experts, config_.hidden_size, num_tokens_, input, backend);
        const tensor probabilities = architecture_.normalizes_selected ? scores : in_place_of(scores, {});
        const tensor ids = graph_.add_view(graph_.add_operation(bytes(moe.num_experts * num_tokens_), {probabilities}),
                                           bytes(moe.num_experts_per_tok + (num_tokens_ - 1) * moe.num_experts));
        tensor weights = graph_.add_operation(bytes(selected), {graph_.add_view(probabilities), ids});
        if (architecture_.normalizes_selected)
            weights = graph_.add_view(graph_.add_in_place(bytes(selected), {graph_.add_view(weights)}));
        if (architecture_.divides_by_sum) {
            const tensor addends = graph_.add_view(weights);
            const tensor sum = in_place_of(graph_.add_operation(bytes(num_tokens_), {addends}), {});
            weights = graph_.add_view(graph_.add_in_place(bytes(selected), {addends, sum}));
        }
        graph_.expand(weights);

        const tensor tokens = graph_.add_view(input);
        const std::int64_t matrix = moe.num_experts * moe.intermediate_size * config_.hidden_size;
        const std::uint64_t width_bytes = bytes(moe.intermediate_size * selected);
        const auto expert_matrix = [&] {
            return graph_.add_weight(
                static_cast<std::uint64_t>(static_cast<double>(matrix) * batch_.bytes_per_expert_weight),
                expert_backend);
        };
        const auto projection = [&] { return graph_.add_operation(width_bytes, {expert_matrix(), tokens, ids}); };
        const tensor gate = projection(), up = projection();
        const tensor activated = graph_.add_operation(width_bytes, {gate, up});
        tensor outputs = graph_.add_operation(bytes(config_.hidden_size * selected), {expert_matrix(), activated, ids});
        outputs = in_place_of(outputs, {weights});
        graph_.expand(outputs);
        std::vector<tensor> of_expert;
        for (std::int64_t k = 0; k < moe.num_experts_per_tok; ++k) {
            of_expert.push_back(graph_.add_view(outputs));
            graph_.expand(of_expert.back());
        }
        tensor sum = of_expert.front();
        for (std::size_t k = 1; k < of_expert.size(); ++k) {
            sum = graph_.add_in_place(bytes(hidden_elements()), {sum, of_expert[k]});
            graph_.expand(sum);
        }
        if (of_expert.size() == 1) sum = graph_.add_operation(bytes(hidden_elements()), {sum});
        if (moe.shared_intermediate_size == 0) return sum;
        return in_place_of(sum, {mlp(input, moe.shared_intermediate_size, backend)});
    }

    const model_config& config_;
    llama_cpp_architecture architecture_;
    const llama_cpp_placement& placement_;
    const llama_cpp_batch& batch_;
    std::int64_t num_tokens_;
    std::int64_t heads_;
    std::int64_t kv_heads_;
    ggml_graph graph_;
    tensor positions_ = -1;
    tensor output_ids_ = -1;
    cache_input full_;
    cache_input sliding_;
};

LLMCOST_INLINE ggml_graph llama_cpp_graph(const model& m, const llama_cpp_placement& placement,
                                          const llama_cpp_batch& batch) {
    return llama_cpp_graph_builder(m, placement, batch).build();
}

}  // namespace llmcost::detail
