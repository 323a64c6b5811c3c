package settings

import (
	"path/filepath"
	"reflect"
	"testing"

	"blik/processing"
	"blik/processing/network"
)

// Learned parameters are restored, unless another version of the detector learned them.
func TestLearnedComesBack(t *testing.T) {
	model, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	basis, n := processing.LearnedBasis(model)
	l := &processing.Learned{Basis: basis, Way: processing.WayShift, Offset: 0.25, Mean: make([]float64, n),
		Deviation: make([]float64, n), Weights: make([]float64, n)}
	for i := range n {
		l.Mean[i], l.Deviation[i], l.Weights[i] = float64(i)/3, 1+float64(i)/7, 0.1/float64(i+1)
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	s := Default()
	s.Params.Learned = l
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || !reflect.DeepEqual(got.Params.Learned, l) {
		t.Errorf("came back as %+v, %v", got.Params.Learned, err)
	}
	l.Basis = "another"
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(path); err != nil || got.Params.Learned != nil {
		t.Errorf("what another version learned came back: %+v, %v", got.Params.Learned, err)
	}
}
