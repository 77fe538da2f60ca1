//! Putting back what a plain walk loses of an answer with several tool calls.
//!
//! Each block of an answer is a line, and each result follows the line of its
//! own call, so an answer with several calls forks the chain. The walk back from
//! the end takes one of the forks; the other calls and results are found here.

use std::collections::{HashMap, HashSet};

use crate::head::{Id, IdMap, IdSet, Kind, LineHead};

/// Adds the missing calls and results to a chain. `chain` and the answer are places in `heads`,
/// which is in file order.
pub(crate) fn complete(heads: &[LineHead], chain: Vec<usize>) -> Vec<usize> {
    let mut on_chain = vec![false; heads.len()];
    for &place in &chain {
        on_chain[place] = true;
    }
    let is_beside = |(place, head): (usize, &LineHead)| {
        !on_chain[place] && (head.answer.is_some() || head.has_result)
    };
    if !heads.iter().enumerate().any(is_beside) {
        return chain;
    }
    // The last line of each answer on the chain: what is missing goes behind it.
    let mut anchors: IdMap<usize> = IdMap::default();
    for &place in &chain {
        if let Some(answer) = heads[place].answer {
            anchors.insert(answer, place);
        }
    }
    let groups = Groups::new(heads, &anchors);
    let mut inserts: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut answers: Vec<(&Id, &usize)> = anchors.iter().collect();
    answers.sort_by_key(|(_, anchor)| **anchor);
    for (answer, &anchor) in answers {
        let members = &groups.members[answer];
        let calls: Vec<usize> = members.iter().copied().filter(|place| !on_chain[*place]).collect();
        let results = groups.results(heads, members, &on_chain, &chain);
        if calls.is_empty() && results.is_empty() {
            continue;
        }
        let missing: Vec<usize> = calls.into_iter().chain(results).collect();
        for &place in &missing {
            on_chain[place] = true;
        }
        inserts.insert(anchor, missing);
    }
    if inserts.is_empty() {
        return chain;
    }
    let mut whole = Vec::with_capacity(heads.len().min(chain.len() * 2));
    for place in chain {
        whole.push(place);
        whole.extend(inserts.remove(&place).unwrap_or_default());
    }
    whole
}

/// The lines of a transcript by the answers they belong to.
struct Groups {
    members: IdMap<Vec<usize>>,
    /// Who made each call; `None` when two answers claim it.
    owners: IdMap<Option<usize>>,
    /// Results by the lines they name.
    results: IdMap<Vec<usize>>,
}

impl Groups {
    fn new(heads: &[LineHead], anchors: &IdMap<usize>) -> Self {
        let mut members: IdMap<Vec<usize>> = IdMap::default();
        let mut owners: IdMap<Option<usize>> = IdMap::default();
        let mut results: IdMap<Vec<usize>> = IdMap::default();
        for (place, head) in heads.iter().enumerate() {
            match head.answer {
                Some(answer) if anchors.contains_key(&answer) => {
                    members.entry(answer).or_default().push(place);
                    for &call in &head.calls {
                        let owner = owners.entry(call).or_insert(Some(place));
                        if owner.is_some_and(|other| heads[other].answer != Some(answer)) {
                            *owner = None;
                        }
                    }
                }
                _ if head.kind == Kind::User && head.has_result => {
                    for line in [head.parent, head.source].into_iter().flatten() {
                        results.entry(line).or_default().push(place);
                    }
                }
                _ => {}
            }
        }
        Self { members, owners, results }
    }

    /// The results of an answer's calls that the chain lacks: those that follow one of its lines, and
    /// those that name one as their source and answer a call that is still open.
    fn results(
        &self,
        heads: &[LineHead],
        members: &[usize],
        on_chain: &[bool],
        chain: &[usize],
    ) -> Vec<usize> {
        let names: IdSet = members.iter().filter_map(|&place| heads[place].uuid).collect();
        let mut found: Vec<usize> = members
            .iter()
            .filter_map(|&place| self.results.get(&heads[place].uuid?))
            .flatten()
            .copied()
            .filter(|place| !on_chain[*place])
            .collect();
        if found.is_empty() {
            return found;
        }
        let follows = |place: &usize| heads[*place].parent.is_some_and(|up| names.contains(&up));
        let mut seen = HashSet::new();
        found.retain(|place| seen.insert(*place));
        let (mut results, mut strays): (Vec<usize>, Vec<usize>) =
            found.into_iter().partition(follows);
        if !strays.is_empty() {
            let mut answered: IdSet = chain
                .iter()
                .chain(&results)
                .filter(|&&place| heads[place].has_result)
                .flat_map(|&place| heads[place].calls.iter().copied())
                .collect();
            strays.sort_unstable();
            for stray in strays {
                let head = &heads[stray];
                let is_open = head.calls.iter().any(|call| {
                    let owner = self.owners.get(call).copied().flatten();
                    !answered.contains(call) && owner.is_some_and(|owner| members.contains(&owner))
                });
                if is_open {
                    answered.extend(&head.calls);
                    results.push(stray);
                }
            }
        }
        // The file's order is the order in which they were written.
        results.sort_unstable();
        results
    }
}
