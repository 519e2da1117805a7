// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/report/chakra.hpp>

#include "parts.hpp"

#if __has_include(<chakra.pb.h>)
const llmcost::cli::trace_writer parts::chakra = llmcost::chakra_trace;
#else
const llmcost::cli::trace_writer parts::chakra = nullptr;
#endif
