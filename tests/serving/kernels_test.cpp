// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../unit/laws.hpp"
#include "unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/serving/mixed_batch.hpp>
#include <llmcost/serving/step_time_model.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

std::string line_of(const model_kernel& k) {
    std::string text = k.module_path + ' ' + std::string(k.shape.type->name);
    for (std::size_t i = 0; i < k.shape.type->size_count; ++i) text += ' ' + std::to_string(k.shape.sizes[i]);
    return text + " x" + std::to_string(k.num_runs);
}
std::vector<std::string> lines_of(const std::vector<model_kernel>& kernels) {
    std::vector<std::string> all;
    for (const model_kernel& k : kernels) all.push_back(line_of(k));
    return all;
}

/// Work of all kernels of a family; every one where it is empty.
kernel_work work_of(const std::vector<model_kernel>& kernels, string_ref family = {}) {
    kernel_work sum;
    for (const model_kernel& k : kernels) {
        if (!family.empty() && !(k.shape.type->name == family)) continue;
        sum.flops += static_cast<double>(k.num_runs) * k.shape.work().flops;
        sum.bytes += static_cast<double>(k.num_runs) * k.shape.work().bytes;
    }
    return sum;
}

bool mixes_linearly(const model& m) {
    for (std::int64_t i = 0; i < m.config.num_hidden_layers; ++i)
        if (m.config.layers[i].token_mixer == token_mixer_kind::recurrent) return true;
    return m.config.ssm.state_size > 0;
}

}  // namespace

// Llama-3.2-1B: 16 layers, width 2048, 32 heads of 64 with 8 keys, 8192 inside, 128256 words; 16 sequences are 32,768
// elements. The activation reads gate and up and writes once.
TEST_CASE("a decoder's step is the kernels that an engine runs") {
    const std::vector<std::string> lines = lines_of(
        kernels_of(presets::llama_3_2_1b, {.batch = 16, .sequence = 1, .past = 1000, .head = logits::last}, {}));
    const std::vector<std::string> products{
        "model.layers.*.self_attn.q_proj+k_proj+v_proj gemm 16 3072 2048 x16",
        "model.layers.*.self_attn generation_attention 16 1000 32 8 64 0 0 x16",
        "model.layers.*.self_attn.o_proj gemm 16 2048 2048 x16",
        "model.layers.*.mlp.gate_proj+up_proj gemm 16 16384 2048 x16",
        "model.layers.*.mlp.act_fn elementwise 16 8192 393216 3801088 0 x16",  // moved 3 · 16 · 8192, by sums and
                                                                               // products of silu (2), its division and
                                                                               // exponential (16, 9), its sign and the
                                                                               // gate (1 each)
        "model.layers.*.mlp.down_proj gemm 16 2048 8192 x16",
        "model.layers.* elementwise 16 2048 133120 164608 0 x31",  // the sum, and the norm of it: 4 · 32768 and the
                                                                   // norm's weight; 5 for each element, 48 for each
                                                                   // row's root
        "lm_head gemm 16 128256 2048 x1"};
    for (const std::string& line : products) {
        INFO(line);
        CHECK(std::count(lines.begin(), lines.end(), line) == 1);
    }
    CHECK(lines.size() == 11);  // and the embedding with the first norm, the rotation, the last norm
    CHECK(lines.front().starts_with("model.embed_tokens elementwise "));
    CHECK(lines[lines.size() - 2] ==
          "model.layers.* elementwise 16 2048 100352 164608 0 x1");  // the last sum is read by its norm alone
}

TEST_CASE("a chain moves two bytes for each element that it reads or writes") {
    for (const model_kernel& k :
         kernels_of(presets::llama_3_2_1b, {.batch = 16, .sequence = 1, .head = logits::last}, {}))
        if (k.module_path.ends_with("act_fn")) CHECK(k.shape.work().bytes == 2.0 * 3 * 16 * 8192);
}

// Mamba-Codestral-7B: 64 layers, 128 heads of 64 values, 8 groups of keys, states of 128, chunks of 256 tokens
TEST_CASE("a scan by a state per head is one kernel, of one token or of chunks") {
    const golden_model* mamba = nullptr;
    for (const golden_model& g : golden_models())
        if (g.golden.name == "mistralai__Mamba-Codestral-7B-v0.1") mamba = &g;
    REQUIRE(mamba != nullptr);
    const auto scan = [&](const workload& load) {
        for (const model_kernel& k : kernels_of(mamba->built, load, {}))
            if (k.shape.type->name == "linear_attention") return k;
        return model_kernel{};
    };
    const model_kernel step = scan({.batch = 2, .sequence = 1, .past = 9}),
                       prompt = scan({.batch = 1, .sequence = 300});
    CHECK(line_of(step) == "backbone.layers.*.mixer linear_attention 2 1 128 8 128 64 256 x64");
    CHECK(step.shape.work().flops == 2.0 * 128 * 4 * 128 * 64);
    CHECK(step.shape.work().bytes == 2.0 * (8 * 128 * 128 * 64 + 2 * 2 * (128 * 64 + 8 * 128)));
    CHECK(prompt.shape.variant == "decay");
    CHECK(prompt.shape.work().flops == 300.0 * 128 * (4 * 128 * 64 + 2 * 256 * (128 + 64)));
}

TEST_CASE("a prompt's attention is one kernel that sees its past") {
    const std::vector<std::string> lines = lines_of(
        kernels_of(presets::llama_3_2_1b, {.batch = 2, .sequence = 100, .past = 30, .head = logits::last}, {}));
    CHECK(std::count(lines.begin(), lines.end(), "model.layers.*.self_attn context_attention 2 100 32 8 64 0 30 x16") ==
          1);
    CHECK(std::count(lines.begin(), lines.end(), "lm_head gemm 2 128256 2048 x1") == 1);
}

// decoding sees all that was there, so that no score is masked: what eager executes and what kernels do is the same
TEST_CASE("kernels execute the products of the reference, all of them and no more") {
    std::size_t num_checked = 0;
    for_all(
        {{.batch = 3, .sequence = 1, .past = 4, .head = logits::last},
         {.batch = 2, .sequence = 1, .past = 0, .encoder_sequence = 5}},  // einsum makes no product over one key
        [&](const model& m, const workload& load) {
            const std::vector<model_kernel> kernels = kernels_of(m, load, {});
            if (m.config.mla.kv_lora_rank > 0 || mixes_linearly(m) || load.sequence != 1) return;
            const count total_flops = count_model(m, load).torch_flops;
            const count routed = count_model(m, load, scope_query{role::experts}).torch_flops;
            CHECK(work_of(kernels).flops - work_of(kernels, "moe").flops ==
                  static_cast<double>((total_flops - routed).to_64()));
            ++num_checked;
        },
        {{"mimo_v2_flash levit", "values are of another width than keys; a kernel has one"},
         {"xlnet deberta-v2 funnel", "relative positions are scored by products that no kernel does"},
         {"musicgen_melody", "what it hears stands in front of a first token, which is no step then"},
         {"longformer", "tokens see windows, the kernel that stands for them all tokens"},
         {"deepseek_v4", "entries that stand for many tokens are compared beside a window, which no kernel tells"}});
    CHECK(num_checked > 100);
}

TEST_CASE("layers that are alike are walked a few times and stand for all") {
    std::size_t shortened = 0, mixed = 0;
    for_all({{.batch = 2, .sequence = 1, .past = 4, .head = logits::last}, {.batch = 2, .sequence = 9}},
            [&](const model& m, const workload& load) {
                const auto shortened_kernels = kernels_of(m, load, {}),
                           all_kernels = llmcost::detail::folded_kernels(m, load, {}, {});
                CHECK(lines_of(shortened_kernels) == lines_of(all_kernels));
                const auto run = llmcost::longest_layer_run(m.config.layers, m.config.num_hidden_layers, 3);
                if (run.repetitions > 3) ++(m.config.layers.is_heterogeneous() ? mixed : shortened);
            });
    CHECK(shortened > 30);
    CHECK(mixed > 10);
}

// three dense layers and 58 with experts; full and sliding attention in turns; every fourth, sixth, eighth layer
// another
TEST_CASE("what comes again in a plan is found") {
    const auto run_of = [](const std::string& kinds) {
        layer_plan plan;
        for (std::size_t i = 0; i < kinds.size(); ++i)
            (void)plan.set(static_cast<std::int64_t>(i), {.family_tag = static_cast<std::uint8_t>(kinds[i])});
        const auto run = llmcost::longest_layer_run(plan, static_cast<std::int64_t>(kinds.size()), 3);
        return std::array{run.first, run.period, run.repetitions};
    };
    const auto times = [](std::string_view part, int n) {
        std::string all;
        for (; n > 0; --n) all += part;
        return all;
    };
    using found = std::array<std::int64_t, 3>;
    CHECK(run_of("ddd" + times("m", 58)) == found{3, 1, 58});
    CHECK(run_of(times("sf", 12)) == found{0, 2, 12});
    CHECK(run_of(times("sssssf", 4) + "ss") == found{0, 6, 4});
    CHECK(run_of("x" + times("llla", 7) + "y") == found{1, 4, 7});
    CHECK(run_of("abcdefghijklmnopqrs") == found{0, 1, 0});
}

TEST_CASE("one latent is compared where it is cached, a prompt's is expanded") {
    for_models([&](const golden_model& g) {
        const mla_config& mla = g.built.config.mla;
        if (mla.kv_lora_rank == 0) return;
        const auto step = kernels_of(g.built, {.batch = 2, .sequence = 1, .past = 5}, {});
        const auto prompt = kernels_of(g.built, {.batch = 2, .sequence = 6, .past = 1}, {});
        std::int64_t absorbed = 0, expanded = 0;
        for (const model_kernel& k : step)
            if (k.module_path.ends_with("kv_b_proj")) absorbed += k.num_runs * k.shape.sizes[1] * k.shape.sizes[2];
        for (const model_kernel& k : prompt)
            if (k.module_path.ends_with("kv_b_proj")) {
                CHECK(k.shape.sizes[0] == 2 * 7);
                expanded += k.num_runs * k.shape.sizes[1] * k.shape.sizes[2];
            }
        // the same weights either way, those of the layers that have latents
        count weights;
        for (const scope_figures& s : list_model(g.built, {.batch = 2, .sequence = 6, .past = 1}).scopes)
            if (s.path.ends_with(".kv_b_proj")) weights += s.sums.parameters;
        CHECK(count(absorbed) == weights);
        CHECK(expanded == absorbed);
    });
}

// Proposed tokens stand one behind the other: token i of them sees what a decoding step behind i more tokens does.
TEST_CASE("proposed tokens are checked by the kernels that decode") {
    const workload load{.batch = 2, .sequence = 4, .past = 50, .encoder_sequence = 20};
    const auto one_token = [](std::int64_t past) {
        return workload{.batch = 2, .sequence = 1, .past = past, .encoder_sequence = 20};
    };
    execution decoding;
    decoding.is_decode_step = true;
    for_models(
        [&](const golden_model& g) {
            if (fitted(g.built, load).past != load.past || count_model(g.built, load).cache_elements == count{}) return;
            const auto checked = kernels_of(g.built, load, decoding);
            for (const literal family : {"generation_attention", "generation_mla"}) {
                double one_by_one = 0;
                for (std::int64_t i = 0; i < load.sequence; ++i)
                    one_by_one += work_of(kernels_of(g.built, one_token(load.past + i), {}), family).flops;
                CHECK(work_of(checked, family).flops == one_by_one);
            }
            CHECK(work_of(checked, "context_attention").flops == 0);
            CHECK(work_of(checked, "context_mla").flops == 0);
            for (const model_kernel& k : checked)
                if (k.module_path.ends_with("kv_b_proj")) CHECK(k.shape.sizes[0] == load.batch * load.sequence);
        },
        {{"dots3_note dots3_note_text hy_v4", "expand what was cached in every step, as the reference does"}});
}

TEST_CASE("groups of one step share what goes through all rows, and the launches of attention") {
    for_models(
        [&](const golden_model& g) {
            if (fitted(g.built, {.batch = 1, .sequence = 1, .past = 300}).past != 300) return;
            const auto step = [&](std::int64_t batch, std::int64_t past) {
                return kernels_of(g.built, {.batch = batch, .sequence = 1, .past = past, .head = logits::last}, {});
            };
            // one sequence alone may lie in memory otherwise than several
            std::vector<model_kernel> uniform = step(2, 100), ragged = step(2, 100);
            merge_step(uniform, step(2, 100));
            merge_step(ragged, step(2, 300));
            CHECK(uniform.size() == step(4, 100).size());
            std::int64_t separate_launches = 0, joined_launches = 0;
            for (const model_kernel& k : ragged)
                (k.shared_launch_index == model_kernel::separate_launch ? separate_launches : joined_launches) +=
                    k.num_runs;
            std::int64_t launched = 0;
            for (const model_kernel& k : step(4, 100)) launched += k.num_runs;
            CHECK(separate_launches == launched);
            for (const literal family :
                 {"generation_attention", "generation_mla", "linear_attention", "full_attention"}) {
                CHECK(work_of(uniform, family).flops == work_of(step(4, 100), family).flops);
                CHECK(work_of(ragged, family).flops ==
                      work_of(step(2, 100), family).flops + work_of(step(2, 300), family).flops);
            }
        },
        {{"deepseek_v4", "the token that fills a window makes an entry of it, so that not every step runs the same"},
         {"rwkv",
          "states without tokens meet all tokens of a batch, which goes on as its square (`RwkvSelfAttention`)"}});
}

TEST_CASE("rows that are more than 64 bits are refused") {
    std::vector<model_kernel> all = kernels_of(presets::llama_3_2_1b, {.batch = 1, .sequence = 1, .past = 1}, {}),
                              added = all;
    all[0].shape.sizes[0] = added[0].shape.sizes[0] = std::int64_t{1} << 62;
    CHECK_THROWS_AS(merge_step(all, added), overflow_error);
}

TEST_CASE("a window reaches the kernel, and bounds what it reads") {
    for_models([&](const golden_model& g) {
        if (g.built.config.sliding_window == 0 || g.built.config.num_hidden_layers == 0) return;
        const workload load = fitted(g.built, {.batch = 1, .sequence = 1, .past = 100000});
        const std::int64_t window = g.built.config.sliding_window;
        for (const model_kernel& k : kernels_of(g.built, load, {})) {
            if (!(k.shape.type->name == "generation_attention") || k.shape.sizes[5] == 0) continue;
            CHECK(k.shape.sizes[5] == window);
            const double visible_keys = static_cast<double>(std::min(window, load.past + 1));
            CHECK(k.shape.work().flops ==
                  4.0 * static_cast<double>(k.shape.sizes[2] * k.shape.sizes[4]) * visible_keys);
        }
    });
}

TEST_CASE("devices that share a model do its products together") {
    const model& m = presets::llama_3_1_70b;  // 64 heads, 8 of keys and values
    const workload load{.batch = 4, .sequence = 1, .past = 100, .head = logits::last};
    const double total_flops = work_of(kernels_of(m, load, {}), "gemm").flops;
    for (const std::int64_t n : {2, 4, 8}) {
        execution execution_config;
        execution_config.parallel.tensor_parallel_size = n;
        const auto kernels = kernels_of(m, load, execution_config);
        CHECK(work_of(kernels, "gemm").flops * static_cast<double>(n) == total_flops);
        std::int64_t sums = 0;
        for (const model_kernel& k : kernels)
            if (k.shape.type->name == "nccl" && k.shape.variant == "all_reduce") {
                CHECK(k.shape.sizes[0] == 4 * 8192);
                CHECK(k.shape.sizes[1] == n);
                sums += k.num_runs;
            }
        CHECK(sums == 2 * 80 + 1);  // attention and feed-forward of each layer, the embedding
    }
    execution tp16_config;
    tp16_config.parallel.tensor_parallel_size = 16;  // each key is on two devices
    for (const model_kernel& k : kernels_of(m, load, tp16_config))
        if (k.shape.type->name == "generation_attention") CHECK(k.shape.sizes[3] == 1);
}

TEST_CASE("experts are told how they are split, and tokens of all groups come to them") {
    execution execution_config;
    execution_config.parallel = {.tensor_parallel_size = 2,
                                 .data_parallel_size = 4,
                                 .expert_tensor_parallel_size = 1,
                                 .expert_parallel_size = 8};
    std::int64_t moe_kernels = 0, gathered = 0, scattered = 0;
    for (const model_kernel& k : kernels_of(
             presets::deepseek_v3, {.batch = 3, .sequence = 1, .past = 9, .head = logits::last}, execution_config)) {
        if (k.shape.type->name == "moe") {
            CHECK(line_of(k) == "model.layers.*.mlp.experts moe 12 7168 2048 8 256 1 8 x58");
            moe_kernels += k.num_runs;
        }
        if (k.shape.variant == "all_gather" && k.shape.sizes[1] == 4) gathered += k.num_runs;
        if (k.shape.variant == "reduce_scatter") scattered += k.num_runs;
    }
    CHECK(moe_kernels == 58);
    CHECK(gathered == 58);
    CHECK(scattered == 58);
}

TEST_CASE("what cannot be split is said") {
    const model& llama = presets::llama_3_2_1b;
    CHECK(string_ref(parallel_config_error(llama, {.tensor_parallel_size = 3})) ==
          "does not divide the number of attention heads");
    CHECK(string_ref(parallel_config_error(llama, {.tensor_parallel_size = 4})).empty());
    CHECK(string_ref(parallel_config_error(llama, {.tensor_parallel_size = 0})) == "expected at least one device");
    CHECK(string_ref(parallel_config_error(presets::deepseek_v3, {.tensor_parallel_size = 8})) ==
          "experts and attention use different numbers of devices");
    CHECK(
        string_ref(parallel_config_error(presets::deepseek_v3, {.tensor_parallel_size = 8, .expert_parallel_size = 8}))
            .empty());
}

TEST_CASE("no step is faster than physics, and more of anything takes no less time") {
    unmeasured no_measurements;
    step_time_model steps(presets::llama_3_1_70b, {}, h200, no_measurements);
    const double weights = 2.0 * 70e9;
    CHECK(steps.seconds(1, 1, 1) > weights / (h200.memory_bandwidth * 1e9));
    for (std::int64_t n = 1; n < 4096; n *= 2) {
        CHECK(steps.seconds(2 * n, 1, 500) >= steps.seconds(n, 1, 500));
        CHECK(steps.seconds(4, 1, 2 * n) >= steps.seconds(4, 1, n));
        CHECK(steps.seconds(1, 4 * n, 0) >= steps.seconds(1, 2 * n, 0));  // one token takes the kernels that decode
    }
}
