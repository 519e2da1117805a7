// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/dtype.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

/// Replaces frozen weights by quantized ones. A product dequantizes its weight temporarily in backward.
///
/// Source: bitsandbytes/autograd/_functions.py, `MatMul4Bit`: saves no input, calls `dequantize_4bit` in backward.
void store_quantized(tape& pass, const stored_weights& stored, dtype default_type);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/quantized_base_model.ipp>  // IWYU pragma: export
#endif
