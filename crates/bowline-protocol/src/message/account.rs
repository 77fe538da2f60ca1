//! The user's account: signing in, and how much of the allowance is used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId},
    wire::open_enum,
};

/// Progress of a sign-in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuthStatusMessage {
    /// Whether it is under way.
    #[serde(rename = "isAuthenticating")]
    pub is_authenticating: bool,
    /// Output for the user.
    pub output: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Rate limit: how much of the allowance is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateLimitEventMessage {
    /// The numbers.
    pub rate_limit_info: RateLimitInfo,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Usage of an allowance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitInfo {
    /// Whether there is any left.
    pub status: RateLimitStatus,
    /// When it is full again (seconds since 1970).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
    /// Kind of allowance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit_type: Option<RateLimitType>,
    /// How much of it is used, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Whether more can be had for money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_status: Option<RateLimitStatus>,
    /// When that is full again (seconds since 1970).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_resets_at: Option<u64>,
    /// Why no more can be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_disabled_reason: Option<String>,
    /// Whether more is being paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_using_overage: Option<bool>,
    /// Whether more is being paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_in_use: Option<bool>,
    /// Whether the user allowed to pay for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_enabled: Option<bool>,
    /// The mark that was just passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surpassed_threshold: Option<f64>,
    /// Purpose of the allowance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_scope: Option<String>,
    /// Why nothing is left, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// Whether the user may buy more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_user_purchase_credits: Option<bool>,
    /// Whether the user can pay without typing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_chargeable_saved_payment_method: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Whether there is anything left of an allowance.
    RateLimitStatus {
        /// There is.
        Allowed = "allowed",
        /// There is, but not much.
        AllowedWarning = "allowed_warning",
        /// There is not.
        Rejected = "rejected",
    }
}

open_enum! {
    /// Kind of allowance.
    RateLimitType {
        /// That of five hours.
        FiveHour = "five_hour",
        /// That of a week.
        SevenDay = "seven_day",
        /// That of a week for the largest model.
        SevenDayOpus = "seven_day_opus",
        /// That of a week for the middle model.
        SevenDaySonnet = "seven_day_sonnet",
        /// That of a week, with what was bought.
        SevenDayOverageIncluded = "seven_day_overage_included",
        /// Purchase.
        Overage = "overage",
    }
}
