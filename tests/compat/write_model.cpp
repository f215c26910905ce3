// SPDX-License-Identifier: Apache-2.0
// kith_write_compat_model FILE: the dummy model as this version writes it. See README.md.
#include <cstdio>
#include <exception>

#include "dummy_model.hpp"

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fputs("usage: kith_write_compat_model FILE\n", stderr);
    return 1;
  }
  kith::compat::DummyModel model;
  kith::save_model(arguments[1], kith::compat::dummy_record_2(), kith::compat::archive_of(model));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
