//! The interface, its arguments with their cubes, and the server.

/// The IDL Cubit's interface.
#[zorb::idl_file("cubit.idl")]
pub mod idl {}

pub(crate) use idl::papers::cubit::{Cubes, CubesRef, CubesServant, Many};
use zorb::{Bytes, OctetsRef, Orb, SystemException};
use zorb_floor::digest;
use zorb_papers::dialogue::Failure;
use zorb_papers::place::{Server, take_leave};
use zorb_papers::sockets::fold;

/// Numbers that wrap.
macro_rules! cubes {
    ($($name:ident $number:ty),*) => {$(
        pub(crate) fn $name(it: $number) -> $number {
            it.wrapping_mul(it).wrapping_mul(it)
        }
    )*};
}

cubes!(octet u8, short i16, long i32);

pub(crate) fn many(it: &Many) -> Many {
    Many {
        o: octet(it.o),
        l: long(it.l),
        s: short(it.s),
    }
}

/// Folds a struct.
pub(crate) fn digest_many(it: &Many) -> u64 {
    digest::bin_struct(it.s, 0, it.l, it.o, 0.0)
}

struct Cuber {
    orb: Orb,
}

impl Cubes for Cuber {
    async fn cube_void(&self) -> Result<(), SystemException> {
        fold(1);
        Ok(())
    }

    async fn cube_octet(&self, o: u8) -> Result<u8, SystemException> {
        fold(u64::from(o));
        Ok(octet(o))
    }

    async fn cube_short(&self, s: i16) -> Result<i16, SystemException> {
        fold(u64::from(s.cast_unsigned()));
        Ok(short(s))
    }

    async fn cube_long(&self, l: i32) -> Result<i32, SystemException> {
        fold(u64::from(l.cast_unsigned()));
        Ok(long(l))
    }

    async fn cube_struct(&self, m: &Many) -> Result<Many, SystemException> {
        fold(digest_many(m));
        Ok(many(m))
    }

    async fn cube_octets(&self, data: OctetsRef<'_>) -> Result<Bytes, SystemException> {
        fold(digest::octets(&data));
        Ok(data.iter().copied().map(octet).collect())
    }

    async fn cube_longs(&self, data: &[i32]) -> Result<Vec<i32>, SystemException> {
        fold(digest::longs(data));
        Ok(data.iter().copied().map(long).collect())
    }

    async fn cube_structs(&self, data: &[Many]) -> Result<Vec<Many>, SystemException> {
        let sum = data.iter().map(digest_many);
        fold(sum.fold(data.len() as u64, u64::wrapping_add));
        Ok(data.iter().map(many).collect())
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        take_leave(&self.orb).await
    }
}

/// Has an ORB cube, and returns the references.
pub(crate) fn activate(orb: &Orb) -> Result<Vec<String>, Failure> {
    let cuber = Cuber { orb: orb.clone() };
    let cubes = orb.root_poa().activate(CubesServant::new(cuber))?;
    Ok(vec![orb.object_to_string(&cubes)])
}

/// Serves until a client ends it.
pub(crate) async fn serve(server: Server) -> Result<(), Failure> {
    server.with_orb(activate).await
}
