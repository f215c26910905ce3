// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "kith/core/text.hpp"
#include "kith/pipeline/trained_model.hpp"

namespace kith::app {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string model;
};

/// As users type them, in the order of `kith methods`.
std::string settings_text(const ModelRecord& record) {
  std::vector<std::string> all;
  if (record.method != kCommittee) {
    for (const FieldInfo& field : method_info(method_settings(record)).fields) {
      all.push_back(field.name + '=' + field.default_value);
    }
  }
  for (const std::string& of_decision : decision_names()) {
    if (!record.settings.contains(of_decision)) continue;
    all.push_back(fmt::format("{}={}", of_decision,
                              record.settings[of_decision].get_ref<const std::string&>()));
  }
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "));
}

/// As `--measure` takes it: "spectrum:kmer=3,score=raw".
std::string measure_text(const MeasureSettings& settings) {
  const Json relevant = relevant_settings(settings);
  std::string text(enum_name(settings.measure));
  char separator = ':';
  for (const FieldInfo& field : fields(settings)) {
    if (field.name == "measure" || !relevant.contains(field.name)) continue;
    text += std::exchange(separator, ',') + field.name + '=' + field.default_value;
  }
  return text;
}

/// What training said beside its evidence.
std::vector<std::string> notes_of(const ModelRecord& record) {
  if (!record.certificate.is_object()) return {};
  return record.certificate.value("notes", std::vector<std::string>());
}

/// " from sw": of several matrices that were given, members may use one alone.
std::string matrices_text(const TrainedModel& member, const ModelRecord& committee) {
  return " from " + list_some(names_of_matrices(member, committee), committee.matrices.size());
}

/// What new samples must bring for one matrix.
std::string need_text(const ModelRecord& record, const ModelMatrix& matrix) {
  if (matrix.measure) {
    return fmt::format("raw samples, measured by {}", measure_text(matrix.measure->settings));
  }
  const std::string column = matrix.given ? matrix.given->score_column : std::string();
  return fmt::format("{} to {} of {} training samples, {}{}",
                     matrix.rule.kind == PairKind::kDistance ? "distances" : "similarities",
                     record.positions.size(), record.samples,
                     record.ids.empty() ? "by position: in the order of training" : "matched by id",
                     column.empty() ? "" : fmt::format("; of a BLAST table the column {}", column));
}

/// The command that predicts with this model; FILE stands for what new samples bring.
std::string predict_command(const TrainedModel& model, const std::string& path) {
  const ModelRecord& record = model.record;
  std::string command = "kith predict --model " + shell_word(path);
  if (record.features > 0 || (!record.matrices.empty() && record.matrices.front().measure)) {
    return command + " --data FILE";
  }
  const auto file_of = [&](const ModelMatrix& matrix) {
    return record.matrices.size() > 1 ? shell_word(matrix.name + "=FILE") : "FILE";
  };
  for (const ModelMatrix& matrix : record.matrices) {
    command += matrix.rule.kind == PairKind::kDistance ? " --distance " : " --similarity ";
    command += file_of(matrix);
  }
  const std::vector<bool> needed = self_similarities_needed(model);
  for (std::size_t m = 0; m < needed.size(); ++m) {
    if (needed[m]) command += " --self " + file_of(record.matrices[m]);
  }
  return command;
}

std::string info_text(const TrainedModel& model, const std::string& path,
                      const OutputStyle& style) {
  const ModelRecord& record = model.record;
  std::string text = fmt::format("{}: a model of method {}\n", path, record.method);
  text += line("method",
               model.is_committee()
                   ? fmt::format("a committee of {} that vote with their probabilities",
                                 counted(std::ssize(model.members), "method"))
                   : method_info(method_settings(record)).summary,
               style);
  const std::vector<std::string> names = names_of_members(model);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const TrainedModel& member = model.members[k];
    const std::string from = matrices_text(member, record);
    text += line("member", fmt::format("{}{}: {}", names[k], from, settings_text(member.record)),
                 style);
  }
  text += line("settings", settings_text(record), style);
  text += line("classes",
               fmt::format("{}: {}", record.class_names.size(), list_some(record.class_names, 12)),
               style);
  text += line("trained on",
               record.given_samples > record.samples
                   ? fmt::format("{} samples of {} given", record.samples, record.given_samples)
                   : counted(record.samples, "sample"),
               style);
  if (record.groups > 0) {
    text += line(
        "groups",
        fmt::format("{}, which stayed whole wherever samples were held out", record.groups), style);
  }
  for (const std::string& sentence : record.applied) {
    text += line("applied", spelled(sentence, as_flag), style);
  }
  for (const std::string& note : notes_of(record)) {
    text += line("note", spelled(note, as_flag), style);
  }
  if (const std::optional<TrainingEnd> end = training_end(record)) {
    text += line(
        "status",
        fmt::format("{}{}", enum_name(end->status),
                    std::isfinite(end->gap)
                        ? fmt::format(", {} {}", gap_words(end->status), format_short(end->gap, 3))
                        : ""),
        style);
  }
  for (const ModelMatrix& matrix : record.matrices) {
    const std::string need = need_text(record, matrix);
    text += line("needs", record.matrices.size() > 1 ? matrix.name + ": " + need : need, style);
  }
  if (record.features > 0) {
    text += line(
        "needs",
        fmt::format("vectors of {}{}", counted(record.features, "feature"),
                    record.feature_names.empty() ? "" : ": " + list_some(record.feature_names, 12)),
        style);
  }
  const std::vector<bool> selves = self_similarities_needed(model);
  if (std::find(selves.begin(), selves.end(), true) != selves.end()) {
    text += line("", "and the similarity of each new sample with itself (--self)", style);
  }
  text += line("gives",
               has_probabilities(model) ? "labels, scores and probabilities"
                                        : "labels and scores, no probabilities",
               style);
  text +=
      line("record",
           fmt::format("kith {}, seed {}, BLAS threads {}, training set {:016x}",
                       record.kith_version, record.seed, record.blas_threads, record.fingerprint),
           style);
  return text + line("use it", predict_command(model, path));
}

int run(const InfoOptions& options) {
  const TrainedModel model = load_trained(options.model);
  if (options.common.json) {
    Json json = model_json(model);
    if (json.contains("notes")) json["notes"] = spelled_json(json["notes"], as_flag);
    print_json(json);
  } else {
    print_text(info_text(model, options.model, output_style()));
  }
  return kDone;
}

}  // namespace

Command add_info(CLI::App& program) {
  CLI::App* parser = program.add_subcommand(
      "info", "describe a model file: its method, what it needs and what it was trained on");
  const auto options = std::make_shared<InfoOptions>();
  parser->add_option("MODEL", options->model, "a file that `kith train --model` wrote")
      ->type_name("FILE")
      ->required();
  add_common_options(*parser, options->common);
  parser->footer(
      "Examples:\n"
      "  kith info m.kith\n"
      "  kith info m.kith --json");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app
