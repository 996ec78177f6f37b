"""The parts that the scripts beside this file share: the stand-in app, its folders, and what must be true of them."""

import atexit
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

TORTURE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(TORTURE))
APP = os.environ.get("STAND_IN_APP") or os.path.join(ROOT, ".build", "release", "StandInApp")
NAME = "Library"
WORKERS = max(2, os.cpu_count() or 2)
TIMEOUT = 60

# Deaths and faults are those of processes, not of the machine: memory does as well as a disk, and faster.
MEMORY = "/dev/shm"
has_memory = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 48 << 20
scratch = os.path.realpath(tempfile.mkdtemp(prefix="app-migrations-", dir=MEMORY if has_memory else None))


@atexit.register
def clean():
    subprocess.run(["chmod", "-R", "u+rwx", scratch], stderr=subprocess.DEVNULL)
    shutil.rmtree(scratch, ignore_errors=True)


# False where the scripts' folders are on a file system without links.
has_links = True


def every():
    """Of which number each call is tried: `--every 4` tries each fourth."""
    return int(option(sys.argv, "--every") or 1)


def chosen(scenarios):
    """Those whose labels are among the arguments; all of them where there are none."""
    names = set(sys.argv[1:]) - {"--every", option(sys.argv, "--every")}
    tried = set()
    for scenario in scenarios:
        if not names or scenario.label in names:
            tried.add(scenario.label)
            yield scenario
    if names - tried:
        sys.exit(f"{sys.argv[0]}: there is no scenario {' '.join(sorted(names - tried))}")


class Lost(Exception):
    """A promise that was not kept."""


class Folder:
    """One app's folders: `state`, `data`, and the trace of its closures."""

    def __init__(self, path):
        self.path = path
        self.state = os.path.join(path, "state")
        self.data = os.path.join(path, "data")
        self.trace = os.path.join(path, "trace")
        self.state_file = os.path.join(self.state, NAME + ".migrations.json")

    def copy(self, label):
        target = tempfile.mkdtemp(prefix=label + "-", dir=scratch)
        # Not `-a`: not every file system keeps the owners, or the times of links.
        subprocess.run(["cp", "-dR", "--preserve=mode", self.path + "/.", target], check=True)
        return Folder(target)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def command(self, arguments):
        command = [APP, "--state", self.state, "--name", NAME, "--trace", self.trace]
        if os.path.isdir(self.data):
            command += ["--data", self.data]
        return command + list(arguments)

    def start(self, arguments, strace=(), timeout=TIMEOUT, **more):
        return subprocess.run(
            list(strace) + self.command(arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=timeout,
            **more,
        )

    def rows(self):
        if not os.path.exists(self.trace):
            return []
        with open(self.trace) as file:
            return [(version, int(attempt)) for version, attempt in map(str.split, file)]

    def document(self):
        with open(self.state_file) as file:
            return json.load(file)

    def tree(self):
        """The data as the user would see it: names, modes and content."""
        found = {}
        for parent, folders, files in os.walk(self.data):
            for name in folders + files:
                path = os.path.join(parent, name)
                status = os.lstat(path)
                content = None
                if os.path.islink(path):
                    content = os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, "rb") as file:
                        content = file.read()
                found[os.path.relpath(path, self.data)] = (oct(status.st_mode), content)
        return found


def new_folder(with_data=False, versions=(), directory=None):
    folder = Folder(tempfile.mkdtemp(prefix="template-", dir=directory or scratch))
    if with_data:
        os.makedirs(os.path.join(folder.data, "folder", "inner"))
        for name in ["file", "folder/inner/log", "untouched"]:
            with open(os.path.join(folder.data, name), "w") as file:
                file.write("original\n")
        for version in versions:
            with open(os.path.join(folder.data, "folder", "old-" + version), "w") as file:
                file.write(version + "\n")
        os.chmod(os.path.join(folder.data, "file"), 0o640)
        os.chmod(os.path.join(folder.data, "folder", "inner"), 0o750)
        if has_links:
            os.symlink("missing", os.path.join(folder.data, "folder", "link"))
    return folder


def add_crowd(folder):
    """More files than are synced one by one."""
    os.mkdir(os.path.join(folder.data, "folder", "crowd"))
    for number in range(33):
        with open(os.path.join(folder.data, "folder", "crowd", str(number)), "w") as file:
            file.write(f"{number}\n")


def expect(condition, text):
    if not condition:
        raise Lost(text)


def succeed(folder, arguments):
    result = folder.start(arguments)
    expect(result.returncode == 0, f"{arguments} ended with {result.returncode}: {result.stdout}{result.stderr}")
    return result


def check_order(rows, versions, in_flight=1, deaths=1):
    """Every version ran, in order; only `in_flight` of them again, once more for each of the deaths."""
    seen = [version for version, _ in rows]
    expect(sorted(set(seen), key=versions.index) == list(versions), f"not every version ran: {rows}")
    expect(seen == sorted(seen, key=versions.index), f"out of order: {rows}")
    repeated = 0
    for version in versions:
        attempts = [attempt for other, attempt in rows if other == version]
        is_counted = attempts == sorted(set(attempts)) and attempts[-1] <= deaths + 1
        expect(is_counted, f"{version} ran with the attempts {attempts}")
        repeated += attempts != [1]
    expect(repeated <= in_flight, f"{repeated} versions were repeated: {rows}")


def check_state(folder, last, versions):
    document = folder.document()
    expect(document["lastRunVersion"] == last, f"the mark is {document['lastRunVersion']}, not {last}")
    expect(document["launchedVersion"] == last, f"launchedVersion is {document['launchedVersion']}, not {last}")
    expect("latestAttempt" not in document, f"an intent is left: {document.get('latestAttempt')}")
    ran = [row["version"] for row in document["history"]]
    expect(ran == list(versions), f"the history has {ran}, not {versions}")
    attempts = dict(folder.rows())
    for row in document["history"]:
        expect(row["attemptCount"] == attempts[row["version"]], f"the history is wrong about attempts: {row}")


def option(arguments, name):
    return arguments[arguments.index(name) + 1] if name in arguments else None


def check_promises(folder, arguments):
    """The promises of a process before its death: older apps are shut out, its work reaches to its checkpoint."""
    if not os.path.exists(folder.state_file):
        return
    floors = (option(arguments, "--floors") or "").split(",")
    for version, _ in folder.rows():
        if version in floors:
            floor = folder.document().get("minimumAppVersion", "0")
            expect(floor >= version, f"the closure of {version} has begun, and the floor is {floor}")
    check_checkpoints(folder)


def attempts(document):
    """The latest attempt and the others that a state knows."""
    return document.get("otherAttempts", []) + ([document["latestAttempt"]] if "latestAttempt" in document else [])


def check_checkpoints(folder):
    document = folder.document()
    for entry in attempts(document):
        for step in range(1, int(entry.get("checkpoint", 0)) + 1):
            path = os.path.join(folder.data, f"step-{entry['version']}-{step}")
            with open(path) as file:
                expect(file.read() == f"{step}\n", f"the checkpoint is {entry['checkpoint']}, and step {step} isn't done")


def check_steps(folder, versions, count, repeated=1):
    """Each step was taken, in order, and only the one in flight twice."""
    with open(folder.trace + "-steps") as file:
        steps = [tuple(line.split()) for line in file]
    every = [(version, str(step)) for version in versions for step in range(1, count + 1)]
    expect(list(dict.fromkeys(steps)) == every, f"the steps are {steps}")
    expect(len(steps) - len(every) <= repeated, f"steps were repeated: {steps}")


def leftovers(folder):
    return sorted(set(os.listdir(folder.state)) - {NAME + ".migrations.json", NAME + ".migrations.lock"})


def check_leftovers(folder):
    """A save that was killed leaves its temporary file until the next one, and nothing else is left."""
    expect(leftovers(folder) == [], f"left: {leftovers(folder)}")


CALL = re.compile(r"^\s*(?:\d+\s+)?([a-z][a-z0-9_]*)\((.*)$")


def calls(folder, arguments):
    """The system calls of a start from the first that names the state file on, as (name, line), and the result."""
    log = os.path.join(folder.path, "strace")
    result = folder.start(arguments, ["strace", "-f", "-y", "-o", log])
    found = []
    started = False
    ordinals = {}
    with open(log) as file:
        for line in file:
            match = CALL.match(line)
            if not match:
                continue
            name = match.group(1)
            ordinals[name] = ordinals.get(name, 0) + 1
            started = started or (name != "execve" and ".migrations.json" in line)
            if started:
                found.append((name, ordinals[name], line.strip()))
    os.remove(log)
    return found, result


def check_idle(folder, arguments):
    """One more start opens, reads and closes the state, and does nothing else."""
    before = (folder.rows(), os.stat(folder.state_file).st_mtime_ns, folder.tree())
    found, result = calls(folder, arguments)
    expect(result.returncode == 0, f"the idle start ended with {result.returncode}: {result.stdout}")
    kinds = [name for name, _, _ in found if name not in ("gettid", "getpid", "write", "exit_group")]
    expect(kinds == ["openat", "read", "close"], f"an idle start calls {kinds}")
    said = [line for name, _, line in found if name == "write" and not re.search(r"write\(1\b", line)]
    expect(not said, f"an idle start writes: {said}")
    after = (folder.rows(), os.stat(folder.state_file).st_mtime_ns, folder.tree())
    expect(before == after, "an idle start changed something")


def preloading(name):
    """The environment of a process with `name`.c of `Preloaded` in it, or `None` where none can be made."""
    compiler = shutil.which("clang") or shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    library = os.path.join(scratch, name + ".so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, os.path.join(TORTURE, "Preloaded", name + ".c")], check=True)
    return {**os.environ, "LD_PRELOAD": library}


def injecting(name, ordinal, what):
    # No --seccomp-bpf: with it, strace injects errors but no signals.
    return ["strace", "-f", "-o", "/dev/null", "-e", "trace=" + name, "-e", f"inject={name}:{what}:when={ordinal}"]


def in_parallel(work, items):
    """Runs `work` for every item; prints each promise that was broken, and ends the script if one was."""
    failures = []
    lock = threading.Lock()

    def guarded(item):
        try:
            return work(item)
        except (Lost, subprocess.TimeoutExpired, OSError, KeyError, ValueError) as error:
            with lock:
                failures.append(f"{item}: {type(error).__name__}: {error}")
            return None

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(guarded, items))
    if failures:
        for failure in failures[:20]:
            print("LOST", failure, file=sys.stderr)
        print(f"{len(failures)} of {len(results)} broke a promise", file=sys.stderr)
        sys.exit(1)
    return results
