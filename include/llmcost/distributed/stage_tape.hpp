// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/memory/tape.hpp>

// The forward pass of one pipeline stage, cut out of that of the model.
namespace llmcost {

/// Consecutive layers of a pipeline stage: `first` to `end` − 1.
struct stage_layers {
    std::int64_t first = 0;
    std::int64_t end = 0;

    [[nodiscard]] std::int64_t size() const noexcept { return end - first; }
    friend bool operator==(const stage_layers&, const stage_layers&) = default;
};

/// The layers of each pipeline stage.
///
/// `first_layers`, `last_layers`: layers of the first and of the last stage; −1: as many as the others. Layers that
/// remain go to the earliest of the other stages, one each.
///
/// Source: megatron/core/transformer/transformer_block.py, `get_num_layers_to_build`
/// (`num_layers_in_first_pipeline_stage`).
[[nodiscard]] std::vector<stage_layers> divide_layers(std::int64_t num_layers, std::int64_t num_stages,
                                                      std::int64_t first_layers = -1, std::int64_t last_layers = -1);

/// The regions of a tape that are layers of the decoder, in order: the list with `num_layers` items; if there is none,
/// the longest list.
[[nodiscard]] std::vector<std::int32_t> layer_regions_of(const tape& pass, std::int64_t num_layers);

/// The part of a forward pass that one pipeline stage executes.
///
/// - The first stage has all operations before the first layer, the last stage all operations after the last layer.
/// - Operations before the layers whose results need no gradient are repeated in each stage that reads them: rotary
///   tables, masks.
/// - A stage has the parameters that its operations read. A tied head is a copy in the last stage.
/// - Other tensors of earlier stages are received: they are inputs of the tape, and backward sends their gradients.
///   Tensors that later stages read are sent.
///
/// `regions`: as of `layer_regions_of`.
[[nodiscard]] tape stage_tape_of(const tape& pass, const std::vector<std::int32_t>& regions,
                                 const stage_layers& layers);

/// Bytes of tensors of a tape: those that a stage receives or sends.
[[nodiscard]] std::uint64_t tensor_bytes(const tape& pass, const std::vector<std::int32_t>& tensors);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/stage_tape.ipp>  // IWYU pragma: export
#endif
