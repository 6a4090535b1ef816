//! Definitions of IDL text, as definitions of a repository.

use crate::ir::corba::{ParameterMode, PrimitiveKind};
use crate::store::{Body, Contained, InterfaceKind, Key, Operation, Parameter, ROOT, Store, Value};
use zorb::{Any, SystemException, TypeCode};
use zorb_dynamic::IdlTypes;
use zorb_idl::description::{
    self, ConstantValue, DefinitionIndex, DefinitionKind, Direction, IdlType,
};

/// The version in a repository id: `1.0` in `IDL:Bank/Account:1.0`.
fn version(id: &str) -> &str {
    id.rsplit_once(':').map_or("1.0", |(_, version)| version)
}

/// The id of what is within a definition with this id.
pub(crate) fn id_within(id: &str, name: &str) -> String {
    match id.strip_prefix("IDL:").and_then(|id| id.rsplit_once(':')) {
        Some((path, version)) => format!("IDL:{path}/{name}:{version}"),
        None => format!("{id}/{name}"),
    }
}

/// Reads the definitions of one IDL into a store.
pub(crate) struct Loader<'a> {
    types: &'a IdlTypes,
    store: &'a mut Store,
    /// The key of each definition; `None` for one that CORBA has no TypeCode of, and for what was there before.
    keys: Vec<Option<Key>>,
}

impl<'a> Loader<'a> {
    /// Adds all definitions of some IDL. A definition whose repository id is there already is not read again.
    pub(crate) fn load(store: &'a mut Store, types: &'a IdlTypes) -> Result<(), SystemException> {
        let mut loader = Self {
            keys: Vec::new(),
            store,
            types,
        };
        let definitions = types.description().definitions();
        let mut fresh = Vec::new();
        for definition in definitions {
            let known = loader.store.by_id(&definition.repository_id);
            let container = match definition.within {
                None => Some(ROOT),
                Some(within) => loader.keys.get(within.0).copied().flatten(),
            };
            let body = loader.outline(definition);
            let key = match (known, container, body) {
                (Some(known), ..) => Some(known),
                (None, Some(container), Some(body)) => {
                    let contained = Contained {
                        id: definition.repository_id.clone(),
                        name: definition.name.clone(),
                        version: version(&definition.repository_id).to_owned(),
                        container,
                    };
                    Some(loader.store.add(contained, body)?)
                }
                _ => None,
            };
            fresh.push(known.is_none() && key.is_some());
            loader.keys.push(key);
        }
        for (at, definition) in definitions.iter().enumerate() {
            if let (Some(true), Some(Some(key))) = (fresh.get(at), loader.keys.get(at)) {
                loader.fill(*key, definition)?;
            }
        }
        Ok(())
    }

    /// What a definition is, before the types that it refers to are there. `None` for one that a repository cannot have.
    fn outline(&self, definition: &description::Definition) -> Option<Body> {
        let is_type = self.types.by_id(&definition.repository_id).is_some();
        Some(match &definition.kind {
            DefinitionKind::Module => Body::Module,
            DefinitionKind::Constant(ty, _) => {
                self.types.type_code(ty)?;
                Body::Constant(0, Any::default())
            }
            _ if !is_type => return None,
            DefinitionKind::Interface(interface) => Body::Interface(
                match interface.kind {
                    description::InterfaceKind::Plain => InterfaceKind::Plain,
                    description::InterfaceKind::Abstract => InterfaceKind::Abstract,
                    description::InterfaceKind::Local => InterfaceKind::Local,
                },
                Vec::new(),
            ),
            DefinitionKind::Value(_) => Body::Value(Value::default()),
            DefinitionKind::ValueBox(_) => Body::ValueBox(0),
            DefinitionKind::Struct(_) => Body::Struct(Vec::new()),
            DefinitionKind::Exception(_) => Body::Exception(Vec::new()),
            DefinitionKind::Union(_) => Body::Union(0, Vec::new()),
            DefinitionKind::Enum(names) => Body::Enum(names.clone()),
            DefinitionKind::Alias(_) => Body::Alias(0),
            DefinitionKind::Native => Body::Native,
            _ => return None,
        })
    }

    /// The type where it is used; a new definition for one without a name. `None` for one that CORBA has no TypeCode of.
    fn ty(&mut self, ty: &IdlType) -> Result<Option<Key>, SystemException> {
        use PrimitiveKind as P;
        let body = match ty {
            IdlType::Named(DefinitionIndex(at)) => {
                return Ok(self.keys.get(*at).copied().flatten());
            }
            IdlType::String(Some(bound)) => Body::String(*bound),
            IdlType::WString(Some(bound)) => Body::WString(*bound),
            IdlType::Sequence(element, bound) => match self.ty(element)? {
                Some(element) => Body::Sequence(element, bound.unwrap_or(0)),
                None => return Ok(None),
            },
            IdlType::Array(element, length) => match self.ty(element)? {
                Some(element) => Body::Array(element, *length),
                None => return Ok(None),
            },
            IdlType::Fixed(digits, scale) => Body::Fixed(u16::from(*digits), i16::from(*scale)),
            simple => {
                let kind = match simple {
                    IdlType::Boolean => P::PkBoolean,
                    IdlType::Char => P::PkChar,
                    IdlType::WChar => P::PkWchar,
                    IdlType::Octet | IdlType::Int8 => P::PkOctet,
                    IdlType::Short => P::PkShort,
                    IdlType::UShort => P::PkUshort,
                    IdlType::Long => P::PkLong,
                    IdlType::ULong => P::PkUlong,
                    IdlType::LongLong => P::PkLonglong,
                    IdlType::ULongLong => P::PkUlonglong,
                    IdlType::Float => P::PkFloat,
                    IdlType::Double => P::PkDouble,
                    IdlType::LongDouble => P::PkLongdouble,
                    IdlType::String(_) => P::PkString,
                    IdlType::WString(_) => P::PkWstring,
                    IdlType::Any => P::PkAny,
                    IdlType::TypeCode => P::PkTypeCode,
                    IdlType::Principal => P::PkPrincipal,
                    IdlType::Object => P::PkObjref,
                    IdlType::ValueBase => P::PkValueBase,
                    _ => return Ok(None),
                };
                return Ok(Some(Store::primitive(kind)));
            }
        };
        self.store.add_anonymous(body).map(Some)
    }

    fn members(
        &mut self,
        members: &[description::Member],
    ) -> Result<Vec<(String, Key)>, SystemException> {
        let mut all = Vec::new();
        for member in members {
            if let Some(ty) = self.ty(&member.ty)? {
                all.push((member.name.clone(), ty));
            }
        }
        Ok(all)
    }

    fn all(&self, indexes: &[DefinitionIndex]) -> Vec<Key> {
        let keys = indexes.iter().filter_map(|at| self.keys.get(at.0));
        keys.copied().flatten().collect()
    }

    /// Fills in what a definition refers to.
    fn fill(
        &mut self,
        key: Key,
        definition: &description::Definition,
    ) -> Result<(), SystemException> {
        let body = match &definition.kind {
            DefinitionKind::Constant(ty, value) => {
                let key = self.ty(ty)?;
                let code = self.types.type_code(ty);
                let value = code.and_then(|code| constant(&code, value));
                match (key, value) {
                    (Some(key), Some(value)) => Body::Constant(key, value),
                    _ => return Ok(()),
                }
            }
            DefinitionKind::Struct(members) => Body::Struct(self.members(members)?),
            DefinitionKind::Exception(members) => Body::Exception(self.members(members)?),
            DefinitionKind::Union(union) => {
                let discriminator = self.ty(&union.discriminator)?.unwrap_or_default();
                let mut members = Vec::new();
                for case in &union.cases {
                    let Some(ty) = self.ty(&case.member.ty)? else {
                        continue;
                    };
                    let labels = case.labels.iter().map(|label| Some(*label));
                    for label in labels.chain(case.is_default.then_some(None)) {
                        members.push((label, case.member.name.clone(), ty));
                    }
                }
                Body::Union(discriminator, members)
            }
            DefinitionKind::Alias(ty) => Body::Alias(self.ty(ty)?.unwrap_or_default()),
            DefinitionKind::ValueBox(ty) => Body::ValueBox(self.ty(ty)?.unwrap_or_default()),
            DefinitionKind::Interface(interface) => {
                let bases = self.all(&interface.bases);
                let kind = match &self.store.get(key)?.body {
                    Body::Interface(kind, _) => *kind,
                    _ => InterfaceKind::Plain,
                };
                self.operations((key, &definition.repository_id), &interface.operations)?;
                Body::Interface(kind, bases)
            }
            DefinitionKind::Value(value) => {
                for member in &value.members {
                    if let Some(ty) = self.ty(&member.ty)? {
                        let body = Body::ValueMember(ty, member.is_public);
                        self.within((key, &definition.repository_id), &member.name, body)?;
                    }
                }
                self.operations((key, &definition.repository_id), &value.operations)?;
                let mut initializers = Vec::new();
                for factory in &value.factories {
                    let mut members = Vec::new();
                    for parameter in &factory.parameters {
                        if let Some(ty) = self.ty(&parameter.ty)? {
                            members.push((parameter.name.clone(), ty));
                        }
                    }
                    initializers.push((factory.name.clone(), members));
                }
                let base = value.concrete_base;
                let abstract_bases = value.bases.iter().copied();
                let abstract_bases = abstract_bases.filter(|it| Some(*it) != base);
                Body::Value(Value {
                    is_custom: value.is_custom,
                    is_abstract: value.is_abstract,
                    is_truncatable: value.is_truncatable,
                    base: base.and_then(|at| self.keys.get(at.0).copied().flatten()),
                    abstract_bases: self.all(&abstract_bases.collect::<Vec<_>>()),
                    supports: self.all(&value.supports),
                    initializers,
                })
            }
            _ => return Ok(()),
        };
        self.store.get_mut(key)?.body = body;
        Ok(())
    }

    fn within(
        &mut self,
        (container, id): (Key, &str),
        name: &str,
        body: Body,
    ) -> Result<(), SystemException> {
        let id = id_within(id, name);
        if self.store.by_id(&id).is_some() {
            return Ok(());
        }
        let contained = Contained {
            version: version(&id).to_owned(),
            name: name.to_owned(),
            container,
            id,
        };
        self.store.add(contained, body).map(|_| ())
    }

    fn operations(
        &mut self,
        at: (Key, &str),
        operations: &[description::Operation],
    ) -> Result<(), SystemException> {
        for operation in operations {
            let result = match &operation.result {
                None => Some(Store::primitive(PrimitiveKind::PkVoid)),
                Some(ty) => self.ty(ty)?,
            };
            let Some(result) = result else {
                continue;
            };
            if operation.is_attribute {
                if operation.wire_name.starts_with("_get_") {
                    let writes = format!("_set_{}", operation.name);
                    let is_readonly = !operations.iter().any(|it| it.wire_name == writes);
                    self.within(at, &operation.name, Body::Attribute(result, is_readonly))?;
                }
                continue;
            }
            let mut parameters = Vec::new();
            for parameter in &operation.parameters {
                let Some(ty) = self.ty(&parameter.ty)? else {
                    continue;
                };
                parameters.push(Parameter {
                    name: parameter.name.clone(),
                    ty,
                    mode: match parameter.direction {
                        Direction::In => ParameterMode::ParamIn,
                        Direction::Out => ParameterMode::ParamOut,
                        Direction::InOut => ParameterMode::ParamInout,
                    },
                });
            }
            if parameters.len() != operation.parameters.len() {
                continue;
            }
            let body = Body::Operation(Operation {
                result,
                is_oneway: operation.is_oneway,
                parameters,
                exceptions: self.all(&operation.raises),
                contexts: operation.contexts.clone(),
            });
            self.within(at, &operation.name, body)?;
        }
        Ok(())
    }
}

/// The value of a constant, as an any of its type.
fn constant(ty: &TypeCode, value: &ConstantValue) -> Option<Any> {
    match value {
        ConstantValue::Integer(value) => crate::label::number(ty, *value),
        ConstantValue::Boolean(value) => Any::with_type_code(ty, value).ok(),
        ConstantValue::Char(code) => crate::label::number(ty, i128::from(*code)),
        ConstantValue::Enumerator(ordinal) => crate::label::number(ty, i128::from(*ordinal)),
        ConstantValue::String(text) => Any::with_type_code(ty, &**text).ok(),
        ConstantValue::Float(value) => match ty.unaliased().kind() {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the IDL says that it is a float"
            )]
            zorb::TcKind::Float => Any::with_type_code(ty, &(*value as f32)).ok(),
            zorb::TcKind::LongDouble => {
                Any::with_type_code(ty, &zorb::LongDouble::from(*value)).ok()
            }
            _ => Any::with_type_code(ty, value).ok(),
        },
        ConstantValue::Fixed(digits, scale) => {
            let mut text = digits.unsigned_abs().to_string();
            let scale = usize::from(*scale);
            while text.len() <= scale {
                text.insert(0, '0');
            }
            text.insert(text.len().saturating_sub(scale), '.');
            if *digits < 0 {
                text.insert(0, '-');
            }
            Any::of_decimal(ty, &text).ok()
        }
        _ => None,
    }
}
