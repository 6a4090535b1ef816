package peer;

import Interop.Base;
import Interop.Completion;
import Interop.Detailed;
import Interop.Empty;
import Interop.FailKind;
import Interop.LoudNodeHelper;
import Interop.Mismatch;
import Interop.NamedNode;
import Interop.NamedNodeHolder;
import Interop.NoSuchKind;
import Interop.Node;
import Interop.NodeHelper;
import Interop.NodeHolder;
import Interop.PeerOperations;
import Interop.Refused;
import Shapes.Broken;
import Shapes.Colour;
import Shapes.Point;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.ByteHolder;
import org.omg.CORBA.CharHolder;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.DoubleHolder;
import org.omg.CORBA.FloatHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.LongHolder;
import org.omg.CORBA.ORB;
import org.omg.CORBA.ObjectHolder;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.SystemException;
import org.omg.PortableServer.POA;

/**
 * The servant of interop.idl: every comment there is a rule here. The operations of this class are those of the IDL but
 * for the echoes, which are all the same; {@link #create} puts both together.
 */
public final class PeerServant {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(20);

    private final ORB orb;
    private final POA root;

    /** Guards all below; never held during a call to somebody else. */
    private final Object lock = new Object();

    private int number, revision, used;
    private String title = "";
    private boolean ready;
    private int[] list = {};
    private Point where = new Point((short) 0, 0.0);
    private Node companion, kept;
    private int notes;
    private long noteTotal;
    private final Map<String, Gate> gates = new HashMap<>();

    private static final class Gate {
        int waiting, opened;
    }

    private PeerServant(ORB orb, POA root) {
        this.orb = orb;
        this.root = root;
    }

    static PeerOperations create(ORB orb, POA root) throws NoSuchMethodException {
        PeerServant servant = new PeerServant(orb, root);
        Map<String, Echo> echoes = Echo.all(PeerOperations.class);
        Map<Method, Method> rest = new HashMap<>();
        for (Method asked : PeerOperations.class.getMethods())
            if (!echoes.containsKey(asked.getName()))
                rest.put(asked, PeerServant.class.getMethod(asked.getName(), asked.getParameterTypes()));
        return (PeerOperations) Proxy.newProxyInstance(
                PeerServant.class.getClassLoader(), new Class<?>[] {PeerOperations.class}, (proxy, asked, args) -> {
                    Echo echo = echoes.get(asked.getName());
                    if (echo != null) return echo.answer(args[0], args[1], (Long) args[2], args[3], Mismatch::new);
                    try {
                        return rest.get(asked).invoke(servant, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    // ---- Basics

    public short mixed(
            byte a, double b, char c, long d, boolean e, short f, ByteHolder g, DoubleHolder h, long check,
            ByteHolder i, LongHolder j, BooleanHolder k, FloatHolder l, CharHolder m)
            throws Mismatch {
        long found = new Rules.Digest()
                .octets(a, 1).real(b).octets(c, 1).octets(d, 8).truth(e).octets(f, 2).octets(g.value, 1).real(h.value)
                .value();
        if (found != check) throw new Mismatch("mixed", check, found);
        i.value = g.value;
        j.value = ~d;
        k.value = !e;
        l.value = (float) h.value;
        m.value = Rules.otherCase(c);
        g.value = (byte) (a ^ 0xff);
        h.value = -b;
        return (short) ~f;
    }

    public void nothing() {}

    public void only_out(ByteHolder one, DoubleHolder two, StringHolder three) {
        one.value = 1;
        two.value = 2.0;
        three.value = "three";
    }

    public long constants() {
        return Rules.digestOfConstants();
    }

    // ---- Texts, WideTexts, Sequences

    public String join(String a, String b) {
        return a + b;
    }

    public String make_string(int n) {
        return "x".repeat(n);
    }

    public String twist_wtag(String a) {
        return Rules.otherCase(a);
    }

    public String widen(String a) {
        return a;
    }

    public String narrow(String a) {
        return a;
    }

    public String make_wstring(int n) {
        return "\u0416".repeat(n);
    }

    public byte[] make_octets(int n) {
        byte[] made = new byte[n];
        for (int i = 0; i < n; i++) made[i] = octetAt(i);
        return made;
    }

    static byte octetAt(int i) {
        return (byte) (i * 7 + i / 256);
    }

    public long take_octets(byte[] a) {
        return digest(a);
    }

    static long digest(byte[] octets) {
        return new Rules.Digest().value(Interop.Types.OctetSeqHelper.type(), octets).value();
    }

    // ---- Attributes

    public int number() {
        synchronized (lock) {
            return number;
        }
    }

    public void number(int value) {
        set(() -> number = value);
    }

    public String title() {
        synchronized (lock) {
            return title;
        }
    }

    public void title(String value) {
        set(() -> title = value);
    }

    public boolean ready() {
        synchronized (lock) {
            return ready;
        }
    }

    public void ready(boolean value) {
        set(() -> ready = value);
    }

    public int[] list() {
        synchronized (lock) {
            return list;
        }
    }

    public void list(int[] value) {
        set(() -> list = value);
    }

    public Point where() {
        synchronized (lock) {
            return where;
        }
    }

    public void where(Point value) {
        set(() -> where = value);
    }

    public Node companion() {
        synchronized (lock) {
            return companion;
        }
    }

    public void companion(Node value) {
        set(() -> companion = value);
    }

    public int revision() {
        synchronized (lock) {
            return revision;
        }
    }

    private void set(Runnable change) {
        synchronized (lock) {
            change.run();
            revision++;
        }
    }

    // ---- Failures

    public int fail(FailKind kind, int code, String text) throws Empty, Detailed, Broken, Refused {
        switch (kind.value()) {
            case FailKind._fail_empty:
                throw new Empty();
            case FailKind._fail_detailed:
                throw new Detailed(
                        (byte) code,
                        -1000003L * code,
                        Rules.otherCase(text),
                        new Point((short) code, code / 2.0),
                        new int[] {code, code + 1, code + 2},
                        Interop.Types.Suit.from_int(code % 4),
                        true);
            case FailKind._fail_broken:
                throw new Broken(text, Colour.from_int(code % 4));
            case FailKind._fail_refused:
                throw new Refused(text, own_node());
            default:
                return ~code;
        }
    }

    public void fail_system(String name, int minor, Completion completed) {
        CompletionStatus status = CompletionStatus.from_int(completed.value());
        SystemException raised;
        try {
            Class<?> type = Class.forName("org.omg.CORBA." + name);
            raised = (SystemException) type.getConstructor(int.class, CompletionStatus.class).newInstance(minor, status);
        } catch (ReflectiveOperationException e) {
            raised = new BAD_PARAM(1, CompletionStatus.COMPLETED_NO);
        }
        throw raised;
    }

    /** The interface of the proxy does not declare it. */
    public void fail_undeclared() throws NoSuchKind {
        throw new NoSuchKind("not in the raises expression");
    }

    // ---- Oneways

    public void note(int id, String text) {
        noted(new Rules.Digest().octets(id, 4).text(text).value());
    }

    public void note_octets(byte[] data) {
        noted(digest(data));
    }

    private void noted(long digest) {
        synchronized (lock) {
            noteTotal += digest;
            notes++;
            lock.notifyAll();
        }
    }

    public long notes(int count) {
        synchronized (lock) {
            if (!await(() -> notes >= count)) throw new org.omg.CORBA.TIMEOUT(0, CompletionStatus.COMPLETED_NO);
            long total = noteTotal;
            noteTotal = 0;
            notes = 0;
            return total;
        }
    }

    /** Waits, with the lock held, until something is so; false when it has taken too long. */
    private boolean await(java.util.function.BooleanSupplier so) {
        long deadline = System.nanoTime() + PATIENCE;
        while (!so.getAsBoolean()) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) return false;
            try {
                lock.wait(left);
            } catch (InterruptedException e) {
                return false;
            }
        }
        return true;
    }

    // ---- References

    public Node own_node() {
        return Forwards.reference("hop:0");
    }

    public Node make_node(String name, boolean loud) {
        return Nodes.host(root, name, loud);
    }

    public void destroy_node(Node victim) {
        try {
            root.deactivate_object(root.reference_to_id(victim));
        } catch (org.omg.CORBA.UserException e) {
            throw new BAD_PARAM(e.getMessage());
        }
    }

    public Node pass_node(Node a, NodeHolder b, NodeHolder c, StringHolder names) {
        names.value = Nodes.nameOf(a) + "," + Nodes.nameOf(b.value);
        c.value = b.value;
        b.value = a;
        return own_node();
    }

    public Node[] turn(Node[] nodes, StringHolder names) {
        int n = nodes.length;
        String[] all = new String[n];
        Node[] turned = new Node[n];
        for (int i = 0; i < n; i++) {
            all[i] = Nodes.nameOf(nodes[i]);
            turned[i] = nodes[(i + 1) % n];
        }
        names.value = String.join(",", all);
        return turned;
    }

    public NamedNode pass_named(NamedNode a, NamedNodeHolder b, NamedNodeHolder c) {
        String label = Nodes.nameOf(a.ref_) + ":" + a.label;
        NamedNode result = new NamedNode((byte) (a.pad ^ 0xff), b.value.ref_, label);
        c.value = b.value;
        b.value = a;
        return result;
    }

    public org.omg.CORBA.Object pass_object(
            org.omg.CORBA.Object a, ObjectHolder b, ObjectHolder c, StringHolder kinds) {
        kinds.value = kindOf(a) + "," + kindOf(b.value);
        c.value = b.value;
        b.value = a;
        return null;
    }

    private static String kindOf(org.omg.CORBA.Object it) {
        if (it == null) return "nil";
        if (it._is_a(Interop.PeerHelper.id())) return "Peer";
        if (it._is_a(LoudNodeHelper.id())) return "LoudNode";
        if (it._is_a(NodeHelper.id())) return "Node";
        return "other";
    }

    public String shout_at(Node who, String text) {
        return who._is_a(LoudNodeHelper.id()) ? LoudNodeHelper.narrow(who).shout(text) : "quiet";
    }

    public int ring(Node back, int depth) {
        return 1 + back.bounce(depth, own_node());
    }

    public void keep(Node it) {
        synchronized (lock) {
            kept = it;
        }
    }

    public String call_kept() {
        Node it;
        synchronized (lock) {
            it = kept;
        }
        return Nodes.nameOf(it);
    }

    // ---- Families

    public Base make_family(String kind) throws NoSuchKind {
        Base relative = Nodes.hostRelative(root, kind);
        if (relative == null) throw new NoSuchKind(kind);
        return relative;
    }

    public String walk(Base who) {
        return Nodes.walk(who);
    }

    // ---- Words. JacORB puts an underscore before what Java or its Object has names for.

    public int use() {
        synchronized (lock) {
            return used;
        }
    }

    public void use(int value) {
        synchronized (lock) {
            used = value;
        }
    }

    public short attribute() {
        return 77;
    }

    public int type(int match, IntHolder ref, IntHolder mod) {
        mod.value = ref.value;
        ref.value = match;
        return ~match;
    }

    public String match(String where, String self) {
        return where + "/" + self;
    }

    public int _interface(int in, IntHolder out) {
        out.value = in;
        return ~in;
    }

    public Interop.loop move(Interop.loop impl) {
        return (Interop.loop) Rules.twist(Interop.loopHelper.type(), impl);
    }

    public Interop.let async(Interop.let await) {
        return (Interop.let) Rules.twist(Interop.letHelper.type(), await);
    }

    public int _for(int first, int second) throws Interop.unsafe {
        if (first == second) throw new Interop.unsafe(first, "equal");
        return first - second;
    }

    public byte union(byte any) {
        return (byte) (any ^ 0xff);
    }

    public boolean _clone(boolean box) {
        return !box;
    }

    public int drop(int self, int trait, int become, int yield) {
        return self - trait + become - yield;
    }

    // ---- Gates

    public boolean _wait(String name) {
        synchronized (lock) {
            Gate gate = gates.computeIfAbsent(name, any -> new Gate());
            int mine = gate.opened;
            gate.waiting++;
            lock.notifyAll();
            boolean letGo = await(() -> gate.opened != mine);
            // Whoever opens a gate has counted us already.
            if (!letGo) gate.waiting--;
            return letGo;
        }
    }

    public int open(String name, int callers) {
        synchronized (lock) {
            Gate gate = gates.computeIfAbsent(name, any -> new Gate());
            if (!await(() -> gate.waiting >= callers)) throw new org.omg.CORBA.TIMEOUT(0, CompletionStatus.COMPLETED_NO);
            int n = gate.waiting;
            gate.waiting = 0;
            gate.opened++;
            lock.notifyAll();
            return n;
        }
    }

    public int waiting(String name) {
        synchronized (lock) {
            Gate gate = gates.get(name);
            return gate == null ? 0 : gate.waiting;
        }
    }

    // ---- Forwards

    public Node forwarder(int hops) {
        return Forwards.reference("hop:" + hops);
    }

    /** For good is more than an interceptor can say. */
    public Node forwarder_for_good() {
        return Forwards.reference("hop:1");
    }

    public Node forward_loop() {
        return Forwards.reference("loop:a");
    }

    public Node forward_to_nowhere() {
        return Forwards.reference("nowhere");
    }

    public int forwarded() {
        return Forwards.made.get();
    }

    // ---- Control

    public String orb_name() {
        return "JacORB";
    }

    public void die() {
        Runtime.getRuntime().halt(0);
    }

    public void shutdown() {
        shutdownSoon(orb);
    }

    /** It waits for the reply to this call, so it cannot be this thread that waits. */
    static void shutdownSoon(ORB orb) {
        new Thread(() -> orb.shutdown(true)).start();
    }
}
