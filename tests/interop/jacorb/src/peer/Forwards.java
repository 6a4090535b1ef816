package peer;

import Interop.Node;
import Interop.NodeHelper;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.omg.CORBA.LocalObject;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.PortableInterceptor.ForwardRequest;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ServerRequestInfo;
import org.omg.PortableInterceptor.ServerRequestInterceptor;
import org.omg.PortableServer.IdAssignmentPolicyValue;
import org.omg.PortableServer.IdUniquenessPolicyValue;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.RequestProcessingPolicyValue;
import org.omg.PortableServer.ServantRetentionPolicyValue;

/**
 * Forwards what is asked of the adapter "forwards". A request interceptor does it, because a ForwardRequest of a
 * servant manager gets no reply at all from JacORB; and so there is no LOCATION_FORWARD_PERM.
 *
 * <p>Object ids: "hop:N" leads to "hop:N-1", "hop:0" being the server's own node; "loop:a" and "loop:b" to each other;
 * "nowhere" to a node that is gone.
 */
public final class Forwards extends LocalObject implements ORBInitializer, ServerRequestInterceptor {
    private static final long serialVersionUID = 1;
    /** What makes an ORB use this class. */
    static final String PROPERTY = "org.omg.PortableInterceptor.ORBInitializerClass." + Forwards.class.getName();
    static final AtomicInteger made = new AtomicInteger();

    private static volatile POA adapter;
    private static Node own;
    private static Node gone;

    static void start(ORB orb, POA root, Node own, Node gone) throws org.omg.CORBA.UserException {
        Forwards.own = own;
        Forwards.gone = gone;
        POA forwards = root.create_POA("forwards", root.the_POAManager(), new Policy[] {
            root.create_id_assignment_policy(IdAssignmentPolicyValue.USER_ID),
            root.create_id_uniqueness_policy(IdUniquenessPolicyValue.MULTIPLE_ID),
            root.create_servant_retention_policy(ServantRetentionPolicyValue.NON_RETAIN),
            root.create_request_processing_policy(RequestProcessingPolicyValue.USE_DEFAULT_SERVANT),
        });
        // Nobody gets as far as this one.
        forwards.set_servant(new Interop.NodePOATie(new Nodes.Hosted("forwarder")));
        adapter = forwards;
    }

    static Node reference(String id) {
        if (id.equals("hop:0")) return own;
        byte[] oid = id.getBytes(StandardCharsets.US_ASCII);
        try {
            return NodeHelper.unchecked_narrow(adapter.create_reference_with_id(oid, NodeHelper.id()));
        } catch (org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void receive_request(ServerRequestInfo request) throws ForwardRequest {
        String[] path = request.adapter_name();
        if (!path[path.length - 1].equals("forwards")) return;
        String id = new String(request.object_id(), StandardCharsets.US_ASCII);
        Node to;
        if (id.startsWith("hop:")) to = reference("hop:" + (Integer.parseInt(id.substring(4)) - 1));
        else if (id.equals("loop:a")) to = reference("loop:b");
        else if (id.equals("loop:b")) to = reference("loop:a");
        else if (id.equals("nowhere")) to = gone;
        else return;
        made.incrementAndGet();
        throw new ForwardRequest(to);
    }

    @Override
    public void receive_request_service_contexts(ServerRequestInfo request) {}

    @Override
    public void send_reply(ServerRequestInfo request) {}

    @Override
    public void send_exception(ServerRequestInfo request) {}

    @Override
    public void send_other(ServerRequestInfo request) {}

    @Override
    public String name() {
        return "forwards";
    }

    @Override
    public void destroy() {}

    @Override
    public void pre_init(ORBInitInfo info) {}

    @Override
    public void post_init(ORBInitInfo info) {
        try {
            info.add_server_request_interceptor(this);
        } catch (org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
    }
}
