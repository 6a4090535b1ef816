zorb::idl! {
    module Shapes {
        component Shape {
            attribute double radius;
        };
        interface Canvas {
            void draw(in Object what);
        };
    };
}

fn main() {}
