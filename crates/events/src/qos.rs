//! Properties of quality of service and administration: their types, ranges and levels, and the errors about them.
//!
//! Source: OMG Notification Service Specification 1.1, Quality of Service Properties (2.5), and CosNotification (3.1).

use crate::cos_notification::{
    self as cos, NamedPropertyRange, Property, PropertyError, PropertyRange, QoSErrorCode,
};
use crate::queue::{Order, Policy};
use crate::time_base::UtcT;
use zorb::{Any, IdlType, TcKind};

/// Units of 100 ns between 15 October 1582, from which TimeBase counts, and 1970.
pub(crate) const UNITS_BEFORE_1970: i64 = 0x01b2_1dd2_1381_4000;

/// Where a property is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Event = 1,
    Proxy = 2,
    Admin = 4,
    Channel = 8,
}

/// The type of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Short,
    Long,
    Boolean,
    /// TimeBase::TimeT, a duration.
    Time,
    /// TimeBase::UtcT, a time. Of events alone.
    Utc,
}

/// A property as the specification has it.
struct Known {
    name: &'static str,
    ty: Type,
    low: i64,
    high: i64,
    /// Of [`Level`].
    levels: u8,
    default: i64,
}

const SHARED: u8 = Level::Proxy as u8 | Level::Admin as u8 | Level::Channel as u8;
const EVERYWHERE: u8 = SHARED | Level::Event as u8;
const LONG: i64 = i32::MAX as i64;

const fn known(name: &'static str, ty: Type, range: (i64, i64), levels: u8, default: i64) -> Known {
    Known {
        name,
        ty,
        low: range.0,
        high: range.1,
        levels,
        default,
    }
}

const EVENT_RELIABILITY: usize = 0;
const CONNECTION_RELIABILITY: usize = 1;
const PRIORITY: usize = 2;
const TIMEOUT: usize = 3;
const START_TIME_SUPPORTED: usize = 4;
const STOP_TIME_SUPPORTED: usize = 5;
const MAX_EVENTS: usize = 6;
const ORDER_POLICY: usize = 7;
const DISCARD_POLICY: usize = 8;
const BATCH_SIZE: usize = 9;
const PACING: usize = 10;
const START_TIME: usize = 11;
const STOP_TIME: usize = 12;

/// By the numbers above. Table 2-4 of the specification, with the levels.
static QOS: [Known; 13] = [
    known(
        cos::EVENT_RELIABILITY,
        Type::Short,
        (0, 1),
        Level::Event as u8 | Level::Channel as u8,
        0,
    ),
    known(cos::CONNECTION_RELIABILITY, Type::Short, (0, 1), SHARED, 0),
    known(cos::PRIORITY, Type::Short, (-32_767, 32_767), EVERYWHERE, 0),
    known(cos::TIMEOUT, Type::Time, (0, i64::MAX), EVERYWHERE, 0),
    known(cos::START_TIME_SUPPORTED, Type::Boolean, (0, 1), SHARED, 1),
    known(cos::STOP_TIME_SUPPORTED, Type::Boolean, (0, 1), SHARED, 1),
    known(
        cos::MAX_EVENTS_PER_CONSUMER,
        Type::Long,
        (0, LONG),
        SHARED,
        0,
    ),
    known(cos::ORDER_POLICY, Type::Short, (0, 3), SHARED, 2),
    known(cos::DISCARD_POLICY, Type::Short, (0, 4), SHARED, 0),
    known(cos::MAXIMUM_BATCH_SIZE, Type::Long, (1, LONG), SHARED, 1),
    known(cos::PACING_INTERVAL, Type::Time, (0, i64::MAX), SHARED, 0),
    known(cos::START_TIME, Type::Utc, (0, 0), Level::Event as u8, 0),
    known(cos::STOP_TIME, Type::Utc, (0, 0), Level::Event as u8, 0),
];

/// Properties that a level keeps: those but of events alone.
const KEPT: usize = START_TIME;

const QUEUE_LENGTH: usize = 0;
const MAX_CONSUMERS: usize = 1;
const MAX_SUPPLIERS: usize = 2;
const REJECT_NEW: usize = 3;

static ADMIN: [Known; 4] = [
    known(
        cos::MAX_QUEUE_LENGTH,
        Type::Long,
        (0, LONG),
        Level::Channel as u8,
        0,
    ),
    known(
        cos::MAX_CONSUMERS,
        Type::Long,
        (0, LONG),
        Level::Channel as u8,
        0,
    ),
    known(
        cos::MAX_SUPPLIERS,
        Type::Long,
        (0, LONG),
        Level::Channel as u8,
        0,
    ),
    known(
        cos::REJECT_NEW_EVENTS,
        Type::Boolean,
        (0, 1),
        Level::Channel as u8,
        0,
    ),
];

/// Whether an any has exactly the type, but for aliases.
fn exactly<T: zorb::IdlValue>(any: &Any, kind: TcKind) -> Option<T> {
    let is_of_kind = any.type_code().unaliased().kind() == kind;
    is_of_kind.then(|| any.extract::<T>().ok()).flatten()
}

impl Type {
    /// A value of the type, within the numbers that are kept.
    fn read(self, any: &Any) -> Option<i64> {
        match self {
            Self::Short => exactly::<i16>(any, TcKind::Short).map(i64::from),
            Self::Long => exactly::<i32>(any, TcKind::Long).map(i64::from),
            Self::Boolean => exactly::<bool>(any, TcKind::Boolean).map(i64::from),
            Self::Time => exactly::<u64>(any, TcKind::ULongLong)
                .map(|time| i64::try_from(time).unwrap_or(i64::MAX)),
            Self::Utc => any.extract::<UtcT>().ok().map(|_| 0),
        }
    }

    fn write(self, value: i64) -> Any {
        fn any<T: IdlType>(value: &T) -> Any {
            // Numbers always encode.
            Any::new(value).unwrap_or_default()
        }
        match self {
            Self::Short => any(&i16::try_from(value).unwrap_or_default()),
            Self::Long => any(&i32::try_from(value).unwrap_or(i32::MAX)),
            Self::Boolean => any(&(value != 0)),
            Self::Time => any(&u64::try_from(value).unwrap_or_default()),
            Self::Utc => Any::default(),
        }
    }
}

/// The values that a property may have here, and the code for others.
type Bounds = ((i64, i64), QoSErrorCode);

/// Checks properties and puts them into values; all that is wrong about them.
fn set(
    table: &[Known],
    level: Level,
    given: &[Property],
    values: &mut [i64],
    bounds: impl Fn(usize) -> Vec<Bounds>,
) -> Result<(), Vec<PropertyError>> {
    let mut errors = Vec::new();
    for property in given {
        let mut wrong = |code, range: Option<(Type, (i64, i64))>| {
            let available_range = match range {
                Some((ty, (low, high))) => PropertyRange {
                    low_val: ty.write(low),
                    high_val: ty.write(high),
                },
                None => PropertyRange {
                    low_val: Any::default(),
                    high_val: Any::default(),
                },
            };
            errors.push(PropertyError {
                code,
                name: property.name.clone(),
                available_range,
            });
        };
        let place = table.iter().position(|known| known.name == property.name);
        let Some((place, known)) = place.and_then(|place| Some((place, table.get(place)?))) else {
            wrong(QoSErrorCode::BadProperty, None);
            continue;
        };
        if known.levels & level as u8 == 0 {
            wrong(QoSErrorCode::UnsupportedProperty, None);
            continue;
        }
        let Some(value) = known.ty.read(&property.value) else {
            let range = (known.ty != Type::Utc).then_some((known.ty, (known.low, known.high)));
            wrong(QoSErrorCode::BadType, range);
            continue;
        };
        let legal = ((known.low, known.high), QoSErrorCode::BadValue);
        let broken = std::iter::once(legal)
            .chain(bounds(place))
            .find(|((low, high), _)| !(*low..=*high).contains(&value));
        match broken {
            Some((_, QoSErrorCode::UnavailableProperty)) => {
                wrong(QoSErrorCode::UnavailableProperty, None);
            }
            Some((range, code)) => wrong(code, Some((known.ty, range))),
            None => {
                if let Some(kept) = values.get_mut(place) {
                    *kept = value;
                }
            }
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

fn properties(table: &[Known], level: Level, values: &[i64]) -> Vec<Property> {
    let kept = table.iter().zip(values);
    kept.filter(|(known, _)| known.levels & level as u8 != 0)
        .map(|(known, value)| Property {
            name: known.name.to_owned(),
            value: known.ty.write(*value),
        })
        .collect()
}

/// What a service can do, whatever is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ability {
    /// Whether it has a store.
    pub(crate) is_durable: bool,
    pub(crate) max_events: usize,
    pub(crate) max_octets: usize,
    pub(crate) max_batch: i64,
}

/// The quality of service of a channel, admin or proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Qos([i64; KEPT]);

impl Qos {
    /// What a channel has unless it is told otherwise: as reliable as the service can be.
    pub(crate) fn of_service(ability: Ability) -> Self {
        let mut values = [0; KEPT];
        for (value, known) in values.iter_mut().zip(&QOS) {
            *value = known.default;
        }
        values[EVENT_RELIABILITY] = i64::from(ability.is_durable);
        values[CONNECTION_RELIABILITY] = i64::from(ability.is_durable);
        Self(values)
    }

    /// What is stored; what a store of another service has is not.
    pub(crate) fn from_stored(stored: &[i64]) -> Option<Self> {
        stored.try_into().ok().map(Self)
    }

    pub(crate) fn stored(&self) -> Vec<i64> {
        self.0.to_vec()
    }

    pub(crate) fn properties(&self, level: Level) -> Vec<Property> {
        properties(&QOS, level, &self.0)
    }

    /// What a level allows for a property: by the service, and by the level above, of which it can only be stricter.
    fn bounds(place: usize, level: Level, above: Option<&Self>, ability: Ability) -> Vec<Bounds> {
        let mut bounds = Vec::new();
        match place {
            EVENT_RELIABILITY | CONNECTION_RELIABILITY => {
                let highest = i64::from(ability.is_durable);
                bounds.push(((0, highest), QoSErrorCode::UnsupportedValue));
                if let Some(above) = above {
                    let above = above.0[place];
                    bounds.push(((0, above), QoSErrorCode::UnavailableValue));
                }
            }
            MAX_EVENTS => {
                let highest = i64::try_from(ability.max_events).unwrap_or(LONG).min(LONG);
                bounds.push(((0, highest), QoSErrorCode::UnsupportedValue));
                if let Some(above) = above.map(|above| above.0[place])
                    && above != 0
                {
                    bounds.push(((1, above), QoSErrorCode::UnavailableValue));
                }
            }
            BATCH_SIZE => bounds.push(((1, ability.max_batch), QoSErrorCode::UnsupportedValue)),
            START_TIME | STOP_TIME => {
                let supported = match place {
                    START_TIME => START_TIME_SUPPORTED,
                    _ => STOP_TIME_SUPPORTED,
                };
                if level == Level::Event && above.is_some_and(|above| above.0[supported] == 0) {
                    bounds.push(((1, 1), QoSErrorCode::UnavailableProperty));
                }
            }
            _ => {}
        }
        bounds
    }

    /// Sets properties, all or none.
    pub(crate) fn set(
        &mut self,
        level: Level,
        given: &[Property],
        above: Option<&Self>,
        ability: Ability,
    ) -> Result<(), Vec<PropertyError>> {
        let mut values = self.0;
        let bounds = |place| Self::bounds(place, level, above, ability);
        set(&QOS, level, given, &mut values, bounds)?;
        self.0 = values;
        Ok(())
    }

    /// Checks properties, which are not set: what else may be set, and to what.
    pub(crate) fn validate(
        &self,
        level: Level,
        required: &[Property],
        above: Option<&Self>,
        ability: Ability,
    ) -> Result<Vec<NamedPropertyRange>, Vec<PropertyError>> {
        self.clone().set(level, required, above, ability)?;
        let further = QOS.iter().enumerate().filter(|(_, known)| {
            let is_required = required.iter().any(|one| one.name == known.name);
            known.levels & level as u8 != 0 && known.ty != Type::Utc && !is_required
        });
        let ranges = further.map(|(place, known)| {
            let (mut low, mut high) = (known.low, known.high);
            for ((at_least, at_most), _) in Self::bounds(place, level, above, ability) {
                (low, high) = (low.max(at_least), high.min(at_most));
            }
            NamedPropertyRange {
                name: known.name.to_owned(),
                range: PropertyRange {
                    low_val: known.ty.write(low),
                    high_val: known.ty.write(high),
                },
            }
        });
        Ok(ranges.collect())
    }

    pub(crate) fn has_kept_events(&self) -> bool {
        self.0[EVENT_RELIABILITY] != 0
    }

    pub(crate) fn has_kept_connection(&self) -> bool {
        self.0[CONNECTION_RELIABILITY] != 0
    }

    pub(crate) fn priority(&self) -> i16 {
        i16::try_from(self.0[PRIORITY]).unwrap_or_default()
    }

    /// How long events live, in units of 100 ns; 0 for ever.
    pub(crate) fn timeout(&self) -> i64 {
        self.0[TIMEOUT]
    }

    pub(crate) fn has_start_times(&self) -> bool {
        self.0[START_TIME_SUPPORTED] != 0
    }

    pub(crate) fn has_stop_times(&self) -> bool {
        self.0[STOP_TIME_SUPPORTED] != 0
    }

    /// Events of a sequence.
    pub(crate) fn batch(&self) -> usize {
        usize::try_from(self.0[BATCH_SIZE]).unwrap_or(1).max(1)
    }

    /// How long a sequence is waited for.
    pub(crate) fn pacing(&self) -> std::time::Duration {
        let nanos = u64::try_from(self.0[PACING]).unwrap_or_default();
        std::time::Duration::from_nanos(nanos.saturating_mul(100))
    }

    /// The policy of a consumer's queue.
    pub(crate) fn policy(&self, admin: &AdminProperties, ability: Ability) -> Policy {
        let limits = [self.0[MAX_EVENTS], admin.0[QUEUE_LENGTH]];
        let events = limits.into_iter().filter(|limit| *limit > 0);
        let events = events.filter_map(|limit| usize::try_from(limit).ok());
        let order = |order| match order {
            2 => Order::Priority,
            3 => Order::Deadline,
            4 => Order::Lifo,
            // AnyOrder, too.
            _ => Order::Fifo,
        };
        Policy {
            events: events.fold(ability.max_events, usize::min),
            octets: ability.max_octets,
            order: order(self.0[ORDER_POLICY]),
            discard: order(self.0[DISCARD_POLICY]),
        }
    }
}

/// The administrative properties of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AdminProperties([i64; ADMIN.len()]);

impl AdminProperties {
    pub(crate) fn from_stored(stored: &[i64]) -> Option<Self> {
        stored.try_into().ok().map(Self)
    }

    pub(crate) fn stored(&self) -> Vec<i64> {
        self.0.to_vec()
    }

    pub(crate) fn properties(&self) -> Vec<Property> {
        properties(&ADMIN, Level::Channel, &self.0)
    }

    pub(crate) fn set(&mut self, given: &[Property]) -> Result<(), Vec<PropertyError>> {
        let mut values = self.0;
        set(&ADMIN, Level::Channel, given, &mut values, |_| Vec::new())?;
        self.0 = values;
        Ok(())
    }

    /// How many events a channel may hold before it refuses more; `None` where it discards instead.
    pub(crate) fn refuses_beyond(&self) -> Option<usize> {
        let is_limited = self.0[REJECT_NEW] != 0 && self.0[QUEUE_LENGTH] > 0;
        is_limited.then(|| usize::try_from(self.0[QUEUE_LENGTH]).unwrap_or(usize::MAX))
    }

    /// The name of the limit on consumers or suppliers, and the limit, if there is one.
    pub(crate) fn limit(&self, is_consumer: bool) -> Option<(&'static str, i32)> {
        let place = match is_consumer {
            true => MAX_CONSUMERS,
            false => MAX_SUPPLIERS,
        };
        let limit = i32::try_from(self.0[place]).unwrap_or(i32::MAX);
        (limit > 0).then_some((ADMIN[place].name, limit))
    }
}

/// What the header of an event says about its delivery. What is of a wrong type, or is not a property, means nothing here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventQos {
    pub(crate) is_persistent: Option<bool>,
    pub(crate) priority: Option<i16>,
    /// In units of 100 ns.
    pub(crate) timeout: Option<i64>,
    /// In microseconds since 1970.
    pub(crate) start: Option<i64>,
    pub(crate) stop: Option<i64>,
}

/// A time in microseconds since 1970.
fn micros(time: &Any) -> Option<i64> {
    let units = i64::try_from(time.extract::<UtcT>().ok()?.time).unwrap_or(i64::MAX);
    Some(units.saturating_sub(UNITS_BEFORE_1970) / 10)
}

impl EventQos {
    pub(crate) fn of(header: &[Property]) -> Self {
        let mut qos = Self::default();
        for Property { name, value } in header {
            match name.as_str() {
                cos::EVENT_RELIABILITY => {
                    let reliability = exactly::<i16>(value, TcKind::Short);
                    qos.is_persistent = reliability.map(|reliability| reliability == 1);
                }
                cos::PRIORITY => qos.priority = exactly(value, TcKind::Short),
                cos::TIMEOUT => qos.timeout = Type::Time.read(value),
                cos::START_TIME => qos.start = micros(value),
                cos::STOP_TIME => qos.stop = micros(value),
                _ => {}
            }
        }
        qos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABILITY: Ability = Ability {
        is_durable: false,
        max_events: 1_000,
        max_octets: 1 << 20,
        max_batch: 500,
    };

    fn property<T: IdlType>(name: &str, value: &T) -> Property {
        Property {
            name: name.to_owned(),
            value: Any::new(value).unwrap(),
        }
    }

    fn code(level: Level, above: Option<&Qos>, property: Property) -> Option<QoSErrorCode> {
        let before = Qos::of_service(ABILITY);
        let mut qos = before.clone();
        let given = [self::property("Priority", &7_i16), property];
        let given = match level {
            Level::Event => &given[1..],
            _ => &given,
        };
        match qos.set(level, given, above, ABILITY) {
            Ok(()) => None,
            Err(errors) => {
                assert_eq!(errors.len(), 1);
                assert_eq!(qos, before, "none is set");
                Some(errors[0].code)
            }
        }
    }

    #[test]
    fn each_wrong_property_has_its_code_and_sets_nothing() {
        use QoSErrorCode::{
            BadProperty, BadType, BadValue, UnavailableProperty, UnavailableValue,
            UnsupportedProperty, UnsupportedValue,
        };
        let mut above = Qos::of_service(ABILITY);
        let given = [
            property("MaxEventsPerConsumer", &10_i32),
            property("StopTimeSupported", &false),
        ];
        above.set(Level::Channel, &given, None, ABILITY).unwrap();
        let above = Some(&above);
        let time = UtcT {
            time: 1,
            inacclo: 0,
            inacchi: 0,
            tdf: 0,
        };
        for (expected, level, property) in [
            (
                Some(BadProperty),
                Level::Channel,
                property("Colour", &1_i16),
            ),
            (
                Some(UnsupportedProperty),
                Level::Channel,
                property("StartTime", &time),
            ),
            (
                Some(UnsupportedProperty),
                Level::Proxy,
                property("EventReliability", &0_i16),
            ),
            (
                Some(UnsupportedProperty),
                Level::Event,
                property("OrderPolicy", &1_i16),
            ),
            (Some(BadType), Level::Channel, property("Priority", &1_i32)),
            (Some(BadType), Level::Event, property("StartTime", &1_u64)),
            (Some(BadType), Level::Admin, property("Timeout", &1_i64)),
            (
                Some(BadValue),
                Level::Channel,
                property("Priority", &i16::MIN),
            ),
            (
                Some(BadValue),
                Level::Channel,
                property("OrderPolicy", &4_i16),
            ),
            (
                Some(BadValue),
                Level::Admin,
                property("DiscardPolicy", &5_i16),
            ),
            (
                Some(BadValue),
                Level::Proxy,
                property("MaximumBatchSize", &0_i32),
            ),
            (
                Some(BadValue),
                Level::Channel,
                property("MaxEventsPerConsumer", &-1_i32),
            ),
            (
                Some(UnsupportedValue),
                Level::Channel,
                property("EventReliability", &1_i16),
            ),
            (
                Some(UnsupportedValue),
                Level::Proxy,
                property("ConnectionReliability", &1_i16),
            ),
            (
                Some(UnsupportedValue),
                Level::Admin,
                property("MaxEventsPerConsumer", &1_001_i32),
            ),
            (
                Some(UnsupportedValue),
                Level::Admin,
                property("MaximumBatchSize", &501_i32),
            ),
            (
                Some(UnavailableValue),
                Level::Admin,
                property("MaxEventsPerConsumer", &11_i32),
            ),
            (
                Some(UnavailableValue),
                Level::Proxy,
                property("MaxEventsPerConsumer", &0_i32),
            ),
            (
                Some(UnavailableProperty),
                Level::Event,
                property("StopTime", &time),
            ),
            (None, Level::Event, property("StartTime", &time)),
            (
                None,
                Level::Proxy,
                property("MaxEventsPerConsumer", &10_i32),
            ),
            (None, Level::Proxy, property("DiscardPolicy", &4_i16)),
            (None, Level::Event, property("Timeout", &u64::MAX)),
        ] {
            let text = format!("{expected:?} {level:?} {property:?}");
            assert_eq!(code(level, above, property), expected, "{text}");
        }
    }

    #[test]
    fn ranges_are_those_of_the_level_and_of_what_is_above() {
        let mut above = Qos::of_service(ABILITY);
        let given = [property("MaxEventsPerConsumer", &10_i32)];
        above.set(Level::Channel, &given, None, ABILITY).unwrap();
        let required = [property("Priority", &3_i16)];
        let qos = Qos::of_service(ABILITY);
        let ranges = qos
            .validate(Level::Proxy, &required, Some(&above), ABILITY)
            .unwrap();
        let range = |name: &str| {
            let found = ranges.iter().find(|range| range.name == name);
            found.map(|found| format!("{:?} {:?}", found.range.low_val, found.range.high_val))
        };
        assert_eq!(range("Priority"), None, "it is required");
        assert_eq!(range("EventReliability"), None, "no property of a proxy");
        let expected = format!("{:?} {:?}", Type::Long.write(1), Type::Long.write(10));
        assert_eq!(range("MaxEventsPerConsumer"), Some(expected));
        let expected = format!("{:?} {:?}", Type::Short.write(0), Type::Short.write(0));
        assert_eq!(range("ConnectionReliability"), Some(expected));
    }

    #[test]
    fn the_header_of_an_event_says_what_it_can() {
        let time = |micros: i64| UtcT {
            time: u64::try_from(micros * 10 + UNITS_BEFORE_1970).unwrap(),
            inacclo: 0,
            inacchi: 0,
            tdf: 0,
        };
        let header = [
            property("Priority", &-5_i16),
            property("Timeout", &70_u64),
            property("StopTime", &time(9)),
            property("StartTime", &7_i16),
            property("EventReliability", &1_i16),
            property("Colour", &"red".to_owned()),
        ];
        let expected = EventQos {
            is_persistent: Some(true),
            priority: Some(-5),
            timeout: Some(70),
            start: None,
            stop: Some(9),
        };
        assert_eq!(EventQos::of(&header), expected);
    }
}
