//! The definitions of a repository, as a graph.

use crate::ir::corba::{DefinitionKind, PrimitiveKind};
use crate::types::no_type;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use zorb::{Any, CompletionStatus, SystemException, SystemExceptionKind as Kind, TypeCode, minor};

/// Definitions in one repository, those without names included.
pub const MAX_DEFINITIONS: usize = 1 << 20;

/// The number of a definition, which is the id of its object.
pub(crate) type Key = u32;

/// The repository itself.
pub(crate) const ROOT: Key = 0;

/// A definition.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// `None` for the repository, and for types without names.
    pub(crate) contained: Option<Contained>,
    pub(crate) body: Body,
    /// What it contains, in order.
    pub(crate) children: Vec<Key>,
}

/// What a definition within a container has.
#[derive(Debug, Clone)]
pub(crate) struct Contained {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) container: Key,
}

/// The kinds of interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterfaceKind {
    Plain,
    Abstract,
    Local,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ty: Key,
    pub(crate) mode: crate::ir::corba::ParameterMode,
}

#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) result: Key,
    pub(crate) is_oneway: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) exceptions: Vec<Key>,
    pub(crate) contexts: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Value {
    pub(crate) is_custom: bool,
    pub(crate) is_abstract: bool,
    pub(crate) is_truncatable: bool,
    pub(crate) base: Option<Key>,
    pub(crate) abstract_bases: Vec<Key>,
    pub(crate) supports: Vec<Key>,
    /// Names, and members with their types.
    pub(crate) initializers: Vec<(String, Vec<(String, Key)>)>,
}

/// What a definition is, by the keys of the types that it refers to.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Repository,
    Module,
    Constant(Key, Any),
    Struct(Vec<(String, Key)>),
    Exception(Vec<(String, Key)>),
    /// The type of the discriminator, and a member for each label; that of the default member is `None`.
    Union(Key, Vec<(Option<i128>, String, Key)>),
    Enum(Vec<String>),
    Alias(Key),
    ValueBox(Key),
    Native,
    Interface(InterfaceKind, Vec<Key>),
    Attribute(Key, bool),
    Operation(Operation),
    Value(Value),
    /// Whether it is public.
    ValueMember(Key, bool),
    Primitive(PrimitiveKind),
    String(u32),
    WString(u32),
    Fixed(u16, i16),
    Sequence(Key, u32),
    Array(Key, u32),
}

impl Body {
    pub(crate) const fn kind(&self) -> DefinitionKind {
        use DefinitionKind as K;
        match self {
            Self::Repository => K::DkRepository,
            Self::Module => K::DkModule,
            Self::Constant(..) => K::DkConstant,
            Self::Struct(_) => K::DkStruct,
            Self::Exception(_) => K::DkException,
            Self::Union(..) => K::DkUnion,
            Self::Enum(_) => K::DkEnum,
            Self::Alias(_) => K::DkAlias,
            Self::ValueBox(_) => K::DkValueBox,
            Self::Native => K::DkNative,
            Self::Interface(InterfaceKind::Plain, _) => K::DkInterface,
            Self::Interface(InterfaceKind::Abstract, _) => K::DkAbstractInterface,
            Self::Interface(InterfaceKind::Local, _) => K::DkLocalInterface,
            Self::Attribute(..) => K::DkAttribute,
            Self::Operation(_) => K::DkOperation,
            Self::Value(_) => K::DkValue,
            Self::ValueMember(..) => K::DkValueMember,
            Self::Primitive(_) => K::DkPrimitive,
            Self::String(_) => K::DkString,
            Self::WString(_) => K::DkWstring,
            Self::Fixed(..) => K::DkFixed,
            Self::Sequence(..) => K::DkSequence,
            Self::Array(..) => K::DkArray,
        }
    }

    /// The repository id of the interface of its object.
    pub(crate) const fn interface(&self) -> &'static str {
        match self {
            Self::Repository => "IDL:omg.org/CORBA/Repository:1.0",
            Self::Module => "IDL:omg.org/CORBA/ModuleDef:1.0",
            Self::Constant(..) => "IDL:omg.org/CORBA/ConstantDef:1.0",
            Self::Struct(_) => "IDL:omg.org/CORBA/StructDef:1.0",
            Self::Exception(_) => "IDL:omg.org/CORBA/ExceptionDef:1.0",
            Self::Union(..) => "IDL:omg.org/CORBA/UnionDef:1.0",
            Self::Enum(_) => "IDL:omg.org/CORBA/EnumDef:1.0",
            Self::Alias(_) => "IDL:omg.org/CORBA/AliasDef:1.0",
            Self::ValueBox(_) => "IDL:omg.org/CORBA/ValueBoxDef:1.0",
            Self::Native => "IDL:omg.org/CORBA/NativeDef:1.0",
            Self::Interface(InterfaceKind::Plain, _) => "IDL:omg.org/CORBA/InterfaceDef:1.0",
            Self::Interface(InterfaceKind::Abstract, _) => {
                "IDL:omg.org/CORBA/AbstractInterfaceDef:1.0"
            }
            Self::Interface(InterfaceKind::Local, _) => "IDL:omg.org/CORBA/LocalInterfaceDef:1.0",
            Self::Attribute(..) => "IDL:omg.org/CORBA/AttributeDef:1.0",
            Self::Operation(_) => "IDL:omg.org/CORBA/OperationDef:1.0",
            Self::Value(_) => "IDL:omg.org/CORBA/ValueDef:1.0",
            Self::ValueMember(..) => "IDL:omg.org/CORBA/ValueMemberDef:1.0",
            Self::Primitive(_) => "IDL:omg.org/CORBA/PrimitiveDef:1.0",
            Self::String(_) => "IDL:omg.org/CORBA/StringDef:1.0",
            Self::WString(_) => "IDL:omg.org/CORBA/WstringDef:1.0",
            Self::Fixed(..) => "IDL:omg.org/CORBA/FixedDef:1.0",
            Self::Sequence(..) => "IDL:omg.org/CORBA/SequenceDef:1.0",
            Self::Array(..) => "IDL:omg.org/CORBA/ArrayDef:1.0",
        }
    }

    /// Whether `contents` finds it under this limit.
    pub(crate) fn is_of(&self, limit: DefinitionKind) -> bool {
        use DefinitionKind as K;
        let kind = self.kind();
        match limit {
            K::DkAll => true,
            K::DkTypedef => matches!(
                kind,
                K::DkAlias | K::DkStruct | K::DkUnion | K::DkEnum | K::DkNative | K::DkValueBox
            ),
            limit => kind == limit,
        }
    }

    /// Whether it is a type, which other definitions may have.
    pub(crate) const fn is_type(&self) -> bool {
        !matches!(
            self,
            Self::Repository
                | Self::Module
                | Self::Constant(..)
                | Self::Exception(_)
                | Self::Attribute(..)
                | Self::Operation(_)
                | Self::ValueMember(..)
        )
    }

    /// Whether a definition of this kind may be in it.
    pub(crate) const fn may_contain(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Repository | Self::Primitive(_)) => false,
            (Self::Repository | Self::Module, Self::Attribute(..) | Self::Operation(_)) => false,
            (Self::Repository | Self::Module, Self::ValueMember(..)) => false,
            (Self::Repository | Self::Module, _) => true,
            (Self::Interface(..), Self::Attribute(..) | Self::Operation(_)) => true,
            (Self::Value(_), Self::Attribute(..) | Self::Operation(_) | Self::ValueMember(..)) => {
                true
            }
            (
                Self::Interface(..) | Self::Value(_),
                Self::Constant(..)
                | Self::Struct(_)
                | Self::Exception(_)
                | Self::Union(..)
                | Self::Enum(_)
                | Self::Alias(_)
                | Self::Native,
            ) => true,
            (
                Self::Struct(_) | Self::Union(..) | Self::Exception(_),
                Self::Struct(_) | Self::Union(..) | Self::Enum(_),
            ) => true,
            _ => false,
        }
    }

    /// The definitions that it refers to.
    pub(crate) fn uses(&self) -> Vec<Key> {
        match self {
            Self::Repository | Self::Module | Self::Enum(_) | Self::Native => Vec::new(),
            Self::Primitive(_) | Self::String(_) | Self::WString(_) | Self::Fixed(..) => Vec::new(),
            Self::Constant(ty, _)
            | Self::Alias(ty)
            | Self::ValueBox(ty)
            | Self::Attribute(ty, _)
            | Self::ValueMember(ty, _)
            | Self::Sequence(ty, _)
            | Self::Array(ty, _) => vec![*ty],
            Self::Struct(members) | Self::Exception(members) => {
                members.iter().map(|(_, ty)| *ty).collect()
            }
            Self::Union(discriminator, members) => {
                let members = members.iter().map(|(_, _, ty)| *ty);
                members.chain([*discriminator]).collect()
            }
            Self::Interface(_, bases) => bases.clone(),
            Self::Operation(operation) => {
                let parameters = operation.parameters.iter().map(|it| it.ty);
                let all = parameters.chain([operation.result]);
                all.chain(operation.exceptions.iter().copied()).collect()
            }
            Self::Value(value) => {
                let bases = value.abstract_bases.iter().chain(&value.supports);
                let members = value.initializers.iter().flat_map(|(_, members)| members);
                let members = members.map(|(_, ty)| *ty);
                bases.copied().chain(value.base).chain(members).collect()
            }
        }
    }
}

/// The exceptions of the specification.
pub(crate) fn bad_param(minor: u32, why: impl core::fmt::Display) -> SystemException {
    SystemException::new(Kind::BadParam, minor, CompletionStatus::No).with_detail(why)
}

pub(crate) fn gone() -> SystemException {
    SystemException::new(Kind::ObjectNotExist, 0, CompletionStatus::No)
}

/// The definitions of a repository.
#[derive(Debug)]
pub(crate) struct Store {
    nodes: BTreeMap<Key, Node>,
    by_id: HashMap<String, Key>,
    next: Key,
    /// TypeCodes that have been asked for. Cleared by each change.
    pub(crate) types: Mutex<HashMap<Key, TypeCode>>,
}

/// The kinds of types without parameters, in the order of their numbers.
const PRIMITIVES: [PrimitiveKind; 22] = {
    use PrimitiveKind as P;
    [
        P::PkNull,
        P::PkVoid,
        P::PkShort,
        P::PkLong,
        P::PkUshort,
        P::PkUlong,
        P::PkFloat,
        P::PkDouble,
        P::PkBoolean,
        P::PkChar,
        P::PkOctet,
        P::PkAny,
        P::PkTypeCode,
        P::PkPrincipal,
        P::PkString,
        P::PkObjref,
        P::PkLonglong,
        P::PkUlonglong,
        P::PkLongdouble,
        P::PkWchar,
        P::PkWstring,
        P::PkValueBase,
    ]
};

impl Store {
    pub(crate) fn new() -> Self {
        let mut store = Self {
            nodes: BTreeMap::new(),
            by_id: HashMap::new(),
            next: 0,
            types: Mutex::default(),
        };
        let all = PRIMITIVES.map(Body::Primitive);
        // The repository is the first: `ROOT`.
        for body in core::iter::once(Body::Repository).chain(all) {
            store.insert(None, body);
        }
        store
    }

    pub(crate) fn primitive(kind: PrimitiveKind) -> Key {
        let at = PRIMITIVES.iter().position(|of| *of == kind);
        let at = at.and_then(|at| Key::try_from(at).ok());
        at.unwrap_or_default().saturating_add(1)
    }

    fn insert(&mut self, contained: Option<Contained>, body: Body) -> Key {
        let key = self.next;
        self.next = self.next.saturating_add(1);
        if let Some(contained) = &contained {
            self.by_id.insert(contained.id.clone(), key);
            if let Some(container) = self.nodes.get_mut(&contained.container) {
                container.children.push(key);
            }
        }
        let children = Vec::new();
        self.nodes.insert(
            key,
            Node {
                contained,
                body,
                children,
            },
        );
        key
    }

    fn changed(&mut self) {
        self.types
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn check_room(&self) -> Result<(), SystemException> {
        if self.nodes.len() < MAX_DEFINITIONS && self.next < Key::MAX {
            return Ok(());
        }
        let full = SystemException::new(Kind::ImpLimit, 0, CompletionStatus::No);
        Err(full.with_detail("the repository has as many definitions as it may have"))
    }

    /// Adds a type without a name.
    pub(crate) fn add_anonymous(&mut self, body: Body) -> Result<Key, SystemException> {
        self.check_room()?;
        Ok(self.insert(None, body))
    }

    /// Adds a definition to a container.
    pub(crate) fn add(&mut self, contained: Contained, body: Body) -> Result<Key, SystemException> {
        self.check_room()?;
        if self.by_id.contains_key(&contained.id) {
            let why = format!("{} is defined already", contained.id);
            return Err(bad_param(minor::REPOSITORY_ID_DEFINED, why));
        }
        self.check_name(contained.container, &contained.name, None, &body)?;
        let key = self.insert(Some(contained), body);
        self.changed();
        Ok(key)
    }

    /// Checks that a definition with this name may be in the container.
    pub(crate) fn check_name(
        &self,
        container: Key,
        name: &str,
        itself: Option<Key>,
        body: &Body,
    ) -> Result<(), SystemException> {
        let at = self.get(container)?;
        if !at.body.may_contain(body) {
            let why = "a definition of this kind cannot be there";
            return Err(bad_param(minor::NOT_A_CONTAINER, why));
        }
        // Names of IDL that differ in case alone are the same.
        let is_used = |key: &Key| {
            let named = self.nodes.get(key).and_then(|node| node.contained.as_ref());
            Some(*key) != itself && named.is_some_and(|it| it.name.eq_ignore_ascii_case(name))
        };
        if name.is_empty() || at.children.iter().any(is_used) {
            return Err(bad_param(
                minor::NAME_USED,
                format!("the name {name:?} is used"),
            ));
        }
        if matches!(body, Body::Attribute(..) | Body::Operation(_))
            && self.inherited(container).iter().any(is_used)
        {
            let why = format!("the name {name:?} is inherited");
            return Err(bad_param(minor::INHERITED_NAME_CLASH, why));
        }
        Ok(())
    }

    pub(crate) fn get(&self, key: Key) -> Result<&Node, SystemException> {
        self.nodes.get(&key).ok_or_else(gone)
    }

    /// The definition with this number, to be changed.
    pub(crate) fn get_mut(&mut self, key: Key) -> Result<&mut Node, SystemException> {
        self.changed();
        self.nodes.get_mut(&key).ok_or_else(gone)
    }

    pub(crate) fn contained(&self, key: Key) -> Result<&Contained, SystemException> {
        self.get(key)?.contained.as_ref().ok_or_else(gone)
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<Key> {
        self.by_id.get(id).copied()
    }

    /// The repository id of a definition; empty for the repository.
    pub(crate) fn id(&self, key: Key) -> String {
        self.contained(key)
            .map_or_else(|_| String::new(), |it| it.id.clone())
    }

    pub(crate) fn absolute_name(&self, key: Key) -> Result<String, SystemException> {
        let mut name = String::new();
        let mut at = key;
        while let Ok(contained) = self.contained(at) {
            name.insert_str(0, &contained.name);
            name.insert_str(0, "::");
            at = contained.container;
        }
        Ok(name)
    }

    /// The bases of an interface or a value, direct ones and others, each once.
    pub(crate) fn ancestors(&self, key: Key) -> Vec<Key> {
        let mut found: Vec<Key> = Vec::new();
        let mut seen = std::collections::HashSet::from([key]);
        let mut open = vec![key];
        while let Some(at) = open.pop() {
            let bases = match self.nodes.get(&at).map(|node| &node.body) {
                Some(Body::Interface(_, bases)) => bases.clone(),
                Some(Body::Value(value)) => {
                    let bases = value.base.iter().chain(&value.abstract_bases);
                    bases.chain(&value.supports).copied().collect()
                }
                _ => Vec::new(),
            };
            for base in bases {
                if seen.insert(base) {
                    found.push(base);
                    open.push(base);
                }
            }
        }
        found
    }

    /// What the bases of an interface or a value contain.
    pub(crate) fn inherited(&self, key: Key) -> Vec<Key> {
        let ancestors = self.ancestors(key).into_iter();
        let nodes = ancestors.filter_map(|base| self.nodes.get(&base));
        nodes
            .flat_map(|node| node.children.iter().copied())
            .collect()
    }

    /// What a container has, of a kind.
    pub(crate) fn contents(
        &self,
        key: Key,
        limit: DefinitionKind,
        exclude_inherited: bool,
    ) -> Result<Vec<Key>, SystemException> {
        let mut all = self.get(key)?.children.clone();
        if !exclude_inherited {
            all.extend(self.inherited(key));
        }
        all.retain(|key| {
            self.nodes
                .get(key)
                .is_some_and(|node| node.body.is_of(limit))
        });
        Ok(all)
    }

    /// The definition with a scoped name, from the container on, or from the repository if the name begins with `::`.
    pub(crate) fn lookup(&self, from: Key, name: &str) -> Option<Key> {
        let (mut at, path) = match name.strip_prefix("::") {
            Some(path) => (ROOT, path),
            None => (from, name),
        };
        for part in path.split("::") {
            let children = self.contents(at, DefinitionKind::DkAll, false).ok()?;
            at = children
                .into_iter()
                .find(|key| self.contained(*key).is_ok_and(|it| it.name == part))?;
        }
        Some(at)
    }

    /// The definitions with this name in the container, and in what is in it, down to `levels`.
    pub(crate) fn lookup_name(
        &self,
        from: Key,
        name: &str,
        levels: i32,
        (limit, exclude_inherited): (DefinitionKind, bool),
    ) -> Result<Vec<Key>, SystemException> {
        let mut found = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![(from, levels)];
        while let Some((at, levels)) = open.pop() {
            if levels == 0 || !seen.insert(at) {
                continue;
            }
            for key in self.contents(at, DefinitionKind::DkAll, exclude_inherited)? {
                let is_it = self.contained(key).is_ok_and(|it| it.name == name);
                if is_it && self.get(key)?.body.is_of(limit) && !found.contains(&key) {
                    found.push(key);
                }
                if !self.get(key)?.children.is_empty() {
                    open.push((key, levels.saturating_sub(1)));
                }
            }
        }
        Ok(found)
    }

    /// Everything within a definition, and itself.
    fn subtree(&self, key: Key) -> std::collections::HashSet<Key> {
        let mut all = std::collections::HashSet::new();
        let mut open = vec![key];
        while let Some(at) = open.pop() {
            if all.insert(at) {
                open.extend(self.nodes.get(&at).iter().flat_map(|node| &node.children));
            }
        }
        all
    }

    /// Removes a definition with what it contains.
    pub(crate) fn destroy(&mut self, key: Key) -> Result<(), SystemException> {
        let refused = |minor, why| {
            let refused = SystemException::new(Kind::BadInvOrder, minor, CompletionStatus::No);
            refused.with_detail(why)
        };
        if matches!(self.get(key)?.body, Body::Repository | Body::Primitive(_)) {
            return Err(refused(minor::INDESTRUCTIBLE, "it cannot be destroyed"));
        }
        let all = self.subtree(key);
        let mut others = self.nodes.iter().filter(|(other, _)| !all.contains(other));
        if let Some((&user, _)) =
            others.find(|(_, node)| node.body.uses().iter().any(|used| all.contains(used)))
        {
            let why = format!("{:?} refers to it", self.id(user));
            return Err(refused(minor::DEFINITION_IN_USE, &why));
        }
        if let Ok(contained) = self.contained(key).cloned()
            && let Ok(container) = self.get_mut(contained.container)
        {
            container.children.retain(|child| *child != key);
        }
        for key in all {
            if let Some(contained) = self.nodes.remove(&key).and_then(|node| node.contained) {
                self.by_id.remove(&contained.id);
            }
        }
        self.changed();
        Ok(())
    }

    /// Gives a definition another id.
    pub(crate) fn set_id(&mut self, key: Key, id: &str) -> Result<(), SystemException> {
        if self.by_id.get(id).is_some_and(|of| *of != key) {
            let why = format!("{id} is defined already");
            return Err(bad_param(minor::REPOSITORY_ID_DEFINED, why));
        }
        let contained = self.get_mut(key)?.contained.as_mut().ok_or_else(gone)?;
        let before = core::mem::replace(&mut contained.id, id.to_owned());
        self.by_id.remove(&before);
        self.by_id.insert(id.to_owned(), key);
        Ok(())
    }

    /// Moves a definition to a container, under a name.
    pub(crate) fn relocate(
        &mut self,
        key: Key,
        container: Key,
        name: &str,
    ) -> Result<(), SystemException> {
        let node = self.get(key)?;
        let before = node.contained.as_ref().ok_or_else(gone)?.container;
        let itself = (before == container).then_some(key);
        self.check_name(container, name, itself, &node.body)?;
        if self.subtree(key).contains(&container) {
            return Err(bad_param(minor::NOT_A_CONTAINER, "it would contain itself"));
        }
        if before != container {
            self.get_mut(before)?.children.retain(|child| *child != key);
            self.get_mut(container)?.children.push(key);
        }
        if let Some(contained) = &mut self.get_mut(key)?.contained {
            contained.container = container;
            name.clone_into(&mut contained.name);
        }
        Ok(())
    }

    /// Whether each value of a type would contain another value of it, and so on without an end. Sequences, which may be empty,
    /// and values, which may be null, close it.
    fn never_closes(&self, key: Key) -> bool {
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![key];
        while let Some(at) = open.pop() {
            let parts = match self.nodes.get(&at).map(|node| &node.body) {
                Some(
                    body @ (Body::Struct(_)
                    | Body::Exception(_)
                    | Body::Union(..)
                    | Body::Alias(_)
                    | Body::Array(..)),
                ) => body.uses(),
                _ => Vec::new(),
            };
            for part in parts {
                if part == key {
                    return true;
                }
                if seen.insert(part) {
                    open.push(part);
                }
            }
        }
        false
    }

    /// Changes the body of a definition. One that would derive from itself, or of which a type would consist of itself, is left as
    /// it was.
    pub(crate) fn change(
        &mut self,
        key: Key,
        change: impl FnOnce(&mut Body),
    ) -> Result<(), SystemException> {
        let before = self.get(key)?.body.clone();
        change(&mut self.get_mut(key)?.body);
        let checked = match self.get(key)? {
            _ if self.derives_from_itself(key) => {
                Err(bad_param(0, "the definition would derive from itself"))
            }
            _ if self.never_closes(key) => Err(no_type()),
            node if node.body.is_type() || matches!(node.body, Body::Exception(_)) => {
                self.type_code(key).map(|_| ())
            }
            _ => Ok(()),
        };
        if checked.is_err() {
            self.get_mut(key)?.body = before;
        }
        checked
    }

    fn derives_from_itself(&self, key: Key) -> bool {
        let is_base = |base: &Key| self.ancestors(*base).contains(&key);
        self.ancestors(key).iter().any(is_base)
    }
}
