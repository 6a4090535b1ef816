use zorb::SystemException;

zorb::idl! {
    interface Listener {};
    interface Loud : Listener {};
    interface Room {
        void join(in Listener who);
    };
}

async fn call(
    room: &RoomRef,
    loud: Option<LoudRef>,
) -> Result<(), SystemException> {
    room.join(loud).await?;
    Ok(())
}

fn main() {}
