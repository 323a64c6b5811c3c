package farm

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A request to a server that has begun to take connections, but not yet to answer, waits for it.
func TestRequestBeforeTheServerAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	l, err := dialTo(t.Context(), Join{}, s.server, false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answered := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() {
		_, err := l.Subscribe("late", func(m *nats.Msg) { answered <- m.Respond([]byte("here")) })
		if err != nil {
			answered <- err
		}
	})
	reply, err := l.request(t.Context(), "late", nil)
	if err != nil || string(reply.Data) != "here" {
		t.Errorf("%v", err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
