"""test_install.py - pip builds and installs the package, without the network."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

from harness import SOURCE, Skip, equal, run


def pip_installs_the_package():
    for needed in ("pip", "setuptools", "wheel"):
        if importlib.util.find_spec(needed) is None:
            raise Skip(f"{needed} is not installed for {sys.executable}")
    with tempfile.TemporaryDirectory() as folder:
        # The build leaves files beside its sources.
        source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
        shutil.copytree(os.path.join(SOURCE, "lib/python"), source)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
        pip += ["--disable-pip-version-check", "--root-user-action=ignore", "--target", target, source]
        subprocess.run(pip, check=True, timeout=50)
        code = "import gshare, importlib.metadata as m; print(gshare.__file__, m.version('gshare'), gshare.version())"
        environment = dict(os.environ, PYTHONPATH=target)
        told = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        equal(told.stdout.split(), [os.path.join(target, "gshare/__init__.py"), "0.1.0", "100"])


if __name__ == "__main__":
    run(globals())
