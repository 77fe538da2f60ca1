//! Context usage as a grid of squares.

use bowline_protocol::{ContextCategory, ContextKind, ContextSquare};
use serde_json::Number;

use super::percentage;

/// The number of squares in the grid.
const ROWS: usize = 10;
const SQUARES_PER_ROW: usize = 20;

/// The categories as squares: used ones first, then free ones, reserved ones last.
pub(super) fn grid(categories: &[ContextCategory], window: u64) -> Vec<Vec<ContextSquare>> {
    let squares = ROWS * SQUARES_PER_ROW;
    let per_square = window as f64 / squares as f64;
    let mut painted = Vec::new();
    let mut paint = |category: &ContextCategory, most: usize| {
        let filled = category.tokens as f64 / per_square;
        let count = (filled.ceil() as usize).min(most);
        for index in 0..count {
            painted.push(ContextSquare {
                color: category.color.clone(),
                is_filled: true,
                category_name: category.name.clone(),
                tokens: category.tokens,
                percentage: percentage(category.tokens, window),
                square_fullness: number((filled - index as f64).clamp(0.0, 1.0)),
                extra: bowline_protocol::Extra::new(),
            });
        }
        count
    };
    let of_kind =
        |kind: ContextKind| categories.iter().filter(move |it| it.kind.as_ref() == Some(&kind));
    let mut left = squares;
    for category in of_kind(ContextKind::Used) {
        left -= paint(category, left);
    }
    let buffered = |category: &ContextCategory| (category.tokens as f64 / per_square).ceil();
    let buffer: usize = of_kind(ContextKind::Buffer).map(|it| buffered(it) as usize).sum();
    for category in of_kind(ContextKind::Free) {
        left -= paint(category, left.saturating_sub(buffer));
    }
    for category in of_kind(ContextKind::Buffer) {
        left -= paint(category, left);
    }
    painted.chunks(SQUARES_PER_ROW).map(<[_]>::to_vec).collect()
}

fn number(value: f64) -> Number {
    Number::from_f64(value).unwrap_or_else(|| Number::from(0))
}
