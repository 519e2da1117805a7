// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a transformer costs, exactly: counts, parameters, cache, memory of training. No JSON, no I/O, no allocation.
//
//   count.hpp ops.hpp             exact 128-bit numbers; the closed set of operations with their prices
//   value.hpp recorder.hpp        tensors as PyTorch lays them out; sums, scopes, repetition
//   trace.hpp                     the forward pass being described, in PyTorch's functions
//   layers/                       one kind of layer per file: what a layer is, said once
//   architecture.hpp decoder.hpp  a row per model type, and the walk that most of them share
//   arch/                         the rows, one family per file
//   analysis/                     what is read off a walk; evaluator.hpp, for millions of them, is included by itself
//   models.hpp                    well-known models as literals, included by itself
//   device.hpp devices.hpp        datasheets of processors as literals, included by themselves

// IWYU pragma: begin_exports
#include <llmcost/analysis/counts.hpp>
#include <llmcost/arch/all.hpp>
#include <llmcost/config.hpp>
#include <llmcost/count.hpp>
#include <llmcost/dtype.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/ops.hpp>
#include <llmcost/scope.hpp>
#include <llmcost/trace.hpp>
#include <llmcost/value.hpp>
#include <llmcost/version.hpp>
#include <llmcost/workload.hpp>
// IWYU pragma: end_exports
