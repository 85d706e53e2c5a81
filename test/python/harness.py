"""harness.py - what a Python test needs: a private server, checks, and TAP.

Each test is a function of a module given to run(), in a process of its own, under a deadline. $GSHARE_TEST_*
as for test/harness; the wrapper in build/test/python sets the rest.
"""
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

import gshare

BUILD = os.environ["GSHARE_TEST_BUILD"]
SOURCE = os.environ["GSHARE_SOURCE_DIR"]
SCALE = int(os.environ.get("GSHARE_TEST_TIME_SCALE", "1"))
KERNELS = os.path.join(SOURCE, "test/harness/kernels.ptx")
READY_SECONDS, STOP_SECONDS, TEST_SECONDS = 15 * SCALE, 10 * SCALE, 60 * SCALE
SKIP, PR_SET_PDEATHSIG = 77, 1


class Skip(Exception):
    """Ends the test as skipped, for the reason given."""


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def server(*arguments):
    """A server of its own, which $GSHARE_INSTANCE names; stopped at the end, which must be in order."""
    instance = os.environ["GSHARE_INSTANCE"] = f"test-py-{os.getpid()}"
    command = [os.path.join(BUILD, "bin/gshared"), "-f", "--instance", instance, "--config", "none"]
    command += ["--device", os.environ.get("GSHARE_TEST_DEVICE", "soft"), *arguments]
    if "GSHARE_TEST_FENCE" in os.environ:
        command += ["--fence", os.environ["GSHARE_TEST_FENCE"]]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, tempfile.TemporaryFile() as log:
        notify.bind("")  # a name that the kernel chooses
        notify.settimeout(READY_SECONDS)
        environment = dict(os.environ, NOTIFY_SOCKET="@" + notify.getsockname()[1:].decode())
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, preexec_fn=_die_with_parent, start_new_session=True
        )
        try:
            while b"READY=1" not in notify.recv(512):
                pass
            yield
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace"))
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait(STOP_SECONDS)
        equal(status, 0)


@contextlib.contextmanager
def scene(**parameters):
    """A server, a session, and the kernels of test/harness."""
    with server(), gshare.Session(**parameters) as session, session.module_from_file(KERNELS) as module:
        yield session, module


def gsctl(*arguments):
    """What gsctl prints of the server."""
    command = [os.path.join(BUILD, "bin/gsctl"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


def script(text, *arguments):
    """Runs a Python program; returns how it ended."""
    command = [sys.executable, "-c", text, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=TEST_SECONDS / 2)


def within(seconds, condition):
    """Polls until the condition holds."""
    deadline = time.monotonic() + seconds * SCALE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(0.001)


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"{got!r} instead of {wanted!r}")


@contextlib.contextmanager
def raises(kind, part=""):
    """The body must raise this exception, or Error with this Status, and a text with the part."""
    try:
        yield
    except Exception as error:
        if isinstance(kind, gshare.Status):
            if not isinstance(error, gshare.Error) or error.status is not kind:
                raise
        elif not isinstance(error, kind):
            raise
        if part not in str(error):
            raise AssertionError(f"{str(error)!r} has no {part!r}") from error
    else:
        raise AssertionError(f"nothing raised instead of {kind!r}")


def _run_here(test):
    try:
        test()
    except Skip as reason:
        print(reason)
        sys.exit(SKIP)
    except Exception:
        traceback.print_exc()
        sys.exit(1)


def run(tests):
    """Runs the tests of a module's globals; with names as arguments, those. Ends the process."""
    tests = {name: test for name, test in tests.items() if getattr(test, "__module__", "") == "__main__"}
    tests = {name: test for name, test in tests.items() if callable(test) and test.__doc__ is None and name[0] != "_"}
    if len(sys.argv) > 1 and sys.argv[1] == "--one":
        _run_here(tests[sys.argv[2]])
        sys.exit(0)
    names = [name for name in tests if not sys.argv[1:] or any(part in name for part in sys.argv[1:])]
    failed = 0
    print(f"1..{len(names)}")
    for number, name in enumerate(names, 1):
        one = [sys.executable, sys.argv[0], "--one", name]
        try:
            done = subprocess.run(
                one, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TEST_SECONDS
            )
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            status, output = f"not done after {TEST_SECONDS} s", (late.stdout or b"").decode(errors="replace")
        if status == SKIP:
            print(f"ok {number} {name} # SKIP {output.strip()}")
        elif status == 0:
            print(f"ok {number} {name}")
        else:
            failed += 1
            print(f"not ok {number} {name}\n# status {status}\n{output}")
        sys.stdout.flush()
    sys.exit(failed != 0)
