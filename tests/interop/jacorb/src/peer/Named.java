package peer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The cells of a client by name; one that fails throws. */
final class Named {
    private final Map<String, Check.Action> all = new LinkedHashMap<>();
    private final List<String> usual = new ArrayList<>();

    void put(String name, Check.Action cell) {
        all.put(name, cell);
        usual.add(name);
    }

    /** One that runs only when it is asked for. */
    void putUnusual(String name, Check.Action cell) {
        all.put(name, cell);
    }

    List<String> usual() {
        return new ArrayList<>(usual);
    }

    boolean known(String name) {
        return all.containsKey(name);
    }

    /** Says of each cell how it went; whether all of them went well. */
    boolean run(List<String> names) {
        boolean good = true;
        for (String name : names) {
            try {
                all.get(name).run();
                System.out.println("cell " + name + " ok");
            } catch (Throwable e) {
                System.out.println("cell " + name + " FAILED: " + Client.why(e));
                if (System.getenv("PEER_TRACE") != null) e.printStackTrace();
                good = false;
            }
        }
        return good;
    }
}
