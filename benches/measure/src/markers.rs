//! Filling what was measured into a page, between markers.

use std::fs;
use std::path::Path;
use xtask::step::Done;

/// Puts `body` between `<!-- NAME: filled in by … -->` and `<!-- NAME: end -->`.
///
/// # Errors
/// The file cannot be read or written, or has not both markers.
pub(crate) fn fill(file: &Path, name: &str, body: &str) -> Done {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|e| format!("{shown}: {e}"))?;
    let text = filled(&text, name, body).ok_or_else(|| format!("{shown}: no place for {name}"))?;
    fs::write(file, text).map_err(|e| format!("{shown}: {e}"))
}

/// A page's text with `body` between the markers; none if it has not both of them.
pub(crate) fn filled(text: &str, name: &str, body: &str) -> Option<String> {
    let begin = text.find(&format!("<!-- {name}: filled in by "))?;
    let (_, rest) = text.split_at_checked(begin)?;
    let begin = begin + rest.find("-->")? + "-->".len();
    let end = begin + text.get(begin..)?.find(&format!("<!-- {name}: end -->"))?;
    let (before, after) = (text.get(..begin)?, text.get(end..)?);
    Some(format!("{before}\n\n{}\n\n{after}", body.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "a\n<!-- x: filled in by a tool -->\nold\n<!-- x: end -->\nb\n";

    #[test]
    fn what_is_between_the_markers_is_replaced() {
        let once = filled(PAGE, "x", "new\n").unwrap();
        assert_eq!(
            once,
            "a\n<!-- x: filled in by a tool -->\n\nnew\n\n<!-- x: end -->\nb\n"
        );
        assert_eq!(filled(&once, "x", "new").unwrap(), once);
    }

    #[test]
    fn a_page_without_the_markers_is_left_alone() {
        assert_eq!(filled(PAGE, "y", "new"), None);
        assert_eq!(filled("<!-- x: filled in by a tool -->", "x", "new"), None);
    }
}
