//! Wire types of the protocol between an agent and its host.
//!
//! One JSON object per line, on two planes over one connection: **messages** (prompts, model
//! responses, tool results, status) and **control** (requests that either end sends to the other,
//! each with exactly one response). This crate has a type for everything on both planes, reads and
//! writes them, and knows nothing of pipes, processes or runtimes.
//!
//! # Map
//!
//! | subject | types | module |
//! |---|---|---|
//! | a line of either direction | [`AgentLine`], [`HostLine`]; [`Head`] for relays | `line`, `head` |
//! | framing | [`LineDecoder`], [`MAX_LINE_BYTES`] | `codec` |
//! | messages | [`Message`], [`UserMessage`], [`AssistantMessage`], [`SystemMessage`], [`ResultMessage`] … | `message` |
//! | content of a message | [`Content`], [`ContentBlock`] and one type per block | `content` |
//! | events of a streamed model response | [`StreamEvent`], [`Delta`], [`Usage`] | `stream` |
//! | control requests and responses | [`ControlRequest`], [`ControlResponse`], [`HostRequest`], [`AgentRequest`]; [`Call`] ties a request to its response | `control` |
//! | permissions | [`PermissionRule`], [`PermissionMode`], [`PermissionResult`], [`PermissionUpdate`] | `permission` |
//! | hooks | [`HookInput`], [`HookOutput`], [`HookEvent`], [`HookSettings`] | `hook` |
//! | MCP servers | [`McpServerConfig`] | `mcp` |
//! | agents | [`AgentDefinition`], [`Effort`] | `agent`, `effort` |
//! | identifiers | [`SessionId`], [`MessageUuid`], [`RequestId`] … | `id` |
//! | JSON that is passed on | [`RawJson`], [`Extra`], [`Maybe`] | `raw`, `extra`, `maybe` |
//! | JSON Schema of all of this | [`agent_schema`], [`host_schema`] | `schema` |
//!
//! How a tagged object is read is in `wire`; the fast path of its JSON reader is the crate
//! `bowline-json`.
//!
//! # Forward compatibility
//!
//! - An unknown message, subtype or content block is kept byte for byte in an
//!   `Unknown` variant and written back unchanged.
//! - Every struct that is an object on the wire ends with an `extra` map of the
//!   fields it does not know, so that reading and writing a message of a newer
//!   peer loses none of them. (Their values survive; the spelling of numbers and
//!   the order of keys may change. A relay that must forward the bytes unchanged reads
//!   a [`Head`] and forwards the line.)
//! - A *known* tag whose body does not fit is a [`ReadError`] that names the tag
//!   and the field.

mod agent;
mod codec;
mod compact;
mod content;
mod control;
mod effort;
mod extra;
mod head;
mod hook;
mod id;
pub mod jsonrpc;
mod key_order;
mod line;
mod maybe;
mod mcp;
mod mcp_tool;
mod message;
mod permission;
mod printable;
mod raw;
mod schema;
mod stream;
mod surrogate;
mod wire;

pub use agent::{AgentDefinition, AgentEffort, AgentMcpServer, AgentMemory};
pub use codec::{Line, LineDecoder, LineFault, LineProblem, MAX_LINE_BYTES};
pub use compact::CompactTrigger;
pub use content::{
    ContainerUploadBlock, Content, ContentBlock, ContentSource, DocumentBlock, FileSource,
    ImageBlock, InlineSource, RedactedThinkingBlock, Role, SearchResultBlock,
    ServerToolResultBlock, Source, TextBlock, ThinkingBlock, ToolReferenceBlock, ToolResultBlock,
    ToolUseBlock, UrlSource,
};
pub use control::{
    AccountInfo, Ack, AgentInfo, AgentRequest, AppliedSettings, ApplyFlagSettings, BackgroundTasks,
    BackgroundTasksResponse, BinaryVersionResponse, Call, CanUseTool, CancelAsyncMessage,
    CancelAsyncMessageResponse, ClaimSession, ClaimSessionResponse, ContextAgent, ContextCategory,
    ContextDetail, ContextFile, ContextKind, ContextMcpTool, ContextSquare, ContextUsage,
    ControlCancelRequest, ControlRequest, ControlResponse, DialogCancelled, DialogCompleted,
    Elicitation, ElicitationResponse, EndSession, ExportConversation, ExportConversationResponse,
    Failure, FileSuggestions, FileSuggestionsResponse, GenerateSessionTitle,
    GenerateSessionTitleResponse, GetBinaryVersion, GetContextUsage, GetHooksListing, GetPlan,
    GetSessionCost, GetSettings, GetSettingsResponse, GetStatus, GetTaskOutput, GetUsage,
    HookCallback, HookEventInfo, HooksListing, HostRequest, Initialize, InitializeResponse,
    Interrupt, InterruptResponse, KeepAlive, ListModels, ListModelsResponse, ListPermissionRules,
    ListPermissionRulesResponse, ListedRule, ManifestOutcome, MatchedRule, McpAuthenticate,
    McpAuthenticateResponse, McpCall, McpClearAuth, McpMessage, McpMessageResponse,
    McpOauthCallbackUrl, McpReadResource, McpReadResourceResponse, McpReconnect, McpServerInfo,
    McpServerMessage, McpServerState, McpSetServers, McpSetServersResponse, McpStatus,
    McpStatusResponse, McpToggle, McpToolInfo, ModelInfo, OpaqueRequest, Outcome, PendingRequest,
    PermissionRulesState, PlanResponse, PluginSource, ReadFile, ReadFileResponse, RegisterRepoRoot,
    ReloadOutputStyles, ReloadOutputStylesResponse, ReloadPlugins, ReloadPluginsResponse,
    ReloadSkills, ReloadSkillsResponse, RenameSession, RequestUserDialog, RewindFiles,
    RewindFilesResponse, SYSTEM_PROMPT_DYNAMIC_BOUNDARY, SdkMcpServerConfig, SdkMcpServerManifest,
    SeedReadState, SessionCostResponse, SetColor, SetCwd, SetCwdResponse, SetHasSubscribers,
    SetMaxThinkingTokens, SetMcpPermissionModeOverride, SetModel, SetModelResponse,
    SetPermissionMode, SetPermissionModeResponse, SettingsSource, SideQuestion,
    SideQuestionResponse, StatusResponse, StopTask, Success, TaskOutputResponse,
    UpdateEnvironmentVariables, UpdateSettings, UsageResponse, UserDialogResponse, WarningResponse,
};
pub use effort::{Effort, UnknownEffort};
pub use extra::Extra;
pub use head::Head;
pub use hook::{
    AgentHook, AsyncHookOutput, CommandHook, ConfigChangeInput, ContextOutput, CwdChangedInput,
    DirectoryAddedInput, ElicitationAction, ElicitationInput, ElicitationOutput,
    ElicitationResultInput, EventInput, FileChangedInput, FinishedToolCall, HookBase, HookCommand,
    HookDecision, HookEffort, HookEvent, HookFailure, HookGroup, HookInput, HookMatcher,
    HookOutput, HookPermissionDecision, HookPermissionDeny, HookPermissionResult, HookSettings,
    HookSpecificOutput, HttpHook, InstructionsLoadedInput, McpServerRef, McpToolHook,
    MessageDisplayInput, MessageDisplayOutput, ModelSwitchInput, NotificationInput,
    PermissionDeniedInput, PermissionDeniedOutput, PermissionRequestInput, PermissionRequestOutput,
    PostCompactInput, PostToolBatchInput, PostToolUseFailureInput, PostToolUseInput,
    PostToolUseOutput, PreCompactInput, PreModelSwitchOutput, PreToolUseInput, PreToolUseOutput,
    PromptHook, RunningTask, SessionCron, SessionEndInput, SessionEndReason, SessionStartInput,
    SessionStartOutput, SessionStartSource, SetupInput, StopFailureInput, StopInput,
    SubagentStartInput, SubagentStopInput, SyncHookOutput, TaskInput, TeammateIdleInput,
    UserPromptExpansionInput, UserPromptExpansionOutput, UserPromptSubmitInput,
    UserPromptSubmitOutput, WatchPathsOutput, WorktreeCreateInput, WorktreeCreateOutput,
    WorktreeRemoveInput,
};
pub use id::{AgentId, CallbackId, MessageUuid, RequestId, SessionId, TaskId, ToolUseId};
pub use key_order::KeyOrder;
pub use line::{AgentLine, HostLine};
pub use maybe::Maybe;
pub use mcp::{
    McpGrantType, McpIdentityProvider, McpOauth, McpPermissionPolicy, McpProxyServer,
    McpRemoteServer, McpSdkServer, McpServerConfig, McpServerStatus, McpStdioServer, McpToolPolicy,
    StdioType,
};
pub use mcp_tool::{ResourceContents, ToolAnnotations, ToolContent, ToolListing, ToolResult};
pub use message::{
    AbandonedBlocks, ActiveGoalMessage, AgentStatus, ApiKeySource, ApiRetryMessage, AssistantError,
    AssistantMessage, AuthStatusMessage, AutocompactStateMessage, BackgroundTask,
    BackgroundTasksChangedMessage, CommandLifecycleMessage, CommandState, CommandsChangedMessage,
    CompactBoundaryMessage, CompactMetadata, CompactResult, ControlRequestProgressMessage,
    ConversationResetMessage, ConversationResetTrigger, CostBasis, DecisionSource, DeferredToolUse,
    ElicitationCompleteMessage, FailedFile, FallbackDirection, FallbackScope, FastModeState,
    FilesPersistedMessage, Goal, HookNoVerdict, HookOutcome, HookProgressMessage,
    HookResponseMessage, HookStartedMessage, InformationalLevel, InformationalMessage,
    InitMcpServer, InitMessage, InitPlugin, LocalCommandOutputMessage, LocalCommandRun, LostWrite,
    McpServerError, Memory, MemoryRecallMessage, MemoryRecallMode, Message, MirrorErrorMessage,
    MirrorKey, ModelFallbackMessage, ModelRefusalFallbackMessage, ModelRefusalNoFallbackMessage,
    ModelUsage, NoResponse, NonExecutionKind, NotificationMessage, NotificationPriority, Origin,
    OriginKind, PeerMode, PermissionDecision, PermissionDenial, PermissionDeniedMessage,
    PermissionVerdict, PersistedFile, PluginError, PluginInstallMessage, PluginInstallStatus,
    PostTurnSummaryMessage, PreservedMessages, PreservedSegment, PromptPriority,
    PromptSubmitOutcome, PromptSubmitOutcomeKind, PromptSuggestionMessage, RateLimitEventMessage,
    RateLimitInfo, RateLimitStatus, RateLimitType, RequestProgress, ResultMessage, ResultSubtype,
    SessionMetadataMessage, SessionState, SessionStateChangedMessage, SessionTitleChangedMessage,
    SessionWritesLostMessage, SlashCommand, StartupFailureReason, StatusMessage,
    StreamEventMessage, SubagentRetry, SubagentStats, SubagentsKilled, SubagentsRefused,
    SubagentsRequested, SystemMessage, TaskNotificationMessage, TaskOutcome, TaskPatch,
    TaskProgressMessage, TaskStartedMessage, TaskStatus, TaskSummaryMessage, TaskType,
    TaskUpdatedMessage, TaskUsage, TerminalReason, ThinkingTokensMessage, ToolProgressMessage,
    ToolResultMeta, ToolUseMeta, ToolUseSummaryMessage, TranscriptMirrorMessage, UserMessage,
    UserMessageBody, ViewMode, WorkerShuttingDownMessage,
};
pub use permission::{
    DecisionClassification, DecisionReasonType, DirectoriesUpdate, ModeUpdate, PermissionAllow,
    PermissionBehavior, PermissionDeny, PermissionMode, PermissionResult, PermissionRule,
    PermissionUpdate, RuleError, RulesUpdate, UpdateDestination, split_rules,
};
pub use printable::{printable, printable_json, printable_line};
pub use raw::RawJson;
pub use schema::{agent_schema, host_schema};
pub use stream::{
    ApiErrorBody, ApiMessage, ApiMessageKind, CitationsDelta, ContentBlockDelta, ContentBlockStart,
    ContentBlockStop, Delta, InputJsonDelta, MessageDelta, MessageStart, MessageStop, Ping,
    SignatureDelta, StopDelta, StopReason, StreamError, StreamEvent, TextDelta, ThinkingDelta,
    Usage,
};
pub use surrogate::replace_lone_surrogates;
pub use wire::ReadError;
