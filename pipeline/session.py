"""Owns how Spark is started: the same jobs inside this process's own Java, or on a given cluster.

Everything is checked before Java starts, since Spark's own messages about a missing Java or a
wrong master are pages long.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pipeline.errors import PipelineProblem

JAVA_MIN = 17
_LOCAL = re.compile(r"local(\[(\*|[1-9]\d{0,2})\])?")
_CONNECT_S = 5.0
# What Spark makes of a query with many columns is longer than Java compiles by itself: sorting rows
# out took four times as long.
_LONG_CODE = "-XX:-DontCompileHugeMethods"


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Where jobs run and with how much. `settings` are Spark's own, by name."""

    master: str = "local[*]"
    memory: str = "2g"
    shuffle_partitions: int = 0
    progress: bool = False
    ui: bool = False
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def local(self) -> bool:
        return self.master.startswith("local")


def check_master(master: str) -> None:
    """Refuses what is no master, and a standalone one that does not answer."""
    if _LOCAL.fullmatch(master) or master == "yarn":
        return
    parts = urlsplit(master)
    if master.startswith("k8s://") and len(master) > len("k8s://"):
        return
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.scheme != "spark" or not host or not port:
        raise PipelineProblem(
            f"{master!r} is not a Spark master: write local[*], spark://HOST:PORT, yarn, or"
            " k8s://https://HOST:PORT."
        )
    try:
        socket.create_connection((host, port), timeout=_CONNECT_S).close()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise PipelineProblem(f"The Spark master {master} does not answer: {reason}.") from None


def check_java() -> None:
    """Refuses when there is no Java, or one that is too old."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    advice = "install Java 17 (Debian: openjdk-17-jre-headless), or set JAVA_HOME"
    try:
        if java is None:
            raise FileNotFoundError
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        raise PipelineProblem(f"Spark needs Java, which was not found: {advice}.") from None
    match = re.search(r'version "(\d+)', told)
    if match is None or int(match[1]) < JAVA_MIN:
        raise PipelineProblem(f"Spark needs Java {JAVA_MIN} or later: {advice}.")


@contextmanager
def spark_session(options: SparkOptions) -> Iterator[SparkSession]:
    """A session for one run; stopped, with what it left on disk, when the run is over."""
    check_master(options.master)
    check_java()
    # Spark's Python side logs every refused query, which is raised here anyway.
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Workers would otherwise take the python3 on the PATH; on a cluster ours may be missing.
    if options.local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory(prefix="live-objects-spark-") as scratch:
        spark = _build(options, Path(scratch))
        if threading.current_thread() is threading.main_thread():
            # Spark's own handler talks to Java in the middle of whatever is talking to it.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            if not options.local:
                spark.sparkContext.addPyFile(str(_shipped_code(Path(scratch))))
            yield spark
        except (PySparkException, Py4JError) as problem:
            if isinstance(problem.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise PipelineProblem(f"Spark has given up: {first_line(problem)}") from problem
        finally:
            _stop(spark)


def first_line(problem: Exception) -> str:
    """What Spark says is wrong, without the pages of Java behind it."""
    return next(iter(str(problem).strip().splitlines()), "no reason given")


def _stop(spark: SparkSession) -> None:
    with suppress(Py4JError, OSError):  # There is nothing to stop where Java has died.
        spark.stop()


def _build(options: SparkOptions, scratch: Path) -> SparkSession:
    cores = os.cpu_count() or 2
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(options.shuffle_partitions or max(4, 2 * cores)),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.pythonUDF.arrow.enabled": "true",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        # Kinds of records are few: a file open for each is cheaper than sorting all rows by kind.
        "spark.sql.maxConcurrentOutputFileWriters": "64",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.local.dir": str(scratch / "local"),
        "spark.driver.memory": options.memory,
        "spark.ui.enabled": str(options.ui).lower(),
        # Everybody on this computer may look at the page, and nobody end the run from there.
        "spark.ui.killEnabled": "false",
        "spark.ui.showConsoleProgress": str(options.progress).lower(),
        "spark.driver.extraJavaOptions": (
            f"{_LONG_CODE} -Dlog4j2.configurationFile={_quiet(scratch)}"
        ),
        "spark.executor.extraJavaOptions": _LONG_CODE,
    }
    if options.local:
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.Builder().appName("live-objects pipeline").master(options.master)
    for name, value in {**settings, **options.settings}.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as problem:
        # py4j and pyspark raise several kinds; all mean that there is no session.
        raise PipelineProblem(f"Spark does not start: {first_line(problem)}") from problem


# What these log is raised, too, or is about a run that was ended on purpose.
_RAISED = (
    "org.apache.spark.sql",
    "org.apache.spark.executor",
    "org.apache.spark.util.Utils",
    "org.apache.spark.scheduler.TaskSetManager",
)


def _quiet(scratch: Path) -> Path:
    """Settings for Spark's log: its errors only, since its warnings are about itself, and a line
    of each, since all that matters is raised as well."""
    path = scratch / "log4j2.properties"
    path.write_text(
        "rootLogger.level = error\nrootLogger.appenderRef.stderr.ref = stderr\n"
        # Where this one has no level of its own, Spark sets that of all to another, and says so.
        "logger.python.name = org.apache.spark.api.python.PythonGatewayServer\n"
        "logger.python.level = error\n"
        + "".join(
            f"logger.raised{number}.name = {name}\nlogger.raised{number}.level = off\n"
            for number, name in enumerate(_RAISED)
        )
        + "appender.stderr.type = Console\nappender.stderr.name = stderr\n"
        "appender.stderr.target = SYSTEM_ERR\nappender.stderr.layout.type = PatternLayout\n"
        "appender.stderr.layout.pattern = spark: %p %c{1}: %m%n%ex{1}\n",
        encoding="utf-8",
    )
    return path


def _shipped_code(scratch: Path) -> Path:
    """What workers on other machines need of ours: this package, and the schema it shares."""
    package = Path(__file__).resolve().parent
    shared = package.parent / "transport"
    archive = scratch / "live_objects_pipeline.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(package.rglob("*.py")):
            file.write(path, Path("pipeline") / path.relative_to(package))
        for name in ("__init__.py", "event_log_schema.py"):
            file.write(shared / name, Path("transport") / name)
    return archive
