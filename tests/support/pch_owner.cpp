// SPDX-License-Identifier: Apache-2.0
// Exists so that the test programs can share one precompiled header.
#include <gtest/gtest.h>
