// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What a header may not say: definitions that every translation unit would have.
int defined_in_each_unit() { return 0; }
int one_object_in_each_unit = 0;
