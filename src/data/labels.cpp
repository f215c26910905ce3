// SPDX-License-Identifier: Apache-2.0
#include "kith/data/labels.hpp"
