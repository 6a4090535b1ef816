package peer;

import java.util.Properties;
import org.jacorb.sasPolicy.SASPolicyValues;
import org.jacorb.sasPolicy.SASPolicyValuesHelper;
import org.jacorb.sasPolicy.SAS_POLICY_TYPE;
import org.jacorb.security.sas.GssUpContext;
import org.jacorb.security.sas.SASInitializer;
import org.omg.CORBA.Any;
import org.omg.CORBA.NVList;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.CORBA.Request;
import org.omg.CORBA.ServerRequest;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.TCKind;
import org.omg.CSIIOP.EstablishTrustInClient;
import org.omg.PortableInterceptor.Current;
import org.omg.PortableServer.DynamicImplementation;
import org.omg.PortableServer.POA;

/**
 * Who calls, by CSIv2 with GSSUP. {@code csi server [JACORB OPTIONS]} prints a reference, and answers "whoami" with the name of
 * the caller. {@code csi client REFERENCE TIMES USER PASSWORD… [JACORB OPTIONS]} asks so often in the name of each user, and prints
 * "reply NAME" or "exception TEXT".
 */
public final class Csi {
    private static final String ID = "IDL:Who:1.0";

    /** Answers "whoami". */
    private static final class Who extends DynamicImplementation {
        private final ORB orb;

        Who(ORB orb) {
            this.orb = orb;
        }

        @Override
        public void invoke(ServerRequest request) {
            NVList none = orb.create_list(0);
            request.arguments(none);
            Any result = orb.create_any();
            try {
                Current current = (Current) orb.resolve_initial_references("PICurrent");
                Any name = current.get_slot(SASInitializer.sasPrincipalNamePIC);
                result.insert_string(name.type().kind() == TCKind.tk_null ? "" : name.extract_string());
            } catch (org.omg.CORBA.UserException e) {
                throw new IllegalStateException(e);
            }
            request.set_result(result);
        }

        @Override
        public String[] _all_interfaces(POA poa, byte[] id) {
            return new String[] {ID};
        }
    }

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put("org.omg.PortableInterceptor.ORBInitializerClass.SAS", SASInitializer.class.getName());
        properties.put("jacorb.security.sas.contextClass", Passwords.class.getName());
        properties.put("jacorb.native_char_codeset", "ISO8859_1");
        int options = 1;
        while (options < args.length && !args[options].startsWith("-")) options++;
        for (int i = options; i < args.length; i++) {
            String[] option = args[i].substring(2).split("=", 2);
            properties.put(option[0], option[1]);
        }
        ORB orb = ORB.init(new String[0], properties);
        if (args[0].equals("server")) {
            serve(orb);
        } else {
            for (int i = 3; i + 1 < options; i += 2) {
                GssUpContext.setUsernamePassword(args[i], args[i + 1]);
                ask(orb, args[1], Integer.parseInt(args[2]));
            }
            orb.shutdown(true);
        }
        System.exit(0);
    }

    private static void serve(ORB orb) throws Exception {
        POA root = (POA) orb.resolve_initial_references("RootPOA");
        short trust = (short) EstablishTrustInClient.value;
        Any any = orb.create_any();
        SASPolicyValuesHelper.insert(any, new SASPolicyValues(trust, trust, true));
        Policy[] policies = {orb.create_policy(SAS_POLICY_TYPE.value, any)};
        POA poa = root.create_POA("who", root.the_POAManager(), policies);
        byte[] id = poa.activate_object(new Who(orb));
        root.the_POAManager().activate();
        System.out.println(orb.object_to_string(poa.id_to_reference(id)));
        System.out.flush();
        // Until its standard input ends.
        while (System.in.read() >= 0) continue;
    }

    private static void ask(ORB orb, String reference, int times) {
        org.omg.CORBA.Object object = orb.string_to_object(reference);
        for (int i = 0; i < times; i++) {
            try {
                Request request = object._request("whoami");
                request.set_return_type(orb.get_primitive_tc(TCKind.tk_string));
                request.invoke();
                Exception failed = request.env().exception();
                if (failed != null) throw failed;
                System.out.println("reply " + request.return_value().extract_string());
            } catch (SystemException e) {
                System.out.println("exception " + e.getClass().getSimpleName() + " " + e.completed.value() + " " + e.minor);
            } catch (Exception e) {
                System.out.println("failure " + e);
            }
        }
        object._release();
    }
}
