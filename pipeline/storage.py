"""Files by Hadoop's own interface: the same calls for a local folder, HDFS or an object store."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from pipeline.errors import PipelineProblem


class Storage:
    """The files of one folder. Paths are relative to it; every refusal is one sentence."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self.root = root.rstrip("/") or "/"
        gateway: Any = spark.sparkContext._jvm
        java: Any = spark.sparkContext._jsc
        self._hadoop = gateway.org.apache.hadoop.fs
        configuration = java.hadoopConfiguration()
        try:
            self._context = self._hadoop.FileContext.getFileContext(
                self._path("").toUri(), configuration
            )
            self._files = self._path("").getFileSystem(configuration)
        except Py4JJavaError as problem:
            raise self._refused("reached", "", problem) from None

    def at(self, relative: str) -> str:
        """The whole path, as Spark takes it."""
        return f"{self.root}/{relative}" if relative else self.root

    @property
    def place(self) -> str:
        """The whole path of the folder, spelled the same whichever way it was named."""
        return str(self._files.makeQualified(self._path("")).toString())

    def exists(self, relative: str) -> bool:
        try:
            return bool(self._files.exists(self._path(relative)))
        except Py4JJavaError as problem:
            raise self._refused("read", relative, problem) from None

    def folders(self, relative: str) -> list[str]:
        """The names of the folders in a folder; none where it does not exist."""
        if not self.exists(relative):
            return []
        try:
            statuses = self._files.listStatus(self._path(relative))
            return sorted(each.getPath().getName() for each in statuses if each.isDirectory())
        except Py4JJavaError as problem:
            raise self._refused("listed", relative, problem) from None

    def read_text(self, relative: str) -> str:
        try:
            stream = self._files.open(self._path(relative))
            try:
                return bytes(stream.readAllBytes()).decode("utf-8", "replace")
            finally:
                stream.close()
        except Py4JJavaError as problem:
            raise self._refused("read", relative, problem) from None

    def write_text(self, relative: str, text: str) -> None:
        """Replaces the file as a whole: whoever reads sees the old one or the new one."""
        hidden = self._path(f"{relative}.part")
        try:
            self._fill(self._files.create(hidden, True), text)
            overwrite = self._rename_options()
            self._context.rename(hidden, self._path(relative), overwrite)
        except Py4JJavaError as problem:
            raise self._refused("written", relative, problem) from None

    def create_text(self, relative: str, text: str) -> bool:
        """Makes the file, unless somebody has it already."""
        try:
            stream = self._files.create(self._path(relative), False)
        except Py4JJavaError as problem:
            if "AlreadyExists" in str(problem.java_exception.toString()):
                return False
            raise self._refused("written", relative, problem) from None
        self._fill(stream, text)
        return True

    def delete(self, relative: str) -> None:
        """Removes a file or a whole folder, if it is there."""
        try:
            self._files.delete(self._path(relative), True)
        except Py4JJavaError as problem:
            raise self._refused("removed", relative, problem) from None

    def move(self, relative: str, to: str) -> None:
        """Gives a folder another name, which nothing may have yet."""
        try:
            self._context.rename(self._path(relative), self._path(to), self._rename_options())
        except Py4JJavaError as problem:
            raise self._refused("moved", relative, problem) from None

    def make_folder(self, relative: str = "") -> None:
        try:
            if not self._files.mkdirs(self._path(relative)):
                raise PipelineProblem(f"{self.at(relative)} cannot be made: a file is in the way.")
        except Py4JJavaError as problem:
            raise self._refused("made", relative, problem) from None

    def _path(self, relative: str) -> Any:
        return self._hadoop.Path(self.at(relative))

    @staticmethod
    def _fill(stream: Any, text: str) -> None:
        stream.write(bytearray(text.encode()))
        stream.close()

    def _rename_options(self) -> Any:
        return _java_array(self._hadoop.Options.Rename.OVERWRITE)

    def _refused(self, what: str, relative: str, problem: Py4JJavaError) -> PipelineProblem:
        told = str(problem.java_exception.toString()).splitlines()[0]
        return PipelineProblem(f"{self.at(relative)} cannot be {what}: {told}.")


def _java_array(option: Any) -> Any:
    from pyspark import SparkContext  # noqa: PLC0415 - the gateway exists only once Spark runs

    gateway = SparkContext._gateway
    assert gateway is not None
    kinds = gateway.jvm.org.apache.hadoop.fs.Options.Rename
    array = gateway.new_array(kinds, 1)
    array[0] = option
    return array
