// SPDX-License-Identifier: Apache-2.0
#include "measure/readers.hpp"

#include <string_view>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

bool is_residue(char c) { return (c >= 'A' && c <= 'Z') || c == '*'; }
char upper_case(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

class FastaRecords {
 public:
  FastaRecords(const LineReader& lines, SequenceData& data) : lines_(lines), data_(data) {}

  void take(std::string_view line) {
    if (line.front() == '>') {
      end_record();
      begin_record(line);
    } else if (data_.ids.empty()) {
      throw bad_input(lines_.place(),
                      "{} stands before the first header; a FASTA file "
                      "begins with >id",
                      in_quotes(line));
    } else {
      append(line);
    }
  }

  /// Refuses a header without residues behind it.
  void end_record() const {
    if (data_.values.empty() || !data_.values.back().empty()) return;
    throw bad_input({lines_.name(), header_line_}, "the sequence {} has no residues",
                    in_quotes(data_.ids.back()));
  }

 private:
  void begin_record(std::string_view line) {
    header_line_ = lines_.line_number();
    const std::string_view header = line.substr(1);
    const std::string_view id = header.substr(0, header.find_first_of(" \t"));
    if (id.empty()) throw bad_input(lines_.place(2), "the header has no id; it must be >id");
    ids_.add(id, lines_.place(2));
    data_.ids.emplace_back(id);
    data_.values.emplace_back();
    data_.lines.emplace_back();
  }

  void append(std::string_view line) {
    std::string& sequence = data_.values.back();
    data_.lines.back().push_back({std::ssize(sequence), lines_.line_number()});
    for (const char& c : line) {
      const char residue = upper_case(c);
      if (!is_residue(residue)) {
        throw bad_input(lines_.place_of({&c, 1}),
                        "{} is no residue; a sequence is letters and *, without gaps",
                        in_quotes({&c, 1}));
      }
      sequence.push_back(residue);
    }
  }

  const LineReader& lines_;
  SequenceData& data_;
  FileIds ids_;
  long header_line_ = 0;
};

}  // namespace

SequenceData read_fasta(const std::string& path, const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  LineReader lines(source);
  SequenceData data{.source = path, .ids = {}, .values = {}};
  FastaRecords records(lines, data);
  std::string_view line;
  while (lines.next(line)) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    if (line.empty()) continue;
    ctx.check_stop();
    records.take(line);
    if (line.front() == '>') source.report("reading sequences", ctx);
  }
  records.end_record();
  if (data.values.empty()) throw bad_input({path}, "the file has no lines; it must hold FASTA");
  return data;
}

}  // namespace kith::detail
