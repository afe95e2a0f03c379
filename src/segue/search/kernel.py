"""Neighbours: what stands just before and after a memory in its thread tells what the memory is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

REACH = 4  # neighbours on each side


@dataclass(frozen=True, slots=True)
class Links:
    """For each shift s up to REACH, how many positions lie from row i to row i + s; 0 where they are no neighbours."""

    gaps: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, threads: NDArray[np.int64], positions: NDArray[np.int64]) -> Links:
        """Return the links of rows sorted by thread and position. A negative thread is none: such rows stand alone."""
        gaps = []
        for shift in range(1, min(REACH, max(len(threads) - 1, 0)) + 1):
            gap = positions[shift:] - positions[:-shift]
            near = (threads[shift:] == threads[:-shift]) & (threads[shift:] >= 0) & (gap >= 1) & (gap <= REACH)
            gaps.append(np.where(near, gap, 0))
        return cls(tuple(gaps))

    def mix(self, values: NDArray[np.float32], before: float, after: float) -> NDArray[np.float32]:
        """Return `values`, to each row added before^k of the k-th row before it and after^k of the k-th after it."""
        mixed = values.copy()
        earlier, later = _powers(before), _powers(after)
        room = np.empty_like(values)
        for shift, gap in enumerate(self.gaps, 1):
            if gap.any():
                part = room[:-shift]
                mixed[shift:] += np.multiply(earlier[gap][:, None], values[:-shift], out=part)
                mixed[:-shift] += np.multiply(later[gap][:, None], values[shift:], out=part)
        return mixed


def _powers(base: float) -> NDArray[np.float32]:
    """What a neighbour counts at each distance; nothing at 0, which is no neighbour."""
    powers = np.float64(np.float32(base)) ** np.arange(REACH + 1)
    powers[0] = 0
    return powers.astype(np.float32)
