"""What a release is worth to somebody who looks for groups: do its clusters hold the records that the originals' do?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from anondb.errors import UsageError
from anondb.run.statement import Runner, Statement, no_rows

METRICS = ("rand", "wallace_1", "wallace_2", "nmi", "partition_distance")
SAMPLE = 1_000
LARGEST_SAMPLE = 5_000  # every two records have a distance: 200 MB

# Codes and distances, never values: the only figures of single records that leave the database here.
_DISTANCES = """
select d.column_number, d.of_release, d.codes, d.distances, d.sampled, d.records
from anondb.linked_distances(
    linked => $1::text, quasi => $2::name[], vghs => $3::text[], measure => $4::text,
    ladder => $5::text::regclass, sample => $6::int, seed => $7::bigint, meanings => $8::text::regclass) as d
"""

Row = tuple[str, str | None, float | None, str | None]  # name, column, value, note: as anondb.linked_utility


def cluster_agreement(
    db: Runner,
    linked: str,
    quasi: Sequence[str],
    vghs: Sequence[str | None] | None = None,
    measure: str = "wup",
    ladder: str | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    meanings: str | None = None,
    wanted: int | None = None,
) -> list[Row]:
    """Clusters originals and released records, and compares the two: the figures of MEASURES.

    Both are cut into `wanted` clusters, or into as many as suit the originals best: two clusterings of 4 and of 31
    clusters would differ by these numbers alone.

    `linked` is a query as anondb.linked_query gives it, `ladder` the name of a relation of hierarchies that are
    not stored, `meanings` that of the concepts of columns without any. More records than `sample` are sampled by
    `seed`.
    """
    if not 2 <= sample <= LARGEST_SAMPLE:
        raise UsageError(
            f"a sample of {sample} records cannot be clustered", hint=f"take 2 to {LARGEST_SAMPLE} records"
        )
    names = None if vghs is None else list(vghs)
    arguments = (linked, list(quasi), names, measure, ladder, sample, seed, meanings)
    rows = db.rows(
        Statement(
            "cluster distances",
            _DISTANCES,
            arguments,
            answers=no_rows("column_number", "of_release", "codes", "distances", "sampled", "records"),
        )
    )
    if not rows:
        return [(name, None, None, "there are no records") for name in METRICS]

    from anondb.evaluation import clustering  # numpy and scipy take a second to load

    *_, counts, records = rows[0]
    sides = (
        [clustering.Column(codes, apart) for _, of_release, codes, apart, *_ in rows if of_release is side]
        for side in (False, True)
    )
    of_originals, of_release = map(clustering.tuple_distances, sides)
    originals = clustering.cluster(of_originals, counts, wanted)
    released = clustering.cluster(of_release, counts, max(originals) + 1)
    agreement = asdict(clustering.compare(originals, released, counts))
    note = f"{_clusters(originals)} of the originals, {_clusters(released)} of the release"
    if sum(counts) < records:
        note += f", in a sample of {sum(counts)} of {records} records"
    return [(name, None, agreement[name], note) for name in METRICS]


def _clusters(labels: Sequence[int]) -> str:
    number = max(labels) + 1
    return "1 cluster" if number == 1 else f"{number} clusters"
