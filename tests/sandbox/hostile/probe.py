"""Runs inside the sandbox: tries everything that can be tried without dying, and reports what came of it.

Each probe returns what it got, which is a break-in, or raises OSError, which is a refusal.
"""

# It runs under `-S`, starts fast, and tries what no library offers.
# ruff: noqa: PTH101, PTH108, PTH115, PTH116, PTH118, PTH123, PTH208

import ctypes
import json
import os
import socket
import struct
import subprocess
import sys

TOLD = json.loads(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
PROBES = {}


def probe(function):
    PROBES[function.__name__] = function
    return function


def system_call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return f"system call {number} gave {result}"


def on_this_machine(x86_64, aarch64):
    return {"x86_64": x86_64, "aarch64": aarch64}[os.uname().machine]


def send(family, kind, address):
    with socket.socket(family, kind) as plug:
        plug.settimeout(2)
        plug.connect(address)
        plug.send(b"from the sandbox")
    return f"reached {address}"


@probe
def tcp():
    return send(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", TOLD["tcp"]))


@probe
def udp():
    return send(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", TOLD["udp"]))


@probe
def dns():
    query = b"\0\1\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        plug.sendto(query, ("127.0.0.53", 53))
        plug.sendto(query, ("127.0.0.1", TOLD["udp"]))
    return "sent a query"


@probe
def name_lookup():
    return str(socket.getaddrinfo("example.com", 80))


@probe
def ipv6():
    return send(socket.AF_INET6, socket.SOCK_DGRAM, ("::1", TOLD["udp"]))


@probe
def raw_packets():
    return str(socket.socket(socket.AF_PACKET, socket.SOCK_RAW))


@probe
def netlink():
    return str(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))


@probe
def vsock():
    return str(socket.socket(40, socket.SOCK_STREAM))


@probe
def abstract_stream():
    return send(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + TOLD["abstract_stream"])


@probe
def abstract_datagram():
    return send(socket.AF_UNIX, socket.SOCK_DGRAM, "\0" + TOLD["abstract_datagram"])


@probe
def path_socket():
    return send(socket.AF_UNIX, socket.SOCK_STREAM, TOLD["path_socket"])


@probe
def datagram_pair_redirected():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect("\0" + TOLD["abstract_datagram"])
    one.send(b"from the sandbox")
    return "redirected"


@probe
def parent_environment():
    with open(f"/proc/{TOLD['parent']}/environ", "rb") as file:
        return repr(file.read()[:200])


@probe
def parent_memory():
    with open(f"/proc/{TOLD['parent']}/mem", "rb") as file:
        return str(file)


@probe
def parent_descriptors():
    return str(os.listdir(f"/proc/{TOLD['parent']}/fd"))


@probe
def parent_root():
    return str(os.listdir(f"/proc/{TOLD['parent']}/root"))


@probe
def anyones_environment():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                content = file.read()
        except OSError:
            continue
        if TOLD["secret"].encode() in content:
            found.append(pid)
    if not found:
        raise PermissionError("nobody's")
    return str(found)


@probe
def own_environment():
    if any(TOLD["secret"] in value for value in os.environ.values()):
        return str(os.environ)
    raise PermissionError("clean")


@probe
def inherited_descriptors():
    extra = {}
    for name in range(3, 256):
        try:
            extra[name] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
    if not extra:
        raise PermissionError("none")
    return str(extra)


@probe
def planted_file():
    with open(TOLD["planted"]) as file:
        return file.read()


@probe
def neighbours_of_the_mount():
    return str(os.listdir(TOLD["neighbour"])) + open(os.path.join(TOLD["neighbour"], "theirs.py")).read()


@probe
def shadow():
    with open("/etc/shadow") as file:
        return file.read(20)


@probe
def write_next_to_mount():
    with open(os.path.join(TOLD["mount"], "planted.py"), "w") as file:
        file.write("x")
    return "written"


@probe
def write_outside():
    with open(os.path.join(TOLD["outside"], "dropped"), "w") as file:
        file.write("x")
    return "written"


@probe
def truncate_outside():
    os.truncate(TOLD["writable"], 0)
    return "truncated"


@probe
def truncate_by_reading():
    os.open(TOLD["readable"], os.O_RDONLY | os.O_TRUNC)
    return "truncated"


@probe
def remove_outside():
    os.unlink(TOLD["writable"])
    return "removed"


@probe
def write_usr():
    with open("/usr/dropped", "w"):
        return "written"


@probe
def write_root():
    with open("/dropped", "w"):
        return "written"


@probe
def write_dev():
    with open("/dev/dropped", "w"):
        return "written"


@probe
def write_proc_sys():
    with open("/proc/sys/kernel/hostname", "w") as file:
        file.write("x")
    return "written"


@probe
def own_oom_score():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return "written"


@probe
def kill_parent():
    os.kill(TOLD["parent"], 15)
    return "killed"


@probe
def kill_parent_through_descriptor():
    import fcntl
    import signal

    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, TOLD["parent"])
    fcntl.fcntl(reader, 10, signal.SIGTERM)
    fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(writer, b"x")
    return "armed"


@probe
def starve_parent():
    import resource

    resource.prlimit(TOLD["parent"], resource.RLIMIT_NOFILE, (3, 3))
    return "set"


@probe
def slow_parent():
    os.setpriority(os.PRIO_PROCESS, TOLD["parent"], 19)
    return "set"


@probe
def ptrace_parent():
    return system_call(on_this_machine(101, 117), 16, TOLD["parent"], 0, 0)


@probe
def ptrace_own_child():
    child = os.fork()
    if child == 0:
        libc.pause()
    try:
        return system_call(on_this_machine(101, 117), 16, child, 0, 0)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


@probe
def read_process_memory():
    return system_call(on_this_machine(310, 270), os.getpid(), None, 0, None, 0, 0)


@probe
def become_root():
    os.setresuid(0, 0, 0)
    return str(os.getresuid())


@probe
def make_setuid_program():
    with open("setuid-program", "wb") as file:
        file.write(b"#!/bin/sh\n")
    os.chmod("setuid-program", 0o4755)
    if os.stat("setuid-program").st_mode & 0o4000:
        return "a setuid file was made"
    raise PermissionError("no setuid file")


@probe
def use_setuid_program():
    said = subprocess.run([TOLD["setuid_id"]], capture_output=True, text=True).stdout
    if not said.startswith("uid="):
        raise RuntimeError("the program did not run")
    if "euid=0" in said:
        return said
    raise PermissionError(said)


@probe
def new_user_namespace():
    return system_call(on_this_machine(272, 97), 0x10000000)


@probe
def new_user_namespace_by_clone():
    return system_call(on_this_machine(56, 220), 0x10000000 | 17, None, None, None, None)


@probe
def new_namespace_by_clone3():
    arguments = struct.pack("8Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0)
    return system_call(435, arguments, 64)


@probe
def new_mount_namespace():
    return system_call(on_this_machine(272, 97), 0x00020000)


@probe
def enter_namespace():
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    return system_call(on_this_machine(308, 268), descriptor, 0)


@probe
def mount_tmpfs():
    return system_call(on_this_machine(165, 40), b"tmpfs", b"/tmp", b"tmpfs", 0, None)


@probe
def remount_writable():
    return system_call(on_this_machine(165, 40), None, b"/usr", None, 0x1020, None)


@probe
def unmount():
    return system_call(on_this_machine(166, 39), TOLD["mount"].encode(), 2)


@probe
def open_tree():
    return system_call(428, -100, b"/", 1)


@probe
def change_root():
    os.chroot("/usr")
    return "changed"


@probe
def io_uring():
    return system_call(425, 8, ctypes.create_string_buffer(200))


@probe
def bpf():
    return system_call(on_this_machine(321, 280), 0, ctypes.create_string_buffer(128), 128)


@probe
def perf_events():
    return system_call(on_this_machine(298, 241), ctypes.create_string_buffer(128), 0, -1, -1, 0)


@probe
def userfaultfd():
    return system_call(on_this_machine(323, 282), 1)


@probe
def keyring():
    return system_call(on_this_machine(250, 219), 0, -3, 1)


@probe
def hidden_memory():
    return system_call(on_this_machine(319, 279), b"x", 0)


@probe
def system_v_memory():
    return system_call(on_this_machine(29, 194), 0, 1 << 20, 0o1600)


@probe
def kernel_log():
    return system_call(on_this_machine(103, 116), 3, ctypes.create_string_buffer(100), 100)


@probe
def future_call():
    return system_call(900)


@probe
def load_module():
    return system_call(on_this_machine(313, 273), 0, b"", 0)


@probe
def device_node():
    os.mknod("disk", 0o60600, os.makedev(254, 0))
    return "made"


@probe
def raise_limits():
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "raised"


def attempt(function):
    try:
        return {"got": function()}
    except OSError as error:
        return {"refused": str(error)}
    except ValueError as error:
        return {"refused": str(error)}


print(json.dumps({name: attempt(PROBES[name]) for name in TOLD.get("only", PROBES)}))
