// SPDX-License-Identifier: Apache-2.0
#include "kith/report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "kith/inspect/inspect_json.hpp"
#include "report/pack.hpp"
#include "report/page_source.hpp"

namespace kith::page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---------------------------------------------------------------- texts

TEST(EmbeddedJson, LeavesNothingThatEndsItsElement) {
  const Json hostile = {{"</script><img src=x onerror=alert(1)>", "<!-- <script> ]]> & '\""},
                        {"lines", "\xe2\x80\xa8 \xe2\x80\xa9 \n \r \x01"},
                        {"no UTF-8", "\xff\xfe"}};
  const std::string text = embedded_json(hostile);
  for (const char letter : text) {
    EXPECT_TRUE(letter >= ' ' && letter < 0x7f) << static_cast<int>(letter);
    EXPECT_TRUE(letter != '<' && letter != '>' && letter != '&') << text;
  }
}

TEST(EmbeddedJson, ReadsBackAsWhatItWas) {
  const Json document = {{"a</script>", {1.0 / 3, -0.0, 1e300, 5e-324, nullptr, true}},
                         {"\xc3\xa4\xe2\x80\xa8&", "<b>"}};
  EXPECT_EQ(Json::parse(embedded_json(document)), document);
}

TEST(Packed, HasTheDigitsOfEveryValueInBase64) {
  EXPECT_EQ(packed(std::vector<int>{}), "1");
  EXPECT_EQ(packed(std::vector<int>{-1, 0, 24, 25, 61, 62}), "1ABZa-_");
  EXPECT_EQ(packed(std::vector<int>{-1, 63, 4094}), "2AABA__");
  EXPECT_EQ(packed(std::vector<Index>{0, 4095, 262142}), "3AABBAA___");
}

// ---------------------------------------------------------------- documents

/// Six samples of two classes, ids and names that no page may take for markup; three partitions.
Store hostile_store() {
  Store store(":memory:");
  ExperimentRecord record;
  record.name = "</script><b>";
  record.protocol = {{"name", "tr"}};
  record.about = {{"command", "kith evaluate"}, {"portraits", {{{"name", "S"}}}}};
  record.labels = {{0, 1, 0, 1, 0, 1}, {"<i>no</i>", "yes"}};
  record.ids = {"a", "b", "c", "d", "e", std::string(500, 'x')};
  record.partitions = {{{0, 1, 2, 3}, {4, 5}, {0, 0, 1, 1}},
                       {{2, 3, 4, 5}, {0, 1}, {1, 0, 1, 0}},
                       {{0, 1, 4, 5}, {2, 3}, {1, 0, 1, 0}}};
  const std::int64_t experiment = store.add_experiment(record);
  const Json grid =
      Json::array({{{"field", "cost"}, {"values", {"1", "10"}}, {"simpler", "smaller"}}});
  for (const std::string name : {"first", "second"}) {
    const std::int64_t candidate =
        store.add_candidate(experiment, {.name = name, .method = "svm", .grid = grid});
    for (int p = 0; p < 3; ++p) {
      TestResult result;
      result.chosen = {{"cost", 10}};
      result.inner_losses = {2, 1};
      result.prediction.labels = {0, name == "first" && p == 1 ? 0 : 1};
      result.seconds = 0.125;
      store.put({candidate, p, kTestFold}, result);
    }
  }
  return store;
}

TEST(ReportDocument, HasTheNumbersOfTheResults) {
  const Store store = hostile_store();
  const std::vector<ExperimentResult> results = {
      summarise(store, store.experiments().front(), Metric::kError)};
  const Json document = report_document(store, results);
  const Json expected = results_json(store, results);
  const Json& data_set = document.at("data_sets").at(0);
  for (const auto& [key, value] : expected.items()) {
    if (key == "methods" || key == "timing") continue;
    EXPECT_EQ(data_set.at(key), value) << key;
  }
  EXPECT_EQ(document.at("timing"), expected.at("timing"));
  for (std::size_t m = 0; m < 2; ++m) {
    for (const auto& [key, value] : expected.at("methods")[m].items()) {
      EXPECT_EQ(data_set.at("methods")[m].at(key), value) << key;
    }
  }
}

TEST(ReportDocument, SaysOfEverySampleHowItFared) {
  const Store store = hostile_store();
  const Json document =
      report_document(store, {summarise(store, store.experiments().front(), Metric::kError)});
  const Json& data_set = document.at("data_sets").at(0);
  const auto list = [](std::vector<int> values) { return Json(packed(values)); };
  EXPECT_EQ(data_set.at("tested"), list({1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(data_set.at("methods")[0].at("details").at("wrong"), list({0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(data_set.at("methods")[1].at("details").at("wrong"), list({0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(data_set.at("methods")[0].at("details").at("said"), list({0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(data_set.at("portraits"), Json({{{"name", "S"}}}));
  EXPECT_FALSE(data_set.at("about").contains("portraits"));
  EXPECT_LT(data_set.at("ids")[5].get<std::string>().size(), 100U);
  EXPECT_THAT(document.at("tables").at("latex").get<std::string>(), HasSubstr("booktabs"));
}

TEST(HtmlPage, HoldsTheDocumentOnceAndNoHostileText) {
  if (!has_page()) {
    EXPECT_THROW(check_has_page(), Error);
    GTEST_SKIP() << "built with KITH_REPORT_BUNDLE=OFF";
  }
  const Store store = hostile_store();
  const std::string page = html_page(
      report_document(store, {summarise(store, store.experiments().front(), Metric::kError)}));
  EXPECT_THAT(page, Not(HasSubstr(std::string(kDocumentMark))));
  EXPECT_THAT(page, Not(HasSubstr("<i>no</i>")));
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
}

/// A portrait of n samples that nothing compresses.
Portrait noisy_portrait(Index n) {
  Rng rng = RngStreams(3).stream("noise");
  Portrait portrait;
  portrait.summary.n = n;
  portrait.summary.spectrum.emplace().lambda =
      Vector::NullaryExpr(n, [&] { return rng.uniform(); });
  const Index most = PortraitSettings{}.most_means;
  portrait.picture.samples_per_pixel = (n + most - 1) / most;
  portrait.picture.side = n / portrait.picture.samples_per_pixel;
  portrait.picture.levels.resize(static_cast<std::size_t>(portrait.picture.side) *
                                 static_cast<std::size_t>(portrait.picture.side));
  for (std::uint8_t& level : portrait.picture.levels) {
    level = static_cast<std::uint8_t>(1 + rng.below(kPictureLevels));
  }
  PlaneMap& map = portrait.map.emplace();
  map.x = Vector::NullaryExpr(n, [&] { return rng.uniform() - 0.5; });
  map.y = Vector::NullaryExpr(n, [&] { return rng.uniform() - 0.5; });
  portrait.nearest = 5;
  for (Index i = 0; i < n; ++i) portrait.order.push_back(i);
  for (Index i = 0; i < 5 * n; ++i) {
    portrait.neighbours.push_back(static_cast<Index>(rng.below(static_cast<std::uint64_t>(n))));
  }
  return portrait;
}

TEST(ReportDocument, OfThreeThousandSamplesAndThirtyMethodsLeavesThePageUnderTwoMegabytes) {
  constexpr Index kSamples = 3000;
  Store store(":memory:");
  Rng rng = RngStreams(1).stream("labels");
  ExperimentRecord record;
  record.name = "large";
  record.labels.names = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  for (Index i = 0; i < kSamples; ++i) {
    record.labels.ids.push_back(static_cast<int>(rng.below(10)));
    record.ids.push_back("a name of sample " + std::to_string(i));
  }
  for (Index p = 0; p < 20; ++p) {
    Partition& partition = record.partitions.emplace_back();
    for (Index i = 0; i < kSamples; ++i) {
      if (i % 5 == p % 5) {
        partition.test.push_back(i);
      } else {
        partition.train.push_back(i);
        partition.fold_of.push_back(static_cast<int>(i % 10));
      }
    }
  }
  record.about["portraits"].push_back(portrait_json(noisy_portrait(kSamples)));
  const std::int64_t experiment = store.add_experiment(record);
  for (int m = 0; m < 30; ++m) {
    const std::int64_t candidate =
        store.add_candidate(experiment, {.name = "method " + std::to_string(m), .method = "svm"});
    for (int p = 0; p < 20; ++p) {
      TestResult result;
      result.chosen = {{"cost", 10}, {"spectrum", "clip"}, {"tolerance", 1e-6}};
      for (int i = 0; i < 600; ++i) {
        result.prediction.labels.push_back(static_cast<int>(rng.below(10)));
      }
      result.prediction.probabilities = Matrix::Constant(600, 10, 0.1);
      for (double& value : result.prediction.probabilities.reshaped()) value += rng.uniform();
      result.prediction.probabilities.array().colwise() /=
          result.prediction.probabilities.rowwise().sum().array().eval();
      store.put({candidate, p, kTestFold}, result);
    }
  }
  const std::string text =
      embedded_json(report_document(store, {summarise(store, experiment, Metric::kError)}));
  constexpr std::size_t kPage = 400000;
  EXPECT_LT(page_source().size(), kPage) << "what is around the document";
  EXPECT_LT(text.size(), 2000000 - kPage);
}

}  // namespace
}  // namespace kith::page_test
