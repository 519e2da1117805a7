// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/files/check_tensors.hpp>
#include <llmcost/json.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "registry.hpp"

using llmcost::check_tensors;
using llmcost::stored_tensor;
using llmcost::tensor_check;

namespace {

llmcost::model_listing listing_of(const std::string& config) {
    const llmcost::config_document document = llmcost::parse_config(config, "test");
    const llmcost::model m = document.read_with([](llmcost::config_view v) { return parts::registry.read(v); });
    return llmcost::list_model(m, {.sequence = 2});
}
/// A checkpoint with all tensors of a walk, by the walk's names.
std::vector<stored_tensor> checkpoint_of(const llmcost::model_listing& listing) {
    std::vector<stored_tensor> out;
    for (const llmcost::tensor_shape& t : listing.tensors)
        out.push_back({t.name, "BF16", {t.sizes.begin(), t.sizes.end()}, 0});
    return out;
}
const std::string small_llama =
    R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8,"intermediate_size":12,)"
    R"("num_hidden_layers":2,"num_attention_heads":2,"vocab_size":20,"tie_word_embeddings":true})";
const std::string small_mixtral =
    R"({"model_type":"mixtral","architectures":["MixtralForCausalLM"],"hidden_size":8,"intermediate_size":12,)"
    R"("num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,"vocab_size":20,"num_local_experts":3,)"
    R"("num_experts_per_tok":2})";

}  // namespace

TEST_CASE("a checkpoint as predicted agrees, whether tied tensors are stored or not") {
    const llmcost::model_listing listing = listing_of(small_llama);
    std::vector<stored_tensor> stored = checkpoint_of(listing);
    CHECK(check_tensors(listing, stored).has_no_mismatch());
    CHECK(check_tensors(listing, stored).agree == stored.size());
    stored.push_back({"lm_head.weight", "BF16", {20, 8}, 0});
    tensor_check result = check_tensors(listing, stored);
    CHECK(result.has_no_mismatch());
    CHECK(result.tied == std::vector<std::string>{"lm_head.weight"});
    // the head alone stands for both
    stored.erase(stored.begin());
    result = check_tensors(listing, stored);
    CHECK(result.has_no_mismatch());
    CHECK(result.tied.empty());
}

TEST_CASE("what differs is told by name") {
    const llmcost::model_listing listing = listing_of(small_llama);
    std::vector<stored_tensor> stored = checkpoint_of(listing);
    stored.push_back({"model.layers.0.extra.weight", "BF16", {1}, 0});
    stored.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {2}, 0});
    stored[1].sizes = {7};
    const std::string changed = stored[1].name, removed = stored[2].name;
    stored.erase(stored.begin() + 2);
    const tensor_check c = check_tensors(listing, stored);
    CHECK_FALSE(c.has_no_mismatch());
    CHECK(c.not_predicted == std::vector<std::string>{"model.layers.0.extra.weight"});
    CHECK(c.absent == std::vector<std::string>{removed});
    CHECK(c.buffers == std::vector<std::string>{"model.layers.0.self_attn.rotary_emb.inv_freq"});
    REQUIRE(c.other_sizes.size() == 1);
    CHECK(c.other_sizes[0].name == changed);
    CHECK(c.other_sizes[0].predicted == std::vector<std::uint64_t>{8});
    CHECK(c.other_sizes[0].stored == std::vector<std::uint64_t>{7});
    CHECK(check_tensors(listing, {}).absent.size() == listing.tensors.size());
}

TEST_CASE("the prefix of a base model may be there or not") {
    const llmcost::model_listing listing = listing_of(small_llama);
    std::vector<stored_tensor> stored = checkpoint_of(listing);
    for (stored_tensor& t : stored) t.name.erase(0, 6);  // "model."
    CHECK(check_tensors(listing, stored).has_no_mismatch());
    const llmcost::model_listing base =
        listing_of(R"({"model_type":"bert","architectures":["BertModel"],"hidden_size":8,"intermediate_size":12,)"
                   R"("num_hidden_layers":1,"num_attention_heads":2,"vocab_size":20})");
    stored = checkpoint_of(base);
    for (stored_tensor& t : stored) {
        if (t.name.ends_with("LayerNorm.weight")) t.name.replace(t.name.size() - 6, 6, "gamma");
        if (t.name.ends_with("LayerNorm.bias")) t.name.replace(t.name.size() - 4, 4, "beta");
        t.name.insert(0, "bert.");
    }
    stored.push_back({"cls.predictions.bias", "F32", {20}, 0});
    const tensor_check c = check_tensors(base, stored);
    CHECK(c.absent.empty());
    CHECK(c.other_sizes.empty());
    CHECK(c.not_predicted == std::vector<std::string>{"cls.predictions.bias"});
}

TEST_CASE("experts are stored together or one by one") {
    const llmcost::model_listing listing = listing_of(small_mixtral);
    std::vector<stored_tensor> fused = checkpoint_of(listing), separate;
    CHECK(check_tensors(listing, fused).has_no_mismatch());
    for (const stored_tensor& t : fused) {
        const std::string layer = "model.layers.0.block_sparse_moe.";
        if (t.name.find(".experts.") == std::string::npos) {
            separate.push_back(t);
            if (t.name == "model.layers.0.mlp.gate.weight") separate.back().name = layer + "gate.weight";
            continue;
        }
        for (const char* const e : {"0", "1", "2"}) {
            const std::string expert = layer + "experts." + e;
            if (t.name.ends_with("down_proj")) separate.push_back({expert + ".w2.weight", "BF16", {8, 12}, 0});
            if (t.name.ends_with("down_proj")) continue;
            separate.push_back({expert + ".w1.weight", "BF16", {12, 8}, 0});
            separate.push_back({expert + ".w3.weight", "BF16", {12, 8}, 0});
        }
    }
    CHECK(check_tensors(listing, separate).has_no_mismatch());
    separate.pop_back();
    CHECK(check_tensors(listing, separate).absent.size() == 1);
    separate.back().sizes = {8, 12, 1};
    CHECK(check_tensors(listing, separate).other_sizes.size() == 1);
}
