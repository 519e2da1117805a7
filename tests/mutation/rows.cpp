// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "mutable_prices.hpp"

#include "../../examples/llmcost/registry.cpp"
