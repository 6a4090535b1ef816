package peer;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;

/** Values the client sends. Every member has a value of its own, so that a swap shows. */
final class Samples {
    private static final String LETTERS = "aZbYcXdW";
    private static final String WIDE_LETTERS = "aZ\u00e9\u00df\u0416\u20ac\u65e5\u0301";
    private static final String[] WIDE_TEXTS = {
        "",
        "a",
        "The quick brown Fox",
        "na\u00efve caf\u00e9 \u00c4\u00d6\u00dc\u00df \u00ff",
        "\u0416\u0430\u0440-\u043f\u0442\u0438\u0446\u0430, \u0395\u03bb\u03bb\u03b7, \u65e5\u672c\u8a9e",
        "e\u0301, a\u0308\u0323",
        "\ud83e\udd80",
        "before \ud83e\udd80 between \ud834\udd1e behind",
        "\u0001\u007f\u0080\u00ff\u0100",
        "\ud7ff\ue000\ufffd\uffff",
        "\ud800\udc00\udbff\udfff",
        "\u200f\u05d0\u200ex",
    };

    private long state;
    /** Valuetypes made for the current arguments, which may be met again. */
    private final List<Object> made = new ArrayList<>();
    /** Structs, unions and valuetypes around the sample in work. */
    private int depth;

    /** The same samples for the same seed. */
    Samples(long seed) {
        state = seed;
    }

    /** splitmix64 */
    long roll() {
        state += 0x9e3779b97f4a7c15L;
        long z = (state ^ state >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    int below(int bound) {
        return (int) Long.remainderUnsigned(roll(), bound);
    }

    char letter() {
        return LETTERS.charAt(below(LETTERS.length()));
    }

    String word(int most) {
        StringBuilder word = new StringBuilder();
        for (int n = below(most + 1); n > 0; n--) word.append(letter());
        return word.toString();
    }

    static String[] wideTexts() {
        return WIDE_TEXTS.clone();
    }

    byte[] octets(int n) {
        byte[] octets = new byte[n];
        for (int i = 0; i < n; i++) octets[i] = (byte) roll();
        return octets;
    }

    /** Makes the next arguments share no valuetypes with those before. */
    void forget() {
        made.clear();
    }

    /** A value of a type, whose sequences have n elements or a few less, and never more than their bound. */
    Object value(Class<?> java, TypeCode type, int n) {
        depth++;
        try {
            // What holds itself comes to an end.
            return sample(java, type, depth < 6 ? n : 0);
        } finally {
            depth--;
        }
    }

    private Object sample(Class<?> java, TypeCode type, int n) {
        try {
            switch (type.kind().value()) {
                case TCKind._tk_alias:
                    return sample(java, type.content_type(), n);
                case TCKind._tk_short:
                case TCKind._tk_ushort:
                    return (short) roll();
                case TCKind._tk_long:
                case TCKind._tk_ulong:
                    return (int) roll();
                case TCKind._tk_longlong:
                case TCKind._tk_ulonglong:
                    return roll();
                case TCKind._tk_octet:
                    return (byte) roll();
                case TCKind._tk_float:
                    return (short) roll() / 16.0f;
                case TCKind._tk_double:
                    return (int) roll() / 1024.0;
                case TCKind._tk_boolean:
                    return below(2) == 1;
                case TCKind._tk_char:
                    return letter();
                case TCKind._tk_wchar:
                    return WIDE_LETTERS.charAt(below(WIDE_LETTERS.length()));
                case TCKind._tk_string:
                    return word(type.length() == 0 ? 30 : type.length());
                case TCKind._tk_wstring:
                    return type.length() == 0 ? WIDE_TEXTS[below(WIDE_TEXTS.length)] : WIDE_LETTERS.substring(below(type.length()), 4);
                case TCKind._tk_enum:
                    return Rules.enumerator(java, below(type.member_count()));
                case TCKind._tk_struct: {
                    Object struct = java.getConstructor().newInstance();
                    for (int i = 0; i < type.member_count(); i++) {
                        Field member = Rules.member(java, type.member_name(i));
                        int some = n == 0 ? depth < 6 ? below(2) : 0 : n - below(2);
                        member.set(struct, value(member.getType(), type.member_type(i), some));
                    }
                    return struct;
                }
                case TCKind._tk_array:
                    return elements(java, type, type.length(), n);
                case TCKind._tk_sequence:
                    return elements(java, type, type.length() == 0 ? n : Math.min(n, type.length()),
                            // No more than 3: TypeCodes made by JacORB's IDL compiler forget the bound of an inner sequence.
                            below(4));
                case TCKind._tk_fixed: {
                    BigInteger limit = BigInteger.TEN.pow(below(type.fixed_digits() + 1));
                    BigInteger digits = new BigInteger(128, new java.util.Random(roll())).mod(limit);
                    return new BigDecimal(below(2) == 0 ? digits : digits.negate(), type.fixed_scale());
                }
                case TCKind._tk_union:
                    return union(java, type, n);
                case TCKind._tk_value:
                case TCKind._tk_value_box: {
                    // Texts of both kinds are one class in Java, so one could be in boxes of two types.
                    boolean again = below(4) == 0 && java != String.class;
                    Object known = again ? known(java) : null;
                    if (known != null || below(6) == 0 || depth > 6) return known;
                    if (type.kind() == TCKind.tk_value_box) {
                        Object box = box(java, type, n);
                        made.add(box);
                        return box;
                    }
                    Object value = Values.fresh(java, below(2) == 0);
                    made.add(value);
                    for (TypeCode level : Rules.levels(value.getClass())) state(level, value, n);
                    return value;
                }
                default:
                    throw new IllegalArgumentException("no sample of kind " + type.kind().value());
            }
        } catch (ReflectiveOperationException | org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
    }

    private Object known(Class<?> java) {
        Object[] fit = made.stream().filter(java::isInstance).toArray();
        return fit.length == 0 ? null : fit[below(fit.length)];
    }

    private Object box(Class<?> java, TypeCode type, int n)
            throws ReflectiveOperationException, org.omg.CORBA.UserException {
        if (org.omg.CORBA.portable.ValueBase.class.isAssignableFrom(java)) {
            Class<?> inside = Rules.member(java, "value").getType();
            return java.getConstructor(inside).newInstance(value(inside, type.content_type(), n));
        }
        // Java may have one object for all empty texts, which would seem to be one box.
        return java == String.class ? "a" + value(java, type.content_type(), n) : value(java, type.content_type(), n);
    }

    private void state(TypeCode type, Object value, int n)
            throws ReflectiveOperationException, org.omg.CORBA.UserException {
        for (int i = 0; i < type.member_count(); i++) {
            Field member = Rules.member(value.getClass(), type.member_name(i));
            member.set(value, value(member.getType(), type.member_type(i), n == 0 ? 0 : n - below(2)));
        }
    }

    private Object union(Class<?> java, TypeCode type, int n)
            throws ReflectiveOperationException, org.omg.CORBA.UserException {
        Object union = java.getConstructor().newInstance();
        int chosen = below(type.member_count() + 1);
        Field discriminator = Rules.member(java, "discriminator");
        if (chosen == type.member_count()) {
            long none = Unions.memberless(type, roll());
            if (none >= 0) {
                discriminator.set(union, Unions.discriminator(java, none));
                return union;
            }
            chosen--;
        }
        Field member = Rules.member(java, type.member_name(chosen));
        Object value = value(member.getType(), type.member_type(chosen), n);
        // JacORB's unions have one discriminator only for the default member, which this sets.
        java.getMethod(member.getName(), member.getType()).invoke(union, value);
        if (chosen != type.default_index())
            discriminator.set(union, Unions.discriminator(java, Unions.label(type, chosen)));
        return union;
    }

    private Object elements(Class<?> java, TypeCode type, int count, int n) throws org.omg.CORBA.UserException {
        Object array = Array.newInstance(java.getComponentType(), count);
        for (int i = 0; i < count; i++) Array.set(array, i, value(java.getComponentType(), type.content_type(), n));
        return array;
    }
}
