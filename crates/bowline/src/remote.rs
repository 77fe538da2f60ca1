//! A session for a remote host, to which the agent connects: `--sdk-url`.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, bail};
use bowline_door_ws::{ConnectionEnd, Dialer, Proxies, ReconnectPolicy, Roots, Token};
use bowline_engine::Session;
use bowline_protocol::{MessageUuid, UserMessage};
use uuid::Uuid;

use crate::{
    args::{RemoteArgs, RunArgs},
    complain,
    environment::Environment,
    remote_log,
    serving::{Served, exit_code, until_over},
    setup::{Prepared, SetupError},
    signals::Signals,
    stdio,
};

/// Exit code of a session whose host was lost (`EX_TEMPFAIL`): it can be resumed.
const HOST_LOST: u8 = 75;

/// Serves the host at `url` until the session is over.
pub(crate) async fn run(
    prepared: Prepared,
    args: &RunArgs,
    url: &str,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let dialer = dialer(&args.remote, url, environment)?;
    let address = dialer.address.to_string();
    let config = prepared.config;
    let (is_kept, is_resumed) = (config.transcript.is_some(), config.resumed.is_some());
    let (door, reconnector) =
        bowline_door_ws::open(dialer, policy(&args.remote), stdio::opening(&args.output));
    let silencer = door.silencer();
    let host = remote_log::wrap_host(door.host(), prepared.remote_log, args, &mut signals);
    let (session, work) = Session::start(config, host).map_err(SetupError::from)?;
    if let Some(prompt) = &args.prompt {
        let mut prompt = UserMessage::prompt(prompt.as_str());
        prompt.uuid = Some(MessageUuid(Uuid::new_v4().to_string()));
        session.prompt(prompt).await;
    }
    let served = async { tokio::join!(door.serve(session.clone(), work), reconnector.run()) };
    Ok(match until_over(served, || session.clone(), &silencer, signals).await {
        Served::Over((Err(error), _)) | Served::Stopped((Err(error), _), _) => {
            complain(error);
            ExitCode::FAILURE
        }
        Served::Over((
            Ok(end),
            ConnectionEnd::AttemptsExhausted { attempts, failure, connected },
        )) => {
            let how_often = match attempts {
                1 => "1 attempt".to_owned(),
                attempts => format!("{attempts} attempts"),
            };
            complain(format!("Error: {address} cannot be reached, after {how_often}: {failure}"));
            if !connected {
                return Ok(ExitCode::FAILURE);
            }
            // A session without a turn is not saved.
            if is_kept && (is_resumed || end.last_turn_failed.is_some()) {
                complain(format!(
                    "The session is saved. Resume it with: bowline --resume {} --sdk-url {address}",
                    session.id()
                ));
            }
            ExitCode::from(HOST_LOST)
        }
        Served::Over((Ok(end), ConnectionEnd::Done | ConnectionEnd::Closed)) => exit_code(end),
        Served::Stopped((Ok(_), _), stop) | Served::Late(stop) => stop.exit_code(),
    })
}

fn dialer(args: &RemoteArgs, url: &str, environment: &Environment) -> anyhow::Result<Dialer> {
    let address = url.parse().context("Error: --sdk-url")?;
    let mut dialer = Dialer::new(address);
    dialer.token = token(environment);
    let proxy = proxies(environment).proxy_for(&dialer.address);
    dialer.proxy = proxy.context("Error: http_proxy, https_proxy or all_proxy")?;
    if let Some(path) = &args.sdk_ca {
        dialer.roots = Roots::File(path.clone());
        dialer.roots.check().context("Error: --sdk-ca")?;
    }
    let runner = environment
        .runner_version()
        .map(|version| ("x-environment-runner-version".to_owned(), version.to_owned()));
    for header in &args.sdk_header {
        let Some((name, value)) = header.split_once(':') else {
            bail!("Error: --sdk-header `{header}` is not of the form `Name: value`");
        };
        if name.trim().eq_ignore_ascii_case("authorization") {
            bail!(
                "Error: --sdk-header is visible to every user who can list processes; set \
                 CLAUDE_CODE_SESSION_ACCESS_TOKEN to the token instead"
            );
        }
        add(&mut dialer, name.trim(), value.trim())?;
    }
    for (name, value) in runner.into_iter().chain(environment.sdk_headers()) {
        add(&mut dialer, &name, &value)?;
    }
    Ok(dialer)
}

fn proxies(environment: &Environment) -> Proxies {
    let named = |name| environment.proxy(name).map(str::to_owned);
    let mut proxies = Proxies::default();
    proxies.http = named("http_proxy");
    proxies.https = named("https_proxy");
    proxies.all = named("all_proxy");
    proxies.none = named("no_proxy");
    proxies
}

fn add(dialer: &mut Dialer, name: &str, value: &str) -> anyhow::Result<()> {
    match dialer.header(name, value) {
        true => Ok(()),
        false => bail!("Error: the header `{name}` is invalid or reserved"),
    }
}

fn token(environment: &Environment) -> Token {
    if let Some(token) = environment.session_access_token() {
        Token::Text(token.to_owned())
    } else if let Some(path) = environment.token_file() {
        Token::File(path.into())
    } else {
        Token::None
    }
}

fn policy(args: &RemoteArgs) -> ReconnectPolicy {
    let mut policy = ReconnectPolicy::default();
    policy.attempts = args.sdk_attempts.unwrap_or(policy.attempts);
    if let Some(milliseconds) = args.sdk_first_wait {
        policy.first_wait = Duration::from_millis(milliseconds);
    }
    policy
}
