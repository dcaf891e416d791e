"""anondb experiment: published studies, rerun in the database on your own data or on synthetic sets."""

from __future__ import annotations

import typer

from anondb.cli.experiments.gsl import gsl
from anondb.cli.experiments.le_diversity import le_diversity
from anondb.cli.experiments.mdav import mdav

app = typer.Typer(
    no_args_is_help=True, help="Rerun published studies on your own data, or on synthetic sets."
)


@app.callback()
def experiment() -> None:
    """Rerun published studies on your own data, or on synthetic sets."""


# a study is a module beside these
app.command()(gsl)
app.command()(mdav)
app.command("le-diversity")(le_diversity)
