// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// error: scope_query
#include <string>

#include <llmcost/trace/scope.hpp>

#ifdef MISUSE
const llmcost::scope_query query{std::string("model.layers.0")};
#else
const std::string path = "model.layers.0";
const llmcost::scope_query query{path};
#endif
