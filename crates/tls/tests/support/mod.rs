//! Certificates for tests, made when they are needed.
#![allow(dead_code, reason = "each test uses its part")]

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair,
};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// An authority, and the folder with the files of what it issues.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: Certificate,
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.pem"), certificate.pem()).unwrap();
        Self {
            issuer: Issuer::new(params, key),
            certificate,
            folder,
        }
    }

    /// The file with the certificate of the authority.
    pub(crate) fn trust(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    pub(crate) fn pem(&self) -> String {
        self.certificate.pem()
    }

    /// Issues a certificate for these names, and returns the file with it and its key.
    pub(crate) fn issue(&self, subject: &str, names: &[&str]) -> PathBuf {
        self.issue_with(subject, names, |_| {})
    }

    pub(crate) fn issue_with(
        &self,
        subject: &str,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> PathBuf {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, subject);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let file = self.folder.path().join(format!("{subject}.pem"));
        let text = format!("{}{}", certificate.pem(), key.serialize_pem());
        // In one step, as a file that is in use is replaced.
        let new = file.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(&new, &file).unwrap();
        file
    }
}
