// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace dots3_note_detail {

enum own : std::uint8_t {
    local_heads,
    local_q_rank,
    local_kv_rank,
    local_head_dim,
    local_nope,
    local_v_dim,
    local_rope,
    index_heads,
    index_width,
    index_picks
};
inline constexpr own_key keys[]{
    {.value = own_value::computed, .divided = splits::evenly},  // of layers with windows, up to `local_rope`
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {"index_n_heads", 64},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

/// The word of layers that see everything without an indexer.
inline constexpr std::uint8_t unpicked = 1;

/// Sizes of latent attention in one kind of layers.
struct latent_sizes {
    std::int64_t heads, q_rank, rank, nope, rope, v;
};
constexpr latent_sizes sizes_of(const site& here) noexcept {
    const sizes& dims = here.dims;
    const mla_sizes& m = dims.mla;
    if (here.kind.mixer == mixer_kind::sliding_attention)
        return {dims.own[local_heads], dims.own[local_q_rank], dims.own[local_kv_rank],
                dims.own[local_nope],  dims.own[local_rope],   dims.own[local_v_dim]};
    return {dims.num_attention_heads, m.q_lora_rank, m.kv_lora_rank, m.qk_nope_head_dim, m.qk_rope_head_dim, m.v_head_dim};
}

/// Which keys each token sees: the best by a small attention of its own, whose keys the cache holds too.
struct indexer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextIndexer"); }
    constexpr value describe(trace& t, const value& x, const value& latent) const {
        const trace::no_grad_guard quiet{t};
        const sizes& dims = here.dims;
        const shared_values& s = *here.shared;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = dims.own[index_heads];
        const std::int64_t d = dims.own[index_width], rope = dims.mla.qk_rope_head_dim, length = s.where.length();
        const auto turned = [&](const value& h) {  // positions stand in front of heads here
            const value part = h.slice(-1, rope).transpose(1, 2);
            return rotate(t, rotation::split_pairs, part, s.cos, s.sin).transpose(1, 2);
        };
        const value q = t.call("wq_b", linear{dims.mla.q_lora_rank, heads * d}, latent).view({batch, sequence, heads, d});
        value k = t.call("wk", linear{dims.hidden_size, d}, x);
        k = t.call("k_norm", norm<norm_kind::layer>{d}, k).unsqueeze(2);
        const value q_turned = turned(q), k_turned = turned(k);
        const value queries = t.cat({q_turned, q.slice(-1, d - rope)}, -1);
        k = t.cat({k_turned, k.slice(-1, d - rope)}, -1).squeeze(2);
        if (!t.training()) {
            k = s.where.past > 0 ? t.cat({trace::buffer({batch, s.where.past, d}), k}, 1) : t.cat({k}, 1);
            t.cache(k);
        }
        const value scores = t.unary(op::relu, t.mul(t.matmul(queries, k.transpose(-1, -2).unsqueeze(1))));
        const value weights = t.mul(t.call("weights_proj", linear{dims.hidden_size, heads}, x));
        value found = t.matmul(weights.unsqueeze(-2), scores).squeeze(-2);
        found = t.add(found, s.mask.view({batch, sequence, length}));
        const std::int64_t picks = dims.own[index_picks];
        t.edge(axis::total, picks + 1);
        return t.top_k(found, length < picks ? length : picks);
    }
};

/// What queries find in keys and values that are expanded from latents (B, 1, T, rank) and turned parts (B, 1, T, rope).
constexpr value look_up_latent(const site& here, trace& t, const latent_sizes& m, const value& q, const value& latent,
                               const value& k_rope, bool picks) {
    const context& where = here.shared->where;
    const std::int64_t batch = q.dim(0), length = latent.dim(2);
    const linear expansion{m.rank, m.heads * (m.nope + m.v)};
    const value both = t.call("kv_b_proj", expansion, latent).view({batch, length, m.heads, -1}).transpose(1, 2);
    value k = t.constant({batch, m.heads, length, m.nope + m.rope}, q.type);
    t.copy_into(k, both.slice(-1, m.nope));
    t.copy_into(k, k_rope.expand({batch, m.heads, length, m.rope}));
    const bool sparse = t.load().attention == attention_scores::causal;
    const value mask = picks && !sparse ? t.where(here.shared->mask) : here.shared->mask;
    return eager_attention(t, q, k, both.slice(-1, m.v), where, {.mask = &mask});
}

/// Latent attention by sizes of its kind of layer, latents scaled, with a gate of one number per head.
constexpr value attend(const site& here, trace& t, const value& x) {
    const latent_sizes m = sizes_of(here);
    const shared_values& s = *here.shared;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = here.dims.hidden_size;
    value narrow = norm_of(here, t, "q_a_layernorm", m.q_rank, project(here, t, "q_a_proj", m.q_rank, x));
    narrow = t.mul(narrow);
    value q = t.call("q_b_proj", linear{m.q_rank, m.heads * (m.nope + m.rope)}, narrow);
    q = q.view({batch, sequence, m.heads, m.nope + m.rope}).transpose(1, 2);
    const value compressed = project(here, t, "kv_a_proj_with_mqa", m.rank + m.rope, x);
    value latent = norm_of(here, t, "kv_a_layernorm", m.rank, t.contiguous(compressed.slice(-1, m.rank)));
    latent = t.mul(latent.view({batch, 1, sequence, m.rank}));
    value k_rope = compressed.slice(-1, m.rope).view({batch, 1, sequence, m.rope});
    k_rope = norm_of(here, t, "k_rope_only_layernorm", m.rope, k_rope);
    const value q_rope = t.to(rotate(t, rotation::split_pairs, q.slice(-1, m.rope), s.cos, s.sin), q.type);
    k_rope = t.to(rotate(t, rotation::split_pairs, k_rope, s.cos, s.sin), k_rope.type);
    latent = update_cache(t, latent, s.where), k_rope = update_cache(t, k_rope, s.where);
    q = t.cat({q.slice(-1, m.nope), q_rope}, -1);
    const bool picks = here.kind.mixer == mixer_kind::full_attention && here.kind.own != unpicked;
    if (picks) (void)t.call("indexer", indexer{here}, x, narrow);
    const value found = look_up_latent(here, t, m, q, latent, k_rope, picks);
    const value gate = t.call("g_proj", linear{width, m.heads}, x).view({batch, sequence, m.heads, 1});
    return join(here, t, t.reshape(t.mul(found, t.sigmoid(gate)), {batch, sequence, m.heads * m.v}));
}

/// Tables of layers with an indexer stay in float32.
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    const auto make = [&](shared_values& into, std::int64_t rotated, mixer_kind mixer, bool stays) {
        if (!here.dims.layers.has(mixer, here.dims.num_hidden_layers)) return;
        const class_name named = here.type(here.row.names.rotary_type);
        const rotary_table table{rotated, named, rotary_frequencies{here.dims},
                                 stays ? rotation::half_in_float : rotation::split_pairs};
        const auto tables = t.call(here.row.names.rotary, table, t.load().sequence);
        into.cos = tables.first, into.sin = tables.second;
    };
    bool picks = false;
    for (int i = 0; i < here.dims.layers.count; ++i) {
        const layer_kind& k = here.dims.layers.kinds[i];
        picks = picks || (k.mixer == mixer_kind::full_attention && k.own != unpicked);
    }
    make(c.full, here.dims.mla.qk_rope_head_dim, mixer_kind::full_attention, picks);
    make(c.sliding, here.dims.own[local_rope], mixer_kind::sliding_attention, false);
    return c;
}

/// What layers with windows say of themselves: in the file's entry for such a layer, else in keys of their own.
constexpr void read_local(config_view config, sizes& s) {
    const auto entries = config.optional_object("per_layer_config");
    maybe<config_view> entry;
    if (entries) {
        for (const config_view each : *entries) {
            std::int64_t i = 0;
            for (const char c : each.key()) i = i < largest_input ? i * 10 + (c - '0') : i;
            if (i >= s.num_hidden_layers || s.layers[i].mixer != mixer_kind::sliding_attention)
                fail_unsupported(each, "sizes of a layer that does not slide");
            if (!entry) entry = each;
        }
    }
    const auto size = [&](own at, literal key, literal written, std::int64_t inherited, std::int64_t otherwise) {
        s.own[at] = !entries ? config.positive(written, otherwise) : entry ? entry->positive(key, inherited) : inherited;
        if (!entries) return;
        for (const config_view each : *entries)
            if (each.positive(key, inherited) != s.own[at])
                fail_unsupported(each, key, "no row describes layers with windows whose sizes differ");
    };
    size(local_heads, "num_attention_heads", "swa_num_attention_heads", s.num_attention_heads, 64);
    size(local_q_rank, "q_lora_rank", "swa_q_lora_rank", s.mla.q_lora_rank, 1024);
    size(local_kv_rank, "kv_lora_rank", "swa_kv_lora_rank", s.mla.kv_lora_rank, 1024);
    size(local_head_dim, "head_dim", "swa_head_dim", s.head_dim, 256);
    size(local_nope, "qk_nope_head_dim", "swa_qk_nope_head_dim", s.mla.qk_nope_head_dim, 192);
    size(local_v_dim, "v_head_dim", "swa_v_head_dim", s.mla.v_head_dim, 128);
    const std::int64_t rest = s.own[local_head_dim] - s.own[local_nope];
    if (rest < 2) fail_value(config, "swa_qk_nope_head_dim", "at least 2 less than swa_head_dim");
    size(local_rope, "qk_rope_head_dim", "swa_qk_rope_head_dim", s.mla.qk_rope_head_dim, rest);
    if (s.own[local_rope] != rest) fail_value(config, "swa_qk_rope_head_dim", "swa_head_dim - swa_qk_nope_head_dim");
    (void)checked_width(config, "swa_qk_nope_head_dim", s.own[local_heads], s.own[local_head_dim]);
    (void)checked_width(config, "swa_v_head_dim", s.own[local_heads], s.own[local_nope] + s.own[local_v_dim]);
}

/// The rotated part of a head is written as a share of it, and must come out as it was.
constexpr void check_rotated(config_view config, std::int64_t rope, std::int64_t head_dim) {
    const double share = static_cast<double>(rope) / static_cast<double>(head_dim);
    if (rope % 2 != 0 || static_cast<std::int64_t>(static_cast<double>(head_dim) * share) != rope)
        fail_value(config, "qk_rope_head_dim", "an even number whose share of head_dim gives it back");
    if (const auto rope_of = config.optional_object("rope_parameters"))
        for (const literal type : {"dynamic", "longrope", "proportional"})
            if (detail::has_type_of_rope(*rope_of, type))
                fail_unsupported(*rope_of, "rope_type", "no row describes such frequencies of this type");
}

/// Experts in every so many-th layer, or where a list says so, behind the dense ones.
class dots_places {
public:
    constexpr dots_places(config_view config, const sizes& s)
        : sparse_(config, s, 0),
          listed_(config.optional_array("mlp_layer_types").has_value()),
          dense_(config.non_negative("first_k_dense_replace", 1)) {
        const auto given = config.find("moe_layer_freq");
        if (given && given->is_array()) each_ = *given;
        if (each_ && static_cast<std::int64_t>(each_->size()) < s.num_hidden_layers)
            fail_value(config, "moe_layer_freq", "a list with one number per hidden layer");
        if (given && !each_) step_ = given->as_positive();
    }
    [[nodiscard]] constexpr bool has(std::int64_t i) const {
        if (listed_) return sparse_.has(i);
        return i >= dense_ && (each_ ? (*each_)[static_cast<std::uint32_t>(i)].as_integer() != 0 : i % step_ == 0);
    }

private:
    sparse_places sparse_;
    maybe<config_view> each_{};
    bool listed_;
    std::int64_t dense_;
    std::int64_t step_ = 1;
};

/// The first two layers and every fourth see what an indexer picks, the others windows.
constexpr void plan(config_view config, sizes& s) {
    const auto types = config.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    const auto asked = config.optional_boolean("use_dsa");
    const bool renames = asked.has_value() || !config.contains("per_layer_config"), picks = asked.value_or(true);
    const bool windows = config.boolean("use_sliding_window", true);
    const dots_places experts(config, s);
    plan_layers(config, s, [&](std::int64_t i) {
        bool slides = windows && i >= 2 && i % 4 != 1, picked = picks;
        if (types) {
            const string_ref word = (*types)[static_cast<std::uint32_t>(i)].as_string();
            slides = word == "sliding_attention";
            if (!slides && word != "indexed_attention" && word != "full_attention")
                fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
            if (!renames) picked = word == "indexed_attention";
        }
        return layer_kind{slides ? mixer_kind::sliding_attention : mixer_kind::full_attention, experts.has(i),
                          slides || picked ? std::uint8_t{} : unpicked};
    });
}

constexpr void read(config_view config, sizes& s) {
    s.mla = {config.positive("q_lora_rank", 1024), config.positive("kv_lora_rank", 512),
             config.positive("qk_nope_head_dim", 128), config.positive("qk_rope_head_dim", 64),
             config.positive("v_head_dim", 128)};
    (void)checked_width(config, "qk_nope_head_dim", s.num_attention_heads, s.mla.qk_nope_head_dim + s.mla.v_head_dim);
    (void)checked_width(config, "index_head_dim", s.own[index_heads], s.own[index_width]);
    read_grouped_experts(config, s, {.shared = 1});
    const literal shared = config.contains("moe_shared_expert_intermediate_size") ? "moe_shared_expert_intermediate_size"
                                                                                  : "shared_experts_intermediate_size";
    s.moe.shared_intermediate_size =
        checked_width(config, shared, config.positive(shared, 1536), config.positive("n_shared_experts", 1));
    if (s.sliding_window == 0) s.sliding_window = config.positive("sliding_window_size", 512);
    plan(config, s);
    const bool sees_all = s.layers.has(mixer_kind::full_attention, s.num_hidden_layers);
    if (sees_all && s.num_key_value_heads != s.num_attention_heads)  // the others have numbers of their own
        fail_value(config, "num_key_value_heads", "num_attention_heads, as latents serve all heads");
    check_rotated(config, s.mla.qk_rope_head_dim, s.head_dim);
    if (sees_all && s.mla.qk_rope_head_dim > s.own[index_width])
        fail_value(config, "qk_rope_head_dim", "at most index_head_dim");
    if (!s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers)) return;
    read_local(config, s);
    check_rotated(config, s.own[local_rope], s.own[local_head_dim]);
}

}  // namespace dots3_note_detail

// transformers/models/dots3_note: the text model; latent attention by kind of layer, keys picked by an indexer
inline constexpr architecture dots3_note_text = [](architecture a) {
    a.model_type = "dots3_note_text", a.prefix = "Dots3Note", a.read = dots3_note_detail::read;
    a.own = dots3_note_detail::keys, a.masks = mask_rule::present, a.kinds.own = dots3_note_detail::unpicked,
    a.heads = language_heads;
    a.prepare = dots3_note_detail::prepare, a.attend = dots3_note_detail::attend, a.rotated = rotation::none;
    a.router = router_kind::sigmoid_grouped, a.shared_experts = shared_expert_kind::added;
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.rotary_type = "TextRotaryEmbedding", a.names.mlp_type = "TextMLP", a.names.moe_type = "TextMoE";
    a.names.router_type = "TextTopkRouter";
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 152064, a.defaults.hidden_size = 5120, a.defaults.intermediate_size = 13824;
    a.defaults.num_hidden_layers = 46, a.defaults.num_attention_heads = 128, a.defaults.num_key_value_heads = 128;
    a.defaults.head_dim = 256, a.defaults.max_position_embeddings = 524288;
    a.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 1536, .norm_topk_prob = true};
    return a;
}(llama);

}  // namespace llmcost::arch
