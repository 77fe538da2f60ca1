//! Permission modes, rule behaviors, and reasons for a permission request.

use crate::wire::open_enum;

open_enum! {
    /// Permission mode.
    #[derive(Default)]
    PermissionMode {
        /// Reads run, everything else requires permission.
        #[default]
        Default = "default",
        /// Another name of [`Default`](Self::Default) in settings and on the command line.
        Manual = "manual",
        /// Edits inside the working directories run as well.
        AcceptEdits = "acceptEdits",
        /// Look, do not touch: the model plans.
        Plan = "plan",
        /// Everything runs, except what rules or safety checks hold back.
        BypassPermissions = "bypassPermissions",
        /// A call that would require permission is denied.
        DontAsk = "dontAsk",
        /// A classifier decides.
        Auto = "auto",
    }
}

impl PermissionMode {
    /// The name under which this mode is reported: `manual` is `default`.
    #[must_use]
    pub fn canonical(self) -> Self {
        match self {
            Self::Manual => Self::Default,
            mode => mode,
        }
    }
}

open_enum! {
    /// Effect of a rule on the calls it matches.
    PermissionBehavior {
        /// Run them.
        Allow = "allow",
        /// Refuse them.
        Deny = "deny",
        /// Request permission for them.
        Ask = "ask",
    }
}

open_enum! {
    /// Kind of reason of a permission decision.
    DecisionReasonType {
        /// A rule matched.
        Rule = "rule",
        /// The mode.
        Mode = "mode",
        /// One part of a compound command.
        SubcommandResults = "subcommandResults",
        /// The tool that decides permission requests.
        PermissionPromptTool = "permissionPromptTool",
        /// A hook.
        Hook = "hook",
        /// No approver is attached.
        AsyncAgent = "asyncAgent",
        /// The command wants out of the sandbox.
        SandboxOverride = "sandboxOverride",
        /// A path lies outside the working directories.
        WorkingDir = "workingDir",
        /// A sensitive file or a dangerous command.
        SafetyCheck = "safetyCheck",
        /// The classifier of the `auto` mode.
        Classifier = "classifier",
        /// Anything else.
        Unspecified = "other",
    }
}
