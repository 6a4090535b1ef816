//! Unions: their discriminator and their labels.

use std::collections::HashMap;

use super::Resolver;
use crate::ast::{Basic, CaseLabel, Expr, ExprKind, Head, ScopedName, UnionDef};
use crate::diagnostic::Report;
use crate::model::{Case, DefId, DefKind, Member, ScopeId, Type, Union, Value, show_wide};
use crate::source::Span;

/// The labels of a union that have been resolved so far.
#[derive(Default)]
struct Labels {
    /// The places of labels, by their ordinals.
    values: HashMap<i128, Span>,
    default: Option<Span>,
    /// Whether a label is unknown, which was reported.
    faulty: bool,
}

impl Resolver<'_> {
    /// The union that `head` names, a new or an existing one; `None` if it cannot be defined here.
    pub(super) fn union_entry(
        &mut self,
        scope: ScopeId,
        head: &Head,
        define: bool,
    ) -> Option<DefId> {
        if let Some(id) = self.existing(scope, head)
            && let DefKind::Union(Union { complete, .. }) = self.model.def(id).kind
            && !(complete && define)
        {
            self.redeclared(id, head, define);
            return define.then_some(id);
        }
        let inner = self.new_scope(scope);
        let union = Union {
            scope: inner,
            complete: false,
            discriminator: Type::Error,
            cases: Vec::new(),
        };
        let id = self.declare(scope, head, DefKind::Union(union));
        self.model.scopes[inner.0].owner = Some(id);
        define.then_some(id)
    }

    pub(super) fn union(&mut self, scope: ScopeId, head: &Head, union: &UnionDef) {
        let Some(id) = self.union_entry(scope, head, true) else {
            return;
        };
        let Some(inner) = self.model.own_scope(id) else {
            return;
        };
        let written = union.discriminator.span;
        let discriminator = self.type_spec(inner, &union.discriminator, true);
        let discriminator = self.discriminator(discriminator, written);
        let mut seen = Labels::default();
        let mut cases = Vec::new();
        for case in &union.cases {
            let mut labels = Vec::new();
            let mut default = false;
            for label in &case.labels {
                match label {
                    CaseLabel::Default(span) => {
                        default = true;
                        self.default(&mut seen, *span);
                    }
                    CaseLabel::Value(expr) => {
                        let value = self.label(inner, &discriminator, written, expr);
                        self.distinct(&mut seen, &value, expr.span);
                        labels.push(value);
                    }
                }
            }
            let (def, ty) = self.declare_member(id, inner, &case.member);
            let member = Member { def, ty };
            cases.push(Case {
                labels,
                default,
                member,
            });
        }
        self.check_default(&seen, &discriminator, written);
        if let DefKind::Union(union) = &mut self.model.defs[id.0].kind {
            union.discriminator = discriminator;
            union.cases = cases;
            union.complete = true;
        }
    }

    /// `ty` if it may be the type of a discriminator; otherwise an error is reported.
    fn discriminator(&self, ty: Type, span: Span) -> Type {
        let fits = match self.model.unaliased(&ty) {
            Type::Basic(Basic::Float | Basic::Double | Basic::LongDouble) => false,
            Type::Basic(_) | Type::Error => true,
            Type::Named(id) => matches!(self.model.def(*id).kind, DefKind::Enum(_)),
            _ => false,
        };
        if fits {
            return ty;
        }
        let report = Report::new(span, "this type cannot tell the members of a union apart");
        self.report(report.hint("a whole number, a character, a boolean or an enum can"));
        Type::Error
    }

    fn label(&mut self, scope: ScopeId, ty: &Type, written: Span, expr: &Expr) -> Value {
        if let (Type::Named(id), ExprKind::Named(name)) = (self.model.unaliased(ty), &expr.kind)
            && let Some(enumerator) = self.enumerator_of(*id, scope, name)
        {
            return Value::Enumerator(enumerator);
        }
        self.constant(scope, ty, Some(written), expr)
    }

    /// The enumerator of `of` that `name` names, unless normal look-up finds it anyway. The labels of a union may use the
    /// enumerators of its discriminator, wherever the enum is declared.
    fn enumerator_of(&mut self, of: DefId, scope: ScopeId, name: &ScopedName) -> Option<DefId> {
        let [part] = &name.parts[..] else {
            return None;
        };
        if name.global {
            return None;
        }
        let key = self.model.key(&part.text);
        if let Some(Some((found, _))) = self.search(scope, &key, name) {
            let of_enum = match &self.model.def(found).kind {
                DefKind::Enumerator(parent) => *parent == of,
                DefKind::Const(_, Value::Enumerator(value)) => {
                    matches!(self.model.def(*value).kind, DefKind::Enumerator(parent) if parent == of)
                }
                _ => false,
            };
            if of_enum {
                return None;
            }
        }
        // Enumerators are declared in the scope around their enum.
        let around = self.model.scope(self.model.def(of).scope);
        let known = around.names.get(&key).copied()?;
        if !matches!(self.model.def(known).kind, DefKind::Enumerator(parent) if parent == of) {
            return None;
        }
        self.check_use(known, &part.text, part.span);
        self.introduce(scope, self.model.def(known).scope, &key, part.span, known);
        Some(known)
    }

    fn distinct(&self, seen: &mut Labels, value: &Value, span: Span) {
        let (key, shown) = match value {
            Value::Integer(number) => (*number, number.to_string()),
            Value::Char(c) => (u32::from(*c).into(), format!("{c:?}")),
            Value::WideChar(c) => ((*c).into(), format!("L{}", show_wide(*c))),
            Value::Boolean(true) => (1, "TRUE".to_owned()),
            Value::Boolean(false) => (0, "FALSE".to_owned()),
            Value::Enumerator(id) => {
                let key = i128::try_from(id.0).unwrap_or(i128::MAX);
                (key, self.model.def(*id).name.to_string())
            }
            _ => return seen.faulty = true,
        };
        if let Some(&first) = seen.values.get(&key) {
            let message = format!("two labels of this union are `{shown}`");
            self.report(Report::new(span, message).label(first, "the first is here"));
        } else {
            seen.values.insert(key, span);
        }
    }

    fn default(&self, seen: &mut Labels, span: Span) {
        match seen.default {
            Some(first) => {
                let report = Report::new(span, "a union has one `default`");
                self.report(report.label(first, "the first is here"));
            }
            None => seen.default = Some(span),
        }
    }

    /// Reports a `default` whose union has labels for every value.
    fn check_default(&self, seen: &Labels, discriminator: &Type, written: Span) {
        let values: u64 = match self.model.unaliased(discriminator) {
            Type::Basic(Basic::Boolean) => 2,
            Type::Basic(Basic::Char | Basic::Octet | Basic::Int8) => 1 << 8,
            Type::Basic(Basic::Short | Basic::UShort | Basic::WideChar) => 1 << 16,
            Type::Named(id) => match &self.model.def(*id).kind {
                DefKind::Enum(enumerators) => enumerators.len() as u64,
                _ => return,
            },
            // No real union has that many labels.
            _ => return,
        };
        if let Some(span) = seen.default
            && !seen.faulty
            && seen.values.len() as u64 >= values
        {
            let report = Report::new(span, "no value is left for this `default`");
            let report = report.label(written, format!("the labels cover all {values} values"));
            self.report(report.hint("leave it out"));
        }
    }
}
