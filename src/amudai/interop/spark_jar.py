"""The optional Java part of the data source of Spark, compiled on the user's machine against the user's Spark."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Final

from amudai.errors import UnsupportedFeature
from amudai.interop.packages import required

__all__ = ["build_spark_jar"]

_RELEASE: Final = "17"  # the oldest Java that Spark 4 runs on


def build_spark_jar(to: str | os.PathLike[str]) -> str:
    """Compile the Java part of the data source, and return the path of the jar. Needs `pyspark` and `javac`.

    Spark does not tell Python sources which columns a query needs. The class in this jar does: with it,
    `df.select("message")` reads one column. Give the jar to the session, and name the class as the format:

    ```python
    jar = amudai.spark.build_jar("amudai-spark.jar")
    spark = SparkSession.builder.config("spark.jars", jar).getOrCreate()
    amudai.spark.register(spark)
    spark.read.format("amudai.spark.AmudaiSource").load("lake/").select("message")
    ```

    The class uses internal classes of Spark, so the jar belongs to the version of Spark that it was compiled for.
    """
    pyspark = required("pyspark", "spark")
    home = os.environ.get("JAVA_HOME")
    compiler = os.path.join(home, "bin", "javac") if home else shutil.which("javac")
    if compiler is None or not os.path.exists(compiler):
        raise UnsupportedFeature("build_jar: expected javac of a Java development kit in PATH or JAVA_HOME, found none")
    jars = Path(pyspark.__file__).parent / "jars"
    source = files("amudai.interop") / "java" / "AmudaiSource.java"
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder, "AmudaiSource.java")
        copied.write_text(source.read_text())
        command = [compiler, "--release", _RELEASE, "-cp", f"{jars}/*", "-d", f"{folder}/classes", str(copied)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            message = f"build_jar: expected the classes of Spark 4.3, found others in {jars}"
            raise UnsupportedFeature(f"{message}: {run.stderr.strip()}")
        with zipfile.ZipFile(to, "w") as jar:
            for found in sorted(Path(folder, "classes").rglob("*.class")):
                jar.write(found, found.relative_to(Path(folder, "classes")))
    return os.path.abspath(os.fsdecode(to))
