/* An adapter for the conformance kit in C99, without dependencies: Flip on types of whole bytes.
 *
 *     cc -O2 -o adapter adapter.c
 *     retrograde conformance run --runtime ./adapter
 *
 * Requests have no spaces and no escapes, so searching for keys is enough. Replace `flip` by a call
 * of your runtime. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AXES 16

/* The text after `key` in the object that begins at `from`. */
static const char *after(const char *from, const char *key) {
    const char *found = strstr(from, key);
    return found ? found + strlen(key) : "";
}

static int width_of(const char *dtype) {
    static const struct { const char *name; int bytes; } types[] = {
        {"bool\"", 1}, {"u8\"", 1}, {"i8\"", 1}, {"u16\"", 2}, {"i16\"", 2}, {"f16\"", 2},
        {"bf16\"", 2}, {"u32\"", 4}, {"i32\"", 4}, {"f32\"", 4}, {"u64\"", 8}, {"i64\"", 8},
        {"f64\"", 8}, {"c64\"", 8}, {"c128\"", 16}};
    for (size_t at = 0; at < sizeof types / sizeof *types; at++)
        if (!strncmp(dtype, types[at].name, strlen(types[at].name))) return types[at].bytes;
    return 0;
}

/* Reads hexadecimal digits up to a quote; returns how many bytes there were. */
static size_t unhex(const char *text, unsigned char *out) {
    size_t count = 0;
    unsigned byte;
    while (text[0] != '"' && sscanf(text, "%2x", &byte) == 1) {
        out[count++] = (unsigned char)byte;
        text += 2;
    }
    return count;
}

static void flip(const unsigned char *in, unsigned char *out, int width, int rank,
                 const size_t *shape, const int *flipped, size_t count) {
    for (size_t at = 0; at < count; at++) {
        size_t source = 0, rest = at, step = 1;
        for (int axis = rank - 1; axis >= 0; axis--) {
            size_t index = rest % shape[axis];
            rest /= shape[axis];
            source += step * (flipped[axis] ? shape[axis] - 1 - index : index);
            step *= shape[axis];
        }
        memcpy(out + at * width, in + source * width, width);
    }
}

static void answer(const char *line, size_t length) {
    const char *axes = after(line, "\"axes\":{"), *input = after(line, "\"input\":{");
    const char *id = after(line, "\"id\":\""), *dtype = after(input, "\"dtype\":\"");
    int id_length = (int)strcspn(id, "\""), width = width_of(dtype), rank = 0;
    size_t shape[MOST_AXES] = {0}, count = 1;
    int flipped[MOST_AXES] = {0};
    const char *outcome = width ? "value" : "unsupported";
    char *end;
    for (const char *at = after(input, "\"shape\":["); *at != ']' && *at && rank < MOST_AXES; at = *end == ',' ? end + 1 : end) {
        shape[rank] = strtoul(at, &end, 10);
        count *= shape[rank++];
    }
    unsigned char *data = malloc(length), *out = malloc(length), *list = malloc(length);
    size_t bytes = unhex(after(input, "\"data\":\""), data);
    size_t entries = unhex(after(axes, "\"data\":\""), list) / 8;
    for (size_t at = 0; at < entries; at++) {
        int64_t axis = 0;
        for (int byte = 7; byte >= 0; byte--) axis = (int64_t)((uint64_t)axis << 8 | list[at * 8 + byte]);
        if (axis < -rank || axis >= rank || flipped[axis < 0 ? axis + rank : axis]++)
            outcome = width ? "refused" : outcome;
    }
    printf("{\"id\":\"%.*s\",\"outcome\":\"%s\"", id_length, id, outcome);
    if (!strcmp(outcome, "value")) {
        flip(data, out, width, rank, shape, flipped, count);
        printf(",\"output\":{\"dtype\":\"%.*s\",\"shape\":[", (int)strcspn(dtype, "\""), dtype);
        for (int axis = 0; axis < rank; axis++) printf("%s%zu", axis ? "," : "", shape[axis]);
        printf("],\"data\":\"");
        for (size_t at = 0; at < bytes; at++) printf("%02x", out[at]);
        printf("\"}");
    } else {
        printf(",\"message\":\"axes are out of range or not distinct, or there is no such type\"");
    }
    printf("}\n");
    free(data);
    free(out);
    free(list);
}

int main(void) {
    /* Long enough for every request of the default set. */
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "{\"hello\"", 8))
            printf("{\"protocol\":1,\"runtime\":\"example-c\",\"version\":\"1\",\"operators\":[\"Flip\"]}\n");
        else
            answer(line, strlen(line) + 1);
        fflush(stdout);
    }
    return 0;
}
