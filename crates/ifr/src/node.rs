//! The objects of a repository: one servant for each definition, made for each request.

use crate::ir::corba::{
    self, AbstractInterfaceDefRef, AliasDef, AliasDefRef, ArrayDef, ArrayDefRef, AttributeDef,
    AttributeDefRef, AttributeDescription, AttributeMode, ConstantDef, ConstantDefRef,
    ConstantDescription, ContainedRef, Container, ContainerRef, DefinitionKind, EnumDef,
    EnumDefRef, ExceptionDef, ExceptionDefRef, ExceptionDescription, FixedDef, FixedDefRef,
    IDLType, IDLTypeRef, IRObject, Initializer, InterfaceDef, InterfaceDefRef,
    InterfaceDescription, LocalInterfaceDefRef, ModuleDef, ModuleDefRef, ModuleDescription,
    NativeDef, NativeDefRef, OperationDef, OperationDefRef, OperationDescription, OperationMode,
    ParameterDescription, PrimitiveDef, PrimitiveDefRef, PrimitiveKind, Repository, RepositoryRef,
    SequenceDef, SequenceDefRef, StringDef, StringDefRef, StructDef, StructDefRef, StructMember,
    TypeDescription, TypedefDef, UnionDef, UnionDefRef, UnionMember, ValueBoxDef, ValueBoxDefRef,
    ValueDef, ValueDefRef, ValueDescription, ValueMember, ValueMemberDef, ValueMemberDefRef,
    WstringDef, WstringDefRef, contained, container, interface_def, value_def,
};
use crate::label;
use crate::store::{
    Body, Contained as Named, InterfaceKind, Key, Operation, Parameter, ROOT, Store, Value,
    bad_param, gone,
};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use zorb::{
    Any, Error, Interface, ObjectId, Poa, PoaCurrent, Servant, ServantLocator, ServantManagerError,
    SystemException, TcKind, TypeCode, minor,
};

type Done<T> = Result<T, SystemException>;

/// The servant of a definition.
pub(crate) struct Node {
    key: Key,
    store: Arc<RwLock<Store>>,
}

/// Finds the servant of each request by the number that is the object's id.
pub(crate) struct Locator(pub(crate) Arc<RwLock<Store>>);

impl ServantLocator for Locator {
    type Cookie = ();

    async fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        // Ids come from keys, which any client can make up.
        let key = key_of(id).ok_or_else(gone)?;
        let node = Node {
            key,
            store: Arc::clone(&self.0),
        };
        Ok((node.servant()?, ()))
    }
}

fn key_of(id: &ObjectId) -> Option<Key> {
    core::str::from_utf8(id.as_ref()).ok()?.parse().ok()
}

fn code(error: Error) -> SystemException {
    error.into()
}

impl Node {
    fn read(&self) -> RwLockReadGuard<'_, Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Store> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The servant with the skeleton of its kind.
    fn servant(self) -> Done<Servant> {
        let body = self.read().get(self.key)?.body.clone();
        Ok(match body {
            Body::Repository => corba::RepositoryServant::new(self).into(),
            Body::Module => corba::ModuleDefServant::new(self).into(),
            Body::Constant(..) => corba::ConstantDefServant::new(self).into(),
            Body::Struct(_) => corba::StructDefServant::new(self).into(),
            Body::Exception(_) => corba::ExceptionDefServant::new(self).into(),
            Body::Union(..) => corba::UnionDefServant::new(self).into(),
            Body::Enum(_) => corba::EnumDefServant::new(self).into(),
            Body::Alias(_) => corba::AliasDefServant::new(self).into(),
            Body::ValueBox(_) => corba::ValueBoxDefServant::new(self).into(),
            Body::Native => corba::NativeDefServant::new(self).into(),
            Body::Interface(InterfaceKind::Plain, _) => {
                corba::InterfaceDefServant::new(self).into()
            }
            Body::Interface(InterfaceKind::Abstract, _) => {
                corba::AbstractInterfaceDefServant::new(self).into()
            }
            Body::Interface(InterfaceKind::Local, _) => {
                corba::LocalInterfaceDefServant::new(self).into()
            }
            Body::Attribute(..) => corba::AttributeDefServant::new(self).into(),
            Body::Operation(_) => corba::OperationDefServant::new(self).into(),
            Body::Value(_) => corba::ValueDefServant::new(self).into(),
            Body::ValueMember(..) => corba::ValueMemberDefServant::new(self).into(),
            Body::Primitive(_) => corba::PrimitiveDefServant::new(self).into(),
            Body::String(_) => corba::StringDefServant::new(self).into(),
            Body::WString(_) => corba::WstringDefServant::new(self).into(),
            Body::Fixed(..) => corba::FixedDefServant::new(self).into(),
            Body::Sequence(..) => corba::SequenceDefServant::new(self).into(),
            Body::Array(..) => corba::ArrayDefServant::new(self).into(),
        })
    }

    fn body(&self) -> Done<Body> {
        Ok(self.read().get(self.key)?.body.clone())
    }

    /// The key of an object of this repository.
    fn key(&self, object: Option<&impl Interface>) -> Done<Key> {
        let foreign = || bad_param(0, "the object is not of this repository");
        let object = object.ok_or_else(|| bad_param(0, "the reference is nil"))?;
        let poa = PoaCurrent::get_poa()?;
        let id = poa.reference_to_id(object).map_err(|_| foreign())?;
        let key = key_of(&id).ok_or_else(foreign)?;
        self.read().get(key).map_err(|_| foreign())?;
        Ok(key)
    }

    /// The key of a type of this repository.
    fn type_key(&self, object: Option<&IDLTypeRef>) -> Done<Key> {
        let key = self.key(object)?;
        match self.read().get(key)?.body.is_type() {
            true => Ok(key),
            false => Err(bad_param(0, "the object is no type")),
        }
    }

    fn keys<T: Interface>(
        &self,
        objects: &[Option<T>],
        is_one: impl Fn(&Body) -> bool,
    ) -> Done<Vec<Key>> {
        let mut all = Vec::new();
        for object in objects {
            let key = self.key(object.as_ref())?;
            if !is_one(&self.read().get(key)?.body) {
                return Err(bad_param(0, "the object is of another kind"));
            }
            all.push(key);
        }
        Ok(all)
    }

    fn members(&self, members: &[StructMember]) -> Done<Vec<(String, Key)>> {
        let mut all: Vec<(String, Key)> = Vec::new();
        for member in members {
            if member.name.is_empty() || all.iter().any(|(name, _)| *name == member.name) {
                let why = format!("the member name {:?}", member.name);
                return Err(bad_param(minor::BAD_MEMBER_NAME, why));
            }
            all.push((
                member.name.clone(),
                self.type_key(member.type_def.as_ref())?,
            ));
        }
        Ok(all)
    }

    fn union_members(
        &self,
        discriminator: Key,
        members: &[UnionMember],
    ) -> Done<Vec<(Option<i128>, String, Key)>> {
        let ty = self.read().type_code(discriminator)?;
        let is_discriminator = matches!(
            ty.unaliased().kind(),
            TcKind::Short
                | TcKind::UShort
                | TcKind::Long
                | TcKind::ULong
                | TcKind::LongLong
                | TcKind::ULongLong
                | TcKind::Boolean
                | TcKind::Char
                | TcKind::WChar
                | TcKind::Octet
                | TcKind::Enum
        );
        if !is_discriminator {
            return Err(bad_param(minor::BAD_DISCRIMINATOR, ty));
        }
        let mut all: Vec<(Option<i128>, String, Key)> = Vec::new();
        for member in members {
            let Some(label) = label::of(&ty, &member.label) else {
                let why = member.label.type_code();
                return Err(bad_param(minor::WRONG_LABEL_TYPE, why));
            };
            if all.iter().any(|(other, ..)| *other == label) {
                return Err(bad_param(minor::DUPLICATE_LABEL, &member.label));
            }
            let ty = self.type_key(member.type_def.as_ref())?;
            all.push((label, member.name.clone(), ty));
        }
        Ok(all)
    }

    fn type_code(&self, key: Key) -> Done<TypeCode> {
        self.read().type_code(key)
    }

    fn struct_members(&self, members: &[(String, Key)]) -> Done<Vec<StructMember>> {
        let member = |(name, ty): &(String, Key)| {
            Ok(StructMember {
                name: name.clone(),
                type_: self.type_code(*ty)?,
                type_def: self.reference(*ty)?,
            })
        };
        members.iter().map(member).collect()
    }

    /// The reference of a definition.
    fn reference<T: Interface>(&self, key: Key) -> Done<Option<T>> {
        reference(&PoaCurrent::get_poa()?, &self.read(), key).map(Some)
    }

    fn references<T: Interface>(&self, keys: &[Key]) -> Done<Vec<Option<T>>> {
        keys.iter().map(|key| self.reference(*key)).collect()
    }

    fn ids(&self, keys: &[Key]) -> Vec<String> {
        keys.iter().map(|key| self.read().id(*key)).collect()
    }

    fn create<T: Interface>(
        &self,
        (id, name, version): (&str, &str, &str),
        body: Body,
    ) -> Done<Option<T>> {
        let contained = Named {
            id: id.to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            container: self.key,
        };
        if id.is_empty() {
            return Err(bad_param(
                minor::BAD_TYPE_CODE_ID,
                "the repository id is empty",
            ));
        }
        let is_type = body.is_type() || matches!(body, Body::Exception(_));
        let mut store = self.write();
        let key = store.add(contained, body)?;
        // A definition that has no TypeCode is taken back.
        if is_type && let Err(refused) = store.type_code(key) {
            store.destroy(key)?;
            return Err(refused);
        }
        drop(store);
        self.reference(key)
    }

    fn create_anonymous<T: Interface>(&self, body: Body) -> Done<Option<T>> {
        let key = self.write().add_anonymous(body)?;
        self.reference(key)
    }

    fn change(&self, change: impl FnOnce(&mut Body)) -> Done<()> {
        self.write().change(self.key, change)
    }

    fn exception_description(&self, key: Key) -> Done<ExceptionDescription> {
        let store = self.read();
        let of = store.contained(key)?;
        Ok(ExceptionDescription {
            name: of.name.clone(),
            id: of.id.clone(),
            defined_in: store.id(of.container),
            version: of.version.clone(),
            type_: store.type_code(key)?,
        })
    }

    fn attribute_description(&self, key: Key) -> Done<Option<AttributeDescription>> {
        let store = self.read();
        let (of, node) = (store.contained(key)?, store.get(key)?);
        let Body::Attribute(ty, is_readonly) = &node.body else {
            return Ok(None);
        };
        Ok(Some(AttributeDescription {
            name: of.name.clone(),
            id: of.id.clone(),
            defined_in: store.id(of.container),
            version: of.version.clone(),
            type_: store.type_code(*ty)?,
            mode: attribute_mode(*is_readonly),
        }))
    }

    fn operation_description(&self, key: Key) -> Done<Option<OperationDescription>> {
        let (of, body) = {
            let store = self.read();
            (store.contained(key)?.clone(), store.get(key)?.body.clone())
        };
        let Body::Operation(operation) = body else {
            return Ok(None);
        };
        let exceptions = operation.exceptions.iter();
        let exceptions: Done<_> = exceptions
            .map(|key| self.exception_description(*key))
            .collect();
        Ok(Some(OperationDescription {
            defined_in: self.read().id(of.container),
            name: of.name,
            id: of.id,
            version: of.version,
            result: self.type_code(operation.result)?,
            mode: operation_mode(operation.is_oneway),
            parameters: self.parameters(&operation)?,
            contexts: operation.contexts,
            exceptions: exceptions?,
        }))
    }

    fn parameters(&self, operation: &Operation) -> Done<Vec<ParameterDescription>> {
        let parameter = |of: &Parameter| {
            Ok(ParameterDescription {
                name: of.name.clone(),
                type_: self.type_code(of.ty)?,
                type_def: self.reference(of.ty)?,
                mode: of.mode,
            })
        };
        operation.parameters.iter().map(parameter).collect()
    }

    fn value_member(&self, key: Key) -> Done<Option<ValueMember>> {
        let (of, body) = {
            let store = self.read();
            (store.contained(key)?.clone(), store.get(key)?.body.clone())
        };
        let Body::ValueMember(ty, is_public) = body else {
            return Ok(None);
        };
        Ok(Some(ValueMember {
            defined_in: self.read().id(of.container),
            name: of.name,
            id: of.id,
            version: of.version,
            type_: self.type_code(ty)?,
            type_def: self.reference(ty)?,
            access: i16::from(is_public),
        }))
    }

    fn initializers(&self, value: &Value) -> Done<Vec<Initializer>> {
        let one = |(name, members): &(String, Vec<(String, Key)>)| {
            Ok(Initializer {
                members: self.struct_members(members)?,
                name: name.clone(),
            })
        };
        value.initializers.iter().map(one).collect()
    }

    /// The description of a definition in a container, as an any of the struct for its kind.
    fn described(&self, key: Key) -> Done<(DefinitionKind, Any)> {
        let (of, body, defined_in) = {
            let store = self.read();
            let of = store.contained(key)?.clone();
            let defined_in = store.id(of.container);
            (of, store.get(key)?.body.clone(), defined_in)
        };
        let kind = body.kind();
        let Named {
            id, name, version, ..
        } = of;
        let value = match &body {
            Body::Module => Any::new(&ModuleDescription {
                name,
                id,
                defined_in,
                version,
            }),
            Body::Constant(ty, value) => Any::new(&ConstantDescription {
                name,
                id,
                defined_in,
                version,
                type_: self.type_code(*ty)?,
                value: value.clone(),
            }),
            Body::Exception(_) => Any::new(&self.exception_description(key)?),
            Body::Interface(_, bases) => Any::new(&InterfaceDescription {
                name,
                id,
                defined_in,
                version,
                base_interfaces: self.ids(bases),
            }),
            Body::Value(value) => Any::new(&ValueDescription {
                name,
                id,
                is_abstract: value.is_abstract,
                is_custom: value.is_custom,
                defined_in,
                version,
                supported_interfaces: self.ids(&value.supports),
                abstract_base_values: self.ids(&value.abstract_bases),
                is_truncatable: value.is_truncatable,
                base_value: value
                    .base
                    .map(|base| self.read().id(base))
                    .unwrap_or_default(),
            }),
            Body::Attribute(..) => Any::new(&self.attribute_description(key)?.ok_or_else(gone)?),
            Body::Operation(_) => Any::new(&self.operation_description(key)?.ok_or_else(gone)?),
            Body::ValueMember(..) => Any::new(&self.value_member(key)?.ok_or_else(gone)?),
            _ => Any::new(&TypeDescription {
                name,
                id,
                defined_in,
                version,
                type_: self.type_code(key)?,
            }),
        };
        Ok((kind, value?))
    }

    /// Operations, and attributes, of an interface or value with those of its bases.
    fn all_operations(&self) -> Done<(Vec<OperationDescription>, Vec<AttributeDescription>)> {
        let all = self
            .read()
            .contents(self.key, DefinitionKind::DkAll, false)?;
        let (mut operations, mut attributes) = (Vec::new(), Vec::new());
        for key in all {
            operations.extend(self.operation_description(key)?);
            attributes.extend(self.attribute_description(key)?);
        }
        Ok((operations, attributes))
    }

    fn derives(&self, id: &str) -> bool {
        let store = self.read();
        let base = match store.get(self.key).map(|node| node.body.kind()) {
            Ok(DefinitionKind::DkValue) => "IDL:omg.org/CORBA/ValueBase:1.0",
            _ => "IDL:omg.org/CORBA/Object:1.0",
        };
        let ancestors = store.ancestors(self.key);
        id == base
            || store.id(self.key) == id
            || ancestors.into_iter().any(|base| store.id(base) == id)
    }

    fn create_attribute_in(
        &self,
        named: (&str, &str, &str),
        ty: Option<&IDLTypeRef>,
        mode: AttributeMode,
    ) -> Done<Option<AttributeDefRef>> {
        let ty = self.type_key(ty)?;
        self.create(
            named,
            Body::Attribute(ty, mode == AttributeMode::AttrReadonly),
        )
    }

    fn operation(
        &self,
        (result, mode): (Option<&IDLTypeRef>, OperationMode),
        params: &[ParameterDescription],
        exceptions: &[Option<ExceptionDefRef>],
        contexts: &[String],
    ) -> Done<Operation> {
        let mut parameters = Vec::new();
        for param in params {
            parameters.push(Parameter {
                name: param.name.clone(),
                ty: self.type_key(param.type_def.as_ref())?,
                mode: param.mode,
            });
        }
        let operation = Operation {
            result: self.type_key(result)?,
            is_oneway: mode == OperationMode::OpOneway,
            parameters,
            exceptions: self.keys(exceptions, |body| matches!(body, Body::Exception(_)))?,
            contexts: contexts.to_vec(),
        };
        check_oneway(&operation)?;
        Ok(operation)
    }

    fn change_operation(&self, change: impl FnOnce(&mut Operation) -> Done<()>) -> Done<()> {
        let Body::Operation(mut operation) = self.body()? else {
            return Err(gone());
        };
        change(&mut operation)?;
        check_oneway(&operation)?;
        self.write().get_mut(self.key)?.body = Body::Operation(operation);
        Ok(())
    }

    fn change_value(&self, change: impl FnOnce(&mut Value)) -> Done<()> {
        self.change(|body| {
            if let Body::Value(value) = body {
                change(value);
            }
        })
    }

    fn value(&self) -> Done<Value> {
        match self.body()? {
            Body::Value(value) => Ok(value),
            _ => Err(gone()),
        }
    }
}

/// The reference of a definition in a POA.
pub(crate) fn reference<T: Interface>(poa: &Poa, store: &Store, key: Key) -> Done<T> {
    let interface = store.get(key)?.body.interface();
    let made = poa.create_reference_of_interface(key.to_string(), interface);
    Ok(made.map_err(code)?.unchecked_narrow())
}

const fn attribute_mode(is_readonly: bool) -> AttributeMode {
    match is_readonly {
        true => AttributeMode::AttrReadonly,
        false => AttributeMode::AttrNormal,
    }
}

const fn operation_mode(is_oneway: bool) -> OperationMode {
    match is_oneway {
        true => OperationMode::OpOneway,
        false => OperationMode::OpNormal,
    }
}

/// A one-way operation has neither results nor exceptions.
fn check_oneway(operation: &Operation) -> Done<()> {
    let is_in = |it: &Parameter| it.mode == corba::ParameterMode::ParamIn;
    let is_void = operation.result == Store::primitive(PrimitiveKind::PkVoid);
    let may_be = is_void && operation.exceptions.is_empty();
    match !operation.is_oneway || may_be && operation.parameters.iter().all(is_in) {
        true => Ok(()),
        false => Err(bad_param(
            minor::ONEWAY_WITH_RESULT,
            "a one-way operation with results",
        )),
    }
}

impl IRObject for Node {
    async fn def_kind(&self) -> Done<DefinitionKind> {
        Ok(self.body()?.kind())
    }

    async fn destroy(&self) -> Done<()> {
        self.write().destroy(self.key)
    }
}

impl corba::Contained for Node {
    async fn id(&self) -> Done<String> {
        Ok(self.read().contained(self.key)?.id.clone())
    }

    async fn set_id(&self, value: &str) -> Done<()> {
        self.write().set_id(self.key, value)
    }

    async fn name(&self) -> Done<String> {
        Ok(self.read().contained(self.key)?.name.clone())
    }

    async fn set_name(&self, value: &str) -> Done<()> {
        let mut store = self.write();
        let container = store.contained(self.key)?.container;
        store.relocate(self.key, container, value)
    }

    async fn version(&self) -> Done<String> {
        Ok(self.read().contained(self.key)?.version.clone())
    }

    async fn set_version(&self, value: &str) -> Done<()> {
        let mut store = self.write();
        let contained = store.get_mut(self.key)?.contained.as_mut();
        value.clone_into(&mut contained.ok_or_else(gone)?.version);
        Ok(())
    }

    async fn defined_in(&self) -> Done<Option<ContainerRef>> {
        let container = self.read().contained(self.key)?.container;
        self.reference(container)
    }

    async fn absolute_name(&self) -> Done<String> {
        self.read().absolute_name(self.key)
    }

    async fn containing_repository(&self) -> Done<Option<RepositoryRef>> {
        self.reference(ROOT)
    }

    async fn describe(&self) -> Done<contained::Description> {
        let (kind, value) = self.described(self.key)?;
        Ok(contained::Description { kind, value })
    }

    async fn move_(
        &self,
        new_container: Option<ContainerRef>,
        new_name: &str,
        new_version: &str,
    ) -> Done<()> {
        let container = self.key(new_container.as_ref())?;
        let mut store = self.write();
        store.relocate(self.key, container, new_name)?;
        if let Some(contained) = &mut store.get_mut(self.key)?.contained {
            new_version.clone_into(&mut contained.version);
        }
        Ok(())
    }
}

impl Container for Node {
    async fn lookup(&self, search_name: &str) -> Done<Option<ContainedRef>> {
        let found = self.read().lookup(self.key, search_name);
        found.map_or(Ok(None), |key| self.reference(key))
    }

    async fn contents(
        &self,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
    ) -> Done<Vec<Option<ContainedRef>>> {
        let found = self
            .read()
            .contents(self.key, limit_type, exclude_inherited)?;
        self.references(&found)
    }

    async fn lookup_name(
        &self,
        search_name: &str,
        levels_to_search: i32,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
    ) -> Done<Vec<Option<ContainedRef>>> {
        let limits = (limit_type, exclude_inherited);
        let found = (self.read()).lookup_name(self.key, search_name, levels_to_search, limits)?;
        self.references(&found)
    }

    async fn describe_contents(
        &self,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
        max_returned_objs: i32,
    ) -> Done<Vec<container::Description>> {
        let mut found = self
            .read()
            .contents(self.key, limit_type, exclude_inherited)?;
        // −1 is all of them.
        found.truncate(usize::try_from(max_returned_objs).unwrap_or(usize::MAX));
        let describe = |key: Key| {
            let (kind, value) = self.described(key)?;
            Ok(container::Description {
                contained_object: self.reference(key)?,
                kind,
                value,
            })
        };
        found.into_iter().map(describe).collect()
    }

    async fn create_module(
        &self,
        id: &str,
        name: &str,
        version: &str,
    ) -> Done<Option<ModuleDefRef>> {
        self.create((id, name, version), Body::Module)
    }

    async fn create_constant(
        &self,
        id: &str,
        name: &str,
        version: &str,
        type_: Option<IDLTypeRef>,
        value: &Any,
    ) -> Done<Option<ConstantDefRef>> {
        let ty = self.type_key(type_.as_ref())?;
        check_value(&self.type_code(ty)?, value)?;
        self.create((id, name, version), Body::Constant(ty, value.clone()))
    }

    async fn create_struct(
        &self,
        id: &str,
        name: &str,
        version: &str,
        members: &[StructMember],
    ) -> Done<Option<StructDefRef>> {
        let body = Body::Struct(self.members(members)?);
        self.create((id, name, version), body)
    }

    async fn create_union(
        &self,
        id: &str,
        name: &str,
        version: &str,
        discriminator_type: Option<IDLTypeRef>,
        members: &[UnionMember],
    ) -> Done<Option<UnionDefRef>> {
        let discriminator = self.type_key(discriminator_type.as_ref())?;
        let members = self.union_members(discriminator, members)?;
        self.create((id, name, version), Body::Union(discriminator, members))
    }

    async fn create_enum(
        &self,
        id: &str,
        name: &str,
        version: &str,
        members: &[String],
    ) -> Done<Option<EnumDefRef>> {
        self.create((id, name, version), Body::Enum(members.to_vec()))
    }

    async fn create_alias(
        &self,
        id: &str,
        name: &str,
        version: &str,
        original_type: Option<IDLTypeRef>,
    ) -> Done<Option<AliasDefRef>> {
        let body = Body::Alias(self.type_key(original_type.as_ref())?);
        self.create((id, name, version), body)
    }

    async fn create_interface(
        &self,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<InterfaceDefRef>],
    ) -> Done<Option<InterfaceDefRef>> {
        let bases = self.keys(base_interfaces, is_interface)?;
        self.create(
            (id, name, version),
            Body::Interface(InterfaceKind::Plain, bases),
        )
    }

    async fn create_value(
        &self,
        id: &str,
        name: &str,
        version: &str,
        is_custom: bool,
        is_abstract: bool,
        base_value: Option<ValueDefRef>,
        is_truncatable: bool,
        abstract_base_values: &[Option<ValueDefRef>],
        supported_interfaces: &[Option<InterfaceDefRef>],
        initializers: &[Initializer],
    ) -> Done<Option<ValueDefRef>> {
        let mut value = Value {
            is_custom,
            is_abstract,
            is_truncatable,
            abstract_bases: self.keys(abstract_base_values, is_value)?,
            supports: self.keys(supported_interfaces, is_interface)?,
            ..Value::default()
        };
        if base_value.is_some() {
            value.base = self.keys(&[base_value], is_value)?.pop();
        }
        self.check_supported(&value)?;
        for initializer in initializers {
            let members = self.members(&initializer.members)?;
            value.initializers.push((initializer.name.clone(), members));
        }
        self.create((id, name, version), Body::Value(value))
    }

    async fn create_value_box(
        &self,
        id: &str,
        name: &str,
        version: &str,
        original_type_def: Option<IDLTypeRef>,
    ) -> Done<Option<ValueBoxDefRef>> {
        let body = Body::ValueBox(self.type_key(original_type_def.as_ref())?);
        self.create((id, name, version), body)
    }

    async fn create_exception(
        &self,
        id: &str,
        name: &str,
        version: &str,
        members: &[StructMember],
    ) -> Done<Option<ExceptionDefRef>> {
        let body = Body::Exception(self.members(members)?);
        self.create((id, name, version), body)
    }

    async fn create_native(
        &self,
        id: &str,
        name: &str,
        version: &str,
    ) -> Done<Option<NativeDefRef>> {
        self.create((id, name, version), Body::Native)
    }

    async fn create_abstract_interface(
        &self,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<AbstractInterfaceDefRef>],
    ) -> Done<Option<AbstractInterfaceDefRef>> {
        let bases = self.keys(base_interfaces, is_interface)?;
        for base in &bases {
            let is_abstract = matches!(
                self.read().get(*base)?.body,
                Body::Interface(InterfaceKind::Abstract, _)
            );
            if !is_abstract {
                let why = "a base of an abstract interface is not abstract";
                return Err(bad_param(minor::CONCRETE_BASE_OF_ABSTRACT, why));
            }
        }
        self.create(
            (id, name, version),
            Body::Interface(InterfaceKind::Abstract, bases),
        )
    }

    async fn create_local_interface(
        &self,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<InterfaceDefRef>],
    ) -> Done<Option<LocalInterfaceDefRef>> {
        let bases = self.keys(base_interfaces, is_interface)?;
        self.create(
            (id, name, version),
            Body::Interface(InterfaceKind::Local, bases),
        )
    }
}

fn is_interface(body: &Body) -> bool {
    matches!(body, Body::Interface(..))
}

fn is_value(body: &Body) -> bool {
    matches!(body, Body::Value(_))
}

impl Node {
    /// A value type supports at most one interface that is not abstract.
    fn check_supported(&self, value: &Value) -> Done<()> {
        let store = self.read();
        let is_concrete = |key: &&Key| {
            let body = store.get(**key).map(|node| &node.body);
            !matches!(body, Ok(Body::Interface(InterfaceKind::Abstract, _)))
        };
        match value.supports.iter().filter(is_concrete).count() {
            0 | 1 => Ok(()),
            _ => Err(bad_param(
                minor::TWO_CONCRETE_INTERFACES,
                "two concrete interfaces",
            )),
        }
    }
}

fn check_value(ty: &TypeCode, value: &Any) -> Done<()> {
    match ty.unaliased().equivalent(&value.type_code().unaliased()) {
        true => Ok(()),
        false => Err(bad_param(
            0,
            format!("expected {ty}, found {}", value.type_code()),
        )),
    }
}

impl IDLType for Node {
    async fn type_(&self) -> Done<TypeCode> {
        self.type_code(self.key)
    }
}

impl Repository for Node {
    async fn lookup_id(&self, search_id: &str) -> Done<Option<ContainedRef>> {
        let found = self.read().by_id(search_id);
        found.map_or(Ok(None), |key| self.reference(key))
    }

    async fn get_canonical_typecode(&self, tc: &TypeCode) -> Done<TypeCode> {
        let store = self.read();
        match tc.id().and_then(|id| store.by_id(id)) {
            Some(key) => store.type_code(key),
            None => Ok(tc.clone()),
        }
    }

    async fn get_primitive(&self, kind: PrimitiveKind) -> Done<Option<PrimitiveDefRef>> {
        self.reference(Store::primitive(kind))
    }

    async fn create_string(&self, bound: u32) -> Done<Option<StringDefRef>> {
        self.create_anonymous(Body::String(bound))
    }

    async fn create_wstring(&self, bound: u32) -> Done<Option<WstringDefRef>> {
        self.create_anonymous(Body::WString(bound))
    }

    async fn create_sequence(
        &self,
        bound: u32,
        element_type: Option<IDLTypeRef>,
    ) -> Done<Option<SequenceDefRef>> {
        let element = self.type_key(element_type.as_ref())?;
        self.create_anonymous(Body::Sequence(element, bound))
    }

    async fn create_array(
        &self,
        length: u32,
        element_type: Option<IDLTypeRef>,
    ) -> Done<Option<ArrayDefRef>> {
        let element = self.type_key(element_type.as_ref())?;
        self.create_anonymous(Body::Array(element, length))
    }

    async fn create_fixed(&self, digits: u16, scale: i16) -> Done<Option<FixedDefRef>> {
        if !(1..=31).contains(&digits) {
            return Err(bad_param(0, "a fixed has 1 to 31 digits"));
        }
        self.create_anonymous(Body::Fixed(digits, scale))
    }
}

impl ModuleDef for Node {}
impl TypedefDef for Node {}
impl NativeDef for Node {}
impl corba::AbstractInterfaceDef for Node {}
impl corba::LocalInterfaceDef for Node {}

/// The type of a definition that has one, and its change.
macro_rules! typed {
    ($variant:ident) => {
        async fn type_(&self) -> Done<TypeCode> {
            match self.body()? {
                Body::$variant(ty, _) => self.type_code(ty),
                _ => Err(gone()),
            }
        }

        async fn type_def(&self) -> Done<Option<IDLTypeRef>> {
            match self.body()? {
                Body::$variant(ty, _) => self.reference(ty),
                _ => Err(gone()),
            }
        }

        async fn set_type_def(&self, value: Option<IDLTypeRef>) -> Done<()> {
            let new = self.type_key(value.as_ref())?;
            self.change(|body| {
                if let Body::$variant(ty, _) = body {
                    *ty = new;
                }
            })
        }
    };
}

impl ConstantDef for Node {
    async fn type_(&self) -> Done<TypeCode> {
        let Body::Constant(ty, _) = self.body()? else {
            return Err(gone());
        };
        self.type_code(ty)
    }

    async fn type_def(&self) -> Done<Option<IDLTypeRef>> {
        let Body::Constant(ty, _) = self.body()? else {
            return Err(gone());
        };
        self.reference(ty)
    }

    async fn set_type_def(&self, value: Option<IDLTypeRef>) -> Done<()> {
        let ty = self.type_key(value.as_ref())?;
        let Body::Constant(_, value) = self.body()? else {
            return Err(gone());
        };
        check_value(&self.type_code(ty)?, &value)?;
        self.change(|body| *body = Body::Constant(ty, value))
    }

    async fn value(&self) -> Done<Any> {
        match self.body()? {
            Body::Constant(_, value) => Ok(value),
            _ => Err(gone()),
        }
    }

    async fn set_value(&self, value: &Any) -> Done<()> {
        let Body::Constant(ty, _) = self.body()? else {
            return Err(gone());
        };
        check_value(&self.type_code(ty)?, value)?;
        self.write().get_mut(self.key)?.body = Body::Constant(ty, value.clone());
        Ok(())
    }
}

impl AttributeDef for Node {
    typed!(Attribute);

    async fn mode(&self) -> Done<AttributeMode> {
        match self.body()? {
            Body::Attribute(_, is_readonly) => Ok(attribute_mode(is_readonly)),
            _ => Err(gone()),
        }
    }

    async fn set_mode(&self, value: AttributeMode) -> Done<()> {
        if let Body::Attribute(_, is_readonly) = &mut self.write().get_mut(self.key)?.body {
            *is_readonly = value == AttributeMode::AttrReadonly;
        }
        Ok(())
    }
}

impl ValueMemberDef for Node {
    typed!(ValueMember);

    async fn access(&self) -> Done<i16> {
        match self.body()? {
            Body::ValueMember(_, is_public) => Ok(i16::from(is_public)),
            _ => Err(gone()),
        }
    }

    async fn set_access(&self, value: i16) -> Done<()> {
        if let Body::ValueMember(_, is_public) = &mut self.write().get_mut(self.key)?.body {
            *is_public = value == corba::PUBLIC_MEMBER;
        }
        Ok(())
    }
}

impl StructDef for Node {
    async fn members(&self) -> Done<Vec<StructMember>> {
        match self.body()? {
            Body::Struct(members) => self.struct_members(&members),
            _ => Err(gone()),
        }
    }

    async fn set_members(&self, value: &[StructMember]) -> Done<()> {
        let members = Self::members(self, value)?;
        self.change(|body| *body = Body::Struct(members))
    }
}

impl ExceptionDef for Node {
    async fn type_(&self) -> Done<TypeCode> {
        self.type_code(self.key)
    }

    async fn members(&self) -> Done<Vec<StructMember>> {
        match self.body()? {
            Body::Exception(members) => self.struct_members(&members),
            _ => Err(gone()),
        }
    }

    async fn set_members(&self, value: &[StructMember]) -> Done<()> {
        let members = Self::members(self, value)?;
        self.change(|body| *body = Body::Exception(members))
    }
}

impl UnionDef for Node {
    async fn discriminator_type(&self) -> Done<TypeCode> {
        match self.body()? {
            Body::Union(discriminator, _) => self.type_code(discriminator),
            _ => Err(gone()),
        }
    }

    async fn discriminator_type_def(&self) -> Done<Option<IDLTypeRef>> {
        match self.body()? {
            Body::Union(discriminator, _) => self.reference(discriminator),
            _ => Err(gone()),
        }
    }

    async fn set_discriminator_type_def(&self, value: Option<IDLTypeRef>) -> Done<()> {
        let discriminator = self.type_key(value.as_ref())?;
        let ty = self.type_code(discriminator)?;
        let Body::Union(_, members) = self.body()? else {
            return Err(gone());
        };
        let labels = members.iter().filter_map(|(label, ..)| *label);
        if labels
            .map(|label| label::number(&ty, label))
            .any(|label| label.is_none())
        {
            return Err(bad_param(minor::WRONG_LABEL_TYPE, ty));
        }
        self.change(|body| *body = Body::Union(discriminator, members))
    }

    async fn members(&self) -> Done<Vec<UnionMember>> {
        let Body::Union(discriminator, members) = self.body()? else {
            return Err(gone());
        };
        let discriminator = self.type_code(discriminator)?;
        let mut all = Vec::new();
        for (label, name, ty) in members {
            let label = match label {
                Some(label) => label::number(&discriminator, label).ok_or_else(gone)?,
                None => Any::new(&0_u8)?,
            };
            all.push(UnionMember {
                name,
                label,
                type_: self.type_code(ty)?,
                type_def: self.reference(ty)?,
            });
        }
        Ok(all)
    }

    async fn set_members(&self, value: &[UnionMember]) -> Done<()> {
        let Body::Union(discriminator, _) = self.body()? else {
            return Err(gone());
        };
        let members = self.union_members(discriminator, value)?;
        self.change(|body| *body = Body::Union(discriminator, members))
    }
}

impl EnumDef for Node {
    async fn members(&self) -> Done<Vec<String>> {
        match self.body()? {
            Body::Enum(names) => Ok(names),
            _ => Err(gone()),
        }
    }

    async fn set_members(&self, value: &[String]) -> Done<()> {
        self.change(|body| *body = Body::Enum(value.to_vec()))
    }
}

impl AliasDef for Node {
    async fn original_type_def(&self) -> Done<Option<IDLTypeRef>> {
        match self.body()? {
            Body::Alias(ty) => self.reference(ty),
            _ => Err(gone()),
        }
    }

    async fn set_original_type_def(&self, value: Option<IDLTypeRef>) -> Done<()> {
        let ty = self.type_key(value.as_ref())?;
        self.change(|body| *body = Body::Alias(ty))
    }
}

impl ValueBoxDef for Node {
    async fn original_type_def(&self) -> Done<Option<IDLTypeRef>> {
        match self.body()? {
            Body::ValueBox(ty) => self.reference(ty),
            _ => Err(gone()),
        }
    }

    async fn set_original_type_def(&self, value: Option<IDLTypeRef>) -> Done<()> {
        let ty = self.type_key(value.as_ref())?;
        self.change(|body| *body = Body::ValueBox(ty))
    }
}

impl PrimitiveDef for Node {
    async fn kind(&self) -> Done<PrimitiveKind> {
        match self.body()? {
            Body::Primitive(kind) => Ok(kind),
            _ => Err(gone()),
        }
    }
}

impl StringDef for Node {
    async fn bound(&self) -> Done<u32> {
        match self.body()? {
            Body::String(bound) => Ok(bound),
            _ => Err(gone()),
        }
    }

    async fn set_bound(&self, value: u32) -> Done<()> {
        self.change(|body| *body = Body::String(value))
    }
}

impl WstringDef for Node {
    async fn bound(&self) -> Done<u32> {
        match self.body()? {
            Body::WString(bound) => Ok(bound),
            _ => Err(gone()),
        }
    }

    async fn set_bound(&self, value: u32) -> Done<()> {
        self.change(|body| *body = Body::WString(value))
    }
}

impl FixedDef for Node {
    async fn digits(&self) -> Done<u16> {
        match self.body()? {
            Body::Fixed(digits, _) => Ok(digits),
            _ => Err(gone()),
        }
    }

    async fn set_digits(&self, value: u16) -> Done<()> {
        if !(1..=31).contains(&value) {
            return Err(bad_param(0, "a fixed has 1 to 31 digits"));
        }
        let scale = FixedDef::scale(self).await?;
        self.change(|body| *body = Body::Fixed(value, scale))
    }

    async fn scale(&self) -> Done<i16> {
        match self.body()? {
            Body::Fixed(_, scale) => Ok(scale),
            _ => Err(gone()),
        }
    }

    async fn set_scale(&self, value: i16) -> Done<()> {
        let digits = FixedDef::digits(self).await?;
        self.change(|body| *body = Body::Fixed(digits, value))
    }
}

impl SequenceDef for Node {
    async fn bound(&self) -> Done<u32> {
        match self.body()? {
            Body::Sequence(_, bound) => Ok(bound),
            _ => Err(gone()),
        }
    }

    async fn set_bound(&self, value: u32) -> Done<()> {
        self.change(|body| {
            if let Body::Sequence(_, bound) = body {
                *bound = value;
            }
        })
    }

    async fn element_type(&self) -> Done<TypeCode> {
        match self.body()? {
            Body::Sequence(element, _) => self.type_code(element),
            _ => Err(gone()),
        }
    }

    async fn element_type_def(&self) -> Done<Option<IDLTypeRef>> {
        match self.body()? {
            Body::Sequence(element, _) => self.reference(element),
            _ => Err(gone()),
        }
    }

    async fn set_element_type_def(&self, value: Option<IDLTypeRef>) -> Done<()> {
        let ty = self.type_key(value.as_ref())?;
        self.change(|body| {
            if let Body::Sequence(element, _) = body {
                *element = ty;
            }
        })
    }
}

impl ArrayDef for Node {
    async fn length(&self) -> Done<u32> {
        match self.body()? {
            Body::Array(_, length) => Ok(length),
            _ => Err(gone()),
        }
    }

    async fn set_length(&self, value: u32) -> Done<()> {
        self.change(|body| {
            if let Body::Array(_, length) = body {
                *length = value;
            }
        })
    }

    async fn element_type(&self) -> Done<TypeCode> {
        match self.body()? {
            Body::Array(element, _) => self.type_code(element),
            _ => Err(gone()),
        }
    }

    async fn element_type_def(&self) -> Done<Option<IDLTypeRef>> {
        match self.body()? {
            Body::Array(element, _) => self.reference(element),
            _ => Err(gone()),
        }
    }

    async fn set_element_type_def(&self, value: Option<IDLTypeRef>) -> Done<()> {
        let ty = self.type_key(value.as_ref())?;
        self.change(|body| {
            if let Body::Array(element, _) = body {
                *element = ty;
            }
        })
    }
}

impl OperationDef for Node {
    async fn result(&self) -> Done<TypeCode> {
        match self.body()? {
            Body::Operation(operation) => self.type_code(operation.result),
            _ => Err(gone()),
        }
    }

    async fn result_def(&self) -> Done<Option<IDLTypeRef>> {
        match self.body()? {
            Body::Operation(operation) => self.reference(operation.result),
            _ => Err(gone()),
        }
    }

    async fn set_result_def(&self, value: Option<IDLTypeRef>) -> Done<()> {
        let ty = self.type_key(value.as_ref())?;
        self.change_operation(|operation| {
            operation.result = ty;
            Ok(())
        })
    }

    async fn params(&self) -> Done<Vec<ParameterDescription>> {
        match self.body()? {
            Body::Operation(operation) => self.parameters(&operation),
            _ => Err(gone()),
        }
    }

    async fn set_params(&self, value: &[ParameterDescription]) -> Done<()> {
        self.change_operation(|operation| {
            operation.parameters.clear();
            for param in value {
                operation.parameters.push(Parameter {
                    name: param.name.clone(),
                    ty: self.type_key(param.type_def.as_ref())?,
                    mode: param.mode,
                });
            }
            Ok(())
        })
    }

    async fn mode(&self) -> Done<OperationMode> {
        match self.body()? {
            Body::Operation(operation) => Ok(operation_mode(operation.is_oneway)),
            _ => Err(gone()),
        }
    }

    async fn set_mode(&self, value: OperationMode) -> Done<()> {
        self.change_operation(|operation| {
            operation.is_oneway = value == OperationMode::OpOneway;
            Ok(())
        })
    }

    async fn contexts(&self) -> Done<Vec<String>> {
        match self.body()? {
            Body::Operation(operation) => Ok(operation.contexts),
            _ => Err(gone()),
        }
    }

    async fn set_contexts(&self, value: &[String]) -> Done<()> {
        self.change_operation(|operation| {
            operation.contexts = value.to_vec();
            Ok(())
        })
    }

    async fn exceptions(&self) -> Done<Vec<Option<ExceptionDefRef>>> {
        match self.body()? {
            Body::Operation(operation) => self.references(&operation.exceptions),
            _ => Err(gone()),
        }
    }

    async fn set_exceptions(&self, value: &[Option<ExceptionDefRef>]) -> Done<()> {
        let exceptions = self.keys(value, |body| matches!(body, Body::Exception(_)))?;
        self.change_operation(|operation| {
            operation.exceptions = exceptions;
            Ok(())
        })
    }
}

impl InterfaceDef for Node {
    async fn base_interfaces(&self) -> Done<Vec<Option<InterfaceDefRef>>> {
        match self.body()? {
            Body::Interface(_, bases) => self.references(&bases),
            _ => Err(gone()),
        }
    }

    async fn set_base_interfaces(&self, value: &[Option<InterfaceDefRef>]) -> Done<()> {
        let bases = self.keys(value, is_interface)?;
        self.change(|body| {
            if let Body::Interface(_, of) = body {
                *of = bases;
            }
        })
    }

    async fn is_a(&self, interface_id: &str) -> Done<bool> {
        Ok(self.derives(interface_id))
    }

    async fn describe_interface(&self) -> Done<interface_def::FullInterfaceDescription> {
        let (of, body) = {
            let store = self.read();
            (
                store.contained(self.key)?.clone(),
                store.get(self.key)?.body.clone(),
            )
        };
        let Body::Interface(_, bases) = body else {
            return Err(gone());
        };
        let (operations, attributes) = self.all_operations()?;
        Ok(interface_def::FullInterfaceDescription {
            defined_in: self.read().id(of.container),
            name: of.name,
            id: of.id,
            version: of.version,
            operations,
            attributes,
            base_interfaces: self.ids(&bases),
            type_: self.type_code(self.key)?,
        })
    }

    async fn create_attribute(
        &self,
        id: &str,
        name: &str,
        version: &str,
        type_: Option<IDLTypeRef>,
        mode: AttributeMode,
    ) -> Done<Option<AttributeDefRef>> {
        self.create_attribute_in((id, name, version), type_.as_ref(), mode)
    }

    async fn create_operation(
        &self,
        id: &str,
        name: &str,
        version: &str,
        result: Option<IDLTypeRef>,
        mode: OperationMode,
        params: &[ParameterDescription],
        exceptions: &[Option<ExceptionDefRef>],
        contexts: &[String],
    ) -> Done<Option<OperationDefRef>> {
        let operation = self.operation((result.as_ref(), mode), params, exceptions, contexts)?;
        self.create((id, name, version), Body::Operation(operation))
    }
}

impl ValueDef for Node {
    async fn supported_interfaces(&self) -> Done<Vec<Option<InterfaceDefRef>>> {
        self.references(&Self::value(self)?.supports)
    }

    async fn set_supported_interfaces(&self, value: &[Option<InterfaceDefRef>]) -> Done<()> {
        let mut changed = Self::value(self)?;
        changed.supports = self.keys(value, is_interface)?;
        self.check_supported(&changed)?;
        self.change_value(|value| *value = changed)
    }

    async fn initializers(&self) -> Done<Vec<Initializer>> {
        Self::initializers(self, &Self::value(self)?)
    }

    async fn set_initializers(&self, value: &[Initializer]) -> Done<()> {
        let mut all = Vec::new();
        for initializer in value {
            let members = Self::members(self, &initializer.members)?;
            all.push((initializer.name.clone(), members));
        }
        self.change_value(|value| value.initializers = all)
    }

    async fn base_value(&self) -> Done<Option<ValueDefRef>> {
        let base = Self::value(self)?.base;
        base.map_or(Ok(None), |base| self.reference(base))
    }

    async fn set_base_value(&self, value: Option<ValueDefRef>) -> Done<()> {
        let base = match value {
            None => None,
            value => self.keys(&[value], is_value)?.pop(),
        };
        self.change_value(|value| value.base = base)
    }

    async fn abstract_base_values(&self) -> Done<Vec<Option<ValueDefRef>>> {
        self.references(&Self::value(self)?.abstract_bases)
    }

    async fn set_abstract_base_values(&self, value: &[Option<ValueDefRef>]) -> Done<()> {
        let bases = self.keys(value, is_value)?;
        self.change_value(|value| value.abstract_bases = bases)
    }

    async fn is_abstract(&self) -> Done<bool> {
        Ok(Self::value(self)?.is_abstract)
    }

    async fn set_is_abstract(&self, value: bool) -> Done<()> {
        self.change_value(|of| of.is_abstract = value)
    }

    async fn is_custom(&self) -> Done<bool> {
        Ok(Self::value(self)?.is_custom)
    }

    async fn set_is_custom(&self, value: bool) -> Done<()> {
        self.change_value(|of| of.is_custom = value)
    }

    async fn is_truncatable(&self) -> Done<bool> {
        Ok(Self::value(self)?.is_truncatable)
    }

    async fn set_is_truncatable(&self, value: bool) -> Done<()> {
        self.change_value(|of| of.is_truncatable = value)
    }

    async fn is_a(&self, id: &str) -> Done<bool> {
        Ok(self.derives(id))
    }

    async fn describe_value(&self) -> Done<value_def::FullValueDescription> {
        let of = self.read().contained(self.key)?.clone();
        let value = Self::value(self)?;
        let (operations, attributes) = self.all_operations()?;
        let children = self.read().get(self.key)?.children.clone();
        let mut members = Vec::new();
        for child in children {
            members.extend(self.value_member(child)?);
        }
        Ok(value_def::FullValueDescription {
            defined_in: self.read().id(of.container),
            name: of.name,
            id: of.id,
            is_abstract: value.is_abstract,
            is_custom: value.is_custom,
            version: of.version,
            operations,
            attributes,
            members,
            initializers: Self::initializers(self, &value)?,
            supported_interfaces: self.ids(&value.supports),
            abstract_base_values: self.ids(&value.abstract_bases),
            is_truncatable: value.is_truncatable,
            base_value: value
                .base
                .map(|base| self.read().id(base))
                .unwrap_or_default(),
            type_: self.type_code(self.key)?,
        })
    }

    async fn create_value_member(
        &self,
        id: &str,
        name: &str,
        version: &str,
        type_: Option<IDLTypeRef>,
        access: i16,
    ) -> Done<Option<ValueMemberDefRef>> {
        let ty = self.type_key(type_.as_ref())?;
        let body = Body::ValueMember(ty, access == corba::PUBLIC_MEMBER);
        self.create((id, name, version), body)
    }

    async fn create_attribute(
        &self,
        id: &str,
        name: &str,
        version: &str,
        type_: Option<IDLTypeRef>,
        mode: AttributeMode,
    ) -> Done<Option<AttributeDefRef>> {
        self.create_attribute_in((id, name, version), type_.as_ref(), mode)
    }

    async fn create_operation(
        &self,
        id: &str,
        name: &str,
        version: &str,
        result: Option<IDLTypeRef>,
        mode: OperationMode,
        params: &[ParameterDescription],
        exceptions: &[Option<ExceptionDefRef>],
        contexts: &[String],
    ) -> Done<Option<OperationDefRef>> {
        let operation = self.operation((result.as_ref(), mode), params, exceptions, contexts)?;
        self.create((id, name, version), Body::Operation(operation))
    }
}
