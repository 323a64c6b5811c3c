package session_test

import (
	"encoding/csv"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"blik/app/document"
	"blik/app/session"
	"blik/app/session/findings"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// glints are findings with position, area, score and contrast.
func glints() []detect.Finding {
	var list []detect.Finding
	for i, g := range []struct {
		x, y, n         int
		score, contrast float64
	}{{40, 5, 3, 1, 0.5}, {10, 10, 5, 7, 0.2}, {70, 15, 1, 3, 0.9}, {20, 20, 5, -1, 0.4}} {
		list = append(list, detect.Finding{
			ID: i + 1, X: float64(g.x), Y: float64(g.y), Left: g.x, Top: g.y, Width: g.n, Height: 1, Area: g.n,
			Score: g.score, Contrast: g.contrast, Evidence: detect.Evidence{Strength: 3, Kind: detect.GlintKind(i % 4),
				Check: i == 3}, Runs: []processing.Run{{Y: g.y, X0: g.x, X1: g.x + g.n}},
		})
	}
	return list
}

// listingDocument holds the glints and a painted spot in the last row.
func listingDocument(t *testing.T) *document.Document {
	t.Helper()
	d, err := document.New("/a/b.png", testpic.Flat(100, 30, 3, 90))
	if err != nil {
		t.Fatal(err)
	}
	r := &detect.Found{Mask: processing.NewMask(100, 30), Findings: glints()}
	for _, f := range r.Findings {
		for x := range f.Area {
			r.Mask.Pix[f.Top*100+f.Left+x] = 255
		}
	}
	if _, err := d.ApplyResult(r, nil); err != nil {
		t.Fatal(err)
	}
	d.BeginStroke(document.Brush{Radius: 0.5}, 50.5, 25.5)
	d.EndStroke()
	return d
}

func TestListing(t *testing.T) {
	doc := listingDocument(t)
	doc.Keep(doc.Spots()[1:2])
	doc.Ignore(doc.Spots()[2:3])
	set := func(v float64) findings.Bound { return findings.Bound{Set: true, Least: v} }
	// Findings are identified by their column. 50 is painted, 70 is ignored.
	for name, c := range map[string]struct {
		l    findings.Listing
		want []int
	}{
		"all":         {findings.Listing{}, []int{40, 10, 20, 50}},
		"by x":        {findings.Listing{By: findings.ByX}, []int{10, 20, 40, 50}},
		"by area":     {findings.Listing{By: findings.ByArea, Descending: true}, []int{10, 20, 40, 50}},
		"by score":    {findings.Listing{By: findings.ByScore}, []int{50, 20, 40, 10}},
		"kind":        {findings.Listing{By: findings.ByKind, Descending: true}, []int{20, 10, 40, 50}},
		"teaching":    {findings.Listing{Choice: findings.Instructive}, []int{40, 20}},
		"teaching 1":  {findings.Listing{Choice: findings.Instructive, Sensitivity: 1}, []int{20, 40}},
		"teaching −1": {findings.Listing{Choice: findings.Instructive, Sensitivity: -1}, []int{40, 20}},
		"checked":     {findings.Listing{Choice: findings.ToCheck}, []int{20}},
		"descending":  {findings.Listing{Descending: true}, []int{50, 20, 10, 40}},
		"open":        {findings.Listing{Choice: findings.Open}, []int{40, 20, 50}},
		"kept":        {findings.Listing{Choice: findings.Kept}, []int{10}},
		"ignored":     {findings.Listing{Choice: findings.Ignored}, []int{70}},
		"painted":     {findings.Listing{Choice: findings.Painted}, []int{50}},
		"large":       {findings.Listing{Area: set(3)}, []int{40, 10, 20}},
		"sure":        {findings.Listing{Score: set(0)}, []int{40, 10}},
		"bright":      {findings.Listing{Contrast: set(0.4), By: findings.ByX}, []int{20, 40}},
		"corrected":   {findings.Listing{Choice: findings.Corrected}, nil},
		"at the edge": {findings.Listing{Choice: findings.AtEdge}, nil},
		"like 10":     {findings.Listing{Choice: findings.Similar, Like: findings.Likeness{X: 12, Y: 10, Score: 6.5, Area: 3, Kind: 1, Detected: true}}, []int{10}},
		"smaller":     {findings.Listing{Choice: findings.Similar, Like: findings.Likeness{X: 12, Y: 10, Score: 6.5, Area: 2, Kind: 1, Detected: true}}, nil},
		"far away":    {findings.Listing{Choice: findings.Similar, Like: findings.Likeness{X: 27, Y: 10, Score: 6.5, Area: 3, Kind: 1, Detected: true}}, nil},
		"like 50":     {findings.Listing{Choice: findings.Similar, Like: findings.Likeness{X: 50, Y: 25, Area: 1}}, []int{50}},
		"nothing":     {findings.Listing{Choice: findings.Kept, Area: set(6)}, nil},
	} {
		var got []int
		for _, s := range c.l.Of(doc) {
			got = append(got, s.Left)
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, expected %v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, expected %v", name, got, c.want)
				break
			}
		}
	}
}

// Findings at the edge of the picture come last in the order of numbers, and in no other.
func TestEdgeComesLast(t *testing.T) {
	s := newFake(t)
	s.showDocument(listingDocument(t))
	for _, at := range [][2]float64{{30.5, 2.5}, {96.5, 12.5}, {30.5, 27.5}, {95.5, 20.5}} {
		s.Document().BeginStroke(document.Brush{Radius: 0.5}, at[0], at[1])
		s.Document().EndStroke()
	}
	lists := func(l findings.Listing, want ...int) {
		t.Helper()
		var got []int
		for _, f := range l.Of(s.Document()) {
			got = append(got, f.Left)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v lists %v, want %v", l, got, want)
		}
	}
	lists(findings.Listing{}, 40, 10, 70, 20, 95, 50, 30, 96, 30)
	lists(findings.Listing{Choice: findings.AtEdge}, 30, 96, 30)
	lists(findings.Listing{By: findings.ByX}, 10, 20, 30, 30, 40, 50, 70, 95, 96)
	for _, want := range []int{40, 10, 70, 20, 95, 50, 30, 96, 30, 40} {
		if f, ok := s.SelectNext(1); !ok || f.Left != want {
			t.Errorf("next is %d, %v; want %d", f.Left, ok, want)
		}
	}
	if f, ok := s.SelectNext(-1); !ok || f.Left != 30 {
		t.Errorf("before the first comes %d, %v", f.Left, ok)
	}
	s.SelectNext(1)
	s.Choose(findings.Similar)
	if list := s.Listed(); len(list) != 1 || list[0].Left != 40 {
		t.Errorf("%d are like the finding at 40", len(list))
	}
	s.Choose(findings.AtEdge)
	if n := s.IgnoreListed(); n != 3 || len(s.Document().Spots()) != 6 {
		t.Errorf("%d ignored, %d left", n, len(s.Document().Spots()))
	}
	s.Undo()
	if len(s.Document().Spots()) != 9 {
		t.Errorf("%d after the undo", len(s.Document().Spots()))
	}
}

// SelectNext selects the next finding of the list, even if the selected one is no longer in it.
func TestStepsFollowTheList(t *testing.T) {
	s := newFake(t)
	s.showDocument(listingDocument(t))
	s.SetListing(findings.Listing{Choice: findings.Open, By: findings.ByX})
	at := func(want int) {
		t.Helper()
		if f, ok := s.Selected(); !ok || f.Left != want {
			t.Errorf("selected at %d (%v), expected %d", f.Left, ok, want)
		}
	}
	s.SelectNext(1)
	at(10)
	s.KeepSelected()
	if s.SelectedRow() != -1 {
		t.Error("a kept finding is listed as undecided")
	}
	s.SelectNext(1)
	at(20)
	s.RemoveSelected()
	s.SelectNext(1)
	at(40)
	s.SelectNext(-1)
	at(70)
	if kept, all, ignored := s.Decided(); kept != 1 || all != 4 || ignored != 1 {
		t.Errorf("%d of %d kept, %d ignored", kept, all, ignored)
	}
	if n := s.KeepListed(); n != 3 {
		t.Errorf("%d kept", n)
	}
	if _, ok := s.SelectNext(1); ok {
		t.Error("there is a next one of an empty list")
	}
	s.Undo()
	if n := s.IgnoreListed(); n != 3 || len(s.Document().Ignored()) != 3 {
		t.Errorf("%d ignored of the list, %d in all: the painted one cannot come back", n, len(s.Document().Ignored()))
	}
	s.SetListing(findings.Listing{By: findings.ByX})
	s.showDocument(listingDocument(t))
	s.Publish(session.Opened, image.Rectangle{})
	s.SelectNext(1)
	s.SelectNext(1)
	at(20)
	s.showDocument(listingDocument(t))
	s.Publish(session.Opened, image.Rectangle{})
	s.SelectNext(1)
	at(10)
}

// What the user has decided about is no longer expected to be wrong.
func TestExpectedWrong(t *testing.T) {
	s := newFake(t)
	s.showDocument(listingDocument(t))
	for _, step := range []struct {
		decide func()
		want   float64
	}{{func() {}, 4}, {func() { s.KeepSelected() }, 3}, {func() { s.RemoveSelected() }, 2}} {
		s.SelectNext(1)
		step.decide()
		if wrong, ok := s.ExpectedWrong(); !ok || wrong != step.want {
			t.Errorf("%g are expected to be wrong (%v), want %g", wrong, ok, step.want)
		}
	}
}

func TestSaveFindings(t *testing.T) {
	s := newFake(t)
	s.showDocument(listingDocument(t))
	s.Document().Keep(s.Document().Spots()[:1])
	s.SetListing(findings.Listing{By: findings.ByX, Descending: true})
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := s.Findings.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 6 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := func(name string) (list []string) {
		for i, head := range rows[0] {
			if head == name {
				for _, r := range rows[1:] {
					list = append(list, r[i])
				}
			}
		}
		return list
	}
	for name, want := range map[string][]string{
		"left": {"70", "50", "40", "20", "10"}, "score": {"3.000", "", "1.000", "-1.000", "7.000"},
		"decision": {"", "", "kept", "", ""}, "file": {"b.png", "b.png", "b.png", "b.png", "b.png"},
	} {
		got := column(name)
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Errorf("%s: %v, expected %v", name, got, want)
				break
			}
		}
	}
	if err := s.Findings.Save(t.Context(), filepath.Join(t.TempDir(), "no", "f.csv")); err == nil {
		t.Error("saved into a folder that does not exist")
	}
}
