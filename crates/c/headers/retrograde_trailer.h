/**
 * Initialises the description of a dense row-major tensor:
 *
 *     int64_t shape[] = {3, 8};
 *     retrograde_tensor rows = RETROGRADE_TENSOR(RETROGRADE_F32, 2, shape);
 */
#define RETROGRADE_TENSOR(dtype, rank, shape)                                                      \
    {sizeof(retrograde_tensor), (dtype), RETROGRADE_ELEMENTS, 0, (rank), (shape), NULL, 0}
