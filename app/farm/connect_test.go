package farm

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A request waits for a server that already accepts connections but does not answer yet.
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
	reply, err := l.request(t.Context(), newMessage("late", nil, nil))
	if err != nil || string(reply.Data) != "here" {
		t.Errorf("%v", err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
