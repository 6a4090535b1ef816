//! The TypeCodes of definitions.

use crate::ir::corba::PrimitiveKind;
use crate::store::{Body, InterfaceKind, Key, Store};
use std::collections::HashMap;
use std::sync::PoisonError;
use zorb::{CompletionStatus, SystemException, SystemExceptionKind as Kind, TcKind, TypeCode};
use zorb_cdr::{TypeCodeSet, TypeDefinition, TypeSlot};

const OBJECT: (&str, &str) = ("IDL:omg.org/CORBA/Object:1.0", "Object");
const VALUE_BASE: (&str, &str) = ("IDL:omg.org/CORBA/ValueBase:1.0", "ValueBase");

const fn simple(kind: PrimitiveKind) -> TcKind {
    use PrimitiveKind as P;
    match kind {
        P::PkNull | P::PkString | P::PkWstring | P::PkObjref | P::PkValueBase => TcKind::Null,
        P::PkVoid => TcKind::Void,
        P::PkShort => TcKind::Short,
        P::PkLong => TcKind::Long,
        P::PkUshort => TcKind::UShort,
        P::PkUlong => TcKind::ULong,
        P::PkFloat => TcKind::Float,
        P::PkDouble => TcKind::Double,
        P::PkBoolean => TcKind::Boolean,
        P::PkChar => TcKind::Char,
        P::PkOctet => TcKind::Octet,
        P::PkAny => TcKind::Any,
        P::PkTypeCode => TcKind::TypeCode,
        P::PkPrincipal => TcKind::Principal,
        P::PkLonglong => TcKind::LongLong,
        P::PkUlonglong => TcKind::ULongLong,
        P::PkLongdouble => TcKind::LongDouble,
        P::PkWchar => TcKind::WChar,
    }
}

/// The types of a graph under construction.
struct Builder<'a> {
    store: &'a Store,
    set: TypeCodeSet,
    slots: HashMap<Key, TypeSlot>,
    /// In the order of their slots.
    keys: Vec<Key>,
}

impl Builder<'_> {
    fn slot(&mut self, key: Key) -> TypeSlot {
        if let Some(slot) = self.slots.get(&key) {
            return *slot;
        }
        let slot = self.set.slot();
        self.slots.insert(key, slot);
        self.keys.push(key);
        slot
    }

    fn members<'m>(&mut self, members: &'m [(String, Key)]) -> Vec<(&'m str, TypeSlot)> {
        members
            .iter()
            .map(|(name, ty)| (&**name, self.slot(*ty)))
            .collect()
    }

    fn define(&mut self, key: Key, slot: TypeSlot) -> Result<(), SystemException> {
        let node = self.store.get(key)?;
        let named = node.contained.as_ref();
        let (mut id, mut name) = named.map_or(("", ""), |it| (&*it.id, &*it.name));
        let (members, labelled, state, names);
        let definition = match &node.body {
            Body::Struct(all) => {
                members = self.members(all);
                TypeDefinition::Struct(&members)
            }
            Body::Exception(all) => {
                members = self.members(all);
                TypeDefinition::Exception(&members)
            }
            Body::Union(discriminator, all) => {
                let discriminator = self.slot(*discriminator);
                let all = all
                    .iter()
                    .map(|(label, name, ty)| (*label, &**name, self.slot(*ty)));
                labelled = all.collect::<Vec<_>>();
                TypeDefinition::Union(discriminator, &labelled)
            }
            Body::Enum(all) => {
                names = all.iter().map(String::as_str).collect::<Vec<_>>();
                TypeDefinition::Enum(&names)
            }
            Body::Alias(ty) => TypeDefinition::Alias(self.slot(*ty)),
            Body::ValueBox(ty) => TypeDefinition::ValueBox(self.slot(*ty)),
            Body::Native => TypeDefinition::Named(TcKind::Native),
            Body::Interface(kind, _) => TypeDefinition::Named(match kind {
                InterfaceKind::Plain => TcKind::ObjRef,
                InterfaceKind::Abstract => TcKind::AbstractInterface,
                InterfaceKind::Local => TcKind::LocalInterface,
            }),
            Body::Value(value) => {
                let modifier = match value {
                    _ if value.is_custom => 1,
                    _ if value.is_abstract => 2,
                    _ if value.is_truncatable => 3,
                    _ => 0,
                };
                let base = value.base.map(|base| self.slot(base));
                let children = node.children.iter().filter_map(|child| {
                    let child = self.store.get(*child).ok()?;
                    match (&child.body, &child.contained) {
                        (Body::ValueMember(ty, is_public), Some(named)) => {
                            Some((&*named.name, *ty, *is_public))
                        }
                        _ => None,
                    }
                });
                let children: Vec<_> = children.collect();
                let children = children.into_iter();
                state = children
                    .map(|(name, ty, is_public)| (name, self.slot(ty), is_public))
                    .collect::<Vec<_>>();
                TypeDefinition::Value(modifier, base, &state)
            }
            Body::Primitive(PrimitiveKind::PkString) => TypeDefinition::String(0),
            Body::Primitive(PrimitiveKind::PkWstring) => TypeDefinition::WString(0),
            Body::Primitive(PrimitiveKind::PkObjref) => {
                (id, name) = OBJECT;
                TypeDefinition::Named(TcKind::ObjRef)
            }
            Body::Primitive(PrimitiveKind::PkValueBase) => {
                (id, name) = VALUE_BASE;
                TypeDefinition::Value(0, None, &[])
            }
            Body::Primitive(kind) => TypeDefinition::Simple(simple(*kind)),
            Body::String(bound) => TypeDefinition::String(*bound),
            Body::WString(bound) => TypeDefinition::WString(*bound),
            Body::Fixed(digits, scale) => TypeDefinition::Fixed(*digits, *scale),
            Body::Sequence(ty, bound) => TypeDefinition::Sequence(self.slot(*ty), *bound),
            Body::Array(ty, length) => TypeDefinition::Array(self.slot(*ty), *length),
            _ => return Err(no_type()),
        };
        self.set.define(slot, id, name, &definition);
        Ok(())
    }
}

pub(crate) fn no_type() -> SystemException {
    let none = SystemException::new(Kind::BadTypecode, 0, CompletionStatus::No);
    none.with_detail("the definition is no type, or consists of itself")
}

impl Store {
    /// The TypeCode of a type or an exception. Those that it refers to are kept with it.
    pub(crate) fn type_code(&self, key: Key) -> Result<TypeCode, SystemException> {
        let mut known = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ty) = known.get(&key) {
            return Ok(ty.clone());
        }
        let mut builder = Builder {
            store: self,
            set: TypeCodeSet::new(),
            slots: HashMap::new(),
            keys: Vec::new(),
        };
        let mut slot = builder.slot(key);
        let mut at = 0;
        while let Some(&key) = builder.keys.get(at) {
            if at > 0 {
                slot = builder.slot(key);
            }
            builder.define(key, slot)?;
            at = at.saturating_add(1);
        }
        let Builder { set, keys, .. } = builder;
        let made = set.finish().ok_or_else(no_type)?;
        known.extend(keys.into_iter().zip(made));
        known.get(&key).cloned().ok_or_else(no_type)
    }
}
