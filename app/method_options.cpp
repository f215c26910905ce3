// SPDX-License-Identifier: Apache-2.0
#include "method_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/registry.hpp"
#include "kith/report/text_art.hpp"

namespace kith::app {
namespace {

/// Before anything is read.
std::size_t matrices_asked_for(const InputOptions& input, const RawOptions& raw) {
  return raw.data.empty() ? input.similarity.size() + input.distance.size() : raw.measures.size();
}

/// Every method that learns from one matrix or from `matrices` of them, or from vectors.
std::string all_methods_for(std::size_t matrices, bool vectors) {
  std::string list;
  for (const MethodInfo& method : all_methods()) {
    const bool from_matrices = matrices == 1 || (matrices > 1 && method.several_matrices);
    if (method.learns_from_vectors ? !vectors : !from_matrices) continue;
    list += (list.empty() ? "" : ",") + method.name;
  }
  return list;
}

/// Whether the samples themselves are vectors, as far as the flags tell: all measures are of them,
/// or there is none.
bool gives_vectors(const RawOptions& raw) {
  return raw.data.size() == 1 && std::ranges::all_of(raw.measures, [](const std::string& text) {
           MeasureSettings settings;
           set_measure(settings,
                       text.substr(text.find('=') < text.find(':') ? text.find('=') + 1 : 0));
           return measure_info(settings.measure).data == RawKind::kVectors;
         });
}

}  // namespace

std::string methods_to_compare(const MethodsFlag& methods, const InputOptions& input,
                               const RawOptions& raw, const RunContext& ctx) {
  const std::size_t matrices = matrices_asked_for(input, raw);
  if (methods.list == "all") {
    const std::string list = all_methods_for(matrices, gives_vectors(raw));
    ctx.message(fmt::format("{} all: {}", methods.flag, list));
    return list;
  }
  for (const std::string_view one : split(methods.list, ',')) {
    if (trim(one) != "all") continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} {}: all stands alone, and is every method that learns from the "
                            "input; name the methods, or give {} all",
                            methods.flag, in_quotes(methods.list), methods.flag));
  }
  if (methods.given || matrices < 2) return methods.list;
  ctx.message(
      fmt::format("{} matrices: methods that learn from several are compared, {}; {} "
                  "names others",
                  matrices, kSeveralComparison, methods.flag));
  return std::string(kSeveralComparison);
}

std::vector<Candidate> candidates_for(const MethodsFlag& methods, const InputOptions& input,
                                      const RawOptions& raw, ProtocolName protocol,
                                      const RunContext& ctx) {
  std::vector<Candidate> candidates = parse_candidates(methods_to_compare(methods, input, raw, ctx),
                                                       matrices_asked_for(input, raw));
  for (Candidate& candidate : candidates) apply(protocol, candidate);
  return candidates;
}

namespace {

/// "svm-clip:cost=10" of --set, "svm-clip:cost=1,10" of --grid.
SettingWish parse_wish(const std::string& flag, const std::string& text, bool named) {
  const std::size_t equals = text.find('=');
  std::size_t colon = text.find(':');
  const bool grid = flag == "--grid";
  const std::string said = fmt::format("{} {}", flag, in_quotes(text));
  if (colon > equals) colon = std::string::npos;  // of a value
  if (equals == std::string::npos || (named && colon == std::string::npos)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} must be {}key=value, such as {}{}", said, named ? "METHOD:" : "",
                            named ? "svm-clip:" : "", grid ? "cost=1,10,100" : "cost=10"));
  }
  const std::size_t start = colon == std::string::npos ? 0 : colon + 1;
  SettingWish wish{.candidate = colon == std::string::npos ? "*" : text.substr(0, colon),
                   .key = text.substr(start, equals - start),
                   .values = {},
                   .said = said};
  const std::string value = text.substr(equals + 1);
  if (!grid) {
    wish.values.push_back(value);
    return wish;
  }
  for (const std::string_view one : split(value, ',')) wish.values.emplace_back(trim(one));
  return wish;
}

}  // namespace

std::vector<SettingWish> parse_wishes(const std::string& flag,
                                      const std::vector<std::string>& texts, bool named) {
  std::vector<SettingWish> wishes;
  wishes.reserve(texts.size());
  for (const std::string& text : texts) wishes.push_back(parse_wish(flag, text, named));
  return wishes;
}

void resolve(const LabelledInput& input, InputSearch search, const CLI::App& command,
             ExperimentData& data, std::vector<Candidate>& candidates, RunContext& ctx) {
  for (const FieldInfo& field : fields(InputSettings{})) {
    if (command.count("--" + field.name) > 0) search.given.push_back(field.name);
  }
  resolve_inputs(data, input.samples, search, candidates, ctx);
  const std::size_t variants = count_variants(candidates);
  if (variants > 1) {
    ctx.message(fmt::format("{} ways to treat the input are searched (conversions, scales, tables)",
                            variants));
  }
}

std::string legend_of(std::string_view text, int width) {
  std::string legend;
  for (const Reference& work : references()) {
    const std::string tag = fmt::format("[{}]", work.key);
    if (text.find(tag) == std::string_view::npos) continue;
    legend += wrap(fmt::format("{} {}", tag, work.text), width, "  ");
  }
  return legend.empty() ? legend : "Papers\n" + legend;
}

}  // namespace kith::app
