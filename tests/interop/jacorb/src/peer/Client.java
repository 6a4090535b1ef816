package peer;

import Interop.Peer;
import Interop.PeerHelper;
import java.io.PrintStream;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.omg.CORBA.COMM_FAILURE;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * JacORB client of interop.idl: {@code client --ior FILE [--cell NAME]... [--corbaloc URL] [-Dname=value]...} Runs the
 * named cells (all of --list when none, or "all", is named), prints {@code cell NAME ok} or
 * {@code cell NAME FAILED: why} for each and ends with status 1 if one failed.
 *
 * <ul>
 *   <li>--list: the cells that "all" stands for with these options, one per line
 *   <li>--corbaloc: a URL of the same Peer: adds the cell "corbaloc"
 *   <li>--tcs: utf8 when strings travel as UTF-8 (else latin1)
 *   <li>--op: instead of cells: shutdown, die, non_existent, or nil (prints a nil reference)
 * </ul>
 */
public final class Client {
    private Client() {}

    public static void main(String[] args) throws Exception {
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8));
        int status = 1;
        try {
            status = run(new Arguments(args));
        } catch (SystemException | Failure e) {
            System.err.println("client: " + e);
        }
        System.exit(status);
    }

    private static int run(Arguments arguments) throws Exception {
        boolean utf8 = "utf8".equals(arguments.get("--tcs"));
        boolean giop10 = "0".equals(arguments.properties.getProperty("jacorb.giop_minor_version"));
        boolean codeSets = !giop10 && !"off".equals(arguments.properties.getProperty("jacorb.codeset"));
        // A lost reply is a failed cell, not a hang.
        arguments.properties.setProperty("jacorb.connection.client.pending_reply_timeout", "30000");
        BothWays.prepare(arguments);
        ORB orb = ORB.init(new String[0], arguments.properties);
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        POA poa = BothWays.poa(arguments, orb, root);
        // Without code sets there is no wide text.
        Cells cells = new Cells(orb, poa, arguments.get("--corbaloc"), utf8, codeSets);

        List<String> chosen = chosen(arguments, cells.named());
        if (chosen == null) return 2;
        if (arguments.has("--list")) {
            chosen.forEach(System.out::println);
            return 0;
        }
        String op = arguments.get("--op");
        if ("nil".equals(op)) {
            System.out.println(orb.object_to_string(null));
            return 0;
        }

        poa.the_POAManager().activate();
        String reference = Files.readAllLines(Path.of(arguments.get("--ior"))).get(0);
        org.omg.CORBA.Object object = orb.string_to_object(reference);
        if ("non_existent".equals(op)) {
            System.out.println(object._non_existent());
            return 0;
        }
        if (object == null || !object._is_a(PeerHelper.id())) {
            System.err.println("client: " + arguments.get("--ior") + " holds no reference of a Peer");
            return 1;
        }
        Peer peer = PeerHelper.narrow(object);
        if ("shutdown".equals(op)) peer.shutdown();
        if ("die".equals(op)) Check.raised(COMM_FAILURE.class, "die", peer::die);
        boolean good = true;
        if (op == null) good = cells.run(peer, chosen);
        orb.shutdown(true);
        return good ? 0 : 1;
    }

    /** The cells to run, all that are usual when none is named; null, and a word, when there is no such cell. */
    static List<String> chosen(Arguments arguments, Named cells) {
        List<String> chosen = new ArrayList<>(arguments.getAll("--cell"));
        chosen.remove("all");
        if (chosen.isEmpty()) chosen = cells.usual();
        for (String name : chosen)
            if (!cells.known(name)) {
                System.err.println("client: no cell is called " + name);
                return null;
            }
        return chosen;
    }

    /** Why a cell failed, in one line. */
    static String why(Throwable e) {
        if (e instanceof Failure) return e.getMessage();
        if (e instanceof Interop.Mismatch)
            return ((Interop.Mismatch) e).operation + ": the server found other values than were sent";
        if (e instanceof test.zorb.Rich.Mismatch)
            return ((test.zorb.Rich.Mismatch) e).operation + ": the server found other values than were sent";
        if (e instanceof SystemException) {
            SystemException system = (SystemException) e;
            return system.getClass().getSimpleName() + " minor 0x" + Integer.toHexString(system.minor) + ", completion "
                    + system.completed.value() + ": " + system.getMessage();
        }
        StackTraceElement[] trace = e.getStackTrace();
        return e + (trace.length > 0 ? " at " + trace[0] : "");
    }
}
