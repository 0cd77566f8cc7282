#!/bin/bash -eu
# Compiles the program of the fuzz targets, and puts it into $OUT under the name of each, with its seeds and dictionary.
cargo fuzz build -O --debug-assertions
for seeds in fuzz/seeds/*/; do
    target=$(basename "$seeds")
    cp fuzz/target/x86_64-unknown-linux-gnu/release/any "$OUT/$target"
    zip -jqr "$OUT/${target}_seed_corpus.zip" "$seeds"
    if [ -f "fuzz/dictionaries/$target.dict" ]; then
        cp "fuzz/dictionaries/$target.dict" "$OUT/"
    fi
done
