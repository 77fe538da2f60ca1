//! Parallel tool calls: restores the lines of a response that a walk along the chain misses.
//!
//! Each block of a response is a line, and each result follows the line of its
//! own call, so a response with several calls forks the chain. The walk back from
//! the end takes one of the forks; the other calls and results are found here.

use std::collections::{HashMap, HashSet};

use crate::head::{Id, IdMap, IdSet, Kind, LineHead};

/// Adds the missing calls and results to a chain. `chain` and the result are indexes into `heads`,
/// which is in file order.
pub(crate) fn complete(heads: &[LineHead], chain: Vec<usize>) -> Vec<usize> {
    let mut on_chain = vec![false; heads.len()];
    for &index in &chain {
        on_chain[index] = true;
    }
    let is_beside = |(index, head): (usize, &LineHead)| {
        !on_chain[index] && (head.response.is_some() || head.has_result)
    };
    if !heads.iter().enumerate().any(is_beside) {
        return chain;
    }
    // The last line of each response on the chain: missing lines go after it.
    let mut anchors: IdMap<usize> = IdMap::default();
    for &index in &chain {
        if let Some(response) = heads[index].response {
            anchors.insert(response, index);
        }
    }
    let groups = Groups::new(heads, &anchors);
    let mut inserts: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut responses: Vec<(&Id, &usize)> = anchors.iter().collect();
    responses.sort_by_key(|(_, anchor)| **anchor);
    for (response, &anchor) in responses {
        let members = &groups.members[response];
        let calls: Vec<usize> = members.iter().copied().filter(|index| !on_chain[*index]).collect();
        let results = groups.results(heads, members, &on_chain, &chain);
        if calls.is_empty() && results.is_empty() {
            continue;
        }
        let missing: Vec<usize> = calls.into_iter().chain(results).collect();
        for &index in &missing {
            on_chain[index] = true;
        }
        inserts.insert(anchor, missing);
    }
    if inserts.is_empty() {
        return chain;
    }
    let mut whole = Vec::with_capacity(heads.len().min(chain.len() * 2));
    for index in chain {
        whole.push(index);
        whole.extend(inserts.remove(&index).unwrap_or_default());
    }
    whole
}

/// Lines of a transcript by the response they belong to.
struct Groups {
    members: IdMap<Vec<usize>>,
    /// The line that made each call; `None` if two responses claim it.
    owners: IdMap<Option<usize>>,
    /// Results by the lines they name.
    results: IdMap<Vec<usize>>,
}

impl Groups {
    fn new(heads: &[LineHead], anchors: &IdMap<usize>) -> Self {
        let mut members: IdMap<Vec<usize>> = IdMap::default();
        let mut owners: IdMap<Option<usize>> = IdMap::default();
        let mut results: IdMap<Vec<usize>> = IdMap::default();
        for (index, head) in heads.iter().enumerate() {
            match head.response {
                Some(response) if anchors.contains_key(&response) => {
                    members.entry(response).or_default().push(index);
                    for &call in &head.calls {
                        let owner = owners.entry(call).or_insert(Some(index));
                        if owner.is_some_and(|other| heads[other].response != Some(response)) {
                            *owner = None;
                        }
                    }
                }
                _ if head.kind == Kind::User && head.has_result => {
                    for line in [head.parent, head.source].into_iter().flatten() {
                        results.entry(line).or_default().push(index);
                    }
                }
                _ => {}
            }
        }
        Self { members, owners, results }
    }

    /// Results of a response's calls that the chain lacks: those that follow one of its lines, and
    /// those that name one as their source and belong to a call without a result.
    fn results(
        &self,
        heads: &[LineHead],
        members: &[usize],
        on_chain: &[bool],
        chain: &[usize],
    ) -> Vec<usize> {
        let names: IdSet = members.iter().filter_map(|&index| heads[index].uuid).collect();
        let mut found: Vec<usize> = members
            .iter()
            .filter_map(|&index| self.results.get(&heads[index].uuid?))
            .flatten()
            .copied()
            .filter(|index| !on_chain[*index])
            .collect();
        if found.is_empty() {
            return found;
        }
        let follows = |index: &usize| heads[*index].parent.is_some_and(|up| names.contains(&up));
        let mut seen = HashSet::new();
        found.retain(|index| seen.insert(*index));
        let (mut results, mut strays): (Vec<usize>, Vec<usize>) =
            found.into_iter().partition(follows);
        if !strays.is_empty() {
            let mut with_result: IdSet = chain
                .iter()
                .chain(&results)
                .filter(|&&index| heads[index].has_result)
                .flat_map(|&index| heads[index].calls.iter().copied())
                .collect();
            strays.sort_unstable();
            for stray in strays {
                let head = &heads[stray];
                let is_open = head.calls.iter().any(|call| {
                    let owner = self.owners.get(call).copied().flatten();
                    !with_result.contains(call)
                        && owner.is_some_and(|owner| members.contains(&owner))
                });
                if is_open {
                    with_result.extend(&head.calls);
                    results.push(stray);
                }
            }
        }
        // The file's order is the order in which they were written.
        results.sort_unstable();
        results
    }
}
