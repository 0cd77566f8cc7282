// All kernels, as one program.
#include "check.cuh"
#include "cluster.cuh"
#include "columns.cuh"
#include "packed.cuh"
#include "pixels.cuh"
#include "rows.cuh"
#include "sizes.cuh"
#include "strided.cuh"
