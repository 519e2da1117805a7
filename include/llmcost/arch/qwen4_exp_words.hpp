// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

// Features of words that follow each other, hashed, which some layers of Qwen4-Exp add to all of their streams.
namespace llmcost::arch::qwen4_exp_detail {

enum own : std::uint8_t {
    streams,
    mix_rank,
    word_width,
    word_kernel,
    longest_gram,
    gram_heads,
    gram_words,
    gram_divisor,
    index_heads,
    index_width,
    index_budget,
    index_rate,
    gate_act
};
inline constexpr own_key keys[]{
    {"hc_count", 4},
    {"hc_lowrank", 320},
    {.value = own_value::computed},  // of the features of all grams side by side
    {"ple_conv_kernel_size", 4},
    {"ngram_size", 3},
    {"heads_per_ngram", 8},
    {"ngram_vocab_size_base", 20000000},
    {"make_ngram_vocab_size_divisible_by", 128},
    {.value = own_value::computed},  // of the indexer; 0: no layer attends
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},  // the activation function of a delta net's gate
};

/// Gemma's norm of each stream of (B, S, streams · width) by itself, with weights for all.
struct stream_norm {
    std::int64_t streams;
    std::int64_t width;
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {streams * width});
        const value h = t.reshape(t.to(x, dtype::float32), {x.dim(0), x.dim(1), streams, width});
        const value out = t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true))));
        const value flat = t.reshape(out, {x.dim(0), x.dim(1), streams * width});
        return t.to(t.mul(flat, t.add(t.to(weight, dtype::float32))), x.type);
    }
};

constexpr bool is_prime(std::int64_t n) noexcept {
    if (n < 2 || n % 2 == 0) return n == 2;
    for (std::int64_t i = 3; i * i <= n; i += 2)
        if (n % i == 0) return false;
    return true;
}
/// Rows of the table of the n-th such layer: each head has as many as the next prime says, all padded together.
constexpr std::int64_t rows_of_table(const sizes& dims, std::int64_t n) {
    const std::int64_t heads = (dims.own[longest_gram] - 1) * dims.own[gram_heads], divisor = dims.own[gram_divisor];
    std::int64_t prime = dims.own[gram_words] - 1, rows = 0;
    for (std::int64_t head = 0; head < (n + 1) * heads; ++head) {
        do ++prime;
        while (!is_prime(prime));
        if (head >= n * heads) rows += prime;
    }
    return (rows + divisor - 1) / divisor * divisor;
}

/// The features of each token's grams side by side, (B, S, width); which ones are integers.
struct gram_embedding {
    site here;
    std::int64_t number;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextNGramEmbedding"); }
    constexpr value describe(trace& t, const extents& ids) const {
        const own_sizes& own = here.dims.own;
        const std::int64_t heads = (own[longest_gram] - 1) * own[gram_heads];
        const embedding table{rows_of_table(here.dims, number), own[word_width] / heads};
        const value found = t.call("ngram_embedding", table, extents{ids.size[0], ids.size[1], heads});
        return found.view({ids.size[0], ids.size[1], own[word_width]});
    }
};

/// `nn.Conv1d` per channel with gaps between the tokens that it sees.
struct dilated_convolution {
    std::int64_t channels;
    std::int64_t kernel;
    std::int64_t dilation;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv1d"}; }
    constexpr value describe(trace& t, const value& x) const {
        return t.convolution(x, t.param("weight", {channels, 1, kernel}), false, channels, 1, 0, dilation);
    }
};

/// Features of grams for all streams, gated by the streams, and what a dilated convolution makes of them.
struct word_layer {
    site here;
    std::int64_t number;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextPLELayer"); }
    /// What the cache keeps of the convolution; the layer's delta net tells it, behind a state of its own.
    [[nodiscard]] constexpr extents state_of(std::int64_t batch) const {
        const own_sizes& own = here.dims.own;
        return {batch, own[streams] * here.dims.hidden_size, (own[word_kernel] - 1) * own[longest_gram]};
    }
    /// (B, S, channels) -> the same.
    constexpr value convolved(trace& t, const value& x) const {
        const std::int64_t sequence = x.dim(1), channels = x.dim(2), gap = here.dims.own[longest_gram];
        const extents state = state_of(x.dim(0));
        const std::int64_t kernel = here.dims.own[word_kernel], reach = state.size[2];
        const bool follows = has_recurrent_state(t);
        cache_recurrent_state(t, state, false);
        if (!t.training() && !follows) t.edge(axis::sequence, reach);  // shorter ones are padded
        value all = x.transpose(1, 2);
        if (follows)
            all = t.cat({trace::buffer(state), all}, -1);
        else if (!t.training() && sequence < reach)
            all = t.pad(all, -1, reach - sequence);
        const value seen = t.slice(t.pad(all, -1, reach), -1, reach + sequence);
        return t.silu(t.call("conv1d", dilated_convolution{channels, kernel, gap}, seen)).transpose(1, 2);
    }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, n = here.dims.own[streams], from = here.dims.own[word_width];
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const stream_norm norm{n, width, here.type("TextRMSNorm")};
        const extents apart{batch, sequence, n, width}, flat{batch, sequence, n * width};
        const value grams = t.call("ple_embedding", gram_embedding{here, number}, extents{batch, sequence});
        const value key = t.call("norm_key", norm, t.call("key_proj", linear{from, n * width}, grams)).view(apart);
        const value plain = t.call("value_proj", linear{from, width}, grams);
        const value query = t.call("norm_query", norm, x).view(apart);
        const value match = t.div(t.sum(t.mul(key, query), -1, true));
        const value root = t.unary(op::sqrt, t.unary(op::compare, t.abs(match)));
        const value gate = t.sigmoid(t.mul(root, t.unary(op::compare, match)));  // the sign's gradient is zeros
        const value gated = t.reshape(t.mul(gate, plain.unsqueeze(-2)), flat);
        return t.add(gated, convolved(t, t.call("norm_conv", norm, gated)));
    }
};

/// Layers that attend, and which of the others add features of grams (`own`, from 1).
constexpr void plan_words(config_view config, sizes& s) {
    const std::int64_t interval = config.positive("full_attention_interval", 4);
    const auto types = config.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    const auto list = config.optional_array("ple_layer_ids");
    const layer_set named = list ? layer_set(*list) : layer_set{};
    std::uint8_t number = 0;
    plan_layers(config, s, [&](std::int64_t i) {
        const string_ref word = types ? (*types)[static_cast<std::uint32_t>(i)].as_string() : string_ref{};
        if (types && word != "linear_attention" && word != "indexed_attention" && word != "full_attention")
            fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        const bool recurs = types ? word == "linear_attention" : (i + 1) % interval != 0;
        const bool adds = i + 1 < layer_plan::longest && named.has(i + 1);
        if (adds && !recurs) fail_value(config, "ple_layer_ids", "layers of linear attention");
        return layer_kind{recurs ? mixer_kind::recurrent : mixer_kind::full_attention, true,
                          adds ? ++number : std::uint8_t{}};
    });
    if (number == 0) return;
    const std::int64_t heads = checked_width(config, "heads_per_ngram", s.own[longest_gram] - 1, s.own[gram_heads]);
    s.own[word_width] = config.optional_positive("ple_embed_dim").value_or(s.hidden_size);
    if (heads == 0 || s.own[word_width] % heads != 0)
        fail_value(config, "heads_per_ngram", "heads of all grams that divide ple_embed_dim");
    if (heads * number > 1024) fail_value(config, "heads_per_ngram", "at most 1024 heads of grams in all layers");
    if (s.own[word_kernel] < 2) fail_value(config, "ple_conv_kernel_size", "at least 2");
    if (!config.contains("eos_token_id")) fail_missing(config, "eos_token_id", "a token, as grams end there");
}

}  // namespace llmcost::arch::qwen4_exp_detail
