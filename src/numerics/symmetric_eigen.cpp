// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/symmetric_eigen.hpp"
