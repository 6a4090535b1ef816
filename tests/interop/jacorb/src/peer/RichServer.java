package peer;

import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** JacORB server of rich.idl; its arguments are those of {@link Server}. */
public final class RichServer {
    private RichServer() {}

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        String file = arguments.get("--ior");
        if (file == null) {
            System.err.println("rich_server: --ior FILE is needed");
            System.exit(2);
        }
        String port = arguments.get("--port");
        if (port != null) arguments.properties.setProperty("OAPort", port);

        ORB orb = ORB.init(new String[0], arguments.properties);
        Values.register(orb);
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        String reference = orb.object_to_string(RichServant.create(orb, root));
        ((org.jacorb.orb.ORB) orb).addObjectKey("Rich", reference);
        root.the_POAManager().activate();
        Server.serve(orb, reference, file);
    }
}
