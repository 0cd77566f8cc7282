// The sizes of arguments, which src/params.rs tests too.
#pragma once
#include "check.cuh"
#include "columns.cuh"
#include "packed.cuh"
#include "rows.cuh"
#include "scratch.cuh"
#include "segments.cuh"
#include "strided.cuh"
#include "tiles.cuh"

static_assert(sizeof(Axis) == 48, "Axis");
static_assert(sizeof(Loops<6>) == 296, "Loops");
static_assert(sizeof(Lengths) == 48, "Lengths");
static_assert(sizeof(Rows) == 520, "Rows");
static_assert(sizeof(Segments) == 528, "Segments");
static_assert(sizeof(Strided) == 2384, "Strided");
static_assert(sizeof(Gather) == 528, "Gather");
static_assert(sizeof(Tiles) == 568, "Tiles");
static_assert(sizeof(Columns) == 536, "Columns");
static_assert(sizeof(Passes) == 680, "Passes");
static_assert(sizeof(Packed) == 2456, "Packed");
static_assert(sizeof(Report) == 64, "Report");
static_assert(sizeof(Check) == 2368, "Check");
