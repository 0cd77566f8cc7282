/* Reverses a padded batch of words, out of place and in place, and shows an error. */
#include <retrograde.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        retrograde_status status = (call);                                                         \
        if (status != RETROGRADE_OK) {                                                             \
            fprintf(stderr, "%s: %s\n", retrograde_status_name(status), retrograde_last_error());  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void print(const char *words) {
    for (int row = 0; row < 3; row++) printf("%.8s\n", words + 8 * row);
}

int main(void) {
    if (retrograde_abi_version() != RETROGRADE_ABI_VERSION) return 1;

    /* Three words of up to eight letters, one per row: time is axis 1, the batch axis 0. */
    const char words[] = "stressed"
                         "live...."
                         "parts...";
    const int64_t shape[] = {3, 8}, count[] = {3};
    const retrograde_tensor letters = RETROGRADE_TENSOR(RETROGRADE_U8, 2, shape);
    const retrograde_tensor lengths = RETROGRADE_TENSOR(RETROGRADE_I32, 1, count);

    retrograde_operator *op;
    CHECK(retrograde_operator_create(RETROGRADE_REVERSE_SEQUENCE, &op));
    CHECK(retrograde_operator_set_time_axis(op, 1));
    CHECK(retrograde_operator_set_batch_axis(op, 0));

    /* Checked and planned once, then run as often as needed, by any number of threads. */
    retrograde_call *call;
    CHECK(retrograde_prepare(op, &letters, &lengths, &letters, &call));
    retrograde_operator_destroy(op);

    char reversed[24];
    const int32_t whole[] = {8, 4, 5};
    CHECK(retrograde_run(call, words, 24, whole, sizeof whole, reversed, 24));
    print(reversed);

    const int32_t first_two[] = {2, 2, 2};
    CHECK(retrograde_run_in_place(call, first_two, sizeof first_two, reversed, 24));
    print(reversed);

    /* An error leaves the output as it was. */
    const int32_t wrong[] = {8, 9, 5};
    retrograde_status status = retrograde_run(call, words, 24, wrong, sizeof wrong, reversed, 24);
    printf("%s: %s\n", retrograde_status_name(status), retrograde_last_error());
    print(reversed);

    retrograde_call_destroy(call);
    return 0;
}
