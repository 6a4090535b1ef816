package peer;

import org.jacorb.util.Time;
import org.omg.CORBA.Any;
import org.omg.CORBA.NVList;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.CORBA.Request;
import org.omg.CORBA.ServerRequest;
import org.omg.CORBA.SetOverrideType;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.TCKind;
import org.omg.Messaging.RELATIVE_RT_TIMEOUT_POLICY_TYPE;
import org.omg.PortableServer.DynamicImplementation;
import org.omg.PortableServer.POA;
import org.omg.TimeBase.UtcT;

/**
 * Time limits of calls. {@code times server} prints a reference, and answers "left" with the milliseconds until the reply end time
 * that the client has stated, -1 without one. {@code times client REFERENCE MILLISECONDS} asks with that round-trip timeout, and
 * prints "reply NUMBER" or "exception NAME COMPLETED".
 */
public final class Times {
    private static final String ID = "IDL:Timed:1.0";

    private static final class Timed extends DynamicImplementation {
        private final ORB orb;

        Timed(ORB orb) {
            this.orb = orb;
        }

        @Override
        public void invoke(ServerRequest request) {
            request.arguments(orb.create_list(0));
            UtcT end = ((org.jacorb.orb.dsi.ServerRequest) request).getReplyEndTime();
            Any result = orb.create_any();
            result.insert_longlong(end == null ? -1 : Time.millisTo(end));
            request.set_result(result);
        }

        @Override
        public String[] _all_interfaces(POA poa, byte[] id) {
            return new String[] {ID};
        }
    }

    public static void main(String[] args) throws Exception {
        ORB orb = ORB.init(new String[0], null);
        if (args[0].equals("server")) {
            POA poa = (POA) orb.resolve_initial_references("RootPOA");
            byte[] id = poa.activate_object(new Timed(orb));
            poa.the_POAManager().activate();
            System.out.println(orb.object_to_string(poa.id_to_reference(id)));
            System.out.flush();
            // Until its standard input ends.
            while (System.in.read() >= 0) continue;
        } else {
            ask(orb, args[1], Long.parseLong(args[2]));
            orb.shutdown(true);
        }
        System.exit(0);
    }

    private static void ask(ORB orb, String reference, long milliseconds) throws Exception {
        Any limit = orb.create_any();
        limit.insert_ulonglong(milliseconds * 10_000);
        Policy[] policies = {orb.create_policy(RELATIVE_RT_TIMEOUT_POLICY_TYPE.value, limit)};
        org.omg.CORBA.Object object = orb.string_to_object(reference);
        object = object._set_policy_override(policies, SetOverrideType.ADD_OVERRIDE);
        try {
            Request request = object._request("left");
            request.set_return_type(orb.get_primitive_tc(TCKind.tk_longlong));
            request.invoke();
            Exception failed = request.env().exception();
            if (failed != null) throw failed;
            System.out.println("reply " + request.return_value().extract_longlong());
        } catch (SystemException e) {
            System.out.println("exception " + e.getClass().getSimpleName() + " " + e.completed.value());
        }
    }
}
