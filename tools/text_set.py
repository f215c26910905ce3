# SPDX-License-Identifier: Apache-2.0
"""Made-up documents of two classes as sparse vectors: a stand-in for the collections of [ZGZZ] IV.D.

A document has 60 to 240 words, its length log-uniform. Each word is drawn from one of three sources: with share OWN_SHARE from a
topic, one of TOPICS that its class has; with share SITE_SHARE from a site, one of SITES that have nothing to do with
the class (what every page of a site repeats); else from the language, WORDS words whose frequencies fall as 1/rank (Zipf). Topics and sites have vocabularies
of their own, drawn from the words of ranks beyond 50, and Zipf's law among them. The value of a word is the square root of its share in the
document, so that every document has length 1 and nothing is fitted to the collection.
"""

import bisect
import itertools
import math
import random

from reproduce_cy import write_lines

WORDS = 20000
TOPICS, TOPIC_WORDS, OWN_SHARE = 6, 150, 0.08
SITES, SITE_WORDS, SITE_SHARE = 8, 40, 0.35
LENGTHS = (60, 240)
COMMON = 50  # words of the language that no topic and no site has as its own


class Source:
    """Words with frequencies that fall as 1/rank."""

    def __init__(self, words):
        self.words = words
        self.ends = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))

    def draw(self, chance):
        return self.words[bisect.bisect_left(self.ends, chance.random() * self.ends[-1])]


def made_up_documents(count, seed):
    """Rows of word -> value, and labels a and b in turn."""
    chance = random.Random(seed)
    language = Source(range(WORDS))

    def vocabulary(size):
        return Source(chance.sample(range(COMMON, WORDS), size))

    topics = [[vocabulary(TOPIC_WORDS) for _ in range(TOPICS)] for _ in range(2)]
    sites = [vocabulary(SITE_WORDS) for _ in range(SITES)]
    rows = []
    for i in range(count):
        topic, site = chance.choice(topics[i % 2]), chance.choice(sites)
        length = round(math.exp(chance.uniform(*map(math.log, LENGTHS))))
        counts = {}
        for _ in range(length):
            at = chance.random()
            source = topic if at < OWN_SHARE else site if at < OWN_SHARE + SITE_SHARE else language
            word = source.draw(chance)
            counts[word] = counts.get(word, 0) + 1
        rows.append({word: math.sqrt(counts[word] / length) for word in sorted(counts)})
    return rows, ["ab"[i % 2] for i in range(count)]


def write_documents(folder, rows, labels):
    """documents.libsvm, whose labels are passed over, and labels.txt."""
    write_lines(folder / "documents.libsvm",
                ("0 " + " ".join(f"{word + 1}:{value:.9g}" for word, value in row.items()) for row in rows))
    write_lines(folder / "labels.txt", labels)


def inner_products(rows):
    return [[sum(value * other.get(word, 0.0) for word, value in row.items()) for other in rows] for row in rows]
