"""The same jobs on a real cluster: a master and two workers, processes on loopback."""

from __future__ import annotations

import faulthandler
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

from pipeline.bench.duckdb_side import KINDS, connect
from tests.pipeline.quick import QUICK, QUICK_JAVA

START_S = 90.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(arguments: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One of Spark's own processes, ended by its id."""
    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_JAVA,
        "SPARK_NO_DAEMONIZE": "1",
    }
    with log.open("wb") as file:
        child = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
        )
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def wait_for(log: Path, pattern: str, times: int = 1) -> None:
    deadline_s = time.monotonic() + START_S
    while time.monotonic() < deadline_s:
        if len(re.findall(pattern, log.read_text(errors="replace"))) >= times:
            return
        time.sleep(0.2)
    pytest.fail(f"no {pattern!r} in: {log.read_text(errors='replace')[-2000:]}")


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The URL of a cluster with two workers."""
    # Six Java processes start: on a busy machine that takes longer than a test may otherwise.
    # Every wait below has its own end.
    faulthandler.cancel_dump_traceback_later()
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    common = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:
        log = tmp_path / "master.log"
        package = "org.apache.spark.deploy"
        start = [f"{package}.master.Master", *common, "--port", str(port)]
        stack.enter_context(process(start, log))
        wait_for(log, "Starting Spark master at")
        for number in range(2):
            folder = tmp_path / f"worker-{number}"
            folder.mkdir()
            own = ["--cores", "1", "--memory", "700m", "--work-dir", str(folder), url]
            start = [f"{package}.worker.Worker", *common, *own]
            stack.enter_context(process(start, tmp_path / f"worker-{number}.log"))
        wait_for(log, "Registering worker", times=2)
        yield url


def test_ingest_on_a_cluster_gives_what_duckdb_counts(
    master: str, landing: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    arguments = ["ingest", str(landing), "--store", str(store), "--master", master]
    settings = {
        **QUICK,
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.executor.defaultJavaOptions": QUICK_JAVA,
    }
    for name, value in settings.items():
        arguments += ["--conf", f"{name}={value}"]
    result = subprocess.run(
        [sys.executable, "-m", "pipeline", *arguments, "--memory", "700m", "--horizon", "36500"],
        cwd=tmp_path,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    (told,) = [json.loads(line) for line in result.stdout.splitlines()]
    expected = dict(connect(str(landing)).execute(KINDS).fetchall())
    assert told["rows"] == sum(expected.values())
    assert (told["set_aside"], told["refused_files"]) == (0, 0)
    (manifest,) = (store / "manifests").glob("*.json")
    assert json.loads(manifest.read_text())["rows"] == expected
    assert len(re.findall("Asked to launch executor", _logs(tmp_path))) >= 2, "both had a part"


def _logs(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.glob("worker-*.log"))
