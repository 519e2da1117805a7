// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "everything.hpp"

const void* version_seen_by_second();

// an inline variable is one object in the whole program; a copy per translation unit would have two addresses
int main() { return version_seen_by_second() == static_cast<const void*>(&llmcost::version) ? 0 : 1; }
