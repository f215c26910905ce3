// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/committee.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/core/text.hpp"
#include "kith/core/xxh64.hpp"
#include "kith/pipeline/given_values.hpp"
#include "pipeline/committee_members.hpp"
#include "pipeline/model_parts.hpp"

namespace kith {
namespace {

/// The columns that some member needs, ascending.
std::vector<Index> united(std::span<const TrainedModel> members) {
  std::vector<Index> all;
  for (const TrainedModel& member : members) {
    std::vector<Index> both;
    std::set_union(all.begin(), all.end(), member.record.positions.begin(),
                   member.record.positions.end(), std::back_inserter(both));
    all = std::move(both);
  }
  return all;
}

/// The committee hands rows on as they are; each member has rules of its own.
InputRule untouched(const Source& source, const ModelRecord& record, Index columns,
                    bool was_asymmetric) {
  InputRule rule;
  rule.kind = source.kind;
  rule.settings.from_distance = FromDistance::kNegative;
  rule.samples = columns;
  rule.given_samples = columns == record.samples ? record.given_samples : columns;
  if (columns == record.samples) rule.kept = record.kept;
  rule.was_asymmetric = was_asymmetric;
  return rule;
}

bool was_asymmetric(std::span<const TrainedModel> members, Index source) {
  for (const TrainedModel& member : members) {
    for (std::size_t m = 0; m < member.sources.size(); ++m) {
      if (member.sources[m] == source && member.record.matrices[m].rule.was_asymmetric) return true;
    }
  }
  return false;
}

/// What the numbers of a table were like, of some member that uses it.
std::optional<GivenValues> given_to(std::span<const Seat> members, Index source,
                                    std::span<const Index> columns) {
  for (const Seat& member : members) {
    for (std::size_t m = 0; m < member.sources.size(); ++m) {
      if (member.sources[m] != source || member.prepared->given.empty()) continue;
      return given_values(member.prepared->given[m], columns);
    }
  }
  return std::nullopt;
}

std::string member_part(std::size_t k) { return "member." + std::to_string(k); }

/// A member must be a model of the same samples and classes, of matrices that the committee has.
void check_member(const TrainedModel& member, const ModelRecord& record) {
  const auto known = [&](Index source) {
    return source >= 0 && source < std::ssize(record.matrices);
  };
  const bool fits = !member.sources.empty() && member.record.features == 0 &&
                    member.record.class_names == record.class_names &&
                    member.record.samples == record.samples &&
                    member.record.given_samples == record.given_samples &&
                    member.sources.size() == member.record.matrices.size() &&
                    std::all_of(member.sources.begin(), member.sources.end(), known) &&
                    std::includes(record.positions.begin(), record.positions.end(),
                                  member.record.positions.begin(), member.record.positions.end());
  if (!fits) {
    throw Error(ErrorCode::kBadInput, fmt::format("its member {} is no model of the same samples",
                                                  in_quotes(member.record.method)));
  }
}

/// A committee within a committee is refused before it is read, however deep they are nested.
TrainedModel member_of_bytes(std::string_view bytes, const std::string& name) {
  LoadedModel loaded = load_model_bytes(bytes, name);
  if (loaded.record.method == kCommittee) {
    throw Error(ErrorCode::kBadInput, name + " is a committee itself");
  }
  return detail::with_parts(std::move(loaded));
}

/// The rows that a member takes, of those that the committee was given.
QueryBlock rows_of(const TrainedModel& member, const QueryBlock& raw,
                   const ModelRecord& committee) {
  QueryBlock own;
  for (const Index source : member.sources) {
    own.matrices.push_back(raw.matrices[static_cast<std::size_t>(source)]);
  }
  std::vector<Index> columns;
  for (const Index position : member.record.positions) {
    const auto at =
        std::lower_bound(committee.positions.begin(), committee.positions.end(), position);
    columns.push_back(static_cast<Index>(at - committee.positions.begin()));
  }
  return over_columns(own, columns);
}

/// The columns that a committee needs, of rows over these, over all training samples, or over all
/// that were given.
QueryBlock needed_rows(const ModelRecord& record, const QueryBlock& raw) {
  const Index given = cols(raw.matrices.front().to_training);
  std::vector<Index> columns = record.positions;
  Index width = given;
  if (given == record.given_samples && !record.kept.empty()) {
    for (Index& column : columns) column = record.kept[static_cast<std::size_t>(column)];
  } else if (given != record.samples) {
    width = std::ssize(columns);
    columns = all_positions(width);
  }
  for (const QueryMatrix& matrix : raw.matrices) check_columns(matrix, width);
  return over_columns(raw, columns);
}

}  // namespace

double standard_error(double error, Index samples) {
  const auto n = static_cast<double>(std::max<Index>(samples, 1));
  return std::sqrt(std::max(error * (1 - error), 1 / n) / n);
}

double standard_error_of_losses(double sum, double squares, Index samples) {
  const auto n = static_cast<double>(std::max<Index>(samples, 2));
  const double variance = (squares - sum * sum / n) / (n - 1);
  return std::sqrt(std::max(variance, 1 / n) / n);
}

std::vector<std::size_t> seats(std::span<const double> errors, Index samples) {
  std::vector<double> standard_errors;
  for (const double error : errors) standard_errors.push_back(standard_error(error, samples));
  return seats(errors, standard_errors);
}

std::vector<std::size_t> seats(std::span<const double> losses,
                               std::span<const double> standard_errors) {
  std::size_t best = losses.size();
  for (std::size_t m = 0; m < losses.size(); ++m) {
    if (std::isfinite(losses[m]) && (best == losses.size() || losses[m] < losses[best])) best = m;
  }
  if (best == losses.size()) throw invalid("none of the methods could be fitted");
  const double reach = losses[best] + kSeatReach * standard_errors[best];
  std::vector<std::size_t> chosen;
  for (std::size_t m = 0; m < losses.size(); ++m) {
    if (losses[m] <= reach) chosen.push_back(m);
  }
  return chosen;
}

Prediction combined(std::span<const Prediction> members, int classes) {
  Prediction result;
  result.labels = members.front().labels;
  const auto queries = static_cast<Index>(result.labels.size());
  Matrix shares = Matrix::Zero(queries, classes);
  for (const Prediction& member : members) {
    const bool has_probabilities = member.probabilities.cols() == classes;
    const double vote = has_probabilities ? kVoteShare : 1;
    for (Index q = 0; q < queries; ++q) {
      shares(q, member.labels[static_cast<std::size_t>(q)]) += vote;
    }
    if (has_probabilities) shares += (1 - kVoteShare) * member.probabilities;
  }
  shares /= static_cast<double>(members.size());
  for (Index q = 0; q < queries; ++q) {
    Index best = 0;
    shares.row(q).maxCoeff(&best);
    result.labels[static_cast<std::size_t>(q)] = static_cast<int>(best);
  }
  result.scores = shares;
  result.probabilities = std::move(shares);
  return result;
}

Training train_committee(std::span<const Seat> members, std::span<const Source> sources,
                         const DecisionSettings& decision, RunContext& ctx) {
  const Stopwatch clock;
  Training training;
  std::vector<TrainedModel>& fitted = training.model.members;
  Xxh64 hash;
  std::vector<bool> done(members.size());
  fitted.resize(members.size());
  std::vector<FitInfo> infos(members.size());
  for (std::size_t first = 0; first < members.size(); ++first) {
    if (done[first]) continue;
    SharedWork work(members[first].prepared->set);
    for (std::size_t i = first; i < members.size(); ++i) {
      if (members[i].prepared != members[first].prepared) continue;
      ctx.progress("fitting the committee",
                   static_cast<double>(std::count(done.begin(), done.end(), true)),
                   static_cast<double>(members.size()), members[i].name);
      Training one = train(*members[i].prepared, members[i].choice, work, ctx);
      fitted[i] = std::move(one.model);
      fitted[i].sources = members[i].sources;
      infos[i] = std::move(one.info);
      done[i] = true;
    }
  }
  const ModelRecord& of_first = fitted.front().record;
  ModelRecord& record = training.model.record;
  record.method = kCommittee;
  add_decision(decision, record.settings);
  record.class_names = of_first.class_names;
  record.samples = of_first.samples;
  record.given_samples = of_first.given_samples;
  record.kept = of_first.kept;
  record.positions = united(fitted);
  const TrainingSet& set = members.front().prepared->set;
  record.ids = values_at(set.ids, record.positions);
  record.classes = values_at(set.labels.ids, record.positions);
  record.class_counts = set.labels.counts();
  record.id_hashes = id_hashes(set.ids);
  const auto columns = std::ssize(record.positions);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    record.matrices.push_back(
        {sources[s].name,
         untouched(sources[s], record, columns, was_asymmetric(fitted, static_cast<Index>(s)))});
    record.matrices.back().given = given_to(members, static_cast<Index>(s), record.positions);
    if (sources[s].measure) {
      record.matrices.back().measure = restricted(*sources[s].measure, record.positions);
    }
  }
  record.decision = make_decision_rule(decision, set.labels);
  record.groups = of_first.groups;
  record.seed = ctx.rng.seed();
  record.blas_threads = ctx.blas_threads;
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    ModelRecord& own = fitted[i].record;
    hash.update(std::to_string(own.fingerprint));
    for (const std::string& sentence : own.applied) {
      record.applied.push_back(members[i].name + ": " + sentence);
    }
    SolveInfo end{.status = infos[i].status()};
    end.gap = infos[i].gap();
    end.kkt_residual = infos[i].kkt_residual();
    training.info.subproblems.push_back({.name = members[i].name, .info = end});
    for (const std::string& note : infos[i].notes) {
      training.info.notes.push_back(members[i].name + ": " + note);
    }
    own.ids.clear();  // the committee has them, and what its tables are measured from
    own.id_hashes.clear();
    for (ModelMatrix& matrix : own.matrices) {
      matrix.measure.reset();
      matrix.given.reset();
    }
  }
  record.fingerprint = hash.digest();
  record.certificate = certificate_json(training.info);
  training.seconds = clock.seconds();
  return training;
}

namespace detail {

void archive_members(const std::vector<TrainedModel>& members, SavingArchive& archiver) {
  archiver("members", static_cast<Index>(members.size()));
  for (std::size_t k = 0; k < members.size(); ++k) {
    archiver(member_part(k), trained_bytes(members[k]));
    archiver(member_part(k) + ".sources", members[k].sources);
  }
}

std::vector<TrainedModel> members_of(const ModelRecord& record, LoadingArchive& archiver) {
  Index count = 0;
  archiver("members", count);
  if (count < 1 || count > 1000) {
    throw Error(ErrorCode::kBadInput, fmt::format("it has {} members", count));
  }
  std::vector<TrainedModel> members;
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    std::string bytes;
    archiver(member_part(k), bytes);
    members.push_back(member_of_bytes(bytes, member_part(k)));
    archiver(member_part(k) + ".sources", members.back().sources);
    check_member(members.back(), record);
  }
  return members;
}

std::vector<MemberRows> member_rows(const TrainedModel& model, const QueryBlock& raw,
                                    std::span<const QueryNames> names) {
  check_matrices(model.record, raw);
  const QueryBlock needed = needed_rows(model.record, raw);
  std::vector<MemberRows> rows;
  for (const TrainedModel& member : model.members) {
    MemberRows& own = rows.emplace_back();
    own.rows = rows_of(member, needed, model.record);
    for (const Index source : member.sources) {
      if (source < std::ssize(names)) own.names.push_back(names[static_cast<std::size_t>(source)]);
    }
  }
  return rows;
}

Prediction predict_together(const TrainedModel& model, const QueryBlock& raw, RunContext& ctx,
                            std::span<const QueryNames> names) {
  std::vector<MemberRows> rows = member_rows(model, raw, names);
  std::vector<Prediction> predictions;
  for (std::size_t m = 0; m < rows.size(); ++m) {
    predictions.push_back(predict(model.members[m], std::move(rows[m].rows), ctx, rows[m].names));
  }
  return combined(predictions, static_cast<int>(model.record.class_names.size()));
}

}  // namespace detail
}  // namespace kith
