package peer;

import java.math.BigDecimal;
import org.omg.CORBA.Any;
import org.omg.CORBA.BAD_OPERATION;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.VM_TRUNCATABLE;
import org.omg.CORBA.ValueMember;
import org.omg.CORBA.portable.OutputStream;
import test.zorb.Rich.*;

/** What is in the anys of rich.idl: what make_any makes, and what check_any looks at. */
final class RichAnys {
    private final ORB orb;
    private final test.zorb.Rich.Peer self;

    /** With the Peer that is meant by k_object. */
    RichAnys(ORB orb, test.zorb.Rich.Peer self) {
        this.orb = orb;
        this.self = self;
    }

    // ---- the values

    private static Point point(int n) {
        return new Point((short) n, n / 2.0);
    }

    private static int[] longs(int n) {
        int[] longs = new int[n % 8];
        for (int i = 0; i < longs.length; i++) longs[i] = n + i;
        return longs;
    }

    private static int[][][] cuboid(int n) {
        int[][][] cuboid = new int[2][2][3];
        for (int[][] block : cuboid) for (int[] row : block) for (int i = 0; i < 3; i++) row[i] = n++;
        return cuboid;
    }

    private static BigDecimal price(int n) {
        return new BigDecimal((n % 2 == 1 ? "-" : "") + n % 1000 + ".25");
    }

    private static Tree tree(int n) {
        Tree left = new Tree("left", new Tree[0], (byte) 1), deep = new Tree("deep", new Tree[0], (byte) 2);
        return new Tree("root " + n, new Tree[] {left, new Tree("right", new Tree[] {deep}, (byte) 3)}, (byte) n);
    }

    private static Expr number(double value) {
        Expr number = new Expr();
        number.value(value);
        return number;
    }

    private static Expr expr(int n) {
        Expr negate = new Expr(), add = new Expr();
        negate.one(new Expr[] {number(0.5)});
        add.all(new Expr[] {number(n), negate});
        return add;
    }

    private static ByLong byLong(int n) {
        ByLong union = new ByLong();
        if (n % 3 == 0) union.text(-7, "u " + n);
        else union.at(point(n));
        return union;
    }

    private static BySuit diamonds() {
        BySuit union = new BySuit();
        union.__default(Suit.diamonds);
        return union;
    }

    private static int[][] lists(int n) {
        int[][] lists = new int[n % 4][];
        for (int i = 0; i < lists.length; i++) {
            lists[i] = new int[i + 1];
            java.util.Arrays.fill(lists[i], n);
        }
        return lists;
    }

    private static Bill bill(int n) {
        BigDecimal[] more = {new BigDecimal("-1.00"), new BigDecimal("2.75")};
        return new Bill((byte) 0, price(n), (byte) 1, new BigDecimal("1.50"), (byte) 2,
                new BigDecimal(n + ".5").setScale(10), (byte) 3, new BigDecimal("-7"), (byte) 4,
                new BigDecimal("0.125000"), (byte) 5, more, (byte) 6);
    }

    private static Plainly plainly(int n) {
        return new Plainly(new short[][] {{1, 2, 3}, {}, {(short) n}}, "t", new int[][] {{1, 2, 3}, {4, 5, 6}}, "\u0416",
                new String[] {"a", "bcd"}, cuboid(n), (byte) 0x55);
    }

    private static Plain plain(int n) {
        return new Values.Plain(n, "p " + n, Suit.spades);
    }

    private static Longest longest(int n) {
        Longest longest = new Values.Longest();
        longest.id = (short) n;
        longest.name = "s " + n;
        longest.extra = n;
        longest.last = (byte) n;
        longest.list = longs(n);
        return longest;
    }

    /** JacORB's IDL compiler forgets bases and that something is truncatable. */
    private TypeCode longestType() {
        return truncatable("Longest", truncatable("Longer", BaseHelper.type(), LongerHelper.type()), LongestHelper.type());
    }

    private TypeCode truncatable(String name, TypeCode base, TypeCode own) {
        return Check.quietly(() -> {
            ValueMember[] members = new ValueMember[own.member_count()];
            for (int i = 0; i < members.length; i++)
                members[i] = new ValueMember(own.member_name(i), "", "", "", own.member_type(i), null, own.member_visibility(i));
            return orb.create_value_tc(own.id(), name, VM_TRUNCATABLE.value, base, members);
        });
    }

    private static Holder holder(int n) {
        Plain plain = plain(n);
        MaybePlain maybe = new MaybePlain();
        maybe.it(plain);
        return new Holder((byte) 8, plain, (byte) 9, plain, maybe, new Plain[] {plain, null}, point(n));
    }

    // ---- make_any

    private interface Put {
        void into(Any any);
    }

    private Any any(Put put) {
        Any any = orb.create_any();
        put.into(any);
        return any;
    }

    Any make(Kind which, int n) {
        switch (which.value()) {
            case Kind._k_null:
                return orb.create_any();
            case Kind._k_void:
                return any(a -> a.type(orb.get_primitive_tc(TCKind.tk_void)));
            case Kind._k_short:
                return any(a -> a.insert_short((short) -n));
            case Kind._k_long:
                return any(a -> a.insert_long(-n * 1000));
            case Kind._k_ushort:
                return any(a -> a.insert_ushort((short) (65535 - n)));
            case Kind._k_ulong:
                return any(a -> a.insert_ulong(-1 - n));
            case Kind._k_float:
                return any(a -> a.insert_float(n + 0.5f));
            case Kind._k_double:
                return any(a -> a.insert_double(n + 0.25));
            case Kind._k_boolean:
                return any(a -> a.insert_boolean(n % 2 == 1));
            case Kind._k_char:
                return any(a -> a.insert_char((char) ('A' + n % 26)));
            case Kind._k_octet:
                return any(a -> a.insert_octet((byte) n));
            case Kind._k_longlong:
                return any(a -> a.insert_longlong(-n * 10000000000L));
            case Kind._k_ulonglong:
                return any(a -> a.insert_ulonglong(-1L - n));
            case Kind._k_wchar:
                return any(a -> a.insert_wchar((char) (0x416 + n % 16)));
            case Kind._k_string:
                return any(a -> a.insert_string("text " + n));
            case Kind._k_wstring:
                return any(a -> a.insert_wstring("\u0416" + n));
            case Kind._k_bounded:
                return any(a -> TagHelper.insert(a, "t " + n));
            case Kind._k_alias:
                return any(a -> TagAgainHelper.insert(a, "a " + n));
            case Kind._k_enum:
                return any(a -> SuitHelper.insert(a, Suit.from_int(n % 4)));
            case Kind._k_struct:
                return any(a -> PointHelper.insert(a, point(n)));
            case Kind._k_union:
                return any(a -> {
                    if (n % 3 < 2) ByLongHelper.insert(a, byLong(n));
                    else { // JacORB's class cannot say 5 for the default member
                        a.type(ByLongHelper.type());
                        OutputStream out = a.create_output_stream();
                        out.write_long(5);
                        out.write_octet((byte) n);
                    }
                });
            case Kind._k_union_none:
                return any(a -> BySuitHelper.insert(a, diamonds()));
            case Kind._k_sequence:
                return any(a -> LongSeqHelper.insert(a, longs(n)));
            case Kind._k_sequences:
                return any(a -> ListsHelper.insert(a, lists(n)));
            case Kind._k_strings:
                return any(a -> StringSeqHelper.insert(a, new String[] {"s " + n, "", "\u00e9"}));
            case Kind._k_array:
                return any(a -> RowHelper.insert(a, new int[] {n, n + 1, n + 2}));
            case Kind._k_arrays:
                return any(a -> CuboidHelper.insert(a, cuboid(n)));
            case Kind._k_fixed:
                return any(a -> PriceHelper.insert(a, price(n)));
            case Kind._k_tree:
                return any(a -> TreeHelper.insert(a, tree(n)));
            case Kind._k_expr:
                return any(a -> ExprHelper.insert(a, expr(n)));
            case Kind._k_exception:
                return any(a -> DetailedHelper.insert(a, new Detailed(n, "e " + n, point(n))));
            case Kind._k_object:
                return any(a -> a.insert_Object(self, PeerHelper.type())); // not with the type of the reference
            case Kind._k_nil:
                return any(a -> a.insert_Object(null, QuietHelper.type()));
            case Kind._k_any:
                return any(a -> a.insert_any(any(b -> b.insert_any(make(Kind.k_struct, n)))));
            case Kind._k_anys:
                return any(a -> AnySeqHelper.insert(a, anys(n)));
            case Kind._k_typecode:
                return any(a -> a.insert_TypeCode(TreeHelper.type()));
            case Kind._k_mixed:
                return any(a -> MixedHelper.insert(a, new Mixed((byte) n, make(Kind.k_union, n), ExprHelper.type(), n / 4.0)));
            case Kind._k_bill:
                return any(a -> BillHelper.insert(a, bill(n)));
            case Kind._k_plain:
                return any(a -> PlainHelper.insert(a, plain(n)));
            case Kind._k_base:
                return any(a -> a.insert_Value(new Values.Derived(n, "d " + n, n / 8.0), BaseHelper.type()));
            case Kind._k_longest:
                return any(a -> a.insert_Value(longest(n), longestType()));
            case Kind._k_null_value:
                return any(a -> a.insert_Value(null, PlainHelper.type()));
            case Kind._k_ring:
                return any(a -> NodeHelper.insert(a, Values.ring(n % 4 + 1)));
            case Kind._k_text_box:
                return any(a -> TextBoxHelper.insert(a, "b " + n));
            case Kind._k_list_box:
                return any(a -> ListBoxHelper.insert(a, longs(n)));
            case Kind._k_holder:
                return any(a -> HolderHelper.insert(a, holder(n)));
            case Kind._k_bounded_wide:
                return any(a -> WTagHelper.insert(a, "\u0416" + n));
            case Kind._k_plainly:
                return any(a -> PlainlyHelper.insert(a, plainly(n)));
            default:
                throw new org.omg.CORBA.BAD_PARAM("no such kind");
        }
    }

    private Any[] anys(int n) {
        return new Any[] {make(Kind.k_long, n), make(Kind.k_string, n), make(Kind.k_null, n), make(Kind.k_sequence, n)};
    }

    // ---- check_any

    /** "", or what is wrong. */
    String fault(Kind which, int n, Any it) {
        Any expected = make(which, n);
        String wrong = typeFault(which, it.type());
        if (!wrong.isEmpty()) return wrong;
        try {
            return taken(which, n, it) ? "" : "another value";
        } catch (BAD_OPERATION e) {
            return "it is not taken out as its type: " + e.getMessage() + ", as " + expected.type().kind().value();
        }
    }

    String typeFault(Kind which, TypeCode it) {
        return Types.difference(it, make(which, 1).type());
    }

    private boolean taken(Kind which, int n, Any it) {
        switch (which.value()) {
            case Kind._k_null:
            case Kind._k_void:
                return true;
            case Kind._k_short:
                return it.extract_short() == (short) -n;
            case Kind._k_long:
                return it.extract_long() == -n * 1000;
            case Kind._k_ushort:
                return it.extract_ushort() == (short) (65535 - n);
            case Kind._k_ulong:
                return it.extract_ulong() == -1 - n;
            case Kind._k_float:
                return it.extract_float() == n + 0.5f;
            case Kind._k_double:
                return it.extract_double() == n + 0.25;
            case Kind._k_boolean:
                return it.extract_boolean() == (n % 2 == 1);
            case Kind._k_char:
                return it.extract_char() == 'A' + n % 26;
            case Kind._k_octet:
                return it.extract_octet() == (byte) n;
            case Kind._k_longlong:
                return it.extract_longlong() == -n * 10000000000L;
            case Kind._k_ulonglong:
                return it.extract_ulonglong() == -1L - n;
            case Kind._k_wchar:
                return it.extract_wchar() == 0x416 + n % 16;
            case Kind._k_string:
                return it.extract_string().equals("text " + n);
            case Kind._k_wstring:
                return it.extract_wstring().equals("\u0416" + n);
            case Kind._k_bounded:
                return TagHelper.extract(it).equals("t " + n);
            case Kind._k_alias:
                return TagAgainHelper.extract(it).equals("a " + n);
            case Kind._k_bounded_wide:
                return WTagHelper.extract(it).equals("\u0416" + n);
            case Kind._k_enum:
                return SuitHelper.extract(it).value() == n % 4;
            case Kind._k_struct:
                return alike(PointHelper.type(), PointHelper.extract(it), point(n));
            case Kind._k_union: {
                if (n % 3 < 2) return alike(ByLongHelper.type(), ByLongHelper.extract(it), byLong(n));
                org.omg.CORBA.portable.InputStream in = it.create_input_stream();
                return in.read_long() == 5 && in.read_octet() == (byte) n;
            }
            case Kind._k_union_none:
                return alike(BySuitHelper.type(), BySuitHelper.extract(it), diamonds());
            case Kind._k_sequence:
                return alike(LongSeqHelper.type(), LongSeqHelper.extract(it), longs(n));
            case Kind._k_sequences:
                return alike(ListsHelper.type(), ListsHelper.extract(it), lists(n));
            case Kind._k_strings:
                return alike(StringSeqHelper.type(), StringSeqHelper.extract(it), new String[] {"s " + n, "", "\u00e9"});
            case Kind._k_array:
                return alike(RowHelper.type(), RowHelper.extract(it), new int[] {n, n + 1, n + 2});
            case Kind._k_arrays:
                return alike(CuboidHelper.type(), CuboidHelper.extract(it), cuboid(n));
            case Kind._k_fixed:
                return PriceHelper.extract(it).equals(price(n));
            case Kind._k_tree:
                return alike(TreeHelper.type(), TreeHelper.extract(it), tree(n));
            case Kind._k_expr:
                return alike(ExprHelper.type(), ExprHelper.extract(it), expr(n));
            case Kind._k_exception: {
                Detailed detailed = DetailedHelper.extract(it);
                return detailed.code == n && detailed.text.equals("e " + n)
                        && alike(PointHelper.type(), detailed.where, point(n));
            }
            case Kind._k_object:
                return PeerHelper.extract(it)._is_equivalent(self);
            case Kind._k_nil:
                return it.extract_Object() == null;
            case Kind._k_any:
                return taken(Kind.k_struct, n, it.extract_any().extract_any());
            case Kind._k_anys: {
                Any[] all = AnySeqHelper.extract(it);
                Kind[] kinds = {Kind.k_long, Kind.k_string, Kind.k_null, Kind.k_sequence};
                for (int i = 0; i < kinds.length; i++) if (!fault(kinds[i], n, all[i]).isEmpty()) return false;
                return all.length == 4;
            }
            case Kind._k_typecode:
                return Types.difference(it.extract_TypeCode(), TreeHelper.type()).isEmpty();
            case Kind._k_mixed: {
                Mixed mixed = MixedHelper.extract(it);
                return mixed.mark == (byte) n && mixed.end == n / 4.0 && fault(Kind.k_union, n, mixed.inner).isEmpty()
                        && Types.difference(mixed.kind, ExprHelper.type()).isEmpty();
            }
            case Kind._k_bill:
                return alike(BillHelper.type(), BillHelper.extract(it), bill(n));
            case Kind._k_plain:
                return alike(PlainHelper.type(), PlainHelper.extract(it), plain(n));
            case Kind._k_base:
                return alike(BaseHelper.type(), BaseHelper.extract(it), new Values.Derived(n, "d " + n, n / 8.0));
            case Kind._k_longest:
                return alike(LongestHelper.type(), LongestHelper.extract(it), longest(n));
            case Kind._k_null_value:
                return PlainHelper.extract(it) == null;
            case Kind._k_ring:
                return alike(NodeHelper.type(), NodeHelper.extract(it), Values.ring(n % 4 + 1));
            case Kind._k_text_box:
                return TextBoxHelper.extract(it).equals("b " + n);
            case Kind._k_list_box:
                return alike(LongSeqHelper.type(), ListBoxHelper.extract(it), longs(n));
            case Kind._k_holder:
                return alike(HolderHelper.type(), HolderHelper.extract(it), holder(n));
            case Kind._k_plainly:
                return alike(PlainlyHelper.type(), PlainlyHelper.extract(it), plainly(n));
            default:
                return false;
        }
    }

    private static boolean alike(TypeCode type, Object found, Object expected) {
        return new Rules.Digest().value(type, found).value() == new Rules.Digest().value(type, expected).value();
    }
}
