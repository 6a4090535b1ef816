// A client of a log service: log FACTORY EVENT-FACTORY.
#include "DsEventLogAdmin.hh"

#include <iostream>

using namespace DsLogAdmin;

static CORBA::Long info(const LogRecord &record) {
  CORBA::Long value = -1;
  record.info >>= value;
  return value;
}

static Anys numbers(CORBA::Long first, CORBA::Long last) {
  Anys all(last - first);
  all.length(last - first);
  for (CORBA::Long n = first; n < last; n++)
    all[n - first] <<= n;
  return all;
}

static void run(CORBA::ORB_ptr orb, char **argv) {
  CORBA::Object_var object = orb->string_to_object(argv[1]);
  BasicLogFactory_var factory = BasicLogFactory::_narrow(object);
  LogId id;
  BasicLog_var log = factory->create(halt, 0, id);
  QoSList qos(1);
  qos.length(1);
  qos[0] = QoSReliability;
  log->set_log_qos(qos);
  log->write_records(numbers(0, 5));
  log->flush();
  std::cout << "written " << log->get_n_records() << std::endl;
  RecordList_var found;
  Iterator_var rest;
  found = log->query(default_grammar, "$.info > 2", rest.out());
  std::cout << "queried " << found->length() << ": " << info(found[0]) << " " << info(found[1]) << std::endl;
  std::cout << "matched " << log->match(default_grammar, "$id > 1 and $time <= $curtime") << std::endl;
  found = log->retrieve(0, 2, rest.out());
  std::cout << "forwards " << info(found[0]) << " " << info(found[1]) << std::endl;
  found = log->retrieve(0xffffffffffffffffULL, -2, rest.out());
  std::cout << "backwards " << info(found[0]) << " " << info(found[1]) << std::endl;
  try {
    log->query(default_grammar, "$ >", rest.out());
  } catch (InvalidConstraint &) {
    std::cout << "invalid constraint" << std::endl;
  }
  NVList attributes(1);
  attributes.length(1);
  attributes[0].name = (const char *)"comment";
  attributes[0].value <<= "mine";
  log->set_record_attribute(2, attributes);
  found = log->query(default_grammar, "exist $.attr_list(comment)", rest.out());
  const char *comment = "";
  found[0].attr_list[0].value >>= comment;
  std::cout << "attribute " << comment << std::endl;
  try {
    log->get_record_attribute(99);
  } catch (InvalidRecordId &) {
    std::cout << "no such record" << std::endl;
  }

  BasicLog_var large = factory->create(wrap, 0, id);
  RecordList list(1);
  list.length(1);
  std::string text(300000, 'x');
  list[0].id = 0;
  list[0].time = 0;
  list[0].info <<= text.c_str();
  for (int i = 0; i < 5; i++)
    large->write_recordlist(list);
  found = large->query(default_grammar, "", rest.out());
  std::cout << "first " << found->length() << std::endl;
  RecordList_var next = rest->get(found->length(), 100);
  RecordList_var end = rest->get(5, 100);
  std::cout << "next " << next->length() << ", at the end " << end->length() << std::endl;
  try {
    rest->get(6, 1);
  } catch (InvalidParam &) {
    std::cout << "beyond the end" << std::endl;
  }
  rest->destroy();
  large->destroy();

  log->set_max_size(log->get_current_size() + 100);
  try {
    log->write_records(numbers(5, 50));
  } catch (LogFull &e) {
    std::cout << "full after " << e.n_records_written << std::endl;
  }
  AvailabilityStatus status = log->get_availability_status();
  if (!status.log_full || status.off_duty)
    std::cout << "not full" << std::endl;
  log->set_max_size(0);
  log->set_administrative_state(locked);
  try {
    log->write_records(numbers(0, 1));
  } catch (LogLocked &) {
    std::cout << "locked" << std::endl;
  }
  log->set_administrative_state(unlocked);
  log->write_records(numbers(0, 1));
  WeekMask mask(1);
  mask.length(1);
  mask[0].days = 1000;
  try {
    log->set_week_mask(mask);
  } catch (InvalidMask &) {
    std::cout << "wrong mask" << std::endl;
  }
  BasicLog_var kept = factory->create_with_id(7, halt, 0);
  kept->write_records(numbers(7, 8));
  try {
    Log_var copy = log->copy_with_id(7);
  } catch (LogIdAlreadyExists &) {
    std::cout << "exists" << std::endl;
  }
  CORBA::ULong deleted = log->delete_records(default_grammar, "");
  std::cout << "deleted " << deleted << ", left " << log->get_n_records() << std::endl;
  LogMgr_var manager = log->my_factory();
  Log_var same = manager->find_log(log->id());
  log->destroy();
  try {
    same->get_n_records();
  } catch (CORBA::OBJECT_NOT_EXIST &) {
    std::cout << "destroyed" << std::endl;
  }
}

static void run_events(CORBA::ORB_ptr orb, char **argv) {
  using namespace DsEventLogAdmin;
  CORBA::Object_var object = orb->string_to_object(argv[2]);
  EventLogFactory_var factory = EventLogFactory::_narrow(object);
  CosEventChannelAdmin::ProxyPullSupplier_var told = factory->obtain_pull_supplier();
  told->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
  CapacityAlarmThresholdList thresholds(1);
  thresholds.length(1);
  thresholds[0] = 50;
  LogId id;
  EventLog_var log = factory->create(halt, 64, thresholds, id);
  CORBA::Any_var event = told->pull();
  const DsLogNotification::ObjectCreation *created = 0;
  if ((event >>= created) && created->id == id)
    std::cout << "created" << std::endl;
  CosEventChannelAdmin::ConsumerAdmin_var consumers = log->for_consumers();
  CosEventChannelAdmin::ProxyPullSupplier_var pull = consumers->obtain_pull_supplier();
  pull->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
  CosEventChannelAdmin::SupplierAdmin_var suppliers = log->for_suppliers();
  CosEventChannelAdmin::ProxyPushConsumer_var push = suppliers->obtain_push_consumer();
  push->connect_push_supplier(CosEventComm::PushSupplier::_nil());
  CORBA::Any number;
  number <<= CORBA::Long(5);
  push->push(number);
  event = pull->pull();
  CORBA::Long value = 0;
  event >>= value;
  RecordList_var found;
  Iterator_var rest;
  found = log->query(default_grammar, "info == 5", rest.out());
  std::cout << "pushed, logged and forwarded " << value << " " << info(found[0]) << std::endl;
  event = told->pull();
  const DsLogNotification::ThresholdAlarm *alarm = 0;
  if (event >>= alarm)
    std::cout << "threshold " << alarm->crossed_value << " at " << alarm->observed_value << std::endl;
  log->destroy();
}

int main(int argc, char **argv) {
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc < 3)
      return 2;
    run(orb, argv);
    run_events(orb, argv);
    orb->destroy();
    return 0;
  } catch (CORBA::Exception &e) {
    std::cout << e._name() << std::endl;
    return 1;
  }
}
