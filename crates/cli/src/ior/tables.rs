//! Tables of the names of tags, code sets, policies and options.

/// Profile tags of the OMG and of TAO.
static PROFILES: phf::Map<u32, &'static str> = phf::phf_map! {
    0_u32 => "TAG_INTERNET_IOP",
    1 => "TAG_MULTIPLE_COMPONENTS",
    2 => "TAG_SCCP_IOP",
    3 => "TAG_UIPMC",
    0x3039 => "TAO_TAG_NSFSIOP",
    0x303a => "TAO_TAG_NSPIOP",
    0x5441_4f00 => "TAO_TAG_UIOP_PROFILE",
    0x5441_4f02 => "TAO_TAG_SHMEM_PROFILE",
    0x5441_4f04 => "TAO_TAG_DIOP_PROFILE",
    0x5441_4f05 => "TAO_TAG_COIOP_PROFILE",
    0x5441_4f0c => "TAO_TAG_UIPMC_PROFILE",
    0x5441_4f0e => "TAO_TAG_SCIOP_PROFILE",
};

/// The name of a profile.
pub(crate) fn profile(tag: u32) -> Option<&'static str> {
    PROFILES.get(&tag).copied()
}

/// Component tags of the OMG, of omniORB and of TAO.
static COMPONENTS: phf::Map<u32, &'static str> = phf::phf_map! {
    0_u32 => "TAG_ORB_TYPE",
    1 => "TAG_CODE_SETS",
    2 => "TAG_POLICIES",
    3 => "TAG_ALTERNATE_IIOP_ADDRESS",
    5 => "TAG_COMPLETE_OBJECT_KEY",
    6 => "TAG_ENDPOINT_ID_POSITION",
    12 => "TAG_LOCATION_POLICY",
    13 => "TAG_ASSOCIATION_OPTIONS",
    14 => "TAG_SEC_NAME",
    15 => "TAG_SPKM_1_SEC_MECH",
    16 => "TAG_SPKM_2_SEC_MECH",
    17 => "TAG_KerberosV5_SEC_MECH",
    18 => "TAG_CSI_ECMA_Secret_SEC_MECH",
    19 => "TAG_CSI_ECMA_Hybrid_SEC_MECH",
    20 => "TAG_SSL_SEC_TRANS",
    21 => "TAG_CSI_ECMA_Public_SEC_MECH",
    22 => "TAG_GENERIC_SEC_MECH",
    23 => "TAG_FIREWALL_TRANS",
    24 => "TAG_SCCP_CONTACT_INFO",
    25 => "TAG_JAVA_CODEBASE",
    26 => "TAG_TRANSACTION_POLICY",
    27 => "TAG_FT_GROUP",
    28 => "TAG_FT_PRIMARY",
    29 => "TAG_FT_HEARTBEAT_ENABLED",
    30 => "TAG_MESSAGE_ROUTERS",
    31 => "TAG_OTS_POLICY",
    32 => "TAG_INV_POLICY",
    33 => "TAG_CSI_SEC_MECH_LIST",
    34 => "TAG_NULL_TAG",
    35 => "TAG_SECIOP_SEC_TRANS",
    36 => "TAG_TLS_SEC_TRANS",
    37 => "TAG_ACTIVITY_POLICY",
    38 => "TAG_RMI_CUSTOM_MAX_STREAM_FORMAT",
    39 => "TAG_GROUP",
    40 => "TAG_GROUP_IIOP",
    100 => "TAG_DCE_STRING_BINDING",
    101 => "TAG_DCE_BINDING_NAME",
    102 => "TAG_DCE_NO_PIPES",
    103 => "TAG_DCE_SEC_MECH",
    123 => "TAG_INET_SEC_TRANS",
    0x4154_5401 => "TAG_OMNIORB_BIDIR",
    0x4154_5402 => "TAG_OMNIORB_UNIX_TRANS",
    0x4154_5403 => "TAG_OMNIORB_PERSISTENT_ID",
    0x4154_5404 => "TAG_OMNIORB_RESTRICTED_CONNECTION",
    0x5441_4f00 => "TAO_TAG_PRIORITY",
    0x5441_4f01 => "TAO_TAG_SSL_ENDPOINTS",
    0x5441_4f02 => "TAO_TAG_ENDPOINTS",
};

/// The name of a component.
pub(crate) fn component(tag: u32) -> Option<&'static str> {
    COMPONENTS.get(&tag).copied()
}

/// The ORB with this ORB type.
pub(crate) fn orb_type(number: u32) -> Option<&'static str> {
    match number {
        0x4154_5400 => Some("omniORB"),
        0x4a41_4300 => Some("JacORB"),
        0x5441_4f00 => Some("TAO"),
        zorb_giop::ior::ORB_TYPE => Some("zorb"),
        _ => None,
    }
}

/// Code sets of the OSF registry, except ISO 8859.
static CODE_SETS: phf::Map<u32, &'static str> = phf::phf_map! {
    0x0001_0020_u32 => "ASCII (ISO 646)",
    0x0001_0100 => "UCS-2 level 1",
    0x0001_0101 => "UCS-2 level 2",
    0x0001_0102 => "UCS-2 level 3",
    0x0001_0104 => "UCS-4 level 1",
    0x0001_0105 => "UCS-4 level 2",
    0x0001_0106 => "UCS-4 level 3",
    0x0001_0109 => "UTF-16",
    0x0501_0001 => "UTF-8",
    0x1002_04e2 => "Windows-1250",
    0x1002_04e3 => "Windows-1251",
    0x1002_04e4 => "Windows-1252",
    0x1002_0025 => "EBCDIC 037",
};

/// The name of a code set.
pub(crate) fn code_set(id: u32) -> Option<String> {
    if let 0x0001_0001..=0x0001_000f = id {
        return Some(format!("ISO 8859-{}", id & 0xf));
    }
    CODE_SETS.get(&id).map(|name| (*name).to_owned())
}

/// Policy types of the OMG.
static POLICIES: phf::Map<u32, &'static str> = phf::phf_map! {
    16_u32 => "Thread",
    17 => "Lifespan",
    18 => "IdUniqueness",
    19 => "IdAssignment",
    20 => "ImplicitActivation",
    21 => "ServantRetention",
    22 => "RequestProcessing",
    23 => "Rebind",
    24 => "SyncScope",
    31 => "RelativeRequestTimeout",
    32 => "RelativeRoundtripTimeout",
    33 => "Routing",
    34 => "MaxHops",
    35 => "QueueOrder",
    37 => "BidirectionalPolicy",
    40 => "PriorityModel",
    41 => "Threadpool",
    42 => "ServerProtocol",
    43 => "ClientProtocol",
    44 => "PrivateConnection",
    45 => "PriorityBandedConnection",
    64 => "ZIOP CompressionEnabling",
    65 => "ZIOP CompressorIdLevelList",
    66 => "ZIOP CompressionLowValue",
    67 => "ZIOP CompressionMinRatio",
};

/// The name of a policy type.
pub(crate) fn policy(number: u32) -> Option<&'static str> {
    POLICIES.get(&number).copied()
}

/// The association options in a set of bits.
pub(crate) fn association_options(bits: u16) -> String {
    const NAMES: [&str; 12] = [
        "NoProtection",
        "Integrity",
        "Confidentiality",
        "DetectReplay",
        "DetectMisordering",
        "EstablishTrustInTarget",
        "EstablishTrustInClient",
        "NoDelegation",
        "SimpleDelegation",
        "CompositeDelegation",
        "IdentityAssertion",
        "DelegationByClient",
    ];
    names_of_bits(&NAMES, bits.into())
}

/// The forms of identity tokens in a set of bits.
pub(crate) fn identity_types(bits: u32) -> String {
    const NAMES: [&str; 4] = [
        "anonymous",
        "principal name",
        "chain of X.509 certificates",
        "distinguished name",
    ];
    names_of_bits(&NAMES, bits)
}

fn names_of_bits(names: &[&str], bits: u32) -> String {
    let mut set: Vec<String> = (names.iter().enumerate())
        .filter(|(bit, _)| bits >> bit & 1 == 1)
        .map(|(_, name)| (*name).to_owned())
        .collect();
    let unknown = bits >> names.len() << names.len();
    if unknown != 0 {
        set.push(format!("unknown bits {unknown:#06x}"));
    }
    match set.is_empty() {
        true => "nothing".to_owned(),
        false => set.join(", "),
    }
}
