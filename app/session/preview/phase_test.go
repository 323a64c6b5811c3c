package preview

import "testing"

// Each phase has one successor for each event. Where it depends on the parameters, it is what they need.
func TestPhases(t *testing.T) {
	t.Parallel()
	// needs stands for the phase that the parameters need, follow for whole if they need any.
	const needs, follow = phases, phases + 1
	for p, row := range [phases][events]phase{
		//               changed          ended   cancelled failed
		idle:            {needs, idle, idle, idle},
		part:            {stalePart, follow, idle, idle},
		stalePart:       {stalePart, needs, idle, idle},
		whole:           {staleWhole, idle, idle, idle},
		staleWhole:      {staleWhole, needs, needs, idle},
		deciding:        {staleDeciding, idle, idle, idle},
		staleDeciding:   {staleDeciding, needs, idle, idle},
		correcting:      {staleCorrecting, idle, idle, idle},
		staleCorrecting: {staleCorrecting, needs, idle, idle},
	} {
		for e, want := range row {
			for _, needed := range []phase{idle, part, whole, deciding, correcting} {
				expected := want
				switch {
				case want == needs:
					expected = needed
				case want == follow && needed == idle:
					expected = idle
				case want == follow:
					expected = whole
				}
				if got := phase(p).next(event(e), needed); got != expected {
					t.Errorf("phase %d, event %d, needed %d: %d, want %d", p, e, needed, got, expected)
				}
			}
		}
	}
}

// The user is told of every end but those of a part and of a search that another one replaces.
func TestAnnouncedPhases(t *testing.T) {
	t.Parallel()
	silent := map[phase]map[event]bool{
		part: {ended: true}, stalePart: {ended: true}, staleWhole: {cancelled: true},
	}
	for p := range phases {
		for e := range events {
			if want := e != changed && !silent[p][e]; p.announces(e) != want {
				t.Errorf("phase %d announces event %d: %v", p, e, !want)
			}
		}
	}
}
