// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// error: throw_scope_error
#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>

#ifdef MISUSE
constexpr llmcost::scope_query query{"attnn"};
#else
constexpr llmcost::scope_query query{"attn"};
#endif
static_assert(llmcost::count_model(llmcost::presets::llama_3_2_1b, {}, query).params > llmcost::count{});
