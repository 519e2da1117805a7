// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/layers/moe.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/model/dropout_key.hpp>
#include <llmcost/model/multimodal_inputs.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

class config_view;

/// Normalization of queries and keys (QK-norm).
enum class qk_norm_kind : std::uint8_t {
    none,
    per_head,             ///< over the elements of each head, before heads and positions are transposed
    per_head_transposed,  ///< over the elements of each head, after heads and positions are transposed
    all_heads             ///< over all heads together
};

/// The shared expert of a mixture-of-experts layer.
enum class shared_expert_kind : std::uint8_t {
    none,
    gated,  ///< an MLP times the sigmoid of its own gate (Qwen2-MoE)
    added   ///< an MLP whose output is added (DeepSeek)
};

/// The additive masks that a decoder creates once for all layers.
enum class mask_kind : std::uint8_t {
    by_window,         ///< one: sliding if the configuration has a window, otherwise full
    present,           ///< those that layers read
    full_and_present,  ///< full always, sliding if a layer has a sliding window
    full_and_sliding   ///< both, independent of the layers
};

/// Names of a decoder's modules in the reference. Module paths are composed of them.
struct decoder_module_names {
    literal base_model = "model";
    literal base_model_for_question_answering = "model";  ///< name of the base model under a question-answering head
    literal embed_tokens = "embed_tokens";
    literal layers = "layers";
    literal norm = "norm";
    literal rotary = "rotary_emb";
    literal lm_head = "lm_head";
    literal token_classifier = "score";
    literal attention = "self_attn";
    literal q_proj = "q_proj";
    literal k_proj = "k_proj";
    literal v_proj = "v_proj";
    literal o_proj = "o_proj";
    literal q_norm = "q_norm";
    literal k_norm = "k_norm";
    literal recurrent_block = "linear_attn";
    literal mlp = "mlp";
    literal pre_attention_norm = "input_layernorm";
    literal post_attention_norm = "post_attention_layernorm";
    literal pre_mlp_norm = "post_attention_layernorm";
    literal post_mlp_norm = "post_feedforward_layernorm";
    literal attention_dropout = "";  ///< dropout module after attention; empty: none
    literal mlp_dropout = "";        ///< dropout module after the MLP; empty: none
    mlp_names mlp_modules{};
    literal router = "gate";
    // class names without their prefix
    literal model_class = "Model";
    literal causal_lm_class = "ForCausalLM";
    literal layer_class = "DecoderLayer";
    literal recurrent_layer_class = "DecoderLayer";
    literal norm_class = "RMSNorm";
    literal embedding_class = "";  ///< empty: `nn.Embedding`
    literal attention_class = "Attention";
    literal mlp_class = "MLP";
    literal moe_class = "SparseMoeBlock";
    literal experts_class = "Experts";
    literal router_class = "TopKRouter";
    literal rotary_class = "RotaryEmbedding";
    literal mlp_class_prefix = "";  ///< prefix of the MLP class; empty: `model_spec::class_prefix`
};

/// The model heads that a model spec supports. A configuration with another head is rejected.
struct head_set {
    std::uint32_t bits = 0;

    constexpr head_set() noexcept = default;
    constexpr head_set(std::initializer_list<head_kind> heads) noexcept {
        for (const head_kind h : heads) bits |= 1U << static_cast<unsigned>(h);
    }
    [[nodiscard]] constexpr bool has(head_kind h) const noexcept {
        return (bits >> static_cast<unsigned>(h) & 1U) != 0;
    }
};

/// The rule by which one of a key's two names is read.
enum class key_rule : std::uint8_t {
    family_name_first,  ///< the family's name, otherwise the standard name (a keyword of old files)
    /// the standard name, otherwise the family's name (`attribute_map` of the configuration class)
    standard_name_first,
    family_name_only,  ///< the family's name only; the standard name has no effect for this type
    absent             ///< neither: this type has no such key
};

/// A key to which a configuration gives its own name: `{"hidden_size", "n_embd"}`.
struct key_name {
    literal standard = "";
    literal family_name = "";
    key_rule rule = key_rule::family_name_first;
};

/// The configuration keys of a model type that deviate from the standard names. Each standard key occurs at most once.
class config_key_table {
public:
    static constexpr std::size_t max_size = 12;

    constexpr config_key_table() noexcept = default;
    constexpr config_key_table(std::initializer_list<key_name> keys) {
        for (const key_name& key : keys) add(key);
    }

    /// Adds a key. To replace an entry of a parent, call `remove` first.
    ///
    /// Throws: `description_error` if the table is full or has an entry for this standard key. In a constant
    /// expression, the program does not compile.
    constexpr void add(const key_name& key) {
        if (find(key.standard) != size_ || size_ == max_size)
            throw_description_error("config_keys: the standard key has an entry already, or the table is full");
        keys_[size_++] = key;
    }
    constexpr void add(literal standard, key_rule rule) { add({standard, "", rule}); }
    constexpr void add(literal standard, literal family_name, key_rule rule) { add({standard, family_name, rule}); }
    /// Removes the entry of a standard key.
    ///
    /// Throws: `description_error` if there is none.
    constexpr void remove(literal standard) {
        const std::size_t position = find(standard);
        if (position == size_) throw_description_error("config_keys: there is no entry for this standard key");
        for (std::size_t i = position + 1; i < size_; ++i) keys_[i - 1] = keys_[i];
        keys_[--size_] = {};
    }

    [[nodiscard]] constexpr key_name* begin() noexcept { return keys_; }
    [[nodiscard]] constexpr key_name* end() noexcept { return keys_ + size_; }
    [[nodiscard]] constexpr const key_name* begin() const noexcept { return keys_; }
    [[nodiscard]] constexpr const key_name* end() const noexcept { return keys_ + size_; }

private:
    [[nodiscard]] constexpr std::size_t find(literal standard) const noexcept {
        std::size_t i = 0;
        while (i < size_ && string_ref(keys_[i].standard) != standard) ++i;
        return i;
    }

    key_name keys_[max_size]{};
    std::size_t size_ = 0;
};

struct model_spec;
struct layer_context;

/// A part of a model that reads only the workload: embeddings, a complete base model.
using forward_function = tensor (*)(const layer_context&, trace&);
/// A part of a layer, or a function between layers and a head: (B, S, width) -> (B, S, width).
using layer_forward_function = tensor (*)(const layer_context&, trace&, const tensor&);
/// The residual connection: combines the output of a block (`through`) with its input (`around`).
using residual_function = tensor (*)(const layer_context&, trace&, const tensor& around, const tensor& through);

/// Multi-token prediction: modules that read the hidden states of the head.
using mtp_function = void (*)(const layer_context&, trace&, const tensor&);

/// Tensors that a model creates once, before its layers.
struct decoder_inputs;
using prepare_function = decoder_inputs (*)(const layer_context&, trace&);

/// A component of a composite model: the key of its configuration and its model spec.
struct component_spec {
    literal key = "";
    /// spec if the component has no `model_type`; null: `model_type` is required
    const model_spec* default_spec = nullptr;
    bool ignores_model_type = false;             ///< uses `default_spec`, regardless of the component's `model_type`
    const model_spec* spec_if_absent = nullptr;  ///< spec if the component is absent; null: `default_spec`
    bool ties_embeddings = false;  ///< also ties embeddings to the head if the component's configuration requests it
    bool is_flat = false;          ///< without the key, its members are in the enclosing object (older files)
    literal alternative_model_type = "";  ///< another `model_type` that means `default_spec`
    const model_spec* additional_spec =
        nullptr;              ///< a further spec, which the composite model defines for components of its type
    literal flat_class = "";  ///< class whose files have the component's members in the enclosing object
};

/// Maximum number of components next to the text model: vision and audio encoders, a draft model.
inline constexpr std::size_t max_components = 3;

/// How published checkpoints store a language model head that the class of the reference ties to the embeddings.
///
/// A model that is built from a configuration is tied. `from_pretrained` does not tie two tables with different values.
/// Source: transformers/modeling_utils.py, `PreTrainedModel.tie_weights`.
enum class published_head_kind : std::uint8_t {
    as_built,             ///< as the class ties it
    untied_by_key,        ///< separate if `tie_word_embeddings` is false, which the class overrides
    untied_by_text_model  ///< separate if only the text model has, and does not set, `tie_word_embeddings`
};

/// How a draft head generates the draft tokens of one step of speculative decoding.
enum class draft_kind : std::uint8_t {
    none,           ///< no draft head
    sequential,     ///< one forward pass per draft token (EAGLE, multi-token prediction)
    one_per_head,   ///< one forward pass over one position; each head generates one draft token (Medusa)
    one_per_query,  ///< one forward pass over a block of positions, each of which generates one draft token (DFlash)
};

struct model;

/// Computes the sizes of the images, videos and audio of a workload after preprocessing.
using media_shape_function = media_shapes (*)(const model&, const workload&);

/// The description of one `model_type`: functions of its forward pass, shared options, configuration keys and defaults.
struct model_spec {
    literal model_type = "";
    literal class_prefix = "";           ///< prefix of class names: `Llama` + `ForCausalLM`
    bool is_remote_code = false;         ///< the code is on the Hub, not in the reference
    forward_function forward = nullptr;  ///< forward pass of the complete model
    // parts of a decoder; shared ones are in forward/
    forward_function base_model = nullptr;             ///< base model: embeddings, layers, final norm
    forward_function embed_tokens = nullptr;           ///< input of the first layer
    prepare_function prepare_inputs = nullptr;         ///< masks and rotary tables
    layer_forward_function decoder_layer = nullptr;    ///< one layer: norms, token mixer, residual, MLP
    layer_forward_function token_mixer = nullptr;      ///< calls the attention module
    layer_forward_function recurrent_block = nullptr;  ///< calls the recurrent module in recurrent layers
    layer_forward_function attention = nullptr;        ///< forward pass of the attention module
    layer_forward_function mlp = nullptr;              ///< calls the MLP, dense or with experts
    residual_function add_residual = nullptr;          ///< adds the output of a block
    layer_forward_function process_logits = nullptr;   ///< applied to logits; null: none
    mtp_function multi_token_prediction = nullptr;     ///< modules for multi-token prediction; null: unknown
    // configuration
    void (*parse_config)(config_view, model_config&) = nullptr;  ///< reads the keys of this family
    void (*parse_composite_config)(config_view,
                                   model&) = nullptr;  ///< composite model: reads its own keys
    void (*parse_image_processor)(config_view,
                                  model&) = nullptr;  ///< reads the image processor file next to the configuration
    void (*parse_feature_extractor)(config_view,
                                    model&) = nullptr;  ///< composite model: reads the feature extractor file for audio
    family_key_table family_keys{};                     ///< sizes that only this family has
    dropout_key_table dropout_keys{};                   ///< dropout rates; none: dropout positions are not declared
    component_spec text_model{};  ///< the text model of a composite model; otherwise the model is one itself
    component_spec components[max_components]{};  ///< further components
    compressed_attention (*compressed_attention_of)(const model_config&,
                                                    std::int64_t layer) = nullptr;  ///< null: no layer has it
    media_shape_function compute_media_shapes = nullptr;  ///< sizes of multimodal inputs; null: text only
    modality_set modalities{};                            ///< supported modalities
    audio_preprocessing_config audio_preprocessing{};     ///< audio preprocessing if no file specifies it
    bool feeds_media_to_encoder = false;     ///< the text model's encoder, if it has one, reads the placeholder tokens
    std::uint8_t num_prefix_tokens = 0;      ///< encoder states before the patches, e.g. a class token
    supported_layer_set supported_layers{};  ///< layer properties that the forward pass distinguishes
    // options shared by many families
    norm_kind norm = norm_kind::rms;
    qk_norm_kind qk_norm = qk_norm_kind::none;
    rotary_style rotary = rotary_style::rotate_half;
    rotary_axis_layout rotary_axes = rotary_axis_layout::one;
    mlp_kind dense_mlp = mlp_kind::gated;
    mask_kind mask_policy = mask_kind::by_window;
    router_kind router = router_kind::none;
    expert_kind expert = expert_kind::gated;
    shared_expert_kind shared_experts = shared_expert_kind::none;
    bool has_rotary_per_token_mixer = false;  ///< separate rotary tables for full and sliding layers
    bool context_includes_scaling = false;    ///< `max_position_embeddings` includes the factor of RoPE scaling
    bool has_eager_attention_only = false;    ///< the reference has no SDPA: `_supports_sdpa` is false
    bool has_float32_lm_head = false;         ///< `from_pretrained` keeps the language model head in float32
    bool has_float32_masked_lm_loss = false;  ///< computes the loss of a masked language model in float32
    bool is_fixed_trace = false;              ///< the forward pass comes from a file; other sizes do not change it
    bool accepts_any_image_size = false;      ///< the forward pass accepts images of any size
    bool has_partial_rotary =
        false;  ///< rotates a part of each head and concatenates it with the rest, even if the rest is empty
    head_set supported_heads{head_kind::none, head_kind::causal_lm};
    /// class names of other code that are the type's default class; separated by spaces
    literal alternative_classes = "";
    /// set for a draft head: its `alternative_classes` select it in a file of any `model_type`, which is often that of
    /// its layers
    draft_kind draft = draft_kind::none;
    /// keys of an object that has the sizes in files of other frameworks; separated by spaces. Keys of the enclosing
    /// object are read by `parse_composite_config`
    literal nested_config_keys = "";
    published_head_kind published_head = published_head_kind::as_built;  ///< the head of published checkpoints
    decoder_module_names names{};
    config_key_table config_keys{};
    model_config defaults{};
};

/// A spec that is only a component of composite models: it is not in the registry.
using submodel_spec = model_spec;

/// A component of a composite model next to its text model.
struct component_model {
    const model_spec* spec = nullptr;
    model_config config{};
};

/// The components of a composite model.
struct component_models {
    component_model models[max_components];

    [[nodiscard]] constexpr const component_model& operator[](std::size_t i) const noexcept { return models[i]; }
    [[nodiscard]] constexpr component_model& operator[](std::size_t i) noexcept { return models[i]; }
};

/// A model: its spec, the sizes of its text model, and specs and sizes of its components.
///
/// A literal type, trivially copyable.
struct model {
    const model_spec* spec = nullptr;
    model_config config{};
    const model_spec* text_spec = nullptr;  ///< spec of the text model to which `config` belongs; null: `spec`
    family_config family{};                 ///< configuration of `spec`, if `text_spec` is set
    component_models components{};          ///< in the order of `model_spec::components`
    audio_preprocessing_config audio_preprocessing{};  ///< audio preprocessing of this model
    leaf_module_policy* policy = nullptr;              ///< changes to leaf modules; must outlive the model

    /// The spec to which `config` belongs.
    [[nodiscard]] constexpr const model_spec& text_model_spec() const noexcept {
        return text_spec != nullptr ? *text_spec : *spec;
    }
    /// Whether the spec declares the dropout positions.
    [[nodiscard]] constexpr bool has_dropout_positions() const noexcept;
    /// Traces one forward pass and returns its output, of which the loss is computed.
    ///
    /// Throws: `description_error` if the workload has dropout and the cost of dropout is undefined.
    constexpr tensor forward(trace& t) const;
    /// Traces one forward pass of a workload whose multimodal inputs are already expanded to tokens.
    constexpr tensor forward_expanded(trace& t) const;
    /// Traces one forward pass whose output is summed for the loss of a training step.
    constexpr void trace_with_loss(trace& t) const;
};

/// How a model generates draft tokens, if it is a draft head; otherwise none.
[[nodiscard]] constexpr draft_kind draft_kind_of(const model& m) noexcept {
    return m.config.head == head_kind::multi_token_prediction ? draft_kind::sequential : m.spec->draft;
}

/// Hidden states after some layers of an encoder.
struct hidden_state_outputs;

/// Tensors that all layers read and that are created once before them.
struct attention_inputs {
    attention_pattern pattern{};
    tensor mask{};
    tensor cos{};
    tensor sin{};
    tensor family_tensors[4]{};                     ///< tensors that only this family shares
    hidden_state_outputs* hidden_states = nullptr;  ///< encoder: destination of its hidden states
};

/// Inputs of each kind of attention.
struct decoder_inputs {
    attention_inputs full{};
    attention_inputs sliding{};

    [[nodiscard]] constexpr const attention_inputs& for_layer(const layer_spec& kind) const noexcept {
        return kind.token_mixer == token_mixer_kind::sliding_attention ||
                       kind.token_mixer == token_mixer_kind::chunked_attention
                   ? sliding
                   : full;
    }
};

/// The context of a forward function: model, sizes and position in the model.
struct layer_context {
    const llmcost::model& model;
    const model_spec& spec;
    const model_config& config;
    const attention_inputs* inputs = nullptr;  ///< in layers; otherwise null
    layer_spec layer{};                        ///< spec of this layer
    std::int64_t layer_index = 0;              ///< index of this layer

    /// The context of a layer with these inputs.
    [[nodiscard]] constexpr layer_context for_layer(const loop& layer_loop,
                                                    const attention_inputs& inputs) const noexcept {
        return {model, spec, config, &inputs, layer_loop.layer(), layer_loop.index()};
    }
    /// The context of the text model of a composite model.
    [[nodiscard]] constexpr layer_context text_model() const noexcept {
        return {model, *model.text_spec, model.config};
    }
    /// The context of a component of a composite model.
    [[nodiscard]] constexpr layer_context component(std::size_t i) const noexcept {
        return {model, *model.components[i].spec, model.components[i].config};
    }
    /// A class name of this family.
    [[nodiscard]] constexpr class_name class_of(literal base) const noexcept { return {spec.class_prefix, base}; }
};

/// Traces a function as a module with its own path.
constexpr tensor forward_in_module(const module_info& m, forward_function function, const layer_context& ctx,
                                   trace& t) {
    t.enter(m);
    return t.leave(m, function(ctx, t));
}

/// Returns the workload with multimodal inputs expanded to placeholder tokens.
///
/// The tokens are added to the text of a prefill, or to the input of the text model's encoder if that reads them.
///
/// Throws: `description_error` above 2147483647 tokens.
constexpr workload expand_multimodal_inputs(const model& m, workload load) {
    const bool encoded = m.spec->feeds_media_to_encoder && m.config.encoder.num_hidden_layers > 0;
    if (load.past > 0 && !encoded) return load;
    std::int64_t& length = encoded ? load.encoder_sequence : load.sequence;
    if (encoded && length == 0) length = load.past + load.sequence;
    const count all = count(length) + count(m.spec->compute_media_shapes(m, load).num_tokens(load));
    if (all > count(max_input)) throw_description_error("the multimodal inputs expand to more than 2147483647 tokens");
    length = static_cast<std::int64_t>(all.to_64());
    return load;
}

constexpr bool model::has_dropout_positions() const noexcept {
    return is_empty(spec->text_model.key) && spec->dropout_keys.has_entries();
}
constexpr tensor model::forward(trace& t) const {
    if (t.load().has_dropout &&
        (!has_dropout_positions() || config.dropout_positions.contains(dropout_position::stochastic)))
        throw_description_error(
            "dropout is not supported: the dropout positions of this model are unknown, or the cost of a step is "
            "random");
    const trace::dropout_guard rates{t, config.dropout_positions.with_position(dropout_position::unconditional)};
    if (spec->compute_media_shapes == nullptr || !t.load().has_multimodal_inputs()) return forward_expanded(t);
    const recorder::workload_guard encoder_workload{t, expand_multimodal_inputs(*this, t.load())};
    return forward_expanded(t);
}
constexpr tensor model::forward_expanded(trace& t) const {
    if (policy == nullptr) return spec->forward({*this, *spec, config}, t);
    policy->on_trace_begin();
    const trace::policy_guard changed{t, policy};
    const recorder::workload_guard policy_workload{t, policy->adapt_workload(t.load())};
    return spec->forward({*this, *spec, config}, t);
}
constexpr void model::trace_with_loss(trace& t) const { t.accumulate_gradient(forward(t)); }

}  // namespace llmcost
