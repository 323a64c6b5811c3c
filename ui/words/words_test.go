package words

import (
	"math"
	"testing"
	"time"

	"blik/app/document"
	"blik/app/i18n"
	"blik/app/imagefile/container"
	"blik/app/job"
	"blik/internal/message"
)

// A change has a sign, unless it rounds to 0.
func TestSigned(t *testing.T) {
	t.Parallel()
	w := New(i18n.For("en"))
	for v, want := range map[float64]string{0.04: "0", -0.04: "0", 0.26: "+0.3", -1: "−1"} {
		if got := w.signed(v); got != want {
			t.Errorf("a change of %v is shown as %q, want %q", v, got, want)
		}
	}
}

// A pixel has sides in millimetres if the resolution is known.
func TestMillimetres(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit container.Unit
		x, y float64
		ok   bool
	}{
		{container.UnitCentimetre, 100, 50, true}, {container.UnitInch, 0, 300, false},
		{container.UnitInch, math.NaN(), 300, false}, {container.UnitInch, math.Inf(1), 300, false}, {0, 300, 300, false},
	} {
		w, height, ok := millimetres(c.unit, c.x, c.y)
		if ok != c.ok || ok && (w != 0.1 || height != 0.2) {
			t.Errorf("%+v: %v × %v mm, %v", c, w, height, ok)
		}
	}
}

// The mark of a finding that a person should look at goes with the decision about it.
func TestKindIsMarkedUntilDecided(t *testing.T) {
	t.Parallel()
	w, f := New(i18n.For("en")), document.Spot{}
	f.Strength, f.Check = 3, true
	for decision, want := range map[document.Decision]string{
		document.Undecided: "glare ?", document.Kept: "glare", document.Ignored: "glare",
	} {
		f.Decision = decision
		if got := w.Kind(f); got != want {
			t.Errorf("decision %d: %q, want %q", decision, got, want)
		}
	}
}

func TestProgressText(t *testing.T) {
	t.Parallel()
	w := New(i18n.For("en"))
	for _, c := range []struct {
		u    job.Update
		want string
	}{
		{job.Update{}, "0 s so far"},
		{job.Update{Stage: message.Of("%s", "a.tif"), Elapsed: 2900 * time.Millisecond}, "a.tif: 2 s so far"},
		{job.Update{Elapsed: 61 * time.Second, Left: 300 * time.Millisecond}, "1 min 1 s so far, about 1 s left"},
		{job.Update{Elapsed: 2 * time.Minute, Left: 33 * time.Second}, "2 min so far, about 35 s left"},
		{job.Update{Elapsed: time.Second, Left: 119 * time.Second}, "1 s so far, about 2 min left"},
		{job.Update{Elapsed: time.Second, Left: 200 * time.Second}, "1 s so far, about 3 min left"},
	} {
		if got := w.Progress(c.u); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
