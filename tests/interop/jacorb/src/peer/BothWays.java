package peer;

import org.omg.BiDirPolicy.BIDIRECTIONAL_POLICY_TYPE;
import org.omg.BiDirPolicy.BOTH;
import org.omg.BiDirPolicy.BidirectionalPolicyValueHelper;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.PortableServer.POA;

/** With {@code --both-ways}: requests in both directions of the connections that clients open. */
final class BothWays {
    private BothWays() {}

    /** To be called before the ORB is made. */
    static void prepare(Arguments arguments) {
        if (!arguments.has("--both-ways")) return;
        arguments.properties.setProperty(
                "org.omg.PortableInterceptor.ORBInitializerClass.bidir_init",
                "org.jacorb.orb.giop.BiDirConnectionInitializer");
    }

    /** The POA of objects that are called so; the root POA without the flag. */
    static POA poa(Arguments arguments, ORB orb, POA root) throws org.omg.CORBA.UserException {
        if (!arguments.has("--both-ways")) return root;
        Any value = orb.create_any();
        BidirectionalPolicyValueHelper.insert(value, BOTH.value);
        Policy[] policies = {orb.create_policy(BIDIRECTIONAL_POLICY_TYPE.value, value)};
        return root.create_POA("both ways", root.the_POAManager(), policies);
    }
}
