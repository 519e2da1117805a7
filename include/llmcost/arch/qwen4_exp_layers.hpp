// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/causal_convolution.hpp>

// Features of hashed token n-grams, which some layers of Qwen4-Exp add to all of their streams.
namespace llmcost::arch::qwen4_exp_detail {

enum family_config_index : std::uint8_t {
    streams,
    hc_lowrank,
    ngram_width,
    ple_conv_kernel_size,
    longest_gram,
    gram_heads,
    ngram_vocab_size_base,
    gram_divisor,
    index_heads,
    index_width,
    index_budget,
    index_rate,
    gate_act
};
inline constexpr family_key family_keys[]{
    {"hc_count", 4},
    {"hc_lowrank", 320},
    {.type = family_key_type::computed},  // of the features of all grams side by side
    {"ple_conv_kernel_size", 4},
    {"ngram_size", 3},
    {"heads_per_ngram", 8},
    {"ngram_vocab_size_base", 20000000},
    {"make_ngram_vocab_size_divisible_by", 128},
    {.type = family_key_type::computed},  // of the indexer; 0: no layer attends
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},  // the activation function of a delta net's gate
};

/// Gemma's norm of each stream of (B, S, streams · width) by itself, with weights for all.
struct stream_norm {
    std::int64_t streams;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {streams * width});
        const tensor h = t.reshape(t.to(x, dtype::float32), {x.dim(0), x.dim(1), streams, width});
        const tensor out = t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true))));
        const tensor flat = t.reshape(out, {x.dim(0), x.dim(1), streams * width});
        return t.to(t.mul(flat, t.add_scalar(t.to(weight, dtype::float32))), x.type);
    }
};

constexpr bool is_prime(std::int64_t n) noexcept {
    if (n < 2 || n % 2 == 0) return n == 2;
    for (std::int64_t i = 3; i * i <= n; i += 2)
        if (n % i == 0) return false;
    return true;
}
/// Returns the table rows of the n-th such layer. The size per head is the next prime; the sum is padded.
constexpr std::int64_t rows_of_table(const model_config& config, std::int64_t n) {
    const std::int64_t heads = (config.family[longest_gram] - 1) * config.family[gram_heads],
                       divisor = config.family[gram_divisor];
    std::int64_t prime = config.family[ngram_vocab_size_base] - 1, rows = 0;
    for (std::int64_t head = 0; head < (n + 1) * heads; ++head) {
        do ++prime;
        while (!is_prime(prime));
        if (head >= n * heads) rows += prime;
    }
    return (rows + divisor - 1) / divisor * divisor;
}

/// The features of each token's grams side by side, (B, S, width); which ones are integers.
struct gram_embedding {
    layer_context ctx;
    std::int64_t number;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextNGramEmbedding"); }
    constexpr tensor forward(trace& t, const shape& ids) const {
        const family_config& family = ctx.config.family;
        const std::int64_t heads = (family[longest_gram] - 1) * family[gram_heads];
        // `layer_multipliers`, and `ngram_heads_vocab_sizes` and `ngram_heads_offsets` for each head
        t.register_integer_buffer(family[longest_gram] + 2 * heads);
        const embedding table{rows_of_table(ctx.config, number), family[ngram_width] / heads};
        const tensor found = t.call("ngram_embedding", table, shape{ids.size[0], ids.size[1], heads});
        return found.view({ids.size[0], ids.size[1], family[ngram_width]});
    }
};

/// A depthwise `nn.Conv1d` with dilation over tokens.
struct dilated_convolution {
    std::int64_t channels;
    std::int64_t kernel;
    std::int64_t dilation;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv1d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.conv(x, t.param("weight", {channels, 1, kernel}), false, channels, 1, 0, dilation);
    }
};

/// Features of grams for all streams, gated by the streams, and what a dilated convolution makes of them.
struct text_ple_layer {
    layer_context ctx;
    std::int64_t number;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextPLELayer"); }
    /// Returns the shape of the cached convolution state; the layer's delta net stores it after its own state.
    [[nodiscard]] constexpr shape state_of(std::int64_t batch) const {
        const family_config& family = ctx.config.family;
        return {batch, family[streams] * ctx.config.hidden_size,
                (family[ple_conv_kernel_size] - 1) * family[longest_gram]};
    }
    /// (B, S, channels) -> the same.
    constexpr tensor convolved(trace& t, const tensor& x) const {
        const std::int64_t sequence = x.dim(1), channels = x.dim(2), gap = ctx.config.family[longest_gram];
        const shape state = state_of(x.dim(0));
        const std::int64_t kernel = ctx.config.family[ple_conv_kernel_size], reach = state.size[2];
        const bool follows = has_recurrent_state(t);
        cache_recurrent_state(t, state, false);
        if (!t.is_training() && !follows) t.add_region_edge(workload_axis::sequence, reach);  // shorter ones are padded
        tensor all = x.transpose(1, 2);
        if (follows)
            all = t.cat({trace::buffer(state), all}, -1);
        else if (!t.is_training() && sequence < reach)
            all = t.pad(all, -1, reach - sequence);
        const tensor features = t.slice(t.pad(all, -1, reach), -1, reach + sequence);
        return t.silu(t.call("conv1d", dilated_convolution{channels, kernel, gap}, features)).transpose(1, 2);
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[streams],
                           in_features = ctx.config.family[ngram_width];
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const stream_norm norm{n, width, ctx.class_of("TextRMSNorm")};
        const shape stream_shape{batch, sequence, n, width}, flat{batch, sequence, n * width};
        const tensor grams = t.call("ple_embedding", gram_embedding{ctx, number}, shape{batch, sequence});
        const tensor key =
            t.call("norm_key", norm, t.call("key_proj", linear{in_features, n * width}, grams)).view(stream_shape);
        const tensor plain = t.call("value_proj", linear{in_features, width}, grams);
        const tensor query = t.call("norm_query", norm, x).view(stream_shape);
        const tensor match = t.div_scalar(t.sum(t.mul(key, query), -1, true));
        const tensor root = t.sqrt(t.clamp_min(t.abs(match)));
        const tensor gate = t.sigmoid(t.mul(root, t.sign(match)));  // the sign's gradient is zeros
        const tensor gated = t.reshape(t.mul(gate, plain.unsqueeze(-2)), flat);
        return t.add(gated, convolved(t, t.call("norm_conv", norm, gated)));
    }
};

/// Layers that attend, and which of the others add features of grams (`own`, from 1).
constexpr void set_ngram_layers(config_view json, model_config& config) {
    const std::int64_t interval = json.positive("full_attention_interval", 4);
    const auto types = json.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    const auto list = json.optional_array("ple_layer_ids");
    const layer_set named = list ? layer_set(*list) : layer_set{};
    std::uint8_t number = 0;
    set_layers(json, config, [&](std::int64_t i) {
        const string_ref name = types ? (*types)[static_cast<std::uint32_t>(i)].as_string() : string_ref{};
        if (types && name != "linear_attention" && name != "indexed_attention" && name != "full_attention")
            throw_unsupported(json, "layer_types", "unsupported layer type");
        const bool recurs = types ? name == "linear_attention" : (i + 1) % interval != 0;
        const bool adds = i + 1 < layer_plan::max_layers && named.has(i + 1);
        if (adds && !recurs) throw_invalid_value(json, "ple_layer_ids", "layers of linear attention");
        return layer_spec{recurs ? token_mixer_kind::recurrent : token_mixer_kind::full_attention, true,
                          adds ? ++number : std::uint8_t{}};
    });
    if (number == 0) return;
    const std::int64_t heads =
        checked_size(json, "heads_per_ngram", config.family[longest_gram] - 1, config.family[gram_heads]);
    config.family[ngram_width] = json.optional_positive("ple_embed_dim").value_or(config.hidden_size);
    if (heads == 0 || config.family[ngram_width] % heads != 0)
        throw_invalid_value(json, "heads_per_ngram", "heads of all grams that divide ple_embed_dim");
    if (heads * number > 1024)
        throw_invalid_value(json, "heads_per_ngram", "at most 1024 heads of grams in all layers");
    if (config.family[ple_conv_kernel_size] < 2) throw_invalid_value(json, "ple_conv_kernel_size", "at least 2");
    if (!json.contains("eos_token_id")) throw_missing_key(json, "eos_token_id", "a token, as grams end there");
}

}  // namespace llmcost::arch::qwen4_exp_detail
