package experiment

import "testing"

func TestChoices(t *testing.T) {
	t.Parallel()
	small, large := Line(10), Line(20)
	rows := []Row{
		timed("a", small, 30, "index", "division", "threads", "128"),
		timed("a", small, 10, "index", "shift", "threads", "128"),
		timed("a", large, 40, "index", "division", "threads", "128"),
		timed("a", large, 20, "index", "shift", "threads", "128"),
		timed("a", Line(30), 70, "index", "division", "threads", "128"),
		timed("a", Line(30), 1, "index", "shift", "threads", "64"),
		timed("b", Line(30), 1, "index", "shift", "threads", "128"),
	}
	if r, ok := choices("a", "index", "division", "shift")(rows); !ok || r.value != 2 ||
		r.where != "a, 20 threads=128, index = division / shift" {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, ok := choices("b", "index", "division", "shift")(rows); ok {
		t.Error("there is no division of b")
	}
}

func TestOthersAgainst(t *testing.T) {
	t.Parallel()
	rows := []Row{
		timed("a", Line(10), 10, "threads", "128"), timed("a", Line(10), 5, "threads", "64"),
		timed("a", Line(20), 10, "threads", "128"), timed("a", Line(20), 12, "threads", "64"),
		timed("a", Line(20), 11, "threads", "256"),
		timed("a", Line(30), 10, "threads", "128"), timed("b", Line(20), 1, "threads", "64"),
	}
	if r, ok := othersAgainst("a", "threads", "128")(rows); !ok || r.value != 1.1 ||
		r.where != "a, 20, threads = 256 / 128" {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, ok := othersAgainst("a", "threads", "32")(rows); ok {
		t.Error("there are no 32 threads")
	}
	if _, ok := othersAgainst("a", "threads", "128")(rows[5:]); ok {
		t.Error("there are no others")
	}
	for ratio, want := range map[float64]Verdict{2: Confirmed, 0.98: Confirmed, 0.95: Different, 0.8: NotConfirmed} {
		if got := best(ratio, 0); got != want {
			t.Errorf("best at %g: %s, want %s", ratio, got, want)
		}
	}
}
