//! Reading repositories of any server: their definitions, as IDL text that the IDL compiler reads.
//!
//! The compiler does what has to be done with definitions that a peer has made: it refuses those that contradict each other, and
//! bounds their depth.

use crate::ir::corba::{
    AttributeDescription, AttributeMode, ConstantDescription, ContainedRef, ContainerRef,
    DefinitionKind as Kind, ExceptionDescription, InterfaceDefRef, OperationDescription,
    OperationMode, ParameterMode, RepositoryRef, TypeDescription, ValueDefRef, ValueMember,
    interface_def::FullInterfaceDescription, value_def::FullValueDescription,
};
use crate::store::MAX_DEFINITIONS;
use core::fmt::Write;
use std::collections::HashMap;
use zorb::{Any, ExtractError, Interface, SystemException, TcKind, TypeCode};
use zorb_dynamic::IdlTypes;
use zorb_dynamic::zorb_idl::description::describe_str;
use zorb_dynamic::zorb_idl::{Diagnostics, Options};

/// The most containers within each other that are read.
pub const MAX_CONTAINERS: usize = 64;

/// Why the definitions of a repository cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A call of the repository failed.
    #[error(transparent)]
    Call(#[from] SystemException),
    /// A description is of another type than its kind has.
    #[error("a description has another type than its kind: {0}")]
    Description(#[from] ExtractError),
    /// A name is no identifier of IDL, or a repository id has control characters or quotation marks.
    #[error("{0:?} is no name of IDL")]
    Name(String),
    /// A definition refers to one that the repository does not have.
    #[error("the repository refers to {0:?} and does not have it")]
    Missing(String),
    /// A definition has a type that IDL cannot name.
    #[error("{0:?} has a type that IDL has no name for")]
    Unnamed(String),
    /// More than [`MAX_DEFINITIONS`] definitions, or [`MAX_CONTAINERS`] within each other.
    #[error("the repository has too many definitions")]
    TooLarge,
    /// The definitions contradict each other.
    #[error("the definitions contradict each other: {0}")]
    Contradiction(Diagnostics),
}

/// Reads all definitions of a repository, of this crate or of another ORB.
///
/// Costs some calls for each definition. Definitions of kinds that IDL 2 does not have (components, homes, events), and constants
/// whose values have no literal, are left out.
///
/// # Errors
/// The exceptions of the calls, and definitions that are malformed, missing or contradict each other.
///
/// # Cancel safety
/// Safe: the repository is read only.
pub async fn read(repository: &RepositoryRef) -> Result<IdlTypes, ReadError> {
    let graph = Graph::read(repository).await?;
    let text = Text::of(&graph)?;
    let mut options = Options::default();
    options.lenient = true;
    let description =
        describe_str("repository", &text, &options).map_err(ReadError::Contradiction)?;
    Ok(IdlTypes::new(description))
}

/// A definition of the repository.
struct Node {
    name: String,
    id: String,
    within: Option<usize>,
    inner: Vec<usize>,
    body: Body,
}

enum Body {
    Module,
    /// A struct, union, enum, typedef, native type, value box, or exception.
    Type(TypeCode),
    Interface(Kind, Box<FullInterfaceDescription>),
    Value(Box<FullValueDescription>),
    Constant(TypeCode, Any),
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    /// Those outside of all modules.
    outermost: Vec<usize>,
    by_id: HashMap<String, usize>,
    /// By absolute names such as `Bank.Account`, by which JacORB's repository refers to bases.
    by_name: HashMap<String, usize>,
}

impl Graph {
    async fn read(repository: &RepositoryRef) -> Result<Self, ReadError> {
        let mut graph = Self::default();
        let root: ContainerRef = repository.clone().into();
        let mut open = vec![(root, None, 0_usize)];
        let mut described = 0_usize;
        while let Some((container, within, depth)) = open.pop() {
            if depth > MAX_CONTAINERS {
                return Err(ReadError::TooLarge);
            }
            let contents = container.contents(Kind::DkAll, true).await?;
            let mut inner = Vec::new();
            for contained in contents.into_iter().flatten() {
                // Those that are left out, or there twice, cost a call, too.
                described = described.saturating_add(1);
                if described > MAX_DEFINITIONS {
                    return Err(ReadError::TooLarge);
                }
                let Some(node) = node(&contained, within).await? else {
                    continue;
                };
                // A repository in which containers contain each other would be read for ever.
                if graph.by_id.contains_key(&node.id) {
                    continue;
                }
                let at = graph.nodes.len();
                graph.by_id.insert(node.id.clone(), at);
                let has_inner = match &node.body {
                    Body::Module | Body::Interface(..) | Body::Value(_) => true,
                    Body::Type(ty) => {
                        matches!(ty.kind(), TcKind::Struct | TcKind::Union | TcKind::Except)
                    }
                    Body::Constant(..) => false,
                };
                graph.nodes.push(node);
                inner.push(at);
                if has_inner {
                    let container = contained.as_object().unchecked_narrow();
                    open.push((container, Some(at), depth.saturating_add(1)));
                }
            }
            match within.and_then(|within| graph.nodes.get_mut(within)) {
                Some(node) => node.inner = inner,
                None => graph.outermost = inner,
            }
        }
        for at in 0..graph.nodes.len() {
            let path = graph.path(at);
            let path: Vec<&str> = path.iter().map(|it| it.trim_start_matches('_')).collect();
            let name = path.join(".");
            graph.by_name.insert(name, at);
        }
        Ok(graph)
    }

    fn get(&self, at: usize) -> Option<&Node> {
        self.nodes.get(at)
    }

    fn is_module(&self, at: usize) -> bool {
        self.get(at)
            .is_some_and(|it| matches!(it.body, Body::Module))
    }

    /// The definition around `at`, or itself, that lies in a module or in none.
    fn unit(&self, mut at: usize) -> usize {
        while let Some(within) = self.get(at).and_then(|it| it.within)
            && !self.is_module(within)
        {
            at = within;
        }
        at
    }

    /// The names of a definition and of those around it, outermost first.
    fn path(&self, at: usize) -> Vec<&str> {
        let mut path = Vec::new();
        let mut next = self.get(at);
        while let Some(node) = next {
            path.push(&*node.name);
            next = node.within.and_then(|within| self.get(within));
        }
        path.reverse();
        path
    }
}

/// Reads one definition; `None` for those of kinds that are left out, and for operations, attributes and members, which their
/// interface describes.
async fn node(contained: &ContainedRef, within: Option<usize>) -> Result<Option<Node>, ReadError> {
    let described = contained.describe().await?;
    let (value, object) = (described.value, contained.as_object());
    let named = |name: String, id: String, body| {
        Ok(Some(Node {
            name: identifier(name)?,
            id: plain(id)?,
            within,
            inner: Vec::new(),
            body,
        }))
    };
    match described.kind {
        Kind::DkModule => {
            let all: crate::ir::corba::ModuleDescription = value.extract()?;
            named(all.name, all.id, Body::Module)
        }
        Kind::DkStruct
        | Kind::DkUnion
        | Kind::DkEnum
        | Kind::DkAlias
        | Kind::DkNative
        | Kind::DkValueBox => {
            let all: TypeDescription = value.extract()?;
            named(all.name, all.id, Body::Type(all.type_))
        }
        Kind::DkException => {
            let all: ExceptionDescription = value.extract()?;
            named(all.name, all.id, Body::Type(all.type_))
        }
        Kind::DkConstant => {
            let all: ConstantDescription = value.extract()?;
            named(all.name, all.id, Body::Constant(all.type_, all.value))
        }
        kind @ (Kind::DkInterface | Kind::DkAbstractInterface | Kind::DkLocalInterface) => {
            let interface: InterfaceDefRef = object.unchecked_narrow();
            let all = interface.describe_interface().await?;
            let (name, id) = (all.name.clone(), all.id.clone());
            named(name, id, Body::Interface(kind, Box::new(all)))
        }
        Kind::DkValue => {
            let of: ValueDefRef = object.unchecked_narrow();
            let all = of.describe_value().await?;
            let (name, id) = (all.name.clone(), all.id.clone());
            named(name, id, Body::Value(Box::new(all)))
        }
        _ => Ok(None),
    }
}

/// The name as an escaped identifier, which is none of IDL's keywords. JacORB's enumerators are escaped already.
fn identifier(name: String) -> Result<String, ReadError> {
    let mut chars = name.strip_prefix('_').unwrap_or(&name).chars();
    let is_one = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    match is_one {
        true if name.starts_with('_') => Ok(name),
        true => Ok(format!("_{name}")),
        false => Err(ReadError::Name(name)),
    }
}

/// A text that can stand in a literal.
fn plain(text: String) -> Result<String, ReadError> {
    let is_plain = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\';
    match text.chars().all(is_plain) {
        true => Ok(text),
        false => Err(ReadError::Name(text)),
    }
}

/// The state of a definition while the text is written.
#[derive(Clone, Copy, PartialEq)]
enum Progress {
    Open,
    Begun,
    Done,
}

/// IDL text of a graph: forward declarations of everything that can have one, and all definitions behind those that they need.
struct Text<'a> {
    graph: &'a Graph,
    out: String,
    progress: Vec<Progress>,
}

const OBJECT: &str = "IDL:omg.org/CORBA/Object:1.0";
const VALUE_BASE: &str = "IDL:omg.org/CORBA/ValueBase:1.0";
const ABSTRACT_BASE: &str = "IDL:omg.org/CORBA/AbstractBase:1.0";

impl<'a> Text<'a> {
    fn of(graph: &'a Graph) -> Result<String, ReadError> {
        let mut text = Self {
            graph,
            out: String::new(),
            progress: vec![Progress::Open; graph.nodes.len()],
        };
        let has_corba = |&&at: &&usize| graph.get(at).is_some_and(|it| it.name == "_CORBA");
        if !graph.outermost.iter().any(|at| has_corba(&at)) {
            text.out.push_str("#include <orb.idl>\n");
        }
        text.forward();
        for at in 0..graph.nodes.len() {
            if !graph.is_module(at) && graph.unit(at) == at {
                text.unit(at)?;
            }
        }
        Ok(text.out)
    }

    /// Declares modules, interfaces, values, structs and unions.
    fn forward(&mut self) {
        let mut modules = Vec::new();
        for (at, node) in self.graph.nodes.iter().enumerate() {
            if self.graph.unit(at) != at {
                continue;
            }
            let keyword = match &node.body {
                Body::Module => {
                    modules.push(at);
                    continue;
                }
                Body::Interface(kind, _) => interface_keyword(*kind),
                Body::Value(all) if all.is_abstract => "abstract valuetype",
                Body::Value(_) => "valuetype",
                Body::Type(ty) => match ty.kind() {
                    TcKind::Struct => "struct",
                    TcKind::Union => "union",
                    _ => continue,
                },
                Body::Constant(..) => continue,
            };
            let line = format!("{keyword} {};", node.name);
            self.in_modules(node.within, &line);
        }
        for at in modules {
            if let Some(node) = self.graph.get(at) {
                let line = format!("#pragma ID {} \"{}\"", node.name, node.id);
                // An empty module is no IDL: the constant makes it one.
                if node.inner.is_empty() {
                    continue;
                }
                self.in_modules(node.within, &format!("\n{line}\n"));
            }
        }
    }

    /// Writes `text` into the module `within`.
    fn in_modules(&mut self, within: Option<usize>, text: &str) {
        let path = within.map(|within| self.graph.path(within));
        let path = path.unwrap_or_default();
        for name in &path {
            self.out.push_str("module ");
            self.out.push_str(name);
            self.out.push_str(" { ");
        }
        self.out.push_str(text);
        for _ in &path {
            self.out.push_str(" };");
        }
        self.out.push('\n');
    }

    /// Writes a definition that lies in a module or in none, behind those that it needs. The definitions that wait for it are on a
    /// list, as a chain of them may be long.
    fn unit(&mut self, at: usize) -> Result<(), ReadError> {
        let mut open = vec![at];
        while let Some(&at) = open.last() {
            match self.progress.get(at).copied().unwrap_or(Progress::Done) {
                Progress::Open => {
                    self.set(at, Progress::Begun);
                    let mut needed = Vec::new();
                    self.needs(at, &mut needed)?;
                    for unit in needed {
                        // What needs itself has a forward declaration, or is refused by the compiler.
                        if self.progress.get(unit) == Some(&Progress::Open) {
                            open.push(unit);
                        }
                    }
                }
                Progress::Begun => {
                    open.pop();
                    self.set(at, Progress::Done);
                    let within = self.graph.get(at).and_then(|it| it.within);
                    let text = self.definition(at)?;
                    self.in_modules(within, &text);
                }
                Progress::Done => {
                    open.pop();
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, at: usize, progress: Progress) {
        if let Some(it) = self.progress.get_mut(at) {
            *it = progress;
        }
    }

    /// The units that have to be complete before `at`, those of its inner definitions included.
    fn needs(&self, at: usize, units: &mut Vec<usize>) -> Result<(), ReadError> {
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            let Some(node) = self.graph.get(at) else {
                continue;
            };
            open.extend(&node.inner);
            match &node.body {
                Body::Module => {}
                Body::Type(ty) => self.needs_parts(ty, units),
                Body::Constant(ty, _) => self.needs_type(ty, units),
                Body::Interface(_, all) => {
                    self.needs_ids(&all.base_interfaces, units)?;
                    self.needs_operations(&all.operations, &all.attributes, units)?;
                }
                Body::Value(all) => {
                    let bases = core::iter::once(&all.base_value).filter(|id| !id.is_empty());
                    let ids = bases.chain(&all.abstract_base_values);
                    self.needs_ids(ids.chain(&all.supported_interfaces), units)?;
                    for member in &all.members {
                        self.needs_type(&member.type_, units);
                    }
                    for member in all.initializers.iter().flat_map(|it| &it.members) {
                        self.needs_type(&member.type_, units);
                    }
                    self.needs_operations(&all.operations, &all.attributes, units)?;
                }
            }
        }
        Ok(())
    }

    fn needs_operations(
        &self,
        operations: &[OperationDescription],
        attributes: &[AttributeDescription],
        units: &mut Vec<usize>,
    ) -> Result<(), ReadError> {
        for operation in operations {
            self.needs_type(&operation.result, units);
            for parameter in &operation.parameters {
                self.needs_type(&parameter.type_, units);
            }
            self.needs_ids(operation.exceptions.iter().map(|it| &it.id), units)?;
        }
        for attribute in attributes {
            self.needs_type(&attribute.type_, units);
        }
        Ok(())
    }

    fn needs_ids<'i>(
        &self,
        ids: impl IntoIterator<Item = &'i String>,
        units: &mut Vec<usize>,
    ) -> Result<(), ReadError> {
        for id in ids {
            if !is_built_in(id) {
                units.push(self.graph.unit(self.find(id)?));
            }
        }
        Ok(())
    }

    /// The units of a type where it is used. References and values need a declaration alone.
    fn needs_type(&self, ty: &TypeCode, units: &mut Vec<usize>) {
        let mut ty = ty.clone();
        while ty.id().is_none_or(str::is_empty) {
            match ty.content_type() {
                Some(content) => ty = content,
                None => return,
            }
        }
        let at = ty.id().and_then(|id| self.graph.by_id.get(id).copied());
        let Some(at) = at else {
            return;
        };
        let unit = self.graph.unit(at);
        let is_declared = unit == at
            && matches!(
                ty.kind(),
                TcKind::ObjRef | TcKind::AbstractInterface | TcKind::LocalInterface | TcKind::Value
            );
        if !is_declared {
            units.push(unit);
        }
    }

    /// The units of the parts of a type that is defined.
    fn needs_parts(&self, ty: &TypeCode, units: &mut Vec<usize>) {
        for index in 0..ty.member_count() {
            if let Some(member) = ty.member_type(index) {
                self.needs_type(&member, units);
            }
        }
        let parts = [ty.content_type(), ty.discriminator_type()];
        for part in parts.into_iter().flatten() {
            self.needs_type(&part, units);
        }
    }

    fn find(&self, id: &str) -> Result<usize, ReadError> {
        let by_name = || self.graph.by_name.get(id);
        let found = self.graph.by_id.get(id).or_else(by_name).copied();
        found.ok_or_else(|| ReadError::Missing(id.to_owned()))
    }

    /// The absolute name of a definition.
    fn name(&self, id: &str) -> Result<String, ReadError> {
        if id == ABSTRACT_BASE && !self.graph.by_id.contains_key(id) {
            return Ok("::CORBA::AbstractBase".to_owned());
        }
        let path = self.graph.path(self.find(id)?);
        Ok(format!("::{}", path.join("::")))
    }

    fn names<'i>(&self, ids: impl IntoIterator<Item = &'i String>) -> Result<String, ReadError> {
        let ids = ids.into_iter();
        let names: Result<Vec<_>, _> = ids.map(|id| self.name(id)).collect();
        Ok(names?.join(", "))
    }

    /// A type where it is used, and the dimensions behind the name of what has it.
    fn ty(&self, ty: &TypeCode) -> Result<(String, String), ReadError> {
        let mut dimensions = String::new();
        let mut ty = ty.clone();
        while ty.kind() == TcKind::Array {
            let (Some(content), Some(length)) = (ty.content_type(), ty.length()) else {
                break;
            };
            let _ = write!(dimensions, "[{length}]");
            ty = content;
        }
        Ok((self.plain_type(&ty)?, dimensions))
    }

    fn plain_type(&self, ty: &TypeCode) -> Result<String, ReadError> {
        let unnamed = || ReadError::Unnamed(format!("{ty:?}"));
        // A sequence of sequences is as deep as a TypeCode can be, which its decoder has limited.
        let mut opened = 0_usize;
        let mut closing = Vec::new();
        let mut ty = ty.clone();
        while ty.kind() == TcKind::Sequence {
            let Some(content) = ty.content_type() else {
                break;
            };
            closing.push(ty.length().unwrap_or(0));
            opened = opened.saturating_add(1);
            ty = content;
        }
        let bounded = |name: &str, ty: &TypeCode| match ty.length().unwrap_or(0) {
            0 => name.to_owned(),
            bound => format!("{name}<{bound}>"),
        };
        let element = match ty.kind() {
            TcKind::Void => "void".to_owned(),
            TcKind::Boolean => "boolean".to_owned(),
            TcKind::Char => "char".to_owned(),
            TcKind::WChar => "wchar".to_owned(),
            TcKind::Octet => "octet".to_owned(),
            TcKind::Short => "short".to_owned(),
            TcKind::UShort => "unsigned short".to_owned(),
            TcKind::Long => "long".to_owned(),
            TcKind::ULong => "unsigned long".to_owned(),
            TcKind::LongLong => "long long".to_owned(),
            TcKind::ULongLong => "unsigned long long".to_owned(),
            TcKind::Float => "float".to_owned(),
            TcKind::Double => "double".to_owned(),
            TcKind::LongDouble => "long double".to_owned(),
            TcKind::Any => "any".to_owned(),
            TcKind::TypeCode => "::CORBA::TypeCode".to_owned(),
            TcKind::Principal => "::CORBA::Principal".to_owned(),
            TcKind::String => bounded("string", &ty),
            TcKind::WString => bounded("wstring", &ty),
            TcKind::Fixed => match ty.digits_and_scale() {
                Some((digits, scale)) => format!("fixed<{digits}, {scale}>"),
                None => return Err(unnamed()),
            },
            _ => match ty.id() {
                Some(OBJECT) => "Object".to_owned(),
                Some(VALUE_BASE) => "ValueBase".to_owned(),
                Some(id) if !id.is_empty() => self.name(id)?,
                _ => return Err(unnamed()),
            },
        };
        let mut text = "sequence<".repeat(opened) + &element;
        for bound in closing.into_iter().rev() {
            let _ = match bound {
                0 => write!(text, ">"),
                bound => write!(text, ", {bound}>"),
            };
        }
        Ok(text)
    }

    /// `type name[dimensions]`.
    fn declared(&self, ty: &TypeCode, name: &str) -> Result<String, ReadError> {
        let (ty, dimensions) = self.ty(ty)?;
        Ok(format!("{ty} {name}{dimensions}"))
    }

    /// A definition, its inner ones, and its repository id.
    fn definition(&self, at: usize) -> Result<String, ReadError> {
        let Some(node) = self.graph.get(at) else {
            return Ok(String::new());
        };
        let name = &node.name;
        let mut text = match &node.body {
            Body::Module => return Ok(String::new()),
            Body::Constant(ty, value) => match self.constant(ty, value)? {
                Some(literal) => format!("const {} = {literal};", self.declared(ty, name)?),
                None => return Ok(String::new()),
            },
            Body::Interface(kind, all) => {
                let mut bases = self.names(&all.base_interfaces)?;
                if !bases.is_empty() {
                    bases.insert_str(0, " : ");
                }
                let inner = self.inner(node)?;
                let own = self.operations(&node.id, &all.operations, &all.attributes)?;
                let keyword = interface_keyword(*kind);
                format!("{keyword} {name}{bases} {{ {inner}{own}}};")
            }
            Body::Value(all) => self.value(node, all)?,
            Body::Type(ty) => self.type_definition(node, ty)?,
        };
        let _ = write!(text, "\n#pragma ID {name} \"{}\"\n", node.id);
        Ok(text)
    }

    fn inner(&self, node: &Node) -> Result<String, ReadError> {
        let mut text = String::new();
        for &inner in &node.inner {
            text.push_str(&self.definition(inner)?);
        }
        Ok(text)
    }

    fn type_definition(&self, node: &Node, ty: &TypeCode) -> Result<String, ReadError> {
        let name = &node.name;
        // Definitions within structs and unions are written where their first member is.
        let mut inner = node.inner.clone();
        let mut member = |index: usize| -> Result<(String, String), ReadError> {
            let unnamed = || ReadError::Unnamed(node.id.clone());
            let of = ty.member_type(index).ok_or_else(unnamed)?;
            let named = identifier(ty.member_name(index).unwrap_or_default().to_owned())?;
            let (mut written, dimensions) = self.ty(&of)?;
            let mut last = of;
            while last.kind() == TcKind::Array {
                let Some(content) = last.content_type() else {
                    break;
                };
                last = content;
            }
            let here = last.id().and_then(|id| self.graph.by_id.get(id).copied());
            if let Some(here) = here
                && let Some(at) = inner.iter().position(|&it| it == here)
                && let Some(within) = self.graph.get(here)
                && let Body::Type(of) = &within.body
            {
                inner.remove(at);
                written = self.type_definition(within, of)?;
                written.truncate(written.trim_end_matches(';').len());
            }
            Ok((written, format!("{named}{dimensions}")))
        };
        Ok(match ty.kind() {
            TcKind::Struct | TcKind::Except => {
                let keyword = match ty.kind() {
                    TcKind::Struct => "struct",
                    _ => "exception",
                };
                let mut text = format!("{keyword} {name} {{ ");
                for index in 0..ty.member_count() {
                    let (ty, name) = member(index)?;
                    let _ = write!(text, "{ty} {name}; ");
                }
                text + "};"
            }
            TcKind::Union => self.union(node, ty, member)?,
            TcKind::Enum => {
                let mut enumerators = Vec::new();
                for index in 0..ty.member_count() {
                    let name = ty.member_name(index).unwrap_or_default();
                    enumerators.push(identifier(name.to_owned())?);
                }
                format!("enum {name} {{ {} }};", enumerators.join(", "))
            }
            TcKind::Alias => {
                let content = ty.content_type();
                let content = content.ok_or_else(|| ReadError::Unnamed(node.id.clone()))?;
                format!("typedef {};", self.declared(&content, name)?)
            }
            TcKind::ValueBox => {
                let content = ty.content_type();
                let content = content.ok_or_else(|| ReadError::Unnamed(node.id.clone()))?;
                format!("valuetype {name} {};", self.plain_type(&content)?)
            }
            TcKind::Native => format!("native {name};"),
            _ => return Err(ReadError::Unnamed(node.id.clone())),
        })
    }

    fn union(
        &self,
        node: &Node,
        ty: &TypeCode,
        mut member: impl FnMut(usize) -> Result<(String, String), ReadError>,
    ) -> Result<String, ReadError> {
        let discriminator = ty.discriminator_type();
        let discriminator = discriminator.ok_or_else(|| ReadError::Unnamed(node.id.clone()))?;
        let of = self.plain_type(&discriminator)?;
        let mut text = format!("union {} switch ({of}) {{ ", node.name);
        let mut at = 0_usize;
        while at < ty.member_count() {
            let name = ty.member_name(at);
            // Labels of one member follow each other.
            loop {
                match ty
                    .member_label(at)
                    .filter(|_| ty.default_index() != Some(at))
                {
                    Some(label) => {
                        let _ = write!(text, "case {}: ", self.label(&discriminator, label)?);
                    }
                    None => text.push_str("default: "),
                }
                let next = at.saturating_add(1);
                if next >= ty.member_count() || ty.member_name(next) != name {
                    break;
                }
                at = next;
            }
            let (of, name) = member(at)?;
            let _ = write!(text, "{of} {name}; ");
            at = at.saturating_add(1);
        }
        Ok(text + "};")
    }

    fn label(&self, discriminator: &TypeCode, label: i128) -> Result<String, ReadError> {
        let ty = discriminator.unaliased();
        let code = || u32::try_from(label).unwrap_or(0);
        Ok(match ty.kind() {
            TcKind::Boolean => if label == 0 { "FALSE" } else { "TRUE" }.to_owned(),
            TcKind::Char => format!("'\\x{:02x}'", code()),
            TcKind::WChar => format!("L'\\u{:04x}'", code()),
            TcKind::Enum => self.enumerator(&ty, code())?,
            _ => label.to_string(),
        })
    }

    /// The absolute name of an enumerator.
    fn enumerator(&self, ty: &TypeCode, ordinal: u32) -> Result<String, ReadError> {
        let id = ty.id().unwrap_or_default();
        let index = usize::try_from(ordinal).unwrap_or(usize::MAX);
        let name = ty.member_name(index).unwrap_or_default();
        let mut path = self.graph.path(self.find(id)?);
        path.pop();
        let name = identifier(name.to_owned())?;
        path.push(&name);
        Ok(format!("::{}", path.join("::")))
    }

    fn constant(&self, ty: &TypeCode, value: &Any) -> Result<Option<String>, ReadError> {
        let of = ty.unaliased();
        Ok(match of.kind() {
            TcKind::Boolean => value
                .extract::<bool>()
                .ok()
                .map(|it| if it { "TRUE" } else { "FALSE" }.to_owned()),
            TcKind::Short => value.extract::<i16>().ok().map(|it| it.to_string()),
            TcKind::UShort => value.extract::<u16>().ok().map(|it| it.to_string()),
            TcKind::Long => value.extract::<i32>().ok().map(|it| it.to_string()),
            TcKind::ULong => value.extract::<u32>().ok().map(|it| it.to_string()),
            TcKind::LongLong => value.extract::<i64>().ok().map(|it| it.to_string()),
            TcKind::ULongLong => value.extract::<u64>().ok().map(|it| it.to_string()),
            TcKind::Octet => value.extract::<u8>().ok().map(|it| it.to_string()),
            TcKind::Double => (value.extract::<f64>().ok())
                .filter(|it| it.is_finite())
                .map(|it| format!("{it:?}")),
            TcKind::Float => (value.extract::<f32>().ok())
                .filter(|it| it.is_finite())
                .map(|it| format!("{it:?}")),
            TcKind::String => value.extract::<String>().ok().and_then(|it| {
                let is_plain = |c: char| (' '..='~').contains(&c) && c != '"' && c != '\\';
                it.chars().all(is_plain).then(|| format!("\"{it}\""))
            }),
            TcKind::Enum => match value.enumerator() {
                Some(found) => {
                    let count = of.member_count();
                    let at = (0..count).find(|&at| of.member_name(at) == Some(found));
                    let at = at.and_then(|at| u32::try_from(at).ok());
                    at.map(|at| self.enumerator(&of, at)).transpose()?
                }
                None => None,
            },
            _ => None,
        })
    }

    /// The operations and attributes that the definition `of` declares itself.
    fn operations(
        &self,
        of: &str,
        operations: &[OperationDescription],
        attributes: &[AttributeDescription],
    ) -> Result<String, ReadError> {
        let mut text = String::new();
        for operation in operations.iter().filter(|it| it.defined_in == of) {
            if operation.mode == OperationMode::OpOneway {
                text.push_str("oneway ");
            }
            let result = self.plain_type(&operation.result)?;
            let name = identifier(operation.name.clone())?;
            let mut parameters = Vec::new();
            for parameter in &operation.parameters {
                let mode = match parameter.mode {
                    ParameterMode::ParamIn => "in",
                    ParameterMode::ParamOut => "out",
                    ParameterMode::ParamInout => "inout",
                };
                let (ty, name) = (
                    self.plain_type(&parameter.type_)?,
                    identifier(parameter.name.clone())?,
                );
                parameters.push(format!("{mode} {ty} {name}"));
            }
            let _ = write!(text, "{result} {name}({})", parameters.join(", "));
            let raises = self.names(operation.exceptions.iter().map(|it| &it.id))?;
            if !raises.is_empty() {
                let _ = write!(text, " raises ({raises})");
            }
            let mut contexts = Vec::new();
            for context in &operation.contexts {
                contexts.push(format!("\"{}\"", plain(context.clone())?));
            }
            if !contexts.is_empty() {
                let _ = write!(text, " context ({})", contexts.join(", "));
            }
            text.push_str("; ");
        }
        for attribute in attributes.iter().filter(|it| it.defined_in == of) {
            if attribute.mode == AttributeMode::AttrReadonly {
                text.push_str("readonly ");
            }
            let ty = self.plain_type(&attribute.type_)?;
            let _ = write!(
                text,
                "attribute {ty} {}; ",
                identifier(attribute.name.clone())?
            );
        }
        Ok(text)
    }

    fn value(&self, node: &Node, all: &FullValueDescription) -> Result<String, ReadError> {
        let mut text = match () {
            () if all.is_abstract => "abstract ",
            () if all.is_custom => "custom ",
            () => "",
        }
        .to_owned();
        let _ = write!(text, "valuetype {}", node.name);
        let mut bases = Vec::new();
        if !all.base_value.is_empty() && all.base_value != VALUE_BASE {
            let truncatable = if all.is_truncatable {
                "truncatable "
            } else {
                ""
            };
            bases.push(format!("{truncatable}{}", self.name(&all.base_value)?));
        }
        for id in &all.abstract_base_values {
            bases.push(self.name(id)?);
        }
        if !bases.is_empty() {
            let _ = write!(text, " : {}", bases.join(", "));
        }
        if !all.supported_interfaces.is_empty() {
            let _ = write!(text, " supports {}", self.names(&all.supported_interfaces)?);
        }
        text.push_str(" { ");
        text.push_str(&self.inner(node)?);
        for member in all.members.iter().filter(|it| is_own(it, &node.id)) {
            let visibility = if member.access == 0 {
                "private"
            } else {
                "public"
            };
            let name = identifier(member.name.clone())?;
            let _ = write!(
                text,
                "{visibility} {}; ",
                self.declared(&member.type_, &name)?
            );
        }
        for factory in &all.initializers {
            let mut parameters = Vec::new();
            for member in &factory.members {
                let ty = self.plain_type(&member.type_)?;
                parameters.push(format!("in {ty} {}", identifier(member.name.clone())?));
            }
            let name = identifier(factory.name.clone())?;
            let _ = write!(text, "factory {name}({}); ", parameters.join(", "));
        }
        text.push_str(&self.operations(&node.id, &all.operations, &all.attributes)?);
        Ok(text + "};")
    }
}

fn is_own(member: &ValueMember, of: &str) -> bool {
    member.defined_in == of
}

fn is_built_in(id: &str) -> bool {
    matches!(id, OBJECT | VALUE_BASE | ABSTRACT_BASE)
}

const fn interface_keyword(kind: Kind) -> &'static str {
    match kind {
        Kind::DkAbstractInterface => "abstract interface",
        Kind::DkLocalInterface => "local interface",
        _ => "interface",
    }
}
