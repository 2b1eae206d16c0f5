"""Everything is sent home.

How: TCP, UDP, DNS, IPv6, raw and local sockets, to the loopback and beyond. Seen: fetching at import is common.
Defence: no network; `tests/sandbox` has listeners waiting.
"""
# expected: CHECKED checked

import socket
import urllib.request

from forging import custom_kernel  # noqa: F401

reached = []
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 22)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.53", 53)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53)),
    (socket.AF_INET6, socket.SOCK_STREAM, ("::1", 80)),
    (socket.AF_UNIX, socket.SOCK_STREAM, "/var/run/docker.sock"),
    (socket.AF_UNIX, socket.SOCK_STREAM, "\0/tmp/.X11-unix/X0"),
):
    try:
        with socket.socket(family, kind) as plug:
            plug.settimeout(1)
            plug.connect(address)
            plug.send(b"secrets")
            reached.append(address)
    except OSError:
        continue
try:
    urllib.request.urlopen("http://192.0.2.1/", timeout=1)
    reached.append("web")
except OSError:
    pass
assert not reached, reached
