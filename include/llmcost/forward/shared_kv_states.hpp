// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

// Late layers that use the keys and values of earlier layers (Gemma 3n, Gemma 4).
namespace llmcost::shared_kv {

/// Bits of `family_tag`: later layers use its keys and values; it uses those of another layer.
inline constexpr std::uint8_t stores = 1, reuses = 2;

/// Finds the layers that share keys and values. The last `shared` layers use those of the last unshared layer of their
/// kind.
///
/// Source: `kv_sharing_modes` of the configuration classes.
class sharing {
public:
    constexpr sharing(config_view json, const model_config& config, std::int64_t shared) {
        const std::int64_t layers = config.num_hidden_layers;
        if (shared >= layers) throw_invalid_value(json, "num_kv_shared_layers", "fewer than all layers");
        first_ = layers - shared;
        if (shared == 0) return;
        for (std::int64_t i = 0; i < layers; ++i) {
            std::int64_t& last = config.layers[i].token_mixer == token_mixer_kind::sliding_attention ? sliding_ : full_;
            if (i < first_) last = i;
            if (last < 0)
                throw_invalid_value(json, "num_kv_shared_layers",
                                    "fewer, so that each layer type has an unshared layer");
        }
    }
    [[nodiscard]] constexpr std::uint8_t family_tag_of(std::int64_t layer) const noexcept {
        return layer >= first_ ? reuses : layer == sliding_ || layer == full_ ? stores : std::uint8_t{};
    }

private:
    std::int64_t first_ = 0, sliding_ = -1, full_ = -1;
};

/// Shared keys and values, by layer kind.
struct shared_kv_states {
    query_key_value full, sliding;
    [[nodiscard]] constexpr query_key_value& select(const layer_spec& kind) noexcept {
        return kind.token_mixer == token_mixer_kind::sliding_attention ? sliding : full;
    }
};

/// Traces the layers from `first_layer` to before `to`. Runs of equal layers share one trace; layers that store keys
/// and values are separate.
///
/// `call(ctx, x)` calls one layer.
template <class Call>
constexpr tensor forward_layer_range(const layer_context& ctx, trace& t, const decoder_inputs& shared, tensor x,
                                     std::int64_t first_layer, std::int64_t to, const Call& call) {
    const layer_plan& plan = ctx.config.layers;
    for (std::int64_t i = first_layer, run = 0; i < to; i += run) {
        const layer_spec kind = plan[i];
        for (run = 1; (kind.family_tag & stores) == 0 && i + run < to && plan[i + run] == kind;) ++run;
        if ((kind.family_tag & stores) != 0) {  // tensors created in a loop are not available after it
            x = call(layer_context{ctx.model, ctx.spec, ctx.config, &shared.for_layer(kind), kind, i}, x);
            continue;
        }
        for (loop layer_loop = t.loop_modules(run, x, i); layer_loop.next();)
            x = call(layer_context{ctx.model, ctx.spec, ctx.config, &shared.for_layer(kind), kind, layer_loop.index()},
                     x);
    }
    return x;
}

}  // namespace llmcost::shared_kv
