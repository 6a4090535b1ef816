//! The marks of the feature `probes`. In a target of its own, so that all else is compiled as for the other tests.

use zorb_giop::probe::{MARKS, Point, mark, take};

#[test]
fn marks_of_all_threads_come_out_by_time_and_once() {
    let before = take();
    mark(Point::Called);
    std::thread::spawn(|| mark(Point::Bound)).join().unwrap();
    mark(Point::Returned);
    let points: Vec<Point> = take().iter().map(|mark| mark.point).collect();
    let expected = [Point::Called, Point::Bound, Point::Returned];
    assert_eq!(points, expected, "after {before:?}");
    for (number, point) in Point::ALL.into_iter().enumerate() {
        assert_eq!(point as usize, number);
    }
    assert!(take().is_empty());
    for _ in 0..3 * MARKS {
        mark(Point::Called);
    }
    assert_eq!(take().len(), MARKS);
}
