"""No command contacts the network: sockets of all but this machine are forbidden."""

import os
import re
import subprocess
import sys
import urllib.request

import pytest
from command_line import write_pair

FORBIDDING = """
import sys

def forbid(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.bind"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "127.0.0.1"  # a path, or this machine
        if host not in ("127.0.0.1", "localhost", "::1"):
            raise RuntimeError(f"a socket to {host}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        if arguments[0] not in ("127.0.0.1", "localhost", "::1", None):
            raise RuntimeError(f"the address of {arguments[0]}")

sys.addaudithook(forbid)
"""


@pytest.fixture
def offline(tmp_path):
    """The environment of programs that may not contact the network, nor may what they start."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(FORBIDDING, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path / "site"), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def folioreel(offline, *arguments):
    command = [sys.executable, "-m", "folioreel", *map(str, arguments)]
    done = subprocess.run(command, env=offline, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def test_the_ban_works(offline):
    for call in ("create_connection(('192.0.2.1', 9), 1)", "getaddrinfo('example.org', 80)"):
        program = [sys.executable, "-c", f"import socket; socket.{call}"]
        done = subprocess.run(program, env=offline, capture_output=True, text=True)
        assert "RuntimeError" in done.stderr


def test_align_and_report_and_view(tmp_path, offline):
    book, film = write_pair(tmp_path)
    out = tmp_path / "out"
    folioreel(offline, "align", book, film, "--preset", "fast", "--out", out)
    folioreel(offline, "report", out, "--out", tmp_path / "report")
    command = [sys.executable, "-m", "folioreel", "view", str(out), "--no-open"]
    with subprocess.Popen(command, env=offline, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        assert re.match(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address, timeout=60) as response:
            page = response.read().decode()
        process.terminate()
    assert "Content-Security-Policy" in page
    # Nothing that a browser would fetch from elsewhere, either.
    assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", page)


def test_onnx_runtime_reports_nothing(tmp_path):
    """Unless it is told before it is imported, it writes the id of a session for its reports."""
    (tmp_path / "tmp").mkdir()
    program = "import folioreel.models.onnx_graphs"
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
    assert not list((tmp_path / "tmp").iterdir())
