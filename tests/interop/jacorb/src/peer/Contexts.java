package peer;

import java.nio.charset.StandardCharsets;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.LocalObject;
import org.omg.IOP.ServiceContext;
import org.omg.PortableInterceptor.ClientRequestInfo;
import org.omg.PortableInterceptor.ClientRequestInterceptor;
import org.omg.PortableInterceptor.ForwardRequest;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ServerRequestInfo;
import org.omg.PortableInterceptor.ServerRequestInterceptor;

/**
 * Interceptors with service contexts, for an ORB with the property {@link #PROPERTY}: a client adds {@link #ASKED} to each
 * request, and prints {@link #ANSWERED} of each reply; a server returns what it was asked as ANSWERED, also with exceptions. The
 * data is an octet 0 and text.
 */
public final class Contexts extends LocalObject
        implements ORBInitializer, ClientRequestInterceptor, ServerRequestInterceptor {
    private static final long serialVersionUID = 1;
    static final String PROPERTY = "org.omg.PortableInterceptor.ORBInitializerClass." + Contexts.class.getName();
    private static final int ASKED = 0x5a580001;
    private static final int ANSWERED = 0x5a580002;

    private static String text(ServiceContext context) {
        byte[] data = context.context_data;
        return new String(data, 1, data.length - 1, StandardCharsets.US_ASCII);
    }

    private static ServiceContext context(int id, String text) {
        return new ServiceContext(id, ("\0" + text).getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void send_request(ClientRequestInfo info) throws ForwardRequest {
        info.add_request_service_context(context(ASKED, "jacorb asks"), false);
    }

    private static void received(ClientRequestInfo info) {
        try {
            System.out.println("answered: " + text(info.get_reply_service_context(ANSWERED)));
        } catch (BAD_PARAM missing) {
            System.out.println("answered: nothing");
        }
    }

    @Override
    public void receive_reply(ClientRequestInfo info) {
        received(info);
    }

    @Override
    public void receive_exception(ClientRequestInfo info) throws ForwardRequest {
        received(info);
    }

    @Override
    public void receive_other(ClientRequestInfo info) throws ForwardRequest {}

    @Override
    public void send_poll(ClientRequestInfo info) {}

    @Override
    public void receive_request_service_contexts(ServerRequestInfo info) throws ForwardRequest {
        try {
            String asked = text(info.get_request_service_context(ASKED));
            info.add_reply_service_context(context(ANSWERED, "jacorb was asked: " + asked), false);
        } catch (BAD_PARAM missing) {
            // A request without it gets none.
        }
    }

    @Override
    public void receive_request(ServerRequestInfo info) throws ForwardRequest {}

    @Override
    public void send_reply(ServerRequestInfo info) {}

    @Override
    public void send_exception(ServerRequestInfo info) throws ForwardRequest {}

    @Override
    public void send_other(ServerRequestInfo info) throws ForwardRequest {}

    @Override
    public String name() {
        return "contexts";
    }

    @Override
    public void destroy() {}

    @Override
    public void pre_init(ORBInitInfo info) {}

    @Override
    public void post_init(ORBInitInfo info) {
        try {
            info.add_client_request_interceptor(this);
            info.add_server_request_interceptor(this);
        } catch (org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
    }
}
