"""Servers that answer what a test wants them to: nothing that a client may trust."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Canned:
    """Answers requests with what it was given, in turn; the last answer again and again."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        canned = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                canned.requests.append((self.command, self.path, dict(self.headers)))
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers, body = canned.answers[0] if len(canned.answers) == 1 else canned.answers.pop(0)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def answer(self, body: object, status: int = 200, **headers: str) -> None:
        """Answer with a document, or with bytes as they are."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, content))

    def refuse(self, status: int, kind: str, detail: str, **headers: str) -> None:
        document = {"type": f"urn:helion-harness:{kind}", "title": kind, "status": status, "detail": detail}
        self.answer(document, status, **headers)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)


class Forgetful:
    """Stands before a server; the first answer of each conversation that it is told to lose is lost."""

    def __init__(self, port: int, losing: int) -> None:
        self._port, self._losing = port, losing
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            with near, socket.create_connection(("127.0.0.1", self._port)) as far:
                far.sendall(_read_message(near))
                answer = _read_message(far)
                if self._losing > 0:
                    self._losing -= 1
                else:
                    near.sendall(answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))

    def stop(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


def _read_message(peer: socket.socket) -> bytes:
    """Read one message of HTTP that says how long it is."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(peer)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(body) < (int(lengths[0]) if lengths else 0):
        body += _more(peer)
    return head + b"\r\n\r\n" + body


def _more(peer: socket.socket) -> bytes:
    if not (part := peer.recv(65536)):
        raise ConnectionError("nobody says anything more")
    return part
