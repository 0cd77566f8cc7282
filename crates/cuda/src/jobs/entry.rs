//! The functions of the kernels, identified by family and width.

/// A function of the kernels, by family and width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry(pub(crate) Family, pub(crate) u8);

impl Entry {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Entry> {
        Family::ALL.into_iter().flat_map(|(family, _, widths)| {
            let widths = if widths.is_empty() { &[0] } else { widths };
            widths.iter().map(move |&width| Entry(family, width))
        })
    }

    /// Its name in the compiled kernels.
    pub(crate) fn name(self) -> String {
        let Entry(family, width) = self;
        let (_, name, widths) = Family::ALL[family.at()];
        if widths.is_empty() { name.to_owned() } else { format!("{name}_{width}") }
    }
}

/// Functions that differ only in width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    RowsAligned,
    RowsBlocks,
    RowsCut,
    RowsCutZero,
    RowsAny,
    RowsLong,
    RowsDense,
    RowsDenseFlip,
    RowsFlip,
    RowsStaged,
    RowsStagedSwap,
    RowsShort,
    RowsBrief,
    RowsBriefMore,
    RowsSwap,
    RowsTrade,
    Strided,
    StridedDeep,
    Swap,
    SwapDeep,
    Gather,
    GatherPrefix,
    Tiles,
    Columns,
    ColumnsZero,
    ColumnsBytes,
    ColumnsTwo,
    ColumnsFour,
    ColumnsDirect,
    ColumnsScratch,
    ColumnsScratchWide,
    ColumnsCluster,
    Packed,
    PackedFlip,
    PackedMore,
    SegmentsRows,
    SegmentsBlocks,
    SegmentsSwap,
    SegmentsStrided,
    SegmentsStridedSwap,
    CheckLengths,
    CheckOffsets,
}

/// Variants of the kernels that stage rows.
const STAGED: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 22];

impl Family {
    /// All of them, with their names and widths.
    pub(crate) const ALL: [(Family, &'static str, &'static [u8]); 42] = [
        (Family::RowsAligned, "rows_aligned", &[0, 1, 2, 3, 4, 6, 8, 12, 16]),
        (Family::RowsBlocks, "rows_blocks", &[0]),
        (Family::RowsCut, "rows_cut", &[1, 2, 4, 8, 16]),
        (Family::RowsCutZero, "rows_cut_zero", &[1, 2, 4, 8, 16]),
        (Family::RowsAny, "rows_any", &[1, 2, 3, 4, 6, 8, 12]),
        (Family::RowsLong, "rows_long", &[1, 2, 4, 8]),
        (Family::RowsDenseFlip, "rows_dense_flip", &[1, 2, 3, 6]),
        (Family::RowsFlip, "rows_flip", &[4, 8, 12]),
        (Family::RowsDense, "rows_dense", &[1, 2, 3, 4, 6, 8, 12]),
        (Family::RowsStaged, "rows_staged", STAGED),
        (Family::RowsStagedSwap, "rows_staged_swap", STAGED),
        (Family::RowsShort, "rows_short", &[1, 2, 3, 4, 6, 8, 12]),
        (Family::RowsBrief, "rows_brief", &[1, 2, 4, 8]),
        (Family::RowsBriefMore, "rows_brief_more", &[1, 2]),
        (Family::RowsSwap, "rows_swap", &[1, 2, 4, 8, 16]),
        (Family::RowsTrade, "rows_trade", &[0]),
        (Family::Strided, "strided", &[1, 2, 4, 8]),
        (Family::StridedDeep, "strided_deep", &[1, 2, 4, 8, 16]),
        (Family::Swap, "swap", &[1, 2, 4, 8, 16]),
        (Family::SwapDeep, "swap_deep", &[1, 2, 4, 8, 16]),
        (Family::Gather, "gather", &[1, 2, 4, 8]),
        (Family::GatherPrefix, "gather_prefix", &[1, 2, 4, 8]),
        (Family::Tiles, "tiles", &[1, 2, 4, 8, 16]),
        (Family::Columns, "columns", &[1, 2, 4, 8, 16]),
        (Family::ColumnsZero, "columns_zero", &[1, 2, 4, 8, 16]),
        (Family::ColumnsBytes, "columns_bytes", &[1]),
        (Family::ColumnsTwo, "columns_two", &[2, 4, 8, 16]),
        (Family::ColumnsFour, "columns_four", &[2, 4, 8, 16]),
        (Family::ColumnsDirect, "columns_direct", &[1, 2, 4, 8]),
        (Family::ColumnsScratch, "columns_scratch", &[1, 2, 4, 8, 16]),
        (Family::ColumnsScratchWide, "columns_scratch_wide", &[1, 2, 4, 8, 16]),
        (Family::ColumnsCluster, "columns_cluster", &[1, 2, 4]),
        (Family::Packed, "packed", &[]),
        (Family::PackedFlip, "packed_flip", &[]),
        (Family::PackedMore, "packed_more", &[]),
        (Family::SegmentsRows, "segments_rows", &[1, 2, 4, 8]),
        (Family::SegmentsBlocks, "segments_blocks", &[1, 2, 4, 8, 16]),
        (Family::SegmentsSwap, "segments_swap", &[1, 2, 4, 8, 16]),
        (Family::SegmentsStrided, "segments_strided", &[1, 2, 4, 8, 16]),
        (Family::SegmentsStridedSwap, "segments_strided_swap", &[1, 2, 4, 8, 16]),
        (Family::CheckLengths, "check_lengths", &[]),
        (Family::CheckOffsets, "check_offsets", &[]),
    ];

    /// Its index in the list.
    fn at(self) -> usize {
        Self::ALL.iter().position(|&(family, ..)| family == self).unwrap_or_default()
    }

    /// Whether it uses barriers.
    #[cfg(feature = "simulate")]
    pub(crate) fn waits(self) -> bool {
        use Family::*;
        matches!(
            self,
            RowsStaged
                | RowsStagedSwap
                | RowsShort
                | RowsBrief
                | RowsBriefMore
                | Tiles
                | Columns
                | ColumnsZero
                | ColumnsBytes
                | ColumnsScratch
                | ColumnsScratchWide
                | SegmentsRows
                | SegmentsBlocks
                | SegmentsSwap
                | CheckLengths
                | CheckOffsets
        )
    }

    /// Whether its blocks form clusters, which not every image supports.
    pub(crate) fn clusters(self) -> bool {
        matches!(self, Family::ColumnsTwo | Family::ColumnsFour | Family::ColumnsCluster)
    }

    /// Whether its blocks need more shared memory than the default limit.
    pub(crate) fn stages(self) -> bool {
        use Family::*;
        matches!(self, Columns | ColumnsZero | ColumnsBytes | ColumnsScratchWide) || self.clusters()
    }
}
