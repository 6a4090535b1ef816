package peer;

import java.math.BigDecimal;
import java.util.function.Supplier;
import org.omg.CORBA.ORB;
import org.omg.CORBA.portable.ValueFactory;
import test.zorb.Rich.AccountHelper;
import test.zorb.Rich.AccountValueFactory;
import test.zorb.Rich.BaseHelper;
import test.zorb.Rich.BoxesHelper;
import test.zorb.Rich.DerivedHelper;
import test.zorb.Rich.EmptyHelper;
import test.zorb.Rich.LongerHelper;
import test.zorb.Rich.LongestHelper;
import test.zorb.Rich.NodeHelper;
import test.zorb.Rich.NoteHelper;
import test.zorb.Rich.PlainHelper;
import test.zorb.Rich.RectangleHelper;
import test.zorb.Rich.SpecialHelper;
import test.zorb.Rich.SquareHelper;
import test.zorb.Rich.Suit;

/** The valuetypes of rich.idl: what their operations do, and how they are made. */
final class Values {
    private Values() {}

    static final class Plain extends test.zorb.Rich.Plain {
        Plain() {}

        Plain(int number, String text, Suit suit) {
            this.number = number;
            this.text = text;
            this.suit_ = suit;
        }
    }

    static final class Base extends test.zorb.Rich.Base {}

    static final class Derived extends test.zorb.Rich.Derived {
        Derived() {}

        Derived(int id, String name, double more) {
            this.id = (short) id;
            this.name = name;
            this.more = more;
        }
    }

    static final class Longer extends test.zorb.Rich.Longer {}

    static final class Longest extends test.zorb.Rich.Longest {
        Longest() {
            list = new int[0];
        }
    }

    /** The one without a factory. */
    static final class Hidden extends test.zorb.Rich.Hidden {}

    static final class Empty extends test.zorb.Rich.Empty {}

    static final class Node extends test.zorb.Rich.Node {
        Node() {
            others = new test.zorb.Rich.Node[0];
        }
    }

    static final class Boxes extends test.zorb.Rich.Boxes {}

    static final class Account extends test.zorb.Rich.Account {
        Account() {}

        Account(String owner, long balance) {
            this.owner = owner;
            this.quiet_balance = balance;
        }

        @Override
        public long deposit(int amount) {
            return quiet_balance += amount;
        }

        @Override
        public long balance() {
            return quiet_balance;
        }
    }

    static final class Special extends test.zorb.Rich.Special {
        @Override
        public void marshal(org.omg.CORBA.DataOutputStream out) {
            out.write_string(text);
            out.write_longlong(stamp);
            out.write_Value(inner);
            out.write_octet((byte) 0x5a);
            out.write_ulong(data.length);
            out.write_octet_array(data, 0, data.length);
        }

        @Override
        public void unmarshal(org.omg.CORBA.DataInputStream in) {
            text = in.read_string();
            stamp = in.read_longlong();
            inner = (test.zorb.Rich.Plain) in.read_Value();
            if (in.read_octet() != 0x5a) throw new org.omg.CORBA.MARSHAL("a Special without its mark");
            data = new byte[in.read_ulong()];
            org.omg.CORBA.OctetSeqHolder holder = new org.omg.CORBA.OctetSeqHolder(data);
            in.read_octet_array(holder, 0, data.length);
            data = holder.value;
        }
    }

    static final class Square extends test.zorb.Rich.Square {
        @Override
        public double area() {
            return side * side;
        }
    }

    static final class Rectangle extends test.zorb.Rich.Rectangle {
        @Override
        public double area() {
            return wide * high;
        }
    }

    static final class Note extends test.zorb.Rich.Note {
        Note() {}

        Note(String text) {
            this.text = text;
        }

        @Override
        public String describe() {
            return "note " + text;
        }
    }

    private static final class AccountFactory implements AccountValueFactory {
        @Override
        public test.zorb.Rich.Account open(String owner, int amount) {
            return new Account(owner, amount);
        }

        @Override
        public java.io.Serializable read_value(org.omg.CORBA_2_3.portable.InputStream in) {
            return in.read_value(new Account());
        }
    }

    /** Tells an ORB how to make all of them but Hidden. */
    static void register(ORB orb) {
        register(orb, PlainHelper.id(), Plain::new);
        register(orb, BaseHelper.id(), Base::new);
        register(orb, DerivedHelper.id(), Derived::new);
        register(orb, LongerHelper.id(), Longer::new);
        register(orb, LongestHelper.id(), Longest::new);
        register(orb, EmptyHelper.id(), Empty::new);
        register(orb, NodeHelper.id(), Node::new);
        register(orb, BoxesHelper.id(), Boxes::new);
        register(orb, SpecialHelper.id(), Special::new);
        register(orb, SquareHelper.id(), Square::new);
        register(orb, RectangleHelper.id(), Rectangle::new);
        register(orb, NoteHelper.id(), Note::new);
        ((org.omg.CORBA_2_3.ORB) orb).register_value_factory(AccountHelper.id(), new AccountFactory());
    }

    private static void register(ORB orb, String id, Supplier<java.io.Serializable> maker) {
        ValueFactory factory = in -> in.read_value(maker.get());
        ((org.omg.CORBA_2_3.ORB) orb).register_value_factory(id, factory);
    }

    /** One whose state is not set yet; where a Base is wanted it may be a Derived. */
    static Object fresh(Class<?> type, boolean derived) throws ReflectiveOperationException {
        if (derived && type == test.zorb.Rich.Base.class) return new Derived();
        return Class.forName(Values.class.getName() + "$" + type.getSimpleName()).getDeclaredConstructor().newInstance();
    }

    /** The repository id of a valuetype that is no box, or "" for null. */
    static String kind(Object value) {
        try {
            return value == null ? "" : Rules.typeOf(value).id();
        } catch (ReflectiveOperationException | org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A ring of n nodes, as make_ring says. */
    static test.zorb.Rich.Node ring(int n) {
        test.zorb.Rich.Node[] ring = new test.zorb.Rich.Node[n];
        for (int i = 0; i < n; i++) ring[i] = new Node();
        for (int i = 0; i < n; i++) {
            ring[i].name = Integer.toString(i);
            ring[i].next = ring[(i + 1) % n];
            ring[i].others = new test.zorb.Rich.Node[] {ring[i], ring[0]};
        }
        return n == 0 ? null : ring[0];
    }

    static BigDecimal fixed(String digits) {
        return new BigDecimal(digits);
    }
}
