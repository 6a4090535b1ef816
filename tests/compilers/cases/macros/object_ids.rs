//! Sets of object ids that are none.

use zorb_idl_macros::object_ids_tokens;

fn main() {
    object_ids_tokens! { [zorb] "main", b"other", b"main" };
    object_ids_tokens! { [zorb] "main", 7 };
    object_ids_tokens! { "main" };
}
