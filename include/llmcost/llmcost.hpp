// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exact costs of transformers: operation counts, parameters, cache, memory of training. No JSON, no I/O, no allocation.
//
//   - `base/`: text, exact 128-bit numbers, element types, workloads.
//   - `trace/`: symbolic forward passes in PyTorch functions: tensors, operations with their costs, totals.
//   - `layers/`: layers, one kind per file.
//   - `model/`: model specs, models, and the context of forward functions.
//   - `forward/`: forward functions that many families share.
//   - `config/`: reading of configurations, shared by many families.
//   - `analysis/`: figures of traces. Include evaluator.hpp separately to evaluate millions of workloads.
//
// To be included separately: registry.hpp (all model specs, by `model_type`), arch/ (model specs, one family per file),
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
#include <llmcost/model/composed_model.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/trace.hpp>
// IWYU pragma: end_exports
