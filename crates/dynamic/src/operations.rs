//! Operations of IDL: requests and replies with checked types.

use crate::IdlTypes;
use zorb::{
    Any, CompletionStatus, ObjectRef, ParameterMode, ParameterType, Request, Signature,
    SystemException, SystemExceptionKind, TypeCode, minor,
};
use zorb_idl::description::{
    DefinitionIndex, DefinitionKind, Direction, IdlType, InterfaceDescription, Operation,
};

/// Why an operation has no [`Signature`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The IDL has no interface with this repository id, or declares it without defining it.
    #[error("the IDL does not define interface {0:?}")]
    UnknownInterface(String),
    /// The interface has no operation with this name, nor do its bases.
    #[error("interface {interface:?} has no operation {operation:?}")]
    UnknownOperation {
        /// The repository id of the interface.
        interface: String,
        /// The name on the wire.
        operation: String,
    },
    /// A type of the operation has no TypeCode in CORBA, such as a map.
    #[error("operation {0:?} has a type that CORBA has no TypeCode of")]
    NoTypeCode(String),
}

/// INTF_REPOS for an unknown interface, BAD_OPERATION for an unknown operation, BAD_TYPECODE.
impl From<SignatureError> for SystemException {
    fn from(error: SignatureError) -> Self {
        let (kind, minor) = match &error {
            SignatureError::UnknownInterface(_) => {
                (SystemExceptionKind::IntfRepos, minor::NO_REPOSITORY_ENTRY)
            }
            SignatureError::UnknownOperation { .. } => {
                (SystemExceptionKind::BadOperation, minor::NO_SUCH_OPERATION)
            }
            SignatureError::NoTypeCode(_) => (SystemExceptionKind::BadTypecode, 0),
        };
        Self::new(kind, minor, CompletionStatus::No).with_local_detail(error)
    }
}

impl IdlTypes {
    /// Returns the types of an operation. `interface`: the repository id of an interface of the IDL; `operation`: a name on the
    /// wire, of an operation of the interface or of its bases, `_get_x` and `_set_x` for an attribute `x`.
    ///
    /// Looks at each operation of the interface, and allocates; a program that calls an operation often keeps its signature.
    ///
    /// # Errors
    /// An interface or an operation that the IDL does not have, or a type without a TypeCode.
    pub fn signature(&self, interface: &str, operation: &str) -> Result<Signature, SignatureError> {
        let found = self.interface(interface)?;
        let bases = found
            .ancestors
            .iter()
            .filter_map(|&base| self.described(base));
        let mut all = core::iter::once(found)
            .chain(bases)
            .flat_map(|it| &it.operations);
        let described = all.find(|it| it.wire_name == operation);
        let described = described.ok_or_else(|| SignatureError::UnknownOperation {
            interface: interface.to_owned(),
            operation: operation.to_owned(),
        })?;
        let signature = self.signature_of(described);
        signature.ok_or_else(|| SignatureError::NoTypeCode(operation.to_owned()))
    }

    /// Makes a request for an operation of `object`, which has the interface with the repository id `interface`: see
    /// [`signature`](Self::signature) and [`Signature::request`].
    ///
    /// ```no_run
    /// use zorb::{Any, Orb};
    /// use zorb_dynamic::IdlTypes;
    ///
    /// # async fn example(orb: Orb) -> Result<(), Box<dyn std::error::Error>> {
    /// let types = IdlTypes::from_text("bank.idl", "interface Account { double deposit(in long cents); };")?;
    /// let account = orb.string_to_object("corbaloc::bank.example:2809/Account").await?;
    /// let deposit = types.request(&account, "IDL:Account:1.0", "deposit", &[Any::new(&500_i32)?])?;
    /// println!("{:?}", deposit.invoke().await?.result);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// INTF_REPOS for an unknown interface, BAD_OPERATION for an unknown operation, BAD_PARAM for arguments of other types.
    pub fn request(
        &self,
        object: &ObjectRef,
        interface: &str,
        operation: &str,
        arguments: &[Any],
    ) -> Result<Request, SystemException> {
        self.signature(interface, operation)?
            .request(object, arguments)
    }

    /// Whether the interface with the repository id `interface` is, or derives from, the one with the id `base`. `false` for an
    /// interface that the IDL does not define.
    #[must_use]
    pub fn derives(&self, interface: &str, base: &str) -> bool {
        self.interface(interface).is_ok_and(|found| {
            let is_base =
                |&at| (self.description().get(at)).is_some_and(|it| it.repository_id == base);
            interface == base || found.ancestors.iter().any(is_base)
        })
    }

    fn interface(&self, repository_id: &str) -> Result<&InterfaceDescription, SignatureError> {
        let found = self
            .index_of(repository_id)
            .and_then(|at| self.described(at));
        let defined = found.filter(|it| it.is_defined);
        defined.ok_or_else(|| SignatureError::UnknownInterface(repository_id.to_owned()))
    }

    fn described(&self, at: DefinitionIndex) -> Option<&InterfaceDescription> {
        match &self.description().get(at)?.kind {
            DefinitionKind::Interface(interface) => Some(interface),
            _ => None,
        }
    }

    /// Returns the types of an operation of the [description](Self::description); `None` if one of them has no TypeCode.
    #[must_use]
    pub fn signature_of(&self, operation: &Operation) -> Option<Signature> {
        let mut signature = Signature::new(&*operation.wire_name);
        signature.is_oneway = operation.is_oneway;
        if let Some(result) = &operation.result {
            signature.result = Some(self.type_code(result)?);
        }
        for parameter in &operation.parameters {
            signature.parameters.push(ParameterType {
                name: parameter.name.clone(),
                mode: match parameter.direction {
                    Direction::In => ParameterMode::In,
                    Direction::Out => ParameterMode::Out,
                    Direction::InOut => ParameterMode::InOut,
                },
                ty: self.type_code(&parameter.ty)?,
            });
        }
        let raises = operation.raises.iter();
        let raises: Option<Vec<TypeCode>> = raises
            .map(|&exception| self.type_code(&IdlType::Named(exception)))
            .collect();
        signature.raises = raises?;
        if !operation.contexts.is_empty() {
            signature.context = Some(operation.contexts.clone());
        }
        Some(signature)
    }
}
