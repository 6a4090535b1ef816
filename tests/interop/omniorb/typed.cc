// A supplier and a consumer of typed events: typed supplier|consumer CHANNEL. The consumer prints what it is called with, and
// ends when it was "cleared" and "stopped", of which the first is one-way and may come after the other.
#include "CosTyped.hh"
#include "plant.hh"

#include <iostream>
#include <string>

static const char *const ALARMS = "IDL:Plant/Alarms:1.0";

static omni_semaphore ended(0);

class AlarmsImpl : public POA_Plant::Alarms {
public:
  void raised(CORBA::Long severity, const Plant::Readings &all) override {
    std::cout << "raised " << severity;
    for (CORBA::ULong i = 0; i < all.length(); i++)
      std::cout << " " << all[i].sensor << ":" << all[i].value;
    std::cout << std::endl;
  }
  void cleared(CORBA::Long severity) override {
    std::cout << "cleared " << severity << std::endl;
    ended.post();
  }
  void stopped(const char *why) override {
    std::cout << "stopped " << why << std::endl;
    ended.post();
  }
};

class ConsumerImpl : public POA_CosTypedEventComm::TypedPushConsumer {
public:
  explicit ConsumerImpl(CORBA::Object_ptr typed) : typed(CORBA::Object::_duplicate(typed)) {}
  CORBA::Object_ptr get_typed_consumer() override { return CORBA::Object::_duplicate(typed); }
  void push(const CORBA::Any &) override { throw CORBA::NO_IMPLEMENT(); }
  void disconnect_push_consumer() override { std::cout << "disconnected" << std::endl; }

private:
  CORBA::Object_var typed;
};

static void supply(CosTypedEventChannelAdmin::TypedEventChannel_ptr channel) {
  CosTypedEventChannelAdmin::TypedSupplierAdmin_var admin = channel->for_suppliers();
  try {
    CosTypedEventChannelAdmin::TypedProxyPushConsumer_var none =
        admin->obtain_typed_push_consumer("IDL:Plant/Levels:1.0");
  } catch (CosTypedEventChannelAdmin::InterfaceNotSupported &) {
    std::cout << "refused" << std::endl;
  }
  CosTypedEventChannelAdmin::TypedProxyPushConsumer_var proxy = admin->obtain_typed_push_consumer(ALARMS);
  proxy->connect_push_supplier(CosEventComm::PushSupplier::_nil());
  CORBA::Object_var object = proxy->get_typed_consumer();
  Plant::Alarms_var alarms = Plant::Alarms::_narrow(object);
  if (CORBA::is_nil(alarms)) {
    std::cout << "no alarms" << std::endl;
    return;
  }
  Plant::Readings readings(2);
  readings.length(2);
  readings[0].sensor = 7;
  readings[0].value = 1.5;
  readings[1].sensor = 8;
  readings[1].value = -2;
  alarms->raised(3, readings);
  alarms->cleared(4);
  alarms->stopped("maintenance");
  proxy->disconnect_push_consumer();
  std::cout << "supplied" << std::endl;
}

static void consume(CORBA::ORB_ptr orb, CosTypedEventChannelAdmin::TypedEventChannel_ptr channel) {
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
  PortableServer::POAManager_var manager = poa->the_POAManager();
  manager->activate();
  AlarmsImpl *alarms = new AlarmsImpl;
  PortableServer::ObjectId_var id = poa->activate_object(alarms);
  Plant::Alarms_var typed = alarms->_this();
  ConsumerImpl *consumer = new ConsumerImpl(typed);
  id = poa->activate_object(consumer);
  CosTypedEventComm::TypedPushConsumer_var reference = consumer->_this();
  CosTypedEventChannelAdmin::TypedConsumerAdmin_var admin = channel->for_consumers();
  CosEventChannelAdmin::ProxyPushSupplier_var proxy = admin->obtain_typed_push_supplier(ALARMS);
  proxy->connect_push_consumer(reference);
  std::cout << "connected" << std::endl;
  ended.wait();
  ended.wait();
  proxy->disconnect_push_supplier();
}

int main(int argc, char **argv) {
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc < 3)
      return 2;
    CORBA::Object_var object = orb->string_to_object(argv[2]);
    CosTypedEventChannelAdmin::TypedEventChannel_var channel =
        CosTypedEventChannelAdmin::TypedEventChannel::_narrow(object);
    if (std::string(argv[1]) == "supplier")
      supply(channel);
    else
      consume(orb, channel);
    orb->destroy();
    return 0;
  } catch (CORBA::Exception &e) {
    std::cout << e._name() << std::endl;
    return 1;
  }
}
