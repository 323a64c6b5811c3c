package farm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"blik/internal/test/testpic"
)

// secureSite is a farm with TLS and keys.
func secureSite(t *testing.T) (s *site, join map[Role]Join) {
	t.Helper()
	s = newSite(t, 2)
	s.stop()
	s.start(ServerOptions{Listen: "127.0.0.1:0", Secure: true})
	ring, err := OpenKeyring(filepath.Join(s.dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	join = map[Role]Join{}
	for _, role := range roles() {
		seed, err := ring.Make(string(role), role)
		if err != nil {
			t.Fatal(err)
		}
		j := s.server.Join()
		j.Seed = seed
		if join[role], err = ParseJoin(j.Text(role)); err != nil {
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
	heartbeat := &Heartbeat{Name: "w", Program: "1", Model: "m"}
	requests := map[string]request{}
	may := map[Role][]string{Observer: {seeStatus, seeJobs}, Submitter: {seeStatus, seeJobs}}
	for subject := range s.manager.handlers() {
		requests[subject] = request{Worker: heartbeat, ID: sub.Batch.ID}
		switch {
		case strings.HasPrefix(subject, workPrefix):
			may[WorkerRole] = append(may[WorkerRole], subject)
		case strings.HasPrefix(subject, "farm.submit."):
			may[Submitter] = append(may[Submitter], subject)
		}
	}
	requests[control] = request{ID: sub.Batch.ID, Action: Pause}
	for role, subjects := range may {
		l, err := dial(t.Context(), join[role], nil, false)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for subject, r := range requests {
			permitted := false
			for _, s := range subjects {
				permitted = permitted || s == subject
			}
			_, err := l.ask(t.Context(), subject, r)
			var no *Refusal
			switch {
			case permitted && err != nil && !errors.As(err, &no):
				t.Errorf("%s may not %s: %v", role, subject, err)
			case !permitted && (err == nil || !strings.Contains(err.Error(), "does not permit")):
				t.Errorf("%s may %s: %v", role, subject, err)
			}
		}
		// Nobody can access the streams, and no worker can use the key of another.
		for _, subject := range []string{
			workTake + ".open", workTake + "." + s.server.auth.public, workTake, workPrefix + "take.>", listsSubject + sub.Batch.ID, resultsSubject + sub.Batch.ID, "$KV.BATCHES." + sub.Batch.ID,
			"$JS.API.STREAM.DELETE.RESULTS", "$JS.API.STREAM.PURGE.LISTS", "$JS.API.STREAM.MSG.DELETE.RESULTS",
			"$JS.API.STREAM.CREATE.OTHER", "$JS.API.DIRECT.GET." + filesStream, chunks + "x", metas + "x", "$KV.SECRETS.tickets", wake,
			"$JS.API.CONSUMER.CREATE.RESULTS", "$JS.API.STREAM.INFO.RESULTS",
			"$JS.API.STREAM.PURGE." + filesStream, "$JS.API.STREAM.MSG.DELETE." + filesStream,
		} {
			if l.closed(t, subject) == nil {
				t.Errorf("%s may publish to %s", role, subject)
			}
		}
		// Nobody can read the replies to others.
		for _, subject := range []string{">", "_INBOX.>", "farm.>", "$JS.>"} {
			if err := l.deaf(t, subject); err == nil {
				t.Errorf("%s may listen to %s", role, subject)
			}
		}
	}
	st := s.manager.Status(sub.Batch.ID, 0)
	if b := st.Batches[0]; b.State != Paused || b.Files != 2 || b.Done != 0 {
		t.Errorf("what was refused has changed the batch: %+v", b)
	}
}

// closed returns the server's reply to a message.
func (l *link) closed(t *testing.T, subject string) error {
	t.Helper()
	l.denied.Store(nil)
	if err := l.Publish(subject, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	return l.complaint()
}

func (l *link) deaf(t *testing.T, subject string) error {
	t.Helper()
	l.denied.Store(nil)
	s, err := l.Subscribe(subject, func(*nats.Msg) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Unsubscribe()
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	return l.complaint()
}

// complaint waits for an error of the server. It arrives before the answer to a flush, but the client handles it on
// another goroutine.
func (l *link) complaint() error {
	patience := time.After(10 * time.Second)
	for tick := time.NewTicker(time.Millisecond); ; {
		if text := l.denied.Load(); text != nil {
			return errors.New(*text)
		}
		select {
		case <-tick.C:
		case <-patience:
			return nil
		}
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
	seed, err := other.Make("stranger", Submitter)
	if err != nil {
		t.Fatal(err)
	}
	good := join[Observer]
	for _, c := range []struct {
		name, want string
		join       Join
	}{
		{"no key", "does not accept", Join{URL: good.URL, Certificate: good.Certificate}},
		{"another key", "does not accept", Join{URL: good.URL, Certificate: good.Certificate, Seed: seed}},
		{"another server", "its certificate is different", Join{URL: good.URL, Certificate: strings.Repeat("0", 64), Seed: good.Seed}},
		{"no server", "no farm responds", Join{URL: "nats://127.0.0.1:1"}},
		{"no TLS", "requires an address with a key", Join{URL: "nats://" + s.server.Address()}},
	} {
		l, err := dial(t.Context(), c.join, nil, false)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// A removed key is refused immediately.
	l, err := dial(t.Context(), good, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := s.server.auth.ring.Remove(string(Observer)); err != nil {
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
		s, err := StartServer(t.Context(), ServerOptions{Store: t.TempDir(), Listen: address, Log: quiet()})
		if err == nil {
			s.Close()
			t.Errorf("%s is open to all", address)
		}
	}
}

// No name lets jobs leave the roots.
func TestRoots(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	in, out, secret := filepath.Join(top, "in"), filepath.Join(top, "out"), filepath.Join(top, "secret")
	for _, dir := range []string{filepath.Join(in, "sub"), out, secret} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(in, "sub", "a.tif"), filepath.Join(secret, "s.tif")} {
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		filepath.Join(in, "away"): secret, filepath.Join(out, "away"): secret, filepath.Join(in, "s.tif"): filepath.Join(secret, "s.tif"),
		filepath.Join(in, "within"): filepath.Join("sub", "a.tif"),
	} {
		testpic.Link(t, target, name)
	}
	r := Roots{{Folder: in}, {Name: "scans", Folder: in}, {Folder: out, Write: true}, {Name: "out", Folder: out, Write: true}}
	for _, c := range []struct {
		place  Place
		create bool
		good   bool
	}{
		{Place{"scans", "sub/a.tif"}, false, true},
		{Place{"", filepath.ToSlash(filepath.Join(in, "sub", "a.tif"))}, false, true},
		{Place{"scans", "within"}, false, true},
		{Place{"out", "new/folder"}, true, true},
		{Place{"", filepath.ToSlash(out)}, true, true},
		{Place{"out", "."}, true, true},
		{Place{"scans", "../secret/s.tif"}, false, false},
		{Place{"scans", "sub/../../secret/s.tif"}, false, false},
		{Place{"scans", "sub/../sub/a.tif"}, false, false},
		{Place{"scans", filepath.ToSlash(filepath.Join(secret, "s.tif"))}, false, false},
		{Place{"", filepath.ToSlash(filepath.Join(secret, "s.tif"))}, false, false},
		{Place{"", filepath.ToSlash(in) + "/../secret/s.tif"}, false, false},
		{Place{"", "sub/a.tif"}, false, false},
		{Place{"scans", "away/s.tif"}, false, false},
		{Place{"scans", "s.tif"}, false, false},
		{Place{"scans", "sub/a.tif"}, true, false},
		{Place{"scans", "new"}, true, false},
		{Place{"other", "sub/a.tif"}, false, false},
		{Place{"out", "away"}, true, false},
		{Place{"out", "away/deeper"}, true, false},
		{Place{"out", "../in"}, true, false},
		{Place{"", filepath.ToSlash(top)}, true, false},
	} {
		path, err := r.find(c.place, c.create)
		if c.good != (err == nil) {
			t.Errorf("%+v, writing %v: %q, %v", c.place, c.create, path, err)
		}
		if err == nil && !strings.HasPrefix(path, in) && !strings.HasPrefix(path, out) {
			t.Errorf("%+v leads to %s", c.place, path)
		}
	}
	if entries, err := os.ReadDir(secret); err != nil || len(entries) != 1 {
		t.Errorf("the folder outside holds %v, %v", entries, err)
	}
	if err := os.RemoveAll(in); err != nil {
		t.Fatal(err)
	}
	if _, err := r.find(Place{"scans", "sub/a.tif"}, false); !errors.Is(err, errUnmounted) {
		t.Errorf("a root that is not there: %v", err)
	}
}

func TestPortable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.tif", "Мадонна.tif", "sub/a b.tif", "console.tif", "com10.tif", ".hidden"} {
		if err := Portable(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"a:b.tif", "what?.tif", "CON", "con.tif", "sub/lpt1.tif", "end.", "end ", "a\\b", "a\x01b", `q"q`, "dir./x.tif"} {
		if err := Portable(name); err == nil {
			t.Errorf("%q can exist on Windows", name)
		}
	}
}
