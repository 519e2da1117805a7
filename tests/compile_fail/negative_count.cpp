// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// error: throw_overflow_error
#include <llmcost/base/count.hpp>

#ifdef MISUSE
constexpr llmcost::count layers = -1;
#else
constexpr llmcost::count layers = 1;
#endif
static_assert(layers == llmcost::count(1));
