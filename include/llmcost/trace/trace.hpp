// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A symbolic forward pass: the class `trace` and the definitions of its operations.

// IWYU pragma: begin_exports
#include <llmcost/trace/image_ops.hpp>
#include <llmcost/trace/product_ops.hpp>
#include <llmcost/trace/tensor_ops.hpp>
#include <llmcost/trace/trace_class.hpp>
// IWYU pragma: end_exports
