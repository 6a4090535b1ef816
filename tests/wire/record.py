#!/usr/bin/env python3
"""Records what omniORB and JacORB say on the wire, into the *.hex files and iors.txt beside this script.

    record.py --build ../interop/build/omniorb [--jacorb ../interop/build/jacorb] [--only NAME]...

The interop server publishes the address of a proxy in its references, the interop client calls
through it, and the proxy writes down each GIOP message with its direction. omniORB itself only
speaks little-endian here, so the `be` recordings have a proxy that turns every message, in both
directions, into the other byte order in place (sizes and positions stay the same). It needs the
types for that, so a wrong turn shows: both programs are omniORB's, and the cell must end "ok".

README.md describes the format.
"""

import argparse
import datetime
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROXY_PORT = 47001  # appears in the recorded references
UNIX_PATH = "/run/zorb-interop.sock"  # likewise
TYPES = ["Request", "Reply", "CancelRequest", "LocateRequest", "LocateReply", "CloseConnection", "MessageError",
         "Fragment"]
REPLY_STATUS = ["NO_EXCEPTION", "USER_EXCEPTION", "SYSTEM_EXCEPTION", "LOCATION_FORWARD", "LOCATION_FORWARD_PERM",
                "NEEDS_ADDRESSING_MODE"]
LOCATE_STATUS = ["UNKNOWN_OBJECT", "OBJECT_HERE", "OBJECT_FORWARD", "OBJECT_FORWARD_PERM", "LOC_SYSTEM_EXCEPTION",
                 "LOC_NEEDS_ADDRESSING_MODE"]

# ---- the types of the operations that `record_calls` calls --------------------------
# b one octet, h two, i four, q eight; s string, o object reference; [t] sequence, (n, t) array,
# a str of several of these a struct or parameter list, spaces apart.

POINT = "h q"
ODD = "b q b h b q b i b i b h i b q"
INNER = "b q h"
OUTER = ["b", INNER, "b", POINT, "i", "b", (2, INNER), (5, "b"), "s", "b", "s", "i i i"]


def echo(t):
    return ([t, t, "q"], [t, t, t])


OPERATIONS = {
    "nothing": ([], []),
    "echo_short": echo("h"), "echo_long": echo("i"), "echo_longlong": echo("q"), "echo_float": echo("i"),
    "echo_double": echo("q"), "echo_boolean": echo("b"), "echo_octet": echo("b"), "echo_char": echo("b"),
    "mixed": ("b q b q b h b q q".split(), "h b q b q b i b".split()),
    "only_out": ([], ["b", "q", "s"]),
    "echo_string": echo("s"), "echo_suit": echo("i"), "echo_odd": echo(ODD), "echo_outer": echo(OUTER),
    "echo_octets": echo(["seq", "b"]), "echo_strings": echo(["seq", "s"]), "echo_inners": echo(["seq", INNER]),
    "echo_deep": echo(["seq", ["seq", ["seq", "h"]]]), "echo_names": echo((3, "s")),
    "_set_number": (["i"], []), "_get_number": ([], ["i"]),
    "fail": (["i", "i", "s"], ["i"]), "fail_system": (["s", "i", "i"], []), "talk": ([], []),
    "note": (["i", "s"], []), "notes": (["i"], ["q"]),
    "own_node": ([], ["o"]), "pass_node": (["o", "o"], ["o", "o", "o", "s"]),
    "_is_a": (["s"], ["b"]), "_non_existent": ([], ["b"]), "_not_existent": ([], ["b"]),
    "make_node": (["s", "b"], ["o"]), "destroy_node": (["o"], []), "_get_name": ([], ["s"]),
    "match": (["s", "s"], ["s"]), "union": (["b"], ["b"]),
    "shutdown": ([], []),
}
EXCEPTIONS = {
    "IDL:zorb.test/Interop/Empty:1.0": [],
    "IDL:zorb.test/Interop/Detailed:1.0": ["b", "q", "s", POINT, ["seq", "i"], "i", "b"],
    "IDL:shapes.test/Shapes/Broken:1.0": ["s", "i"],
    "IDL:zorb.test/Interop/Refused:1.0": ["s", "o"],
    "IDL:zorb.test/Interop/Mismatch:1.0": ["s", "q", "q"],
}


class Walk:
    """Reads one message; with `turn`, also swaps every number on the way."""

    def __init__(self, octets, turn=False):
        self.m = bytearray(octets)
        self.at = 12
        self.turn = turn
        self.little = bool(octets[6] & 1)
        self.minor = octets[5]
        if turn:
            self.m[6] ^= 1
            self.m[8:12] = self.m[8:12][::-1]

    def number(self, size):
        self.at += -self.at % size
        raw = self.m[self.at:self.at + size]
        if len(raw) < size:
            raise ValueError("the message ends inside a number at octet %d" % self.at)
        if self.turn:
            self.m[self.at:self.at + size] = raw[::-1]
        self.at += size
        return int.from_bytes(raw, "little" if self.little else "big")

    def octets(self):
        n = self.number(4)
        self.at += n
        return bytes(self.m[self.at - n:self.at])

    def value(self, t):
        if isinstance(t, str) and " " in t:
            for one in t.split():
                self.value(one)
        elif isinstance(t, tuple):
            for _ in range(t[0]):
                self.value(t[1])
        elif isinstance(t, list) and t[:1] == ["seq"]:
            for _ in range(self.number(4)):
                self.value(t[1])
        elif isinstance(t, list):
            for one in t:
                self.value(one)
        elif t == "s":
            return self.octets()[:-1].decode("latin-1")
        elif t == "o":
            self.octets()
            for _ in range(self.number(4)):
                self.number(4)
                self.octets()  # an encapsulation has its own byte order
        else:
            return self.number({"b": 1, "h": 2, "i": 4, "q": 8}[t])
        return None

    def contexts(self):
        for _ in range(self.number(4)):
            self.number(4)
            self.octets()

    def target(self):
        if self.minor < 2:
            self.octets()
        elif self.number(2) == 0:
            self.octets()
        else:
            raise ValueError("only KeyAddr is expected here")

    def to_body(self):
        if self.minor >= 2 and self.at < len(self.m):
            self.at += -self.at % 8

    def rest(self, types):
        for t in types:
            self.value(t)
        if self.turn and self.at != len(self.m):
            raise ValueError("%d octets are left over" % (len(self.m) - self.at))


def tell(octets, pending, turn=False):
    """Walks one message; returns a line that tells what it is, and its octets (turned, if asked)."""
    w = Walk(octets, turn)
    kind = octets[7]
    more = octets[5] > 0 and octets[6] & 2
    text = "GIOP %d.%d %s" % (octets[4], octets[5], TYPES[kind] if kind < len(TYPES) else "type %d" % kind)
    if kind == 0:
        if w.minor < 2:
            w.contexts()
        rid, flags = w.number(4), w.number(1)
        w.at += 3 if w.minor else 0
        w.target()
        op = w.octets()[:-1].decode()
        if w.minor < 2:
            w.octets()  # principal
        else:
            w.contexts()
        pending[rid] = op
        text += " id %d, %s%s" % (rid, op, "" if flags else ", one-way")
        if turn:
            w.to_body()
            w.rest(OPERATIONS[op][0])
    elif kind == 1:
        if w.minor < 2:
            w.contexts()
        rid, status = w.number(4), w.number(4)
        if w.minor >= 2:
            w.contexts()
        text += " id %d, %s" % (rid, REPLY_STATUS[status])
        if turn:
            w.to_body()
            w.rest(OPERATIONS[pending[rid]][1] if status == 0 else EXCEPTIONS[w.value("s")] if status == 1
                   else {2: ["s", "i", "i"], 3: ["o"], 4: ["o"]}[status])
    elif kind == 3:
        text += " id %d" % w.number(4)
        w.target()
    elif kind == 4:
        text += " id %d, %s" % (w.number(4), LOCATE_STATUS[w.number(4)])
    elif kind == 7 and w.minor >= 2:
        text += " id %d" % w.number(4)
    if more:
        text += ", more fragments follow"
    return text, bytes(w.m)


class Proxy:
    """Accepts connections on PROXY_PORT, passes everything on, and keeps what passed."""

    def __init__(self, target, turn):
        self.target, self.turn = target, turn
        self.lines, self.lock, self.connections, self.threads = [], threading.Lock(), 0, []
        self.listener = socket.create_server(("127.0.0.1", PROXY_PORT))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            for s in (near, far):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.connections += 1
                if self.connections > 1:
                    self.lines.append("# ---- connection %d" % self.connections)
            pending = {}
            for a, b, mark in ((near, far, ">"), (far, near, "<")):
                t = threading.Thread(target=self.pump, args=(a, b, mark, pending), daemon=True)
                t.start()
                self.threads.append(t)

    def pump(self, a, b, mark, pending):
        data = b""
        while True:
            try:
                got = a.recv(1 << 20)
            except OSError:
                got = b""
            if not got:
                with self.lock:
                    if data:
                        self.lines.append("# ends inside a message")
                    self.lines.append("# %s closes" % ("the client" if mark == ">" else "the server"))
                try:
                    b.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                return
            data += got
            while len(data) >= 12:
                size = 12 + struct.unpack("<I" if data[6] & 1 else ">I", data[8:12])[0]
                if len(data) < size:
                    break
                one, data = data[:size], data[size:]
                with self.lock:
                    text, one = tell(one, pending, self.turn)
                    self.lines += ["# " + text, mark + " " + one.hex()]
                    try:
                        b.sendall(one)
                    except OSError:
                        pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes accept(), which close() would not
        self.listener.close()
        for t in self.threads:
            t.join(5)


# ---- running ------------------------------------------------------------------------

def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def omniorb_version():
    out = subprocess.run(["omniidl", "-V"], capture_output=True, text=True, check=True)
    package = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libomniorb4-2"], capture_output=True, text=True)
    debian = re.search(r"\d+\.\d+\.\d+", package.stdout or "")
    if not debian:
        sys.exit("record.py: cannot tell the version of libomniorb4 (%s)" % out.stdout.strip())
    return debian.group(0), package.stdout.strip()


VERSION, PACKAGE = omniorb_version()
JACORB_VERSION = "3.9"  # of ../interop/jacorb/pom.xml


def header(what, commands, jacorb=False):
    system = " ".join(os.uname()[i] for i in (0, 4))
    peer = "omniORB %s (Debian package libomniorb4-2 %s), %s" % (VERSION, PACKAGE, system)
    if jacorb:
        java = subprocess.run(["java", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        peer = "JacORB %s (org.jacorb:jacorb of Maven Central), %s, %s" % (JACORB_VERSION, java, system)
    lines = ["# " + what, "# peer: " + peer,
             "# recorded: %s by tests/wire/record.py" % datetime.date.today().isoformat()]
    return lines + ["# ran: " + c for c in commands] + [""]


def write(name, lines):
    path = os.path.join(HERE, name)
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    print(name, sum(1 for one in lines if one[:1] in "<>"), "messages")


class Server:
    def __init__(self, build, folder, args, kind=""):
        self.ior = os.path.join(folder, "ior")
        self.kind = kind
        self.command = [kind + "server", "--ior", "IOR"] + args
        real = [os.path.join(build, kind + "server"), "--ior", self.ior] + args
        self.process = subprocess.Popen(real, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while not os.path.exists(self.ior):
            if time.monotonic() > deadline or self.process.poll() is not None:
                sys.exit("record.py: the server did not start: " + " ".join(real))
            time.sleep(0.02)

    def text(self):
        with open(self.ior) as f:
            return f.read().strip()

    def end(self, build):
        client = os.path.join(build, self.kind + "client")
        subprocess.run([client, "--ior", self.ior, "--op", "shutdown"], check=False)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def converse(build, name, what, client_args, turn=False, server_args=(), kind="", jacorb=False):
    """One server, one client through the proxy; writes NAME.hex. `kind` stands before the programs' names."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        args = ["-ORBendPoint", "giop:tcp:127.0.0.1:%d" % port, "-ORBendPointPublish",
                "giop:tcp:127.0.0.1:%d" % PROXY_PORT] + list(server_args)
        if jacorb:
            args = ["--port", str(port), "-Djacorb.ior_proxy_host=127.0.0.1",
                    "-Djacorb.ior_proxy_port=%d" % PROXY_PORT] + list(server_args)
        proxy = Proxy(port, turn)
        server = Server(build, folder, args, kind)
        command = [os.path.join(build, kind + "client"), "--ior", server.ior] + client_args
        done = subprocess.run(command, capture_output=True, text=True)
        proxy.close()
        if "shutdown" in client_args:
            server.process.wait(10)
        else:
            # What ends the server is not part of the recording, and goes past the proxy.
            again = Proxy(port, False)
            server.end(build)
            again.close()
        if done.returncode:
            sys.exit("record.py: %s: %s%s" % (name, done.stdout, done.stderr))
        shown = [" ".join(server.command), " ".join([kind + "client", "--ior", "IOR"] + client_args)]
        shown[0] = shown[0].replace(str(port), "PORT")
        if turn:
            what += "; every message turned into big-endian between the two programs"
        orb = "jacorb-" + JACORB_VERSION if jacorb else "omniorb-" + VERSION
        write("%s-%s.hex" % (orb, name), header(what, shown, jacorb) + proxy.lines)


def security(build):
    """JacORB's programs with CSIv2 to each other: user names and passwords, stateful and stateless, right and wrong."""
    program = os.path.join(build, "csi")
    port = free_port()
    command = [program, "server", "-DOAIAddr=127.0.0.1", "-DOAPort=%d" % port, "-Djacorb.ior_proxy_host=127.0.0.1",
               "-Djacorb.ior_proxy_port=%d" % PROXY_PORT]
    proxy = Proxy(port, False)
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    reference = server.stdout.readline().strip()
    secret = lambda user: "secret of " + user[:8]
    # A token of 127 octets is the longest that JacORB reads: "n" is shorter, "m" longer.
    users = [("true", "alice"), ("false", "alice"), ("true", "n" * 60), ("true", "m" * 100)]
    conversations = [(stateful, user, secret(user)) for stateful, user in users]
    conversations += [("true", "mallory", "guess"), ("false", "mallory", "guess")]
    shown = ["csi server -Djacorb.ior_proxy_host=127.0.0.1 -Djacorb.ior_proxy_port=%d" % PROXY_PORT]
    for stateful, user, password in conversations:
        args = ["client", "IOR", "2", user, password, "-Djacorb.security.sas.stateful=" + stateful]
        subprocess.run([program, args[0], reference] + args[2:], stdout=subprocess.DEVNULL, check=True)
        shown.append("csi " + " ".join(args))
    server.stdin.close()
    server.wait(10)
    proxy.close()
    lines = header("Operation whoami with GSSUP in contexts of CSIv2", shown, True) + ["# the server: " + reference] + proxy.lines
    write("jacorb-%s-giop1.2-csi.hex" % JACORB_VERSION, lines)


# ---- what no client of omniORB's says -----------------------------------------------

def ask(port, conversations):
    """Octets of our own to a server of omniORB's, and what it answers; each on a connection of its own."""
    lines = []
    for title, sent in conversations:
        lines += ["# ---- " + title]
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.settimeout(2)
            for one in sent:
                lines.append("> " + one.hex())
                s.sendall(one)
            data = b""
            try:
                while True:
                    got = s.recv(65536)
                    if not got:
                        break
                    data += got
                closed = "# the server closes"
            except socket.timeout:
                closed = "# no more comes within 2 seconds"
            except ConnectionResetError:
                closed = "# the server resets the connection"
            while data:
                size = 12 + struct.unpack("<I" if data[6] & 1 else ">I", data[8:12])[0]
                lines += ["# " + tell(data[:size], {})[0], "< " + data[:size].hex()]
                data = data[size:]
            lines.append(closed)
    return lines


def odd_requests(build):
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        server = Server(build, folder, ["--port", str(port)])
        lines = ask(port, odd_conversations())
        command = " ".join(server.command).replace(str(port), "PORT")
        server.end(build)
        write("omniorb-%s-odd-requests.hex" % VERSION, header("Requests made by hand, and omniORB's answers", [command]) + lines)


def mapper():
    """omniMapper forwards every request for a plain key to another reference; LocateRequests too."""
    with tempfile.TemporaryDirectory() as folder:
        config, port = os.path.join(folder, "map"), free_port()
        to = subprocess.run(["genior", "IDL:zorb.test/Interop/Peer:1.0", "127.0.0.1", str(PROXY_PORT), "Elsewhere"],
                            capture_output=True, text=True, check=True).stdout.strip()
        with open(config, "w") as f:
            f.write("Interop %s\n" % to)
        process = subprocess.Popen(["omniMapper", "-port", str(port), "-config", config], stderr=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        key = b"Interop"
        lines = ask(port, [
            ("LocateRequest 1.0", [giop(0, 3, locate10(2, key))]),
            ("LocateRequest 1.1", [giop(1, 3, locate10(2, key))]),
            ("LocateRequest 1.2", [giop(2, 3, locate12(2, key))]),
            ("LocateRequest 1.2 of another key", [giop(2, 3, locate12(4, b"Nobody"))]),
            ("Request 1.2", [giop(2, 0, request12(6, key, b"nothing"))]),
        ])
        process.terminate()
        process.wait(10)
        commands = ["genior IDL:zorb.test/Interop/Peer:1.0 127.0.0.1 %d Elsewhere  (IOR)" % PROXY_PORT,
                    "omniMapper -port PORT -config FILE  (FILE: one line, Interop IOR)"]
        write("omniorb-%s-mapper.hex" % VERSION, header("Requests made by hand, forwarded by omniMapper", commands) + lines)


def giop(minor, kind, body, order=">", magic=b"GIOP", major=1, flags=0):
    return magic + bytes([major, minor, flags | (order == "<"), kind]) + struct.pack(order + "I", len(body)) + body


def string(s, order=">"):
    return struct.pack(order + "I", len(s) + 1) + s + b"\0"


def aligned(b, n, origin=12):
    return b + bytes(-(origin + len(b)) % n)


def request12(rid, key, op, flags=3, contexts=b"\0\0\0\0"):
    b = struct.pack(">IB3xHxxI", rid, flags, 0, len(key)) + key
    b = aligned(b, 4) + string(op)
    return aligned(b, 4) + contexts


def locate12(rid, key):
    return struct.pack(">IHxxI", rid, 0, len(key)) + key


def locate10(rid, key):
    return struct.pack(">II", rid, len(key)) + key


def odd_conversations():
    key = b"Interop"
    nothing = giop(2, 0, request12(4, key, b"nothing"))
    context = struct.pack(">III", 1, 0x12345678, 5) + b"hello"  # one context nobody knows
    is_a = request12(8, key, b"_is_a")
    is_a = aligned(is_a, 8) + string(b"IDL:zorb.test/Interop/Peer:1.0")
    return [
        ("a big-endian request without a body by a plain key", [nothing]),
        ("the same with 8 octets of padding behind it", [giop(2, 0, aligned(request12(4, key, b"nothing"), 8) + bytes(8))]),
        ("an unknown service context", [giop(2, 0, request12(6, key, b"nothing", contexts=context))]),
        ("_is_a, whose body starts on a multiple of 8", [giop(2, 0, is_a)]),
        ("the same, _is_a cut off inside its string", [giop(2, 0, is_a[:-9])]),
        ("response flags 1: SYNC_WITH_SERVER", [giop(2, 0, request12(10, key, b"nothing", flags=1))]),
        ("response flags 0: no reply; then a two-way call", [giop(2, 0, request12(12, key, b"nothing", flags=0)),
                                                             giop(2, 0, request12(14, key, b"nothing"))]),
        ("an unknown operation", [giop(2, 0, request12(16, key, b"no_such_operation"))]),
        ("an unknown object", [giop(2, 0, request12(18, b"Nobody", b"nothing"))]),
        ("_non_existent and its old name of an unknown object", [giop(2, 0, request12(20, b"Nobody", b"_non_existent")),
                                                                 giop(2, 0, request12(22, b"Nobody", b"_not_existent"))]),
        ("LocateRequest 1.2: here, and unknown", [giop(2, 3, locate12(24, key)), giop(2, 3, locate12(26, b"Nobody"))]),
        ("LocateRequest 1.0: here, and unknown", [giop(0, 3, locate10(24, key)), giop(0, 3, locate10(26, b"Nobody"))]),
        ("CancelRequest of a request that is done, then another call", [nothing, giop(2, 2, struct.pack(">I", 4)),
                                                                        giop(2, 0, request12(28, key, b"nothing"))]),
        ("a request in three fragments", fragments(key)),
        ("CloseConnection from the client", [nothing, giop(2, 5, b"")]),
        ("MessageError from the client", [nothing, giop(2, 6, b"")]),
        ("bad magic", [giop(2, 0, request12(4, key, b"nothing"), magic=b"POIG")]),
        ("GIOP 1.3", [giop(3, 0, request12(4, key, b"nothing"))]),
        ("GIOP 2.0", [giop(0, 0, request12(4, key, b"nothing"), major=2)]),
        ("message type 8", [giop(2, 8, b"")]),
        ("a Reply from the client", [giop(2, 1, struct.pack(">III", 4, 0, 0))]),
        ("a size of almost 4 GiB", [nothing[:8] + b"\xff\xff\xff\xf0" + nothing[12:]]),
    ]


def fragments(key):
    whole = aligned(request12(30, key, b"join"), 8) + string(b"a text that is cut in three parts")
    whole = aligned(whole, 4) + string(b", of which the last is short")
    # Every piece but the last has a total length that is a multiple of 8.
    head, rest = whole[:52], whole[52:]
    assert (12 + len(head)) % 8 == 0
    rid = struct.pack(">I", 30)
    return [giop(2, 0, head, flags=2), giop(2, 7, rid + rest[:32], flags=2), giop(2, 7, rid + rest[32:])]


# ---- references ---------------------------------------------------------------------

def catior(text):
    out = subprocess.run(["catior", text], capture_output=True, text=True, check=True).stdout
    return ["#   " + one.rstrip() for one in out.splitlines() if one.strip()]


def references(build):
    lines = header("Stringified references as omniORB writes them; what catior says of each stands above it.", [])
    publish = "-ORBendPointPublish giop:tcp:127.0.0.1:%d" % PROXY_PORT
    kinds = [
        ("TCP, GIOP 1.2", [publish]),
        ("TCP, GIOP 1.1", [publish, "-ORBmaxGIOPVersion 1.1"]),
        ("TCP, GIOP 1.0: no components", [publish, "-ORBmaxGIOPVersion 1.0"]),
        ("TCP, native char code set UTF-8", [publish, "-ORBnativeCharCodeSet UTF-8"]),
        ("a host name instead of an address", ["-ORBendPointPublish giop:tcp:server.zorb.test:%d" % PROXY_PORT]),
        ("two TCP endpoints", ["%s,giop:tcp:127.0.0.2:%d" % (publish, PROXY_PORT + 1)]),
        ("IPv6", ["-ORBendPoint giop:tcp:[::1]:", "-ORBendPointPublish giop:tcp:[::1]:%d" % PROXY_PORT]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for what, args in kinds:
            args = [w for one in args for w in one.split()]
            lines += reference(build, folder, what, args)
        lines += reference(build, folder, "a UNIX socket; the host name is the machine's", ["--unix", UNIX_PATH])
        lines += reference(build, folder, "TCP and a UNIX socket",
                           ["-ORBendPoint", "giop:tcp:127.0.0.1:%d" % PROXY_PORT, "-ORBendPoint", "giop:unix:" + UNIX_PATH])
        port = free_port()
        lines += naming(folder, port)
    args = ["IDL:zorb.test/Interop/Peer:1.0", "server.zorb.test", "2809", "Interop"]
    out = subprocess.run(["genior"] + args, capture_output=True, text=True, check=True).stdout.strip()
    lines += ["# ---- a plain key: genior %s" % " ".join(args)] + catior(out) + [out, ""]
    nil = subprocess.run([os.path.join(build, "client"), "--op", "nil"], capture_output=True, text=True, check=True)
    nil = nil.stdout.strip()
    lines += ["# ---- nil: client --op nil"] + catior(nil) + [nil]
    write("iors.txt", lines)


def reference(build, folder, what, args):
    server = Server(build, folder, args)
    text = server.text()
    command = " ".join(server.command).replace(folder, "FOLDER")
    # A published address may lead nowhere, so it cannot be asked to shut down.
    server.process.terminate()
    server.process.wait(10)
    for left in (server.ior, UNIX_PATH):
        if os.path.exists(left):
            os.remove(left)
    return ["# ---- %s: %s" % (what, command)] + catior(text) + [text, ""]


def naming(folder, port):
    command = ["omniNames", "-start", str(port), "-logdir", folder, "-ORBendPoint", "giop:tcp:127.0.0.1:%d" % port,
               "-ORBendPointPublish", "giop:tcp:127.0.0.1:2809"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = ""
    for line in process.stderr:
        found = re.search(r"IOR:[0-9a-fA-F]+", line)
        if found:
            text = found.group(0)
            break
    process.terminate()
    process.wait(10)
    shown = " ".join(command).replace(folder, "FOLDER").replace(str(port), "PORT")
    return ["# ---- the root context of omniNames: " + shown] + catior(text) + [text, ""]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", default="../interop/build/omniorb", help="where the interop server and client were built")
    p.add_argument("--jacorb", help="where the JacORB programs were built, to record them and nothing else")
    p.add_argument("--only", action="append", help="only recordings whose name contains this")
    a = p.parse_args()
    build = os.path.abspath(a.build)

    def wanted(name):
        return not a.only or any(o in name for o in a.only)

    if a.jacorb:
        for cell in ("anys", "types", "unions", "fixed", "values"):
            if wanted("giop1.2-" + cell):
                converse(os.path.abspath(a.jacorb), "giop1.2-" + cell, "Cell record_%s of rich.idl" % cell,
                         ["--cell", "record_" + cell], kind="rich_", jacorb=True)
        if wanted("giop1.2-csi"):
            security(os.path.abspath(a.jacorb))
        return
    for minor in (0, 1, 2):
        version = ["-ORBmaxGIOPVersion", "1.%d" % minor]
        for turn in (False, True):
            name = "giop1.%d-calls%s" % (minor, "-be" if turn else "")
            if wanted(name):
                converse(build, name, "Calls of most kinds", ["--cell", "record_calls"] + version, turn)
        for cell in ("fragments", "odd_fragments", "forwards"):
            name = "giop1.%d-%s" % (minor, cell.replace("_", "-"))
            if wanted(name) and not (minor == 0 and "fragments" in cell):
                converse(build, name, "Cell record_" + cell, ["--cell", "record_" + cell] + version)
        name = "giop1.%d-shutdown" % minor
        if wanted(name):
            converse(build, name, "The client asks the server to shut down", ["--op", "shutdown"] + version)
    if wanted("giop1.2-utf8"):
        utf8 = ["-ORBnativeCharCodeSet", "UTF-8"]
        converse(build, "giop1.2-utf8", "Both programs with native code set UTF-8", ["--cell", "unicode"] + utf8,
                 server_args=utf8)
    if wanted("giop1.2-wide"):
        converse(build, "giop1.2-wide", "Cell record_wide", ["--cell", "record_wide"])
    for cell in ("unions", "fixed", "anys", "types", "values"):
        if wanted("giop1.2-" + cell):
            converse(build, "giop1.2-" + cell, "Cell record_%s of rich.idl" % cell, ["--cell", "record_" + cell], kind="rich_")
    if wanted("odd-requests"):
        odd_requests(build)
    if wanted("mapper"):
        mapper()
    if wanted("iors"):
        references(build)


if __name__ == "__main__":
    main()
