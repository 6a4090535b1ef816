//! A store whose operations are measured, by the facade `metrics`.

use metrics::{counter, histogram};
use std::time::Instant;
use zorb_named::store::{
    Change, ContextId, Found, Key, Outcome, Page, PageLimits, Place, Store, StoreError,
};

/// The store beneath. The histogram `zorb_named_store_seconds` has the label `operation`, the counter `zorb_named_store_total`
/// the label `outcome` besides.
pub(crate) struct Measured<S>(pub(crate) S);

/// What became of an operation, as a label.
fn failed(error: &StoreError) -> &'static str {
    match error {
        StoreError::Full => "full",
        StoreError::Unreachable(_) => "unreachable",
        _ => "failed",
    }
}

async fn measure<T>(
    operation: &'static str,
    done: impl Future<Output = Result<T, StoreError>>,
    outcome: impl Fn(&T) -> &'static str,
) -> Result<T, StoreError> {
    let started = Instant::now();
    let done = done.await;
    histogram!("zorb_named_store_seconds", "operation" => operation).record(started.elapsed());
    let outcome = done.as_ref().map_or_else(failed, outcome);
    counter!("zorb_named_store_total", "operation" => operation, "outcome" => outcome).increment(1);
    done
}

impl<S: Store> Store for Measured<S> {
    fn root(&self) -> ContextId {
        self.0.root()
    }

    async fn get(&self, context: ContextId, key: &Key) -> Result<Found, StoreError> {
        let outcome = |found: &Found| match found {
            Found::Bound(_) => "bound",
            Found::Unbound => "unbound",
            Found::NoContext => "no_context",
        };
        measure("get", self.0.get(context, key), outcome).await
    }

    async fn has_context(&self, context: ContextId) -> Result<bool, StoreError> {
        let outcome = |is_there: &bool| if *is_there { "bound" } else { "no_context" };
        measure("has_context", self.0.has_context(context), outcome).await
    }

    async fn list(
        &self,
        context: ContextId,
        after: Option<&Place>,
        limits: PageLimits,
    ) -> Result<Option<Page>, StoreError> {
        let outcome = |page: &Option<Page>| match page {
            Some(_) => "done",
            None => "no_context",
        };
        measure("list", self.0.list(context, after, limits), outcome).await
    }

    async fn change(&self, change: Change) -> Result<Outcome, StoreError> {
        let operation = match change {
            Change::Bind { .. } => "bind",
            Change::BindNew { .. } => "bind_new_context",
            Change::Unbind { .. } => "unbind",
            Change::Create { .. } => "new_context",
            Change::Destroy { .. } => "destroy",
        };
        let outcome = |outcome: &Outcome| match outcome {
            Outcome::Done => "done",
            Outcome::NoContext => "no_context",
            Outcome::AlreadyBound => "already_bound",
            Outcome::NotBound => "not_bound",
            Outcome::IsContext | Outcome::IsObject => "other_type",
            Outcome::NotEmpty => "not_empty",
        };
        measure(operation, self.0.change(change), outcome).await
    }

    async fn close(&self) {
        self.0.close().await;
    }
}
