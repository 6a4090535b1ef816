//! What the language has and code generation does not know yet: said where it stands, once, when code is asked for.

use crate::diagnostic::{Report, Sink};
use crate::model::{DefKind, Feature, Model, ValueType};

/// What `feature` is called in a message if no code can be made of it.
fn missing(feature: Feature) -> Option<&'static str> {
    Some(match feature {
        Feature::Principal => "`Principal`",
        Feature::NativeException => "native exceptions",
        Feature::Native | Feature::LocalInterface | Feature::Context => return None,
        Feature::Map | Feature::Bitset | Feature::Bitmask => return None,
        Feature::StructInheritance | Feature::EmptyStruct => return None,
        Feature::Any | Feature::TypeCode => return None,
        Feature::Union | Feature::Fixed | Feature::LongDouble | Feature::Int8 => return None,
        Feature::Value | Feature::ValueBox | Feature::ValueBase | Feature::AbstractInterface => {
            return None;
        }
    })
}

/// Reports everything in `model` that would need code and can get none.
pub(crate) fn check(model: &Model, sink: &Sink) {
    for &(feature, span, scope) in &model.features {
        if model.is_extern(scope) {
            continue;
        }
        if let Some(what) = missing(feature) {
            sink.report(Report::unsupported(span, what));
        }
    }
    undefined(model, sink);
}

/// Value types that are used, and declared only: IDL can live with that, Rust needs the type.
fn undefined(model: &Model, sink: &Sink) {
    for (&id, &used) in &model.forward_uses {
        let def = model.def(id);
        let undefined = matches!(def.kind, DefKind::Value(ValueType { defined: false, .. }));
        if !undefined || model.is_extern(def.scope) {
            continue;
        }
        let message = format!("value type `{}` is declared but never defined", def.name);
        let report = Report::new(def.span, message).label(used, "used here");
        sink.report(report.hint("include the file that defines it"));
    }
}
