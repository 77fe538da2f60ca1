//! The protocol as JSON Schema, for those who speak it from other languages.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

use crate::{
    control::{AgentRequest, HostRequest},
    line::{AgentLine, HostLine},
};

/// The key under which a schema lists what the `response` of a successful
/// `control_response` looks like, by the `subtype` of the request.
const RESPONSES: &str = "x-responses";

/// What an agent may write, line by line.
pub fn agent_schema() -> Schema {
    line_schema::<AgentLine>(HostRequest::response_schemas)
}

/// What a host may write, line by line.
pub fn host_schema() -> Schema {
    line_schema::<HostLine>(AgentRequest::response_schemas)
}

fn line_schema<Line: JsonSchema>(
    responses: fn(&mut SchemaGenerator) -> Map<String, Value>,
) -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let responses = responses(&mut generator);
    let mut schema = generator.into_root_schema_for::<Line>();
    schema.insert(RESPONSES.to_owned(), responses.into());
    schema
}
