//! Unions: their discriminator and their labels.

use super::Resolver;
use crate::ast::{Basic, Head, Label, Union as AstUnion};
use crate::diagnostic::Report;
use crate::model::{Case, DefId, DefKind, Feature, Member, ScopeId, Type, Union};
use crate::source::Span;

impl Resolver<'_> {
    /// The union `head` names, made or found; `None` when it cannot be filled.
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

    pub(super) fn union(&mut self, scope: ScopeId, head: &Head, union: &AstUnion) {
        let Some(id) = self.union_entry(scope, head, true) else {
            return;
        };
        self.feature(Feature::Union, head.name.span, scope);
        let Some(inner) = self.model.own_scope(id) else {
            return;
        };
        let discriminator = self.type_spec(inner, &union.discriminator, true);
        let discriminator = self.discriminator(discriminator, union.discriminator.span);
        let mut cases = Vec::new();
        let mut first_default: Option<Span> = None;
        for case in &union.cases {
            let mut labels = Vec::new();
            let mut default = false;
            for label in &case.labels {
                match label {
                    Label::Default(span) => {
                        default = true;
                        match first_default {
                            None => first_default = Some(*span),
                            Some(first) => {
                                let report = Report::new(*span, "this union has a default already");
                                self.report(report.label(first, "the first is here"));
                            }
                        }
                    }
                    Label::Value(value) => {
                        labels.push(self.constant(inner, &discriminator, value));
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
        if let DefKind::Union(union) = &mut self.model.defs[id.0].kind {
            union.discriminator = discriminator;
            union.cases = cases;
            union.complete = true;
        }
    }

    /// `ty` if it can tell members apart.
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
}
