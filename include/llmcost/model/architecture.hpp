// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/moe.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/model/dropout_key.hpp>
#include <llmcost/model/media.hpp>
#include <llmcost/model/sizes.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

class config_view;

/// Norms of queries and keys.
enum class qk_norm_kind : std::uint8_t {
    none,
    per_head,             ///< over each head's elements, before heads and positions change places
    per_head_transposed,  ///< the same, after
    whole                 ///< over all heads together
};

/// What stands beside the routed experts.
enum class shared_expert_kind : std::uint8_t {
    none,
    gated,  ///< a feed-forward block times the sigmoid of a gate of its own (Qwen2-MoE)
    added   ///< a feed-forward block, added (DeepSeek)
};

/// Which additive masks a decoder makes once for all layers.
enum class mask_rule : std::uint8_t {
    by_window,         ///< one: sliding where the configuration has a window, else full
    present,           ///< those that layers read
    full_and_present,  ///< full always, sliding where a layer slides
    full_and_sliding   ///< both, whatever the layers are
};

/// Names of a decoder's modules in the reference; paths are made of them.
struct decoder_names {
    literal base = "model";
    literal base_under_answers = "model";  ///< the same under a question-answering head
    literal embed_tokens = "embed_tokens";
    literal layers = "layers";
    literal norm = "norm";
    literal rotary = "rotary_emb";
    literal lm_head = "lm_head";
    literal token_classifier = "score";
    literal attention = "self_attn";
    literal q = "q_proj";
    literal k = "k_proj";
    literal v = "v_proj";
    literal o = "o_proj";
    literal q_norm = "q_norm";
    literal k_norm = "k_norm";
    literal recurrent = "linear_attn";
    literal feed_forward = "mlp";
    literal norm_before_attention = "input_layernorm";
    literal norm_after_attention = "post_attention_layernorm";
    literal norm_before_feed_forward = "post_attention_layernorm";
    literal norm_after_feed_forward = "post_feedforward_layernorm";
    literal attention_dropout = "";     ///< a module after attention; empty: none
    literal feed_forward_dropout = "";  ///< a module after the feed-forward block; empty: none
    mlp_names mlp{};
    literal router = "gate";
    // what follows the prefix in names of classes
    literal model_type = "Model";
    literal causal_lm_type = "ForCausalLM";
    literal layer_type = "DecoderLayer";
    literal recurrent_layer_type = "DecoderLayer";
    literal norm_type = "RMSNorm";
    literal embedding_type = "";  ///< empty: `nn.Embedding`
    literal attention_type = "Attention";
    literal mlp_type = "MLP";
    literal moe_type = "SparseMoeBlock";
    literal experts_type = "Experts";
    literal router_type = "TopKRouter";
    literal rotary_type = "RotaryEmbedding";
    literal mlp_prefix = "";  ///< of the feed-forward block's class; empty: the row's
};

/// A set of heads; a configuration that asks for another one is refused.
struct head_set {
    std::uint32_t bits = 0;

    constexpr head_set() noexcept = default;
    constexpr head_set(std::initializer_list<head_kind> heads) noexcept {
        for (const head_kind h : heads) bits |= 1U << static_cast<unsigned>(h);
    }
    [[nodiscard]] constexpr bool has(head_kind h) const noexcept { return (bits >> static_cast<unsigned>(h) & 1U) != 0; }
};

/// Which of a key's two names is read.
enum class key_rule : std::uint8_t {
    written_first,   ///< the row's name, else the standard one (a keyword that old files have)
    standard_first,  ///< the standard name, else the row's (`attribute_map` of the configuration class)
    written_only,    ///< the row's name; the standard one means nothing to this type
    absent           ///< neither: this type has no such key
};

/// A key that a configuration writes in its own way: `{"hidden_size", "n_embd"}`.
struct key_name {
    literal standard = "";
    literal written = "";
    key_rule rule = key_rule::written_first;
};

/// How many other spellings of keys one row may list.
inline constexpr std::size_t most_key_names = 12;

struct architecture;
struct site;

/// A part that makes something from nothing but the workload: embeddings, a whole base model.
using source_part = value (*)(const site&, trace&);
/// A part of a layer, or what stands between layers and a head: (B, S, width) -> (B, S, width).
using layer_part = value (*)(const site&, trace&, const value&);
/// What joins a block's output with what went around it.
using residual_part = value (*)(const site&, trace&, const value& around, const value& through);

/// What follows the states that a head reads, beside it.
using further_part = void (*)(const site&, trace&, const value&);

/// What a model makes once, in front of its layers.
struct decoder_context;
using context_part = decoder_context (*)(const site&, trace&);

/// A model that another one holds: under which key its configuration stands, and what it is.
struct component_row {
    literal key = "";
    const architecture* otherwise = nullptr;  ///< where the part has no `model_type`; none: it must have one
    bool always = false;                      ///< `otherwise`, whatever `model_type` the part states
    const architecture* missing = nullptr;    ///< where the whole part is left out; none: `otherwise`
    bool ties = false;                        ///< ties its embeddings to the head where its own configuration says so, too
    bool flat = false;                        ///< without the key, what it would hold stands beside it (older files)
    literal also = "";                        ///< another `model_type` that means `otherwise`
    const architecture* second = nullptr;     ///< a further row that the whole describes by itself, for a part of its type
};

/// How many others a model may hold beside its text model: towers for images and sound, a model that drafts.
inline constexpr std::size_t most_components = 3;

struct model;

/// What a processor makes of the images, videos and sound of a workload.
using media_part = media_shapes (*)(const model&, const workload&);

/// One row per `model_type`: the parts that its walk is made of, what the shared ones need to know, its keys and defaults.
struct architecture {
    literal model_type = "";
    literal prefix = "";             ///< of its classes: `Llama` + `ForCausalLM`
    bool remote_code = false;        ///< a family of the hub's own code: the reference has no class of it
    source_part describe = nullptr;  ///< the whole model
    // the parts of a decoder; the words that they are made of are in walks/
    source_part base = nullptr;        ///< the model under a head: embeddings, layers, last norm
    source_part embed = nullptr;       ///< what the first layer reads
    context_part prepare = nullptr;    ///< masks and rotary tables
    layer_part layer = nullptr;        ///< norms, mixer, residual, feed-forward, in their order
    layer_part mix = nullptr;          ///< calls what attends
    layer_part recur = nullptr;        ///< calls what keeps a state, in recurrent layers
    layer_part attend = nullptr;       ///< attention's forward pass
    layer_part feed = nullptr;         ///< calls the feed-forward block, dense or with experts
    residual_part residual = nullptr;  ///< adds a block's output
    layer_part finish = nullptr;       ///< what happens to logits; none: nothing
    further_part predict = nullptr;    ///< modules that predict further tokens; none: it is not known what they are
    // a configuration
    void (*read)(config_view, sizes&) = nullptr;            ///< keys that the shared reader does not know
    void (*read_whole)(config_view, model&) = nullptr;      ///< of a model that holds others: what it says of itself
    void (*read_processor)(config_view, model&) = nullptr;  ///< of what a file beside the configuration says of images
    void (*read_sound)(config_view, model&) = nullptr;      ///< the whole, of what such files in it say of sound
    own_keys own{};                                         ///< sizes that only this family has
    dropout_keys drops{};                                   ///< rates of dropout; none: the walk does not say where it drops
    component_row text{};                     ///< the text model of one that holds others; else it is one itself
    component_row beside[most_components]{};  ///< what else it holds
    media_part media = nullptr;               ///< what it sees and hears beside a text; none: nothing
    senses reads{};                           ///< which of them
    sound_settings sound{};                   ///< how a recording is made ready where no file says so
    bool shows_encoder = false;               ///< what stands for it is read by the text's encoder, where it has one
    std::uint8_t tokens_ahead = 0;            ///< of a tower's states: in front of patches, as a class token is
    understood_kinds kinds{};                 ///< of layers, which the walk tells apart
    // choices that many families share
    norm_kind norm = norm_kind::rms;
    qk_norm_kind qk_norm = qk_norm_kind::none;
    rotation rotated = rotation::half;
    rotary_axes axes = rotary_axes::one;
    mlp_kind feed_forward = mlp_kind::gated;
    mask_rule masks = mask_rule::by_window;
    router_kind router = router_kind::none;
    expert_kind expert = expert_kind::gated;
    shared_expert_kind shared_experts = shared_expert_kind::none;
    bool rotary_per_mixer = false;  ///< tables of their own for full and sliding layers
    bool as_written = false;        ///< its walk is a file's, which other sizes do not change
    bool any_image = false;         ///< its walk takes images of any size
    bool joins_rotated = false;     ///< a part of each head is rotated, and joined with the rest even where none is left
    head_set heads{head_kind::none, head_kind::causal_lm};
    decoder_names names{};
    key_name keys[most_key_names]{};
    sizes defaults{};
};

/// One of the models that another one holds beside its text model.
struct component {
    const architecture* kind = nullptr;
    sizes dims{};
};

/// All of them.
struct components {
    component held[most_components];

    [[nodiscard]] constexpr const component& operator[](std::size_t i) const noexcept { return held[i]; }
    [[nodiscard]] constexpr component& operator[](std::size_t i) noexcept { return held[i]; }
};

/// A model: its row and the sizes of its text model; where it holds others, their rows and sizes. Trivially copyable, a
/// literal.
struct model {
    const architecture* kind = nullptr;
    sizes dims{};
    const architecture* text = nullptr;  ///< whose sizes `dims` are, where that is another row than `kind`
    own_sizes own{};                     ///< by the table of `kind`, where `text` is another row
    components beside{};                 ///< in the order of the row's
    sound_settings sound{};              ///< how recordings are made ready
    leaf_policy* policy = nullptr;       ///< what is changed at its leaves; it outlives the model

    /// The row whose sizes `dims` are.
    [[nodiscard]] constexpr const architecture& text_row() const noexcept { return text != nullptr ? *text : *kind; }
    /// Whether its walk says where it drops something in training.
    [[nodiscard]] constexpr bool describes_dropout() const noexcept;
    /// Walks one forward pass through a trace; gives what it returns, of which a loss is made.
    constexpr value forward(trace& t) const;
    /// The same of a workload in which what is shown has become tokens.
    constexpr value walk(trace& t) const;
    /// Walks a pass; a training step goes back from the sum of what it returns.
    constexpr void describe(trace& t) const;
};

/// States that are read behind some of a tower's layers.
struct states_read;

/// What layers read that is made once in front of them.
struct shared_values {
    context where{};
    value mask{};
    value cos{};
    value sin{};
    value own[4]{};               ///< what only this family shares
    states_read* read = nullptr;  ///< of a tower: where it puts them
};

/// What each kind of attention reads.
struct decoder_context {
    shared_values full{};
    shared_values sliding{};

    [[nodiscard]] constexpr const shared_values& of(const layer_kind& kind) const noexcept {
        return kind.mixer == mixer_kind::sliding_attention || kind.mixer == mixer_kind::chunked_attention ? sliding : full;
    }
};

/// Where a walk is: the one argument that is handed down beside the trace.
struct site {
    const model& whole;
    const architecture& row;
    const sizes& dims;
    const shared_values* shared = nullptr;  ///< in layers
    layer_kind kind{};                      ///< this layer's
    std::int64_t layer = 0;                 ///< its number

    /// The same place in a layer that reads these values.
    [[nodiscard]] constexpr site at(const repetition& each, const shared_values& made) const noexcept {
        return {whole, row, dims, &made, each.kind(), each.index()};
    }
    /// The text model of one that holds others.
    [[nodiscard]] constexpr site text() const noexcept { return {whole, *whole.text, whole.dims}; }
    /// Another model that this one holds.
    [[nodiscard]] constexpr site component(std::size_t i) const noexcept {
        return {whole, *whole.beside[i].kind, whole.beside[i].dims};
    }
    /// A class of this family.
    [[nodiscard]] constexpr class_name type(literal base) const noexcept { return {row.prefix, base}; }
};

/// Describes a part under a path of its own.
constexpr value describe_within(const module_info& m, source_part part, const site& here, trace& t) {
    t.enter(m);
    return t.leave(m, part(here, t));
}

/// The same workload as a model reads it: tokens that stand for images, videos and sound among those of a first pass, or
/// among those that an encoder has read, whose states later passes see, too.
constexpr workload shown_to(const model& m, workload load) {
    const bool encoded = m.kind->shows_encoder && m.dims.encoder.num_hidden_layers > 0;
    if (load.past > 0 && !encoded) return load;
    std::int64_t& length = encoded ? load.encoder_sequence : load.sequence;
    if (encoded && length == 0) length = load.past + load.sequence;
    const count all = count(length) + count(m.kind->media(m, load).tokens(load));
    if (all > count(largest_input)) report_description("more than 2147483647 tokens stand for what is shown");
    length = static_cast<std::int64_t>(all.to_64());
    return load;
}

constexpr bool model::describes_dropout() const noexcept { return is_empty(kind->text.key) && kind->drops.described(); }
constexpr value model::forward(trace& t) const {
    if (t.load().keeps_dropout && (!describes_dropout() || dims.drops.has(dropout_of::drawn)))
        report_description("no walk describes what this model drops in training");
    const trace::dropout_guard rates{t, dims.drops.with(dropout_of::always)};
    if (kind->media == nullptr || !t.load().has_media()) return walk(t);
    const recorder::workload_guard shown{t, shown_to(*this, t.load())};
    return walk(t);
}
constexpr value model::walk(trace& t) const {
    if (policy == nullptr) return kind->describe({*this, *kind, dims}, t);
    policy->begin();
    const recorder::policy_guard changed{t, policy};
    const recorder::workload_guard asked{t, policy->works_on(t.load())};
    return kind->describe({*this, *kind, dims}, t);
}
constexpr void model::describe(trace& t) const { t.gradient_arrives(forward(t)); }

}  // namespace llmcost
