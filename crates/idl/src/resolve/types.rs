//! Types: their look-up, and checks of where they are permitted.

use super::Resolver;
use crate::ast::{Basic, Expr, ScopedName, TypeKind, TypeSpec};
use crate::diagnostic::Report;
use crate::limits::{MAX_FIXED_DIGITS, MAX_TYPE_DEPTH};
use crate::model::{
    Def, DefId, DefKind, Interface, ScopeId, Struct, Type, Union, Value, ValueType,
};
use crate::source::Span;

impl Resolver<'_> {
    /// Checks the key type of a map, which has to be ordered.
    fn check_key(&self, key: &Type, span: Span) {
        let fits = match self.model.unaliased(key) {
            Type::Basic(Basic::Float | Basic::Double | Basic::LongDouble) => false,
            Type::Basic(_) | Type::Str { .. } | Type::Fixed { .. } | Type::Error => true,
            Type::Named(id) => matches!(
                self.model.def(*id).kind,
                DefKind::Enum(_) | DefKind::Bitmask(_) | DefKind::Unsupported
            ),
            _ => false,
        };
        if !fits {
            let report = Report::new(span, "this type cannot be the key of a map");
            self.report(report.hint(
                "a number that is exact, a character, a boolean, a string, an enum or a bitmask can",
            ));
        }
    }

    /// The type of `spec` in `scope`. `define`: whether a type defined inline is declared, as a list of declarators shares one
    /// type, which is declared once.
    pub(super) fn type_spec(&mut self, scope: ScopeId, spec: &TypeSpec, define: bool) -> Type {
        match &spec.kind {
            TypeKind::Basic(basic) => Type::Basic(*basic),
            TypeKind::Str { wide, bound } => {
                let bound = bound.as_ref().map(|bound| self.bound(scope, bound));
                Type::Str { wide: *wide, bound }
            }
            TypeKind::Sequence { element, bound } => {
                self.check_no_definition(element);
                let element = self.type_spec(scope, element, define);
                let bound = bound.as_ref().map(|bound| self.bound(scope, bound));
                Type::Sequence(Box::new(element), bound)
            }
            TypeKind::Map { key, value, bound } => {
                self.check_no_definition(key);
                self.check_no_definition(value);
                let key_span = key.span;
                let key = self.type_spec(scope, key, define);
                self.check_key(&key, key_span);
                let value = self.type_spec(scope, value, define);
                let bound = bound.as_ref().map(|bound| self.bound(scope, bound));
                Type::Map(Box::new(key), Box::new(value), bound)
            }
            TypeKind::Fixed(size) => self.fixed(scope, spec.span, size.as_deref()),
            TypeKind::Any => Type::Any,
            TypeKind::ValueBase => Type::ValueBase,
            TypeKind::Object => Type::Object,
            TypeKind::Named(name) => self.named(scope, name),
            TypeKind::Inline(definition) => {
                if define {
                    self.definition(scope, definition);
                }
                match self.existing(scope, &definition.head) {
                    Some(id) if self.model.def(id).span == definition.head.name.span => {
                        Type::Named(id)
                    }
                    // The name of the type was taken, which was reported.
                    _ => Type::Error,
                }
            }
        }
    }

    /// The type `fixed<digits, scale>`. Only constants may have it without digits.
    fn fixed(&mut self, scope: ScopeId, span: Span, size: Option<&(Expr, Expr)>) -> Type {
        let Some((digits_expr, scale_expr)) = size else {
            let message = "`fixed` without digits is the type of constants only";
            self.report(Report::new(span, message).hint("write `fixed<9, 2>`, for example"));
            return Type::Error;
        };
        let long = Type::Basic(Basic::ULong);
        let digits = self.constant(scope, &long, None, digits_expr);
        let scale = self.constant(scope, &long, None, scale_expr);
        let (Value::Integer(digits), Value::Integer(scale)) = (digits, scale) else {
            return Type::Error;
        };
        let most = i128::from(MAX_FIXED_DIGITS);
        let report = if !(1..=most).contains(&digits) {
            Report::new(
                digits_expr.span,
                format!("a fixed has 1 to {MAX_FIXED_DIGITS} digits"),
            )
        } else if scale > digits {
            let message =
                format!("of {digits} digits, at most {digits} can stand behind the point");
            Report::new(scale_expr.span, message)
        } else {
            // Both fit, as was just checked.
            let small = |number: i128| u8::try_from(number).unwrap_or(MAX_FIXED_DIGITS);
            return Type::Fixed {
                digits: small(digits),
                scale: small(scale),
            };
        };
        self.report(report);
        Type::Error
    }

    fn named(&mut self, scope: ScopeId, name: &ScopedName) -> Type {
        if let Some(ty) = self.late_word(scope, name) {
            return ty;
        }
        let Some(id) = self.lookup(scope, name) else {
            return Type::Error;
        };
        match &self.model.def(id).kind {
            DefKind::Struct(_)
            | DefKind::Union(_)
            | DefKind::Enum(_)
            | DefKind::Bitset(_)
            | DefKind::Bitmask(_)
            | DefKind::Native
            | DefKind::ValueBox(_)
            | DefKind::Typedef(_) => Type::Named(id),
            DefKind::Interface(_) if self.is_type_code(id) => Type::TypeCode,
            DefKind::Interface(Interface { defined, .. })
            | DefKind::Value(ValueType { defined, .. }) => {
                if !defined {
                    self.forward_uses.entry(id).or_insert_with(|| name.span());
                }
                Type::Named(id)
            }
            DefKind::Unsupported => Type::Error,
            _ => {
                let def = self.model.def(id);
                let message = format!("`{}` is {}, not a type", def.name, self.model.noun(id));
                self.report(Report::new(name.span(), message).label(def.span, "declared here"));
                Type::Error
            }
        }
    }

    /// The type of a name that IDL 4 or module `CORBA` defines, unless the file itself does.
    fn late_word(&mut self, scope: ScopeId, name: &ScopedName) -> Option<Type> {
        let text: Vec<&str> = name.parts.iter().map(|part| &*part.text).collect();
        let basic = match text[..] {
            ["int16"] => Basic::Short,
            ["int32"] => Basic::Long,
            ["int64"] => Basic::LongLong,
            ["uint8"] => Basic::Octet,
            ["uint16"] => Basic::UShort,
            ["uint32"] => Basic::ULong,
            ["uint64"] => Basic::ULongLong,
            ["int8"] => Basic::Int8,
            [.., "TypeCode" | "Principal"] => return self.built_in(scope, name),
            _ => return None,
        };
        if self.declared(scope, text[0]) {
            return None;
        }
        Some(Type::Basic(basic))
    }

    /// The types `CORBA::TypeCode` and `CORBA::Principal`, which need no declaration.
    fn built_in(&mut self, scope: ScopeId, name: &ScopedName) -> Option<Type> {
        let text: Vec<&str> = name.parts.iter().map(|part| &*part.text).collect();
        let missing = match text[..] {
            [word] => {
                let visible = word == "TypeCode" || self.is_in_corba(scope);
                visible && !self.declared(scope, word)
            }
            // A file may open the module without declaring them.
            ["CORBA", word] => match self
                .model
                .scope(ScopeId::ROOT)
                .names
                .get(&self.model.key("CORBA"))
            {
                None => !self.declared(scope, "CORBA"),
                Some(&module) => self.model.own_scope(module).is_some_and(|inner| {
                    let names = &self.model.scope(inner).names;
                    !names.contains_key(&self.model.key(word))
                }),
            },
            _ => false,
        };
        if !missing {
            return None;
        }
        Some(match text.last() {
            Some(&"TypeCode") => Type::TypeCode,
            _ => Type::Principal,
        })
    }

    /// Whether `id` is the `interface TypeCode` of module `CORBA` in the OMG's own files.
    fn is_type_code(&self, id: DefId) -> bool {
        let def = self.model.def(id);
        let around = self.model.scope(def.scope);
        let module = around.owner.map(|owner| self.model.def(owner));
        *def.name == *"TypeCode"
            && around.parent == Some(ScopeId::ROOT)
            && module.is_some_and(|module| *module.name == *"CORBA")
    }

    fn is_in_corba(&self, scope: ScopeId) -> bool {
        let path = self.model.path(scope);
        path.first().is_some_and(|module| **module == *"CORBA")
    }

    fn declared(&self, scope: ScopeId, word: &str) -> bool {
        let key = self.model.key(word);
        let mut at = Some(scope);
        while let Some(scope) = at {
            let scope = self.model.scope(scope);
            let ancestors = scope.owner.and_then(|owner| self.model.ancestors(owner));
            let inherited = ancestors.unwrap_or_default().iter().any(|&base| {
                let base = self.model.own_scope(base);
                base.is_some_and(|base| self.model.scope(base).names.contains_key(&key))
            });
            if inherited || scope.names.contains_key(&key) {
                return true;
            }
            at = scope.parent;
        }
        false
    }

    /// An array of `base` with these dimensions, outermost first.
    pub(super) fn array(&mut self, scope: ScopeId, base: Type, dimensions: &[Expr]) -> Type {
        // The declaration reports an excess; dropping a deeper type might overflow the stack.
        let bounds: Vec<u32> = dimensions
            .iter()
            .take(MAX_TYPE_DEPTH + 1)
            .map(|dimension| self.bound(scope, dimension))
            .collect();
        bounds
            .into_iter()
            .rev()
            .fold(base, |element, bound| Type::Array(Box::new(element), bound))
    }

    /// Checks that `ty` is not an incomplete struct or union, of which only sequences are permitted. `within`: the struct or
    /// union whose members are being declared.
    pub(super) fn check_complete(&self, ty: &Type, span: Span, within: Option<DefId>) {
        let mut ty = self.model.unaliased(ty);
        while let Type::Array(element, _) = ty {
            ty = self.model.unaliased(element);
        }
        if let Some(def) = self.incomplete(ty) {
            let name = &def.name;
            let (message, label) = match within.is_some_and(|id| *ty == Type::Named(id)) {
                true => (format!("`{name}` would contain itself"), "it begins here"),
                false => (
                    format!("`{name}` is not complete here"),
                    "declared here, and not defined so far",
                ),
            };
            let report = Report::new(span, message).label(def.span, label);
            self.report(report.hint(format!("a `sequence<{name}>` is possible")));
        }
    }

    /// Checks that types of parameters and results are complete down to the elements of their sequences.
    pub(super) fn check_signature_type(&self, ty: &Type, span: Span) {
        let mut inner = self.model.unaliased(ty);
        let mut sequence = false;
        while let Type::Array(element, _) | Type::Sequence(element, _) = inner {
            sequence |= matches!(inner, Type::Sequence(..));
            inner = self.model.unaliased(element);
        }
        if let Some(def) = self.incomplete(inner) {
            let name = &def.name;
            let message = match sequence {
                true => format!("`{name}` is not complete here, and neither is a sequence of it"),
                false => format!("`{name}` is not complete here"),
            };
            let report = Report::new(span, message);
            let report = report.label(def.span, "declared here, and not defined so far");
            self.report(report.hint(format!("define `{name}` before this")));
        }
    }

    /// The struct or union that `ty` names, if it has a forward declaration only.
    fn incomplete(&self, ty: &Type) -> Option<&Def> {
        let Type::Named(id) = ty else { return None };
        let def = self.model.def(*id);
        match &def.kind {
            DefKind::Struct(Struct {
                complete: false, ..
            })
            | DefKind::Union(Union {
                complete: false, ..
            }) => Some(def),
            _ => None,
        }
    }

    /// Checks that an element type does not define a type inline.
    fn check_no_definition(&self, element: &TypeSpec) {
        if let TypeKind::Inline(definition) = &element.kind {
            let name = &definition.head.name;
            let message = format!("`{}` cannot be defined here", name.text);
            let report = Report::new(name.span, message);
            self.report(report.hint("define it before, and name it here"));
        }
    }

    /// `ty`, or an error if it is too deep. This limit bounds every recursion over types, here and in later stages.
    pub(super) fn bounded(&mut self, ty: Type, span: Span) -> Type {
        // A type that contains a reported one causes no second error.
        let mut inner = self.model.unaliased(&ty);
        while let Type::Sequence(element, _) | Type::Array(element, _) = inner {
            inner = self.model.unaliased(element);
        }
        if *inner == Type::Error {
            return Type::Error;
        }
        if self.depth(&ty, 0) <= MAX_TYPE_DEPTH {
            return ty;
        }
        let message =
            format!("this type is made of more than {MAX_TYPE_DEPTH} others, one in the other");
        self.report(Report::new(span, message));
        Type::Error
    }

    /// The number of levels of `ty`. A typedef has the depth of its type, which was counted at its declaration. Stops beyond
    /// the limit.
    pub(super) fn depth(&self, ty: &Type, so_far: usize) -> usize {
        let deeper = so_far + 1;
        if deeper > MAX_TYPE_DEPTH {
            return deeper;
        }
        match ty {
            Type::Sequence(element, _) | Type::Array(element, _) => self.depth(element, deeper),
            Type::Map(key, value, _) => self.depth(key, deeper).max(self.depth(value, deeper)),
            Type::Named(id) => so_far + self.depths.get(id).copied().unwrap_or(1),
            _ => deeper,
        }
    }

    /// Checks that the type of a parameter or result has a name.
    pub(super) fn check_named(&self, spec: &TypeSpec) {
        let what = match &spec.kind {
            TypeKind::Sequence { .. } => "a sequence",
            TypeKind::Map { .. } => "a map",
            TypeKind::Fixed(Some(_)) => "a fixed",
            TypeKind::Inline(_) => "a type definition",
            _ => return,
        };
        let report = Report::new(
            spec.span,
            format!("{what} cannot stand here without a name"),
        );
        self.report(report.hint("give it one with `typedef`"));
    }
}
