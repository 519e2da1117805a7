// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <llmcost/files/check_tensors.hpp>
#include <llmcost/files/gguf_names.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/report/stored_bytes.hpp>

// Compares the tensors of a GGUF file with those that the converter would write.
namespace llmcost {

/// Compares names and sizes of a GGUF file's tensors with the predicted ones (`gguf_tensors`).
[[nodiscard]] tensor_check check_gguf(const std::vector<gguf_tensor>& predicted, const stored_tensors& stored);

/// The bytes of a file's tensors by the parameters that they hold.
[[nodiscard]] stored_bytes stored_bytes_of(const std::vector<stored_tensor>& stored, const tensor_check& found);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/check_gguf.ipp>  // IWYU pragma: export
#endif
