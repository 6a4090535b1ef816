package peer;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.UserException;

/**
 * TypeCodes that are equal, names and all. JacORB's own {@code equal} takes the labels of a union in their order, and
 * its IDL compiler turns that of several labels for one member round.
 */
final class Types {
    private Types() {}

    /** "", or where they differ. */
    static String difference(TypeCode found, TypeCode expected) {
        try {
            return difference(found, expected, new HashSet<>());
        } catch (UserException | ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String unequal(String what, Object found, Object expected) {
        return found.equals(expected) ? "" : what + " " + found + " instead of " + expected;
    }

    /** With the structs, unions and values that are being compared. */
    private static String difference(TypeCode a, TypeCode b, Set<String> within)
            throws UserException, ReflectiveOperationException {
        String wrong = unequal("kind", a.kind().value(), b.kind().value());
        if (!wrong.isEmpty()) return wrong;
        switch (a.kind().value()) {
            case TCKind._tk_objref:
            case TCKind._tk_abstract_interface:
                return name(a, b);
            case TCKind._tk_enum:
                wrong = name(a, b);
                for (int i = 0; wrong.isEmpty() && i < Math.max(a.member_count(), b.member_count()); i++)
                    wrong = unequal("enumerator", a.member_name(i), b.member_name(i));
                return wrong;
            case TCKind._tk_string:
            case TCKind._tk_wstring:
                return unequal("bound", a.length(), b.length());
            case TCKind._tk_fixed:
                return unequal("digits", a.fixed_digits() + "," + a.fixed_scale(), b.fixed_digits() + "," + b.fixed_scale());
            case TCKind._tk_sequence:
            case TCKind._tk_array:
                wrong = unequal("length", a.length(), b.length());
                return wrong.isEmpty() ? difference(a.content_type(), b.content_type(), within) : wrong;
            case TCKind._tk_alias:
            case TCKind._tk_value_box:
                wrong = name(a, b);
                return wrong.isEmpty() ? difference(a.content_type(), b.content_type(), within) : wrong;
            case TCKind._tk_struct:
            case TCKind._tk_except:
            case TCKind._tk_union:
            case TCKind._tk_value:
                wrong = name(a, b);
                return wrong.isEmpty() && within.add(b.id()) ? members(a, b, within) : wrong;
            default:
                return "";
        }
    }

    private static String name(TypeCode a, TypeCode b) throws UserException {
        return unequal("id", a.id() + " " + a.name(), b.id() + " " + b.name());
    }

    private static String members(TypeCode a, TypeCode b, Set<String> within)
            throws UserException, ReflectiveOperationException {
        String wrong = unequal("members of " + b.name(), a.member_count(), b.member_count());
        if (!wrong.isEmpty()) return wrong;
        int[] order = new int[b.member_count()];
        for (int i = 0; i < order.length; i++) order[i] = i;
        if (b.kind() == TCKind.tk_union) {
            wrong = difference(a.discriminator_type(), b.discriminator_type(), within);
            if (wrong.isEmpty()) wrong = unequal("labels of " + b.name(), labels(a).keySet(), labels(b).keySet());
            if (!wrong.isEmpty()) return wrong;
            Map<String, Integer> there = labels(a);
            for (Map.Entry<String, Integer> label : labels(b).entrySet())
                order[label.getValue()] = there.get(label.getKey());
        }
        if (b.kind() == TCKind.tk_value) {
            wrong = unequal("modifier", a.type_modifier(), b.type_modifier());
            TypeCode before = base(a), wanted = base(b);
            if (wrong.isEmpty() && before != null && wanted != null) wrong = difference(before, wanted, within);
            else if (wrong.isEmpty()) wrong = unequal("base of " + b.name(), before != null, wanted != null);
        }
        for (int i = 0; wrong.isEmpty() && i < order.length; i++) {
            wrong = unequal("member of " + b.name(), a.member_name(order[i]), b.member_name(i));
            if (wrong.isEmpty()) wrong = difference(a.member_type(order[i]), b.member_type(i), within);
            if (wrong.isEmpty() && b.kind() == TCKind.tk_value)
                wrong = unequal("visibility of " + b.member_name(i), a.member_visibility(order[i]), b.member_visibility(i));
        }
        return wrong;
    }

    /** The type that a valuetype's state begins with, or null. */
    private static TypeCode base(TypeCode type) throws UserException {
        TypeCode base = type.concrete_base_type();
        return base == null || base.kind() == TCKind.tk_null ? null : base;
    }

    /** The labels of a union, and the numbers of the members that they are for. */
    private static Map<String, Integer> labels(TypeCode type) throws UserException {
        Map<String, Integer> labels = new TreeMap<>();
        for (int i = 0; i < type.member_count(); i++)
            labels.put(i == type.default_index() ? "default" : Long.toString(Unions.label(type, i)), i);
        return labels;
    }
}
