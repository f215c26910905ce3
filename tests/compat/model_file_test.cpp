// SPDX-License-Identifier: Apache-2.0
#include "kith/model/model_file.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dummy_model.hpp"
#include "support/files.hpp"

namespace kith {
namespace {

const std::string kVersion1 = std::string(KITH_COMPAT_FILES) + "/model-v1.kith";
const std::string kVersion2 = std::string(KITH_COMPAT_FILES) + "/model-v2.kith";

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

TEST(CompatModelFile, LoadsVersion2) {
  LoadedModel loaded = load_model(kVersion2);
  EXPECT_EQ(loaded.record.format_version, 2);
  ASSERT_EQ(loaded.record.matrices.size(), 2U);
  const ModelRecord expected = compat::dummy_record_2();
  for (std::size_t k = 0; k < 2; ++k) {
    ASSERT_TRUE(loaded.record.matrices[k].measure.has_value());
    const MeasureRule& found = *loaded.record.matrices[k].measure;
    const MeasureRule& wanted = *expected.matrices[k].measure;
    EXPECT_EQ(settings_json(found.settings), settings_json(wanted.settings));
    EXPECT_EQ(found.columns, wanted.columns);
    EXPECT_EQ(source_of(found.training), kVersion2);
  }
  const auto& sequences =
      std::get<SequenceData>(loaded.record.matrices[0].measure->training).values;
  EXPECT_EQ(sequences, (std::vector<std::string>{"MKTAYIAK", "MKV", "W*"}));
  const auto& strings = std::get<StringData>(loaded.record.matrices[1].measure->training).values;
  EXPECT_EQ(strings, (std::vector<std::string>{"oak", "", "\xc3\xa9"}));
  compat::DummyModel model;
  loaded.read_parts(compat::archive_of(model));
}

// A change of what is written needs a new format version and a new file beside the old one.
TEST(CompatModelFile, StillWritesVersion2) {
  ASSERT_EQ(kModelFormat.newest, 2);
  compat::DummyModel model;
  EXPECT_EQ(model_bytes(compat::dummy_record_2(), compat::archive_of(model)),
            content_of(kVersion2));
}

}  // namespace
}  // namespace kith
