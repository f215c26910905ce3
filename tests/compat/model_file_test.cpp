// SPDX-License-Identifier: Apache-2.0
#include "kith/model/model_file.hpp"

#include <gtest/gtest.h>

#include "dummy_model.hpp"
#include "support/files.hpp"

namespace kith {
namespace {

const std::string kVersion1 = std::string(KITH_COMPAT_FILES) + "/model-v1.kith";

TEST(CompatModelFile, LoadsVersion1) {
  LoadedModel loaded = load_model(kVersion1);
  const ModelRecord expected = compat::dummy_record();
  EXPECT_EQ(loaded.record.format_version, 1);
  EXPECT_EQ(loaded.record.method, expected.method);
  EXPECT_EQ(loaded.record.settings, expected.settings);
  EXPECT_EQ(loaded.record.class_names, expected.class_names);
  EXPECT_EQ(loaded.record.ids, expected.ids);
  EXPECT_EQ(loaded.record.matrices.at(1).rule.root_diagonal,
            expected.matrices.at(1).rule.root_diagonal);
  EXPECT_EQ(loaded.record.decision.costs, expected.decision.costs);

  compat::DummyModel model;
  model.alpha.setZero();
  model.weights.setZero();
  loaded.read_parts(compat::archive_of(model));
  EXPECT_EQ(model.alpha, compat::DummyModel().alpha);
  EXPECT_EQ(model.weights, compat::DummyModel().weights);
}

// A change of what is written needs a new format version and a new file beside the old one.
TEST(CompatModelFile, StillWritesVersion1) {
  ASSERT_EQ(kModelFormat.newest, 1);
  compat::DummyModel model;
  EXPECT_EQ(model_bytes(compat::dummy_record(), compat::archive_of(model)), content_of(kVersion1));
}

}  // namespace
}  // namespace kith
