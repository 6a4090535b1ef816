package peer;

import static peer.Check.raised;
import static peer.Check.same;

import Interop.Base;
import Interop.BaseHelper;
import Interop.Completion;
import Interop.Detailed;
import Interop.Diamond;
import Interop.DiamondHelper;
import Interop.Empty;
import Interop.FailKind;
import Interop.Left;
import Interop.LeftHelper;
import Interop.LoudNode;
import Interop.LoudNodeHelper;
import Interop.Mismatch;
import Interop.NamedNode;
import Interop.NamedNodeHolder;
import Interop.NoSuchKind;
import Interop.Node;
import Interop.NodeHelper;
import Interop.NodeHolder;
import Interop.Peer;
import Interop.PeerHelper;
import Interop.Refused;
import Interop.Stranger;
import Interop.StrangerHelper;
import Shapes.Broken;
import Shapes.Point;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.omg.CORBA.BAD_OPERATION;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.ByteHolder;
import org.omg.CORBA.CharHolder;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.DATA_CONVERSION;
import org.omg.CORBA.DoubleHolder;
import org.omg.CORBA.FloatHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.LongHolder;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.ORB;
import org.omg.CORBA.ObjectHolder;
import org.omg.CORBA.Policy;
import org.omg.CORBA.SetOverrideType;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.TIMEOUT;
import org.omg.CORBA.UNKNOWN;
import org.omg.PortableServer.POA;

/** What the client does, one subject each; a failed check is a {@link Failure}. */
final class Cells {
    private static final int BIG = 5 << 20;

    private final ORB orb;
    private final POA poa;
    private final Named all = new Named();
    private final Map<String, Echo> echoes = Echo.all(Interop.PeerOperations.class);
    private final boolean utf8;
    private Peer peer;

    Cells(ORB orb, POA poa, String corbaloc, boolean utf8, boolean wide) {
        this.orb = orb;
        this.poa = poa;
        this.utf8 = utf8;
        all.put("basic", this::basic);
        all.put("mixed", this::mixed);
        all.put("mismatch", this::mismatch);
        all.put("constants", () -> same("constants", peer.constants(), Rules.digestOfConstants()));
        all.put("strings", this::strings);
        all.put("latin1", this::latin1);
        all.put("latin1_char", this::latin1Char);
        if (utf8) all.put("unicode", this::unicode);
        all.put("enums", () -> many(1, 8, "echo_suit"));
        all.put("structs", () -> many(3, 8, "echo_point", "echo_odd", "echo_inner", "echo_outer"));
        all.put("bundles", () -> lengths(4, new int[] {0, 1, 2, 3, 4, 5, 6, 7, 8}, "echo_bundle"));
        all.put("sequences", () -> lengths(7, LENGTHS, "echo_octets", "echo_booleans", "echo_longs", "echo_doubles",
                "echo_strings", "echo_tags", "echo_suits"));
        all.put("struct_sequences", () -> lengths(8, LENGTHS, "echo_odds", "echo_inners", "echo_outers", "echo_pairs",
                "echo_path"));
        all.put("nested_sequences", () -> lengths(9, LENGTHS, "echo_matrix", "echo_deep"));
        all.put("bounded", () -> lengths(5, new int[] {0, 1, 2, 3, 4, 5}, "echo_list", "echo_two_tags", "echo_lists",
                "echo_corners"));
        all.put("beyond_bounds", this::beyondBounds);
        all.put("arrays", () -> many(6, 4, "echo_cube", "echo_names", "echo_oddpair", "echo_pair", "echo_paths",
                "echo_rows"));
        all.put("large_octets", this::largeOctets);
        all.put("large_strings", this::largeStrings);
        all.put("large_structs", () -> lengths(9, new int[] {3000}, "echo_odds", "echo_outers"));
        all.put("big_messages", this::bigMessages);
        if (wide) {
            all.put("wide_chars", this::wideChars);
            all.put("wide_halves", this::wideHalves);
            all.put("wide_strings", this::wideStrings);
            all.put("wide_marks", this::wideMarks);
            all.put("wide_sequences", () -> lengths(22, LENGTHS, "echo_wchars", "echo_wstrings"));
            all.put("wide_structs", () -> lengths(23, LENGTHS, "echo_wide"));
            all.put("wide_bounded", this::wideBounded);
            all.put("widen_narrow", this::widenNarrow);
            all.put("large_wide_strings", this::largeWideStrings);
            if (!utf8) all.put("unfit_reply", this::unfitReply);
        } else all.put("wide_refused", this::wideRefused);
        all.put("attributes", this::attributes);
        all.put("exceptions", this::exceptions);
        all.put("system_exceptions", this::systemExceptions);
        all.put("retried_exceptions", this::retriedExceptions);
        all.put("undeclared", this::undeclared);
        all.put("bad_operation", this::badOperation);
        all.put("oneways", this::oneways);
        all.put("references", this::references);
        all.put("pseudo_operations", this::pseudoOperations);
        all.put("inheritance", this::inheritance);
        all.put("callbacks", this::callbacks);
        all.put("keywords", this::keywords);
        all.put("gates", this::gates);
        all.put("timeout", this::timeout);
        all.put("concurrent", this::concurrent);
        all.put("forward", this::forward);
        all.put("forward_to_nowhere", this::forwardToNowhere);
        if (corbaloc != null) all.put("corbaloc", () -> byCorbaloc(corbaloc));
    }

    private static final int[] LENGTHS = {0, 1, 2, 3, 8, 33};

    Named named() {
        return all;
    }

    boolean run(Peer peer, List<String> names) {
        this.peer = peer;
        return all.run(names);
    }

    // ---- data

    private void echo(String operation, Object a, Object b) throws Exception {
        echoes.get(operation).call(peer, a, b);
    }

    private void echo(String operation, Samples samples, int n, int m) throws Exception {
        Echo echo = echoes.get(operation);
        Object a = samples.value(echo.javaType(), echo.type, n), b = samples.value(echo.javaType(), echo.type, m);
        echo.call(peer, a, b);
    }

    private void many(long seed, int rounds, String... operations) throws Exception {
        Samples samples = new Samples(seed);
        for (int round = 0; round < rounds; round++)
            for (String operation : operations) echo(operation, samples, round % 4, 3 - round % 4);
    }

    private void lengths(long seed, int[] lengths, String... operations) throws Exception {
        Samples samples = new Samples(seed);
        for (String operation : operations)
            for (int i = 0; i < lengths.length; i++)
                echo(operation, samples, lengths[i], lengths[lengths.length - 1 - i]);
    }

    private void basic() throws Exception {
        for (int v : new int[] {0, 1, -2, 0x1234, 0x7fff, 0x8000, 0xffff}) {
            echo("echo_short", (short) v, (short) (v + 3));
            echo("echo_ushort", (short) v, (short) (v + 3));
        }
        for (int v : new int[] {0, -1, 0x12345678, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            echo("echo_long", v, v ^ 0x55);
            echo("echo_ulong", v, v ^ 0x55);
        }
        for (long v : new long[] {0, 1, 0x123456789abcdef0L, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
            echo("echo_longlong", v, v ^ 0x5555);
            echo("echo_ulonglong", v, v ^ 0x5555);
        }
        for (float v : new float[] {0, -0.0f, 1.23f, Float.MIN_VALUE, Float.MAX_VALUE, Float.NEGATIVE_INFINITY, Float.NaN})
            echo("echo_float", v, 0.1f);
        for (double v : new double[] {0, -0.0, 1.23, Double.MIN_VALUE, Double.MAX_VALUE, Double.POSITIVE_INFINITY, Double.NaN})
            echo("echo_double", v, 0.1);
        for (boolean a : new boolean[] {true, false}) for (boolean b : new boolean[] {true, false}) echo("echo_boolean", a, b);
        for (int v : new int[] {0, 1, 0x7f, 0x80, 0xff}) echo("echo_octet", (byte) v, (byte) (v + 5));
        for (char v : "aZ0 \n\u0001\u007f".toCharArray()) echo("echo_char", v, 'q');
        peer.nothing();
        ByteHolder one = new ByteHolder();
        DoubleHolder two = new DoubleHolder();
        StringHolder three = new StringHolder();
        peer.only_out(one, two, three);
        same("only_out", one.value + " " + two.value + " " + three.value, "1 2.0 three");
    }

    private void mixed() throws Exception {
        for (int round = 0; round < 8; round++) {
            Samples s = new Samples(11 + round);
            byte a = (byte) s.roll(), sentG = (byte) s.roll();
            double b = (int) s.roll() / 1024.0, sentH = (int) s.roll() / 1024.0;
            char c = s.letter();
            long d = s.roll();
            boolean e = round % 2 == 1;
            short f = (short) s.roll();
            long check = new Rules.Digest()
                    .octets(a, 1).real(b).octets(c, 1).octets(d, 8).truth(e).octets(f, 2).octets(sentG, 1).real(sentH)
                    .value();
            ByteHolder g = new ByteHolder(sentG), i = new ByteHolder();
            DoubleHolder h = new DoubleHolder(sentH);
            LongHolder j = new LongHolder();
            BooleanHolder k = new BooleanHolder();
            FloatHolder l = new FloatHolder();
            CharHolder m = new CharHolder();
            same("result", peer.mixed(a, b, c, d, e, f, g, h, check, i, j, k, l, m), (short) ~f);
            same("g", g.value, (byte) ~a);
            same("h", h.value, -b);
            same("i", i.value, sentG);
            same("j", j.value, ~d);
            same("k", k.value, !e);
            same("l", l.value, (float) sentH);
            same("m", m.value, Rules.otherCase(c));
        }
    }

    /** The server finds a wrong check argument, so the checks of all other cells mean something. */
    private void mismatch() throws Exception {
        Mismatch e = raised(Mismatch.class, "a wrong check",
                () -> peer.echo_long(1, new IntHolder(2), 42, new IntHolder()));
        same("operation", e.operation, "echo_long");
        same("expected", e.expected, 42L);
        same("found", e.found, new Rules.Digest().octets(1, 4).octets(2, 4).value());
    }

    private void strings() throws Exception {
        echo("echo_string", "", "");
        echo("echo_string", "x", "");
        echo("echo_string", "", "y");
        echo("echo_string", "The quick brown fox", "0123456789 ~!@#$%^&*()[]{}<>\"'\\/|");
        for (int n = 1; n < 12; n++) echo("echo_string", "p".repeat(n), "Q".repeat(12 - n));
        same("join", peer.join("ab", "cd"), "abcd");
        same("join", peer.join("", ""), "");
        for (String tag : new String[] {"", "a", "exactly12chr"}) echo("echo_tag", tag, "Tag");
    }

    private void latin1() throws Exception {
        echo("echo_string", "na\u00efve caf\u00e9", "\u00c4\u00d6\u00dc\u00df");
        StringBuilder upper = new StringBuilder();
        for (char c = 0xa0; c < 0x100; c++) upper.append(c);
        echo("echo_string", upper.toString(), "\u00ff");
        same("join", peer.join("\u00e9", "\u00e8"), "\u00e9\u00e8");
    }

    private void latin1Char() throws Exception {
        if (utf8) // one octet cannot carry it
            raised(DATA_CONVERSION.class, "0xe9 in UTF-8", () -> echo("echo_char", '\u00e9', 'a'));
        else for (char c = 0x80; c < 0x100; c++) echo("echo_char", c, '\u00e9');
        echo("echo_char", 'b', 'a');
    }

    private void unicode() throws Exception {
        echo("echo_string", "\u65e5\u672c\u8a9e", "na\u00efve \u20ac \ud83e\udd80 end");
        echo("echo_string", "\udbff\udfff", "\u0416");
    }

    private void beyondBounds() throws Exception {
        raised(BAD_PARAM.class, "a tag of 13",
                () -> peer.echo_tag("exactly13char", new StringHolder(""), 0, new StringHolder()));
        peer.nothing();
    }

    private void largeOctets() throws Exception {
        Samples s = new Samples(8);
        echo("echo_octets", s.octets(500001), s.octets(300000));
        for (int n : new int[] {0, 1, 255, 256, 8191, 8192, 65536, 1000003}) madeOctets(n);
    }

    private void madeOctets(int n) throws Exception {
        byte[] made = peer.make_octets(n);
        same("make_octets: length", made.length, n);
        for (int i = 0; i < n; i++)
            if (made[i] != PeerServant.octetAt(i)) throw new Failure("make_octets(" + n + "): wrong octet at " + i);
    }

    private void largeStrings() throws Exception {
        StringBuilder a = new StringBuilder(), b = new StringBuilder();
        for (int i = 0; i < 200000; i++) a.append((char) ('a' + i % 26));
        for (int i = 0; i < 123457; i++) b.append((char) ('Z' - i % 23));
        echo("echo_string", a.toString(), b.toString());
        for (int n : new int[] {0, 1, 8190, 8191, 8192, 300000}) same("make_string", peer.make_string(n), "x".repeat(n));
    }

    /** What omniORB takes at most by default, nearly, and what it does not take. */
    private void bigMessages() throws Exception {
        for (int n : new int[] {1_992_294, BIG}) {
            byte[] sent = new Samples(14).octets(n);
            same("take_octets", peer.take_octets(sent), PeerServant.digest(sent));
            madeOctets(n);
            same("make_string", peer.make_string(n), "x".repeat(n));
        }
    }

    // ---- wide text

    private void wideChars() throws Exception {
        for (char unit : "aZ0 \u0001\u007f\u0080\u00e9\u00ff\u0100\u0416\u20ac\u65e5\u0301\ud7ff\ue000\ufffd\uffff".toCharArray())
            echo("echo_wchar", unit, (char) (unit ^ 4)); // never a mark
    }

    /** Halves of pairs: a char of Java's is a UTF-16 unit. */
    private void wideHalves() throws Exception {
        for (char unit : "\ud83e\udd80\ud800\udc00\udbff\udfff".toCharArray()) echo("echo_wchar", unit, '\u0416');
        char[] pairs = "\ud83e\udd80x\ud834\udd1e".toCharArray();
        echo("echo_wchars", pairs, Arrays.copyOf(pairs, 1));
    }

    private void wideStrings() throws Exception {
        String[] texts = Samples.wideTexts();
        for (int n = 0; n < texts.length; n++) echo("echo_wstring", texts[n], texts[(n * 5 + 2) % texts.length]);
        for (int n = 1; n < 12; n++) echo("echo_wstring", "\u0416p".repeat(n), "Q".repeat(12 - n));
    }

    /**
     * U+FEFF is a byte order mark where a text begins and a character everywhere else. Not where a text begins: JacORB
     * sends it without a mark before it, and so it is one.
     */
    private void wideMarks() throws Exception {
        echo("echo_wstring", "a\ufeffb", "ends with one\ufeff");
        echo("echo_wstring", "x\ufffe", "x\ufeff\ufeff");
    }

    private void wideBounded() throws Exception {
        for (String tag : new String[] {"", "a", "\u0416", "exactly12chr", "\u0416".repeat(12), "\ud83e\udd80".repeat(6)})
            same("twist_wtag", peer.twist_wtag(tag), Rules.otherCase(tag));
        for (String tag : new String[] {"exactly13char", "\ud83e\udd80".repeat(6) + "!"})
            raised(BAD_PARAM.class, "twist_wtag of 13", () -> peer.twist_wtag(tag));
    }

    /** Text that the server cannot send as ISO 8859-1. */
    private void unfitReply() throws Exception {
        for (String text : new String[] {"\u65e5\u672c", "\u0100", "\u20ac", "\ud83e\udd80"}) {
            raised(DATA_CONVERSION.class, "narrow", () -> peer.narrow(text));
            echo("echo_string", "still", "there");
        }
    }

    private void widenNarrow() throws Exception {
        for (String text : new String[] {"", "plain", "na\u00efve caf\u00e9 \u00c4\u00d6\u00dc\u00df \u00ff"}) {
            same("widen", peer.widen(text), text);
            same("narrow", peer.narrow(text), text);
        }
        if (!utf8) return;
        for (String text : Samples.wideTexts()) {
            same("widen", peer.widen(text), text);
            same("narrow", peer.narrow(text), text);
        }
    }

    private void largeWideStrings() throws Exception {
        StringBuilder a = new StringBuilder(), b = new StringBuilder();
        for (int i = 0; i < 20000; i++) a.append("\u0416a\ud83e\udd80");
        for (int i = 0; i < 45677; i++) b.append((char) (0x3b1 + i % 25));
        echo("echo_wstring", a.toString(), b.toString());
        for (int n : new int[] {0, 1, 4094, 4095, 4096, 150000})
            same("make_wstring", peer.make_wstring(n), "\u0416".repeat(n));
    }

    /** Where there is no wide text, nothing of it arrives or comes back. */
    private void wideRefused() throws Exception {
        refused("echo_wchar", () -> peer.echo_wchar('a', new CharHolder('b'), 0, new CharHolder()));
        refused("echo_wstring", () -> peer.echo_wstring("a", new StringHolder(""), 0, new StringHolder()));
        refused("make_wstring", () -> peer.make_wstring(3));
        peer.nothing();
    }

    private static void refused(String what, Check.Action call) throws Exception {
        try {
            call.run();
        } catch (org.omg.CORBA.MARSHAL | BAD_PARAM | org.omg.CORBA.INV_OBJREF | DATA_CONVERSION e) {
            return;
        }
        throw new Failure(what + ": no exception");
    }

    // ---- objects

    private void attributes() throws Exception {
        int before = peer.revision();
        for (int v : new int[] {-5, 123456}) {
            peer.number(v);
            same("number", peer.number(), v);
        }
        peer.title("A title");
        same("title", peer.title(), "A title");
        for (boolean v : new boolean[] {true, false}) {
            peer.ready(v);
            same("ready", peer.ready(), v);
        }
        int[] list = {3, -1, 4, Integer.MIN_VALUE};
        peer.list(list);
        same("list", Arrays.toString(peer.list()), Arrays.toString(list));
        peer.where(new Point((short) -3, 2.5));
        same("where", peer.where().x + " " + peer.where().y, "-3 2.5");
        Node mine = Nodes.host(poa, "attribute", false);
        peer.companion(mine);
        same("companion", mine._is_equivalent(peer.companion()), true);
        peer.companion(null);
        same("companion", peer.companion(), null);
        same("revision", peer.revision(), before + 9);
    }

    private void exceptions() throws Exception {
        for (int code : new int[] {0, 5, 30000}) {
            String text = code == 0 ? "" : "Why Not";
            same("fail_not", peer.fail(FailKind.fail_not, code, text), ~code);
            raised(Empty.class, "fail_empty", () -> peer.fail(FailKind.fail_empty, code, text));
            Detailed d = raised(Detailed.class, "fail_detailed", () -> peer.fail(FailKind.fail_detailed, code, text));
            same("level", d.level, (byte) code);
            same("code", d.code, code * -1000003L);
            same("text", d.text, Rules.otherCase(text));
            same("where", d.where.x + " " + d.where.y, code + " " + code / 2.0);
            same("trail", Arrays.toString(d.trail), "[" + code + ", " + (code + 1) + ", " + (code + 2) + "]");
            same("suit_", d.suit_.value(), code % 4);
            same("last", d.last, true);
            Broken b = raised(Broken.class, "fail_broken", () -> peer.fail(FailKind.fail_broken, code, text));
            same("why", b.why, text);
            same("shade", b.shade.value(), code % 4);
            Refused r = raised(Refused.class, "fail_refused", () -> peer.fail(FailKind.fail_refused, code, text));
            same("why", r.why, text);
            same("by", Nodes.nameOf(r.by), "home");
        }
        NoSuchKind k = raised(NoSuchKind.class, "make_family", () -> peer.make_family("Uncle"));
        same("kind", k.kind, "Uncle");
    }

    private void failing(String name, int minor, int completed) throws Exception {
        String what = name + " " + minor + " " + completed;
        try {
            peer.fail_system(name, minor, Completion.from_int(completed));
        } catch (SystemException e) {
            same(what, e.getClass().getSimpleName(), name);
            same(what + ": minor", e.minor, minor);
            same(what + ": completed", e.completed.value(), completed);
            return;
        }
        throw new Failure(what + ": no exception");
    }

    private void systemExceptions() throws Exception {
        for (String name : new String[] {
            "BAD_PARAM", "NO_PERMISSION", "NO_IMPLEMENT", "BAD_INV_ORDER", "NO_RESOURCES", "NO_MEMORY", "INTERNAL", "MARSHAL",
            "DATA_CONVERSION", "OBJ_ADAPTER", "IMP_LIMIT", "INV_OBJREF", "BAD_OPERATION", "UNKNOWN", "TIMEOUT",
            "TRANSACTION_ROLLEDBACK", "BAD_TYPECODE", "BAD_CONTEXT", "FREE_MEM", "INITIALIZE", "INTF_REPOS", "INVALID_TRANSACTION",
            "INV_FLAG", "INV_IDENT", "INV_POLICY", "NO_RESPONSE", "PERSIST_STORE", "TRANSACTION_REQUIRED", "BAD_QOS",
            "CODESET_INCOMPATIBLE", "REBIND", "TRANSACTION_MODE", "TRANSACTION_UNAVAILABLE"
        })
            for (int completed = 0; completed < 3; completed++)
                for (int minor : new int[] {0, 1, 0x4f4d0001, -1}) failing(name, minor, completed);
        BAD_PARAM e = raised(BAD_PARAM.class, "an unheard-of one",
                () -> peer.fail_system("NO_SUCH", 9, Completion.completed_no));
        same("minor", e.minor, 1);
    }

    /** The exceptions that a client ORB may take as a reason to try again. */
    private void retriedExceptions() throws Exception {
        for (String name : new String[] {"TRANSIENT", "COMM_FAILURE", "OBJECT_NOT_EXIST"}) failing(name, 3, 2);
    }

    private void undeclared() throws Exception {
        for (int i = 0; i < 3; i++) {
            raised(UNKNOWN.class, "fail_undeclared", peer::fail_undeclared);
            peer.nothing();
        }
    }

    private void badOperation() throws Exception {
        Stranger stranger = StrangerHelper.unchecked_narrow(peer);
        raised(BAD_OPERATION.class, "talk", CompletionStatus.COMPLETED_NO, stranger::talk);
        same("_is_a Stranger", peer._is_a(StrangerHelper.id()), false);
    }

    private void oneways() throws Exception {
        long total = 0;
        String[] texts = {"first", "", "Third"};
        for (int i = 0; i < 60; i++) {
            peer.note(i, texts[i % 3]);
            total += new Rules.Digest().octets(i, 4).text(texts[i % 3]).value();
        }
        Samples s = new Samples(13);
        for (int n : new int[] {0, 1, 1000, 100000}) {
            byte[] octets = s.octets(n);
            peer.note_octets(octets);
            total += PeerServant.digest(octets);
        }
        same("notes", peer.notes(64), total);
        same("notes again", peer.notes(0), 0L);
    }

    private void passNode(Node x, Node y) throws Exception {
        NodeHolder inout = new NodeHolder(y), out = new NodeHolder();
        StringHolder names = new StringHolder();
        Node result = peer.pass_node(x, inout, out, names);
        same("names", names.value, Nodes.nameOf(x) + "," + Nodes.nameOf(y));
        same("result", Nodes.nameOf(result), "home");
        same("inout", Nodes.nameOf(inout.value), Nodes.nameOf(x));
        same("out", Nodes.nameOf(out.value), Nodes.nameOf(y));
        if (x != null) same("inout is equivalent", inout.value._is_equivalent(x), true);
    }

    private void passObject(org.omg.CORBA.Object x, org.omg.CORBA.Object y, String expected) throws Exception {
        ObjectHolder inout = new ObjectHolder(y), out = new ObjectHolder();
        StringHolder kinds = new StringHolder();
        same("result", peer.pass_object(x, inout, out, kinds), null);
        same("kinds", kinds.value, expected);
        same("inout is nil", inout.value == null, x == null);
        same("out is nil", out.value == null, y == null);
        if (x != null) same("inout is equivalent", x._is_equivalent(inout.value), true);
        if (y != null) same("out is equivalent", y._is_equivalent(out.value), true);
    }

    private void references() throws Exception {
        Node home = peer.own_node();
        same("home", Nodes.nameOf(home), "home");
        Node a = Nodes.host(poa, "a", false), b = Nodes.host(poa, "b", true);
        passNode(a, b);
        passNode(b, null);
        passNode(null, a);
        passNode(null, null);
        passNode(home, a);

        Node[] five = {a, b, null, b, a};
        String[] names = {"a", "b", "-", "b", "a"};
        for (int n = 0; n <= 5; n++) {
            StringHolder seen = new StringHolder();
            Node[] turned = peer.turn(Arrays.copyOf(five, n), seen);
            same("turn: names", seen.value, String.join(",", Arrays.copyOf(names, n)));
            same("turn: length", turned.length, n);
            for (int i = 0; i < n; i++) same("turn", Nodes.nameOf(turned[i]), names[(i + 1) % n]);
        }

        NamedNode left = new NamedNode((byte) 0x0f, a, "left"), right = new NamedNode((byte) 0x33, null, "right");
        named(left, right, "a:left");
        named(right, left, "-:right");

        passObject(a, b, "Node,LoudNode");
        passObject(peer, Nodes.hostRelative(poa, "Base"), "Peer,other");
        passObject(null, a, "nil,Node");
        passObject(b, null, "LoudNode,nil");

        same("shout_at", peer.shout_at(b, "Hello"), "hELLO!");
        same("shout_at", peer.shout_at(a, "Hello"), "quiet");
        Node[] kept = {a, home, null};
        for (Node node : kept) {
            peer.keep(node);
            same("call_kept", peer.call_kept(), Nodes.nameOf(node));
        }
    }

    private void named(NamedNode x, NamedNode y, String label) throws Exception {
        NamedNodeHolder inout = new NamedNodeHolder(y), out = new NamedNodeHolder();
        NamedNode result = peer.pass_named(x, inout, out);
        same("result", show(result), show(new NamedNode((byte) ~x.pad, y.ref_, label)));
        same("inout", show(inout.value), show(x));
        same("out", show(out.value), show(y));
    }

    private static String show(NamedNode it) {
        return it.pad + " " + Nodes.nameOf(it.ref_) + " " + it.label;
    }

    private void pseudoOperations() throws Exception {
        same("_is_a Peer", peer._is_a("IDL:zorb.test/Interop/Peer:1.0"), true);
        same("_is_a Gates", peer._is_a("IDL:zorb.test/Interop/Gates:1.0"), true);
        same("_is_a Object", peer._is_a("IDL:omg.org/CORBA/Object:1.0"), true);
        same("_is_a Node", peer._is_a("IDL:zorb.test/Interop/Node:1.0"), false);
        same("_is_a Point", peer._is_a("IDL:shapes.test/Shapes/Point:1.0"), false);
        LoudNode loud = LoudNodeHelper.narrow(peer.make_node("loud", true));
        same("shout", loud.shout("Up"), "uP!");
        Node quiet = peer.make_node("quiet", false);
        same("_is_a LoudNode", quiet._is_a(LoudNodeHelper.id()), false);
        same("_non_existent", quiet._non_existent(), false);
        same("name", quiet.name(), "quiet");
        peer.destroy_node(quiet);
        raised(OBJECT_NOT_EXIST.class, "a destroyed node", CompletionStatus.COMPLETED_NO, quiet::name);
        same("_non_existent", quiet._non_existent(), true);
        peer.nothing();
    }

    private void inheritance() throws Exception {
        for (String kind : new String[] {"Base", "Left", "Right", "Diamond"}) {
            boolean left = kind.equals("Left") || kind.equals("Diamond");
            boolean right = kind.equals("Right") || kind.equals("Diamond");
            String walked = kind + ":base:w" + (left ? "|" + kind + ":left:w" : "") + (right ? "|" + kind + ":right:7" : "")
                    + (left && right ? "|" + kind + ":diamond" : "");
            Base theirs = peer.make_family(kind), mine = Nodes.hostRelative(poa, kind);
            same("kind", theirs.kind(), kind);
            same("we walk theirs", Nodes.walk(theirs), walked);
            same("they walk ours", peer.walk(mine), walked);
            same("they walk theirs", peer.walk(theirs), walked);
            same("is a Left", theirs._is_a(LeftHelper.id()), left);
            if (left) {
                Left it = LeftHelper.narrow(theirs);
                same("weight", it.weight(), 0);
                it.weight(-9);
                same("weight", it.weight(), -9);
                same("base_op by Left", it.base_op(""), kind + ":base:");
            }
            if (left && right) {
                Diamond it = DiamondHelper.narrow(theirs);
                same("weight by Diamond", it.weight(), -9);
                same("right_op by Diamond", it.right_op(-1), kind + ":right:-1");
            } else raised(BAD_PARAM.class, "narrow to Diamond", () -> DiamondHelper.narrow(BaseHelper.narrow(theirs)));
        }
    }

    private void callbacks() throws Exception {
        Nodes.Hosted hosted = new Nodes.Hosted("mine");
        Node mine = Nodes.host(poa, hosted, false), home = peer.own_node();
        int theirs = home.bounced();
        same("ring 0", peer.ring(mine, 0), 1);
        same("ring 1", peer.ring(mine, 1), 2);
        same("ring 7", peer.ring(mine, 7), 8); // mine at 7, 5, 3, 1; home at 6, 4, 2, 0
        same("mine ran", hosted.bounced.get(), 1 + 1 + 4);
        same("theirs ran", home.bounced(), theirs + 1 + 4);
        same("bounce 6", home.bounce(6, mine), 6);
        raised(BAD_PARAM.class, "nil back", () -> home.bounce(2, null));
    }

    private void keywords() throws Exception {
        peer.use(31);
        same("use", peer.use(), 31);
        same("attribute", peer.attribute(), (short) 77);
        IntHolder ref = new IntHolder(5), mod = new IntHolder(), out = new IntHolder();
        same("type", peer.type(9, ref, mod), ~9);
        same("ref", ref.value, 9);
        same("mod", mod.value, 5);
        same("match", peer.match("a", "b"), "a/b");
        same("interface", peer._interface(4, out), ~4);
        same("out", out.value, 4);
        Interop.loop l = new Interop.loop(70000, (short) -2, "Loop", (byte) 0x3c), moved = peer.move(l);
        same("move", moved.type + " " + moved.fn + " " + moved.ref + " " + moved.struct, ~70000 + " 1 lOOP " + (byte) 0xc3);
        for (int i = 0; i < 3; i++) same("async", peer.async(Interop.let.from_int(i)).value(), (i + 1) % 3);
        same("for", peer._for(9, 4), 5);
        Interop.unsafe e = raised(Interop.unsafe.class, "for", () -> peer._for(6, 6));
        same("crate", e.crate, 6);
        same("super", e._super, "equal");
        same("union", peer.union((byte) 0x0f), (byte) 0xf0);
        same("clone", peer._clone(true), false);
        same("drop", peer.drop(1000, 100, 10, 1), 909);
    }

    // ---- calls that wait, and several at once

    private static <T> List<Future<T>> atOnce(ExecutorService threads, List<Callable<T>> calls) {
        List<Future<T>> outcomes = new ArrayList<>();
        for (Callable<T> call : calls) outcomes.add(threads.submit(call));
        return outcomes;
    }

    private void gates() throws Exception {
        String gate = "client-" + ProcessHandle.current().pid();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Callable<Boolean>> calls = new ArrayList<>();
            for (int i = 0; i < 3; i++) calls.add(() -> peer._wait(gate));
            List<Future<Boolean>> waiting = atOnce(threads, calls);
            same("open", peer.open(gate, 3), 3);
            for (Future<Boolean> call : waiting) same("let go", call.get(), true);
            same("waiting", peer.waiting(gate), 0);
        } finally {
            threads.shutdownNow();
        }
    }

    private void timeout() throws Exception {
        String gate = "timeout-" + ProcessHandle.current().pid();
        org.omg.CORBA.Any tenths = orb.create_any();
        tenths.insert_ulonglong(2_000_000); // of a microsecond: 200 ms
        Policy limit = orb.create_policy(org.omg.Messaging.RELATIVE_RT_TIMEOUT_POLICY_TYPE.value, tenths);
        Peer hasty = PeerHelper.unchecked_narrow(peer._set_policy_override(new Policy[] {limit}, SetOverrideType.ADD_OVERRIDE));
        raised(TIMEOUT.class, "wait", () -> hasty._wait(gate));
        peer.nothing(); // and the server is still there for us
        same("open", peer.open(gate, 1), 1);
    }

    private void concurrent() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Callable<Void>> calls = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                int mine = thread;
                calls.add(() -> {
                    Samples s = new Samples(100 + mine);
                    for (int i = 0; i < 40; i++) {
                        echo("echo_outers", s, i % 7, mine);
                        echo("echo_string", s.word(50), s.word(500));
                    }
                    return null;
                });
            }
            for (Future<Void> call : atOnce(threads, calls)) call.get();
        } finally {
            threads.shutdownNow();
        }
    }

    private void forward() throws Exception {
        for (int hops : new int[] {0, 1, 3}) {
            int before = peer.forwarded();
            Node node = peer.forwarder(hops);
            same("name", node.name(), "home");
            same("forwards", peer.forwarded() - before, hops);
            same("name again", node.name(), "home");
            same("bounce", node.bounce(0, null), 0);
        }
        int before = peer.forwarded();
        same("name", peer.forwarder_for_good().name(), "home");
        same("forwards", peer.forwarded() - before, 1);
    }

    private void forwardToNowhere() throws Exception {
        Node node = peer.forward_to_nowhere();
        raised(OBJECT_NOT_EXIST.class, "a forward to what is gone", CompletionStatus.COMPLETED_NO, node::name);
        peer.nothing();
    }

    private void byCorbaloc(String url) throws Exception {
        Peer other = PeerHelper.narrow(orb.string_to_object(url));
        other.number(4711);
        same("number", peer.number(), 4711);
    }
}
