//! Budget limit of a session.

/// The most that a session may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// In dollars; `None` for no limit.
    pub(super) max_usd: Option<f64>,
}

impl Budget {
    /// Whether a cost has used it up.
    pub(super) fn is_exhausted_by(self, cost_usd: f64) -> bool {
        self.max_usd.is_some_and(|most| cost_usd >= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_is_exhausted_when_it_is_reached() {
        let budget = Budget { max_usd: Some(1.0) };
        assert!(!budget.is_exhausted_by(0.99));
        assert!(budget.is_exhausted_by(1.0));
        assert!(!Budget { max_usd: None }.is_exhausted_by(1e9));
    }
}
