//! Feature levels: which ranks and data types each one allows.

use crate::role::Role;
use retrograde::DType;
use std::fmt;
use std::ops::RangeInclusive;

/// A DirectML feature level at which the operator's rules changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FeatureLevel {
    /// `DML_FEATURE_LEVEL_2_1`, which introduced the operator.
    L2_1,
    /// `DML_FEATURE_LEVEL_3_0`.
    L3_0,
    /// `DML_FEATURE_LEVEL_4_0`.
    L4_0,
    /// `DML_FEATURE_LEVEL_5_0`; nothing changed for this operator after it.
    L5_0,
}

impl FeatureLevel {
    /// The rules at a `DML_FEATURE_LEVEL` value such as `0x5200`; `None` below 2.1, where the
    /// operator does not exist.
    ///
    /// ```
    /// use retrograde_directml::FeatureLevel;
    ///
    /// assert_eq!(FeatureLevel::from_value(0x6400), Some(FeatureLevel::L5_0));
    /// assert_eq!(FeatureLevel::from_value(0x2000), None);
    /// ```
    pub fn from_value(value: u32) -> Option<Self> {
        let levels = [Self::L5_0, Self::L4_0, Self::L3_0, Self::L2_1];
        levels.into_iter().find(|level| value >= level.value())
    }

    /// The `DML_FEATURE_LEVEL` value.
    pub fn value(self) -> u32 {
        match self {
            FeatureLevel::L2_1 => 0x2100,
            FeatureLevel::L3_0 => 0x3000,
            FeatureLevel::L4_0 => 0x4000,
            FeatureLevel::L5_0 => 0x5000,
        }
    }

    /// The dimension counts that all three tensors may have.
    pub fn dimension_counts(self) -> RangeInclusive<usize> {
        match self {
            FeatureLevel::L2_1 => 4..=4,
            FeatureLevel::L3_0 => 4..=5,
            FeatureLevel::L4_0 | FeatureLevel::L5_0 => 1..=8,
        }
    }

    /// The data types that a tensor may have.
    pub fn data_types(self, tensor: Role) -> &'static [DType] {
        use DType::*;
        match (tensor, self >= FeatureLevel::L5_0) {
            (Role::SequenceLengths, false) => &[U32],
            (Role::SequenceLengths, true) => &[U64, U32],
            (_, false) => &[F32, F16, I32, I16, I8, U32, U16, U8],
            (_, true) => &[F64, F32, F16, I64, I32, I16, I8, U64, U32, U16, U8],
        }
    }
}

impl fmt::Display for FeatureLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.value() >> 12, self.value() >> 8 & 0xF)
    }
}
