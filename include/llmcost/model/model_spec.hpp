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

/// Norms of queries and keys.
enum class qk_norm_kind : std::uint8_t {
    none,
    per_head,             ///< over each head's elements, before heads and positions change places
    per_head_transposed,  ///< the same, after
    all_heads             ///< over all heads together
};

/// What stands beside the routed experts.
enum class shared_expert_kind : std::uint8_t {
    none,
    gated,  ///< a feed-forward block times the sigmoid of a gate of its own (Qwen2-MoE)
    added   ///< a feed-forward block, added (DeepSeek)
};

/// Which additive masks a decoder makes once for all layers.
enum class mask_kind : std::uint8_t {
    by_window,         ///< one: sliding where the configuration has a window, else full
    present,           ///< those that layers read
    full_and_present,  ///< full always, sliding where a layer slides
    full_and_sliding   ///< both, whatever the layers are
};

/// Names of a decoder's modules in the reference; paths are made of them.
struct decoder_module_names {
    literal base_model = "model";
    literal base_model_for_question_answering = "model";  ///< the same under a question-answering head
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
    literal attention_dropout = "";  ///< a module after attention; empty: none
    literal mlp_dropout = "";        ///< a module after the feed-forward block; empty: none
    mlp_names mlp_modules{};
    literal router = "gate";
    // what follows the prefix in names of classes
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
    literal mlp_class_prefix = "";  ///< of the feed-forward block's class; empty: the row's
};

/// A set of heads; a configuration that asks for another one is refused.
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

/// Which of a key's two names is read.
enum class key_rule : std::uint8_t {
    family_name_first,    ///< the row's name, else the standard one (a keyword that old files have)
    standard_name_first,  ///< the standard name, else the row's (`attribute_map` of the configuration class)
    family_name_only,     ///< the row's name; the standard one means nothing to this type
    absent                ///< neither: this type has no such key
};

/// A key that a configuration writes in its own way: `{"hidden_size", "n_embd"}`.
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

    /// Adds a key. Throws: `description_error` if the table is full or has an entry for this standard key; in a
    /// constant expression, the program does not compile. To replace an entry of a parent, call `remove` first.
    constexpr void add(const key_name& key) {
        if (find(key.standard) != size_ || size_ == max_size)
            throw_description_error("config_keys: the standard key has an entry already, or the table is full");
        keys_[size_++] = key;
    }
    constexpr void add(literal standard, key_rule rule) { add({standard, "", rule}); }
    constexpr void add(literal standard, literal family_name, key_rule rule) { add({standard, family_name, rule}); }
    /// Removes the entry of a standard key. Throws: as `add` if there is none.
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

/// A part that makes something from nothing but the workload: embeddings, a whole base model.
using forward_function = tensor (*)(const layer_context&, trace&);
/// A part of a layer, or what stands between layers and a head: (B, S, width) -> (B, S, width).
using layer_forward_function = tensor (*)(const layer_context&, trace&, const tensor&);
/// What joins a block's output with what went around it.
using residual_function = tensor (*)(const layer_context&, trace&, const tensor& around, const tensor& through);

/// What follows the states that a head reads, beside it.
using mtp_function = void (*)(const layer_context&, trace&, const tensor&);

/// What a model makes once, in front of its layers.
struct decoder_inputs;
using prepare_function = decoder_inputs (*)(const layer_context&, trace&);

/// A model that another one holds: under which key its configuration stands, and what it is.
struct component_spec {
    literal key = "";
    const model_spec* default_spec = nullptr;    ///< where the part has no `model_type`; none: it must have one
    bool ignores_model_type = false;             ///< `otherwise`, whatever `model_type` the part states
    const model_spec* spec_if_absent = nullptr;  ///< where the whole part is left out; none: `otherwise`
    bool ties_embeddings = false;         ///< ties its embeddings to the head where its own configuration says so, too
    bool is_flat = false;                 ///< without the key, what it would hold stands beside it (older files)
    literal alternative_model_type = "";  ///< another `model_type` that means `otherwise`
    const model_spec* additional_spec =
        nullptr;  ///< a further row that the whole describes by itself, for a part of its type
};

/// How many others a model may hold beside its text model: towers for images and sound, a model that drafts.
inline constexpr std::size_t max_components = 3;

struct model;

/// What a processor makes of the images, videos and sound of a workload.
using media_shape_function = media_shapes (*)(const model&, const workload&);

/// One row per `model_type`: the parts that its walk is made of, what the shared ones need to know, its keys and
/// defaults.
struct model_spec {
    literal model_type = "";
    literal class_prefix = "";           ///< of its classes: `Llama` + `ForCausalLM`
    bool is_remote_code = false;         ///< a family of the hub's own code: the reference has no class of it
    forward_function forward = nullptr;  ///< the whole model
    // the parts of a decoder; the words that they are made of are in walks/
    forward_function base_model = nullptr;             ///< the model under a head: embeddings, layers, last norm
    forward_function embed_tokens = nullptr;           ///< what the first layer reads
    prepare_function prepare_inputs = nullptr;         ///< masks and rotary tables
    layer_forward_function decoder_layer = nullptr;    ///< norms, mixer, residual, feed-forward, in their order
    layer_forward_function token_mixer = nullptr;      ///< calls what attends
    layer_forward_function recurrent_block = nullptr;  ///< calls what keeps a state, in recurrent layers
    layer_forward_function attention = nullptr;        ///< attention's forward pass
    layer_forward_function mlp = nullptr;              ///< calls the feed-forward block, dense or with experts
    residual_function add_residual = nullptr;          ///< adds a block's output
    layer_forward_function process_logits = nullptr;   ///< what happens to logits; none: nothing
    mtp_function multi_token_prediction =
        nullptr;  ///< modules that predict further tokens; none: it is not known what they are
    // a configuration
    void (*parse_config)(config_view, model_config&) = nullptr;  ///< keys that the shared reader does not know
    void (*parse_composite_config)(config_view,
                                   model&) = nullptr;  ///< of a model that holds others: what it says of itself
    void (*parse_image_processor)(config_view,
                                  model&) = nullptr;  ///< of what a file beside the configuration says of images
    void (*parse_feature_extractor)(config_view,
                                    model&) = nullptr;  ///< the whole, of what such files in it say of sound
    family_key_table family_keys{};                     ///< sizes that only this family has
    dropout_key_table dropout_keys{};             ///< rates of dropout; none: the walk does not say where it drops
    component_spec text_model{};                  ///< the text model of one that holds others; else it is one itself
    component_spec components[max_components]{};  ///< what else it holds
    media_shape_function compute_media_shapes = nullptr;  ///< what it sees and hears beside a text; none: nothing
    modality_set modalities{};                            ///< which of them
    audio_preprocessing_config audio_preprocessing{};     ///< how a recording is made ready where no file says so
    bool feeds_media_to_encoder = false;     ///< what stands for it is read by the text's encoder, where it has one
    std::uint8_t num_prefix_tokens = 0;      ///< of a tower's states: in front of patches, as a class token is
    supported_layer_set supported_layers{};  ///< of layers, which the walk tells apart
    // choices that many families share
    norm_kind norm = norm_kind::rms;
    qk_norm_kind qk_norm = qk_norm_kind::none;
    rotary_style rotary = rotary_style::rotate_half;
    rotary_axis_layout rotary_axes = rotary_axis_layout::one;
    mlp_kind dense_mlp = mlp_kind::gated;
    mask_kind mask_policy = mask_kind::by_window;
    router_kind router = router_kind::none;
    expert_kind expert = expert_kind::gated;
    shared_expert_kind shared_experts = shared_expert_kind::none;
    bool has_rotary_per_token_mixer = false;  ///< tables of their own for full and sliding layers
    bool is_fixed_trace = false;              ///< its walk is a file's, which other sizes do not change
    bool accepts_any_image_size = false;      ///< its walk takes images of any size
    bool has_partial_rotary =
        false;  ///< a part of each head is rotated, and joined with the rest even where none is left
    head_set supported_heads{head_kind::none, head_kind::causal_lm};
    decoder_module_names names{};
    config_key_table config_keys{};
    model_config defaults{};
};

/// A spec that is only a component of composite models: it is not in the registry.
using submodel_spec = model_spec;

/// One of the models that another one holds beside its text model.
struct component_model {
    const model_spec* spec = nullptr;
    model_config config{};
};

/// All of them.
struct component_models {
    component_model models[max_components];

    [[nodiscard]] constexpr const component_model& operator[](std::size_t i) const noexcept { return models[i]; }
    [[nodiscard]] constexpr component_model& operator[](std::size_t i) noexcept { return models[i]; }
};

/// A model: its row and the sizes of its text model; where it holds others, their rows and sizes. Trivially copyable, a
/// literal.
struct model {
    const model_spec* spec = nullptr;
    model_config config{};
    const model_spec* text_spec = nullptr;  ///< whose sizes `dims` are, where that is another row than `kind`
    family_config family{};                 ///< by the table of `kind`, where `text` is another row
    component_models components{};          ///< in the order of the row's
    audio_preprocessing_config audio_preprocessing{};  ///< how recordings are made ready
    leaf_module_policy* policy = nullptr;              ///< what is changed at its leaves; it outlives the model

    /// The row whose sizes `dims` are.
    [[nodiscard]] constexpr const model_spec& text_model_spec() const noexcept {
        return text_spec != nullptr ? *text_spec : *spec;
    }
    /// Whether its walk says where it drops something in training.
    [[nodiscard]] constexpr bool has_dropout_positions() const noexcept;
    /// Walks one forward pass through a trace; gives what it returns, of which a loss is made.
    constexpr tensor forward(trace& t) const;
    /// The same of a workload in which what is shown has become tokens.
    constexpr tensor forward_expanded(trace& t) const;
    /// Walks a pass; a training step goes back from the sum of what it returns.
    constexpr void trace_with_loss(trace& t) const;
};

/// States that are read behind some of a tower's layers.
struct hidden_state_outputs;

/// What layers read that is made once in front of them.
struct attention_inputs {
    attention_pattern pattern{};
    tensor mask{};
    tensor cos{};
    tensor sin{};
    tensor family_tensors[4]{};                     ///< what only this family shares
    hidden_state_outputs* hidden_states = nullptr;  ///< of a tower: where it puts them
};

/// What each kind of attention reads.
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

/// Where a walk is: the one argument that is handed down beside the trace.
struct layer_context {
    const llmcost::model& model;
    const model_spec& spec;
    const model_config& config;
    const attention_inputs* inputs = nullptr;  ///< in layers
    layer_spec layer{};                        ///< this layer's
    std::int64_t layer_index = 0;              ///< its number

    /// The same place in a layer that reads these values.
    [[nodiscard]] constexpr layer_context for_layer(const loop& layer_loop,
                                                    const attention_inputs& inputs) const noexcept {
        return {model, spec, config, &inputs, layer_loop.layer(), layer_loop.index()};
    }
    /// The text model of one that holds others.
    [[nodiscard]] constexpr layer_context text_model() const noexcept {
        return {model, *model.text_spec, model.config};
    }
    /// Another model that this one holds.
    [[nodiscard]] constexpr layer_context component(std::size_t i) const noexcept {
        return {model, *model.components[i].spec, model.components[i].config};
    }
    /// A class of this family.
    [[nodiscard]] constexpr class_name class_of(literal base) const noexcept { return {spec.class_prefix, base}; }
};

/// Describes a part under a path of its own.
constexpr tensor forward_in_module(const module_info& m, forward_function function, const layer_context& ctx,
                                   trace& t) {
    t.enter(m);
    return t.leave(m, function(ctx, t));
}

/// The same workload as a model reads it: tokens that stand for images, videos and sound among those of a first pass,
/// or among those that an encoder has read, whose states later passes see, too.
constexpr workload expand_multimodal_inputs(const model& m, workload load) {
    const bool encoded = m.spec->feeds_media_to_encoder && m.config.encoder.num_hidden_layers > 0;
    if (load.past > 0 && !encoded) return load;
    std::int64_t& length = encoded ? load.encoder_sequence : load.sequence;
    if (encoded && length == 0) length = load.past + load.sequence;
    const count all = count(length) + count(m.spec->compute_media_shapes(m, load).num_tokens(load));
    if (all > count(max_input)) throw_description_error("more than 2147483647 tokens stand for what is shown");
    length = static_cast<std::int64_t>(all.to_64());
    return load;
}

constexpr bool model::has_dropout_positions() const noexcept {
    return is_empty(spec->text_model.key) && spec->dropout_keys.has_entries();
}
constexpr tensor model::forward(trace& t) const {
    if (t.load().has_dropout &&
        (!has_dropout_positions() || config.dropout_positions.contains(dropout_position::stochastic)))
        throw_description_error("no walk describes what this model drops in training");
    const trace::dropout_guard rates{t, config.dropout_positions.with_position(dropout_position::unconditional)};
    if (spec->compute_media_shapes == nullptr || !t.load().has_multimodal_inputs()) return forward_expanded(t);
    const recorder::workload_guard encoder_workload{t, expand_multimodal_inputs(*this, t.load())};
    return forward_expanded(t);
}
constexpr tensor model::forward_expanded(trace& t) const {
    if (policy == nullptr) return spec->forward({*this, *spec, config}, t);
    policy->on_trace_begin();
    const recorder::policy_guard changed{t, policy};
    const recorder::workload_guard policy_workload{t, policy->adapt_workload(t.load())};
    return spec->forward({*this, *spec, config}, t);
}
constexpr void model::trace_with_loss(trace& t) const { t.accumulate_gradient(forward(t)); }

}  // namespace llmcost
