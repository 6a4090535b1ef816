package peer;

import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.omg.CORBA.Any;
import org.omg.CORBA.AnyHolder;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.LongHolder;
import org.omg.CORBA.ORB;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.TypeCodeHolder;
import org.omg.PortableServer.POA;
import test.zorb.Rich.*;

/**
 * The servant of rich.idl: every comment there is a rule here. The operations of this class are those of the IDL but
 * for the echoes, which are all the same; {@link #create} puts both together.
 */
public final class RichServant {
    private final ORB orb;
    private final POA root;
    private RichAnys anys;

    private RichServant(ORB orb, POA root) {
        this.orb = orb;
        this.root = root;
    }

    /** A Peer that serves calls. */
    static test.zorb.Rich.Peer create(ORB orb, POA root) throws NoSuchMethodException {
        RichServant servant = new RichServant(orb, root);
        Map<String, Echo> echoes = Echo.all(PeerOperations.class);
        Map<Method, Method> rest = new HashMap<>();
        for (Method asked : PeerOperations.class.getMethods())
            if (!echoes.containsKey(asked.getName()))
                rest.put(asked, RichServant.class.getMethod(asked.getName(), asked.getParameterTypes()));
        PeerOperations both = (PeerOperations) Proxy.newProxyInstance(
                RichServant.class.getClassLoader(), new Class<?>[] {PeerOperations.class}, (proxy, asked, args) -> {
                    Echo echo = echoes.get(asked.getName());
                    if (echo != null) return echo.answer(args[0], args[1], (Long) args[2], args[3], Mismatch::new);
                    try {
                        return rest.get(asked).invoke(servant, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        test.zorb.Rich.Peer peer = PeerHelper.narrow(Nodes.activate(root, new PeerPOATie(both)));
        servant.anys = new RichAnys(orb, peer);
        return peer;
    }

    // ---- Data

    public BigDecimal the_vat() {
        return vat.value.setScale(2);
    }

    // ---- Values

    public boolean same(Node a, Node b) {
        return a == b;
    }

    public Node make_ring(int n) {
        return Values.ring(n);
    }

    public String kind_of(Base it) {
        return Values.kind(it);
    }

    public Serializable pass_value(Serializable it, StringHolder kind) {
        kind.value = Values.kind(it);
        return it;
    }

    public Base make_base(boolean hidden) {
        Base inner = new Values.Derived(8, "in", 0.5);
        if (hidden) {
            Hidden made = new Values.Hidden();
            made.id = 7;
            made.name = "hidden";
            made.secret = "secret";
            made.inner = inner;
            made.end = 2.5;
            return made;
        }
        Longest made = new Values.Longest();
        made.id = 7;
        made.name = "hidden";
        made.extra = -9;
        made.inner = inner;
        made.last = 0x77;
        made.list = new int[] {1, 2, 3};
        return made;
    }

    public Base truncate(Base a, Base b, BooleanHolder one) {
        one.value = a == b;
        return b;
    }

    public double area(Shape it) {
        return it == null ? 0 : it.area();
    }

    public Shape make_shape(boolean square, double wide, double high) {
        if (square) {
            Values.Square shape = new Values.Square();
            shape.side = wide;
            return shape;
        }
        Values.Rectangle shape = new Values.Rectangle();
        shape.wide = wide;
        shape.high = high;
        return shape;
    }

    public Account deposit(Account it, int amount, LongHolder balance) {
        it.deposit(amount);
        balance.value = it.balance();
        return it;
    }

    public Describable pass(Describable it, StringHolder described, DescribableHolder twin) {
        described.value = it == null ? "nil" : it.describe();
        if (it instanceof Note) twin.value = make_thing(((Note) it).text);
        else if (it != null) twin.value = new Values.Note(ThingHelper.narrow((org.omg.CORBA.Object) it).name());
        return it;
    }

    public Describable[] pass_all(Describable[] all, StringHolder described) {
        List<String> words = new ArrayList<>();
        for (Describable one : all) words.add(one == null ? "nil" : one.describe());
        described.value = String.join(",", words);
        return all;
    }

    private static final class Named implements ThingOperations {
        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public String describe() {
            return "thing " + name;
        }
    }

    public Thing make_thing(String name) {
        return thing(root, name);
    }

    /** A Thing that serves calls. */
    static Thing thing(POA root, String name) {
        return ThingHelper.narrow(Nodes.activate(root, new ThingPOATie(new Named(name))));
    }

    public void spoil(int code, String why) throws Spoilt {
        Plain what = new Values.Plain(code, "spoilt", Suit.hearts);
        throw new Spoilt(what, why, what);
    }

    // ---- Anys

    public Any make_any(Kind which, int n) {
        return anys.make(which, n);
    }

    public String check_any(Kind which, int n, Any it) {
        return anys.fault(which, n, it);
    }

    public Any pass_any(Any a, AnyHolder b, AnyHolder c) {
        c.value = b.value;
        b.value = a;
        return a;
    }

    public Any[] turn_anys(Any[] all) {
        Any[] turned = new Any[all.length];
        for (int i = 0; i < all.length; i++) turned[all.length - 1 - i] = all[i];
        return turned;
    }

    public TypeCode type_of(Kind which) {
        return anys.make(which, 1).type();
    }

    public String check_type(Kind which, TypeCode it) {
        return anys.typeFault(which, it);
    }

    public TypeCode pass_type(TypeCode a, TypeCodeHolder b, TypeCodeHolder c) {
        c.value = b.value;
        b.value = a;
        return a;
    }

    public Mixed pass_mixed(Mixed a, MixedHolder b, MixedHolder c) {
        c.value = b.value;
        b.value = a;
        return a;
    }

    // ---- Control

    public String orb_name() {
        return "JacORB";
    }

    public void shutdown() {
        PeerServant.shutdownSoon(orb);
    }
}
