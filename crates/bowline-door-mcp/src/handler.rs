//! Answers MCP requests.

use std::{pin::pin, sync::Arc, time::Duration};

use bowline_engine::{DirectCall, HostError, PermissionPrompts, Session, Sessions};
use bowline_protocol::RawJson;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, ContentBlock as Block, CustomRequest,
        CustomResult, ElicitRequest, ElicitResult, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, Implementation, InputRequest, InputRequests, InputRequiredResult,
        InputResponses, ListPromptsResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ProgressToken, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Map, Value};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    task::JoinSet,
    time::{Instant, Interval, interval_at},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    agent, agent_tool,
    call::{Call, Event, Question, ToolHost},
    content,
    elicit::{self, Asking},
    offer::Offer,
    parked::{Parked, ParkedCalls},
    prompts,
};

/// Calls that are worked on at a time, over all clients, not counting those that wait for a
/// permission. More have to wait …
const AT_ONCE: u32 = 64;

/// … but not more than these: a client that requests that much would not get it in time.
const WAITING: u32 = 256;

/// Calls that are taken in at a time.
pub(crate) const MAX_CALLS: usize = (AT_ONCE + WAITING) as usize;

/// How often a client that wants to hear of progress is told that a call still runs. Below the
/// time after which clients usually give up.
const STILL_RUNNING: Duration = Duration::from_secs(10);

/// What a client without a token is told about a call that the rules leave open.
const NOT_ASKED: &str = "This server runs without a token (--no-token), so that it cannot know who \
    its clients are and asks none of them for permission. Allow the call by a rule \
    (--allowedTools) or a permission mode, or start the server with a token.";

/// The name of the one input that a parked call asks for.
const PERMISSION: &str = "permission";

/// Answers the requests of all clients. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Handler {
    shared: Arc<Shared>,
    trust: Trust,
}

/// Whether the approval of a client means anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It started the server, or it knows the token: it acts for the user.
    Proven,
    /// Any process of any user of this machine may be the client. One that asked for a call would
    /// approve it itself.
    Unproven,
}

struct Shared {
    session: Session,
    sessions: Arc<dyn Sessions>,
    host: Arc<ToolHost>,
    offer: Offer,
    version: String,
    /// Who is to be asked, as the settings say. Where that is nobody or the host, it is the client, if
    /// it can be asked.
    prompts: PermissionPrompts,
    parked: ParkedCalls,
    /// Room for each call that is worked on …
    room: Semaphore,
    /// … and a place for each that was taken in.
    places: Semaphore,
    /// Fires when the only client says no more: from then on it hears answers and nothing else.
    hung_up: CancellationToken,
    /// Fires when calls are to end.
    ending: CancellationToken,
}

impl Handler {
    pub(crate) fn new(
        session: Session,
        sessions: Arc<dyn Sessions>,
        host: Arc<ToolHost>,
        offer: Offer,
        version: &str,
        prompts: PermissionPrompts,
    ) -> Self {
        let shared = Arc::new(Shared {
            session,
            sessions,
            host,
            offer,
            version: version.to_owned(),
            prompts,
            parked: ParkedCalls::default(),
            room: Semaphore::new(AT_ONCE as usize),
            places: Semaphore::new(MAX_CALLS),
            hung_up: CancellationToken::new(),
            ending: CancellationToken::new(),
        });
        Self { shared, trust: Trust::Proven }
    }

    /// The same calls, for clients that are trusted so far.
    pub(crate) fn for_clients(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// To be fired when the only client says no more.
    pub(crate) fn hung_up(&self) -> &CancellationToken {
        &self.shared.hung_up
    }

    /// Ends every call: those that run, those that wait for room, those that wait for their client.
    pub(crate) fn end_calls(&self) {
        self.shared.ending.cancel();
    }

    /// Waits until every call has ended. To be called behind [`end_calls`](Self::end_calls).
    pub(crate) async fn calls_ended(&self) {
        let places = self.shared.places.acquire_many(AT_ONCE + WAITING);
        let (ended, ()) = tokio::join!(places, self.stop_parked());
        drop(ended);
        // Some may have been parked meanwhile, by requests that have ended now.
        self.stop_parked().await;
    }

    /// Stops the calls that wait for their client.
    async fn stop_parked(&self) {
        let stopped: JoinSet<()> = self.shared.parked.take_all().map(|it| it.call.stop()).collect();
        stopped.join_all().await;
    }

    /// Starts a call.
    fn begin(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        asking: Asking,
    ) -> Result<Call, ErrorData> {
        let shared = &self.shared;
        if shared.offer.find(tool).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool {tool}"), None));
        }
        let prompts = match (&shared.prompts, asking) {
            (PermissionPrompts::Disabled, _) => PermissionPrompts::Disabled,
            // The tool that would be asked is no tool of this session.
            (PermissionPrompts::McpTool(_), _) | (_, Asking::Never) => PermissionPrompts::Nobody,
            (PermissionPrompts::Nobody | PermissionPrompts::Host, _) => PermissionPrompts::Host,
        };
        let input = Value::Object(arguments);
        if tool == agent_tool::NAME {
            let sessions = Arc::clone(&shared.sessions);
            return Ok(Call::start(|line, stop| agent::run(sessions, input, prompts, line, stop)));
        }
        let (session, host) = (shared.session.clone(), Arc::clone(&shared.host));
        let trust = self.trust;
        let id = format!("toolu_{}", Uuid::new_v4().simple()).into();
        let call = DirectCall { id, tool: tool.to_owned(), input: RawJson::from(input), prompts };
        Ok(Call::start(|line, stop| async move {
            let _connected = host.connect(call.id.clone(), line);
            let result = session.call_tool(call, stop).await;
            let unasked = result.denial.is_some() && trust == Trust::Unproven;
            let mut result = content::result(result);
            if unasked {
                result.content.push(Block::text(NOT_ASKED));
            }
            result
        }))
    }

    /// Resumes a call that waited for its client, with the response.
    fn resume(&self, ticket: &str, tool: &str, answers: InputResponses) -> Result<Call, ErrorData> {
        let answer = answers.get(PERMISSION).cloned().unwrap_or_default();
        let answer = serde_json::from_value::<ElicitResult>(answer).map_err(|error| {
            ErrorData::invalid_params(format!("the answer cannot be read: {error}"), None)
        })?;
        let Some(Parked { call, question, .. }) = self.shared.parked.take(ticket, tool) else {
            let why = "no call waits for this answer; it may have been given, or come too late";
            return Err(ErrorData::invalid_params(why, None));
        };
        question.answer.send(Ok(elicit::read(&answer))).ok();
        Ok(call)
    }

    /// Works on a request if there is a place for it; `cancel` fires when all calls end.
    pub(crate) async fn take_in<T>(
        &self,
        work: impl Future<Output = Result<T, ErrorData>>,
        cancel: &CancellationToken,
    ) -> Result<T, ErrorData> {
        let place = self.shared.places.try_acquire();
        if self.shared.ending.is_cancelled() {
            return Err(ErrorData::internal_error("the server ends", None));
        }
        let Ok(_place) = place else {
            return Err(ErrorData::internal_error("too many calls wait already", None));
        };
        let mut work = pin!(work);
        tokio::select! {
            done = &mut work => done,
            () = self.shared.ending.cancelled() => {
                cancel.cancel();
                work.await
            }
        }
    }

    async fn wait_for_room(
        &self,
        cancel: &CancellationToken,
    ) -> Result<Option<SemaphorePermit<'_>>, ErrorData> {
        tokio::select! {
            room = self.shared.room.acquire() => Ok(room.ok()),
            () = cancel.cancelled() => Err(cancelled()),
        }
    }

    /// Does what a request asks for, once there is room.
    async fn work(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asking = match self.trust {
            Trust::Proven => Asking::of(context),
            Trust::Unproven => Asking::Never,
        };
        let (call, room) = match &request.request_state {
            // It had its room, and the calls that wait for room may wait for its result.
            Some(ticket) => {
                let answers = request.input_responses.unwrap_or_default();
                (self.resume(ticket, &request.name, answers)?, None)
            }
            None => {
                let room = self.wait_for_room(&context.ct).await?;
                (self.begin(&request.name, request.arguments.unwrap_or_default(), asking)?, room)
            }
        };
        self.follow(&request.name, call, asking, room, context).await
    }

    /// Follows a call until it is done or has to wait for another request. It gives its room up while
    /// its client is asked, and has it back when there is some again.
    async fn follow(
        &self,
        tool: &str,
        mut call: Call,
        asking: Asking,
        mut room: Option<SemaphorePermit<'_>>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut progress = Progress::of(context, &self.shared.hung_up);
        loop {
            let event = tokio::select! {
                biased;
                () = context.ct.cancelled() => {
                    call.stop().await;
                    return Err(cancelled());
                }
                event = call.next() => event,
                time = progress.beat() => Event::Says(format!("{tool} has run for {time} s")),
                again = self.shared.room.acquire(), if room.is_none() => {
                    room = again.ok();
                    continue;
                }
            };
            match event {
                Event::Done(result) => return Ok(result.into()),
                Event::Says(news) => progress.tell(context, news).await,
                Event::Asks(question) if question.answer.is_closed() => {}
                Event::Asks(question) if asking == Asking::ByResult => {
                    return Ok(self.park(tool, call, question).into());
                }
                Event::Asks(question) => {
                    room = None;
                    ask(context, question, &mut progress).await;
                }
            }
        }
    }

    /// Lets a call wait for the request that brings the answer.
    fn park(&self, tool: &str, call: Call, question: Question) -> InputRequiredResult {
        let asked = InputRequest::Elicitation(ElicitRequest::new(elicit::form(&question.about)));
        let ticket = self.shared.parked.park(Parked { tool: tool.to_owned(), call, question });
        let asked = InputRequests::from([(PERMISSION.to_owned(), asked)]);
        InputRequiredResult::new(Some(asked), Some(ticket))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let us = Implementation::new("bowline", &self.shared.version).with_title("Bowline");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_prompts().build())
            .with_server_info(us)
            .with_instructions(
                "Tools that read, search and change files and run commands where this server was \
                 started, and `agent`, which does a whole task on its own. What is not allowed by \
                 the user's rules is asked by elicitation, or denied.",
            )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.shared.offer.tools().to_vec()))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let commands = self.shared.session.commands();
        Ok(ListPromptsResult::with_all_items(commands.iter().map(prompts::prompt).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let commands = self.shared.session.commands();
        let unknown =
            || ErrorData::invalid_params(format!("there is no prompt {}", request.name), None);
        let command = commands.iter().find(|it| it.name == request.name).ok_or_else(unknown)?;
        let typed = prompts::typed(command, request.arguments.unwrap_or_default())?;
        let work = async {
            let _room = self.wait_for_room(&context.ct).await?;
            let cancel = context.ct.clone();
            let expanded = self.shared.session.expand_command(&command.name, &typed, cancel).await;
            match expanded.ok_or_else(unknown)? {
                Ok(expanded) => Ok(prompts::messages(command, expanded).into()),
                Err(why) => Err(ErrorData::internal_error(why, None)),
            }
        };
        self.take_in(work, &context.ct).await
    }

    /// A request that could not be read is of a kind that we know if its params are wrong.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(match &*method {
            "initialize" | "tools/call" | "prompts/get" | "completion/complete" => {
                ErrorData::invalid_params(format!("the params of {method} cannot be read"), None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.offer.find(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.take_in(self.work(request, &context), &context.ct).await
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("cancelled", None)
}

/// Asks the client while its request waits, until the answer is no longer wanted.
async fn ask(context: &RequestContext<RoleServer>, question: Question, progress: &mut Progress) {
    let Question { about, mut answer } = question;
    let decision = {
        let withdrawn = async {
            tokio::select! {
                () = context.ct.cancelled() => {}
                () = answer.closed() => {}
            }
        };
        let mut asked = pin!(elicit::ask(context, &about, withdrawn));
        let hung_up = progress.hung_up.clone();
        loop {
            tokio::select! {
                biased;
                () = hung_up.cancelled() => break Some(Err(HostError::Closed)),
                decision = &mut asked => break decision,
                time = progress.beat() => {
                    let news = format!("{} has been waiting for approval for {time} s", about.tool_name);
                    progress.tell(context, news).await;
                }
            }
        }
    };
    if let Some(decision) = decision {
        answer.send(decision).ok();
    }
}

/// How far a request is, for a client that wants to hear of it.
struct Progress {
    token: Option<ProgressToken>,
    told: u32,
    began: Instant,
    beat: Interval,
    /// Fires when nothing is heard any more that is no answer.
    hung_up: CancellationToken,
}

impl Progress {
    fn of(context: &RequestContext<RoleServer>, hung_up: &CancellationToken) -> Self {
        let began = Instant::now();
        let beat = interval_at(began + STILL_RUNNING, STILL_RUNNING);
        let (token, hung_up) = (context.meta.get_progress_token(), hung_up.clone());
        Self { token, told: 0, began, beat, hung_up }
    }

    /// Waits until it is time to say that the request is still worked on; since how many seconds.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    async fn beat(&mut self) -> u64 {
        self.beat.tick().await;
        self.began.elapsed().as_secs()
    }

    async fn tell(&mut self, context: &RequestContext<RoleServer>, news: String) {
        let Some(token) = &self.token else { return };
        self.told += 1;
        let progress = ProgressNotificationParam::new(token.clone(), self.told.into());
        tokio::select! {
            biased;
            () = self.hung_up.cancelled() => {}
            () = context.ct.cancelled() => {}
            told = context.peer.notify_progress(progress.with_message(news)) => {
                if let Err(error) = told {
                    tracing::debug!(%error, "progress is not told");
                }
            }
        }
    }
}
