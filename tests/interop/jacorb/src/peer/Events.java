package peer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.Properties;
import org.omg.CORBA.Any;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.ORB;
import org.omg.CosEventChannelAdmin.AlreadyConnected;
import org.omg.CosEventChannelAdmin.EventChannel;
import org.omg.CosEventChannelAdmin.EventChannelHelper;
import org.omg.CosEventChannelAdmin.ProxyPullConsumer;
import org.omg.CosEventChannelAdmin.ProxyPullSupplier;
import org.omg.CosEventChannelAdmin.ProxyPushConsumer;
import org.omg.CosEventChannelAdmin.ProxyPushSupplier;
import org.omg.CosEventComm.Disconnected;
import org.omg.CosEventComm.PullSupplierPOA;
import org.omg.CosEventComm.PushConsumerPOA;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** JacORB's suppliers and consumers at somebody's event channel: {@code events URL}. */
public final class Events {
    private static final int EVENTS = 50;

    private final ORB orb;
    private final POA poa;
    private final EventChannel channel;

    private Events(ORB orb, String url) throws Exception {
        this.orb = orb;
        poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        channel = EventChannelHelper.narrow(orb.string_to_object(url));
    }

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("jacorb.connection.client.pending_reply_timeout", "30000");
        properties.setProperty("OAIAddr", "127.0.0.1");
        Events events = new Events(ORB.init(args, properties), args[0]);
        Named cells = new Named();
        cells.put("push_push", events::pushPush);
        cells.put("push_pull", events::pushPull);
        cells.put("pull_push", events::pullPush);
        cells.put("pull_pull", events::pullPull);
        cells.put("disconnect", events::disconnect);
        System.exit(cells.run(cells.usual()) ? 0 : 1);
    }

    private Any event(int number) {
        Any any = orb.create_any();
        any.insert_string("event " + number);
        return any;
    }

    private static List<String> expected() {
        List<String> expected = new ArrayList<>();
        for (int n = 0; n < EVENTS; n++) expected.add("event " + n);
        return expected;
    }

    /** Keeps what it is pushed. */
    private static final class Consumer extends PushConsumerPOA {
        final BlockingQueue<Any> events = new ArrayBlockingQueue<>(10 * EVENTS);
        final CountDownLatch disconnected = new CountDownLatch(1);

        public void push(Any data) {
            events.add(data);
        }

        public void disconnect_push_consumer() {
            disconnected.countDown();
        }

        List<String> texts() throws Exception {
            List<String> texts = new ArrayList<>();
            for (int n = 0; n < EVENTS; n++) {
                Any event = events.poll(30, TimeUnit.SECONDS);
                if (event == null) throw new Failure("only " + n + " events");
                texts.add(event.extract_string());
            }
            return texts;
        }
    }

    /** Has events for those that pull. */
    private final class Supplier extends PullSupplierPOA {
        private int next;

        public synchronized Any try_pull(BooleanHolder has_event) {
            has_event.value = next < EVENTS;
            return has_event.value ? event(next++) : orb.create_any();
        }

        public Any pull() throws Disconnected {
            BooleanHolder has_event = new BooleanHolder();
            Any any = try_pull(has_event);
            if (!has_event.value) throw new Disconnected();
            return any;
        }

        public void disconnect_pull_supplier() {}
    }

    private Consumer consumer() throws Exception {
        Consumer consumer = new Consumer();
        ProxyPushSupplier proxy = channel.for_consumers().obtain_push_supplier();
        proxy.connect_push_consumer(consumer._this(orb));
        return consumer;
    }

    private ProxyPullSupplier puller() throws Exception {
        ProxyPullSupplier proxy = channel.for_consumers().obtain_pull_supplier();
        proxy.connect_pull_consumer(null);
        return proxy;
    }

    private void push() throws Exception {
        ProxyPushConsumer proxy = channel.for_suppliers().obtain_push_consumer();
        proxy.connect_push_supplier(null);
        for (int n = 0; n < EVENTS; n++) proxy.push(event(n));
    }

    private void supply() throws Exception {
        ProxyPullConsumer proxy = channel.for_suppliers().obtain_pull_consumer();
        proxy.connect_pull_supplier(new Supplier()._this(orb));
    }

    private static List<String> pulled(ProxyPullSupplier proxy) throws Exception {
        List<String> texts = new ArrayList<>();
        BooleanHolder has_event = new BooleanHolder();
        while (texts.size() < EVENTS) {
            // In turns, so that both are called.
            if (texts.size() % 2 == 0) {
                texts.add(proxy.pull().extract_string());
                continue;
            }
            Any any = proxy.try_pull(has_event);
            if (has_event.value) texts.add(any.extract_string());
        }
        return texts;
    }

    private void pushPush() throws Exception {
        Consumer consumer = consumer();
        push();
        Check.same("events", consumer.texts(), expected());
    }

    private void pushPull() throws Exception {
        ProxyPullSupplier proxy = puller();
        push();
        Check.same("events", pulled(proxy), expected());
    }

    private void pullPush() throws Exception {
        Consumer consumer = consumer();
        supply();
        Check.same("events", consumer.texts(), expected());
    }

    private void pullPull() throws Exception {
        ProxyPullSupplier proxy = puller();
        supply();
        Check.same("events", pulled(proxy), expected());
    }

    private void disconnect() throws Exception {
        ProxyPushConsumer early = channel.for_suppliers().obtain_push_consumer();
        Check.raised(Disconnected.class, "push", () -> early.push(event(0)));
        early.connect_push_supplier(null);
        Check.raised(AlreadyConnected.class, "connect", () -> early.connect_push_supplier(null));
        early.disconnect_push_consumer();
        Check.raised(OBJECT_NOT_EXIST.class, "push", () -> early.push(event(0)));
        Consumer consumer = consumer();
        channel.destroy();
        if (!consumer.disconnected.await(30, TimeUnit.SECONDS)) throw new Failure("not disconnected");
        Check.raised(OBJECT_NOT_EXIST.class, "for_consumers", () -> channel.for_consumers());
    }
}
