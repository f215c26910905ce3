// SPDX-License-Identifier: Apache-2.0
#include "kith/model/model_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "kith/core/rng.hpp"
#include "support/dummy_model.hpp"
#include "support/tensor_bytes.hpp"

namespace kith::model_file_test {
namespace {

using dummy::archive_of;
using dummy::dummy_record;
using dummy::DummyModel;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string dummy_bytes(const ModelRecord& record = dummy_record()) {
  DummyModel model;
  return model_bytes(record, archive_of(model));
}

LoadedModel loaded(const std::string& bytes) { return load_model_bytes(bytes, "m.kith"); }

/// The dummy file with something changed, sealed again.
std::string changed(const std::function<void(TensorFile&)>& change) {
  TensorFile file = read_tensor_bytes(dummy_bytes(), "m.kith", kModelFormat);
  change(file);
  return tensor_file_bytes(file, kModelFormat);
}

TEST(ModelFile, GivesBackEveryFieldOfTheRecord) {
  const TempFolder folder;
  const std::string path = folder.path("m.kith");
  DummyModel model;
  const ModelRecord record = dummy_record();
  save_model(path, record, archive_of(model));
  const ModelRecord back = load_model(path).record;
  EXPECT_EQ(back.kith_version, record.kith_version);
  EXPECT_EQ(back.method, record.method);
  EXPECT_EQ(back.settings, record.settings);
  EXPECT_EQ(back.class_names, record.class_names);
  EXPECT_EQ(back.samples, record.samples);
  EXPECT_EQ(back.given_samples, record.given_samples);
  EXPECT_EQ(back.kept, record.kept);
  EXPECT_EQ(back.positions, record.positions);
  EXPECT_EQ(back.classes, record.classes);
  EXPECT_EQ(back.ids, record.ids);
  EXPECT_EQ(back.class_counts, record.class_counts);
  EXPECT_EQ(back.id_hashes, record.id_hashes);
  ASSERT_EQ(back.matrices.size(), 2U);
  EXPECT_EQ(back.matrices[0].name, "blast");
  EXPECT_EQ(back.matrices[1].rule.settings, record.matrices[1].rule.settings);
  EXPECT_EQ(back.matrices[1].rule.root_diagonal, record.matrices[1].rule.root_diagonal);
  EXPECT_EQ(back.decision.priors, record.decision.priors);
  EXPECT_EQ(back.decision.training_shares, record.decision.training_shares);
  EXPECT_EQ(back.decision.costs, record.decision.costs);
  EXPECT_EQ(back.fingerprint, record.fingerprint);
  EXPECT_EQ(back.seed, record.seed);
  EXPECT_EQ(back.blas_threads, record.blas_threads);
  EXPECT_EQ(back.applied, record.applied);
  EXPECT_EQ(back.certificate, record.certificate);
}

TEST(ModelFile, GivesBackTheModelAndThenTheSameBytes) {
  const std::string bytes = dummy_bytes();
  LoadedModel first = loaded(bytes);
  DummyModel model;
  model.offset = 1;
  model.alpha.setZero();
  first.read_parts(archive_of(model));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(model.offset), std::bit_cast<std::uint64_t>(-0.0));
  EXPECT_EQ(model.alpha, DummyModel().alpha);
  EXPECT_EQ(model_bytes(first.record, archive_of(model)), bytes);
}

TEST(ModelFile, KeepsAModelWithoutIdsMatricesDecisionAndCertificate) {
  ModelRecord record;
  record.method = "empty";
  record.class_names = {"only"};
  const auto nothing = [](auto& /*archiver*/) {};
  LoadedModel back = loaded(model_bytes(record, nothing));
  back.read_parts(nothing);
  EXPECT_TRUE(back.record.ids.empty());
  EXPECT_TRUE(back.record.decision.empty());
  EXPECT_TRUE(back.record.certificate.is_null());
  EXPECT_EQ(model_bytes(back.record, nothing), model_bytes(record, nothing));
}

TEST(ModelFile, DetectsEveryChangedByte) {
  const std::string good = dummy_bytes();
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x20U, 0xffU}) {
      std::string bad = good;
      bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ flip);
      EXPECT_THROW((void)loaded(bad), Error) << "byte " << at;
    }
  }
}

TEST(ModelFile, NamesPartsThatTheMethodDoesNotKnowOrMisses) {
  LoadedModel left = loaded(dummy_bytes());
  double offset = 0;
  EXPECT_THAT(message_of([&] { left.read_parts([&](LoadingArchive& a) { a("offset", offset); }); }),
              AllOf(HasSubstr("m.kith"), HasSubstr("model.alpha")));
  LoadedModel missing = loaded(dummy_bytes());
  EXPECT_THAT(
      message_of([&] { missing.read_parts([&](LoadingArchive& a) { a("slope", offset); }); }),
      AllOf(HasSubstr("m.kith"), HasSubstr("\"model.slope\"")));
}

TEST(ModelFile, NamesTheFileWhenTheMethodRefusesAPart) {
  LoadedModel model = loaded(dummy_bytes());
  const auto refuse = [](LoadingArchive&) {
    throw Error(ErrorCode::kInvalidArgument, "no such word");
  };
  EXPECT_EQ(
      message_of([&] { model.read_parts(refuse); }),
      "m.kith: no such word; the file is whole, so another kith wrote it: train the model again");
}

TEST(ModelFile, RefusesMetadataThatBreaksARule) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"method", "", "no name"},
      {"settings", "[]", "no JSON object"},
      {"settings", "{", "not valid JSON"},
      {"settings", R"({"a":1,"a":2})", "twice"},
      {"settings", std::string(40, '[') + std::string(40, ']'), "deep"},
      {"class_names", "[]", "no classes"},
      {"class_names", R"(["a","a"])", "twice"},
      {"class_names", R"(["a",1])", "list of texts"},
      {"class_names", R"(["a"])", "classes"},
      {"samples", "-1", "training samples"},
      {"samples", "6", "kept"},
      {"samples", "7x", "no count"},
      {"samples", "99999999999999999999", "no count"},
      {"seed", "-1", "no count"},
      {"fingerprint", "xyz", "no count"},
      {"blas_threads", "0", "BLAS threads"},
      {"matrices", "null", "no list"},
      {"matrices", "[1]", "names and rules"},
      {"matrices", R"([{"name":"a","rule":{}}])", "input rule"},
      {"surprise", "1", "unknown"},
  };
  for (const auto& [key, value, rule] : cases) {
    const std::string bytes =
        changed([&k = key, &v = value](TensorFile& file) { file.metadata[k] = v; });
    EXPECT_THAT(message_of([&] { (void)loaded(bytes); }),
                AllOf(HasSubstr("m.kith"), HasSubstr(rule)))
        << key << " = " << value;
  }
}

TEST(ModelFile, NamesMetadataThatIsAbsent) {
  for (const auto& [key, text] : read_tensor_bytes(dummy_bytes(), "m", kModelFormat).metadata) {
    const std::string bytes = changed([&, k = key](TensorFile& file) { file.metadata.erase(k); });
    EXPECT_THAT(message_of([&] { (void)loaded(bytes); }), HasSubstr("\"" + key + "\" is absent"));
  }
}

TEST(ModelFile, RefusesArraysOfInputRulesThatDoNotFit) {
  const std::string absent =
      changed([](TensorFile& file) { file.tensors.erase("matrix.1.input.root_diagonal"); });
  EXPECT_THAT(message_of([&] { (void)loaded(absent); }),
              AllOf(HasSubstr("m.kith"), HasSubstr("root_diagonal")));
  const std::string extra = changed([](TensorFile& file) {
    file.tensors["matrix.0.surprise"] = {TensorType::kF64, {0, 0}, "", nullptr};
  });
  EXPECT_THAT(message_of([&] { (void)loaded(extra); }), HasSubstr("matrix.0."));
}

TEST(ModelFile, RefusesToSaveARecordThatContradictsItself) {
  const auto refusal = [](const std::function<void(ModelRecord&)>& spoil, ErrorCode code) {
    ModelRecord record = dummy_record();
    spoil(record);
    return message_of([&] { (void)dummy_bytes(record); }, code);
  };
  const ErrorCode internal = ErrorCode::kInternal;
  EXPECT_THAT(refusal(
                  [](ModelRecord& r) {
                    r.positions = {2, 0, 5};
                  },
                  internal),
              HasSubstr("ascending"));
  EXPECT_THAT(refusal([](ModelRecord& r) { r.positions.back() = 7; }, internal),
              HasSubstr("below 7"));
  EXPECT_THAT(refusal([](ModelRecord& r) { r.ids.pop_back(); }, internal), HasSubstr("2 ids"));
  EXPECT_THAT(refusal([](ModelRecord& r) { r.classes.clear(); }, internal),
              HasSubstr("0 classes for 3 columns"));
  EXPECT_THAT(refusal([](ModelRecord& r) { r.ids[1] = r.ids[0]; }, internal), HasSubstr("twice"));
  EXPECT_THAT(refusal(
                  [](ModelRecord& r) {
                    r.class_counts = {3, 5};
                  },
                  internal),
              HasSubstr("not 7 in 2 classes"));
  EXPECT_THAT(refusal(
                  [](ModelRecord& r) {
                    r.class_counts = {8, -1};
                  },
                  internal),
              HasSubstr("not 7 in 2 classes"));
  EXPECT_THAT(refusal([](ModelRecord& r) { r.class_counts = {7}; }, internal),
              HasSubstr("not 7 in 2 classes"));
  EXPECT_THAT(refusal([](ModelRecord& r) { r.id_hashes.pop_back(); }, internal),
              HasSubstr("ascending order"));
  EXPECT_THAT(refusal([](ModelRecord& r) { std::swap(r.id_hashes[0], r.id_hashes[1]); }, internal),
              HasSubstr("ascending order"));
  EXPECT_THAT(refusal([](ModelRecord& r) { r.matrices[1].rule.samples = 4; }, internal),
              HasSubstr("\"edit\""));
  EXPECT_THAT(refusal([](ModelRecord& r) { r.decision.priors.resize(3); }, internal),
              HasSubstr("2 classes"));
  EXPECT_THAT(
      refusal([](ModelRecord& r) { r.class_names[0] = "\xff"; }, ErrorCode::kInvalidArgument),
      HasSubstr("UTF-8"));
}

TEST(ModelFile, KnowsTheIdsOfItsTrainingSamplesByTheirHashes) {
  ModelRecord record = dummy_record();
  for (const char* id : {"a", "d", "g"}) EXPECT_TRUE(has_training_sample(record, id)) << id;
  for (const char* id : {"", "h", "A", "aa"}) EXPECT_FALSE(has_training_sample(record, id)) << id;
  record.id_hashes.clear();
  EXPECT_FALSE(has_training_sample(record, "a"));
}

TEST(RequiredColumns, AreThoseOfTheMethodWhereTheRulesAllowIt) {
  InputRule cosine;
  cosine.settings.scale = ScaleRule::kCosine;
  cosine.samples = cosine.given_samples = 4;
  cosine.root_diagonal = (Vector(4) << 1, 2, 3, 4).finished();
  const std::vector<InputRule> rules = {cosine};
  const RequiredColumns part = required_columns(rules, std::vector<Index>{1, 3}, 4);
  EXPECT_THAT(part.positions, ElementsAre(1, 3));
  EXPECT_EQ(part.rules.at(0).root_diagonal, (Vector(2) << 2, 4).finished());
}

TEST(RequiredColumns, AreAllWhereOneRuleNeedsWholeRows) {
  InputRule plain;
  plain.samples = plain.given_samples = 4;
  InputRule whole = plain;
  whole.settings.diagonal = DiagonalRule::kMaxRow;
  const std::vector<InputRule> rules = {plain, whole};
  const RequiredColumns all = required_columns(rules, std::vector<Index>{1, 3}, 4);
  EXPECT_THAT(all.positions, ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(all.rules.size(), 2U);
  EXPECT_EQ(all.rules[0].samples, 4);
}

}  // namespace
}  // namespace kith::model_file_test
