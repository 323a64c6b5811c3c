package server

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blik/app/farm"

	"github.com/nats-io/nats.go"
)

// secureSite is a farm with TLS and keys.
func secureSite(t *testing.T) (s *site, join map[farm.Role]farm.Join) {
	t.Helper()
	s = newSite(t, 2)
	s.stop()
	s.start(Options{Listen: "127.0.0.1:0", Secure: true})
	ring, err := OpenKeyring(filepath.Join(s.dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	join = map[farm.Role]farm.Join{}
	for _, role := range roles() {
		seed, err := ring.Make(string(role), role)
		if err != nil {
			t.Fatal(err)
		}
		j := s.server.Join()
		j.Seed = seed
		if join[role], err = farm.ParseJoin(j.Text(role)); err != nil {
			t.Fatal(err)
		}
	}
	return s, join
}

// Each key may do what its role permits and nothing else; refusals are reported.
func TestRights(t *testing.T) {
	t.Parallel()
	s, join := secureSite(t)
	sub := s.submit(s.batch(), "")
	heartbeat := &farm.Heartbeat{Name: "w", Program: "1", Model: "m"}
	requests := map[string]farm.Request{}
	may := map[farm.Role][]string{farm.Observer: {farm.SeeStatus, farm.SeeJobs}, farm.Submitter: {farm.SeeStatus, farm.SeeJobs}}
	for subject := range s.manager.handlers() {
		requests[subject] = farm.Request{Worker: heartbeat, ID: sub.Batch.ID}
		switch {
		case strings.HasPrefix(subject, farm.WorkPrefix):
			may[farm.WorkerRole] = append(may[farm.WorkerRole], subject)
		case strings.HasPrefix(subject, "farm.submit."):
			may[farm.Submitter] = append(may[farm.Submitter], subject)
		}
	}
	requests[farm.Control] = farm.Request{ID: sub.Batch.ID, Action: farm.Pause}
	for role, subjects := range may {
		l, err := farm.Connect(t.Context(), join[role], nil, false)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for subject, r := range requests {
			permitted := false
			for _, s := range subjects {
				permitted = permitted || s == subject
			}
			_, err := l.Ask(t.Context(), subject, r)
			var no *farm.Refusal
			switch {
			case permitted && err != nil && !errors.As(err, &no):
				t.Errorf("%s may not %s: %v", role, subject, err)
			case !permitted && (err == nil || !strings.Contains(err.Error(), "does not permit")):
				t.Errorf("%s may %s: %v", role, subject, err)
			}
		}
		all := complaints(l)
		// Nobody can access the streams, and no worker can use the key of another.
		for _, subject := range []string{
			farm.WorkTake + ".open", farm.WorkTake + "." + s.server.auth.public, farm.WorkTake, farm.WorkPrefix + "take.>", listsSubject + sub.Batch.ID, resultsSubject + sub.Batch.ID, "$KV.BATCHES." + sub.Batch.ID,
			"$JS.API.STREAM.DELETE.RESULTS", "$JS.API.STREAM.PURGE.LISTS", "$JS.API.STREAM.MSG.DELETE.RESULTS",
			"$JS.API.STREAM.CREATE.OTHER", "$JS.API.DIRECT.GET." + filesStream, chunks + "x", metas + "x", "$KV.SECRETS.tickets", farm.Wake,
			"$JS.API.CONSUMER.CREATE.RESULTS", "$JS.API.STREAM.INFO.RESULTS",
			"$JS.API.STREAM.PURGE." + filesStream, "$JS.API.STREAM.MSG.DELETE." + filesStream,
		} {
			if closed(t, l, all, subject) == nil {
				t.Errorf("%s may publish to %s", role, subject)
			}
		}
		// Nobody can read the replies to others.
		for _, subject := range []string{">", "_INBOX.>", "farm.>", "$JS.>"} {
			if err := deaf(t, l, all, subject); err == nil {
				t.Errorf("%s may listen to %s", role, subject)
			}
		}
	}
	st := s.manager.Status(sub.Batch.ID, 0)
	if b := st.Batches[0]; b.State != farm.Paused || b.Files != 2 || b.Done != 0 {
		t.Errorf("what was refused has changed the batch: %+v", b)
	}
}

// complaints returns the permission errors of a connection, in place of what it did with them before.
func complaints(l *farm.Link) <-chan error {
	all := make(chan error, 100)
	l.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { all <- err })
	return all
}

// closed returns the server's reply to a message.
func closed(t *testing.T, l *farm.Link, all <-chan error, subject string) error {
	t.Helper()
	if err := l.Publish(subject, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	return complaint(t, l, all)
}

func deaf(t *testing.T, l *farm.Link, all <-chan error, subject string) error {
	t.Helper()
	s, err := l.Subscribe(subject, func(*nats.Msg) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Unsubscribe()
	return complaint(t, l, all)
}

// complaint waits for an error of the server. It arrives before the answer to a flush, but the client handles it on
// another goroutine.
func complaint(t *testing.T, l *farm.Link, all <-chan error) error {
	t.Helper()
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-all:
		return err
	case <-time.After(10 * time.Second):
		return nil
	}
}

// Clients without a key, with a wrong key or at the wrong server get a sentence that says so.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s, join := secureSite(t)
	other, err := OpenKeyring(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	seed, err := other.Make("stranger", farm.Submitter)
	if err != nil {
		t.Fatal(err)
	}
	good := join[farm.Observer]
	for _, c := range []struct {
		name, want string
		join       farm.Join
	}{
		{"no key", "does not accept", farm.Join{URL: good.URL, Certificate: good.Certificate}},
		{"another key", "does not accept", farm.Join{URL: good.URL, Certificate: good.Certificate, Seed: seed}},
		{"another server", "its certificate is different", farm.Join{URL: good.URL, Certificate: strings.Repeat("0", 64), Seed: good.Seed}},
		{"no server", "no farm responds", farm.Join{URL: "nats://127.0.0.1:1"}},
		{"no TLS", "requires an address with a key", farm.Join{URL: "nats://" + s.server.Address()}},
	} {
		l, err := farm.Connect(t.Context(), c.join, nil, false)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// A removed key is refused immediately.
	l, err := farm.Connect(t.Context(), good, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := s.server.auth.ring.Remove(string(farm.Observer)); err != nil {
		t.Fatal(err)
	}
	for l.IsConnected() {
		select {
		case <-t.Context().Done():
			t.Fatal("a removed key stays connected")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A server does not listen beyond loopback without keys.
func TestNoOpenPort(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:4222", "example.org:1"} {
		s, err := Start(t.Context(), Options{Store: t.TempDir(), Listen: address, Log: quiet()})
		if err == nil {
			s.Close()
			t.Errorf("%s is open to all", address)
		}
	}
}
