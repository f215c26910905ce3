#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kith's main job on the data that ship with it. Each step says what it does, runs one command that
# a reader can type, and leaves its result in a folder.
#   tools/demo.sh [PROGRAM [FOLDER]]      (default: build/release/kith build/demo)
set -euo pipefail
cd "$(dirname "$0")/.."

kith=${1:-build/release/kith}
words=examples/words
out=${2:-build/demo}

if [ ! -x "$kith" ]; then
  echo "demo: $kith is not built; run \`make build\` first" >&2
  exit 1
fi
mkdir -p "$out"

step() { printf '\n%s\n' "$*"; }
run() {  # shows the command as typed after an installation, then runs this build of it
  printf '  $ kith %s\n' "$*"
  "$kith" "$@"
}

languages=$(cut -f 2 $words/languages.tsv | sort -u | wc -l)
count=$(wc -l <$words/words.tsv)

step "1. Similarities: $((count)) words of $((languages)) languages, each pair compared by edit distance."
run measure --data $words/words.tsv --measure edit --out "$out/words.csv"

step "2. What is this matrix? The labels are the languages; the task is to tell a word's language."
run inspect --similarity "$out/words.csv" --labels $words/languages.tsv

step "3. Which method tells the language best? Nested cross-validation; everything is kept in $out/words.db."
run evaluate --similarity "$out/words.csv" --labels $words/languages.tsv --name words --repeats 5 --folds 5 --stratify yes \
  --methods knn,affinity-knn,krr-pinv,local-sda,svm-clip,svm-flip,features-svm,features-fisher,nearest-mean \
  --store "$out/words.db"

step "4. All of it on one page: the comparison, the matrix, every method and every word."
page=
printf '  $ kith report --store %s --out %s\n' "$out/words.db" "$out/words.html"
if problem=$("$kith" report --store "$out/words.db" --out "$out/words.html" 2>&1); then
  page="The page is $(cd "$out" && pwd)/words.html: open it in a browser."
elif [[ $problem == *"without its HTML page"* ]]; then
  page="This build has no HTML page, since npm could not make it. \`kith report\` has the comparison as text, csv and JSON."
else
  echo "$problem" >&2
  exit 1
fi
step "The matrix is in $out/words.csv, the words and labels in $words.${page:+$'\n'$page}"
