//! The compiler through its public interface, in one executable. What the tests read and compare is in the folders beside
//! this one.

mod constants;
mod files;
mod golden;
mod hostile;
mod ids;
mod language;
mod rules;
mod soup;
