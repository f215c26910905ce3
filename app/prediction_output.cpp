// SPDX-License-Identifier: Apache-2.0
#include "prediction_output.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "kith/core/text.hpp"
#include "session.hpp"

namespace kith::app {

PredictionOutput::PredictionOutput(const std::string& path) {
  if (!path.empty()) file_ = std::make_unique<AtomicFile>(path);
}

void PredictionOutput::write(std::string_view text) {
  if (file_) {
    file_->write(text);
  } else {
    print_text(text);
  }
}

void PredictionOutput::commit() {
  if (file_) file_->commit();
}

namespace {

/// A cell of a TSV file: tabs, line ends and backslashes are escaped.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

class TsvWriter final : public PredictionWriter {
 public:
  TsvWriter(PredictionOutput& out, const ModelRecord& record, Index explain)
      : out_(out), record_(record), classes_(record.class_names), explain_(explain) {}

  void chunk(const QueryChunk& chunk, const Answers& answers) override {
    const Prediction& prediction = answers.prediction;
    std::string text;
    if (!std::exchange(header_written_, true)) text += header(prediction);
    for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
      text += cell(chunk.ids[i]) + '\t' +
              cell(classes_[static_cast<std::size_t>(prediction.labels[i])]);
      append(text, prediction.scores, static_cast<Index>(i));
      append(text, prediction.probabilities, static_cast<Index>(i));
      if (explain_ > 0) append(text, answers.explanations[i]);
      text += '\n';
    }
    out_.write(text);
  }
  void finish(const Json& /*score*/) override {}

 private:
  [[nodiscard]] std::string header(const Prediction& prediction) const {
    std::string text = "id\tlabel";
    for (Index c = 0; c < prediction.scores.cols(); ++c) text += "\tscore:" + cell(class_name(c));
    for (Index c = 0; c < prediction.probabilities.cols(); ++c) {
      text += "\tprobability:" + cell(class_name(c));
    }
    if (explain_ > 0) text += "\toffset\tothers";
    for (Index k = 1; k <= explain_; ++k) {
      text += fmt::format("\tsample:{0}\tclass:{0}\tcontribution:{0}", k);
    }
    return text + '\n';
  }
  [[nodiscard]] const std::string& class_name(Index c) const {
    return classes_[static_cast<std::size_t>(c)];
  }
  static void append(std::string& text, const Matrix& values, Index row) {
    for (Index c = 0; c < values.cols(); ++c) text += '\t' + format_double(values(row, c));
  }
  /// Votes have no offset; where fewer samples have a part, the last cells are empty.
  void append(std::string& text, const Explanation& explanation) const {
    const bool terms = explanation.by == ExplainedBy::kTerms;
    text += '\t' + (terms ? format_double(explanation.offset) : std::string());
    text += '\t' + format_double(explanation.others(explain_));
    const std::vector<Contribution> largest = explanation.largest(explain_);
    for (const Contribution& one : largest) {
      const ExplainedSample sample = explained_sample(record_, one.sample);
      text += '\t' + (sample.id.empty() ? std::to_string(sample.position + 1) : cell(sample.id));
      text += '\t' + cell(sample.class_name) + '\t' + format_double(one.amount);
    }
    for (Index k = std::ssize(largest); k < explain_; ++k) text += "\t\t\t";
  }

  PredictionOutput& out_;
  const ModelRecord& record_;
  const std::vector<std::string>& classes_;
  Index explain_;
  bool header_written_ = false;
};

/// One JSON document, written as it grows.
class JsonWriter final : public PredictionWriter {
 public:
  JsonWriter(PredictionOutput& out, const ModelRecord& record, Index explain)
      : out_(out), record_(record), classes_(record.class_names), explain_(explain) {
    out_.write("{\"predictions\": [");
  }
  void chunk(const QueryChunk& chunk, const Answers& answers) override {
    const Prediction& prediction = answers.prediction;
    std::string text;
    for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
      Json row = {{"id", chunk.ids[i]},
                  {"label", classes_[static_cast<std::size_t>(prediction.labels[i])]}};
      add(row, "scores", prediction.scores, static_cast<Index>(i));
      add(row, "probabilities", prediction.probabilities, static_cast<Index>(i));
      if (explain_ > 0) {
        row["explanation"] = explanation_json(record_, answers.explanations[i], explain_);
      }
      text += std::exchange(separator_, ",\n ") + row.dump();
    }
    out_.write(text);
  }
  void finish(const Json& score) override {
    if (score.is_null()) return out_.write("]}\n");
    const std::string text = score.dump(2, ' ', false, Json::error_handler_t::replace);
    out_.write("],\n\"score\": " + text + "}\n");
  }

 private:
  void add(Json& row, const std::string& key, const Matrix& values, Index i) const {
    if (values.cols() == 0) return;
    Json by_class = Json::object();
    for (Index c = 0; c < values.cols(); ++c) {
      by_class[classes_[static_cast<std::size_t>(c)]] = values(i, c);
    }
    row[key] = std::move(by_class);
  }

  PredictionOutput& out_;
  const ModelRecord& record_;
  const std::vector<std::string>& classes_;
  Index explain_;
  std::string separator_ = "\n ";
};

}  // namespace

std::unique_ptr<PredictionWriter> make_writer(bool json, PredictionOutput& out,
                                              const ModelRecord& record, Index explain) {
  if (json) return std::make_unique<JsonWriter>(out, record, explain);
  return std::make_unique<TsvWriter>(out, record, explain);
}

}  // namespace kith::app
