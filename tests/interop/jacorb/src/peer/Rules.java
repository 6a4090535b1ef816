package peer;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.util.IdentityHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.portable.ValueBase;

/**
 * The rules of interop.idl and rich.idl that all programs need: twist and digest. Both walk a value by its TypeCode, because
 * Java's classes do not tell a char from a wchar, an octet from a signed byte or an array from a sequence.
 */
final class Rules {
    private Rules() {}

    static char otherCase(char c) {
        if (c >= 'a' && c <= 'z') return (char) (c - 'a' + 'A');
        if (c >= 'A' && c <= 'Z') return (char) (c - 'A' + 'a');
        return c;
    }

    static String otherCase(String text) {
        char[] units = text.toCharArray();
        for (int i = 0; i < units.length; i++) units[i] = otherCase(units[i]);
        return new String(units);
    }

    /** A changed copy. */
    static Object twist(TypeCode type, Object value) {
        return twist(type, value, new IdentityHashMap<>());
    }

    /** With the copies of valuetypes that there are, because what was shared is shared. */
    private static Object twist(TypeCode type, Object value, Map<Object, Object> copies) {
        try {
            switch (type.kind().value()) {
                case TCKind._tk_alias:
                    return twist(type.content_type(), value, copies);
                case TCKind._tk_short:
                case TCKind._tk_ushort:
                    return (short) ~(Short) value;
                case TCKind._tk_long:
                case TCKind._tk_ulong:
                    return ~(Integer) value;
                case TCKind._tk_longlong:
                case TCKind._tk_ulonglong:
                    return ~(Long) value;
                case TCKind._tk_octet:
                    return (byte) ((Byte) value ^ 0xff);
                case TCKind._tk_float:
                    return Float.intBitsToFloat(Float.floatToRawIntBits((Float) value) ^ Integer.MIN_VALUE);
                case TCKind._tk_double:
                    return Double.longBitsToDouble(Double.doubleToRawLongBits((Double) value) ^ Long.MIN_VALUE);
                case TCKind._tk_boolean:
                    return !(Boolean) value;
                case TCKind._tk_char:
                case TCKind._tk_wchar:
                    return otherCase((char) (Character) value);
                case TCKind._tk_string:
                case TCKind._tk_wstring:
                    return otherCase((String) value);
                case TCKind._tk_enum:
                    return enumerator(value.getClass(), (ordinal(value) + 1) % type.member_count());
                case TCKind._tk_struct: {
                    Object twisted = value.getClass().getConstructor().newInstance();
                    for (int i = 0; i < type.member_count(); i++) {
                        Field member = member(value.getClass(), type.member_name(i));
                        member.set(twisted, twist(type.member_type(i), member.get(value), copies));
                    }
                    return twisted;
                }
                case TCKind._tk_array:
                case TCKind._tk_sequence: {
                    boolean reversed = type.kind() == TCKind.tk_sequence;
                    int n = Array.getLength(value);
                    Object twisted = Array.newInstance(value.getClass().getComponentType(), n);
                    for (int i = 0; i < n; i++)
                        Array.set(twisted, reversed ? n - 1 - i : i,
                                twist(type.content_type(), Array.get(value, i), copies));
                    return twisted;
                }
                case TCKind._tk_fixed:
                    return ((BigDecimal) value).negate();
                case TCKind._tk_union: {
                    Object twisted = value.getClass().getConstructor().newInstance();
                    member(value.getClass(), "discriminator").set(twisted, Unions.discriminator(value));
                    int chosen = Unions.chosen(type, value);
                    if (chosen >= 0) {
                        Field member = member(value.getClass(), type.member_name(chosen));
                        member.set(twisted, twist(type.member_type(chosen), member.get(value), copies));
                    }
                    return twisted;
                }
                case TCKind._tk_value: {
                    if (value == null || copies.containsKey(value)) return copies.get(value);
                    Object twisted = value.getClass().getDeclaredConstructor().newInstance();
                    copies.put(value, twisted);
                    for (TypeCode level : levels(value.getClass())) twistState(level, value, twisted, copies);
                    return twisted;
                }
                case TCKind._tk_value_box: {
                    if (value == null || copies.containsKey(value)) return copies.get(value);
                    Object twisted;
                    if (value instanceof ValueBase) {
                        twisted = value.getClass().getConstructor(int.class)
                                .newInstance(twist(type.content_type(), member(value.getClass(), "value").get(value)));
                    } else twisted = twist(type.content_type(), value, copies);
                    copies.put(value, twisted);
                    return twisted;
                }
                default:
                    throw new IllegalArgumentException("no rule for kind " + type.kind().value());
            }
        } catch (ReflectiveOperationException | org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void twistState(TypeCode type, Object value, Object twisted, Map<Object, Object> copies)
            throws ReflectiveOperationException, org.omg.CORBA.UserException {
        for (int i = 0; i < type.member_count(); i++) {
            Field member = member(value.getClass(), type.member_name(i));
            boolean quiet = type.member_name(i).startsWith("quiet_");
            Object state = member.get(value);
            member.set(twisted, quiet ? state : twist(type.member_type(i), state, copies));
        }
    }

    /**
     * The types whose members are a valuetype's state, the most basic one first. JacORB's IDL compiler makes TypeCodes
     * that do not tell their base, so Java's classes do.
     */
    static List<TypeCode> levels(Class<?> value) throws ReflectiveOperationException {
        LinkedList<TypeCode> levels = new LinkedList<>();
        for (Class<?> one = value; one != Object.class; one = one.getSuperclass())
            if (one.getName().startsWith("test.zorb.Rich."))
                levels.addFirst((TypeCode) Class.forName(one.getName() + "Helper").getMethod("type").invoke(null));
        return levels;
    }

    /** The real type of a valuetype that is no box. */
    static TypeCode typeOf(Object value) throws ReflectiveOperationException {
        return (TypeCode) value.getClass().getMethod("_type").invoke(value);
    }

    /** A member, whoever may see it; one that is a keyword of Java's has an underscore before it. */
    static Field member(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> one = type; one != null; one = one.getSuperclass())
            for (Field field : one.getDeclaredFields())
                if (field.getName().equals(name) || field.getName().equals("_" + name)) {
                    field.setAccessible(true);
                    return field;
                }
        throw new NoSuchFieldException(type + " has no member " + name);
    }

    static int ordinal(Object enumerator) throws ReflectiveOperationException {
        return (Integer) enumerator.getClass().getMethod("value").invoke(enumerator);
    }

    static Object enumerator(Class<?> type, int ordinal) throws ReflectiveOperationException {
        return type.getMethod("from_int", int.class).invoke(null, ordinal);
    }

    /** FNV-1a, 64 bits. */
    static final class Digest {
        private long hash = 0xcbf29ce484222325L;
        /** The valuetypes met so far, and their numbers. */
        private final Map<Object, Integer> met = new IdentityHashMap<>();

        long value() {
            return hash;
        }

        /** The lowest octets of a number, least significant first. */
        Digest octets(long bits, int octets) {
            for (int i = 0; i < octets; i++) hash = (hash ^ (bits >>> (8 * i) & 0xff)) * 0x100000001b3L;
            return this;
        }

        Digest real(float x) {
            return octets(Float.floatToRawIntBits(x), 4);
        }

        Digest real(double x) {
            return octets(Double.doubleToRawLongBits(x), 8);
        }

        Digest truth(boolean x) {
            return octets(x ? 1 : 0, 1);
        }

        Digest text(String x) {
            octets(x.codePointCount(0, x.length()), 4);
            x.codePoints().forEach(point -> octets(point, 4));
            return this;
        }

        Digest wide(String x) {
            octets(x.length(), 4);
            x.chars().forEach(unit -> octets(unit, 2));
            return this;
        }

        Digest value(TypeCode type, Object x) {
            try {
                switch (type.kind().value()) {
                    case TCKind._tk_alias:
                        return value(type.content_type(), x);
                    case TCKind._tk_short:
                    case TCKind._tk_ushort:
                        return octets((Short) x, 2);
                    case TCKind._tk_long:
                    case TCKind._tk_ulong:
                        return octets((Integer) x, 4);
                    case TCKind._tk_longlong:
                    case TCKind._tk_ulonglong:
                        return octets((Long) x, 8);
                    case TCKind._tk_octet:
                        return octets((Byte) x, 1);
                    case TCKind._tk_float:
                        return real((float) (Float) x);
                    case TCKind._tk_double:
                        return real((double) (Double) x);
                    case TCKind._tk_boolean:
                        return truth((Boolean) x);
                    case TCKind._tk_char:
                        return octets((Character) x, 1);
                    case TCKind._tk_wchar:
                        return octets((Character) x, 2);
                    case TCKind._tk_string:
                        return text((String) x);
                    case TCKind._tk_wstring:
                        return wide((String) x);
                    case TCKind._tk_enum:
                        return octets(ordinal(x), 4);
                    case TCKind._tk_struct:
                        for (int i = 0; i < type.member_count(); i++)
                            value(type.member_type(i), member(x.getClass(), type.member_name(i)).get(x));
                        return this;
                    case TCKind._tk_array:
                    case TCKind._tk_sequence: {
                        int n = Array.getLength(x);
                        if (type.kind() == TCKind.tk_sequence) octets(n, 4);
                        for (int i = 0; i < n; i++) value(type.content_type(), Array.get(x, i));
                        return this;
                    }
                    case TCKind._tk_fixed: {
                        BigDecimal exact = ((BigDecimal) x).setScale(type.fixed_scale());
                        String digits = exact.unscaledValue().abs().toString();
                        octets(exact.signum() < 0 ? 1 : 0, 1);
                        for (int i = digits.length(); i < type.fixed_digits(); i++) octets(0, 1);
                        digits.chars().forEach(digit -> octets(digit - '0', 1));
                        return this;
                    }
                    case TCKind._tk_union: {
                        value(type.discriminator_type(), Unions.discriminator(x));
                        int chosen = Unions.chosen(type, x);
                        if (chosen < 0) return this;
                        return value(type.member_type(chosen), member(x.getClass(), type.member_name(chosen)).get(x));
                    }
                    case TCKind._tk_value:
                        if (known(x)) return this;
                        text(typeOf(x).id());
                        for (TypeCode level : levels(x.getClass())) state(level, x);
                        return this;
                    case TCKind._tk_value_box:
                        if (known(x)) return this;
                        text(type.id());
                        return value(type.content_type(), x instanceof ValueBase ? member(x.getClass(), "value").get(x) : x);
                    default:
                        throw new IllegalArgumentException("no rule for kind " + type.kind().value());
                }
            } catch (ReflectiveOperationException | org.omg.CORBA.UserException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Says null, or the number of a value met before; else 0, and counts it. */
        private boolean known(Object value) {
            Integer number = value == null ? Integer.valueOf(-2) : met.get(value);
            if (number == null) met.put(value, met.size());
            octets(number == null ? 0 : number + 1, 4);
            return number != null;
        }

        private void state(TypeCode type, Object value)
                throws ReflectiveOperationException, org.omg.CORBA.UserException {
            for (int i = 0; i < type.member_count(); i++)
                value(type.member_type(i), member(value.getClass(), type.member_name(i)).get(value));
        }
    }

    /** Every constant of Interop::Types in the order of declaration. */
    static long digestOfConstants() {
        return new Digest()
                .octets(Interop.Types.small.value, 2)
                .octets(Interop.Types.list_bound.value, 4)
                .octets(Interop.Types.far.value, 8)
                .octets(Interop.Types.farther.value, 8)
                .octets(Interop.Types.mask.value, 1)
                .octets(Interop.Types.letter.value, 1)
                .octets(Interop.Types.newline.value, 1)
                .truth(Interop.Types.yes.value)
                .real(Interop.Types.quarter.value)
                .real(Interop.Types.third.value)
                .text(Interop.Types.greeting.value)
                .octets(Interop.Types.tag_bound.value, 2)
                .octets(Interop.Types.trump.value.value(), 4)
                .value();
    }
}
