// SPDX-License-Identifier: Apache-2.0
// parasail computes the scores, many cells of the dynamic program at a time. What depends on a
// sequence alone, its profile, is made once per row of the matrix. Scores that do not fit into the
// narrow numbers it starts with are recognised and computed again with wider ones: exact.
#include "kith/measure/align.hpp"

#include <fmt/format.h>
#include <parasail.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "measure/pairs.hpp"

namespace kith {
namespace {

/// BLAST's default gap costs for a matrix, and the constants of Karlin and Altschul with them, of
/// gapped alignments and in the unit of the table.
struct KarlinAltschul {
  std::string_view matrix;
  Index gap_open;
  Index gap_extend;
  double lambda;
  double k;
};

// blosum80 is not among them: parasail's is in thirds of a bit, and BLAST's constants are for the
// table in halves.
constexpr std::array<KarlinAltschul, 7> kKnownMatrices = {{
    {"blosum45", 14, 2, 0.195, 0.032},
    {"blosum50", 13, 2, 0.193, 0.035},
    {"blosum62", 11, 1, 0.267, 0.041},
    {"blosum90", 10, 1, 0.290, 0.075},
    {"pam30", 9, 1, 0.294, 0.11},
    {"pam70", 10, 1, 0.291, 0.091},
    {"pam250", 14, 2, 0.182, 0.024},
}};

/// The settings with nothing left open.
struct Scoring {
  const parasail_matrix_t* matrix = nullptr;
  int first_gap = 0;  // parasail's "open": what the first residue of a gap costs
  int next_gap = 0;
  double lambda = 0;
  double k = 0;
};

const KarlinAltschul* known(std::string_view matrix) {
  for (const KarlinAltschul& entry : kKnownMatrices) {
    if (entry.matrix == matrix) return &entry;
  }
  return nullptr;
}

/// Names are written in capitals as often as not.
std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// Why a matrix that BLAST has constants for has none here; empty for others.
std::string_view other_unit(std::string_view matrix) {
  return matrix == "blosum80" ? " (the table is in thirds of a bit, and BLAST's costs and "
                                "constants for blosum80 are for one in halves)"
                              : "";
}

Scoring scoring_of(Alignment alignment, const AlignSettings& given) {
  const AlignSettings settings = with_defaults(alignment, given);
  Scoring scoring;
  scoring.matrix = parasail_matrix_lookup(lower_case(settings.matrix).c_str());
  scoring.first_gap = static_cast<int>(*settings.gap_open + *settings.gap_extend);
  scoring.next_gap = static_cast<int>(*settings.gap_extend);
  scoring.lambda = settings.lambda.value_or(0);
  scoring.k = settings.karlin_k.value_or(0);
  return scoring;
}

/// The file, with line and column of the residue where they are known.
std::string place_of(const SequenceData& data, std::size_t i, Index residue) {
  if (data.lines.empty()) return data.source;
  const std::vector<SequenceLine>& lines = data.lines[i];
  const auto behind = std::ranges::upper_bound(lines, residue, {}, &SequenceLine::first);
  const SequenceLine& holds = *std::prev(behind);
  return fmt::format("{}:{}:{}", data.source, holds.line, residue - holds.first + 1);
}

/// parasail would take a residue it does not know for '*'.
void check_residues(const SequenceData& data, const Scoring& scoring) {
  const std::string_view alphabet = scoring.matrix->alphabet;
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    const std::string& sequence = data.values[i];
    if (sequence.empty() ||
        sequence.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw invalid("{}: {} has {} residues; an alignment takes 1 to {}", data.source,
                    sample_name(data.ids, static_cast<Index>(i)), sequence.size(),
                    std::numeric_limits<int>::max());
    }
    const std::size_t at = sequence.find_first_not_of(alphabet);
    if (at == std::string::npos) continue;
    throw invalid("{}: residue {} of {} is {}; matrix {} has {}",
                  place_of(data, i, static_cast<Index>(at)), at + 1,
                  sample_name(data.ids, static_cast<Index>(i)), in_quotes(sequence.substr(at, 1)),
                  scoring.matrix->name, alphabet);
  }
}

struct FreeProfile {
  void operator()(parasail_profile_t* profile) const { parasail_profile_free(profile); }
};
struct FreeResult {
  void operator()(parasail_result_t* result) const { parasail_result_free(result); }
};
using Result = std::unique_ptr<parasail_result_t, FreeResult>;

using Function = parasail_result_t*(const parasail_profile_t*, const char*, int, int, int);
struct Functions {
  Function* first;
  Function* widest;  // where the score did not fit
};

/// Local scores of unrelated sequences fit into 8 bits, which `sat` tries first; global ones hardly
/// ever do. For local ones the striped order of cells is the fastest, but parasail's takes too
/// little back where a gap costs nothing beside its residues; the scan is right there too. For
/// global ones the scan is faster by a third.
Functions functions_of(Alignment alignment, const Scoring& scoring) {
  if (alignment == Alignment::kGlobal) {
    return {parasail_nw_scan_profile_16, parasail_nw_scan_profile_32};
  }
  if (scoring.first_gap == scoring.next_gap) {
    return {parasail_sw_scan_profile_sat, parasail_sw_scan_profile_32};
  }
  return {parasail_sw_striped_profile_sat, parasail_sw_striped_profile_32};
}

/// One sequence, ready to be aligned with others.
class Aligner {
 public:
  Aligner(Alignment alignment, const std::string& sequence, const Scoring& scoring)
      : alignment_(alignment),
        scoring_(&scoring),
        profile_(parasail_profile_create_sat(sequence.c_str(), static_cast<int>(sequence.size()),
                                             scoring.matrix)) {
    if (!profile_) throw std::bad_alloc();
  }

  [[nodiscard]] int score(const std::string& other) const {
    const Functions functions = functions_of(alignment_, *scoring_);
    Result result = run(functions.first, other);
    if (parasail_result_is_saturated(result.get()) != 0) result = run(functions.widest, other);
    if (parasail_result_is_saturated(result.get()) != 0) {
      throw Error(ErrorCode::kInternal, "an alignment score does not fit into 32 bits");
    }
    return parasail_result_get_score(result.get());
  }

 private:
  [[nodiscard]] Result run(Function* align, const std::string& other) const {
    Result result(align(profile_.get(), other.c_str(), static_cast<int>(other.size()),
                        scoring_->first_gap, scoring_->next_gap));
    if (!result) throw Error(ErrorCode::kInternal, "parasail could not align two sequences");
    return result;
  }

  Alignment alignment_;
  const Scoring* scoring_;
  std::unique_ptr<parasail_profile_t, FreeProfile> profile_;
};

/// The scores of the samples with themselves, which the normalised form divides by.
std::vector<double> self_alignments(Alignment alignment, const SequenceData& data,
                                    const Scoring& scoring, const RunContext& ctx) {
  std::vector<double> scores(data.values.size());
  parallel_chunks(scores.size(), 16, ctx.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ctx.check_stop();
      scores[i] = Aligner(alignment, data.values[i], scoring).score(data.values[i]);
      if (scores[i] > 0) continue;
      throw invalid("{}: {} scores {} with itself; it cannot be normalised", data.source,
                    sample_name(data.ids, static_cast<Index>(i)), scores[i]);
    }
  });
  return scores;
}

/// Scores in the form that is asked for.
class Form {
 public:
  Form(Alignment alignment, const SequenceData& rows, const SequenceData& columns,
       const AlignSettings& settings, const Scoring& scoring, const RunContext& ctx)
      : form_(settings.score), scoring_(scoring), rows_(rows), columns_(columns) {
    if (form_ != ScoreForm::kNormalised) return;
    row_selves_ = self_alignments(alignment, rows, scoring, ctx);
    column_selves_ =
        &rows == &columns ? row_selves_ : self_alignments(alignment, columns, scoring, ctx);
  }

  [[nodiscard]] double operator()(int score, std::size_t i, std::size_t j) const {
    switch (form_) {
      case ScoreForm::kRaw:
        return score;
      case ScoreForm::kNormalised:
        return score / std::sqrt(row_selves_[i] * column_selves_[j]);
      case ScoreForm::kPValue: {
        const double places = static_cast<double>(rows_.values[i].size()) *
                              static_cast<double>(columns_.values[j].size());
        return std::exp(-scoring_.k * places * std::exp(-scoring_.lambda * score));
      }
    }
    return 0;
  }

 private:
  ScoreForm form_;
  const Scoring& scoring_;
  const SequenceData& rows_;
  const SequenceData& columns_;
  std::vector<double> row_selves_;
  std::vector<double> column_selves_;
};

std::string_view alignment_stage(Alignment alignment) {
  return alignment == Alignment::kLocal ? "local alignments" : "global alignments";
}

}  // namespace

AlignSettings with_defaults(Alignment alignment, AlignSettings settings) {
  const std::string name = lower_case(settings.matrix);
  if (parasail_matrix_lookup(name.c_str()) == nullptr) {
    throw invalid(
        "there is no matrix {}; it is blosum30 to blosum100 in steps of 5, "
        "blosum62, pam10 to pam500 in steps of 10, dnafull or nuc44",
        in_quotes(settings.matrix));
  }
  const KarlinAltschul* defaults = known(name);
  if (defaults == nullptr && (!settings.gap_open || !settings.gap_extend)) {
    throw invalid("matrix {} has no usual gap costs{}; give gap-open and gap-extend", name,
                  other_unit(name));
  }
  if (!settings.gap_open) settings.gap_open = defaults->gap_open;
  if (!settings.gap_extend) settings.gap_extend = defaults->gap_extend;
  if (settings.score != ScoreForm::kPValue) return settings;
  if (alignment == Alignment::kGlobal) {
    throw invalid(
        "score p-value is for local alignments: the law of Karlin and Altschul says "
        "nothing of global ones");
  }
  const bool usual = defaults != nullptr && *settings.gap_open == defaults->gap_open &&
                     *settings.gap_extend == defaults->gap_extend;
  if (!usual && (!settings.lambda || !settings.karlin_k)) {
    throw invalid(
        "lambda and K are not known here for matrix {} with gap-open {} and "
        "gap-extend {}{}; give lambda and karlin-k",
        name, *settings.gap_open, *settings.gap_extend, other_unit(name));
  }
  if (!settings.lambda) settings.lambda = defaults->lambda;
  if (!settings.karlin_k) settings.karlin_k = defaults->k;
  return settings;
}

RowMatrix align_matrix(Alignment alignment, const SequenceData& rows, const AlignSettings& settings,
                       const RunContext& ctx, const SequenceData* columns) {
  const SequenceData& others = columns != nullptr ? *columns : rows;
  const Scoring scoring = scoring_of(alignment, settings);
  check_residues(rows, scoring);
  if (columns != nullptr) check_residues(*columns, scoring);
  const Form form(alignment, rows, others, settings, scoring, ctx);
  const auto row_of = [&](Index row) {
    const auto i = static_cast<std::size_t>(row);
    return [&, i, aligner = Aligner(alignment, rows.values[i], scoring)](Index column) {
      const auto j = static_cast<std::size_t>(column);
      return form(aligner.score(others.values[j]), i, j);
    };
  };
  return detail::all_pairs(std::ssize(rows.values), std::ssize(others.values), columns == nullptr,
                           alignment_stage(alignment), ctx, row_of);
}

}  // namespace kith
