//! Control requests with their response types: trait `Call`, and the macro that declares them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

use crate::{
    raw::RawJson,
    wire::{ReadError, read_whole},
};

/// A request with a known response type.
pub trait Call: Into<Self::Request> {
    /// All requests of the same direction.
    type Request: Serialize;
    /// The response.
    type Response: DeserializeOwned;
    /// The `subtype` on the wire.
    const SUBTYPE: &'static str;

    /// Reads the response; an absent one is read as `{}`.
    fn read_response(response: Option<&RawJson>) -> Result<Self::Response, ReadError> {
        read_whole(Self::SUBTYPE, response.map_or("{}", RawJson::get))
    }
}

/// Acknowledgement: the response of a request without a result. A body is ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ack;

impl Serialize for Ack {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Ack {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(from).map(|_| Self)
    }
}

impl JsonSchema for Ack {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Ack".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::from(true)
    }
}

/// Declares all requests of one direction: an enum, and a [`Call`] for each that has a type.
///
/// The type of a request has the name of its variant. Requests whose shape is not
/// known are listed at the end and share [`OpaqueRequest`](super::OpaqueRequest).
macro_rules! requests {
    (
        $(#[$meta:meta])*
        $enum:ident {
            $($(#[$doc:meta])* $subtype:literal => $request:ident -> $response:ty,)*
        }
        opaque {
            $($(#[$opaque_doc:meta])* $opaque_subtype:literal => $opaque:ident,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = "subtype")]
        #[non_exhaustive]
        pub enum $enum {
            $($(#[$doc])* #[serde(rename = $subtype)] $request($request),)*
            $($(#[$opaque_doc])* #[serde(rename = $opaque_subtype)] $opaque($crate::OpaqueRequest),)*
            /// A request this version does not know, byte for byte as it came.
            #[serde(untagged)]
            Unknown($crate::RawJson),
        }

        $crate::wire::read_by_tag!($enum, Subtype, {
            $($subtype => $request,)*
            $($opaque_subtype => $opaque,)*
        });

        impl $enum {
            /// JSON Schema of each response, by `subtype` of the request.
            pub(crate) fn response_schemas(
                generator: &mut schemars::SchemaGenerator,
            ) -> serde_json::Map<String, serde_json::Value> {
                [$(($subtype, generator.subschema_for::<$response>())),*]
                    .into_iter()
                    .map(|(subtype, schema)| (subtype.to_owned(), schema.to_value()))
                    .collect()
            }
        }

        $(
            impl From<$request> for $enum {
                fn from(request: $request) -> Self {
                    Self::$request(request)
                }
            }

            impl $crate::Call for $request {
                type Request = $enum;
                type Response = $response;
                const SUBTYPE: &'static str = $subtype;
            }
        )*
    };
}
pub(super) use requests;
