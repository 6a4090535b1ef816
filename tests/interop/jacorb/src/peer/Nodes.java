package peer;

import Interop.Base;
import Interop.BaseHelper;
import Interop.Diamond;
import Interop.DiamondHelper;
import Interop.Left;
import Interop.LeftHelper;
import Interop.LoudNodeHelper;
import Interop.Node;
import Interop.NodeHelper;
import Interop.Right;
import Interop.RightHelper;
import java.util.concurrent.atomic.AtomicInteger;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.CompletionStatus;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.Servant;

/** The small objects that both programs host: nodes and the inheritance family. */
final class Nodes {
    private Nodes() {}

    /** What a node does, loud or not. */
    static final class Hosted implements Interop.LoudNodeOperations {
        private final String name;
        final AtomicInteger bounced = new AtomicInteger();
        volatile Node self;

        Hosted(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public int bounced() {
            return bounced.get();
        }

        @Override
        public int bounce(int depth, Node back) {
            bounced.incrementAndGet();
            if (depth <= 0) return 0;
            if (back == null) throw new BAD_PARAM(7, CompletionStatus.COMPLETED_NO);
            return 1 + back.bounce(depth - 1, self);
        }

        @Override
        public String shout(String text) {
            return Rules.otherCase(text) + "!";
        }
    }

    static Node host(POA poa, Hosted node, boolean loud) {
        Servant servant = loud ? new Interop.LoudNodePOATie(node) : new Interop.NodePOATie(node);
        org.omg.CORBA.Object reference = activate(poa, servant);
        node.self = loud ? LoudNodeHelper.narrow(reference) : NodeHelper.narrow(reference);
        return node.self;
    }

    static Node host(POA poa, String name, boolean loud) {
        return host(poa, new Hosted(name), loud);
    }

    static org.omg.CORBA.Object activate(POA poa, Servant servant) {
        try {
            return poa.id_to_reference(poa.activate_object(servant));
        } catch (org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The name of a node, asked now; "-" for nil. */
    static String nameOf(Node node) {
        return node == null ? "-" : node.name();
    }

    /** A member of the family: which operations it is asked for is its tie's business. */
    private static final class Relative implements Interop.DiamondOperations {
        private final String kind;
        private volatile int weight;

        Relative(String kind) {
            this.kind = kind;
        }

        @Override
        public String kind() {
            return kind;
        }

        @Override
        public String base_op(String s) {
            return kind + ":base:" + s;
        }

        @Override
        public int weight() {
            return weight;
        }

        @Override
        public void weight(int value) {
            weight = value;
        }

        @Override
        public String left_op(String s) {
            return kind + ":left:" + s;
        }

        @Override
        public String right_op(int n) {
            return kind + ":right:" + n;
        }

        @Override
        public String diamond_op() {
            return kind + ":diamond";
        }
    }

    /** A new member of the family; null when there is no such kind. */
    static Base hostRelative(POA poa, String kind) {
        Relative relative = new Relative(kind);
        Servant servant;
        switch (kind) {
            case "Base":
                servant = new Interop.BasePOATie(relative);
                break;
            case "Left":
                servant = new Interop.LeftPOATie(relative);
                break;
            case "Right":
                servant = new Interop.RightPOATie(relative);
                break;
            case "Diamond":
                servant = new Interop.DiamondPOATie(relative);
                break;
            default:
                return null;
        }
        return BaseHelper.narrow(activate(poa, servant));
    }

    /** What {@code Families::walk} has to return. */
    static String walk(Base who) {
        StringBuilder all = new StringBuilder(who.base_op("w"));
        if (who._is_a(LeftHelper.id())) {
            Left left = LeftHelper.narrow(who);
            all.append('|').append(left.left_op("w"));
        }
        if (who._is_a(RightHelper.id())) {
            Right right = RightHelper.narrow(who);
            all.append('|').append(right.right_op(7));
        }
        if (who._is_a(DiamondHelper.id())) {
            Diamond diamond = DiamondHelper.narrow(who);
            all.append('|').append(diamond.diamond_op());
        }
        return all.toString();
    }
}
