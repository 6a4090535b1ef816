//! Addresses in CDR: written and read again.
use crate::{AddressError, AddressReader, AddressWriter, Endpoint, conformance::Fixture};

/// The octets of a written address, for reading it again: CDR in either byte order, in which a value of n octets begins
/// at a multiple of n.
#[derive(Debug, Default)]
pub struct Octets {
    octets: Vec<u8>,
    at: usize,
    little: bool,
}

impl Octets {
    /// Makes octets to be read.
    #[must_use]
    pub fn new(octets: &[u8], little: bool) -> Self {
        let octets = octets.to_vec();
        Self {
            octets,
            at: 0,
            little,
        }
    }

    /// Returns the octets written.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    fn put(&mut self, little: &[u8]) {
        while !self.octets.len().is_multiple_of(little.len()) {
            self.octets.push(0);
        }
        let big = little.iter().rev();
        match self.little {
            true => self.octets.extend(little),
            false => self.octets.extend(big),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], AddressError> {
        let from = self.at.next_multiple_of(N);
        let taken = self.octets.get(from..from + N);
        let mut taken: [u8; N] = taken
            .and_then(|taken| taken.try_into().ok())
            .ok_or_else(cut_short)?;
        if !self.little {
            taken.reverse();
        }
        self.at = from + N;
        Ok(taken)
    }

    fn slice(&mut self) -> Result<&[u8], AddressError> {
        let length = usize::try_from(self.read_u32()?).map_err(|_| cut_short())?;
        let end = self.at.checked_add(length).ok_or_else(cut_short)?;
        let slice = self.octets.get(self.at..end).ok_or_else(cut_short)?;
        self.at = end;
        Ok(slice)
    }
}

fn cut_short() -> AddressError {
    AddressError::expected("more octets")
}

impl AddressWriter for Octets {
    fn write_u8(&mut self, value: u8) {
        self.put(&[value]);
    }
    fn write_u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }
    fn write_u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }
    fn write_u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }
    fn write_string(&mut self, octets: &[u8]) -> Result<(), AddressError> {
        if octets.contains(&0) {
            return Err(AddressError::expected("a string without NUL"));
        }
        self.write_octets(&[octets, &[0]].concat())
    }
    fn write_octets(&mut self, octets: &[u8]) -> Result<(), AddressError> {
        self.write_u32(u32::try_from(octets.len()).map_err(|_| cut_short())?);
        self.octets.extend(octets);
        Ok(())
    }
}

impl AddressReader for Octets {
    fn read_u8(&mut self) -> Result<u8, AddressError> {
        Ok(u8::from_le_bytes(self.take()?))
    }
    fn read_u16(&mut self) -> Result<u16, AddressError> {
        Ok(u16::from_le_bytes(self.take()?))
    }
    fn read_u32(&mut self) -> Result<u32, AddressError> {
        Ok(u32::from_le_bytes(self.take()?))
    }
    fn read_u64(&mut self) -> Result<u64, AddressError> {
        Ok(u64::from_le_bytes(self.take()?))
    }
    fn read_string(&mut self) -> Result<&[u8], AddressError> {
        match self.slice()?.split_last() {
            Some((0, text)) if !text.contains(&0) => Ok(text),
            _ => Err(AddressError::expected("a string that ends with NUL")),
        }
    }
    fn read_octets(&mut self) -> Result<&[u8], AddressError> {
        self.slice()
    }
}

/// Returns the endpoints of the fixture on which the checks run.
fn endpoints(fixture: &dyn Fixture) -> Vec<Endpoint> {
    vec![fixture.endpoint(), fixture.unreachable().0]
}

pub async fn text_is_read_as_the_endpoint_that_it_was_written_from(fixture: &dyn Fixture) {
    let transport = fixture.transport();
    let mut registry = crate::Registry::empty();
    registry.insert(transport.clone());
    for endpoint in endpoints(fixture) {
        assert_eq!(endpoint.scheme(), transport.scheme());
        let text = endpoint.to_string();
        assert_eq!(registry.parse(&text), Ok(endpoint.clone()));
        // A scheme is read in any case.
        let (scheme, address) = text.split_once("://").expect("a scheme");
        let shouted = format!("{}://{address}", scheme.to_ascii_uppercase());
        assert_eq!(registry.parse(&shouted), Ok(endpoint.clone()));
        let listen = registry.parse_listen(&text).expect("an endpoint");
        assert_eq!(listen.endpoint, endpoint);
    }
    for text in [
        "", "://", "x", "\0", "%", "%zz", "[", "@", "/\0", ":::::", "\u{202e}",
    ] {
        // An endpoint that is read from any text is written as text that is read again.
        if let Ok(endpoint) = transport.addressing().parse(text) {
            assert_eq!(registry.parse(&endpoint.to_string()), Ok(endpoint));
        }
    }
}

pub async fn octets_are_read_as_the_endpoint_that_they_were_written_from(fixture: &dyn Fixture) {
    let transport = fixture.transport();
    let addressing = transport.addressing();
    if addressing.profile().is_none() {
        return;
    }
    for endpoint in endpoints(fixture) {
        for little in [false, true] {
            let mut written = Octets::new(&[], little);
            addressing
                .write(&endpoint, &mut written)
                .expect("an address of its own");
            let octets = written.octets().to_vec();
            let read = |octets: &[u8]| addressing.read(&mut Octets::new(octets, little));
            assert_eq!(read(&octets).as_ref(), Ok(&endpoint));
            let behind = [&octets[..], b"and more"].concat();
            assert_eq!(
                read(&behind).as_ref(),
                Ok(&endpoint),
                "what comes behind is not looked at"
            );
            for cut in 0..octets.len() {
                assert!(read(&octets[..cut]).is_err(), "cut at {cut}");
            }
            // With one bit flipped, the octets are an address or an error.
            for at in 0..octets.len() * 8 {
                let mut bent = octets.clone();
                bent[at / 8] ^= 1 << (at % 8);
                if let Ok(other) = read(&bent) {
                    assert_eq!(other.scheme(), endpoint.scheme());
                }
            }
        }
    }
}

pub async fn components_are_read_as_what_was_written_and_cut_ones_are_errors(
    fixture: &dyn Fixture,
) {
    let transport = fixture.transport();
    let addressing = transport.addressing();
    for component in addressing.components() {
        for endpoint in endpoints(fixture) {
            for little in [false, true] {
                let mut written = Octets::new(&[], little);
                let is_written = addressing
                    .write_component(*component, &endpoint, &mut written)
                    .expect("an address of its own");
                let octets = written.octets().to_vec();
                let read = |octets: &[u8]| {
                    addressing.read_component(*component, &mut Octets::new(octets, little))
                };
                if is_written {
                    assert_eq!(read(&octets).as_deref(), Ok(&[endpoint.clone()][..]));
                }
                for cut in 0..octets.len() {
                    assert!(read(&octets[..cut]).is_err(), "cut at {cut}");
                }
                // A count without elements behind it.
                let endless = [0xff; 8];
                assert!(read(&endless).is_err());
            }
        }
    }
}

pub async fn another_transport_s_endpoint_is_not_written(fixture: &dyn Fixture) {
    #[derive(Debug)]
    struct Foreign;
    impl std::fmt::Display for Foreign {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("foreign")
        }
    }
    impl crate::EndpointAddress for Foreign {}
    // An address of another type is refused even under the same scheme.
    let transport = fixture.transport();
    let foreign = Endpoint::new(transport.scheme(), Foreign);
    let written = transport
        .addressing()
        .write(&foreign, &mut Octets::default());
    assert!(written.is_err());
    let error = transport.connect(&foreign).await.expect_err("not ours");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

pub async fn properties_are_reported_and_refused_by_name(fixture: &dyn Fixture) {
    let transport = fixture.transport();
    let error = transport
        .with_property("no such property", "1")
        .expect_err("no such property");
    assert!(error.to_string().contains("no such property=1"), "{error}");
    for property in transport.properties() {
        let nonsense = transport.with_property(property.name, "\u{1}nonsense");
        let error = nonsense.expect_err("no value of anything").to_string();
        assert!(
            error.contains(property.name) && error.contains(property.values),
            "{error}"
        );
    }
}
