// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "parts.hpp"

// the library has no protobuf
const llmcost::cli::trace_writer parts::chakra = nullptr;
