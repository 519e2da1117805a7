// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/arch/llama.hpp>
#include <llmcost/llmcost.hpp>

#include <type_traits>

// A model is a literal, and everything about it is known at compile time.
namespace {

using namespace llmcost;

// meta-llama/Llama-3.2-1B, config.json
constexpr model llama_3_2_1b{&arch::llama,
                             {.vocab_size = 128256,
                              .hidden_size = 2048,
                              .intermediate_size = 8192,
                              .num_hidden_layers = 16,
                              .num_attention_heads = 32,
                              .num_key_value_heads = 8,
                              .head_dim = 64,
                              .rotary_dim = 64,
                              .max_position_embeddings = 131072,
                              .hidden_act = activation::silu,
                              .dtype_of_weights = dtype::bfloat16,
                              .tie_word_embeddings = true}};

constexpr workload request{.batch = 16, .sequence = 200};

static_assert(std::is_trivially_copyable_v<model>);
static_assert(std::is_trivially_copyable_v<model_metrics>);

// the whole model, logits of every position
constexpr model_metrics total = count_model(llama_3_2_1b, request);
static_assert(total.params == count(1'235'814'400));
static_assert(total.active_params == total.params);
static_assert(total.cache_elements == count(52'428'800));
static_assert(total.cache_bytes == count(104'857'600));
static_assert(total.weight_bytes == count(2'471'628'800));
static_assert(total.add == count(3'996'241'920'000));
static_assert(total.mult == count(3'998'410'374'400));
static_assert(total.torch_flops == count(7'992'665'702'400));
static_assert(total.macs() == count(3'996'332'851'200));
static_assert(total.flops() == count(7'994'652'294'400));

// everything but the head
constexpr model_metrics transformer = count_model(llama_3_2_1b, request, scope_query{"transformer"});
static_assert(transformer.add == count(3'156'113'817'600));
static_assert(transformer.mult == count(3'157'871'852'800));
static_assert(transformer.div == count(747'321'600));
static_assert(transformer.sqrt == count(105'600));
static_assert(transformer.exp == count(747'110'400));
static_assert(transformer.params == count(1'235'814'400));  // the head's weight is the embedding's
static_assert(transformer.cache_elements == count(52'428'800));
static_assert(transformer == count_model(llama_3_2_1b, request, scope_query{role::transformer}));

// a tensor of the head's own
constexpr model untied = [] {
    model m = llama_3_2_1b;
    m.config.tie_word_embeddings = false;
    return m;
}();
static_assert(count_model(untied, request).params == count(1'235'814'400 + 128'256 * 2'048));
static_assert(count_model(untied, request).add == total.add);

// one layer by its number, and any layer
static_assert(count_model(llama_3_2_1b, request, scope_query{"model.layers.3.mlp.up_proj"}).params ==
              count(8192 * 2048));
static_assert(count_model(llama_3_2_1b, request, scope_query{"model.layers.*.mlp.up_proj"}).params ==
              count(16 * 8192 * 2048));
static_assert(count_model(llama_3_2_1b, request, scope_query{"model.layers.1*.mlp.up_proj"}).params ==
              count(7 * 8192 * 2048));

// a class by either name, and a parameter by its own, as the command understands words
static_assert(count_model(llama_3_2_1b, request, scope_query{"torch.nn.Embedding"}).params == count(128'256 * 2'048));
static_assert(count_model(llama_3_2_1b, request, scope_query{"LlamaMLP"}) ==
              count_model(llama_3_2_1b, request, scope_query{role::mlp}));
static_assert(count_model(llama_3_2_1b, request, scope_query{"ModuleList"}) ==
              count_model(llama_3_2_1b, request, scope_query{"model.layers"}));
static_assert(count_model(llama_3_2_1b, request, scope_query{"model.layers.1.mlp.up_proj.weight"}).params ==
              count(8192 * 2048));
static_assert(count_model(llama_3_2_1b, request, scope_query{"model.layers.*.input_layernorm.weight"}).params ==
              count(16 * 2048));
// a role that the model lacks is nothing
static_assert(count_model(llama_3_2_1b, request, scope_query{role::experts}) == model_metrics{});

// cells of the cache: 16 layers, keys and values, 8 heads of 64; decoding one token after 1000
static_assert(count_model(llama_3_2_1b, {.sequence = 1, .past = 1000}).cache_elements == count(16 * 2 * 8 * 64 * 1001));

// a training step has no cache, and backward executes every matrix product twice
constexpr model_metrics step = count_model(llama_3_2_1b, {.batch = 2, .sequence = 64, .training = true});
static_assert(step.cache_elements == count{});
static_assert(step.backward_torch_flops == count(2) * step.torch_flops);
static_assert(step.saved_bytes > count{});

}  // namespace
