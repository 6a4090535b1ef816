#!/usr/bin/env python3
"""Writes the seeds of the corpora: what was recorded in ../tests/wire, the compiler's own test
files, and edge cases made by hand. Seeds are named; what a fuzzer adds is named by its hash."""

import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
MOST = 4096


def put(target, name, octets):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(octets)


def giop():
    for path in sorted((ROOT / "tests/wire").glob("*.hex")):
        name = path.stem.replace("omniorb-4.2.5-", "")
        for direction, mark in (("client", ">"), ("server", "<")):
            messages = [bytes.fromhex(line[2:]) for line in path.read_text().splitlines()
                        if line.startswith(mark + " ")]
            stream, part = b"", 0
            for message in messages + [None]:
                if message is None or len(stream) + len(message) > MOST:
                    # One stream of each kind is enough to start from; fragments are alike.
                    if stream and part < 3:
                        put("giop", f"{name}-{direction}-{part}", b"\x03\x00\x0b\x40" + stream)
                        part += 1
                    stream = b""
                if message is not None and len(message) <= MOST:
                    stream += message
    header = lambda minor, flags, kind, body: (
        b"GIOP" + bytes([1, minor, flags, kind])
        + struct.pack("<I" if flags & 1 else ">I", len(body)) + body)
    idle = struct.pack("<III", 7, 3, 0)
    hand = {
        "empty": b"",
        "close": header(2, 1, 5, b""),
        "error": header(0, 0, 6, b""),
        "cancel": header(1, 0, 2, struct.pack(">I", 9)),
        "version-1.3": header(3, 1, 0, b""),
        "version-2.0": b"GIOP\x02\x00\x01\x00\x00\x00\x00\x00",
        "kind-8": header(2, 1, 8, b""),
        "size-max": b"GIOP\x01\x02\x01\x00\xff\xff\xff\xff",
        "half-a-header": b"GIOP\x01\x02",
        "http": b"GET / HTTP/1.1\r\n\r\n",
        "two-partial-1.2": header(2, 3, 0, struct.pack("<I", 1) + idle) + header(2, 3, 0, struct.pack("<I", 2) + idle)
        + header(2, 1, 7, struct.pack("<I", 2) + b"ab") + header(2, 1, 7, struct.pack("<I", 1) + b"cd"),
        "partial-1.1": header(1, 2, 1, b"\0" * 12) + header(1, 2, 7, b"abc") + header(1, 0, 7, b""),
        "partial-cancelled": header(2, 3, 0, struct.pack("<I", 1)) + header(2, 1, 2, struct.pack("<I", 1)),
        "partial-over-the-limit": header(2, 3, 0, struct.pack("<I", 1) + b"\0" * 3000)
        + header(2, 1, 7, struct.pack("<I", 1) + b"\0" * 3000),
        "profile-address": header(2, 0, 0, struct.pack(">IB3xhxxII", 1, 3, 1, 0, 0) + struct.pack(">I", 1) + b"\0\0\0\0" + struct.pack(">I", 0)),
        "bad-flags": header(2, 0, 0, struct.pack(">IB3xhxxI", 1, 2, 0, 0)),
    }
    def prioritised(*contexts):
        # A request without arguments, for the key "k" and the operation "f".
        body = struct.pack(">IB3xhxxI", 1, 3, 0, 1) + b"k\0\0\0" + struct.pack(">I", 2) + b"f\0\0\0"
        body += struct.pack(">I", len(contexts))
        for number, data in contexts:
            body += struct.pack(">II", number, len(data)) + data + b"\0" * (-len(data) % 4)
        return header(2, 0, 0, body)
    ten, range_ = (10, b"\0\0\0\x0a"), (11, b"\0\0\0\x05\0\x14")
    hand |= {
        "priority": prioritised(ten),
        "priority-little": prioritised((10, b"\1\0\x0a\0")),
        "priority-twice": prioritised(ten, ten),
        "priority-contradictory": prioritised(ten, (10, b"\0\0\0\x28")),
        "priority-negative": prioritised((10, b"\0\0\xff\xff")),
        "priority-cut": prioritised((10, b"\0\0\0")),
        "priority-empty": prioritised((10, b"")),
        "priority-range": prioritised(range_),
        "priority-range-twice": prioritised(range_, range_),
        "priority-range-backwards": prioritised((11, b"\0\0\0\x14\0\x05")),
        "priority-range-cut": prioritised((11, b"\0\0\0\x05")),
        "priority-outside-its-range": prioritised((10, b"\0\0\0\x28"), range_),
    }
    for name, stream in hand.items():
        put("giop", f"hand-{name}", b"\x02\x00\x05" + stream)


def atm():
    head = lambda kind, flags, session: struct.pack(">HBBHHQ", 0x5A41, 1, kind, flags, 0, session)
    terms = struct.pack(">QQQI", 9, 180_000, 500_000, 32_384)
    ack = struct.pack(">QQQ", 3, 4, 500_000)
    frames = {
        "open": head(1, 0, 7) + terms,
        "accept": head(2, 0, 7) + terms,
        "reset": head(3, 0, 7) + struct.pack(">I", 3),
        "data": head(4, 0, 7) + struct.pack(">QQ", 5, 6) + ack + b"GIOP",
        "data-last": head(4, 3, 7) + struct.pack(">QQ", 5, 6) + ack,
        "ack": head(5, 4, 7) + ack + b"\x05",
        "address": b"1.0.100?peer=0.0.100&qos=cbr&pcr=353207&sdu=9180",
    }
    # Histories, in the numbers of src/atm.rs: step, session, and what the step takes.
    opened = bytes([7, 1, 4, 0, 1, 1, 1, 200, 255, 9, 10])
    asked = bytes([4, 0, 0, 1, 1, 200, 200, 10, 11, 0])
    data = lambda session, sequence, sent, notices=0: bytes(
        [6, 0, 4, session, notices, sequence, sent, 0, 0, 60, 20])
    frames |= {
        "history-client": opened + bytes([8, 1, 200, 8, 1, 200, 5, 0, 3, 1, 1, 1, 200, 1, 1, 3, 2, 0, 50, 10, 1, 2]),
        "history-server": asked + data(1, 0, 0) + data(1, 2, 2) + data(1, 1, 3) + bytes([9, 1, 9, 10, 1, 1]),
        "history-half": asked + data(1, 0, 0, 1) + bytes([8, 1, 90, 10, 1, 0]) + data(1, 1, 1, 3) + bytes([10, 1, 2]),
        "history-silence": opened + bytes([8, 1, 200]) + bytes([2, 0, 255]) * 12,
        "history-anew": opened + bytes([4, 0, 0, 2, 2, 99, 99, 9, 11, 0]) + bytes([9, 1, 3, 9, 2, 3]),
    }
    for name, octets in frames.items():
        put("atm", name, octets)


def lite():
    long = lambda minor, flags, kind, body: (
        b"GIOP" + bytes([1, minor, flags, kind])
        + struct.pack("<I" if flags & 1 else ">I", len(body)) + body)
    short = lambda minor, flags, kind, body: (
        struct.pack("<I" if flags & 1 else ">I", len(body))
        + bytes([kind | minor << 3 | (flags & 1) << 5 | (flags & 2) << 5]) + body)
    messages = [(2, 1, 0, b"r" * 40), (2, 0, 1, b"s" * 7), (1, 3, 7, b"f" * 20), (0, 0, 5, b""), (2, 1, 6, b"")]
    every = lambda of: b"".join(of(*message) for message in messages)
    octets = {
        "long": every(long),
        "short": every(short),
        "short-cut": every(short)[:-3],
        "long-cut": every(long)[:-9],
        "large": short(2, 1, 1, b"l" * 600) + short(2, 1, 1, b""),
        "endless": b"\xff\xff\xff\xff\x31" + b"e" * 30,
        "reserved": short(2, 1, 0, b"ab") + b"\0\0\0\0\x80",
        "version": b"\0\0\0\0\x18",
    }
    for name, octets in octets.items():
        for cut in (0x00, 0x44, 0x6f, 0xb7):
            put("lite", f"{name}-{cut:02x}", bytes([cut]) + octets)


def native():
    message = lambda minor, flags, kind, body: (
        b"GIOP" + bytes([1, minor, flags, kind])
        + struct.pack("<I" if flags & 1 else ">I", len(body)) + body)
    def request(number, key, name, rest):
        body = struct.pack("<IIII", number, 3, 0, len(key)) + key
        body += bytes(-len(body) % 4) + struct.pack("<I", len(name) + 1) + name + b"\0"
        return message(2, 1, 0, body + bytes(-len(body) % 4) + rest)
    reply = lambda number, rest: message(2, 1, 1, struct.pack("<II", number, 0) + rest)
    frame = lambda kind, number, ident, body, length=None: (
        struct.pack("<IIHBB", len(body) if length is None else length, ident, number, kind, 0) + body)
    calls = [request(n, b"k" * 22, (b"ping", b"push")[n % 2], bytes(4 + n)) for n in range(6)]
    named = request(5, b"k" * 22, b"ping", bytes(4))
    prefix = len(named) - 4
    octets = {
        "calls": b"".join(calls),
        "replies": b"".join(reply(n, bytes(4 + 9 * n)) for n in range(5)),
        "mixed": calls[0] + message(2, 0, 0, b"r" * 40) + calls[2] + message(0, 1, 5, b"") + calls[4],
        "short-requests": message(2, 1, 0, b"") + message(2, 1, 0, bytes(11)) + message(2, 1, 1, bytes(7)),
        "frames": frame(1, 0, prefix, named) + frame(2, 0, 6, bytes(4)) + frame(2, 0, 7, b"") + frame(0, 0, 0, calls[1]),
        "frames-cut": frame(1, 0, prefix, named) + frame(2, 0, 6, bytes(4), 50),
        "number-unknown": frame(2, 0, 6, bytes(4)),
        "number-skipped": frame(1, 1, prefix, named),
        "prefix-long": frame(1, 0, len(named) + 1, named),
        "prefix-short": frame(1, 0, 19, named),
        "endless": frame(1, 0, prefix, named) + frame(2, 0, 6, bytes(9), 0xffffffff),
        "kind": frame(3, 0, 0, b"ab"),
    }
    for name, octets in octets.items():
        for cut in (0x00, 0x44, 0x6f, 0xb7):
            put("native", f"{name}-{cut:02x}", bytes([cut]) + octets)


def in_memory():
    def sample(state=1, valid=(1, 0), count=-7, level=2.5):
        parts = b"".join(struct.pack("<BBH", flag, 9, 0x20ac) for flag in valid)
        return struct.pack("<I", state) + parts + struct.pack("<id", count, level)
    sequence = lambda count, octets: struct.pack("<II", count, 0) + octets
    octets = {
        "one": sample(),
        "three": sample() + sample(2) + sample(0, (0, 0), 1 << 30, float("nan")),
        "sequence": sequence(3, sample() + sample(2) + sample(0)),
        "none": sequence(0, b""),
        "long": sequence(100, sample() * 100),
        "no-enumerator": sequence(2, sample() + sample(3)),
        "no-boolean": sequence(2, sample() + sample(1, (1, 2))),
        "cut": sequence(2, sample() + sample()[:23]),
        "count": sequence(0xffffffff, sample()),
        "count-wraps": sequence(0x0aaaaaab, sample()),
    }
    for name, octets in octets.items():
        for shift in (0, 1, 8):
            put("in_memory", f"{name}-{shift}", bytes([shift]) + octets)


def reference():
    for number, line in enumerate(line for line in (ROOT / "tests/wire/iors.txt").read_text().splitlines()
                                  if line.startswith("IOR:")):
        put("reference", f"omniorb-{number}", line.encode())
        put("reference", f"omniorb-{number}-octets", bytes.fromhex(line[4:]))
    texts = ["corbaloc::host/Bank", "corbaloc:iiop:1.2@host:99/a%20b", "CORBALOC::h:1,iiop:1.1@[::1]:2/k/l",
             "corbaloc:rir:", "corbaloc:rir:/TradingService", "corbaloc::/k", "corbaloc:uiop:1.2@/tmp/x y|k",
             "corbaloc::[[x]:1/k", "corbaloc::a@b/k", "corbaloc::1.0@a@b/k", "corbaloc::h:/", "corbaloc:,/",
             "corbaname::h:5#a/b%20c.d", "corbaname:rir:", "corbaname:rir:#", "corbaname:uiop:/s|k#n", "file:///etc/ior",
             "file:relative", "IOR:", "ior:00", "IOR:000000000000000100000000", "IOR:0000000000000001000000000000",
             "iiop://host:1", "iiop://[::1]:2809", "iiop://[fe80::1%25eth0]:1", "uiop:///tmp/a b", "uiop:///tmp/%00%ff",
             "uiop://relative", "iiop://:0", "iiop://h:65536", "%", "", " corbaloc::h/k ", "corbaloc::h/%zz",
             "uiop://@bank%25", "uiop://@", "giop:tcp:[::1]:9", "giop:unix:/x", "iiop://h:1/dscp=46&portspan=4&port_in_ior=9",
             "corbaloc:atm:1.2@0.0.42/k", "corbaloc:shm:1.2@/a/b|k", "corbaloc::h,atm:1.2@itf.1/k", "corbaname:foo:a|#n",
             "corbaloc:foo:a|b|k", "corbaloc:foo:1.2@a@b/k"]
    for number, text in enumerate(texts):
        put("reference", f"text-{number:02}", text.encode())
    string = lambda order, text: struct.pack(order + "I", len(text) + 1) + text + b"\0"
    padded = lambda octets, to: octets + b"\0" * (-len(octets) % to)
    for order in "<>":
        name = {"<": "little", ">": "big"}[order]
        put("reference", f"address-tcp-{name}", padded(string(order, b"host"), 2) + struct.pack(order + "H", 2809))
        put("reference", f"address-unix-{name}", string(order, b"/tmp/bank"))
        put("reference", f"address-abstract-{name}", string(order, b"@bank"))
        put("reference", f"address-no-host-{name}", padded(string(order, b""), 2) + struct.pack(order + "H", 0))
        circuit = lambda itf, vpi, vci: struct.pack(order + "HH", itf, vci) + bytes([vpi])
        ends = padded(circuit(1, 0, 42), 2) + padded(circuit(0, 0, 42), 2)
        cbr = padded(ends[:-1] + b"\2", 4) + struct.pack(order + "IH", 353_207, 9_180)
        put("reference", f"address-circuit-{name}", cbr)
        put("reference", f"address-circuit-cut-{name}", cbr[:-3])
        put("reference", f"address-circuit-rate-{name}", cbr[:-6] + b"\xff" * 6)
        put("reference", f"address-circuit-none-{name}", bytes(len(cbr)))
        put("reference", f"address-long-host-{name}", padded(string(order, b"h" * 300), 2) + struct.pack(order + "H", 1))
        put("reference", f"address-tao-endless-{name}", struct.pack(order + "I", 0xffffffff)
            + padded(string(order, b"h"), 2) + struct.pack(order + "HH", 1, 0))
    capsule = lambda octets: struct.pack("<I", len(octets)) + octets
    policy = lambda kind, value: struct.pack("<I", kind) + capsule(padded(b"\1" + value, 4))
    model = policy(40, b"\0\0\0" + struct.pack("<Ih", 1, 77))
    bands = policy(45, b"\0\0\0" + struct.pack("<Ihhhh", 2, 0, 9, 10, 99))
    exposed = lambda count, octets: padded(b"\1", 4) + struct.pack("<I", count) + octets
    put("reference", "policies", exposed(2, model + bands))
    put("reference", "policies-endless", exposed(0xffffffff, model))
    put("reference", "policies-cut", exposed(2, model + bands[:-5]))
    endpoint = padded(string("<", b"host"), 2) + struct.pack("<Hh", 2809, 5)
    put("reference", "endpoints-priority", exposed(1, endpoint))
    put("reference", "platform", b"\1\1\x08\x10\0\0" + b"\0\0" + string("<", b"x86_64-linux-gnu")
        + b"\0" * 3 + struct.pack("<I", 4) + b"host")
    put("reference", "key", b"ZRB\x01" + bytes(range(24)))
    path = b"\0\0\0\x04bank\0\0\0\x08accounts"
    persistent = b"ZRB\x02" + struct.pack(">I", len(path)) + path
    keys = {
        "persistent": persistent + b"4711",
        "persistent-no-id": persistent,
        "persistent-no-path": b"ZRB\x02\0\0\0\0id",
        "persistent-cut": persistent[:-3],
        "persistent-endless": b"ZRB\x02\xff\xff\xff\xffid",
        "persistent-no-text": b"ZRB\x02\0\0\0\x05\0\0\0\x01\xffid",
        "persistent-part-too-long": b"ZRB\x02\0\0\0\x05\0\0\0\x02aid",
        "named": b"ZRB\x03" + bytes(range(16)) + b"id",
        "named-cut": b"ZRB\x03" + bytes(range(15)),
        "of-a-later-kind": b"ZRB\x1f" + bytes(range(24)),
        "too-long": b"ZRB\x01" + bytes(range(25)),
        "plain": b"ZRBank",
    }
    for name, octets in keys.items():
        put("reference", f"key-{name}", octets)
    put("reference", "nil", bytes(12))
    real_time(string, padded)
    contexts(string, padded)


def contexts(string, padded):
    """The data of the service contexts BI_DIR_IIOP and INVOCATION_POLICIES."""
    for order in "<>":
        name = {"<": "little", ">": "big"}[order]
        first = bytes([order == "<"]) + b"\0\0\0"
        long = lambda *numbers: struct.pack(order + f"{len(numbers)}I", *numbers)
        def points(*hosts, count=None):
            octets = first + long(len(hosts) if count is None else count)
            for host, port in hosts:
                octets = padded(octets, 4) + string(order, host)
                octets = padded(octets, 2) + struct.pack(order + "H", port)
            return octets
        def policies(*values, count=None):
            octets = first + long(len(values) if count is None else count)
            for number, value in values:
                octets = padded(octets, 4) + long(number, len(value)) + value
            return octets
        # RequestEndTime and ReplyEndTime (TimeBase::UtcT), RelativeRoundTripTimeout (TimeBase::TimeT), SyncScope.
        utc = first + b"\0" * 4 + struct.pack(order + "QIHh", 139_000_000_000_000_000, 7, 1, -60)
        limit = first + b"\0" * 4 + struct.pack(order + "Q", 20_000_000)
        scope = first[:1] + b"\0" + struct.pack(order + "h", 2)
        hosts = (b"client.example", 2809), (b"::1", 1)
        all_of_them = (28, utc), (30, utc), (32, limit), (24, scope)
        data = {
            "bidir": points(*hosts),
            "bidir-none": points(),
            "bidir-many": points(*[(b"h", n) for n in range(20)]),
            "bidir-cut": points(*hosts)[:-1],
            "bidir-endless": points(*hosts, count=0xffffffff),
            "bidir-no-host": points((b"", 0)),
            "bidir-no-text": points((b"\xff\xfe\0x", 9)),
            "qos": policies(*all_of_them),
            "qos-none": policies(),
            "qos-many": policies(*[(n, b"") for n in range(300)]),
            "qos-cut": policies(*all_of_them)[:-1],
            "qos-endless": policies(*all_of_them, count=0xffffffff),
            "qos-value-endless": policies() [:4] + long(1, 28, 0xffffffff),
            "qos-time-cut": policies((28, utc[:-3]), (30, b"")),
            "time": utc,
        }
        for of, octets in data.items():
            put("reference", f"context-{of}-{name}", octets)


def real_time(string, padded):
    """Components of Real-time CORBA: TAG_POLICIES, and the endpoints of TAO's profiles."""
    for order in "<>":
        name = {"<": "little", ">": "big"}[order]
        first = bytes([order == "<"]) + b"\0\0\0"
        long = lambda *numbers: struct.pack(order + f"{len(numbers)}I", *numbers)
        short = lambda *numbers: struct.pack(order + f"{len(numbers)}h", *numbers)
        def policies(*values):
            octets = first + long(len(values))
            for number, value in values:
                octets = padded(octets, 4) + long(number, len(value)) + value
            return octets
        model = lambda kind, priority: (40, first + long(kind) + short(priority))
        bands = lambda *ends: (45, first + long(len(ends) // 2) + short(*ends))
        tcp = long(0, 65536, 65536) + b"\1\0\1\0"
        unix = long(0x54414f00, 4096, 4096)
        components = {
            "policies": policies(model(1, 7), bands(5, 9), (43, first + long(2) + tcp + unix)),
            "model-twice": policies(model(0, 7), model(1, 8)),
            "model-of-no-kind": policies(model(2, 7)),
            "model-negative": policies(model(1, -1)),
            "model-cut": policies((40, first + long(1))),
            "bands-backwards": policies(model(0, 1), bands(9, 5)),
            "bands-overlapping": policies(model(0, 1), bands(0, 9, 5, 20), bands(1, 2)),
            "bands-endless": policies((45, first + long(0xffffffff))),
            "bands-without-model": policies(bands(0, 9)),
            "protocols-of-no-kind": policies((43, first + long(2, 77) + tcp)),
            "protocols-endless": policies((43, first + long(0xffffffff) + tcp)),
            "protocols-flag-2": policies((43, first + long(1) + tcp[:-2] + b"\2\0")),
            "policies-endless": first + long(0xffffffff),
            "endpoints": first + long(2) + padded(string(order, b"host"), 2)
            + struct.pack(order + "Hh", 2809, 7) + b"\0" * 3 + string(order, b"b")
            + struct.pack(order + "Hh", 1, -1),
        }
        for of, octets in components.items():
            put("reference", f"rt-{of}-{name}", octets)


def csi():
    """Security contexts: JacORB's, and tokens and names by themselves."""
    path = ROOT / "tests/wire/jacorb-3.9-giop1.2-csi.hex"
    seen = set()
    for line in path.read_text().splitlines():
        if line[:2] not in ("> ", "< "):
            continue
        message = bytes.fromhex(line[2:])
        # The context of security in the header of a message in big-endian.
        at = message.find(struct.pack(">I", 15))
        while at >= 0 and at % 4:
            at = message.find(struct.pack(">I", 15), at + 1)
        if at < 0:
            continue
        length = struct.unpack_from(">I", message, at + 4)[0]
        data = message[at + 8:at + 8 + length]
        if data not in seen:
            seen.add(data)
            put("csi", f"jacorb-{len(seen)}", data)
    oid = bytes.fromhex("0606678102010101")
    exported = lambda name: b"\4\1\0\x08" + oid + struct.pack(">I", len(name)) + name
    octets = lambda data: struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)
    inner = b"\0\0\0\0" + octets(b"alice") + octets(b"secret") + octets(exported(b"default"))
    establish = lambda identity, token: bytes(16) + bytes(4) + identity + octets(token)
    twice = b"\0\0\0\0" + octets(exported(b"bob"))
    chain = b"\x30\x08\x30\2ab\x30\2cd"
    data = {
        "token": b"\x60" + bytes([8 + len(inner)]) + oid + inner,
        "token-long": b"\x60\x81" + bytes([8 + 140]) + oid + inner + bytes(140 - len(inner)),
        "token-endless": b"\x60\x84\xff\xff\xff\xff" + oid,
        "token-groups": b"\x60\x81\x14" + oid + inner + bytes(140 - len(inner)),
        "error-token": b"\x60\x10" + oid + bytes(7) + b"\3",
        "name": exported(b"default"),
        "name-twice": twice,
        "principal": establish(struct.pack(">I", 2) + octets(exported(b"alice")), b""),
        "principal-twice": establish(struct.pack(">I", 2) + octets(twice), b""),
        "chain": establish(struct.pack(">I", 4) + octets(chain), b""),
        "anonymous": establish(struct.pack(">I", 1) + b"\1\0\0\0", b""),
        "other-identity": establish(struct.pack(">I", 16) + octets(b"who"), b""),
        "elements-endless": bytes(16) + b"\xff" * 8,
        "no-such-context": b"\0\0\0\3" + bytes(16),
        "little": b"\1\0\5\0" + bytes(4) + b"\7" + bytes(8),
        "requests": bytes([1, 1, 0, 1, 1, 1, 0x41, 1, 2, 0, 0, 1, 1, 2, 3, 0, 0, 2, 1, 0, 0x42, 0, 0x40, 1, 0, 1]),
        "requests-many": bytes(octet for id in range(100) for octet in (1, id)),
    }
    for name, octets_ in data.items():
        put("csi", name, octets_)


def cdr():
    value = {
        "text": struct.pack("<I", 5) + b"text\0" + struct.pack("<xxxI", 3) + b"\xc3\xbc\0",
        "wide": struct.pack(">I", 6) + b"\xfe\xff\x00a\xd8\x3d",
        "counts": struct.pack("<I", 0xFFFFFFFF) + bytes(8),
        "numbers": struct.pack("<I", 4) + bytes(range(64)),
        "zeros": bytes(96),
        "ones": b"\x01" * 64,
        "deep": struct.pack(">I", 1) * 300,
        "capsule": struct.pack("<I", 24) + b"\x01\0\0\0" + struct.pack("<II", 1, 2) + b"a\0\0\0" + bytes(12),
    }
    for kind in range(32):
        # Two of them for each type: a fuzzer finds the others.
        for name in (sorted(value)[kind % 8], sorted(value)[(kind + 3) % 8]):
            flags = (kind * 7 + len(name) * 5) % 64
            put("cdr", f"{name}-{kind:02}", bytes([flags, kind, kind % 5, 16]) + value[name])


def body(message):
    """Where the body of a GIOP 1.2 Request or Reply begins."""
    order = "<" if message[6] & 1 else ">"
    word = lambda at: struct.unpack_from(order + "I", message, at)[0]
    at = 20
    if message[7] == 0:
        # Request id, flags and so on; a plain key, the name of the operation.
        at = 24
        at = (at + 4 + word(at) + 3) & ~3
        at = at + 4 + word(at)
    at = (at + 3) & ~3
    count, at = word(at), at + 4
    for _ in range(count):
        at = (at + 11 + word(at + 4)) & ~3
    return (at + 7) & ~7


def anys():
    """Messages whose bodies are anys, in full: values in them may refer to where they stand."""
    number = 0
    for path in sorted((ROOT / "tests/wire").glob("*-giop1.2-anys.hex")):
        for line in path.read_text().splitlines():
            message = bytes.fromhex(line[2:]) if line[:2] in ("> ", "< ") else b""
            if not 28 < len(message) <= MOST or message[7] > 1:
                continue
            if message[7] == 1 and message[16:20] != bytes(4):
                continue
            # check_any has a kind and a number in front.
            start = body(message) + (8 if b"check_any" in message else 0)
            if start + 12 >= len(message):
                continue
            head = bytes([message[6] & 1]) + struct.pack("<H", start)
            put("any", f"{path.stem}-{number:03}", head + message)
            number += 1
    base, derived = b"IDL:zorb.test/Rich/Base:1.0\0", b"IDL:zorb.test/Rich/Derived:1.0\0"
    special = b"IDL:zorb.test/Rich/Special:1.0\0"
    string = lambda octets: struct.pack(">I", len(octets)) + octets + bytes(-len(octets) % 4)
    capsule = lambda octets: struct.pack(">I", len(octets)) + octets
    # A value type without members, as some compilers make them; its own state, or another's.
    with_id = lambda ident: struct.pack(">I", 29) + capsule(
        bytes(4) + string(ident) + string(b"V\0") + struct.pack(">hxxII", 0, 0, 0))
    state = struct.pack(">hxx", 7) + string(b"abc\0")
    one = struct.pack(">I", 0x7fffff02) + string(derived) + state + bytes(4) + struct.pack(">d", 0.5)
    again = lambda place, target: struct.pack(">Ii", 0xffffffff, target - place - 4)
    first = with_id(base)
    both = first + one + with_id(base)
    both += again(len(both), len(first))
    # A truncatable value in chunks of an unknown type, then null.
    chunk = struct.pack(">II", 0x7fffff0e, 2) + string(b"IDL:X:1.0\0") + string(base) \
        + struct.pack(">I", len(state)) + state + struct.pack(">Ixxxxi", 4, -1)
    custom = struct.pack(">I", 0x7fffff0a) + string(special) + struct.pack(">IIIi", 8, 5, 0, -1)
    hand = {
        "derived": first + one,
        "shared": both,
        "truncated": with_id(base) + chunk + with_id(base) + bytes(4),
        "custom": with_id(special) + custom,
        "base": with_id(b"IDL:omg.org/CORBA/ValueBase:1.0\0") + one,
        "nobody": with_id(b"IDL:Y:1.0\0") + chunk,
        "itself": first + again(len(first), len(first)),
    }
    for name, octets in hand.items():
        put("any", f"hand-{name}", bytes(3) + octets)


def idl():
    sources = list((ROOT / "crates/idl/tests").glob("**/*.idl")) + list((ROOT / "crates/cli/tests/idl").glob("*.idl"))
    sources += (ROOT / "tests/interop").glob("*.idl")
    # One file a rule: small, alike, and run by the compiler's own tests.
    sources = [path for path in sources if "rules" not in path.parts]
    for path in sorted(sources):
        text = path.read_bytes()
        if len(text) <= 4 * MOST:
            put("idl", "-".join(path.relative_to(ROOT).parts[-2:]), text)
    hand = ["", "module", "interface A", "interface A;;", "/*", "#if", "#include <x>", "#define A A\nA", "\"", "'\\'",
            "const long A = A;", "const long B = 1/0;", "const octet C = 256;", "struct S { S s; };",
            "interface A : A {};", "typedef sequence<A, 4294967296> B;", "module type { interface self { void fn(); }; };",
            "interface _if { attribute long _attribute; };", "enum E { };", "((((((((", "const long A = ((((1))));",
            "#pragma prefix \"\"\n#pragma ID A \"x\"\n", "typedef long A[0];", "const wstring W = L\"\\u0000\";",
            "interface A { void f(in A a, out A b, inout A c); oneway void g(in long x) raises (X); };"]
    for number, text in enumerate(hand):
        put("idl", f"hand-{number:02}", text.encode())
    macros = ["#define F(x, y) x##y #x\nF(a, b) F((1, 2), 3) F(1", "#define A B\n#define B A\nA B", "#define F(x) G(x\n#define G(x) [x]\nF(1))",
              "#define f(a) f(2 * (a))\n#define g f\nf(g(f)(1))", "#define S(x) #x\n#define T(x) S(x) x\nconst string s = T(__LINE__);",
              "#if 1 ? 2 : 3 / 0 || !defined(X) && ~-0x7FL >> 70\n#elif (\n#else\n#endif", "#line 70 \"x\"\n#error on purpose",
              "inter\\\nface A\\\r\n{};\r/* \\\n */", "#ifdef X\ndon't /* \"\n#else\n*/\n#endif", "#define D0 x x\n#define D1 D0 D0\n#define D2 D1 D1\nD2",
              "#include __FILE__\n#include <a\\b.idl>\n", "#pragma prefix P\n#define P \"p.org\"\n#pragma prefix P\nmodule M {};",
              "\ufeffmodule M { const long N = 1; };\x1a", "a\0b", "# 1 \"cpp.idl\" 2\n##\n#\n#1x\n", "#define J(a, b) a##b\nJ(,) J(_, _x) J(/, /) J(\"a, b\")"]
    for number, text in enumerate(macros):
        put("idl", f"macro-{number:02}", text.encode())


def server():
    """Conversations with the object `fuzz` of src/server.rs: GIOP 1.2, little-endian."""
    def message(kind, body, flags=1):
        return b"GIOP" + bytes([1, 2, flags, kind]) + struct.pack("<I", len(body)) + body

    def aligned(octets, to):
        return octets + b"\0" * (-(len(octets) + 12) % to)

    def text(s):
        return struct.pack("<I", len(s) + 1) + s.encode() + b"\0"

    def request(number, operation, arguments=b"", response=3, key=b"fuzz", contexts=b"\0\0\0\0"):
        head = struct.pack("<IB3xhxxI", number, response, 0, len(key)) + key
        head = aligned(head, 4) + text(operation)
        head = aligned(head, 4) + contexts
        return message(0, aligned(head, 8) + arguments if arguments else head)

    def locate(number, key=b"fuzz"):
        return message(3, struct.pack("<IhxxI", number, 0, len(key)) + key)

    long = lambda n: struct.pack("<i", n)
    tag = struct.pack("<I", 0x7FFFFF02) + text("IDL:Conversed/Node:1.0")
    node = aligned(struct.pack("<I", 1) + tag, 4) + aligned(text("a"), 4) + long(0) + long(0)
    shared = (struct.pack("<I", 2) + node[4:] + struct.pack("<Ii", 0xFFFFFFFF, -(len(node) - 4) - 4))
    def contexts(*all_of_them):
        octets = struct.pack("<I", len(all_of_them))
        for number, data in all_of_them:
            octets += struct.pack("<II", number, len(data)) + data + b"\0" * (-len(data) % 4)
        return octets

    # One listen point; one policy, RequestEndTime.
    first = b"\1\0\0\0"
    offer = (5, first + struct.pack("<I", 1) + text("h") + struct.pack("<H", 2809))
    end = first + b"\0" * 4 + struct.pack("<QIHh", 139_000_000_000_000_000, 0, 0, 0)
    policies = (7, first + struct.pack("<III", 1, 28, len(end)) + end)
    endless = first + b"\xff" * 4
    offered = lambda *of: request(1, "twice", long(1), contexts=contexts(*of)) + request(2, "twice", long(2))
    code_sets = struct.pack("<II", 1, 1) + struct.pack("<I", 12) + struct.pack("<B3xII", 1, 0x05010001, 0x00010109)
    hand = {
        "twice": request(1, "twice", long(21)),
        "three-alike": b"".join(request(n, "twice", long(n)) for n in range(3)),
        "two-operations": b"".join(request(n, ("twice", "echo")[n % 2], (long(n), text("x"))[n % 2]) for n in range(6)),
        "one-ways": b"".join(request(n, "forget", long(n), response=n % 2) for n in range(4)),
        "located": locate(1) + request(2, "twice", long(1)) + locate(3, b"none"),
        "no-object": request(1, "twice", long(1), key=b"none") + request(2, "twice", long(1)),
        "no-operation": request(1, "thrice", long(1)) + request(2, "_is_a", text("IDL:Conversed/Target:1.0")),
        "too-short": request(1, "twice", b"\0\0") + request(2, "twice", long(2)),
        "too-long": request(1, "twice", long(1) * 20) + request(2, "twice", long(2)),
        "cancelled": request(1, "twice", long(1)) + message(2, long(1)) + request(2, "twice", long(2)),
        "any": request(1, "reflect", struct.pack("<Ii", 3, 7)) + request(2, "reflect", struct.pack("<II", 18, 0) + text("x")),
        "values": request(1, "pass", node),
        "nil": request(1, "pass", struct.pack("<II", 1, 0)) + request(2, "pass", long(0)),
        "shared": request(1, "pass", shared) + request(2, "pass", node),
        "code-sets": request(1, "echo", text("\u00e9"), contexts=code_sets) + request(2, "echo", text("x")),
        "bidir": offered(offer),
        "bidir-twice": offered(offer, offer),
        "bidir-endless": offered((5, endless)),
        "bidir-cut": offered((5, offer[1][:-3])),
        "qos": offered(policies),
        "qos-endless": offered((7, endless)),
        "qos-and-bidir": offered(policies, offer),
        "close": request(1, "twice", long(1)) + message(5, b""),
        "reply": message(1, struct.pack("<III", 1, 0, 0)) + request(1, "twice", long(1)),
        "half": request(1, "twice", long(1)) + request(2, "twice", long(1))[:30],
        "fragments": message(0, request(1, "echo", text("abcdefgh"))[12:], 3) + message(7, long(1) + b"ijkl"),
        "empty": b"",
    }
    for name, stream in hand.items():
        put("server", f"hand-{name}", b"\x03\x00\x0b\x40" + stream)


def values():
    """Values of src/values.rs, in both byte orders: written as a list of items, of which a name is a mark, a name behind
    '@' an indirection to it, and chunks are lists."""
    def write(items, order):
        octets, marks = bytearray(), {}

        def align(to):
            octets.extend(b"\0" * (-len(octets) % to))

        def put_long(n):
            align(4)
            octets.extend(struct.pack(order + "I", n & 0xFFFFFFFF))

        def item(it):
            if isinstance(it, int):
                put_long(it)
            elif isinstance(it, float):
                align(8)
                octets.extend(struct.pack(order + "d", it))
            elif isinstance(it, bytes):
                octets.extend(it)
            elif isinstance(it, list):
                put_long(0)
                at = len(octets)
                for each in it:
                    item(each)
                octets[at - 4:at] = struct.pack(order + "I", len(octets) - at)
            elif it[:1] == "#":
                align(4)
                marks[it[1:]] = len(octets)
            elif it[:1] == "@":
                put_long(0xFFFFFFFF)
                put_long(marks[it[1:]] - len(octets))
            else:
                put_long(len(it) + 1)
                octets.extend(it.encode() + b"\0")

        for it in items:
            item(it)
        return bytes(octets)

    ident = lambda name: f"IDL:Valued/{name}:1.0"
    plain, one, many, chunked = 0x7FFFFF00, 0x7FFFFF02, 0x7FFFFF06, 0x7FFFFF0A
    leaf = [chunked, ident("Leaf"), ["l", 0, 0], [0.5], -1]
    seeds = {
        "node": (0, [1, one, ident("Node"), "a", 0, 0]),
        "null": (0, [2, 0, 0]),
        "plain": (0, [1, plain, "a", 0, 0]),
        "shared": (0, [2, "#a", one, ident("Node"), "a", 0, 0, "@a"]),
        "itself": (0, [1, "#a", plain, "a", "@a", "@a"]),
        "cycle": (0, [1, "#a", plain, "a", plain, "b", "@a", 0, "@a"]),
        "tree": (0, [1, plain, "a", plain, "b", 0, 0, plain, "c", plain, "d", 0, 0, 0]),
        "ids-again": (0, [2, one, "#i", ident("Node"), "a", 0, 0, one, "@i", "b", 0, 0]),
        "leaf": (0, [1, *leaf]),
        "truncated": (0, [1, 0x7FFFFF0E, 2, ident("Unknown"), ident("Node"), ["a", 0, 0], [7, 7], -1]),
        "truncated-inner": (0, [1, 0x7FFFFF0E, 2, ident("Unknown"), ident("Node"), ["a", 0, 0], chunked, ident("Leaf"),
                                ["x", 0, 0, 0.25], -2, [1], -1]),
        "list": (0, [1, many, 1, ident("Node"), "a", 0, 0]),
        "list-again": (0, [2, many, "#l", 2, ident("Leaf"), ident("Node"), "a", 0, 0, 0.5, many, "@l", "b", 0, 0, 0.5]),
        "codebase": (0, [1, 0x7FFFFF01, "file:///x", "a", 0, 0]),
        "twig": (0, [1, chunked, ident("Twig"), ["t", 0, 0], [0.5], [2], plain + 8, ["u", 0, 0], -2, [0], -1]),
        "branch": (0, [1, one, ident("Branch"), "b", 0, 0, 0]),
        "depth": (0, [1] + [plain, "n"] * 60 + [0] * 61),
        "lie": (0, [0x7FFFFFFF, plain]),
        "secret": (1, [1, chunked, ident("Secret"), ["s", 0, b"\7"], -1]),
        "secret-about": (1, [1, chunked, ident("Secret"), ["s"], plain + 8, ["a", 0, 0], -2, [b"\7"], -1]),
        "secret-wrong": (1, [1, chunked, ident("Secret"), ["s", 0, b"\1"], -1]),
        "boxes": (2, [1, one, ident("Names"), 2, "a", "b", 1, one, ident("Count"), 7]),
        "boxes-shared": (2, [2, "#n", plain, 1, "a", "@n", 0]),
        "mixed": (3, [0, 0, 0, 0, 0, 0]),
        "mixed-again": (3, ["#a", plain, "a", 0, 0, 0, 0, 0, 0, "@a"]),
        "mixed-all": (3, [plain, "a", 0, 0, 0, chunked, ident("Secret"), ["s", 0, b"\7"], -1, plain, 1, "n", plain, 7, 0]),
    }
    for name, (kind, items) in seeds.items():
        for order, bit in ((">", 0), ("<", 1)):
            put("values", f"hand-{name}-{bit}", bytes([kind << 3 | 2 << 1 | bit]) + write(items, order))


for make in (giop, atm, lite, native, in_memory, reference, csi, cdr, anys, idl, server, values):
    make()
