//! Permission mode of a subagent whose definition requests one.

use bowline_protocol::PermissionMode;

use super::policy::Policy;

impl Policy {
    /// The mode that applies to an agent whose kind requests `wanted`; `None` for the session's own.
    ///
    /// An agent may be restricted more than its session. It may be given more only where the session
    /// prompts for everything anyway, and everything only where the user has agreed to that.
    pub fn mode_for_agent(&self, wanted: &PermissionMode) -> Option<PermissionMode> {
        use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
        let may = match (&self.mode, wanted) {
            // Neither of the two is stricter than the other in everything.
            (Default | AcceptEdits | BypassPermissions, Plan | DontAsk) => true,
            (Default, AcceptEdits) => true,
            (Default, BypassPermissions) => self.bypass_available,
            _ => false,
        };
        may.then(|| wanted.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Roots;

    #[test]
    fn the_modes_that_agents_get() {
        use PermissionMode::{AcceptEdits, Auto, BypassPermissions, Default, DontAsk, Plan};
        let modes = [Default, AcceptEdits, Plan, DontAsk, Auto, BypassPermissions];
        let given = |session: &PermissionMode, bypass_available| {
            let mut policy = Policy::new(Roots::default());
            policy.mode = session.clone();
            policy.bypass_available = bypass_available;
            modes.iter().filter_map(|wanted| policy.mode_for_agent(wanted)).collect::<Vec<_>>()
        };
        for bypass_available in [false, true] {
            for session in &modes {
                let expected = match session {
                    Default if bypass_available => {
                        vec![AcceptEdits, Plan, DontAsk, BypassPermissions]
                    }
                    Default => vec![AcceptEdits, Plan, DontAsk],
                    AcceptEdits | BypassPermissions => vec![Plan, DontAsk],
                    _ => vec![],
                };
                assert_eq!(given(session, bypass_available), expected, "in {session}");
            }
        }
    }
}
