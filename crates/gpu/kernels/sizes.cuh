// The sizes of arguments, which src/params.rs tests too.
#pragma once
#include "check.cuh"
#include "columns.cuh"
#include "packed.cuh"
#include "rows.cuh"
#include "strided.cuh"
#include "tiles.cuh"

static_assert(sizeof(Axis) == 48, "Axis");
static_assert(sizeof(Loops<6>) == 296, "Loops");
static_assert(sizeof(Lengths) == 32, "Lengths");
static_assert(sizeof(Rows) == 504, "Rows");
static_assert(sizeof(Strided<6>) == 352, "Strided");
static_assert(sizeof(Gather) == 512, "Gather");
static_assert(sizeof(Tiles) == 552, "Tiles");
static_assert(sizeof(Columns) == 520, "Columns");
static_assert(sizeof(Packed) == 2440, "Packed");
static_assert(sizeof(Report) == 48, "Report");
static_assert(sizeof(Check) == 2360, "Check");
