package peer;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.portable.Streamable;

/** One operation {@code T echo_xxx(in T a, inout T b, in unsigned long long check, out T c)} of a Peer. */
final class Echo {
    final String name;
    final TypeCode type;
    private final Method method;

    private Echo(Method method) {
        this.method = method;
        this.name = method.getName();
        this.type = typeOf(name, holder());
    }

    /** All of them, by name. */
    static Map<String, Echo> all(Class<?> operations) {
        Map<String, Echo> all = new TreeMap<>();
        for (Method method : operations.getMethods())
            if (method.getName().startsWith("echo_")) all.put(method.getName(), new Echo(method));
        return all;
    }

    /** Helpers know their type, and so do holders of basic types, but for the three that serve several. */
    private static TypeCode typeOf(String name, Streamable holder) {
        try {
            // The helper of a sequence of what holds itself has a type that is not complete.
            if (name.equals("echo_nodes")) return test.zorb.Rich.NodeHelper.type().member_type(1);
            String helper = holder.getClass().getName().replaceFirst("Holder$", "Helper");
            if (!helper.startsWith("org.omg."))
                return (TypeCode) Class.forName(helper).getMethod("type").invoke(null);
        } catch (ReflectiveOperationException | org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
        ORB orb = ORB.init();
        switch (name) {
            case "echo_wchar":
                return orb.get_primitive_tc(TCKind.tk_wchar);
            case "echo_wstring":
                return orb.get_primitive_tc(TCKind.tk_wstring);
            case "echo_tag":
                return Interop.Types.TagHelper.type();
            default:
                return holder._type();
        }
    }

    Class<?> javaType() {
        return method.getParameterTypes()[0];
    }

    private Streamable holder() {
        try {
            return (Streamable) method.getParameterTypes()[1].getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static Object get(Object holder) {
        try {
            return holder.getClass().getField("value").get(holder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void set(Object holder, Object value) {
        try {
            holder.getClass().getField("value").set(holder, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    long digest(Object... values) {
        Rules.Digest digest = new Rules.Digest();
        for (Object value : values) digest.value(type, value);
        return digest.value();
    }

    /** How a Peer says that a check does not fit. */
    interface Complaint {
        Exception of(String operation, long expected, long found);
    }

    /** The servant's part. */
    Object answer(Object a, Object b, long check, Object c, Complaint complaint) throws Exception {
        Object received = get(b);
        long found = digest(a, received);
        if (found != check) throw complaint.of(name, check, found);
        set(c, received);
        set(b, a);
        return Rules.twist(type, a);
    }

    /** The client's part: calls it, and checks what comes back. */
    void call(Object peer, Object a, Object b) throws Exception {
        Object result;
        Streamable inout = holder(), out = holder();
        set(inout, b);
        try {
            result = method.invoke(peer, a, inout, digest(a, b), out);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
        }
        same("result", result, Rules.twist(type, a));
        same("inout", get(inout), a);
        same("out", get(out), b);
    }

    private void same(String what, Object found, Object expected) throws Failure {
        if (digest(found) != digest(expected)) throw new Failure(name + ": " + what + " is not what the rule says");
    }
}
