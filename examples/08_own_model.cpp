// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A decoder that is composed in C++, in every analysis: counts, evaluator, training, what fits, a server.
//
// arguments: configs/calibrations
// expects: 1024 parameters in a block of 16
// expects: cache of one token: 64 elements
// expects: one request is faster than a thousand: 1
#include <iostream>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/server.hpp>

struct attention {
    std::int64_t width, heads;

    static constexpr llmcost::role module_role = llmcost::role::attn;
    static constexpr bool is_leaf = false;
    constexpr llmcost::class_name type_name() const { return {"My", "Attention"}; }
    constexpr llmcost::tensor forward(llmcost::trace& t, const llmcost::tensor& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const llmcost::attention_pattern pattern{
            .query_length = sequence, .cached_length = t.load().past, .num_previous_tokens = t.load().past};
        const auto heads_of = [&](llmcost::literal name) {
            const llmcost::tensor all = t.call(name, llmcost::linear{width, width}, x);
            return all.view({batch, sequence, heads, width / heads}).transpose(1, 2);
        };
        const llmcost::tensor q = heads_of("q_proj"), k = update_kv_cache(t, heads_of("k_proj"), pattern),
                              v = update_kv_cache(t, heads_of("v_proj"), pattern);
        const llmcost::tensor mixed = attention_forward(t, q, k, v, pattern, {});
        return t.call("o_proj", llmcost::linear{width, width}, t.reshape(mixed, {batch, sequence, width}));
    }
};

// the sizes come from the configuration, the workload from the trace
constexpr llmcost::tensor forward(const llmcost::layer_context& ctx, llmcost::trace& t) {
    const llmcost::model_config& config = ctx.config;
    const llmcost::module_info root{.class_of_module = {"My", "Model"}};
    t.enter(root);
    const llmcost::shape tokens{t.load().batch, t.load().sequence};
    llmcost::tensor x = t.call("embed", llmcost::embedding{config.vocab_size, config.hidden_size}, tokens);
    for (llmcost::loop layer = t.loop_modules(config.num_hidden_layers, x); layer.next();)
        x = t.add(x, t.call({"blocks", layer.index()}, attention{config.hidden_size, config.num_attention_heads}, x));
    const llmcost::linear head{config.hidden_size, config.vocab_size};
    return t.leave(root, t.call("head", llmcost::head_linear{head}, x));
}

constexpr llmcost::model_spec spec = llmcost::composed_spec("My", forward);

constexpr llmcost::model_config sizes() {
    llmcost::model_config config;
    config.hidden_size = 16;
    config.num_hidden_layers = 2;
    config.num_attention_heads = config.num_key_value_heads = 2;
    config.head_dim = 8;
    config.vocab_size = 100;
    return config;
}

int main(int count, char** arguments) {
    if (count != 2) return 2;
    constexpr llmcost::model m = llmcost::composed_model(spec, sizes());
    static_assert(llmcost::count_model(m, {}).params == 2 * 4 * 16 * 16 + 2 * 100 * 16);

    // four matrices of 16 x 16; keys and values of two layers, 16 elements each
    std::cout << llmcost::count_model(m, {}, llmcost::scope_query{"blocks.0"}).params << " parameters in a block of "
              << m.config.hidden_size << '\n';
    llmcost::cost_evaluator evaluate(m);
    std::cout << "cache of one token: " << evaluate({.sequence = 1}).cache_elements << " elements\n";

    const llmcost::training_run run = llmcost::train(m, {.batch = 4, .sequence = 32}, {});
    const llmcost::rank_memory ranks(m, {.sequence = 32}, llmcost::engine_memory_profiles[0]);
    const llmcost::fit_figures fit =
        llmcost::fit_inference(ranks, {.sequence = 32}, static_cast<std::uint64_t>(1) << 30);
    if (run.pass_metrics.flops() == llmcost::count{} || fit.max_batch == 0) return 1;

    llmcost::kernel_library kernels("h200", "vllm", "", arguments[1]);
    const llmcost::engine& vllm = *llmcost::find_engine("vllm");
    const llmcost::device& h200 = kernels.target_device();
    const llmcost::execution execution = llmcost::execution_of(vllm, h200, {}, llmcost::make_parallel_config(m, 1));
    llmcost::server server(m, execution, vllm, h200, kernels);
    const double one = server({.input_tokens = 32, .output_tokens = 8, .concurrency = 1}).tpot_seconds,
                 thousand = server({.input_tokens = 32, .output_tokens = 8, .concurrency = 1000}).tpot_seconds;
    std::cout << "one request is faster than a thousand: " << (one < thousand) << '\n';
}
