//! What e4m3 codes stand for, and what re-ranging makes of them, by search.

/// The value of an e4m3 code: bias 7, denormals, no infinities below `0x7F`.
pub fn value(code: u8) -> f64 {
    let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(code >> 3 & 0xF), f64::from(code & 7));
    let magnitude =
        if exponent == 0 { fraction / 512.0 } else { (8.0 + fraction) / 8.0 * 2f64.powi(exponent - 7) };
    sign * magnitude
}

/// The code up to `top` whose value is nearest to that of `code` times `factor`; of two equally near ones the even one.
pub fn reranged(code: u8, factor: f64, top: u8) -> u8 {
    let wanted = value(code & 0x7F) * factor;
    let distance = |candidate: u8| (value(candidate) - wanted).abs();
    let nearest =
        (0..=top).min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1)))).unwrap();
    nearest | code & 0x80
}

/// [`reranged`] of every code.
pub fn table(factor: f64, top: u8) -> [u8; 256] {
    std::array::from_fn(|code| reranged(code as u8, factor, top))
}

/// Whether a KV scale is the product with 448/240, or next to it.
pub fn is_adjusted(old: f32, new: f32) -> bool {
    let product = f64::from(old) * 448.0 / 240.0;
    (f64::from(new) - product).abs() <= 1.5 * (f64::from(new.next_up()) - f64::from(new))
}

#[test]
fn the_oracle_knows_the_corners() {
    assert_eq!((value(0x7E), value(0x77), value(0x01), value(0xB8)), (448.0, 240.0, 1.0 / 512.0, -1.0));
    // 448 / 2 = 224; half of the smallest is a tie that goes to zero; 3/1024 is a tie between 1/512 and 2/512.
    assert_eq!([0x7E, 0x01, 0x03, 0x83].map(|code| reranged(code, 0.5, 0x77)), [0x76, 0x00, 0x02, 0x82]);
    assert_eq!([0x7E, 0x7D].map(|code| reranged(code, 240.0 / 448.0, 0x77)), [0x77, 0x76]);
}
