//! Interfaces of applications, whose operations are events.
//!
//! An event is a call: the name of its operation and its arguments, as a sequence of properties, of which the first is `operation`
//! with the name and all its scopes. That is the value of an event for consumers of anys, and the filterable data of one for
//! consumers of structured events, whose type is then `%TYPED`.
//!
//! Source: OMG Event Service Specification 1.2, typed event communication; Notification Service Specification 1.1, translation of
//! typed events.

use crate::consumer_proxy::ConsumerProxy;
use crate::cos_notification::Property;
use crate::event::Body;
use core::fmt;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use zorb::{
    Any, DynamicReply, DynamicRequest, DynamicServant, ObjectId, ParameterMode, RequestError,
    Signature, SystemException, SystemExceptionKind, TcKind, minor,
};
use zorb_dynamic::IdlTypes;
use zorb_dynamic::zorb_idl::description::{DefinitionKind, InterfaceKind};

/// The name of the type of events that are calls.
pub(crate) const TYPED: &str = "%TYPED";
/// The name of the property that has the name of the operation.
const OPERATION: &str = "operation";

/// An operation that can be an event: it has `in` parameters alone.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The name with its scopes, as in `Plant::Alarms::raised`.
    scoped_name: String,
    /// The place of each parameter.
    places: HashMap<String, usize>,
    pub(crate) signature: Signature,
}

/// An interface of which all operations can be events.
pub(crate) struct TypedInterface {
    pub(crate) id: String,
    ancestors: Vec<String>,
    /// By the name on the wire; those of its bases, too.
    operations: BTreeMap<String, Operation>,
}

impl fmt::Debug for TypedInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedInterface").field(&self.id).finish()
    }
}

impl TypedInterface {
    /// The interface with a repository id; `None` if the IDL does not have it, or one of its operations cannot be an event.
    fn of(types: &IdlTypes, id: &str) -> Option<Self> {
        let description = types.description();
        let found = description.by_id(id)?;
        let DefinitionKind::Interface(interface) = &found.kind else {
            return None;
        };
        if !interface.is_defined || interface.kind != InterfaceKind::Plain {
            return None;
        }
        let mut this = Self {
            id: id.to_owned(),
            ancestors: Vec::new(),
            operations: BTreeMap::new(),
        };
        let ancestors = interface.ancestors.iter();
        let ancestors: Option<Vec<_>> = ancestors.map(|&at| description.get(at)).collect();
        for (at, definition) in core::iter::once(found).chain(ancestors?).enumerate() {
            let DefinitionKind::Interface(interface) = &definition.kind else {
                return None;
            };
            if at > 0 {
                this.ancestors.push(definition.repository_id.clone());
            }
            for operation in &interface.operations {
                let signature = types.signature_of(operation)?;
                let is_event = signature.result.is_none()
                    && signature.raises.is_empty()
                    && signature.context.is_none()
                    && (signature.parameters.iter()).all(|it| it.mode == ParameterMode::In);
                if !is_event {
                    return None;
                }
                let parameters = signature.parameters.iter().enumerate();
                let operation = Operation {
                    scoped_name: format!("{}::{}", definition.scoped_name, operation.name),
                    places: parameters.map(|(at, it)| (it.name.clone(), at)).collect(),
                    signature,
                };
                let wire_name = operation.signature.operation.clone();
                this.operations.insert(wire_name, operation);
            }
        }
        Some(this)
    }

    /// The call that an event is, with the arguments of its operation; `None` if it is none of this interface. Costs a look at each
    /// property.
    pub(crate) fn call(&self, properties: &[Property]) -> Option<(&Operation, Vec<Any>)> {
        let (first, rest) = properties.split_first()?;
        if first.name != OPERATION {
            return None;
        }
        let name = first.value.extract::<String>().ok()?;
        // As absolute names of interface repositories begin.
        let name = name.strip_prefix("::").unwrap_or(&name);
        let (_, last) = name.rsplit_once("::")?;
        let operation = self.operations.get(last)?;
        if operation.scoped_name != name {
            return None;
        }
        let mut arguments: Vec<Option<Any>> = vec![None; operation.places.len()];
        for property in rest {
            let place = operation.places.get(&property.name);
            let Some((place, argument)) = place.and_then(|at| Some((at, arguments.get_mut(*at)?)))
            else {
                continue;
            };
            if argument.is_none() {
                let parameter = operation.signature.parameters.get(*place)?;
                *argument = Some(argument_of(&parameter.ty, &property.value)?);
            }
        }
        let arguments: Option<Vec<Any>> = arguments.into_iter().collect();
        Some((operation, arguments?))
    }
}

/// A value as an argument of a type, if it is one.
fn argument_of(ty: &zorb::TypeCode, value: &Any) -> Option<Any> {
    let is_reference = |ty: &zorb::TypeCode| ty.unaliased().kind() == TcKind::ObjRef;
    match value.type_code().equivalent(ty) || is_reference(ty) && is_reference(value.type_code()) {
        true => Some(value.clone()),
        false => value.converted(ty).ok(),
    }
}

/// The interfaces that a service knows.
#[derive(Debug, Default)]
pub(crate) struct Interfaces {
    types: Option<Arc<IdlTypes>>,
    /// Those that were asked for.
    found: Mutex<HashMap<String, Arc<TypedInterface>>>,
}

impl Interfaces {
    pub(crate) fn new(types: Option<Arc<IdlTypes>>) -> Self {
        Self {
            types,
            found: Mutex::default(),
        }
    }

    /// The interface with a repository id, if its operations can be events. Proxies share it.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<TypedInterface>> {
        let types = self.types.as_ref()?;
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interface) = found.get(id) {
            return Some(Arc::clone(interface));
        }
        let interface = Arc::new(TypedInterface::of(types, id)?);
        found.insert(id.to_owned(), Arc::clone(&interface));
        Some(interface)
    }
}

/// The servant of a typed consumer: each of its operations is published.
pub(crate) struct TypedConsumer {
    pub(crate) proxy: Arc<ConsumerProxy>,
    pub(crate) interface: Arc<TypedInterface>,
}

impl DynamicServant for TypedConsumer {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let name = request.operation();
        let operation = self.interface.operations.get(&*name).ok_or_else(|| {
            let completed = zorb::CompletionStatus::No;
            let (kind, minor) = (SystemExceptionKind::BadOperation, minor::NO_SUCH_OPERATION);
            SystemException::new(kind, minor, completed)
        })?;
        let signature = &operation.signature;
        let (arguments, _) = request.arguments_of(signature)?;
        let mut properties = Vec::with_capacity(arguments.len().saturating_add(1));
        properties.push(Property {
            name: OPERATION.to_owned(),
            value: Any::new(&operation.scoped_name).map_err(SystemException::from)?,
        });
        let named = signature.parameters.iter().zip(arguments);
        properties.extend(named.map(|(parameter, value)| Property {
            name: parameter.name.clone(),
            value,
        }));
        self.proxy.accept_call(Body::Typed(properties)).await?;
        signature.reply(None, Vec::new())
    }

    fn is_a(&self, _: &ObjectId, repository_id: &str) -> bool {
        let mut ancestors = self.interface.ancestors.iter();
        ancestors.any(|it| it == repository_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDL: &str = "
        module Plant {
          struct Reading { long sensor; double value; };
          interface Base { void stopped(in string why); };
          interface Alarms : Base {
            void raised(in long severity, in Reading all);
            oneway void cleared();
          };
          interface Answers { long level(); };
          interface Outputs { void level(out long level); };
          interface Both { void level(inout long level); };
          exception Bad {};
          interface Fails { void level(in long level) raises(Bad); };
          interface Held { attribute long level; };
          interface Inherits : Answers {};
          interface Forward;
          local interface Local { void level(in long level); };
        };";

    fn interfaces() -> Interfaces {
        let types = IdlTypes::from_text("plant.idl", IDL).unwrap();
        Interfaces::new(Some(Arc::new(types)))
    }

    fn property(name: &str, value: Any) -> Property {
        let name = name.to_owned();
        Property { name, value }
    }

    #[test]
    fn interfaces_with_results_outputs_or_exceptions_are_no_events() {
        let interfaces = interfaces();
        assert!(interfaces.find("IDL:Plant/Alarms:1.0").is_some());
        for name in [
            "Answers", "Outputs", "Both", "Fails", "Held", "Inherits", "Forward", "Local",
            "Reading", "None",
        ] {
            let id = format!("IDL:Plant/{name}:1.0");
            assert!(interfaces.find(&id).is_none(), "{name}");
        }
        assert!(Interfaces::default().find("IDL:Plant/Alarms:1.0").is_none());
    }

    #[test]
    fn properties_are_a_call_if_they_name_an_operation_and_have_its_arguments() {
        let alarms = interfaces().find("IDL:Plant/Alarms:1.0").unwrap();
        let operation = |name: &str| property(OPERATION, Any::new(name).unwrap());
        let why = |why: &str| property("why", Any::new(why).unwrap());
        let stopped = [
            operation("Plant::Base::stopped"),
            property("who", Any::default()),
            why("a"),
            why("b"),
        ];
        let (found, arguments) = alarms.call(&stopped).unwrap();
        assert_eq!(found.signature.operation, "stopped");
        assert_eq!(arguments, [Any::new("a").unwrap()]);
        assert!(
            alarms
                .call(&[operation("::Plant::Alarms::cleared")])
                .is_some()
        );
        let number = property("why", Any::new(&1_i32).unwrap());
        for none in [
            &[][..],
            &[why("a")],
            &[property(OPERATION, Any::new(&1_i32).unwrap())],
            &[operation("stopped"), why("a")],
            &[operation("Plant::Alarms::stopped"), why("a")],
            &[operation("Plant::Base::stopped")],
            &[operation("Plant::Base::stopped"), number],
            &[why("a"), operation("Plant::Base::stopped")],
        ] {
            assert!(alarms.call(none).is_none(), "{none:?}");
        }
    }
}
