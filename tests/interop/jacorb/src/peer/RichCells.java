package peer;

import static peer.Check.raised;
import static peer.Check.same;

import java.util.List;
import java.util.Map;
import java.util.Set;
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

/** What the client of rich.idl does, one subject each; a failed check is a {@link Failure}. */
final class RichCells {
    private static final int[] SEEDS = {0, 1, 2, 3, 5, 17, 100, 999};

    /** Boxes in anys, and a TypeCode that has lost a bound: see ../../../README.md. */
    private static final Set<Kind> LACKING = Set.of(Kind.k_text_box, Kind.k_list_box, Kind.k_plainly);

    private static final List<Kind> VALUES =
            List.of(Kind.k_plain, Kind.k_base, Kind.k_longest, Kind.k_null_value, Kind.k_ring, Kind.k_holder);
    /** Whose TypeCodes have their labels in another order here than elsewhere. */
    private static final List<Kind> UNIONS = List.of(Kind.k_union, Kind.k_union_none);

    final Named all = new Named();
    private final ORB orb;
    private final POA poa;
    private final Map<String, Echo> echoes = Echo.all(PeerOperations.class);
    private test.zorb.Rich.Peer peer;
    private RichAnys anys;

    RichCells(ORB orb, POA poa) {
        this.orb = orb;
        this.poa = poa;
        all.put("unions", () -> many(1, 24, "echo_by_long", "echo_by_short", "echo_by_ushort", "echo_by_ulong", "echo_by_big",
                "echo_by_longlong", "echo_by_char", "echo_by_boolean", "echo_by_truth", "echo_by_suit", "echo_by_own"));
        all.put("union_structs", () -> many(2, 12, "echo_unions"));
        all.put("recursive", () -> many(3, 12, "echo_tree", "echo_expr", "echo_chain"));
        all.put("anonymous", () -> many(4, 12, "echo_plainly"));
        all.put("fixed", this::fixed);
        all.put("mismatch", this::mismatch);
        all.put("plain_values", () -> many(5, 12, "echo_plain", "echo_empty"));
        all.put("derived_values", () -> many(6, 12, "echo_base"));
        all.put("shared_values", this::shared);
        all.put("graphs", this::graphs);
        all.put("values_in_structs", () -> many(7, 16, "echo_holder"));
        all.put("boxes", () -> many(8, 16, "echo_boxes"));
        all.put("box_parameters", () -> many(9, 8, "echo_text", "echo_list"));
        all.put("accounts", this::accounts);
        all.put("custom", () -> many(10, 8, "echo_special"));
        all.put("truncatable", this::truncatable);
        all.put("truncated", this::truncated);
        all.put("value_base", this::valueBase);
        all.put("shapes", this::shapes);
        all.put("abstract", this::describables);
        all.put("spoilt", this::spoilt);
        all.put("any_numbers", () -> anys(Kind.k_null, Kind.k_void, Kind.k_short, Kind.k_long, Kind.k_ushort, Kind.k_ulong,
                Kind.k_float, Kind.k_double, Kind.k_boolean, Kind.k_char, Kind.k_octet, Kind.k_longlong, Kind.k_ulonglong));
        all.put("any_texts", () -> anys(Kind.k_string, Kind.k_bounded, Kind.k_alias, Kind.k_strings));
        all.put("any_wide", () -> anys(Kind.k_wchar, Kind.k_wstring, Kind.k_bounded_wide));
        all.put("any_constructed", () -> anys(Kind.k_enum, Kind.k_struct, Kind.k_sequence, Kind.k_sequences, Kind.k_array,
                Kind.k_arrays, Kind.k_fixed, Kind.k_bill, Kind.k_tree, Kind.k_expr));
        all.put("any_unions", () -> anys(Kind.k_union, Kind.k_union_none));
        all.put("any_exception", () -> anys(Kind.k_exception));
        all.put("any_objects", () -> anys(Kind.k_object, Kind.k_nil));
        all.put("any_nested", () -> anys(Kind.k_any, Kind.k_anys, Kind.k_typecode, Kind.k_mixed));
        all.put("any_values", () -> anys(Kind.k_plain, Kind.k_base, Kind.k_null_value, Kind.k_ring, Kind.k_holder));
        all.put("any_truncatable", () -> anys(Kind.k_longest));
        all.put("type_codes", () -> types(false));
        all.put("union_type_codes", () -> types(true));
        all.put("value_type_codes", () -> {
            for (Kind kind : VALUES) type(kind);
        });
        all.put("any_sequence", this::several);
        all.put("mixed", this::mixed);
        all.putUnusual("record_anys", this::recordAnys);
        all.putUnusual("record_types", this::recordTypes);
        all.putUnusual("record_unions", this::recordUnions);
        all.putUnusual("record_fixed", this::recordFixed);
        all.putUnusual("record_values", this::recordValues);
    }

    /** All of them, as the IDL has them. */
    private static Kind[] kinds() {
        Kind[] kinds = new Kind[Check.quietly(() -> KindHelper.type().member_count())];
        for (int i = 0; i < kinds.length; i++) kinds[i] = Kind.from_int(i);
        return kinds;
    }

    private static String name(Kind kind) {
        return Check.quietly(() -> KindHelper.type().member_name(kind.value()));
    }

    boolean run(test.zorb.Rich.Peer peer, List<String> names) {
        this.peer = peer;
        anys = new RichAnys(orb, peer);
        return all.run(names);
    }

    // ---- data

    private void echo(String operation, Object a, Object b) throws Exception {
        echoes.get(operation).call(peer, a, b);
    }

    private void many(long seed, int rounds, String... operations) throws Exception {
        Samples samples = new Samples(seed);
        for (int round = 0; round < rounds; round++)
            for (String operation : operations) {
                Echo echo = echoes.get(operation);
                Object a = samples.value(echo.javaType(), echo.type, round % 4);
                Object b = samples.value(echo.javaType(), echo.type, 3 - round % 4);
                echo.call(peer, a, b);
                samples.forget();
            }
    }

    private void fixed() throws Exception {
        same("the_vat", peer.the_vat().toPlainString(), "19.50");
        String[] prices = {"0.00", "0.01", "-0.01", "1.00", "999.99", "-999.99", "100.00", "-20.50"};
        for (String a : prices) echo("echo_price", Values.fixed(a), Values.fixed(prices[a.length()]));
        String most = "123456789012345678901.0987654321";
        echo("echo_huge", Values.fixed(most), Values.fixed("-" + most));
        echo("echo_huge", Values.fixed("0.0000000000"), Values.fixed("0.0000000001"));
        many(11, 16, "echo_price", "echo_huge", "echo_bill");
    }

    private void mismatch() throws Exception {
        Plain a = new Values.Plain(1, "one", Suit.clubs);
        Mismatch found = raised(Mismatch.class, "echo_plain", () -> peer.echo_plain(a, new PlainHolder(a), 4711, new PlainHolder()));
        same("operation", found.operation, "echo_plain");
        same("expected", found.expected, 4711L);
        same("found", found.found, echoes.get("echo_plain").digest(a, a));
    }

    // ---- values

    private void shared() throws Exception {
        Plain a = new Values.Plain(1, "one", Suit.clubs), b = new Values.Plain(1, "one", Suit.clubs);
        echo("echo_plain", a, a);
        echo("echo_plain", a, b);
        echo("echo_plain", null, b);
        echo("echo_plain", a, null);
        echo("echo_plain", null, null);
        MaybePlain maybe = new MaybePlain(), none = new MaybePlain();
        maybe.it(a);
        Point at = new Point((short) 3, -0.5);
        echo("echo_holder", new Holder((byte) 1, a, (byte) 2, b, maybe, new Plain[] {b, null, a, a}, at),
                new Holder((byte) 3, a, (byte) 4, a, none, new Plain[] {null, b}, at));
    }

    private void graphs() throws Exception {
        Node alone = Values.ring(1), ring = Values.ring(5), long_ = Values.ring(100);
        echo("echo_node", alone, ring);
        echo("echo_node", ring, ring.next);
        echo("echo_node", long_, null);
        echo("echo_nodes", new Node[] {ring, null, alone, ring, ring.next.next}, new Node[] {alone, long_});
        same("same", peer.same(ring, ring), true);
        same("same, but for the object", peer.same(Values.ring(1), Values.ring(1)), false);
        same("no two", peer.same(null, null), true);
        same("one null", peer.same(null, ring), false);
        for (int n : new int[] {1, 2, 7}) {
            Node made = peer.make_ring(n);
            Rules.Digest found = new Rules.Digest().value(NodeHelper.type(), made);
            Rules.Digest expected = new Rules.Digest().value(NodeHelper.type(), Values.ring(n));
            same("make_ring", found.value(), expected.value());
        }
        many(12, 10, "echo_node", "echo_nodes");
    }

    private void accounts() throws Exception {
        many(13, 4, "echo_account");
        LongHolder balance = new LongHolder();
        Account account = AccountHelper.open(orb, "Ada", 100);
        Account after = peer.deposit(account, -30, balance);
        same("balance", balance.value, 70L);
        same("the account's", after.balance(), 70L);
        same("owner", after.owner, "Ada");
        same("ours", account.balance(), 100L);
    }

    private void truncatable() throws Exception {
        Longest made = (Longest) peer.make_base(false), two = (Longest) peer.make_base(false);
        same("id", made.id, (short) 7);
        same("name", made.name, "hidden");
        same("extra", made.extra, -9L);
        same("inner", ((Derived) made.inner).more, 0.5);
        same("last", made.last, (byte) 0x77);
        same("list", java.util.Arrays.toString(made.list), "[1, 2, 3]");
        same("kind", peer.kind_of(made), LongestHelper.id());
        Longer longer = new Values.Longer();
        longer.id = 1;
        longer.name = "longer";
        longer.extra = 1L << 40;
        longer.inner = two;
        echo("echo_base", made, longer);
        echo("echo_base", longer, longer);
        made.inner = made;
        echo("echo_base", made, longer);
    }

    /** The octets of what is not understood have to be left out, or the rest is read wrongly. */
    private void truncated() throws Exception {
        Base made = peer.make_base(true);
        same("kind", Values.kind(made), BaseHelper.id());
        same("id", made.id, (short) 7);
        same("name", made.name, "hidden");
    }

    private void valueBase() throws Exception {
        StringHolder kind = new StringHolder();
        Plain plain = (Plain) peer.pass_value(new Values.Plain(7, "seven", Suit.spades), kind);
        same("kind", kind.value, PlainHelper.id());
        same("number", plain.number, 7);
        Node ring = (Node) peer.pass_value(Values.ring(3), kind);
        same("kind", kind.value, NodeHelper.id());
        same("ring", ring.next.next.next == ring, true);
        same("null", peer.pass_value(null, kind), null);
        same("kind", kind.value, "");
        same("kind_of", peer.kind_of(new Values.Derived(1, "one", 1.0)), DerivedHelper.id());
        same("kind_of", peer.kind_of(null), "");
    }

    private void shapes() throws Exception {
        same("a square", ((Square) peer.make_shape(true, 3, 4)).side, 3.0);
        same("a rectangle", peer.make_shape(false, 3, 4).area(), 12.0);
        Values.Square square = new Values.Square();
        square.side = 1.5;
        same("area", peer.area(square), 2.25);
        same("nothing", peer.area(null), 0.0);
    }

    private void describables() throws Exception {
        StringHolder described = new StringHolder();
        DescribableHolder twin = new DescribableHolder();
        Describable note = peer.pass(new Values.Note("late"), described, twin);
        same("a note", described.value + " " + note.describe() + " " + twin.value.describe(), "note late note late thing late");
        Thing own = RichServant.thing(poa, "own");
        Describable thing = peer.pass(own, described, twin);
        same("a thing", described.value + " " + thing.describe() + " " + twin.value.describe(), "thing own thing own note own");
        same("twin", ((Note) twin.value).text, "own");
        same("nil", peer.pass(null, described, twin), null);
        same("nil", described.value + twin.value, "nilnull");
        Thing theirs = peer.make_thing("theirs");
        Describable[] back = peer.pass_all(new Describable[] {theirs, null, note, own, note}, described);
        same("all", described.value, "thing theirs,nil,note late,thing own,note late");
        same("shared", back[2] == back[4], true);
        same("nil", back[1], null);
        same("their thing", ThingHelper.narrow((org.omg.CORBA.Object) back[0])._is_equivalent(theirs), true);
    }

    private void spoilt() throws Exception {
        Spoilt found = raised(Spoilt.class, "spoil", () -> peer.spoil(-5, "because"));
        same("why", found.why, "because");
        same("number", found.what.number, -5);
        same("one", found.what == found.same, true);
    }

    // ---- anys

    private void anys(Kind... kinds) throws Exception {
        for (Kind kind : kinds)
            for (int n : SEEDS) {
                String what = name(kind) + " " + n + ": ";
                same(what + "make_any", anys.fault(kind, n, peer.make_any(kind, n)), "");
                Any made = anys.make(kind, n);
                same(what + "check_any", peer.check_any(kind, n, made), "");
                AnyHolder b = new AnyHolder(anys.make(kind, n + 1)), c = new AnyHolder();
                same(what + "result", anys.fault(kind, n, peer.pass_any(made, b, c)), "");
                same(what + "inout", anys.fault(kind, n, b.value), "");
                same(what + "out", anys.fault(kind, n + 1, c.value), "");
            }
    }

    private void types(boolean unions) throws Exception {
        for (Kind kind : kinds())
            if (!LACKING.contains(kind) && !VALUES.contains(kind) && UNIONS.contains(kind) == unions) type(kind);
    }

    private void type(Kind kind) throws Exception {
        String what = name(kind) + ": ";
        same(what + "type_of", anys.typeFault(kind, peer.type_of(kind)), "");
        TypeCode type = anys.make(kind, 1).type();
        same(what + "check_type", peer.check_type(kind, type), "");
        TypeCodeHolder b = new TypeCodeHolder(TreeHelper.type()), c = new TypeCodeHolder();
        same(what + "result", anys.typeFault(kind, peer.pass_type(type, b, c)), "");
        same(what + "inout", anys.typeFault(kind, b.value), "");
        same(what + "out", Types.difference(c.value, TreeHelper.type()), "");
    }

    private void several() throws Exception {
        Kind[] kinds = {Kind.k_tree, Kind.k_null, Kind.k_string, Kind.k_tree, Kind.k_any, Kind.k_expr};
        Any[] all = new Any[kinds.length];
        for (int i = 0; i < all.length; i++) all[i] = anys.make(kinds[i], i);
        Any[] turned = peer.turn_anys(all);
        for (int i = 0; i < all.length; i++)
            same("any " + i, anys.fault(kinds[i], i, turned[all.length - 1 - i]), "");
    }

    private void mixed() throws Exception {
        for (int n : SEEDS) {
            Mixed a = MixedHelper.extract(anys.make(Kind.k_mixed, n)), other = MixedHelper.extract(anys.make(Kind.k_mixed, n + 1));
            MixedHolder b = new MixedHolder(other), c = new MixedHolder();
            Any result = orb.create_any(), inout = orb.create_any(), out = orb.create_any();
            MixedHelper.insert(result, peer.pass_mixed(a, b, c));
            MixedHelper.insert(inout, b.value);
            MixedHelper.insert(out, c.value);
            same("result", anys.fault(Kind.k_mixed, n, result), "");
            same("inout", anys.fault(Kind.k_mixed, n, inout), "");
            same("out", anys.fault(Kind.k_mixed, n + 1, out), "");
        }
    }

    // ---- short conversations for ../../../../wire/record.py, which must not change

    private void recordAnys() throws Exception {
        for (Kind kind : kinds())
            if (kind != Kind.k_object && !LACKING.contains(kind)) {
                same("check_any", peer.check_any(kind, 1, anys.make(kind, 1)), "");
                same("make_any", anys.fault(kind, 2, peer.make_any(kind, 2)), "");
            }
    }

    private void recordTypes() throws Exception {
        for (Kind kind : kinds()) same("check_type", peer.check_type(kind, anys.make(kind, 1).type()), "");
    }

    private void recordUnions() throws Exception {
        many(21, 3, "echo_unions", "echo_tree", "echo_expr", "echo_chain", "echo_plainly");
    }

    private void recordFixed() throws Exception {
        String[] prices = {"0.01", "-0.01", "1.00", "999.99", "-999.99", "100.00", "-20.50"};
        for (String a : prices) echo("echo_price", Values.fixed(a), Values.fixed("1.25"));
        String most = "123456789012345678901.0987654321";
        echo("echo_huge", Values.fixed(most), Values.fixed("-" + most));
        Bill bill = BillHelper.extract(anys.make(Kind.k_bill, 7)), other = BillHelper.extract(anys.make(Kind.k_bill, 8));
        echo("echo_bill", bill, other);
        same("the_vat", peer.the_vat().toPlainString(), "19.50");
    }

    private void recordValues() throws Exception {
        shared();
        echo("echo_empty", new Values.Empty(), null);
        echo("echo_base", new Values.Derived(2, "derived", 0.25), null);
        truncatable();
        echo("echo_node", Values.ring(1), Values.ring(3));
        Node ring = Values.ring(2);
        echo("echo_nodes", new Node[] {ring, null, ring.next}, new Node[0]);
        many(22, 3, "echo_boxes", "echo_special");
        accounts();
        shapes();
        valueBase();
        spoilt();
    }
}
