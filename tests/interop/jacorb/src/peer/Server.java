package peer;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * JacORB server of interop.idl: {@code server --ior FILE [--port N] [-Dname=value]...} Writes the reference of its Peer
 * to FILE (FILE.tmp, then a rename) and to standard output once it serves calls, and serves until shutdown(). The Peer
 * also has the plain key "Interop": corbaloc::127.0.0.1:PORT/Interop.
 */
public final class Server {
    private Server() {}

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        String file = arguments.get("--ior");
        if (file == null) {
            System.err.println("server: --ior FILE is needed");
            System.exit(2);
        }
        String port = arguments.get("--port");
        if (port != null) arguments.properties.setProperty("OAPort", port);
        arguments.properties.setProperty(Forwards.PROPERTY, "");

        BothWays.prepare(arguments);
        ORB orb = ORB.init(new String[0], arguments.properties);
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        // Its being there has the ORB take what clients offer.
        BothWays.poa(arguments, orb, root);
        Interop.Node own = Nodes.host(root, "home", false), gone = Nodes.host(root, "gone", false);
        root.deactivate_object(root.reference_to_id(gone));
        Forwards.start(orb, root, own, gone);
        org.omg.CORBA.Object peer = Nodes.activate(root, new Interop.PeerPOATie(PeerServant.create(orb, root)));
        String reference = orb.object_to_string(peer);
        ((org.jacorb.orb.ORB) orb).addObjectKey("Interop", reference);
        root.the_POAManager().activate();

        serve(orb, reference, file);
    }

    /** Says where the object is, and serves until somebody shuts the ORB down. */
    static void serve(ORB orb, String reference, String file) throws Exception {
        Path written = Path.of(file + ".tmp");
        Files.writeString(written, reference + "\n", StandardCharsets.US_ASCII);
        Files.move(written, Path.of(file), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        System.out.println(reference);
        orb.run();
        System.exit(0);
    }
}
