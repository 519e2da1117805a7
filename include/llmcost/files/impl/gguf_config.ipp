// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/gguf_config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/gguf.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::optional<std::int64_t> gguf_keys::optional_integer(std::string_view key) const {
    const gguf_value* v = find(key);
    if (v == nullptr) return std::nullopt;
    if (v->type == gguf_value::kind::array && !v->items.empty() && v->items.size() == v->size) {
        for (const gguf_value& item : v->items)
            if (item.type != v->items[0].type || item.integer != v->items[0].integer)
                fail(errc::unsupported, key,
                     "differs from layer to layer, which no row of this architecture describes");
        v = &v->items[0];
    }
    if (v->type != gguf_value::kind::integer || v->integer < 0)
        fail(errc::bad_value, key, "expected a non-negative integer, found another value");
    return v->integer;
}

LLMCOST_INLINE std::int64_t gguf_keys::integer(std::string_view key) const {
    const auto n = optional_integer(key);
    if (!n) fail(errc::missing_key, key, "missing; expected a non-negative integer");
    return *n;
}

LLMCOST_INLINE std::optional<double> gguf_keys::optional_real(std::string_view key) const {
    const gguf_value* const v = find(key);
    if (v == nullptr) return std::nullopt;
    if (v->type == gguf_value::kind::real) return v->real;
    if (v->type == gguf_value::kind::integer) return static_cast<double>(v->integer);
    fail(errc::bad_value, key, "expected a number, found another value");
}

LLMCOST_INLINE bool gguf_keys::boolean(std::string_view key, bool default_value) const {
    const gguf_value* const v = find(key);
    if (v == nullptr) return default_value;
    if (v->type != gguf_value::kind::boolean) fail(errc::bad_value, key, "expected true or false, found another value");
    return v->integer != 0;
}

LLMCOST_INLINE std::string gguf_keys::text(std::string_view key) const {
    const gguf_value* const v = find(key);
    if (v == nullptr) return {};
    if (v->type != gguf_value::kind::text) fail(errc::bad_value, key, "expected a text, found another value");
    return v->text;
}

LLMCOST_INLINE std::int64_t gguf_keys::rows(const std::string& name) const {
    const stored_tensor* const t = file_.weights.find(name);
    if (t == nullptr || t->sizes.size() != 2)
        throw error(errc::bad_value, file_.name, "expected a tensor " + name + " of two sizes");
    return static_cast<std::int64_t>(t->sizes[0]);
}

/// The element type of all matrices where it is one that PyTorch has; empty for a quantized file.
LLMCOST_INLINE std::string dtype_of_file(const gguf_file& file) {
    std::string found = "float32";
    for (const bytes_by_type& t : file.weights.totals) {
        if (t.type == "F32") continue;
        const std::string dtype_name = t.type == "F16" ? "float16" : t.type == "BF16" ? "bfloat16" : "";
        if (dtype_name.empty() || (found != "float32" && found != dtype_name)) return {};
        found = dtype_name;
    }
    return found;
}

/// The keys of every configuration of a decoder.
LLMCOST_INLINE void set_decoder_keys(json_writer& out, const gguf_keys& in) {
    const std::int64_t heads = in.integer("attention.head_count");
    const std::int64_t hidden = in.integer("embedding_length");
    out.member("hidden_size", hidden).member("num_hidden_layers", in.integer("block_count"));
    out.member("num_attention_heads", heads);
    out.member("vocab_size", in.rows("token_embd.weight"));
    out.member("tie_word_embeddings", !in.has_tensor("output.weight"));
    if (const auto n = in.optional_integer("context_length")) out.member("max_position_embeddings", *n);
    if (const auto x = in.optional_real("attention.layer_norm_rms_epsilon")) out.member("rms_norm_eps", *x);
    if (const auto x = in.optional_real("rope.freq_base")) out.member("rope_theta", *x);
}

/// The keys of a decoder whose heads all have one size.
LLMCOST_INLINE void set_plain_decoder_keys(json_writer& out, const gguf_keys& in, bool rotates_a_part = false) {
    set_decoder_keys(out, in);
    const std::int64_t heads = in.integer("attention.head_count");
    if (heads == 0) in.fail(errc::bad_value, "attention.head_count", "expected a positive integer, found 0");
    const std::int64_t head =
        in.optional_integer("attention.key_length").value_or(in.integer("embedding_length") / heads);
    out.member("head_dim", head);
    out.member("num_key_value_heads", in.optional_integer("attention.head_count_kv").value_or(heads));
    if (in.optional_integer("attention.value_length").value_or(head) != head)
        in.fail(errc::unsupported, "attention.value_length",
                "differs from attention.key_length, which no row describes");
    const std::int64_t rotated = in.optional_integer("rope.dimension_count").value_or(head);
    if (rotates_a_part && rotated != head && head != 0)
        out.member("partial_rotary_factor", static_cast<double>(rotated) / static_cast<double>(head));
    else if (rotated != head)
        in.fail(errc::unsupported, "rope.dimension_count",
                "a part of each head, which no row of this architecture describes");
}

LLMCOST_INLINE void set_mlp_keys(json_writer& out, const gguf_keys& in) {
    out.member("intermediate_size", in.integer("feed_forward_length"));
}

/// Scaled positions; the factors of single frequencies are tensors, whose values cost nothing.
LLMCOST_INLINE void set_rope_scaling_keys(json_writer& out, const gguf_keys& in) {
    std::string type = in.text("rope.scaling.type");
    if (in.has_tensor("rope_freqs.weight")) type = "llama3";
    if (in.has_tensor("rope_factors_long.weight")) type = "longrope";
    if (type.empty() || type == "none") return;
    out.key("rope_scaling").object().member("rope_type", std::string_view(type));
    if (const auto x = in.optional_real("rope.scaling.factor")) out.member("factor", *x);
    if (const auto n = in.optional_integer("rope.scaling.original_context_length"))
        out.member("original_max_position_embeddings", *n);
    out.end_object();
}

LLMCOST_INLINE void set_expert_keys(json_writer& out, const gguf_keys& in, std::string_view experts_key) {
    out.member(experts_key, in.integer("expert_count")).member("num_experts_per_tok", in.integer("expert_used_count"));
}

LLMCOST_INLINE void set_sliding_window_keys(json_writer& out, const gguf_keys& in) {
    const auto window = in.optional_integer("attention.sliding_window");
    out.key("sliding_window");
    if (window && *window > 0)
        out.value(*window);
    else
        out.null();
}

LLMCOST_INLINE void set_llama_keys(json_writer& out, const gguf_keys& in) {
    set_plain_decoder_keys(out, in);
    set_mlp_keys(out, in);
    set_rope_scaling_keys(out, in);
    if (in.optional_integer("expert_count").value_or(0) > 0) {
        set_expert_keys(out, in, "num_local_experts");
        return;
    }
    // a bias of attention's output implies one of its input, as the reference has one key for both
    const bool bias = in.has_tensor("blk.0.attn_q.bias");
    if (bias != in.has_tensor("blk.0.attn_output.bias"))
        in.fail(errc::unsupported, "attention",
                "has a bias at one end only, which no row of this architecture describes");
    out.member("attention_bias", bias).member("mlp_bias", in.has_tensor("blk.0.ffn_down.bias"));
}

LLMCOST_INLINE void set_qwen2_keys(json_writer& out, const gguf_keys& in) {
    set_plain_decoder_keys(out, in);
    set_mlp_keys(out, in);
    set_rope_scaling_keys(out, in);
    out.member("use_sliding_window", false);
}

LLMCOST_INLINE void set_qwen3moe_keys(json_writer& out, const gguf_keys& in) {
    set_plain_decoder_keys(out, in);
    set_mlp_keys(out, in);
    set_rope_scaling_keys(out, in);
    set_expert_keys(out, in, "num_experts");
    out.member("moe_intermediate_size", in.integer("expert_feed_forward_length"));
    // llama.cpp's graph of this architecture always does
    out.member("norm_topk_prob", true);
}

LLMCOST_INLINE void set_gemma2_keys(json_writer& out, const gguf_keys& in) {
    set_plain_decoder_keys(out, in);
    set_mlp_keys(out, in);
    set_sliding_window_keys(out, in);
    for (const char* const key : {"attn_logit_softcapping", "final_logit_softcapping"})
        if (const auto x = in.optional_real(key)) out.member(key, *x);
}

LLMCOST_INLINE void set_gemma3_keys(json_writer& out, const gguf_keys& in) {
    set_gemma2_keys(out, in);
    set_rope_scaling_keys(out, in);
}

LLMCOST_INLINE void set_phi3_keys(json_writer& out, const gguf_keys& in) {
    set_plain_decoder_keys(out, in, true);
    set_mlp_keys(out, in);
    set_sliding_window_keys(out, in);
    set_rope_scaling_keys(out, in);
    if (const auto n = in.optional_integer("rope.scaling.original_context_length"))
        out.member("original_max_position_embeddings", *n);
}

LLMCOST_INLINE void set_gpt_oss_keys(json_writer& out, const gguf_keys& in) {
    set_plain_decoder_keys(out, in);
    set_sliding_window_keys(out, in);
    set_rope_scaling_keys(out, in);
    set_expert_keys(out, in, "num_local_experts");
    out.member("intermediate_size", in.integer("expert_feed_forward_length"));
}

LLMCOST_INLINE void set_deepseek2_keys(json_writer& out, const gguf_keys& in, bool third) {
    set_decoder_keys(out, in);
    set_mlp_keys(out, in);
    set_rope_scaling_keys(out, in);
    // files hold latent attention as one head that all share, or, before, as what it unfolds to
    const bool latent = in.find("attention.key_length_mla") != nullptr;
    const std::int64_t key = in.integer(latent ? "attention.key_length_mla" : "attention.key_length");
    const std::int64_t rope = in.integer("rope.dimension_count");
    if (rope >= key) in.fail(errc::bad_value, "rope.dimension_count", "expected less than the length of a key");
    out.member("num_key_value_heads", in.integer("attention.head_count"));
    out.key("q_lora_rank");
    if (const auto n = in.optional_integer("attention.q_lora_rank"))
        out.value(*n);
    else
        out.null();
    out.member("kv_lora_rank", in.integer("attention.kv_lora_rank"));
    out.member("qk_nope_head_dim", key - rope).member("qk_rope_head_dim", rope);
    out.member("v_head_dim", in.integer(latent ? "attention.value_length_mla" : "attention.value_length"));
    set_expert_keys(out, in, "n_routed_experts");
    out.member("n_shared_experts", in.integer("expert_shared_count"));
    out.member("moe_intermediate_size", in.integer("expert_feed_forward_length"));
    out.member("first_k_dense_replace", in.integer("leading_dense_block_count"));
    out.member("norm_topk_prob", in.boolean("expert_weights_norm", false));
    if (const auto x = in.optional_real("expert_weights_scale")) out.member("routed_scaling_factor", *x);
    const auto groups = in.optional_integer("expert_group_count");
    if (!groups)
        in.fail(
            errc::missing_key, "expert_group_count",
            "missing, as in older files; expected in how many groups experts are picked: give the model's config.json");
    out.member("n_group", *groups).member("topk_group", in.integer("expert_group_used_count"));
    if (!third) out.member("topk_method", *groups > 1 ? "group_limited_greedy" : "greedy");
}

LLMCOST_INLINE void set_bert_keys(json_writer& out, const gguf_keys& in) {
    const gguf_value* const tokenizer_model = in.file().find("tokenizer.ggml.model");
    if (tokenizer_model == nullptr || tokenizer_model->text != "bert" || !in.has_tensor("token_types.weight"))
        in.fail(errc::unsupported, "", "a relative of BERT that is written as BERT: give the model's config.json");
    out.member("hidden_size", in.integer("embedding_length")).member("num_hidden_layers", in.integer("block_count"));
    out.member("num_attention_heads", in.integer("attention.head_count"));
    out.member("vocab_size", in.rows("token_embd.weight")).member("type_vocab_size", in.rows("token_types.weight"));
    out.member("max_position_embeddings", in.rows("position_embd.weight"));
    set_mlp_keys(out, in);
}

LLMCOST_INLINE const gguf_architecture& find_gguf_architecture(const gguf_file& file) {
    const gguf_value* const architecture_value = file.find("general.architecture");
    const std::string location = file.name + ": general.architecture";
    if (architecture_value == nullptr)
        throw error(errc::missing_key, location, "missing; expected an architecture of llama.cpp");
    if (architecture_value->type != gguf_value::kind::text)
        throw error(errc::bad_value, location, "expected a text, found another value");
    std::string known;
    for (const gguf_architecture& a : gguf_architectures) {
        known += (known.empty() ? "" : ", ") + std::string(a.name);
        if (a.name != architecture_value->text) continue;
        const gguf_keys keys{file, a.name};
        constexpr std::int64_t sigmoid = 2;
        if (a.name == mixtral_as_gguf.name && keys.optional_integer("expert_count").value_or(0) > 0)
            return mixtral_as_gguf;
        if (a.name == deepseek_v3_as_gguf.name && keys.optional_integer("expert_gating_func").value_or(0) == sigmoid)
            return deepseek_v3_as_gguf;
        return a;
    }
    throw error(errc::unsupported, location,
                quote(architecture_value->text) + " is written in a way that is not read; read are " + known +
                    ": give the model's config.json");
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::string make_config(const gguf_file& file) {
    const detail::gguf_architecture& a = detail::find_gguf_architecture(file);
    json_writer out;
    out.object();
    out.key("architectures").array(true).value(a.model_class).end_array();
    out.member("model_type", a.model_type);
    if (const std::string type = detail::dtype_of_file(file); !type.empty())
        out.member("dtype", std::string_view(type));
    a.set_keys(out, {file, a.name});
    out.end_object();
    return out.text();
}

}  // namespace llmcost
