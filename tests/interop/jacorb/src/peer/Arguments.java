package peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** {@code --name value} pairs, bare {@code --flags}, and {@code -Dname=value} for the ORB. */
final class Arguments {
    private final String[] all;
    final Properties properties = new Properties();

    Arguments(String[] all) {
        this.all = all;
        properties.setProperty("OAIAddr", "127.0.0.1");
        // Or a server with a hundred requests waiting answers TRANSIENT.
        properties.setProperty("jacorb.poa.queue_wait", "on");
        // Else it depends on the locale.
        properties.setProperty("jacorb.native_char_codeset", "ISO8859_1");
        for (String one : all) {
            int equals = one.indexOf('=');
            if (one.startsWith("-D") && equals > 0) properties.setProperty(one.substring(2, equals), one.substring(equals + 1));
        }
    }

    String get(String name) {
        List<String> values = getAll(name);
        return values.isEmpty() ? null : values.get(0);
    }

    List<String> getAll(String name) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i + 1 < all.length; i++) if (all[i].equals(name)) values.add(all[i + 1]);
        return values;
    }

    boolean has(String flag) {
        return List.of(all).contains(flag);
    }
}
