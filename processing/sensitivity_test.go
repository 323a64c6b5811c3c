package processing_test

import (
	"testing"

	"blik/processing"
)

func TestStops(t *testing.T) {
	t.Parallel()
	s, _ := processing.SpecByID("sensitivity")
	for _, stop := range s.Stops {
		v, err := s.Parse(stop.ID)
		if err != nil || v != stop.Value || s.Check(v) != nil {
			t.Errorf("%s gave %g, %v", stop.ID, v, err)
		}
	}
	if _, err := s.Parse("everything"); err == nil {
		t.Error("a stop that does not exist was accepted")
	}
}
