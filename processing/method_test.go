package processing

import "testing"

// A method has a number of its own, by which files name it, and every text.
func TestMethods(t *testing.T) {
	t.Parallel()
	for _, m := range Methods() {
		if got, ok := MethodByNumber(m.Number()); !ok || got != m {
			t.Errorf("%s: number %d is that of %s, %v", m.ID(), m.Number(), got.ID(), ok)
		}
		if m.ID() == "" || m.Name().IsZero() || m.Word().IsZero() || m.Does().IsZero() || m.Help().IsZero() {
			t.Errorf("method %d lacks a text", m)
		}
	}
	for _, former := range []uint8{2, 3, 5, 6} {
		if got, ok := MethodByNumber(former); !ok || got != MethodHarmonic {
			t.Errorf("former number %d: %s, %v", former, got.ID(), ok)
		}
	}
	if _, ok := MethodByNumber(255); ok {
		t.Error("255 is the number of a method")
	}
}
