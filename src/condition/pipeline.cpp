// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/pipeline.hpp"

#include <fmt/format.h>

#include <utility>

#include "condition/distance.hpp"
#include "condition/missing.hpp"
#include "condition/rows_rbf.hpp"
#include "condition/scale.hpp"
#include "condition/symmetrise.hpp"
#include "condition/table.hpp"
#include "kith/condition/symmetric.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/shape.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

// Two dozen names, all that the steps of this layer share, would say no more one by one.
// NOLINTNEXTLINE(google-build-using-namespace)
using namespace detail;

/// The training block on its way through the steps.
struct Work {
  Table table;
  InputRule rule;
  std::vector<std::string> applied;
  std::vector<Index> kept;
  std::vector<std::string> ids;  // of the samples that are left
  int threads = 1;

  [[nodiscard]] PairNames names() const {
    const auto name = [this](Index i) {
      return ids.empty() ? fmt::format("sample {}", kept[static_cast<std::size_t>(i)] + 1)
                         : in_quotes(ids[static_cast<std::size_t>(i)]);
    };
    return {name, name};
  }
};

/// What a look at the door tells: of a dense block, in one pass.
std::optional<BlockFacts> seen(const Block& block, int threads) {
  const auto* dense = std::get_if<DenseBlock>(&block);
  if (dense == nullptr) return std::nullopt;
  return look(*dense, threads);
}

/// Whether the block reaches the learner as it was given, up to a constant factor.
bool keeps_proportions(const InputRule& rule, const Block& block,
                       const std::optional<BlockFacts>& facts) {
  const InputSettings& settings = rule.settings;
  return rule.kind == PairKind::kSimilarity && !combines(settings.symmetrise) &&
         settings.missing != MissingRule::kMin && settings.diagonal == DiagonalRule::kGiven &&
         settings.scale == ScaleRule::kNone && settings.transform == InputTransform::kNone &&
         (facts ? facts->missing == 0 && facts->largest <= kLargestNumber
                : detail::is_complete(block));
}

/// True when the block reaches the learner as it was given and nothing is measured on it.
bool nothing_to_do(const InputRule& rule, bool proportional) {
  return proportional && rule.settings.rescale == Rescale::kNone;
}

void symmetrise_step(Work& work) {
  const Symmetrise how = work.rule.settings.symmetrise;
  if (!combines(how)) return;
  work.rule.was_asymmetric = symmetrise(work.table, how, work.threads);
  if (!work.rule.was_asymmetric) return;
  switch (how) {
    case Symmetrise::kMean:
      work.applied.emplace_back("made symmetric by the mean of both directions");
      break;
    case Symmetrise::kMax:
      work.applied.emplace_back("made symmetric by the larger of both directions");
      break;
    case Symmetrise::kMin:
      work.applied.emplace_back("made symmetric by the smaller of both directions");
      break;
    case Symmetrise::kAuto:
    case Symmetrise::kKeep:
      break;
  }
}

/// A self-pair that is missing but known by what it means: a distance to oneself is 0, and a
/// diagonal rule gives similarities to oneself.
void settle_self_pairs(Work& work) {
  if (missing_pairs(work.table) == 0) return;
  const DiagonalRule diagonal = work.rule.settings.diagonal;
  const bool is_distance = work.rule.kind == PairKind::kDistance;
  if (!is_distance && diagonal == DiagonalRule::kGiven) return;
  set_diagonal(work.table, [&](Index i, std::optional<double> before) -> std::optional<double> {
    if (before) return std::nullopt;
    if (is_distance) return 0.0;
    return diagonal == DiagonalRule::kOne ? std::optional(1.0) : row_maximum(work.table, i);
  });
}

void drop_samples(Work& work, const RunContext& ctx) {
  const RowMatrix& values = make_dense(work.table);
  const Index n = values.rows();
  const std::vector<Index> left = samples_without_missing(values);
  if (left.size() < 2) {
    refuse_missing(work.table, work.names(),
                   "dropping samples until none is missing ([[missing=drop-sample]]) would leave "
                   "fewer than 2; [[missing=zero]] or [[missing=min]] fill the pairs instead");
  }
  work.table = RowMatrix(values(left, left));
  std::vector<std::string> ids;
  for (const Index i : left) {
    if (!work.ids.empty()) ids.push_back(work.ids[static_cast<std::size_t>(i)]);
  }
  work.ids = std::move(ids);
  work.kept = left;
  work.rule.kept = left;
  const Index dropped = n - static_cast<Index>(left.size());
  work.applied.push_back(fmt::format("{} of {} samples with missing pairs dropped", dropped, n));
  ctx.message(work.applied.back());
}

/// What is left missing afterwards is filled in similarities, by fill_step.
void missing_step(Work& work, MissingPairs allowed, const RunContext& ctx) {
  settle_self_pairs(work);
  std::optional<ValueRange> range;
  if (work.rule.settings.missing == MissingRule::kMin) {
    range = known_range(work.table, work.threads);
    // Kept for new rows even when no training pair is missing.
    if (is_double_centred(work.rule) && range) work.rule.fill = range->high;
  }
  if (missing_pairs(work.table) == 0) return;
  const bool whole =
      is_double_centred(work.rule) || work.rule.settings.transform == InputTransform::kRowsRbf;
  switch (work.rule.settings.missing) {
    case MissingRule::kError:
      if (allowed == MissingPairs::kKept && !whole &&
          std::holds_alternative<SparseBlock>(work.table)) {
        work.rule.keeps_missing = true;
        return;
      }
      refuse_missing(work.table, work.names(),
                     std::holds_alternative<SparseBlock>(work.table)
                         ? "a pair that is not listed is missing, not zero: [[missing=zero]] makes "
                           "it zero, [[missing=min]] the least similarity"
                         : "[[missing=zero]] or [[missing=min]] fill them, [[missing=drop-sample]] "
                           "leaves their samples out");
    case MissingRule::kDropSample:
      return drop_samples(work, ctx);
    case MissingRule::kZero:
      if (!is_double_centred(work.rule)) return;
      refuse_missing(
          work.table, work.names(),
          "double centring needs a distance for every pair, and a similarity of 0 "
          "([[missing=zero]]) is none; use [[missing=min]], [[missing=drop-sample]] or another "
          "[[from-distance]]");
    case MissingRule::kMin:
      if (!range) {
        refuse_missing(work.table, work.names(),
                       "no pair is known, so [[missing=min]] has no value");
      }
      if (!is_double_centred(work.rule)) return;
      work.applied.push_back(fmt::format("{} missing distances set to the largest, {}",
                                         missing_pairs(work.table), format_short(work.rule.fill)));
      fill_missing(work.table, work.rule.fill, work.threads);
  }
}

void distance_step(Work& work) {
  if (work.rule.kind != PairKind::kDistance) return;
  // A square would hide the sign, and with it a file of similarities given as distances.
  const FromDistance rule = work.rule.settings.from_distance;
  if (rule == FromDistance::kDoubleCentre || rule == FromDistance::kNegativeSquare) {
    check_not_negative(work.table, work.names());
  }
  fit_distances(work.table, work.rule, work.threads);
  const auto say = [&](const std::string& how) {
    work.applied.push_back("distances turned into similarities by " + how);
  };
  switch (work.rule.settings.from_distance) {
    case FromDistance::kAuto:
    case FromDistance::kDoubleCentre:
      return say("-1/2 J D^2 J");
    case FromDistance::kMaxMinus:
      return say(fmt::format("{} - d", format_short(work.rule.largest_distance)));
    case FromDistance::kNegative:
      return say("-d");
    case FromDistance::kNegativeSquare:
      return say("-d^2");
    case FromDistance::kExp:
      return say(fmt::format("exp(-{} d)", format_short(work.rule.gamma)));
  }
}

void fill_step(Work& work) {
  const MissingRule how = work.rule.settings.missing;
  if (how == MissingRule::kMin && !is_double_centred(work.rule)) {
    const std::optional<ValueRange> range = known_range(work.table, work.threads);
    if (range) work.rule.fill = range->low;
  }
  const std::int64_t missing = missing_pairs(work.table);
  if (missing == 0 || work.rule.keeps_missing) return;
  fill_missing(work.table, work.rule.fill, work.threads);
  work.applied.push_back(how == MissingRule::kZero
                             ? fmt::format("{} missing pairs set to 0", missing)
                             : fmt::format("{} missing pairs set to the least similarity, {}",
                                           missing, format_short(work.rule.fill)));
}

void diagonal_step(Work& work) {
  switch (work.rule.settings.diagonal) {
    case DiagonalRule::kGiven:
      return;
    case DiagonalRule::kOne:
      set_diagonal(work.table, [](Index, std::optional<double>) { return std::optional(1.0); });
      work.applied.emplace_back("self-similarities set to 1");
      return;
    case DiagonalRule::kMaxRow:
      set_diagonal(work.table,
                   [&](Index i, std::optional<double>) { return row_maximum(work.table, i); });
      work.applied.emplace_back("self-similarities set to the largest of their row");
      return;
  }
}

void scale_step(Work& work) {
  switch (work.rule.settings.scale) {
    case ScaleRule::kNone:
      return;
    case ScaleRule::kUnit:
      work.applied.push_back(fit_unit(work.table, work.rule, work.threads));
      return;
    case ScaleRule::kCosine:
      fit_cosine(work.table, work.rule, work.names(), work.threads);
      work.applied.emplace_back("divided by the roots of the self-similarities (cosine)");
      return;
  }
}

void rescale_step(Work& work) {
  if (work.rule.settings.rescale == Rescale::kNone) return;
  work.applied.push_back(fit_spread(work.table, work.rule, work.threads));
}

void transform_step(Work& work) {
  if (work.rule.settings.transform != InputTransform::kRowsRbf) return;
  check_values(work.table, work.names());
  make_dense(work.table);
  work.table = fit_rows_rbf(std::move(std::get<RowMatrix>(work.table)), work.rule, work.threads);
  work.applied.emplace_back("rows compared by exp(-||s_i - s_j||^2)");
}

}  // namespace

void describe(InputSettings& settings, FieldVisitor& field) {
  field("symmetrise", settings.symmetrise,
        "what is done with two directions that differ; auto: each method takes what it needs");
  field("missing", settings.missing, "what is done with pairs that have no value");
  field("diagonal", settings.diagonal, "similarities of samples to themselves");
  field("scale", settings.scale,
        "unit: to [0,1] over the training block; cosine: S_ij / sqrt(S_ii S_jj)");
  field("rescale", settings.rescale,
        "spread: divided by the mean of (S_ii + S_jj)/2 - S_ij, so that a cost means the same for "
        "every matrix");
  field("from-distance", settings.from_distance,
        "how distances become similarities; auto: negative for methods that go by neighbours, else "
        "double-centre");
  field("gamma", settings.gamma, above(0.0), "auto",
        "of from-distance exp: exp(-gamma d); auto: 1 / the median distance");
  field("transform", settings.transform, "rows-rbf: exp(-||s_i - s_j||^2) over rows");
}

ConditionedInput condition_training(SimilaritySet set, const InputSettings& settings,
                                    const RunContext& ctx, MissingPairs missing) {
  validate(settings, "input");
  check_square("the table of training similarities", set.rows(), set.cols());
  Work work;
  work.rule.settings = settings;
  if (settings.from_distance == FromDistance::kAuto) {
    work.rule.settings.from_distance = FromDistance::kDoubleCentre;
  }
  work.rule.kind = set.kind;
  work.rule.given_samples = set.rows();
  work.applied = std::move(set.applied);
  work.kept = all_positions(set.rows());
  work.ids = std::move(set.row_ids);
  work.threads = ctx.threads;
  const std::optional<BlockFacts> facts = seen(set.block, ctx.threads);
  if (!combines(settings.symmetrise)) {
    const Asymmetry given = facts ? facts->asymmetry : asymmetry(set.block, ctx.threads);
    work.rule.was_asymmetric = given.relative > kRoundingAsymmetry;
  }

  TrainingMatrix matrix{.name = std::move(set.name)};
  Block& block = matrix.block;
  const bool proportional = keeps_proportions(work.rule, set.block, facts);
  if (nothing_to_do(work.rule, proportional)) {
    block = std::move(set.block);
    if (facts) {
      matrix.symmetric = facts->exactly_symmetric;
      matrix.hash = facts->hash;
    }
  } else {
    work.table = editable(std::move(set.block));
    symmetrise_step(work);
    missing_step(work, missing, ctx);
    distance_step(work);
    fill_step(work);
    diagonal_step(work);
    scale_step(work);
    rescale_step(work);
    transform_step(work);
    check_values(work.table, work.names());
    block = finished(std::move(work.table));
  }
  check_size(matrix.hash ? facts->largest : largest_magnitude(block), "the similarities");
  if (proportional) matrix.times_given = 1 / work.rule.spread;
  work.rule.samples = rows(block);
  return {.matrix = std::move(matrix),
          .rule = std::move(work.rule),
          .applied = std::move(work.applied),
          .kept = std::move(work.kept)};
}

}  // namespace kith
