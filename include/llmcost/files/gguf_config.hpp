// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/files/gguf.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

// The config.json that a GGUF file was made from, as far as its metadata and tensors determine the cost of the model.
namespace llmcost {

namespace detail {

/// Metadata by the names that follow the architecture's: `block_count` is `llama.block_count`.
class gguf_keys {
public:
    gguf_keys(const gguf_file& file, std::string_view architecture)
        : file_(file), prefix_(std::string(architecture) + '.') {}

    [[noreturn]] void fail(errc code, std::string_view key, const std::string& message) const {
        throw error(code, file_.name + ": " + printable(prefix_) + std::string(key), message);
    }
    [[nodiscard]] const gguf_value* find(std::string_view key) const { return file_.find(prefix_ + std::string(key)); }
    /// A number of all layers; a list with one number for each layer must have the same for all.
    [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view key) const;
    [[nodiscard]] std::int64_t integer(std::string_view key) const;
    [[nodiscard]] std::optional<double> optional_real(std::string_view key) const;
    [[nodiscard]] bool boolean(std::string_view key, bool default_value) const;
    [[nodiscard]] std::string text(std::string_view key) const;

    [[nodiscard]] bool has_tensor(std::string_view name) const { return file_.weights.find(name) != nullptr; }
    /// Rows of a matrix of the file.
    [[nodiscard]] std::int64_t rows(const std::string& name) const;
    [[nodiscard]] const gguf_file& file() const noexcept { return file_; }

private:
    const gguf_file& file_;
    std::string prefix_;
};

void set_llama_keys(json_writer& out, const gguf_keys& in);
void set_qwen2_keys(json_writer& out, const gguf_keys& in);
void set_qwen3moe_keys(json_writer& out, const gguf_keys& in);
void set_gemma2_keys(json_writer& out, const gguf_keys& in);
void set_gemma3_keys(json_writer& out, const gguf_keys& in);
void set_phi3_keys(json_writer& out, const gguf_keys& in);
void set_gpt_oss_keys(json_writer& out, const gguf_keys& in);
void set_deepseek2_keys(json_writer& out, const gguf_keys& in, bool third);
void set_bert_keys(json_writer& out, const gguf_keys& in);

/// What an architecture of llama.cpp is for Transformers, and who writes its keys.
struct gguf_architecture {
    std::string_view name;
    std::string_view model_type;
    std::string_view model_class;
    void (*set_keys)(json_writer&, const gguf_keys&);
};
inline constexpr gguf_architecture gguf_architectures[]{
    {"llama", "llama", "LlamaForCausalLM", set_llama_keys},
    {"qwen2", "qwen2", "Qwen2ForCausalLM", set_qwen2_keys},
    {"qwen3", "qwen3", "Qwen3ForCausalLM", set_qwen2_keys},
    {"qwen3moe", "qwen3_moe", "Qwen3MoeForCausalLM", set_qwen3moe_keys},
    {"gemma2", "gemma2", "Gemma2ForCausalLM", set_gemma2_keys},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM", set_gemma3_keys},
    {"phi3", "phi3", "Phi3ForCausalLM", set_phi3_keys},
    {"gpt-oss", "gpt_oss", "GptOssForCausalLM", set_gpt_oss_keys},
    {"deepseek2", "deepseek_v2", "DeepseekV2ForCausalLM",
     [](json_writer& out, const gguf_keys& in) { set_deepseek2_keys(out, in, false); }},
    {"bert", "bert", "BertModel", set_bert_keys},
};
// one name of llama.cpp is used for two types of Transformers
inline constexpr gguf_architecture mixtral_as_gguf{"llama", "mixtral", "MixtralForCausalLM", set_llama_keys};
inline constexpr gguf_architecture deepseek_v3_as_gguf{
    "deepseek2", "deepseek_v3", "DeepseekV3ForCausalLM",
    [](json_writer& out, const gguf_keys& in) { set_deepseek2_keys(out, in, true); }};

}  // namespace detail

/// A config.json, as text, of the model in a GGUF file.
///
/// It has the keys that determine costs; token ids, for example, are left out. Throws `unsupported` for an
/// architecture that is not read, with a list of those that are. Throws `missing_key` and `bad_value` with the file
/// and the key.
[[nodiscard]] std::string make_config(const gguf_file& file);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/gguf_config.ipp>  // IWYU pragma: export
#endif
