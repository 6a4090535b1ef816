//! The types whose values may travel as they lie in memory, and how they lie there: see [`Options::in_memory`].

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::diagnostic::{Report, Sink};
use crate::model::{Basic, DefId, DefKind, Model, Type};
use crate::names::{BASE, find_definition};
use crate::options::{Options, Setting, Settings};
use crate::source::Span;

/// The first words of what is hashed. Another form of messages has another version.
const VERSION: &str = "zorb in memory 1";

/// The structs that are asked for, with those in them, and their enums.
#[derive(Debug, Default)]
pub(crate) struct InMemory {
    structs: HashMap<DefId, Shape>,
    enums: HashSet<DefId>,
}

/// How a type lies in memory.
#[derive(Debug, Clone)]
struct Shape {
    size: u64,
    align: u64,
    /// The fields by their index in the mapping, in the order of memory.
    order: Vec<usize>,
    /// What is hashed.
    text: String,
}

/// Why a type cannot lie in memory: the member, its place, and what is wrong with it.
struct Obstacle {
    span: Span,
    message: String,
}

/// A field of a struct: a member, or the struct whose members come first.
struct Field<'a> {
    name: &'a str,
    span: Span,
    ty: Type,
}

impl InMemory {
    /// Reads [`Options::in_memory`]. A name that names no struct, and a member that cannot lie in memory, are reported.
    pub(crate) fn of(model: &Model, options: &Options, settings: Settings, sink: &Sink) -> Self {
        let mut known = Self::default();
        for (index, name) in options.in_memory.iter().enumerate() {
            let id = find_definition(model, name.trim_start_matches("::"));
            let is_struct =
                |id: &DefId| matches!(&model.def(*id).kind, DefKind::Struct(body) if body.complete);
            let Some(id) = id.filter(is_struct) else {
                let place = settings.span(Setting::InMemory, index);
                let message = format!("the option in_memory(\"{name}\") names no struct");
                sink.report(Report::new(place, message));
                continue;
            };
            if let Err(obstacle) = known.add(model, id) {
                let message = format!(
                    "`{}` cannot travel as it lies in memory: {}",
                    model.scoped_name(id),
                    obstacle.message
                );
                let report = Report::new(model.def(id).span, message);
                sink.report(report.label(obstacle.span, "declared here").hint(
                    "its members are numbers, booleans, characters, enums, and structs and arrays of these",
                ));
            }
        }
        known
    }

    /// Whether it is a struct that lies in memory as it travels.
    pub(crate) fn has_struct(&self, id: DefId) -> bool {
        self.structs.contains_key(&id)
    }

    /// Whether it is the enum of a member of such a struct.
    pub(crate) fn has_enum(&self, id: DefId) -> bool {
        self.enums.contains(&id)
    }

    /// The fields of a struct in the order of memory, by their index in the mapping.
    pub(crate) fn order(&self, id: DefId) -> &[usize] {
        self.structs.get(&id).map_or(&[], |shape| &shape.order)
    }

    /// Whether a parameter of this type has values that lie in memory: a struct, or sequences and arrays of it.
    pub(crate) fn passes(&self, model: &Model, ty: &Type) -> bool {
        match model.unaliased(ty) {
            Type::Named(id) => self.has_struct(*id),
            Type::Sequence(element, _) | Type::Array(element, _) => self.passes(model, element),
            _ => false,
        }
    }

    /// The hash of how the values of an operation lie in memory. `None` for an operation without any.
    pub(crate) fn hash<'a>(
        &self,
        model: &Model,
        inputs: impl Iterator<Item = &'a Type>,
        outputs: impl Iterator<Item = &'a Type>,
    ) -> Option<u64> {
        let (mut text, mut found) = (VERSION.to_owned(), false);
        let inputs = inputs.map(|ty| ("in", ty));
        for (direction, ty) in inputs.chain(outputs.map(|ty| ("out", ty))) {
            let passes = self.passes(model, ty);
            found |= passes;
            let described = match passes {
                true => self.described(model, ty),
                false => "as CDR".to_owned(),
            };
            let _ = write!(text, "\n{direction} {described}");
        }
        found.then(|| fnv(text.as_bytes()))
    }

    fn described(&self, model: &Model, ty: &Type) -> String {
        match model.unaliased(ty) {
            Type::Named(id) => match self.structs.get(id) {
                Some(shape) => shape.text.clone(),
                None => String::new(),
            },
            Type::Sequence(element, bound) => {
                let bound = bound.unwrap_or_default();
                format!("sequence<{}, {bound}>", self.described(model, element))
            }
            Type::Array(element, length) => {
                format!("{}[{length}]", self.described(model, element))
            }
            _ => String::new(),
        }
    }

    fn add(&mut self, model: &Model, id: DefId) -> Result<Shape, Obstacle> {
        if let Some(shape) = self.structs.get(&id) {
            return Ok(shape.clone());
        }
        let span = model.def(id).span;
        let of_here = |message: String| Obstacle { span, message };
        if model.is_extern(model.def(id).scope) {
            return Err(of_here(format!(
                "`{}` is of a module that `extern` maps",
                model.scoped_name(id)
            )));
        }
        let fields = fields(model, id);
        let mut shapes = Vec::new();
        for field in &fields {
            let shape = self.shape(model, &field.ty).map_err(|what| Obstacle {
                span: field.span,
                message: format!("its member `{}` {what}", field.name),
            })?;
            shapes.push(shape);
        }
        let align = shapes.iter().map(|shape| shape.align).max();
        let Some(align) = align else {
            return Err(of_here("it has no members".to_owned()));
        };
        let mut order: Vec<usize> = (0..shapes.len()).collect();
        let shape_of = |index: usize| shapes.get(index).map_or((0, 1), |it| (it.size, it.align));
        let pads = |order: &[usize]| {
            let mut at = 0_u64;
            order.iter().any(|&index| {
                let (size, align) = shape_of(index);
                let padded = !at.is_multiple_of(align);
                at = at.saturating_add(size);
                padded
            })
        };
        if pads(&order) {
            order.sort_by_key(|&index| std::cmp::Reverse(shape_of(index).1));
        }
        let size = shapes
            .iter()
            .fold(0_u64, |size, it| size.saturating_add(it.size));
        let padding = size.next_multiple_of(align) - size;
        if padding > 0 {
            let last = order.last().and_then(|&index| fields.get(index));
            let (name, span) = last.map_or(("", span), |it| (it.name, it.span));
            return Err(Obstacle {
                span,
                message: format!(
                    "{padding} octets of padding follow its member `{name}` in memory, for an alignment of {align}"
                ),
            });
        }
        let mut text = format!("{} {size}/{align} {{", model.def(id).repository_id);
        let mut at = 0_u64;
        for &index in &order {
            if let (Some(field), Some(shape)) = (fields.get(index), shapes.get(index)) {
                let _ = write!(text, " {at} {}: {};", field.name, shape.text);
                at = at.saturating_add(shape.size);
            }
        }
        text.push_str(" }");
        let shape = Shape {
            size,
            align,
            order,
            text,
        };
        self.structs.insert(id, shape.clone());
        Ok(shape)
    }

    /// How a member lies in memory, or what it is that does not.
    fn shape(&mut self, model: &Model, ty: &Type) -> Result<Shape, String> {
        use Basic::{
            Boolean, Char, Double, Float, Int8, Long, LongDouble, LongLong, Octet, Short, ULong,
            ULongLong, UShort, WideChar,
        };
        let basic = |size: u64, text: &str| {
            Ok(Shape {
                size,
                align: size,
                order: Vec::new(),
                text: text.to_owned(),
            })
        };
        match model.unaliased(ty) {
            Type::Basic(Boolean) => basic(1, "boolean"),
            Type::Basic(Char) => basic(1, "char"),
            Type::Basic(Octet) => basic(1, "octet"),
            Type::Basic(Int8) => basic(1, "int8"),
            Type::Basic(Short) => basic(2, "short"),
            Type::Basic(UShort) => basic(2, "unsigned short"),
            Type::Basic(WideChar) => basic(2, "wchar"),
            Type::Basic(Long) => basic(4, "long"),
            Type::Basic(ULong) => basic(4, "unsigned long"),
            Type::Basic(Float) => basic(4, "float"),
            Type::Basic(LongLong) => basic(8, "long long"),
            Type::Basic(ULongLong) => basic(8, "unsigned long long"),
            Type::Basic(Double) => basic(8, "double"),
            Type::Basic(LongDouble) => Err("is a `long double`".to_owned()),
            Type::Str { .. } => Err("holds text".to_owned()),
            Type::Sequence(..) => Err("holds a sequence".to_owned()),
            Type::Map(..) => Err("holds a map".to_owned()),
            Type::Fixed { .. } => Err("is a `fixed`".to_owned()),
            Type::Any | Type::TypeCode => Err("holds an `any` or a `TypeCode`".to_owned()),
            Type::Array(element, length) => {
                let element = self.shape(model, element)?;
                Ok(Shape {
                    size: element.size.saturating_mul(u64::from(*length)),
                    text: format!("{}[{length}]", element.text),
                    ..element
                })
            }
            Type::Named(id) => match &model.def(*id).kind {
                DefKind::Struct(body) if body.complete => (self.add(model, *id)).map_err(|inner| {
                    let name = model.scoped_name(*id);
                    format!("is a `{name}`, and {}", inner.message)
                }),
                DefKind::Enum(_) if model.is_extern(model.def(*id).scope) => {
                    Err("is of a module that `extern` maps".to_owned())
                }
                DefKind::Enum(enumerators) => {
                    self.enums.insert(*id);
                    let names = enumerators.iter().map(|&it| &*model.def(it).name);
                    let names: Vec<&str> = names.collect();
                    let id = &model.def(*id).repository_id;
                    basic(4, &format!("{id} ({})", names.join(", ")))
                }
                DefKind::Union(_) => Err("is a union".to_owned()),
                DefKind::Bitset(_) | DefKind::Bitmask(_) => {
                    Err("is a bitset or a bitmask".to_owned())
                }
                _ => Err("holds a reference or a value".to_owned()),
            },
            _ => Err("holds a reference or a value".to_owned()),
        }
    }
}

fn fields(model: &Model, id: DefId) -> Vec<Field<'_>> {
    let DefKind::Struct(body) = &model.def(id).kind else {
        return Vec::new();
    };
    let base = body.base.map(|base| Field {
        name: BASE,
        span: model.def(id).span,
        ty: Type::Named(base),
    });
    let members = body.members.iter().map(|member| Field {
        name: &model.def(member.def).name,
        span: model.def(member.def).span,
        ty: member.ty.clone(),
    });
    base.into_iter().chain(members).collect()
}

/// FNV-1a of 64 bits: a difference is found unless it is made to be missed, and then the octets are checked as those of any peer.
fn fnv(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3)
    })
}
