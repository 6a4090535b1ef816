//! Bitsets and bitmasks.

use super::Resolver;
use crate::ast::{Basic, BitfieldDcl, Expr, Head, ScopedName};
use crate::diagnostic::Report;
use crate::model::{Bitfield, Bitmask, Bitset, DefId, DefKind, ScopeId, Type, Value};

/// The most bits of a bitset or bitmask (IDL 4): as many as the widest integer has.
const MAX_BITS: u32 = 64;

impl Resolver<'_> {
    pub(super) fn bitset(
        &mut self,
        scope: ScopeId,
        head: &Head,
        base: Option<&ScopedName>,
        fields: &[BitfieldDcl],
    ) {
        let base = base.and_then(|name| self.bitset_base(scope, name));
        let inner = self.new_scope(scope);
        let bitset = Bitset {
            scope: inner,
            base,
            fields: Vec::new(),
        };
        let id = self.declare(scope, head, DefKind::Bitset(bitset));
        self.model.scopes[inner.0].owner = Some(id);
        let mut used = base.map_or(0, |base| self.bits(base));
        let inherited = self.inherited_names(base);
        let mut resolved = Vec::new();
        for field in fields {
            let width = self.bound(scope, &field.width).min(MAX_BITS + 1);
            used += width;
            if used > MAX_BITS {
                let message = format!("`{}` has more than {MAX_BITS} bits", head.name.text);
                self.report(Report::new(field.width.span, message));
                break;
            }
            let ty = self.bitfield_type(scope, field, width);
            if let Some(head) = &field.head {
                self.check_inherited(&inherited, head);
            }
            let def = field
                .head
                .as_ref()
                .map(|head| self.declare(inner, head, DefKind::Member));
            resolved.push(Bitfield { def, width, ty });
        }
        if let DefKind::Bitset(bitset) = &mut self.model.defs[id.0].kind {
            bitset.fields = resolved;
        }
    }

    fn bitset_base(&mut self, scope: ScopeId, name: &ScopedName) -> Option<DefId> {
        let id = self.lookup(scope, name)?;
        let def = self.model.def(id);
        match def.kind {
            DefKind::Bitset(_) => return self.check_chain(id, name).then_some(id),
            DefKind::Unsupported => {}
            _ => {
                let message = format!("`{}` is {}, not a bitset", def.name, self.model.noun(id));
                self.report(Report::new(name.span(), message).label(def.span, "declared here"));
            }
        }
        None
    }

    /// The number of bits of a bitset with its bases.
    fn bits(&self, id: DefId) -> u32 {
        let mut bits = 0;
        let mut at = Some(id);
        while let Some(id) = at {
            let DefKind::Bitset(bitset) = &self.model.def(id).kind else {
                break;
            };
            bits += bitset.fields.iter().map(|field| field.width).sum::<u32>();
            at = bitset.base;
        }
        bits
    }

    /// The type of a field: the declared one, or the smallest that holds it.
    fn bitfield_type(&mut self, scope: ScopeId, field: &BitfieldDcl, width: u32) -> Basic {
        let smallest = match width {
            1 => Basic::Boolean,
            2..=8 => Basic::Octet,
            9..=16 => Basic::UShort,
            17..=32 => Basic::ULong,
            _ => Basic::ULongLong,
        };
        let Some(spec) = &field.ty else {
            return smallest;
        };
        let ty = self.type_spec(scope, spec, true);
        let (basic, holds) = match *self.model.unaliased(&ty) {
            Type::Error => return smallest,
            Type::Basic(basic @ Basic::Boolean) => (basic, 1),
            Type::Basic(basic @ (Basic::Octet | Basic::Int8)) => (basic, 8),
            Type::Basic(basic @ (Basic::Short | Basic::UShort)) => (basic, 16),
            Type::Basic(basic @ (Basic::Long | Basic::ULong)) => (basic, 32),
            Type::Basic(basic @ (Basic::LongLong | Basic::ULongLong)) => (basic, 64),
            _ => {
                let message = "the type of a bitfield is a whole number or boolean";
                self.report(Report::new(spec.span, message));
                return smallest;
            }
        };
        if width > holds {
            let message = format!("{width} bits do not fit into this type, which has {holds}");
            self.report(Report::new(spec.span, message));
        }
        basic
    }

    pub(super) fn bitmask(&mut self, scope: ScopeId, head: &Head, names: &[Head]) {
        let width = match self.number_of(scope, head, "bit_bound") {
            Some((width, expr)) if width == 0 || width > MAX_BITS => {
                let message = format!("a bitmask has 1 to {MAX_BITS} bits");
                self.report(Report::new(expr.span, message));
                MAX_BITS
            }
            Some((width, _)) => width,
            None => 32,
        };
        let bitmask = Bitmask {
            width,
            bits: Vec::new(),
        };
        let id = self.declare(scope, head, DefKind::Bitmask(bitmask));
        let mut bits: Vec<(DefId, u32)> = Vec::new();
        let mut next = 0;
        for name in names {
            let annotated = self.number_of(scope, name, "position");
            let span = annotated.map_or(name.name.span, |(_, expr)| expr.span);
            let position = annotated.map_or(next, |(position, _)| position);
            if position >= width {
                let message = format!("position {position} lies outside of {width} bits");
                self.report(Report::new(span, message));
                break;
            }
            if let Some((other, _)) = bits.iter().find(|(_, taken)| *taken == position) {
                let message = format!("position {position} is taken");
                let other = self.model.def(*other).span;
                self.report(Report::new(span, message).label(other, "by this flag"));
            }
            let bit = self.declare(scope, name, DefKind::Bit(id));
            bits.push((bit, position));
            next = position.saturating_add(1);
        }
        if let DefKind::Bitmask(bitmask) = &mut self.model.defs[id.0].kind {
            bitmask.bits = bits;
        }
    }

    /// The integer value of an annotation of `head`, and its expression.
    fn number_of<'a>(
        &mut self,
        scope: ScopeId,
        head: &'a Head,
        annotation: &str,
    ) -> Option<(u32, &'a Expr)> {
        let (_, expr) = head.annotation(annotation)?.values.first()?;
        match self.constant(scope, &Type::Basic(Basic::ULong), None, expr) {
            Value::Integer(number) => u32::try_from(number).ok().map(|number| (number, expr)),
            _ => None,
        }
    }
}
