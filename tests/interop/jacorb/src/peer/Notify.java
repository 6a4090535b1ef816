package peer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.omg.CORBA.Any;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ORB;
import org.omg.CosNotification.EventHeader;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.FixedEventHeader;
import org.omg.CosNotification.NamedPropertyRangeSeqHolder;
import org.omg.CosNotification.Property;
import org.omg.CosNotification.QoSError_code;
import org.omg.CosNotification.StructuredEvent;
import org.omg.CosNotification.StructuredEventHelper;
import org.omg.CosNotification.UnsupportedQoS;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.ConsumerAdmin;
import org.omg.CosNotifyChannelAdmin.EventChannel;
import org.omg.CosNotifyChannelAdmin.EventChannelFactory;
import org.omg.CosNotifyChannelAdmin.EventChannelFactoryHelper;
import org.omg.CosNotifyChannelAdmin.InterFilterGroupOperator;
import org.omg.CosNotifyChannelAdmin.ObtainInfoMode;
import org.omg.CosNotifyChannelAdmin.ProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.ProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.ProxyType;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPushConsumer;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPushConsumerHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullConsumer;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullConsumerHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushConsumer;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushConsumerHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplier;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplierHelper;
import org.omg.CosNotifyComm.StructuredPullSupplierPOA;
import org.omg.CosNotifyComm.StructuredPushConsumerPOA;
import org.omg.CosNotifyFilter.ConstraintExp;
import org.omg.CosNotifyFilter.Filter;
import org.omg.CosNotifyFilter.InvalidConstraint;
import org.omg.CosNotifyFilter.InvalidGrammar;
import org.omg.CosNotifyFilter.MappingConstraintPair;
import org.omg.CosNotifyFilter.MappingFilter;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** JacORB's suppliers and consumers at somebody's notification service: {@code notify URL}, of the factory. */
public final class Notify {
    private static final int EVENTS = 20;

    private final ORB orb;
    private final EventChannel channel;
    private final EventChannelFactory factory;
    private final int id;

    private Notify(ORB orb, String url) throws Exception {
        this.orb = orb;
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        factory = EventChannelFactoryHelper.narrow(orb.string_to_object(url));
        IntHolder holder = new IntHolder();
        channel = factory.create_channel(new Property[0], new Property[0], holder);
        id = holder.value;
    }

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("jacorb.connection.client.pending_reply_timeout", "30000");
        properties.setProperty("OAIAddr", "127.0.0.1");
        Notify notify = new Notify(ORB.init(args, properties), args[0]);
        Named cells = new Named();
        cells.put("channels", notify::channels);
        cells.put("filtered_push", notify::filteredPush);
        cells.put("filtered_pull", notify::filteredPull);
        cells.put("sequences", notify::sequences);
        cells.put("anys", notify::anys);
        cells.put("priorities", notify::priorities);
        cells.put("properties", notify::properties);
        cells.put("types", notify::types);
        System.exit(cells.run(cells.usual()) ? 0 : 1);
    }

    private Any any(int number) {
        Any any = orb.create_any();
        any.insert_long(number);
        return any;
    }

    private StructuredEvent event(String type, int number) {
        FixedEventHeader fixed = new FixedEventHeader(new EventType("plant", type), "event " + number);
        Property[] data = {new Property("number", any(number))};
        Any rest = orb.create_any();
        rest.insert_string("the rest");
        return new StructuredEvent(new EventHeader(fixed, new Property[0]), data, rest);
    }

    private static int number(StructuredEvent event) {
        return event.filterable_data[0].value.extract_long();
    }

    private static List<Integer> even() {
        List<Integer> even = new ArrayList<>();
        for (int n = 0; n < EVENTS; n += 2) even.add(n);
        return even;
    }

    /** Keeps what it is pushed. */
    private static final class Consumer extends StructuredPushConsumerPOA {
        final BlockingQueue<StructuredEvent> events = new ArrayBlockingQueue<>(10 * EVENTS);
        final BlockingQueue<EventType[]> offers = new ArrayBlockingQueue<>(10);
        final CountDownLatch disconnected = new CountDownLatch(1);

        public void push_structured_event(StructuredEvent event) {
            events.add(event);
        }

        public void disconnect_structured_push_consumer() {
            disconnected.countDown();
        }

        public void offer_change(EventType[] added, EventType[] removed) {
            offers.add(added);
        }

        StructuredEvent next() throws Exception {
            StructuredEvent event = events.poll(30, TimeUnit.SECONDS);
            if (event == null) throw new Failure("no event");
            return event;
        }
    }

    /** Has events for those that pull. */
    private final class Supplier extends StructuredPullSupplierPOA {
        private int next;

        public synchronized StructuredEvent try_pull_structured_event(BooleanHolder has_event) {
            has_event.value = next < EVENTS;
            return event("Alarm", has_event.value ? next++ : 0);
        }

        public StructuredEvent pull_structured_event() {
            return try_pull_structured_event(new BooleanHolder());
        }

        public void disconnect_structured_pull_supplier() {}

        public void subscription_change(EventType[] added, EventType[] removed) {}
    }

    private Filter filter(String type, String text) throws Exception {
        Filter filter = channel.default_filter_factory().create_filter("EXTENDED_TCL");
        EventType[] types = {new EventType("plant", type)};
        filter.add_constraints(new ConstraintExp[] {new ConstraintExp(types, text)});
        return filter;
    }

    private Consumer consumer(StructuredProxyPushSupplier[] proxy) throws Exception {
        Consumer consumer = new Consumer();
        proxy[0] = StructuredProxyPushSupplierHelper.narrow(channel.default_consumer_admin()
            .obtain_notification_push_supplier(ClientType.STRUCTURED_EVENT, new IntHolder()));
        Check.same("type", proxy[0].MyType(), ProxyType.PUSH_STRUCTURED);
        proxy[0].connect_structured_push_consumer(consumer._this(orb));
        return consumer;
    }

    private StructuredProxyPullSupplier puller(ConsumerAdmin admin) throws Exception {
        StructuredProxyPullSupplier proxy = StructuredProxyPullSupplierHelper.narrow(
            admin.obtain_notification_pull_supplier(ClientType.STRUCTURED_EVENT, new IntHolder()));
        proxy.connect_structured_pull_consumer(null);
        return proxy;
    }

    private StructuredProxyPushConsumer pusher() throws Exception {
        StructuredProxyPushConsumer proxy = StructuredProxyPushConsumerHelper.narrow(channel.default_supplier_admin()
            .obtain_notification_push_consumer(ClientType.STRUCTURED_EVENT, new IntHolder()));
        proxy.connect_structured_push_supplier(null);
        return proxy;
    }

    private void channels() throws Exception {
        Check.same("a channel", factory.get_event_channel(id)._is_equivalent(channel), true);
        Check.same("the factory's", channel.MyFactory().get_event_channel(id)._is_equivalent(channel), true);
        IntHolder admin = new IntHolder();
        ConsumerAdmin made = channel.new_for_consumers(InterFilterGroupOperator.OR_OP, admin);
        Check.same("operator", made.MyOperator(), InterFilterGroupOperator.OR_OP);
        Check.same("an admin", channel.get_consumeradmin(admin.value)._is_equivalent(made), true);
        made.destroy();
        Check.raised(org.omg.CosNotifyChannelAdmin.AdminNotFound.class, "get_consumeradmin",
            () -> channel.get_consumeradmin(admin.value));
        Check.raised(InvalidGrammar.class, "create_filter",
            () -> channel.default_filter_factory().create_filter("SQL"));
        Check.raised(InvalidConstraint.class, "add_constraints", () -> filter("Alarm", "$number =="));
    }

    private void filteredPush() throws Exception {
        StructuredProxyPushSupplier[] proxy = new StructuredProxyPushSupplier[1];
        Consumer consumer = consumer(proxy);
        Filter filter = filter("Alarm", "$number / 2 * 2 == $number and $type_name == 'Alarm'");
        int used = proxy[0].add_filter(filter);
        Check.same("a filter", proxy[0].get_filter(used)._is_equivalent(filter), true);
        StructuredProxyPushConsumer pusher = pusher();
        for (int n = 0; n < EVENTS; n++) {
            pusher.push_structured_event(event("Report", n));
            pusher.push_structured_event(event("Alarm", n));
        }
        List<Integer> got = new ArrayList<>();
        for (int n : even()) {
            StructuredEvent event = consumer.next();
            Check.same("name", event.header.fixed_header.event_name, "event " + n);
            Check.same("body", event.remainder_of_body.extract_string(), "the rest");
            got.add(number(event));
        }
        Check.same("events", got, even());
        proxy[0].suspend_connection();
        pusher.push_structured_event(event("Alarm", 4));
        proxy[0].resume_connection();
        Check.same("after", number(consumer.next()), 4);
        proxy[0].disconnect_structured_push_supplier();
        if (!consumer.disconnected.await(30, TimeUnit.SECONDS)) throw new Failure("not disconnected");
    }

    private void filteredPull() throws Exception {
        StructuredProxyPullSupplier puller = puller(channel.default_consumer_admin());
        puller.add_filter(filter("*", "$number / 2 * 2 == $number"));
        StructuredProxyPullConsumer source = StructuredProxyPullConsumerHelper.narrow(channel.default_supplier_admin()
            .obtain_notification_pull_consumer(ClientType.STRUCTURED_EVENT, new IntHolder()));
        source.connect_structured_pull_supplier(new Supplier()._this(orb));
        List<Integer> got = new ArrayList<>();
        for (int n : even()) got.add(number(puller.pull_structured_event()));
        Check.same("events", got, even());
        BooleanHolder has_event = new BooleanHolder();
        puller.try_pull_structured_event(has_event);
        Check.same("has_event", has_event.value, false);
        source.disconnect_structured_pull_consumer();
    }

    private void sequences() throws Exception {
        SequenceProxyPullSupplier puller = SequenceProxyPullSupplierHelper.narrow(channel.default_consumer_admin()
            .obtain_notification_pull_supplier(ClientType.SEQUENCE_EVENT, new IntHolder()));
        puller.connect_sequence_pull_consumer(null);
        SequenceProxyPushConsumer pusher = SequenceProxyPushConsumerHelper.narrow(channel.default_supplier_admin()
            .obtain_notification_push_consumer(ClientType.SEQUENCE_EVENT, new IntHolder()));
        pusher.connect_sequence_push_supplier(null);
        StructuredEvent[] events = new StructuredEvent[EVENTS];
        for (int n = 0; n < EVENTS; n++) events[n] = event("Alarm", n);
        pusher.push_structured_events(events);
        List<Integer> got = new ArrayList<>();
        while (got.size() < EVENTS) {
            StructuredEvent[] some = puller.pull_structured_events(7);
            if (some.length > 7) throw new Failure(some.length + " events");
            for (StructuredEvent event : some) got.add(number(event));
        }
        for (int n = 0; n < EVENTS; n++) Check.same("event", got.get(n), n);
    }

    private void anys() throws Exception {
        ProxyPullSupplier anys = ProxyPullSupplierHelper.narrow(channel.default_consumer_admin()
            .obtain_notification_pull_supplier(ClientType.ANY_EVENT, new IntHolder()));
        anys.connect_any_pull_consumer(null);
        StructuredProxyPullSupplier structured = puller(channel.default_consumer_admin());
        pusher().push_structured_event(event("Alarm", 5));
        Check.same("in an any", number(StructuredEventHelper.extract(anys.pull())), 5);
        Check.same("as it is", number(structured.pull_structured_event()), 5);
        // By the operations of CosEvent.
        org.omg.CosEventChannelAdmin.ProxyPushConsumer plain = channel.for_suppliers().obtain_push_consumer();
        plain.connect_push_supplier(null);
        plain.push(any(6));
        Check.same("an any", anys.pull().extract_long(), 6);
        StructuredEvent event = structured.pull_structured_event();
        Check.same("type", event.header.fixed_header.event_type.type_name, "%ANY");
        Check.same("the any", event.remainder_of_body.extract_long(), 6);
    }

    private void priorities() throws Exception {
        Any low = orb.create_any();
        low.insert_short((short) -1);
        Any high = orb.create_any();
        high.insert_short((short) 9);
        MappingFilter mapping = channel.default_filter_factory().create_mapping_filter("EXTENDED_TCL", low);
        ConstraintExp third = new ConstraintExp(new EventType[0], "$number == 3");
        mapping.add_mapping_constraints(new MappingConstraintPair[] {new MappingConstraintPair(third, high)});
        StructuredProxyPullSupplier puller = puller(channel.default_consumer_admin());
        puller.priority_filter(mapping);
        StructuredProxyPushConsumer pusher = pusher();
        for (int n = 1; n < 4; n++) pusher.push_structured_event(event("Alarm", n));
        List<Integer> got = new ArrayList<>();
        for (int n = 1; n < 4; n++) got.add(number(puller.pull_structured_event()));
        Check.same("events", got, Arrays.asList(3, 1, 2));
    }

    private void properties() throws Exception {
        Any wrong = orb.create_any();
        wrong.insert_short((short) 17);
        try {
            channel.set_qos(new Property[] {new Property("OrderPolicy", wrong)});
            throw new Failure("it was taken");
        } catch (UnsupportedQoS e) {
            Check.same("errors", e.qos_err.length, 1);
            Check.same("code", e.qos_err[0].code, QoSError_code.BAD_VALUE);
            Check.same("highest", e.qos_err[0].available_range.high_val.extract_short(), (short) 3);
        }
        NamedPropertyRangeSeqHolder ranges = new NamedPropertyRangeSeqHolder();
        channel.validate_qos(new Property[] {new Property("MaxEventsPerConsumer", any(5))}, ranges);
        if (ranges.value.length < 5) throw new Failure(ranges.value.length + " ranges");
        channel.set_admin(new Property[] {new Property("MaxSuppliers", any(100))});
        for (Property property : channel.get_admin()) {
            if (property.name.equals("MaxSuppliers")) Check.same("limit", property.value.extract_long(), 100);
        }
    }

    private void types() throws Exception {
        StructuredProxyPushSupplier[] proxy = new StructuredProxyPushSupplier[1];
        Consumer consumer = consumer(proxy);
        EventType[] alarms = {new EventType("plant", "Alarm")};
        StructuredProxyPushConsumer pusher = pusher();
        pusher.offer_change(alarms, new EventType[0]);
        EventType[] told = consumer.offers.poll(30, TimeUnit.SECONDS);
        if (told == null) throw new Failure("not told of an offer");
        Check.same("offered", told[0].type_name, "Alarm");
        Check.same("offered", proxy[0].obtain_offered_types(ObtainInfoMode.ALL_NOW_UPDATES_OFF).length, 1);
        proxy[0].subscription_change(alarms, new EventType[] {new EventType("*", "*")});
        pusher.push_structured_event(event("Report", 1));
        pusher.push_structured_event(event("Alarm", 2));
        Check.same("subscribed", number(consumer.next()), 2);
    }
}
