// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a transformer costs, exactly: counts, parameters, cache, memory of training. No JSON, no I/O, no allocation.
//
//   base/      text, exact 128-bit numbers, element types, what is asked
//   trace/     the forward pass being described, in PyTorch's functions: tensors, operations with their prices, sums
//   layers/    one kind of layer per file: what a layer is, said once
//   model/     a row per model type, its sizes, and where a walk is
//   walks/     the words that forward passes are made of, and the sentences that many families share
//   reading/   a configuration, and what many families read of it
//   analysis/  what is read off a walk; evaluator.hpp, for millions of them, is included by itself
//
// By themselves are included: registry.hpp (every row, by its model_type), arch/ (the rows, one family per file),
// presets.hpp (well-known models as literals), devices/ (datasheets).

// IWYU pragma: begin_exports
#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/version.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/trace.hpp>
// IWYU pragma: end_exports
