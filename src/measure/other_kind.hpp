// SPDX-License-Identifier: Apache-2.0
// Files of vectors or sequences that would pass for lines of words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kith::detail {

/// Watches the lines of samples without ids. A file in which every line is LIBSVM text or FASTA is
/// hardly meant as words, and would put labels and headers among them. LIBSVM text is `label
/// index:value ...`, each index once on a line; the label may be several, `1,2`, or none, which
/// leaves a blank in front, `qid:number` may follow it, and a comment the sign #. In FASTA lines
/// that begin with ; are comments.
class OtherKind {
 public:
  void take(std::string_view line, long number);

  struct Reading {
    std::string_view samples;   ///< what the lines were taken for: "sets"
    std::string_view as_meant;  ///< how to say that they are: "give each an id (id<TAB>words)"
    std::string_view of_fasta;  ///< what to do with sequences
  };
  /// Throws Error(kBadInput) where every line so far is of the other kind.
  void refuse(const std::string& path, const Reading& reading) const;

 private:
  void take_libsvm(std::string_view line, long number);
  void take_fasta(std::string_view line, long number);

  bool libsvm_ = true;
  long first_pair_ = 0;  // the line, 0: none yet
  std::string pair_;     // what stands there
  bool fasta_ = true;
  long first_header_ = 0;
  bool after_header_ = false;
  std::vector<std::string_view> fields_;
  std::vector<long long> indices_;
};

}  // namespace kith::detail
