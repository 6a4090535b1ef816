package peer;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.SystemException;

/** What cells are made of. */
final class Check {
    private Check() {}

    /** A call that returns nothing. */
    interface Action {
        void run() throws Exception;
    }

    static void same(String what, Object found, Object expected) throws Failure {
        if (!Objects.equals(found, expected))
            throw new Failure(what + ": expected " + show(expected) + ", found " + show(found));
    }

    private static String show(Object it) {
        String shown = String.valueOf(it);
        return shown.length() > 200 ? shown.substring(0, 200) + "..." : shown;
    }

    /** What the call raises, which has to be of that class. */
    static <E extends Exception> E raised(Class<E> type, String what, Action call) throws Exception {
        try {
            call.run();
        } catch (Exception e) {
            if (type == e.getClass()) return type.cast(e);
            throw new Failure(what + ": expected " + type.getSimpleName() + ", found " + e);
        }
        throw new Failure(what + ": no exception");
    }

    static void raised(Class<? extends SystemException> type, String what, CompletionStatus completed, Action call)
            throws Exception {
        SystemException e = raised(type, what, call);
        same(what + ": completed", e.completed.value(), completed.value());
    }

    static <T> T quietly(Callable<T> call) {
        try {
            return call.call();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
