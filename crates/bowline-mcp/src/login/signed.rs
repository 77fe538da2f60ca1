//! Clients that prove who they are with a key: the tokens they sign (RFC 7523, `private_key_jwt`).

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, RSA_PKCS1_SHA256, RsaKeyPair,
    },
};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject};
use serde_json::json;
use uuid::Uuid;

/// How long such a proof is good, in seconds: it is used at once, by clocks that may differ.
const LIFETIME: u64 = 300;

/// A client's private key.
pub(super) struct ClientKey {
    pair: KeyPair,
    random: SystemRandom,
}

enum KeyPair {
    Elliptic { name: &'static str, pair: EcdsaKeyPair },
    Rsa(RsaKeyPair),
}

/// Why a key cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeyError {
    #[error("clientPrivateKey is no private key in PEM")]
    NotPem,
    #[error(
        "clientPrivateKey is of a kind that is not supported (PKCS#8 with P-256, P-384 or RSA)"
    )]
    WrongKind,
    #[error("clientPrivateKey does not sign")]
    NotSigned,
}

impl ClientKey {
    /// Reads a key as it stands in files, between lines that say `PRIVATE KEY`.
    pub(super) fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let pair = match PrivateKeyDer::from_pem_slice(pem.as_bytes()) {
            Ok(PrivateKeyDer::Pkcs8(key)) => {
                let key = key.secret_pkcs8_der();
                let elliptic = |name, kind: &'static EcdsaSigningAlgorithm| {
                    let pair = EcdsaKeyPair::from_pkcs8(kind, key, &random).ok()?;
                    Some(KeyPair::Elliptic { name, pair })
                };
                elliptic("ES256", &ECDSA_P256_SHA256_FIXED_SIGNING)
                    .or_else(|| elliptic("ES384", &ECDSA_P384_SHA384_FIXED_SIGNING))
                    .or_else(|| RsaKeyPair::from_pkcs8(key).ok().map(KeyPair::Rsa))
            }
            Ok(PrivateKeyDer::Pkcs1(key)) => {
                RsaKeyPair::from_der(key.secret_pkcs1_der()).ok().map(KeyPair::Rsa)
            }
            Ok(_) => None,
            Err(_) => return Err(KeyError::NotPem),
        };
        Ok(Self { pair: pair.ok_or(KeyError::WrongKind)?, random })
    }

    /// What the signatures are called.
    pub(super) fn algorithm(&self) -> &'static str {
        match &self.pair {
            KeyPair::Elliptic { name, .. } => name,
            KeyPair::Rsa(_) => "RS256",
        }
    }

    /// A fresh proof, for `audience` only, that we are this client.
    pub(super) fn prove(&self, client_id: &str, audience: &str) -> Result<String, KeyError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let head = json!({ "alg": self.algorithm(), "typ": "JWT" });
        let claims = json!({
            "iss": client_id, "sub": client_id, "aud": audience, "iat": now, "exp": now + LIFETIME,
            "jti": Uuid::new_v4().to_string(),
        });
        let encode = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let said = format!("{}.{}", encode(head), encode(claims));
        let signature = self.sign(said.as_bytes()).map_err(|_| KeyError::NotSigned)?;
        Ok(format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, ring::error::Unspecified> {
        match &self.pair {
            KeyPair::Elliptic { pair, .. } => {
                Ok(pair.sign(&self.random, message)?.as_ref().to_vec())
            }
            KeyPair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &self.random, message, &mut signature)?;
                Ok(signature)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn pem(kind: &'static EcdsaSigningAlgorithm) -> String {
        let key = EcdsaKeyPair::generate_pkcs8(kind, &SystemRandom::new()).unwrap();
        let text = STANDARD.encode(key);
        format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
    }

    #[test]
    fn the_key_decides_how_it_signs() {
        for (kind, name, length) in [
            (&ECDSA_P256_SHA256_FIXED_SIGNING, "ES256", 64),
            (&ECDSA_P384_SHA384_FIXED_SIGNING, "ES384", 96),
        ] {
            let key = ClientKey::from_pem(&pem(kind)).unwrap();
            assert_eq!(key.algorithm(), name);
            let proof = key.prove("me", "https://a").unwrap();
            let signature = proof.rsplit('.').next().unwrap();
            assert_eq!(URL_SAFE_NO_PAD.decode(signature).unwrap().len(), length);
            assert_ne!(proof, key.prove("me", "https://a").unwrap(), "each is used once");
        }
    }

    #[test]
    fn an_invalid_key_is_refused_with_its_fault() {
        let of_another_kind =
            "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n";
        for (text, expected) in [
            ("", KeyError::NotPem),
            ("secret", KeyError::NotPem),
            (of_another_kind, KeyError::WrongKind),
        ] {
            assert_eq!(ClientKey::from_pem(text).map(drop), Err(expected), "{text}");
        }
    }
}
