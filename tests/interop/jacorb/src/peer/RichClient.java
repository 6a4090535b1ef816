package peer;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import test.zorb.Rich.Peer;
import test.zorb.Rich.PeerHelper;

/**
 * JacORB client of rich.idl: {@code rich_client --ior FILE [--cell NAME]... [--list] [--op shutdown]
 * [-Dname=value]...}, as {@link Client} takes them.
 */
public final class RichClient {
    private RichClient() {}

    public static void main(String[] args) throws Exception {
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8));
        int status = 1;
        try {
            status = run(new Arguments(args));
        } catch (SystemException e) {
            System.err.println("rich_client: " + e);
        }
        System.exit(status);
    }

    private static int run(Arguments arguments) throws Exception {
        // A lost reply is a failed cell, not a hang.
        arguments.properties.setProperty("jacorb.connection.client.pending_reply_timeout", "30000");
        ORB orb = ORB.init(new String[0], arguments.properties);
        Values.register(orb);
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        RichCells cells = new RichCells(orb, poa);
        List<String> chosen = Client.chosen(arguments, cells.all);
        if (chosen == null) return 2;
        if (arguments.has("--list")) {
            chosen.forEach(System.out::println);
            return 0;
        }
        poa.the_POAManager().activate();
        org.omg.CORBA.Object object = orb.string_to_object(Files.readAllLines(Path.of(arguments.get("--ior"))).get(0));
        Peer peer = PeerHelper.narrow(object);
        boolean good = true;
        if ("shutdown".equals(arguments.get("--op"))) peer.shutdown();
        else good = cells.run(peer, chosen);
        orb.shutdown(true);
        return good ? 0 : 1;
    }
}
