zorb::idl! {
    module Shapes {
        union Shape switch (long) {
            case 1: double radius;
            default: string name;
        };
        interface Canvas {
            void draw(in Shape what);
        };
    };
}

fn main() {}
