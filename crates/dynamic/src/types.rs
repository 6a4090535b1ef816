//! TypeCodes of the definitions of IDL.

use std::collections::HashMap;
use std::path::PathBuf;

use zorb::Orb;

use zorb_cdr::{TcKind, TypeCode, TypeCodeSet, TypeDefinition, TypeSlot};
use zorb_idl::description::{
    DefinitionIndex, DefinitionKind, Description, IdlType, InterfaceKind, Member, describe_files,
    describe_str,
};
use zorb_idl::{Diagnostics, Options};

/// The modifiers of value types in TypeCodes.
const CUSTOM: i16 = 1;
const ABSTRACT: i16 = 2;
const TRUNCATABLE: i16 = 3;

/// The TypeCodes of all types of some IDL, which the program reads while it runs.
///
/// They equal those that the IDL compiler puts into a program, names and aliases included. They share one graph, so types
/// may contain each other in any way; a clone of one keeps all of them in memory. Bitsets, bitmasks and maps have no
/// TypeCode in CORBA, and neither has a type that contains one.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (TypeCodes).
#[derive(Debug, Clone)]
pub struct IdlTypes {
    description: Description,
    /// The type of each definition; `None` for definitions of other kinds.
    types: Vec<Option<TypeCode>>,
    by_id: HashMap<String, usize>,
}

impl IdlTypes {
    /// Reads IDL text; `name` is its file name in diagnostics. `#include` finds the built-in `orb.idl` alone.
    ///
    /// # Errors
    /// All errors of the text that can be found in one compilation.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Diagnostics> {
        describe_str(name, text, &Options::default()).map(Self::new)
    }

    /// Reads IDL files as one, with those that they include. Of the options those of the preprocessor matter, and
    /// [`Options::lenient`].
    ///
    /// # Errors
    /// All errors of the files that can be found in one compilation, and files that cannot be read.
    pub fn from_files(files: &[PathBuf], options: &Options) -> Result<Self, Diagnostics> {
        describe_files(files, options).map(Self::new)
    }

    /// Makes the types of a description.
    #[must_use]
    pub fn new(description: Description) -> Self {
        let types = Builder::new(&description).finish();
        let definitions = description.definitions().iter();
        let by_id = definitions
            .enumerate()
            .map(|(index, definition)| (definition.repository_id.clone(), index));
        Self {
            by_id: by_id.collect(),
            types,
            description,
        }
    }

    /// Returns the type with this repository id: a struct, union, enum, exception, typedef, interface, value type, value box
    /// or native type. Costs one look-up in a table.
    #[must_use]
    pub fn by_id(&self, repository_id: &str) -> Option<TypeCode> {
        self.types.get(*self.by_id.get(repository_id)?)?.clone()
    }

    /// Returns the place of the definition with this repository id.
    pub(crate) fn index_of(&self, repository_id: &str) -> Option<DefinitionIndex> {
        self.by_id.get(repository_id).copied().map(DefinitionIndex)
    }

    /// Returns the type with this name, as in `Bank::Money`. Costs a look at each definition.
    #[must_use]
    pub fn by_name(&self, scoped_name: &str) -> Option<TypeCode> {
        let id = &self.description.by_name(scoped_name)?.repository_id;
        self.by_id(id)
    }

    /// Returns the type of a parameter, result or member of the [description](Self::description); `None` if CORBA has no
    /// TypeCode for it. Allocates for a type without a name.
    #[must_use]
    pub fn type_code(&self, ty: &IdlType) -> Option<TypeCode> {
        Some(match ty {
            IdlType::Named(DefinitionIndex(index)) => self.types.get(*index)?.clone()?,
            IdlType::String(bound) => TypeCode::string(bound.unwrap_or(0)),
            IdlType::WString(bound) => TypeCode::wstring(bound.unwrap_or(0)),
            IdlType::Sequence(element, bound) => {
                TypeCode::sequence(&self.type_code(element)?, bound.unwrap_or(0))
            }
            IdlType::Array(element, length) => TypeCode::array(&self.type_code(element)?, *length),
            IdlType::Fixed(digits, scale) => TypeCode::fixed(u16::from(*digits), i16::from(*scale)),
            IdlType::Object => TypeCode::interface(OBJECT.0, OBJECT.1),
            IdlType::ValueBase => {
                let mut set = TypeCodeSet::new();
                let slot = set.slot();
                set.define(
                    slot,
                    VALUE_BASE.0,
                    VALUE_BASE.1,
                    &TypeDefinition::Value(0, None, &[]),
                );
                set.finish()?.into_iter().next()?
            }
            simple => TypeCode::of_kind(kind(simple)?)?,
        })
    }

    /// Iterates over the types with their repository ids, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TypeCode)> {
        let definitions = self.description.definitions().iter();
        definitions
            .zip(&self.types)
            .filter_map(|(definition, ty)| Some((&*definition.repository_id, ty.as_ref()?)))
    }

    /// Registers the value types and value boxes of the IDL with an ORB, so that its dynamic calls and servants have values of
    /// derived types as they are: see [`Orb::register_value_type`]. Types with custom marshalling are left out.
    pub fn register_values(&self, orb: &Orb) {
        for (_, ty) in self.iter() {
            orb.register_value_type(ty);
        }
    }

    /// Returns the definitions of which the types were made: operations and constants, too.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }
}

const OBJECT: (&str, &str) = ("IDL:omg.org/CORBA/Object:1.0", "Object");
const VALUE_BASE: (&str, &str) = ("IDL:omg.org/CORBA/ValueBase:1.0", "ValueBase");

/// The kind of a type without parameters.
fn kind(ty: &IdlType) -> Option<TcKind> {
    Some(match ty {
        IdlType::Boolean => TcKind::Boolean,
        IdlType::Char => TcKind::Char,
        IdlType::WChar => TcKind::WChar,
        // CORBA has no TypeCode kind for `int8`.
        IdlType::Octet | IdlType::Int8 => TcKind::Octet,
        IdlType::Short => TcKind::Short,
        IdlType::UShort => TcKind::UShort,
        IdlType::Long => TcKind::Long,
        IdlType::ULong => TcKind::ULong,
        IdlType::LongLong => TcKind::LongLong,
        IdlType::ULongLong => TcKind::ULongLong,
        IdlType::Float => TcKind::Float,
        IdlType::Double => TcKind::Double,
        IdlType::LongDouble => TcKind::LongDouble,
        IdlType::Any => TcKind::Any,
        IdlType::TypeCode => TcKind::TypeCode,
        IdlType::Principal => TcKind::Principal,
        _ => return None,
    })
}

struct Builder<'a> {
    description: &'a Description,
    set: TypeCodeSet,
    /// A slot for each definition, first of all.
    slots: Vec<TypeSlot>,
    /// Whether each definition has no TypeCode.
    lacking: Vec<bool>,
}

impl<'a> Builder<'a> {
    fn new(description: &'a Description) -> Self {
        let mut set = TypeCodeSet::new();
        let slots = description.definitions().iter().map(|_| set.slot());
        Self {
            slots: slots.collect(),
            lacking: lacking(description),
            description,
            set,
        }
    }

    fn finish(mut self) -> Vec<Option<TypeCode>> {
        for (index, slot) in self.slots.clone().into_iter().enumerate() {
            if !self.lacking.get(index).copied().unwrap_or(true) {
                self.define(DefinitionIndex(index), slot);
            }
        }
        // The compiler refuses IDL of which a type would consist of itself.
        let all = self.set.finish().unwrap_or_default();
        let mut all = all.into_iter();
        let lacking = self.lacking.into_iter();
        lacking.map(|lacks| all.next().filter(|_| !lacks)).collect()
    }

    fn define(&mut self, index: DefinitionIndex, slot: TypeSlot) {
        let Some(definition) = self.description.get(index) else {
            return;
        };
        let (id, name) = (&*definition.repository_id, &*definition.name);
        match &definition.kind {
            DefinitionKind::Struct(members) => {
                let members = self.members(members);
                self.set
                    .define(slot, id, name, &TypeDefinition::Struct(&members));
            }
            DefinitionKind::Exception(members) => {
                let members = self.members(members);
                self.set
                    .define(slot, id, name, &TypeDefinition::Exception(&members));
            }
            DefinitionKind::Union(union) => {
                let discriminator = self.ty(&union.discriminator);
                let mut members = Vec::new();
                for case in &union.cases {
                    let (name, ty) = (&*case.member.name, self.ty(&case.member.ty));
                    let labels = case.labels.iter().map(|&label| (Some(label), name, ty));
                    members.extend(labels);
                    members.extend(case.is_default.then_some((None, name, ty)));
                }
                let ty = TypeDefinition::Union(discriminator, &members);
                self.set.define(slot, id, name, &ty);
            }
            DefinitionKind::Enum(enumerators) => {
                let names: Vec<&str> = enumerators.iter().map(String::as_str).collect();
                self.set
                    .define(slot, id, name, &TypeDefinition::Enum(&names));
            }
            DefinitionKind::Alias(ty) => {
                let ty = self.ty(ty);
                self.set.define(slot, id, name, &TypeDefinition::Alias(ty));
            }
            DefinitionKind::ValueBox(ty) => {
                let ty = self.ty(ty);
                self.set
                    .define(slot, id, name, &TypeDefinition::ValueBox(ty));
            }
            DefinitionKind::Interface(interface) => {
                let kind = match interface.kind {
                    InterfaceKind::Plain => TcKind::ObjRef,
                    InterfaceKind::Abstract => TcKind::AbstractInterface,
                    InterfaceKind::Local => TcKind::LocalInterface,
                };
                self.set
                    .define(slot, id, name, &TypeDefinition::Named(kind));
            }
            DefinitionKind::Native => {
                self.set
                    .define(slot, id, name, &TypeDefinition::Named(TcKind::Native));
            }
            DefinitionKind::Value(value) => {
                let modifier = match value {
                    _ if value.is_custom => CUSTOM,
                    _ if value.is_abstract || !value.is_defined => ABSTRACT,
                    _ if value.is_truncatable => TRUNCATABLE,
                    _ => 0,
                };
                let base = value.concrete_base;
                let base = base.and_then(|base| self.slots.get(base.0).copied());
                let members = value.members.iter();
                let members: Vec<_> = members
                    .map(|member| (&*member.name, self.ty(&member.ty), member.is_public))
                    .collect();
                let ty = TypeDefinition::Value(modifier, base, &members);
                self.set.define(slot, id, name, &ty);
            }
            _ => {}
        }
    }

    fn members<'m>(&mut self, members: &'m [Member]) -> Vec<(&'m str, TypeSlot)> {
        let members = members.iter();
        members
            .map(|member| (&*member.name, self.ty(&member.ty)))
            .collect()
    }

    /// The slot of a type where it is used: its own, or a new one for a type without a name.
    fn ty(&mut self, ty: &IdlType) -> TypeSlot {
        if let IdlType::Named(index) = ty
            && let Some(slot) = self.slots.get(index.0)
        {
            return *slot;
        }
        let content = match ty {
            IdlType::Sequence(content, _) | IdlType::Array(content, _) => Some(self.ty(content)),
            _ => None,
        };
        let slot = self.set.slot();
        let (mut id, mut name) = ("", "");
        let definition = match (ty, content) {
            (IdlType::Sequence(_, bound), Some(content)) => {
                TypeDefinition::Sequence(content, bound.unwrap_or(0))
            }
            (IdlType::Array(_, length), Some(content)) => TypeDefinition::Array(content, *length),
            (IdlType::String(bound), _) => TypeDefinition::String(bound.unwrap_or(0)),
            (IdlType::WString(bound), _) => TypeDefinition::WString(bound.unwrap_or(0)),
            (IdlType::Fixed(digits, scale), _) => {
                TypeDefinition::Fixed(u16::from(*digits), i16::from(*scale))
            }
            (IdlType::Object, _) => {
                (id, name) = OBJECT;
                TypeDefinition::Named(TcKind::ObjRef)
            }
            (IdlType::ValueBase, _) => {
                (id, name) = VALUE_BASE;
                TypeDefinition::Value(0, None, &[])
            }
            (simple, _) => TypeDefinition::Simple(kind(simple).unwrap_or(TcKind::Null)),
        };
        self.set.define(slot, id, name, &definition);
        slot
    }
}

/// Which definitions have no TypeCode: those that are no types, bitsets and bitmasks, and types that contain one of these or a
/// map, at any depth. An exception has one whatever it contains.
fn lacking(description: &Description) -> Vec<bool> {
    let definitions = description.definitions();
    let types_of = |kind: &DefinitionKind| -> Vec<IdlType> {
        let members = |members: &[Member]| members.iter().map(|it| it.ty.clone()).collect();
        match kind {
            DefinitionKind::Struct(all) => members(all),
            DefinitionKind::Union(union) => {
                union.cases.iter().map(|it| it.member.ty.clone()).collect()
            }
            DefinitionKind::Alias(ty) | DefinitionKind::ValueBox(ty) => vec![ty.clone()],
            DefinitionKind::Value(value) => value.members.iter().map(|it| it.ty.clone()).collect(),
            _ => Vec::new(),
        }
    };
    let mut lacking: Vec<bool> = definitions
        .iter()
        .map(|definition| match &definition.kind {
            DefinitionKind::Module | DefinitionKind::Constant(..) | DefinitionKind::Bits => true,
            kind => types_of(kind).iter().any(has_map),
        })
        .collect();
    // From the parts to the whole, each part once.
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); definitions.len()];
    for (user, definition) in definitions.iter().enumerate() {
        for ty in types_of(&definition.kind) {
            if let Some(DefinitionIndex(part)) = named(&ty)
                && let Some(users) = users.get_mut(part)
            {
                users.push(user);
            }
        }
    }
    let all = lacking.iter().enumerate();
    let mut open: Vec<usize> = all.filter_map(|(at, lacks)| lacks.then_some(at)).collect();
    while let Some(part) = open.pop() {
        for &user in users.get(part).map_or(&[][..], Vec::as_slice) {
            if let Some(lacks) = lacking.get_mut(user)
                && !*lacks
            {
                *lacks = true;
                open.push(user);
            }
        }
    }
    lacking
}

fn has_map(ty: &IdlType) -> bool {
    match ty {
        IdlType::Map(..) => true,
        IdlType::Sequence(element, _) | IdlType::Array(element, _) => has_map(element),
        _ => false,
    }
}

fn named(ty: &IdlType) -> Option<DefinitionIndex> {
    match ty {
        IdlType::Named(index) => Some(*index),
        IdlType::Sequence(element, _) | IdlType::Array(element, _) => named(element),
        _ => None,
    }
}
