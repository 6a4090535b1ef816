//! The factories of value types.

use crate::features::two_orbs::{from_afar, in_time, orb};
use zorb::{SystemException, Value};

zorb::idl! {
    module Nursery {
        typedef sequence<octet> Dna;
        exception Weed { string name; };
        valuetype Plant {
            public string name;
            private double height;
            attribute double taller;
            factory new(in string name);
            factory graft(in Plant onto, in Dna genes, in string name) raises (Weed);
        };
        valuetype Tree : Plant {
            public long rings;
            factory new(in long rings);
        };
        // Which is why the trait is not called so.
        interface PlantFactory { Plant make(in string name); };
    };
}

use nursery::plant::GraftError;
use nursery::{
    Plant, PlantFactories, PlantFactory, PlantFactoryRef, PlantFactoryServant, PlantOperations,
    Tree, TreeFactories, Weed,
};

impl PlantFactories for Plant {
    fn new(name: &str) -> Result<Value<Self>, SystemException> {
        Ok(Value::new(Self {
            name: name.to_owned(),
            height: 0.0,
        }))
    }

    fn graft(
        onto: Option<Value<Self>>,
        genes: &[u8],
        name: &str,
    ) -> Result<Value<Self>, GraftError> {
        let height = onto.map_or(0.0, |onto| onto.read().height);
        if genes.is_empty() {
            let name = name.to_owned();
            return Err(Weed { name }.into());
        }
        let grafted = <Self as PlantFactories>::new(name)?;
        grafted.write().height = height;
        Ok(grafted)
    }
}

impl TreeFactories for Tree {
    fn new(rings: i32) -> Result<Value<Self>, SystemException> {
        let base = Plant {
            name: "tree".to_owned(),
            height: f64::from(rings),
        };
        Ok(Value::new(Self { base, rings }))
    }
}

impl PlantOperations for Plant {
    fn taller(&self) -> Result<f64, SystemException> {
        Ok(self.height + 1.0)
    }
    fn set_taller(&mut self, value: f64) -> Result<(), SystemException> {
        self.height = value;
        Ok(())
    }
}

impl PlantOperations for Tree {
    fn taller(&self) -> Result<f64, SystemException> {
        self.base.taller()
    }
    fn set_taller(&mut self, value: f64) -> Result<(), SystemException> {
        self.base.set_taller(value)
    }
}

struct Servant;

impl PlantFactory for Servant {
    async fn make(&self, name: &str) -> Result<Option<Value<Plant>>, SystemException> {
        Ok(Some(Plant::new(name)?))
    }
}

#[tokio::test]
async fn what_a_factory_makes_travels_as_any_value_does() {
    let (server, client) = (orb().await, orb().await);
    for orb in [&server, &client] {
        orb.register_value::<Plant>();
    }
    let nursery = server
        .root_poa()
        .activate(PlantFactoryServant::new(Servant))
        .unwrap();
    let nursery: PlantFactoryRef = from_afar(&client, &nursery).await;
    let rose = in_time(nursery.make("rose")).await.unwrap().unwrap();
    assert_eq!((&*rose.read().name, rose.taller()), ("rose", Ok(1.0)));

    let tree = Tree::new(7).unwrap();
    assert_eq!(tree.read().rings, 7);
    let pear = Plant::graft(Some(tree.upcast()), &[1], "pear").unwrap();
    assert_eq!((&*pear.read().name, pear.read().height), ("pear", 7.0));
    let error = Plant::graft(None, &[], "nettle").unwrap_err();
    assert_eq!(error.to_string(), r#"Weed name="nettle""#);
}
