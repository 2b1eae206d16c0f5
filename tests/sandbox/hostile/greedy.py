"""Runs inside the sandbox: one way of taking too much or of not ending, named on the command line."""

# It runs under `-S`, starts fast, and tries what no library offers.
# ruff: noqa: B007, PTH101, PTH102, PTH108, PTH123, SIM105, SIM115

import json
import mmap
import os
import signal
import sys
import time

TOLD = json.loads(sys.argv[2])
MIB = 1 << 20


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def spin():
    while True:
        pass


def fork_bomb():
    while True:
        try:
            os.fork()
        except OSError:
            pass


def count_forks():
    count = 0
    try:
        while count < 5000:
            if os.fork() == 0:
                time.sleep(60)
            count += 1
    except OSError:
        say(count)


def allocate():
    try:
        bytearray(10 << 30)
    except MemoryError:
        say("MemoryError")


def hog():
    """Each process stays within what one may allocate; together they do not."""
    for _ in range(4):
        if os.fork() == 0:
            block = bytearray(64 * MIB)
            block[:: mmap.PAGESIZE] = b"x" * len(block[:: mmap.PAGESIZE])
            time.sleep(60)
    time.sleep(60)


def hog_shared():
    blocks = []
    while True:
        block = mmap.mmap(-1, 16 * MIB)
        for at in range(0, len(block), mmap.PAGESIZE):
            block[at] = 1
        blocks.append(block)


def share_with_forks():
    """Honest: many processes, one copy of the pages."""
    block = bytearray(80 * MIB)
    block[:: mmap.PAGESIZE] = b"x" * len(block[:: mmap.PAGESIZE])
    for _ in range(4):
        if os.fork() == 0:
            time.sleep(0.5)
            os._exit(0)
    for _ in range(4):
        os.wait()
    say(f"done {block[0]}")


def fill_disk():
    for number in range(1000):
        with open(f"file{number}", "wb") as file:
            file.write(b"x" * 8 * MIB)


def fill_disk_deleted():
    files = []
    for number in range(1000):
        files.append(open(f"file{number}", "wb"))
        os.unlink(f"file{number}")
        files[-1].write(b"x" * 8 * MIB)
        files[-1].flush()
        os.fsync(files[-1].fileno())


def fill_disk_hidden():
    os.mkdir("hidden")
    files = [open(f"hidden/{number}", "wb") for number in range(200)]
    os.chmod("hidden", 0)
    for file in files:
        file.write(b"x" * 8 * MIB)
        time.sleep(0.02)


def fill_disk_empty():
    for number in range(1_000_000):
        os.close(os.open(f"file{number}", os.O_CREAT | os.O_WRONLY))
        if number % 64 == 0:
            time.sleep(0.002)  # so that cleaning up after the test takes no longer than the test


def fill_disk_deep():
    for number in range(200):
        os.mkdir("d")
        os.chdir("d")
    time.sleep(60)


def fill(folder):
    try:
        for number in range(40):
            with open(f"{folder}/file{number}", "wb") as file:
                file.write(b"x" * 8 * MIB)
    except OSError as error:
        say(error.strerror)
        return
    time.sleep(2)


def fill_temporary_empty():
    for number in range(1_000_000):
        os.close(os.open(f"/tmp/file{number}", os.O_CREAT | os.O_WRONLY))


def fill_temporary():
    fill(os.environ["TMPDIR"])


def fill_shared_memory():
    fill("/dev/shm")


def huge_file():
    try:
        with open("huge", "wb") as file:
            for _ in range(100):
                file.write(b"x" * MIB)
    except OSError as error:
        say(error.strerror)


def sparse_file():
    try:
        with open("sparse", "wb") as file:
            file.truncate(1 << 40)
    except OSError as error:
        say(error.strerror)


def sleep():
    time.sleep(60)


def spin_children():
    for _ in range(2):
        if os.fork() == 0:
            spin()
    time.sleep(60)


def spin_short_children():
    while True:
        if os.fork() == 0:
            end = time.process_time() + 0.03
            while time.process_time() < end:
                pass
            os._exit(0)
        os.wait()


def spin_orphans():
    """Children that nobody waits for."""
    for _ in range(15):
        if os.fork() == 0:
            if os.fork() == 0:
                end = time.process_time() + 0.1
                while time.process_time() < end:
                    pass
            os._exit(0)
        time.sleep(0.05)
    time.sleep(60)


def ignore_ended_children():
    """Asks for no zombies, so that no parent would ever be charged with what its children used."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(20):
        if os.fork() == 0:
            end = time.process_time() + 0.03
            while time.process_time() < end:
                pass
            os._exit(0)
    count = 0
    try:
        while os.wait():
            count += 1
    except ChildProcessError:
        say(count)


def flood():
    line = "x" * 1000 + "\n"
    for _ in range(100_000):
        sys.stdout.write(line)


def flood_errors():
    line = "x" * 1000 + "\n"
    for _ in range(100_000):
        sys.stderr.write(line)


def flood_lines():
    sys.stdout.write("\n" * 200_000)


def flood_one_line():
    sys.stdout.write("x" * 500_000 + "\nafter\n")


def escapes():
    sys.stdout.buffer.write(
        b"\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]52;c;aGk=\x07\x08\x00tab\there\xff \xe2\x80\xaeesrever\n"
    )
    sys.stderr.buffer.write(b"\x1b[2Jcleared\r\nnext\n")


def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(3):
                os.close(descriptor)
            time.sleep(60)
        os._exit(0)
    os.wait()
    say("started")


def daemon_holding_output():
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
    say("started")


def ignore_signals():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    if os.fork() == 0:
        os.setsid()
    say("ignoring")
    while True:
        time.sleep(1)


def close_everything():
    os.closerange(0, 256)
    time.sleep(60)


def kill_everybody():
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError as error:
        say(error.strerror)
    say("alive")


def abort():
    os.abort()


def crash():
    import ctypes

    ctypes.string_at(0)


def overflow_stack():
    sys.setrecursionlimit(1 << 30)

    class Nested:
        def __getattr__(self, name):
            return getattr(self, name + "x")

    def deeper(n):
        return sorted([n], key=deeper)

    deeper(0)


def exit_silently():
    os._exit(0)


def system_exit():
    raise SystemExit(0)


def exit_with():
    sys.exit(TOLD["code"])


def echo():
    say(sys.stdin.read())


def environment():
    say(json.dumps(dict(os.environ)))


globals()[TOLD["what"]]()
