// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/align.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parasail.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kith/core/rng.hpp"
#include "support/files.hpp"

namespace kith::align_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kResidues = "ARNDCQEGHILKMFPSTWYV";

std::string random_sequence(Rng& rng, std::uint64_t longest) {
  std::string sequence;
  for (std::uint64_t k = 1 + rng.below(longest); k > 0; --k) {
    sequence += kResidues[rng.below(kResidues.size())];
  }
  return sequence;
}

SequenceData random_sequences(std::uint64_t seed, int count, std::uint64_t longest) {
  Rng rng(seed);
  SequenceData data{.source = "x.fasta", .ids = {}, .values = {}};
  for (int i = 0; i < count; ++i) data.values.push_back(random_sequence(rng, longest));
  return data;
}

int substitution(const std::string& matrix, char a, char b) {
  const parasail_matrix_t* table = parasail_matrix_lookup(matrix.c_str());
  const std::string_view alphabet = table->alphabet;
  const auto at = static_cast<int>(alphabet.find(a)) * table->size;
  return table->matrix[at + static_cast<int>(alphabet.find(b))];
}

/// Gotoh's recurrence in full tables.
int by_definition(const std::string& a, const std::string& b, bool local, const std::string& matrix,
                  int open, int extend) {
  const int kNever = -100000000;
  const auto n = static_cast<Index>(a.size());
  const auto m = static_cast<Index>(b.size());
  Eigen::MatrixXi H = Eigen::MatrixXi::Constant(n + 1, m + 1, kNever);
  Eigen::MatrixXi E = H;
  Eigen::MatrixXi F = H;
  H(0, 0) = 0;
  for (Index i = 1; i <= n; ++i) H(i, 0) = local ? 0 : -open - static_cast<int>(i) * extend;
  for (Index j = 1; j <= m; ++j) H(0, j) = local ? 0 : -open - static_cast<int>(j) * extend;
  int best = 0;
  for (Index i = 1; i <= n; ++i) {
    for (Index j = 1; j <= m; ++j) {
      E(i, j) = std::max(E(i, j - 1), H(i, j - 1) - open) - extend;
      F(i, j) = std::max(F(i - 1, j), H(i - 1, j) - open) - extend;
      H(i, j) = std::max({H(i - 1, j - 1) + substitution(matrix, a[static_cast<std::size_t>(i - 1)],
                                                         b[static_cast<std::size_t>(j - 1)]),
                          E(i, j), F(i, j), local ? 0 : kNever});
      best = std::max(best, H(i, j));
    }
  }
  return local ? best : H(n, m);
}

struct Costs {
  const char* matrix;
  Index open;
  Index extend;
};
class AlignmentScores : public testing::TestWithParam<Costs> {};
INSTANTIATE_TEST_SUITE_P(Matrices, AlignmentScores,
                         testing::Values(Costs{"blosum62", 11, 1}, Costs{"blosum45", 14, 2},
                                         Costs{"pam250", 0, 3}, Costs{"blosum62", 0, 0},
                                         Costs{"blosum62", 1, 1}, Costs{"blosum62", 2, 0},
                                         Costs{"blosum80", 5, 0}));

TEST_P(AlignmentScores, AreTheRecurrence) {
  const auto [matrix, open, extend] = GetParam();
  // Long enough for global scores below -128 and, with itself, local ones above 127.
  const SequenceData data = random_sequences(7, 14, 90);
  const AlignSettings settings{.matrix = matrix, .gap_open = open, .gap_extend = extend};
  const RowMatrix local = align_matrix(Alignment::kLocal, data, settings, RunContext{});
  const RowMatrix global = align_matrix(Alignment::kGlobal, data, settings, RunContext{});
  for (Index i = 0; i < local.rows(); ++i) {
    for (Index j = 0; j < local.cols(); ++j) {
      const std::string& a = data.values[static_cast<std::size_t>(i)];
      const std::string& b = data.values[static_cast<std::size_t>(j)];
      const int o = static_cast<int>(open);
      const int e = static_cast<int>(extend);
      EXPECT_EQ(local(i, j), by_definition(a, b, true, matrix, o, e));
      EXPECT_EQ(global(i, j), by_definition(a, b, false, matrix, o, e));
    }
  }
  EXPECT_GT(local.maxCoeff(), 127);
}

TEST(Alignment, GivesScoresThatNeedMoreThanSixteenBits) {
  const SequenceData data{.source = "x", .ids = {}, .values = {std::string(4000, 'W'), "A"}};
  const AlignSettings settings{};
  EXPECT_EQ(align_matrix(Alignment::kLocal, data, settings, RunContext{})(0, 0), 44000);
  const RowMatrix global = align_matrix(Alignment::kGlobal, data, settings, RunContext{});
  EXPECT_EQ(global(0, 0), 44000);
  EXPECT_EQ(global(0, 1), -3 - 11 - 3999);
}

TEST(Alignment, TakesTheUsualGapCostsOfAMatrix) {
  const SequenceData data = random_sequences(8, 10, 60);
  const RowMatrix usual =
      align_matrix(Alignment::kLocal, data, {.matrix = "blosum45"}, RunContext{});
  EXPECT_EQ(usual,
            align_matrix(Alignment::kLocal, data,
                         {.matrix = "blosum45", .gap_open = 14, .gap_extend = 2}, RunContext{}));
}

TEST(Alignment, IsNormalisedByScoresWithItself) {
  const SequenceData data = random_sequences(9, 12, 60);
  const RowMatrix raw = align_matrix(Alignment::kLocal, data, {}, RunContext{});
  const RowMatrix unit =
      align_matrix(Alignment::kLocal, data, {.score = ScoreForm::kNormalised}, RunContext{});
  EXPECT_EQ(unit.diagonal(), Vector::Ones(12));
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) {
      EXPECT_NEAR(unit(i, j), raw(i, j) / std::sqrt(raw(i, i) * raw(j, j)), 1e-15);
    }
  }
  SequenceData rows = data;
  rows.values.resize(3);
  EXPECT_EQ(
      align_matrix(Alignment::kLocal, rows, {.score = ScoreForm::kNormalised}, RunContext{}, &data),
      unit.topRows(3));
}

TEST(Alignment, GivesOneMinusThePValue) {
  const SequenceData data = random_sequences(10, 12, 60);
  const RowMatrix raw = align_matrix(Alignment::kLocal, data, {}, RunContext{});
  const RowMatrix P =
      align_matrix(Alignment::kLocal, data, {.score = ScoreForm::kPValue}, RunContext{});
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) {
      const double places = static_cast<double>(data.values[static_cast<std::size_t>(i)].size() *
                                                data.values[static_cast<std::size_t>(j)].size());
      EXPECT_NEAR(P(i, j), std::exp(-0.041 * places * std::exp(-0.267 * raw(i, j))), 1e-14);
    }
  }
}

/// Of Robinson and Robinson (1991), in the order of kResidues, in 1e-5.
constexpr std::array<int, 20> kRobinson = {7805, 5129, 4487, 5364, 1925, 4264, 6295,
                                           7377, 2199, 5142, 9019, 5744, 2243, 3856,
                                           5203, 7120, 5841, 1330, 3216, 6441};

std::string background_sequence(Rng& rng, std::size_t length) {
  std::string sequence(length, ' ');
  for (char& c : sequence) {
    auto at = static_cast<int>(rng.below(100000));
    std::size_t residue = 0;
    while (at >= kRobinson[residue]) at -= kRobinson[residue++];
    c = kResidues[residue];
  }
  return sequence;
}

/// sum_ij p_i p_j exp(lambda s_ij), which is 1 at the lambda of ungapped alignments.
double karlin_sum(const std::string& matrix, double lambda) {
  double sum = 0;
  for (std::size_t i = 0; i < kResidues.size(); ++i) {
    for (std::size_t j = 0; j < kResidues.size(); ++j) {
      sum += 1e-10 * kRobinson[i] * kRobinson[j] *
             std::exp(lambda * substitution(matrix, kResidues[i], kResidues[j]));
    }
  }
  return sum;
}

/// lambda of ungapped alignments as BLAST prints it, for each matrix whose constants are known.
const std::vector<std::pair<std::string, double>> kUngapped = {
    {"blosum45", 0.2291}, {"blosum50", 0.2318}, {"blosum62", 0.3176}, {"blosum90", 0.3346},
    {"pam30", 0.3400},    {"pam70", 0.3345},    {"pam250", 0.2252}};

TEST(KarlinAltschulConstants, AreInTheUnitOfTheirTables) {
  ASSERT_EQ(std::accumulate(kRobinson.begin(), kRobinson.end(), 0), 100000);
  for (const auto& [matrix, lambda] : kUngapped) {
    // The four digits that are printed.
    EXPECT_LT(karlin_sum(matrix, lambda - 1e-4), 1) << matrix;
    EXPECT_GT(karlin_sum(matrix, lambda + 1e-4), 1) << matrix;
    const AlignSettings gapped =
        with_defaults(Alignment::kLocal, {.matrix = matrix, .score = ScoreForm::kPValue});
    EXPECT_LT(gapped.lambda, lambda) << matrix;
  }
}

TEST(KarlinAltschulConstants, MakePValuesOfUnrelatedSequencesUniform) {
  Rng rng(11);
  SequenceData data{.source = "x", .ids = {}, .values = {}};
  for (int i = 0; i < 24; ++i) data.values.push_back(background_sequence(rng, 600));
  for (const auto& [matrix, lambda] : kUngapped) {
    const RowMatrix P = align_matrix(Alignment::kLocal, data,
                                     {.matrix = matrix, .score = ScoreForm::kPValue}, RunContext{});
    std::vector<double> pairs;
    for (Index i = 0; i < P.rows(); ++i) {
      for (Index j = 0; j < i; ++j) pairs.push_back(P(i, j));
    }
    std::nth_element(pairs.begin(), pairs.begin() + std::ssize(pairs) / 2, pairs.end());
    // Alignments that would run over the ends make it somewhat less than a half.
    EXPECT_NEAR(pairs[pairs.size() / 2], 0.45, 0.2) << matrix;
  }
}

TEST(Alignment, HasNoConstantsForATableInAnotherUnitThanThatOfBlast) {
  const SequenceData data = random_sequences(12, 3, 60);
  const auto refused = [&](const AlignSettings& settings) {
    return error_of(ErrorCode::kInvalidArgument, [&] {
      static_cast<void>(align_matrix(Alignment::kLocal, data, settings, RunContext{}));
    });
  };
  EXPECT_THAT(refused({.matrix = "blosum80"}),
              testing::AllOf(HasSubstr("gap-open"), HasSubstr("thirds of a bit")));
  AlignSettings settings{.matrix = "blosum80", .gap_open = 15, .gap_extend = 2};
  EXPECT_GT(align_matrix(Alignment::kLocal, data, settings, RunContext{})(0, 0), 0);
  settings.score = ScoreForm::kPValue;
  EXPECT_THAT(refused(settings),
              testing::AllOf(HasSubstr("karlin-k"), HasSubstr("thirds of a bit")));
}

TEST(Alignment, TakesNamesOfMatricesInCapitals) {
  const SequenceData data = random_sequences(13, 4, 60);
  EXPECT_EQ(align_matrix(Alignment::kLocal, data, {.matrix = "BLOSUM50"}, RunContext{}),
            align_matrix(Alignment::kLocal, data, {.matrix = "blosum50"}, RunContext{}));
}

std::string alignment_refusal(Alignment alignment, const SequenceData& data,
                              const AlignSettings& settings) {
  return error_of(ErrorCode::kInvalidArgument, [&] {
    static_cast<void>(align_matrix(alignment, data, settings, RunContext{}));
  });
}

TEST(Alignment, RefusesByName) {
  const SequenceData data{.source = "x.fasta", .ids = {"p", "q"}, .values = {"ACD", "AJ"}};
  EXPECT_THAT(alignment_refusal(Alignment::kLocal, data, {}),
              testing::AllOf(HasSubstr("x.fasta"), HasSubstr("residue 2 of \"q\" is \"J\"")));
  SequenceData read = data;
  read.lines = {{{0, 2}}, {{0, 6}, {1, 8}}};
  EXPECT_THAT(alignment_refusal(Alignment::kLocal, read, {}), HasSubstr("x.fasta:8:1: residue 2"));
  EXPECT_THAT(alignment_refusal(Alignment::kLocal, data, {.matrix = "blosum61"}),
              HasSubstr("blosum61"));
  const SequenceData dna{.source = "x", .ids = {}, .values = {"ACGT", "ACNT"}};
  EXPECT_THAT(alignment_refusal(Alignment::kLocal, dna, {.matrix = "dnafull"}),
              HasSubstr("gap-open"));
  EXPECT_THAT(
      alignment_refusal(
          Alignment::kLocal, dna,
          {.matrix = "dnafull", .gap_open = 10, .gap_extend = 1, .score = ScoreForm::kPValue}),
      HasSubstr("karlin-k"));
  EXPECT_THAT(alignment_refusal(Alignment::kGlobal, dna, {.score = ScoreForm::kPValue}),
              HasSubstr("local"));
  const SequenceData unknown{.source = "x", .ids = {"u"}, .values = {"XXX"}};
  EXPECT_THAT(alignment_refusal(Alignment::kLocal, unknown, {.score = ScoreForm::kNormalised}),
              HasSubstr("\"u\" scores 0"));
}

}  // namespace
}  // namespace kith::align_test
