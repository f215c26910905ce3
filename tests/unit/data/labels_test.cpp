// SPDX-License-Identifier: Apache-2.0
#include "kith/data/labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kith/data/atomic_file.hpp"
#include "support/files.hpp"

namespace kith::labels_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LabelFile read(std::string_view text, const std::string& name = "labels.txt") {
  const TempFolder folder;
  return read_labels(folder.file(name, text));
}

std::string refused(std::string_view text) {
  return error_of(ErrorCode::kBadInput, [&] { (void)read(text); });
}

class Messages final : public ProgressSink {
 public:
  void progress(std::string_view, double, double, std::string_view) override {}
  void message(std::string_view text) override { texts.emplace_back(text); }
  std::vector<std::string> texts;
};

TEST(ReadLabels, TakesTheNumbersOfIdx) {
  using namespace std::string_literals;
  const LabelFile file = read("\0\0\x08\1\0\0\0\3\7\x0a\7"s, "t10k-labels-idx1-ubyte");
  EXPECT_THAT(file.labels, ElementsAre("7", "10", "7"));
  EXPECT_THAT(file.ids, IsEmpty());
  EXPECT_THAT(refused("\0\0\x08\2\0\0\0\1\0\0\0\2\7\7"s), HasSubstr("one each"));
  EXPECT_THAT(refused("\0\0\x08\1\0\0\0\3\7"s), HasSubstr("9 bytes"));
}

TEST(MakeLabels, NumbersClassesInNaturalOrderWhateverTheOrderOfSamples) {
  const std::vector<std::string> samples = {"10", "b", "2", "10", "a"};
  const Labels labels = make_labels(samples);
  EXPECT_THAT(labels.names, ElementsAre("2", "10", "a", "b"));
  EXPECT_THAT(labels.ids, ElementsAre(1, 3, 0, 1, 2));
  EXPECT_THAT(labels.counts(), ElementsAre(1, 2, 1, 1));
  for (Index i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(labels.name_of(i), samples[static_cast<std::size_t>(i)]);
  }
}

TEST(MakeLabels, TakesOneClassAndClassesOfOneSample) {
  const std::vector<std::string> one = {"only", "only"};
  EXPECT_EQ(make_labels(one).class_count(), 1);
  EXPECT_THAT(make_labels(std::vector<std::string>{"a", "b", "b"}).counts(), ElementsAre(1, 2));
}

TEST(SelectLabels, KeepsTheClassNames) {
  const Labels labels = make_labels(std::vector<std::string>{"a", "b", "c"});
  const std::vector<Index> order = {2, 0};
  const Labels chosen = select(labels, order);
  EXPECT_THAT(chosen.ids, ElementsAre(2, 0));
  EXPECT_EQ(chosen.names, labels.names);
}

TEST(ReadLabels, TakesOneLabelPerLine) {
  const LabelFile file = read(
      "\xef\xbb\xbf"
      "red\r\ndark blue\r\n1\r\n5\" pipe, old\r\n\r\n");
  EXPECT_THAT(file.ids, IsEmpty());
  EXPECT_THAT(file.labels, ElementsAre("red", "dark blue", "1", "5\" pipe, old"));
}

TEST(ReadLabels, TakesIdsBeforeATab) {
  const LabelFile file = read("a\tdark blue\nb x\tred, \"old\"\nc\t\"with\ttab\"\n");
  EXPECT_THAT(file.ids, ElementsAre("a", "b x", "c"));
  EXPECT_THAT(file.labels, ElementsAre("dark blue", "red, \"old\"", "with\ttab"));
}

TEST(ReadLabels, TakesIdsBeforeACommaWhenEveryLineHasOne) {
  const LabelFile file = read("\"Smith, J.\",red\nb,\"blue, \"\"dark\"\"\"\n");
  EXPECT_THAT(file.ids, ElementsAre("Smith, J.", "b"));
  EXPECT_THAT(file.labels, ElementsAre("red", "blue, \"dark\""));
}

TEST(ReadLabels, TakesCommasInQuotesForPartOfALabel) {
  EXPECT_THAT(read("\"a, b\"\n\"c, d\"\n").labels, ElementsAre("a, b", "c, d"));
}

TEST(ReadLabels, SkipsAHeaderOfThoseWords) {
  EXPECT_THAT(read("id\tlabel\na\tx\n").ids, ElementsAre("a"));
  EXPECT_THAT(read("ID,Label\na,x\n").ids, ElementsAre("a"));
  EXPECT_THAT(read("id\tclass\na\tx\n").ids, ElementsAre("id", "a"));
}

TEST(ReadLabels, ReadsCompressedFiles) {
  const TempFolder folder;
  for (const std::string name : {"l.tsv.gz", "l.tsv.zst"}) {
    AtomicFile file(folder.path(name));
    file.write("a\tx\nb\ty\n");
    file.commit();
    EXPECT_THAT(read_labels(folder.path(name)).labels, ElementsAre("x", "y"));
  }
}

TEST(ReadLabels, RefusesEmptyLabelsAndIds) {
  EXPECT_THAT(refused("a\n\nb\n"),
              AllOf(HasSubstr("labels.txt:2:1: an empty label"), HasSubstr("must hold one")));
  EXPECT_THAT(refused("a\tx\nb\t\n"), HasSubstr("labels.txt:2:3: an empty label"));
  EXPECT_THAT(refused("a\tx\n\ty\n"), HasSubstr("labels.txt:2:1: an empty id"));
  EXPECT_THAT(refused(""), HasSubstr("labels.txt: the file is empty"));
  EXPECT_THAT(refused("\n\n"), HasSubstr("labels.txt: the file is empty"));
  EXPECT_THAT(refused("id\tlabel\n"), HasSubstr("labels.txt: a header and no labels"));
}

TEST(ReadLabels, RefusesRepeatedIdsNamingBothLines) {
  EXPECT_THAT(refused("a\tx\nb\ty\na\tx\n"),
              HasSubstr("labels.txt:3:1: the id \"a\" stands on lines 1 and 3; ids must differ"));
  EXPECT_THAT(refused("red,dark\nred,light\n"),
              AllOf(HasSubstr("lines 1 and 2"), HasSubstr("put the label in quotes")));
}

TEST(ReadLabels, RefusesLinesWithAnotherNumberOfCells) {
  EXPECT_THAT(refused("a\tx\nb\ty\tz\n"),
              AllOf(HasSubstr("labels.txt:2: \"b\\ty\\tz\" holds 3 cells"),
                    HasSubstr("must hold two, an id and a label")));
  EXPECT_THAT(refused("a\tx\nb\n"), HasSubstr("labels.txt:2: \"b\" holds 1 cell;"));
}

TEST(ReadLabels, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(refused("ok\ncaf\xe9\n"), AllOf(HasSubstr("labels.txt:2:1"), HasSubstr("not UTF-8")));
}

TEST(JoinLabels, FollowsTheIdsOfTheSamples) {
  Messages sink;
  const LabelFile file{
      .source = "l.tsv", .ids = {"a", "b", "z", "c"}, .labels = {"x", "y", "w", "x"}};
  const std::vector<std::string> samples = {"c", "b", "a"};
  const JoinedLabels joined = join_labels(file, samples, 3, {.sink = &sink});
  EXPECT_EQ(joined.labels.name_of(0), "x");
  EXPECT_EQ(joined.labels.name_of(1), "y");
  EXPECT_THAT(joined.labels.names, ElementsAre("x", "y")) << "z is no sample, so w is no class";
  EXPECT_THAT(joined.unmatched, ElementsAre("z"));
  ASSERT_EQ(sink.texts.size(), 1U);
  EXPECT_THAT(sink.texts[0], AllOf(HasSubstr("l.tsv: 1 of 4 ids"), HasSubstr("z")));
}

TEST(JoinLabels, RefusesSamplesWithoutALabel) {
  const LabelFile file{.source = "l.tsv", .ids = {"a"}, .labels = {"x"}};
  const std::vector<std::string> samples = {"a", "b", "c"};
  EXPECT_THAT(
      error_of(ErrorCode::kBadInput, [&] { (void)join_labels(file, samples, 3, {}); }),
      AllOf(HasSubstr("l.tsv: 2 of 3 samples have no label"), HasSubstr("\"b\" and \"c\"")));
}

TEST(JoinLabels, GoesByPositionWithoutIds) {
  const LabelFile file{.source = "l.txt", .ids = {}, .labels = {"x", "y"}};
  const std::vector<std::string> samples = {"a", "b"};
  EXPECT_THAT(join_labels(file, samples, 2, {}).labels.ids, ElementsAre(0, 1));
  EXPECT_THAT(error_of(ErrorCode::kBadInput, [&] { (void)join_labels(file, {}, 3, {}); }),
              HasSubstr("l.txt: 2 labels for 3 samples; there must be one per sample"));
}

TEST(JoinLabels, SaysOnceThatLabelsWithoutIdsFollowTheOrderOfTheSamples) {
  Messages sink;
  const LabelFile file{.source = "l.txt", .ids = {}, .labels = {"x", "y"}};
  const std::vector<std::string> samples = {"a", "b"};
  (void)join_labels(file, samples, 2, {.sink = &sink});
  EXPECT_THAT(sink.texts, ElementsAre(HasSubstr("l.txt has no ids")));
}

TEST(JoinLabels, RefusesLabelsWithoutIdsForSamplesWithoutAnOrder) {
  const LabelFile plain{.source = "l.txt", .ids = {}, .labels = {"x", "y"}};
  const std::vector<std::string> samples = {"p1", "p2"};
  EXPECT_THAT(
      error_of(ErrorCode::kBadInput, [&] { (void)join_labels(plain, samples, 2, {}, "hits.m8"); }),
      AllOf(HasSubstr("l.txt"), HasSubstr("hits.m8"), HasSubstr("p1<TAB>x")));
  const LabelFile with_ids{.source = "l.tsv", .ids = {"p2", "p1"}, .labels = {"x", "y"}};
  const Labels labels = join_labels(with_ids, samples, 2, {}, "hits.m8").labels;
  EXPECT_EQ(labels.name_of(0), "y");
  EXPECT_EQ(labels.name_of(1), "x");
}

TEST(JoinLabels, GoesByPositionAndSaysSoWhenOnlyTheLabelsHaveIds) {
  Messages sink;
  const LabelFile file{.source = "l.tsv", .ids = {"a", "b"}, .labels = {"x", "y"}};
  EXPECT_THAT(join_labels(file, {}, 2, {.sink = &sink}).labels.ids, ElementsAre(0, 1));
  ASSERT_EQ(sink.texts.size(), 1U);
  EXPECT_THAT(sink.texts[0], HasSubstr("in the order of the file"));
}

TEST(JoinLabels, SuspectsAHeaderWhenTheNumberDoesNotFit) {
  const LabelFile file{.source = "l.txt", .ids = {}, .labels = {"label", "x", "y"}};
  EXPECT_THAT(error_of(ErrorCode::kBadInput, [&] { (void)join_labels(file, {}, 2, {}); }),
              HasSubstr("its first line is \"label\""));
}

TEST(StreamedLabels, AreThoseOfTheJoinedOnesInAnyPieces) {
  const LabelFile file{
      .source = "l.tsv", .ids = {"a", "b", "z", "c"}, .labels = {"x", "y", "w", "x"}};
  const std::vector<std::string> samples = {"c", "b", "a"};
  for (const std::size_t size : {1U, 2U, 3U}) {
    StreamedLabels labels(file);
    std::vector<std::string> found;
    for (std::size_t first = 0; first < samples.size(); first += size) {
      const auto ids = std::span(samples).subspan(first, std::min(size, samples.size() - first));
      for (const std::size_t at : labels.next(ids, std::ssize(ids), {})) {
        found.push_back(file.labels[at]);
      }
    }
    EXPECT_THAT(found, ElementsAre("x", "y", "x"));
    EXPECT_THAT(labels.finish(), ElementsAre("z"));
  }
}

TEST(StreamedLabels, NameSamplesWithoutOneWhereverTheyCome) {
  const LabelFile file{.source = "l.tsv", .ids = {"a", "b"}, .labels = {"x", "y"}};
  StreamedLabels labels(file);
  (void)labels.next(std::vector<std::string>{"b"}, 1, {});
  EXPECT_THAT(error_of(ErrorCode::kBadInput,
                       [&] {
                         (void)labels.next(std::vector<std::string>{"q", "a"}, 2, {});
                       }),
              HasSubstr("l.tsv: 1 of 2 samples from number 2 on have no label: \"q\""));
}

TEST(StreamedLabels, WithoutIdsMustBeAsManyAsSamples) {
  Messages sink;
  const LabelFile file{.source = "l.txt", .ids = {}, .labels = {"x", "y", "z"}};
  StreamedLabels labels(file);
  EXPECT_THAT(labels.next(std::vector<std::string>{"a", "b"}, 2, {.sink = &sink}),
              ElementsAre(0, 1));
  EXPECT_THAT(error_of(ErrorCode::kBadInput, [&] { (void)labels.finish(); }),
              HasSubstr("l.txt: 3 labels for 2 samples"));
  EXPECT_THAT(labels.next(std::vector<std::string>{"c"}, 1, {.sink = &sink}), ElementsAre(2));
  EXPECT_THAT(labels.finish(), IsEmpty());
  EXPECT_THAT(sink.texts, ElementsAre(HasSubstr("l.txt has no ids"))) << "it is said once";
  EXPECT_THAT(error_of(ErrorCode::kBadInput,
                       [&] { (void)labels.next(std::vector<std::string>{"d"}, 1, {}); }),
              HasSubstr("3 labels for 4 samples or more"));
}

}  // namespace
}  // namespace kith::labels_test
