//! Workspace of a conversation's tools: directories, environment, files seen, running tasks, limits.
//!
//! All calls of one conversation share a [`Workspace`]. A subagent gets a
//! [fork](Workspace::fork): its own current directory and its own memory of files,
//! but the same environment, roots and tasks.

mod callbacks;
mod options;
mod path;
mod seen;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use uuid::Uuid;

pub use callbacks::{FileChange, FileObserver, HiddenFiles, IsHidden, Summarize};
pub use options::Options;
pub use path::normalize;
pub use seen::{SeenFile, SeenFiles};

use crate::{
    lists::{TaskList, TodoList},
    process::Profile,
    tasks::{TaskObserver, Tasks},
};

/// Longer names of calls are cut where they become the names of files.
const LONGEST_ID: usize = 128;

/// What a workspace is made from.
#[derive(Clone)]
pub struct Setup {
    /// Limits and switches.
    pub options: Options,
    /// Directories besides the start directory in which work happens.
    pub roots: Vec<PathBuf>,
    /// Variables for commands, on top of this process's own; `None` removes one.
    pub environment: BTreeMap<String, Option<String>>,
    /// Variables that commands do not see, though other programs of the session may.
    pub hidden_variables: Vec<String>,
    /// The folder of the user's configuration, plans and memories, if there is one: what tools make
    /// there is for its owner only.
    pub private_dir: Option<PathBuf>,
    /// Where result texts that are too large for the model are kept. Created when needed.
    pub results_dir: PathBuf,
    /// Where the output of background commands is written. Created when needed.
    pub tasks_dir: PathBuf,
    /// Observes tasks that start, change and end.
    pub task_observer: Option<Arc<dyn TaskObserver>>,
    /// Sees files before they are changed.
    pub file_observer: Option<Arc<dyn FileObserver>>,
    /// Knows files that must not be read.
    pub hidden_files: Option<Arc<dyn HiddenFiles>>,
    /// Summarizes a page for a prompt.
    pub summarize: Option<Arc<dyn Summarize>>,
}

impl Default for Setup {
    /// No roots, no observers, and a directory of its own under the system's temporary one.
    fn default() -> Self {
        let own = own_folder();
        Self {
            options: Options::default(),
            roots: Vec::new(),
            environment: BTreeMap::new(),
            hidden_variables: Vec::new(),
            private_dir: None,
            results_dir: own.join("tool-results"),
            tasks_dir: own.join("tasks"),
            task_observer: None,
            file_observer: None,
            hidden_files: None,
            summarize: None,
        }
    }
}

/// A folder for one workspace in the user's temporary one. Without a usable temporary folder, a fresh
/// random path: creating it fails when it is needed.
fn own_folder() -> PathBuf {
    let users = bowline_private::temporary_folder().unwrap_or_else(|error| {
        tracing::warn!(%error, "no private temporary folder can be created");
        std::env::temp_dir().join(format!("bowline-{}", Uuid::new_v4()))
    });
    users.join("bowline").join(Uuid::new_v4().to_string())
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Where the tools of one conversation work.
pub struct Workspace {
    /// Where relative paths start; `cd` in a command moves it.
    current: Mutex<PathBuf>,
    seen: SeenFiles,
    todos: TodoList,
    shared: Arc<SharedState>,
}

/// State that a workspace shares with its forks.
struct SharedState {
    start: PathBuf,
    options: Options,
    roots: Mutex<Vec<PathBuf>>,
    environment: Mutex<BTreeMap<String, Option<String>>>,
    hidden_variables: Vec<String>,
    private_dir: Option<PathBuf>,
    reading_first: AtomicBool,
    results_dir: PathBuf,
    /// Files whose lines run before every command.
    scripts: Mutex<Vec<PathBuf>>,
    /// Read when the first command runs.
    profile: OnceCell<Option<Profile>>,
    tasks: Tasks,
    task_list: TaskList,
    file_observer: Option<Arc<dyn FileObserver>>,
    hidden_files: Option<Arc<dyn HiddenFiles>>,
    summarize: Option<Arc<dyn Summarize>>,
}

impl Workspace {
    /// A workspace that starts in the directory `start`.
    pub fn new(start: impl Into<PathBuf>, setup: Setup) -> Arc<Self> {
        let start = start.into();
        Arc::new(Self {
            current: Mutex::new(start.clone()),
            seen: SeenFiles::default(),
            todos: TodoList::default(),
            shared: Arc::new(SharedState {
                start,
                reading_first: AtomicBool::new(setup.options.read_before_write),
                options: setup.options,
                roots: Mutex::new(setup.roots),
                environment: Mutex::new(setup.environment),
                hidden_variables: setup.hidden_variables,
                private_dir: setup.private_dir,
                results_dir: setup.results_dir,
                scripts: Mutex::default(),
                profile: OnceCell::new(),
                tasks: Tasks::new(setup.tasks_dir, setup.task_observer),
                task_list: TaskList::default(),
                file_observer: setup.file_observer,
                hidden_files: setup.hidden_files,
                summarize: setup.summarize,
            }),
        })
    }

    /// A workspace for a subagent: starts where this one is now and has seen no file yet.
    pub fn fork(&self) -> Arc<Self> {
        Arc::new(Self {
            current: Mutex::new(self.current_dir()),
            seen: SeenFiles::default(),
            todos: TodoList::default(),
            shared: Arc::clone(&self.shared),
        })
    }

    /// The directory the session started in.
    pub fn start_dir(&self) -> &Path {
        &self.shared.start
    }

    /// Where relative paths start now.
    pub fn current_dir(&self) -> PathBuf {
        self.current.lock().clone()
    }

    /// Moves the current directory.
    pub fn set_current_dir(&self, dir: impl Into<PathBuf>) {
        *self.current.lock() = dir.into();
    }

    /// The directories in which work happens: the start directory and the added ones.
    pub fn roots(&self) -> Vec<PathBuf> {
        let mut roots = vec![self.shared.start.clone()];
        roots.extend(self.shared.roots.lock().iter().cloned());
        roots
    }

    /// Replaces the added directories.
    pub fn set_added_roots(&self, roots: Vec<PathBuf>) {
        *self.shared.roots.lock() = roots;
    }

    /// Whether `path` is in one of the working directories, as far as its name says.
    pub fn contains(&self, path: &Path) -> bool {
        self.roots().iter().any(|root| path.starts_with(root))
    }

    /// The absolute path that a tool input means: `~` is the home directory, a relative path
    /// starts in the current directory, `.` and `..` are removed.
    pub fn resolve(&self, path: &str) -> PathBuf {
        path::resolve(&self.current_dir(), path)
    }

    /// `path` as the model should see it: relative to the current directory where possible.
    pub fn display(&self, path: &Path) -> String {
        path::display(&self.current_dir(), path)
    }

    /// Sets (or with `None` removes) variables for all commands from now on.
    pub fn update_environment(
        &self,
        variables: impl IntoIterator<Item = (String, Option<String>)>,
    ) {
        self.shared.environment.lock().extend(variables);
    }

    /// The variables set on top of this process's own.
    pub fn environment(&self) -> BTreeMap<String, Option<String>> {
        self.shared.environment.lock().clone()
    }

    /// The same for commands of the model.
    pub(crate) fn command_environment(&self) -> BTreeMap<String, Option<String>> {
        let mut environment = self.environment();
        let hidden = self.shared.hidden_variables.iter();
        environment.extend(hidden.map(|name| (name.clone(), None)));
        environment
    }

    /// The value a command would see.
    #[expect(
        clippy::disallowed_methods,
        reason = "commands inherit the environment of this program"
    )]
    pub fn variable(&self, name: &str) -> Option<String> {
        match self.shared.environment.lock().get(name) {
            Some(value) => value.clone(),
            None => std::env::var(name).ok(),
        }
    }

    /// Whether a file must have been read before it is changed.
    pub fn reads_before_writing(&self) -> bool {
        self.shared.reading_first.load(Ordering::Relaxed)
    }

    /// Switches that rule; which models need it is the engine's knowledge.
    pub fn set_reads_before_writing(&self, required: bool) {
        self.shared.reading_first.store(required, Ordering::Relaxed);
    }

    /// Limits and switches.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Which files this conversation has seen, and in what state.
    pub fn seen(&self) -> &SeenFiles {
        &self.seen
    }

    /// Has these files run before every command from now on.
    pub fn set_scripts(&self, scripts: Vec<PathBuf>) {
        *self.shared.scripts.lock() = scripts;
    }

    /// The files that run before every command.
    pub(crate) fn scripts(&self) -> Vec<PathBuf> {
        self.shared.scripts.lock().clone()
    }

    /// A file with what the user's shell profile defines, if there is anything.
    pub(crate) async fn shell_definitions(&self) -> Option<PathBuf> {
        let path = self.shared.options.shell_profile.as_deref()?;
        let read = || async { Profile::read(path, &self.command_environment()).await };
        let profile = self.shared.profile.get_or_init(read).await;
        profile.as_ref().map(|profile| profile.path().to_owned())
    }

    /// Work in the background.
    pub fn tasks(&self) -> &Tasks {
        &self.shared.tasks
    }

    /// The plain to-do list (`TodoWrite`).
    pub fn todos(&self) -> &TodoList {
        &self.todos
    }

    /// The list of tasks with dependencies (`TaskCreate` and its family).
    pub fn task_list(&self) -> &TaskList {
        &self.shared.task_list
    }

    /// Where large result texts are kept.
    pub fn results_dir(&self) -> &Path {
        &self.shared.results_dir
    }

    /// Whether a new file at `path` is for its owner only, whatever the umask.
    pub(crate) fn is_private(&self, path: &Path) -> bool {
        self.shared.private_dir.as_deref().is_some_and(|folder| path.starts_with(folder))
    }

    /// The file for the result of the call `id`. A model chooses that id, so separators are replaced and
    /// the file stays in its folder.
    pub(crate) fn result_file(&self, id: &str, extension: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
        let name: String = id.chars().take(LONGEST_ID).map(plain).collect();
        self.shared.results_dir.join(format!("{name}.{extension}"))
    }

    /// Sees files before they are changed.
    pub fn file_observer(&self) -> Option<&Arc<dyn FileObserver>> {
        self.shared.file_observer.as_ref()
    }

    /// Predicate for files that must not be read; `None` if all may be.
    pub fn hidden_files(&self) -> Option<IsHidden> {
        self.shared.hidden_files.as_ref()?.hidden()
    }

    /// Summarizes pages.
    pub fn summarize(&self) -> Option<&Arc<dyn Summarize>> {
        self.shared.summarize.as_ref()
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("current", &self.current_dir()).finish_non_exhaustive()
    }
}
