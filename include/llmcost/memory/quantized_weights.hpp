// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

// Sizes of the stored weights of a checkpoint, per tensor.
namespace llmcost {

/// A tensor of a checkpoint. Its name is derived from the module path of the reference.
struct weight_bytes_row {
    std::string name;
    std::uint64_t elements = 0;  ///< number of parameters in the tensor; 0 for scales and other auxiliary tensors
    std::uint64_t bytes = 0;
    std::string_view format{};  ///< stored element type
    std::string parameter{};    ///< the model parameter to which the tensor belongs
};

/// All tensors of a checkpoint, and their totals.
struct stored_weights {
    std::vector<weight_bytes_row> rows;
    std::uint64_t elements = 0;
    std::uint64_t quantized = 0;  ///< number of quantized parameters
    std::uint64_t bytes = 0;
    std::vector<std::string> unmatched;  ///< entries of the module lists that match no module of this model

    /// The fraction of parameters that are quantized, from 0 to 1.
    [[nodiscard]] double quantized_fraction() const noexcept {
        return elements == 0 ? 0 : static_cast<double>(quantized) / static_cast<double>(elements);
    }
    /// Bytes of the tensors of one element type.
    [[nodiscard]] std::uint64_t bytes_of(std::string_view format) const noexcept;
};

namespace detail {

/// Modules that Transformers loads in float32 and therefore never quantizes, by model type.
///
/// Source: `_keep_in_fp32_modules` of the reference's classes, limited to linear layers.
struct unquantized_module {
    std::string_view model_type;
    std::string_view ending;
};
inline constexpr unquantized_module unquantized_modules[]{
    {"t5", "wo"},
    {"mt5", "wo"},
    {"umt5", "wo"},
    {"pop2piano", "wo"},
    {"udop", "wo"},
    {"axk2", "indexer.weights_proj"},
    {"deepseek_v32", "indexer.weights_proj"},
    {"glm_moe_dsa", "indexer.weights_proj"},
    {"mistral_large4", "indexer.weights_proj"},
    {"deepseek_v4", "self_attn.compressor.kv_proj"},
    {"deepseek_v4", "self_attn.compressor.gate_proj"},
    {"deepseek_v4", "self_attn.compressor.indexer.kv_proj"},
    {"deepseek_v4", "self_attn.compressor.indexer.gate_proj"},
    {"deepseek_v4", "self_attn.compressor.indexer.scorer.weights_proj"},
};

/// Names that a checkpoint may use for a module: that of the reference's class, and earlier names of multimodal models.
///
/// Source: transformers/conversion_mapping.py.
std::vector<std::string> names_of_module(const std::string& path);

/// Kinds of parameters that quantization formats distinguish.
enum class weight_kind : std::uint8_t { unsupported, linear, relative, grouped, conv1d, embedding, experts };

/// A tensor of all experts and the linear layers that it combines.
///
/// Any other tensor was one layer of its own name, with the model width as input.
struct expert_tensor {
    string_ref tensor;
    std::span<const string_ref> parts;
    bool to_width;  ///< the output has the model width, the input does not
};
inline constexpr string_ref gate_and_up[]{"gate_proj", "up_proj"}, only_down[]{"down_proj"};
inline constexpr expert_tensor expert_tensors[]{{"gate_up_proj", gate_and_up, false}, {"down_proj", only_down, true}};

/// A parameter reported by a trace.
struct reported_weight {
    std::size_t module;
    std::string_view parameter;  ///< its name in the module
    weight_kind kind;
    std::vector<std::int64_t> sizes;
    bool head = false;                       ///< computes logits over the vocabulary
    bool unpacked = false;                   ///< belongs to experts that are converted to linear layers
    const expert_tensor* made_of = nullptr;  ///< its entry in `expert_tensors`; null: none

    /// Number of linear layers that an expert's part of the tensor combines.
    [[nodiscard]] std::int64_t layers() const noexcept { return made_of == nullptr ? 1 : std::ssize(made_of->parts); }
};

/// Collects parameters, and the entries of module lists that match their modules.
class weights_listener final : public listener {
public:
    struct reported_module {
        std::string path;
        std::string_view prefix, base;
    };

    weights_listener(const quantization& plan, std::int64_t vocab_size);

    void on_module_enter(const recorder&, const module_info& m) override;
    void on_module_leave(const recorder&, const module_info&) override { open_.pop_back(); }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override;

    [[nodiscard]] const std::vector<reported_weight>& weights() const noexcept { return weights_; }
    [[nodiscard]] const reported_module& module_of(const reported_weight& w) const { return modules_[w.module]; }
    [[nodiscard]] bool has_module_below(const std::string& path) const;
    [[nodiscard]] std::vector<std::string> unmet() const;
    /// Names of the linear layers that a tensor of experts combines, for the first expert.
    [[nodiscard]] std::vector<std::string> matrices_of(const reported_weight& w) const;
    /// Whether a rule matches a module by one of its names or its class.
    [[nodiscard]] static bool means(const module_rule& rule, const std::vector<std::string>& names,
                                    std::string_view type);

private:
    struct open_module {
        std::size_t index;
        role module_role;
    };
    void mark_matching_rules(const std::vector<std::string>& names, std::string_view type);
    static weight_kind kind_of(const reported_module& m, std::string_view name, int rank);

    std::int64_t vocab_size_;
    std::vector<open_module> open_;
    std::vector<reported_module> modules_;
    std::vector<reported_weight> weights_;
    std::vector<const module_rule*> rules_;
    std::vector<bool> is_rule_matched_;
};

/// Converts the reported parameters to the tensors of a quantized checkpoint.
class weights_writer {
public:
    weights_writer(const model& m, const quantization& plan, dtype default_type, const weights_listener& listener,
                   stored_weights& out);

    void write();

private:
    static bool is(const model_spec* kind, const unquantized_module& w) {
        return kind != nullptr && std::string_view(kind->model_type) == w.model_type;
    }
    [[nodiscard]] bool reaches(const reported_weight& w) const;
    /// The layout of a weight. Returns null if it is unquantized.
    [[nodiscard]] const weight_layout* layout_of(const reported_weight& w) const;
    /// Whether the weight has the shape inputs × outputs. For experts, the axis with the model width determines this.
    [[nodiscard]] bool is_transposed(const reported_weight& w) const;
    [[nodiscard]] std::int64_t inputs_of(const reported_weight& w) const {
        return w.sizes[w.sizes.size() - (is_transposed(w) ? 2 : 1)];
    }

    void add(std::string name, const reported_weight& w, std::uint64_t elements, count bytes, std::string_view format);
    [[nodiscard]] static std::uint64_t elements_of(const reported_weight& w);
    [[nodiscard]] std::string name_of_parameter(const reported_weight& w) const;
    [[nodiscard]] std::string name_of_tensor(const reported_weight& w, std::string_view tensor) const;
    void store_unquantized(const reported_weight& w);
    void store_quantized(const reported_weight& w, const weight_layout& layout);

    const quantization& plan_;
    dtype default_type_;
    const weights_listener& listener_;
    stored_weights& out_;
    std::vector<std::string_view> float32_suffixes_;
    std::string block_;
    std::int64_t hidden_ = 0;
};

}  // namespace detail

/// The stored tensors of a checkpoint with this quantization.
///
/// `default_type`: type of unquantized weights; default: that of the configuration, then of the plan, then float32.
/// Tied weights are stored once, under the first name, and never quantized as a head. Buffers are not included.
///
/// Throws: `overflow_error` if a size exceeds 64 bits.
[[nodiscard]] stored_weights quantized_weights(const model& m, const quantization& plan,
                                               dtype default_type = dtype::unspecified);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/quantized_weights.ipp>  // IWYU pragma: export
#endif
