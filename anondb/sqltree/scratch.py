"""The names of a run's own tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # which know their tables by these names
    from anondb.sqltree.tables import Coded, Quasi, Sensitive


@dataclass(frozen=True)
class Scratch:
    """The temporary tables of one run."""

    run: int
    part: str = ""  # of a run that has several of each: one for each table, and each column

    @property
    def keys(self) -> str:
        """The keys of the run's hashes, in one row: one for all parts."""
        return f"r{self.run}_key"

    @property
    def measures(self) -> str:
        """Of columns that get noise, how far their values lie apart, and how many digits they have; one row."""
        return f"r{self.run}_measure"

    @property
    def raw(self) -> str:
        """Distinct combinations v1 … of the source's own values, with their counts n.

        Also c1 …, the columns that are counted with them, and u, the person, where persons are counted.
        """
        return f"r{self.run}{self.part}_raw"

    @property
    def aside(self) -> str:
        """Rows of the same that are left out because of a NULL."""
        return f"r{self.run}{self.part}_aside"

    @property
    def freq(self) -> str:
        """The frequency set: the same in codes, of each quasi-identifier at every level below its root."""
        return f"r{self.run}{self.part}_freq"

    @property
    def packed(self) -> str:
        """The frequency set with the codes side by side in whole numbers w1 …"""
        return f"r{self.run}{self.part}_packed"

    @property
    def records(self) -> str:
        """Records of their own, `rid` in the order of their values: kept columns c1 …, and texts or their key."""
        return f"r{self.run}{self.part}_rec"

    def leaves(self, coded: Coded) -> str:
        """Rows of a hierarchy file: a leaf and its labels at every level."""
        return f"r{self.run}{self.part}_h{coded.code}"

    def spellings(self, coded: Coded) -> str:
        """Each text of a column, and the one that stands for all that are the same value."""
        return f"r{self.run}{self.part}_t{coded.code}"

    def dictionary(self, coded: Coded) -> str:
        """Each value that occurs: its leaf code, and code and label at every level."""
        return f"r{self.run}{self.part}_{coded.code}"

    def values(self, quasi: Quasi) -> str:
        """Of a column that is coded coarsely: how many `values` of each `raw` occur `n` times, and the ends."""
        return f"r{self.run}{self.part}_v{quasi.code}"

    def finest(self, quasi: Quasi) -> str:
        """The same at level 1."""
        return f"r{self.run}{self.part}_w{quasi.code}"

    @property
    def profile(self) -> str:
        """Of the originals, how many `classes` of each `size` there are, and how many without a column `dropped`."""
        return f"r{self.run}_profile"

    def totals(self, sensitive: Sensitive) -> str:
        """How often each value of a sensitive column occurs."""
        return f"r{self.run}{self.part}_{sensitive.code}_total"

    def ancestors(self, sensitive: Sensitive) -> str:
        """The nodes above each value of a sensitive column."""
        return f"r{self.run}{self.part}_{sensitive.code}_above"

    def paths_of(self, sensitive: Sensitive) -> str:
        """The values of a sensitive column, by code, with their labels up to the root."""
        return f"r{self.run}{self.part}_{sensitive.code}_path"

    @property
    def units(self) -> str:
        """The persons who occur in several combinations, by number."""
        return f"r{self.run}{self.part}_unit"

    @property
    def persons(self) -> str:
        """The persons u of the release, with the labels g1 … of their classes."""
        return f"r{self.run}{self.part}_person"

    @property
    def costs(self) -> str:
        """What releasing a leaf of a quasi-identifier at a level costs."""
        return f"r{self.run}{self.part}_cost"

    def rollup(self, number: int) -> str:
        """A frequency set at higher levels, kept because many nodes can be told from it."""
        return f"r{self.run}{self.part}_roll{number}"

    @property
    def node(self) -> str:
        """The classes of a node that is looked at in several steps."""
        return f"r{self.run}{self.part}_node"

    @property
    def small(self) -> str:
        """The frequency set of classes that do not satisfy the policy, and which cells are suppressed instead."""
        return f"r{self.run}_small"

    @property
    def classes(self) -> str:
        """The classes of the outcome that are released: codes l1 …, labels g1 …, the number `class`."""
        return f"r{self.run}{self.part}_class"

    @property
    def means(self) -> str:
        """Of each `class`, the means m1 … of columns that are released so."""
        return f"r{self.run}_mean"

    @property
    def combinations(self) -> str:
        """Each combination v1 … of the source's own values that is released: labels g1 …, `class`."""
        return f"r{self.run}{self.part}_combination"

    @property
    def link(self) -> str:
        """Each pair of original and released combinations in codes, o1 … r1 …, `released` or not, and how many n."""
        return f"r{self.run}{self.part}_link"

    @property
    def labels(self) -> str:
        """Of each partition, the labels g1 … with codes r1 …"""
        return f"r{self.run}{self.part}_label"

    @property
    def unseen(self) -> str:
        """Values, and codes, of column `i` that only records with a NULL have."""
        return f"r{self.run}{self.part}_unseen"

    @property
    def pairs(self) -> str:
        """Of column `i`, each pair of an original value and what became of it: texts o, r, their codes, and n."""
        return f"r{self.run}{self.part}_pair"

    @property
    def covered(self) -> str:
        """Of column `i`, how many `values` have the same label and counts, where labels say what they cover."""
        return f"r{self.run}_covered"

    @property
    def every_pair(self) -> str:
        """The pairs of all columns, where those that are covered have been left out at first."""
        return f"r{self.run}_every_pair"

    @property
    def sampled(self) -> str:
        """The same for a sample of the released combinations."""
        return f"r{self.run}{self.part}_sampled"

    @property
    def released(self) -> str:
        """Each released combination of labels by its codes r1 …, and how many records n."""
        return f"r{self.run}{self.part}_released"

    @property
    def linked(self) -> str:
        """Each pair of original and released combinations o1 … r1 …, whether it is released, and how many n."""
        return f"r{self.run}{self.part}_linked"

    @property
    def ladder(self) -> str:
        """The label of each leaf at each level, of hierarchies that are not stored."""
        return f"r{self.run}{self.part}_ladder"

    @property
    def written(self) -> str:
        """How many rows of the release there are of each class g1 … and sensitive values s1 …"""
        return f"r{self.run}_written"

    @property
    def audit(self) -> str:
        """The classes of the release with the codes of a sensitive column, counted from its rows."""
        return f"r{self.run}{self.part}_audit"

    @property
    def places(self) -> str:
        """Of every column `d` and code `leaf`: the number `value` that it stands for, and the column's `span`."""
        return f"r{self.run}{self.part}_place"

    @property
    def tree(self) -> str:
        """Of every column `d` and code `leaf`: the nodes above it l0 …, what each costs k0 …, or its place `x`."""
        return f"r{self.run}_tree"

    @property
    def items(self) -> str:
        """Of an open partition and a column `d`: what a cut may part, in order, and what a cut behind it saves."""
        return f"r{self.run}_item"

    def cells(self, turn: int) -> str:
        """The frequency set of the open partitions: q1 …, s1 …, n, and the partition's number `part`.

        Two tables take turns: what one round makes of the one is the other, where the next round starts.
        """
        return f"r{self.run}{self.part}_cell{turn}"

    @property
    def ranks(self) -> str:
        """The columns `d` that an open partition can try, by `rank`."""
        return f"r{self.run}{self.part}_rank"

    @property
    def cuts(self) -> str:
        """The cuts of a round: column `d` at code `at`, and how many records go left."""
        return f"r{self.run}{self.part}_cut"

    @property
    def partitioned(self) -> str:
        """The cells of all partitions that are classes now."""
        return f"r{self.run}{self.part}_partitioned"
