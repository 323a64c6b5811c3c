package server

import (
	"testing"
	"time"

	"blik/app/farm"

	"github.com/nats-io/nats.go"
)

// A request waits for a server that already accepts connections but does not answer yet.
func TestRequestBeforeTheServerAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	l, err := farm.Connect(t.Context(), farm.Join{}, s.server, false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answered := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() {
		_, err := l.Subscribe("late", func(m *nats.Msg) { answered <- m.Respond([]byte(`{"verdict":"here"}`)) })
		if err != nil {
			answered <- err
		}
	})
	a, err := l.Ask(t.Context(), "late", farm.Request{})
	if err != nil || a.Verdict != "here" {
		t.Errorf("%+v, %v", a, err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
