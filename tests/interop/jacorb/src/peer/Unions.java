package peer;

import org.omg.CORBA.Any;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;

/** Unions by their TypeCode: which member a discriminator chooses. */
final class Unions {
    private Unions() {}

    static Object discriminator(Object union) throws ReflectiveOperationException {
        return union.getClass().getMethod("discriminator").invoke(union);
    }

    /** The number of the member that a union has, or -1. */
    static int chosen(TypeCode type, Object union) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        return chosen(type, number(discriminator(union)));
    }

    private static int chosen(TypeCode type, long discriminator) throws org.omg.CORBA.UserException {
        for (int i = 0; i < type.member_count(); i++)
            if (i != type.default_index() && label(type, i) == discriminator) return i;
        return type.default_index();
    }

    /** A discriminator as a number, as all of them are on the wire. */
    static long number(Object discriminator) throws ReflectiveOperationException {
        if (discriminator instanceof Number) return ((Number) discriminator).longValue();
        if (discriminator instanceof Boolean) return (Boolean) discriminator ? 1 : 0;
        if (discriminator instanceof Character) return (Character) discriminator;
        return Rules.ordinal(discriminator);
    }

    /** The label of a member that is not the default. */
    static long label(TypeCode type, int member) throws org.omg.CORBA.UserException {
        Any label = type.member_label(member);
        switch (kind(type)) {
            case TCKind._tk_short:
                return label.extract_short();
            case TCKind._tk_ushort:
                return label.extract_ushort();
            case TCKind._tk_long:
                return label.extract_long();
            case TCKind._tk_ulong:
                return label.extract_ulong();
            case TCKind._tk_longlong:
                return label.extract_longlong();
            case TCKind._tk_ulonglong:
                return label.extract_ulonglong();
            case TCKind._tk_char:
                return label.extract_char();
            case TCKind._tk_boolean:
                return label.extract_boolean() ? 1 : 0;
            default:
                return label.create_input_stream().read_long();
        }
    }

    private static int kind(TypeCode type) throws org.omg.CORBA.UserException {
        TypeCode discriminator = type.discriminator_type();
        while (discriminator.kind() == TCKind.tk_alias) discriminator = discriminator.content_type();
        return discriminator.kind().value();
    }

    /** The discriminator of that number as the union's class has it. */
    static Object discriminator(Class<?> union, long number) throws ReflectiveOperationException {
        Class<?> type = union.getMethod("discriminator").getReturnType();
        if (type == short.class) return (short) number;
        if (type == int.class) return (int) number;
        if (type == long.class) return number;
        if (type == char.class) return (char) number;
        if (type == boolean.class) return number != 0;
        return Rules.enumerator(type, (int) number);
    }

    /**
     * A number without a member, near the given one, or -1. JacORB loses such a number when it reads, if it is one that
     * Java can switch over; -1 for those.
     */
    static long memberless(TypeCode type, long near) throws org.omg.CORBA.UserException {
        long count = 0;
        if (kind(type) == TCKind._tk_ulonglong) count = 300;
        if (kind(type) == TCKind._tk_boolean) count = 2;
        if (kind(type) == TCKind._tk_enum) count = type.discriminator_type().member_count();
        for (long i = 0; i < count; i++)
            if (chosen(type, Long.remainderUnsigned(near + i, count)) < 0) return Long.remainderUnsigned(near + i, count);
        return -1;
    }
}
