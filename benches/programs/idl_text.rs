//! IDL of any length, of the kind that management models are made of: modules with enums, structs,
//! exceptions, constants, and interfaces that inherit and refer to each other; with comments.

use std::fmt::Write;

/// About so many lines of IDL, always the same ones. They compile.
pub(crate) fn text(lines: usize) -> String {
    let mut text = String::from(
        "// A model that another program has written.\n#ifndef MODEL_IDL\n#define MODEL_IDL\n#pragma prefix \"example.com\"\n\n",
    );
    let mut written = 5;
    let mut number = 0;
    while written < lines {
        let part = part(number);
        written += part.lines().count();
        text.push_str(&part);
        number += 1;
    }
    text.push_str("#endif\n");
    text
}

/// One module of about a hundred lines. Of each three, two use what the one before has.
fn part(n: usize) -> String {
    let mut text = String::new();
    let mut put = |line: &str| {
        let _ = writeln!(text, "{}", line.replace("%n", &n.to_string()));
    };
    put("/**\n * What equipment of kind %n is, and what can be done with it.\n */");
    put("module Equipment%n {");
    put("  const long MAX_PORTS = 16 * (1 + %n % 7);");
    put("  const string VENDOR = \"vendor %n\";");
    put("  typedef unsigned long PortNumber;");
    put("  typedef sequence<PortNumber> PortNumbers;");
    put("  typedef octet Address[6];\n");
    put("  /// Whether it may be used.");
    put("  enum AdministrativeState { locked, shuttingDown, unlocked };");
    put("  enum AlarmSeverity { cleared, indeterminate, warning, minor, major, critical };\n");
    for kind in ["Port", "Card", "Shelf", "Rack"] {
        put(&format!(
            "  // A {kind} as it is written down.\n  struct {kind}Info {{"
        ));
        put("    string name;            // within its holder");
        put("    PortNumber first;\n    PortNumbers others;\n    AdministrativeState state;");
        put("    double load;\n    unsigned long long installed_at;\n    boolean in_service;");
        put("    Address hardware_address;");
        put(&format!(
            "  }};\n  typedef sequence<{kind}Info> {kind}Infos;\n"
        ));
    }
    put(
        "  struct Alarm {\n    AlarmSeverity severity;\n    string<255> cause;\n    unsigned long long raised_at;\n  };",
    );
    put("  typedef sequence<Alarm> Alarms;\n");
    put("  exception NotFound { string name; };");
    put("  exception Refused { string reason; AdministrativeState state; };\n");
    put("  interface Holder;\n");
    put("  /// Anything that is managed.\n  ///\n  /// Names are unique within a holder.");
    put(&match n % 3 {
        0 => "  interface Managed {".to_owned(),
        _ => format!("  interface Managed : Equipment{}::Watched {{", n - 1),
    });
    put("    readonly attribute string name_%n;\n    attribute AdministrativeState state_%n;");
    put("    Holder holder_%n() raises (NotFound);");
    put(
        "    Alarms alarms_%n(in AlarmSeverity at_least, in unsigned long how_many, out boolean more)",
    );
    put("      raises (Refused);");
    put("    oneway void acknowledge_%n(in PortNumbers ports);");
    put("  };\n");
    put("  interface Watched {");
    put("    attribute string operator_%n;");
    put("    void watch_%n(in Holder who, in string why) raises (Refused);");
    put("  };\n");
    put("  interface Holder : Managed, Watched {");
    for kind in ["Port", "Card", "Shelf", "Rack"] {
        let lower = kind.to_lowercase();
        put(&format!(
            "    {kind}Infos list_{lower}s(in unsigned long from, in unsigned long how_many);"
        ));
        put(&format!(
            "    {kind}Info find_{lower}(in string name) raises (NotFound);"
        ));
        put(&format!(
            "    void add_{lower}(in {kind}Info what, inout PortNumber number)\n      raises (Refused, NotFound);"
        ));
    }
    put("  };\n};\n");
    text
}
