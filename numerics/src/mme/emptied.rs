//! Lists whose memory serves other lists.

/// An empty list in the memory of another one. The types differ in lifetimes only, so collecting takes no new memory.
pub fn emptied<T, U>(mut list: Vec<T>) -> Vec<U> {
    list.clear();
    list.into_iter().map(|_| unreachable!("the list is empty")).collect()
}
