//! Values on the wire, by hand: octets as the fact sheet has them, in both byte orders, and what is wrong with others.

mod chunks;
mod deep;
mod forms;
mod refused;
mod support;
