// SPDX-License-Identifier: Apache-2.0
// A record with something in every field and a model with a part of every kind.
#pragma once

#include <limits>

#include "kith/model/model_file.hpp"

namespace kith::dummy {

struct DummyModel {
  double offset = -0.0;
  Index neighbours = 5;
  bool has_offset = true;
  std::string word = "a \"word\"\n\xc3\xa9";
  Vector alpha = (Vector(3) << 0.1, -2.5, std::numeric_limits<double>::denorm_min()).finished();
  Matrix weights = (Matrix(2, 3) << 1, 2, 3, 4, 5, 6.5).finished();
  Matrix nothing = Matrix(0, 4);
  std::vector<int> labels = {1, 0, 1};
  std::vector<Index> columns = {0, 2, 5};
};

template <class A>
void archive(Archived<A, DummyModel>& model, A& archiver) {
  archiver("offset", model.offset);
  archiver("neighbours", model.neighbours);
  archiver("has_offset", model.has_offset);
  archiver("word", model.word);
  archiver("alpha", model.alpha);
  archiver("weights", model.weights);
  archiver("nothing", model.nothing);
  archiver("labels", model.labels);
  archiver("columns", model.columns);
}

inline ModelRecord dummy_record() {
  ModelRecord record;
  record.kith_version = "0.1.0";
  record.method = "dummy";
  record.settings["cost"] = 0.1;
  record.settings["spectrum"] = "clip";
  record.class_names = {"cat", "\"dog\"\n\xe2\x82\xac"};
  record.samples = 7;
  record.given_samples = 8;
  record.kept = {0, 1, 2, 4, 5, 6, 7};
  record.positions = {0, 2, 5};
  record.ids = {"first", "line\nbreak", "\xc3\xa9 \"quoted\""};
  record.class_counts = {3, 4};
  record.id_hashes = id_hashes(std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g"});
  InputRule plain;
  plain.settings.from_distance = FromDistance::kDoubleCentre;
  plain.samples = plain.given_samples = 3;
  InputRule cosine = plain;
  cosine.settings.scale = ScaleRule::kCosine;
  cosine.root_diagonal = (Vector(3) << 1, 0.3, 2).finished();
  record.matrices = {{"blast", plain}, {"edit", cosine}};
  record.decision.priors = (Vector(2) << 0.25, 0.75).finished();
  record.decision.training_shares = (Vector(2) << 3.0 / 7, 4.0 / 7).finished();
  record.decision.costs = (Matrix(2, 2) << 0, 5, 1, 0).finished();
  record.fingerprint = 0xfedcba9876543210U;
  record.seed = std::numeric_limits<std::uint64_t>::max();
  record.blas_threads = 2;
  record.applied = {"made symmetric (mean)", "scaled (cosine)"};
  record.certificate["gap"] = 1e-9;
  record.certificate["status"] = "solved";
  return record;
}

/// For saving and for loading.
inline auto archive_of(DummyModel& model) {
  return [&model](auto& archiver) { archive(model, archiver); };
}

}  // namespace kith::dummy
