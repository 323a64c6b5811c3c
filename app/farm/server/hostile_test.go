package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"blik/app/farm"
	"blik/app/i18n"

	"github.com/nats-io/nats.go"
)

// alarm is a log that counts internal errors.
type alarm struct {
	slog.Handler
	mu   sync.Mutex
	seen []string
}

func newAlarm() *alarm { return &alarm{Handler: slog.NewTextHandler(io.Discard, nil)} }

func (a *alarm) Handle(_ context.Context, r slog.Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Message == "internal error" {
		text := r.Message
		r.Attrs(func(x slog.Attr) bool { text += " " + x.String(); return true })
		a.seen = append(a.seen, text)
	}
	return nil
}

func (a *alarm) check(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, text := range a.seen {
		t.Error(text)
	}
}

// bodies returns a valid body for each request, from which the others are made.
func bodies(batch, ticket string) map[string]string {
	sum := strings.Repeat("a", 64)
	job := fmt.Sprintf(`{"in":{"path":"/in/a.tif"},"out":{"path":"/out"},"size":1,"modified":2,"upload":%q}`, sum)
	worker := `{"name":"w","program":"1","model":"m","system":"s","slots":[{"device":"cpu","threads":1}],
		"doing":[{"job":"x","name":"y","since":"2026-01-01T00:00:00Z"}],"remark":"r","time":"2026-01-01T00:00:00Z","done":1}`
	result := fmt.Sprintf(`{"end":"done","sentence":"s","source_sha256":%q,"sha256":%q,"outputs":[{"name":"a","sha256":%q}],
		"device":"cpu","peak":1,"found":true,"seconds":1}`, sum, sum, sum)
	file := fmt.Sprintf(`{"job":"x","result":true,"sha256":%q,"size":1}`, sum)
	work := `{"command":"correct","preset":{},"region":"","format":"png","limit":1000,"language":"en","preview":64,
		"overwrite":false,"upload":false}`
	return map[string]string{
		farm.SubmitBatch:  fmt.Sprintf(`{"batch":{"id":"x","work":%s,"program":"1","model":"m","state":"running","round":1},"again":"a"}`, work),
		farm.SubmitList:   fmt.Sprintf(`{"id":%q,"jobs":[%s]}`, batch, job),
		farm.SubmitNeed:   fmt.Sprintf(`{"id":%q,"jobs":[%s]}`, batch, job),
		farm.SubmitRoom:   `{"bytes":1}`,
		farm.SubmitPut:    fmt.Sprintf(`{"id":%q,"jobs":[%s],"transfer":"t","piece":0}`, batch, job),
		farm.SubmitGet:    fmt.Sprintf(`{"id":%q,"file":%s,"next":1}`, batch, file),
		farm.SubmitTaken:  fmt.Sprintf(`{"id":%q,"names":["x"]}`, batch),
		farm.SubmitReject: fmt.Sprintf(`{"id":%q,"names":["x"],"log":"l"}`, batch),
		farm.SubmitAgain:  fmt.Sprintf(`{"id":%q,"names":["x"]}`, batch),
		farm.Control:      `{"id":"x","action":"pause"}`,
		farm.WorkHello:    fmt.Sprintf(`{"worker":%s}`, worker),
		farm.WorkTake:     fmt.Sprintf(`{"worker":%s,"only":"none","shared":true}`, worker),
		farm.WorkRenew:    fmt.Sprintf(`{"ticket":%q}`, ticket),
		farm.WorkBack:     fmt.Sprintf(`{"ticket":%q,"wait":1}`, ticket),
		farm.WorkGet:      fmt.Sprintf(`{"ticket":%q,"next":1}`, ticket),
		farm.WorkRoom:     fmt.Sprintf(`{"ticket":%q,"bytes":1}`, ticket),
		farm.WorkPut:      fmt.Sprintf(`{"ticket":%q,"file":%s,"transfer":"t","piece":0}`, ticket, file),
		farm.WorkResult:   fmt.Sprintf(`{"ticket":%q,"result":%s}`, ticket, result),
		farm.WorkCrash:    fmt.Sprintf(`{"ticket":%q,"log":"l"}`, ticket),
		farm.SeeStatus:    `{"id":"","failures":1}`,
		farm.SeeJobs:      fmt.Sprintf(`{"id":%q,"delivered":1}`, batch),
	}
}

// hostileValues replace each value of a request.
func hostileValues() []string {
	return []string{
		"-1", "-9223372036854775808", "9223372036854775807", "18446744073709551615", "1e308", "1e400", "-1e308", "0.5",
		"null", "[]", "{}", `""`, `"x"`, `"../../../etc/passwd"`, `"\u0000\uffff\ud800"`, "true",
		`"` + strings.Repeat("A", 5000) + `"`,
	}
}

// mutants calls f with each variant of a JSON text in which one value is replaced, or one field is missing.
func mutants(t testing.TB, text string, f func(string)) {
	t.Helper()
	var all any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	write := func() {
		data, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		f(string(data))
	}
	var walk func(value any, set func(any))
	walk = func(value any, set func(any)) {
		for _, v := range hostileValues() {
			set(json.RawMessage(v))
			write()
		}
		set(value)
		switch value := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				old := value[key]
				delete(value, key)
				write()
				value[key] = old
				walk(old, func(v any) { value[key] = v })
			}
		case []any:
			for i, old := range value {
				walk(old, func(v any) { value[i] = v })
			}
		}
	}
	walk(all, func(v any) { all = v })
}

// Every value of every request is replaced by negative, huge, missing and other values: each request is answered, with a
// refusal or without, and the server works as before.
func TestBorder(t *testing.T) {
	t.Parallel()
	s, bell := alarmedSite(t, Options{}, 2)
	sub := s.submit(s.batch(), "")
	a := s.takeAs("w")
	for subject, body := range bodies(sub.Batch.ID, a.Ticket) {
		handle := s.manager.handlers()[subject]
		if handle == nil {
			t.Fatalf("no handler for %s", subject)
		}
		mutants(t, body, func(text string) {
			got := s.manager.respond(subject, &nats.Msg{Subject: subject + ".open", Data: []byte(text)}, handle)
			checkAnswer(t, subject, text, got)
		})
	}
	for subject := range s.manager.handlers() {
		if _, ok := bodies("", "")[subject]; !ok {
			t.Errorf("%s has no test", subject)
		}
	}
	bell.check(t)
	if _, err := s.client.Control(t.Context(), "", farm.Resume); err != nil {
		t.Fatal(err)
	}
	s.work("honest", &stub{}, nil)
	if end := s.wait(sub.Batch.ID); end.Done+end.Failed < 2 {
		t.Errorf("the end: %+v", end)
	}
}

// checkAnswer checks an answer to a hostile request.
func checkAnswer(t testing.TB, subject, text string, a farm.Answer) {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil || len(data) > maxAnswer {
		t.Errorf("%s %.200s: an answer of %d bytes, %v", subject, text, len(data), err)
	}
	if st := a.Status; st != nil {
		for _, b := range st.Batches {
			if b.Files < 0 || b.Done < 0 || b.Failed < 0 || b.Working < 0 || b.Waiting < 0 || b.Seconds < 0 || b.Left < 0 {
				t.Errorf("%s %.200s: %+v", subject, text, b)
			}
		}
	}
}

// alarmedSite is a site whose log counts internal errors.
func alarmedSite(t testing.TB, o Options, files int) (*site, *alarm) {
	t.Helper()
	bell := newAlarm()
	s := newSite(t, files)
	s.stop()
	s.log = slog.New(bell)
	s.start(o)
	return s, bell
}

// Answers go to inboxes only: the manager may publish where the sender of a request may not.
func TestAnswersGoToInboxes(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"", "$JS.API.STREAM.PURGE.RESULTS", listsSubject + "x", resultsSubject + "x", farm.Control, "$KV.BATCHES.x", "inbox", "_INBOX",
	} {
		if err := respond(&nats.Msg{Reply: reply}, nil, nil); err != nil {
			t.Errorf("%q: %v", reply, err)
		}
	}
	if err := respond(&nats.Msg{Reply: "_INBOX.x"}, nil, nil); !errors.Is(err, nats.ErrMsgNotBound) {
		t.Errorf("an inbox: %v", err)
	}
}

// FuzzRequest sends any bytes to each request.
func FuzzRequest(f *testing.F) {
	s, bell := alarmedSite(f, Options{}, 1)
	id := s.submit(s.batch(), "").Batch.ID
	a := s.takeAs("w")
	subjects := slices.Sorted(maps.Keys(s.manager.handlers()))
	all := bodies(id, a.Ticket)
	for i, subject := range subjects {
		f.Add(i, []byte(all[subject]), []byte(nil))
		f.Add(i, []byte(all[subject]), []byte("a piece"))
	}
	f.Fuzz(func(t *testing.T, n int, text, piece []byte) {
		subject := subjects[int(uint(n)%uint(len(subjects)))]
		msg := farm.NewMessage(subject+".open", text, piece)
		got := s.manager.respond(subject, msg, s.manager.handlers()[subject])
		checkAnswer(t, subject, string(text), got)
		bell.check(t)
	})
}

// reset opens a connection, sends text, and resets it.
func reset(t *testing.T, address string, encrypted bool, text string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var w io.Writer = c
	if encrypted {
		w = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	}
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(w, text)
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// TestHostile plays a hostile client without a key, and a hostile worker, observer and submitter, over sockets, with and
// without TLS and keys, while an honest worker processes a batch. The batch ends as if they did not exist.
func TestHostile(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(map[bool]string{false: "open", true: "keys"}[secure], func(t *testing.T) {
			t.Parallel()
			hostile(t, secure)
		})
	}
}

func hostile(t *testing.T, secure bool) {
	s, bell := alarmedSite(t, Options{Listen: "127.0.0.1:0", Secure: secure}, 20)
	join := map[farm.Role]farm.Join{}
	for _, role := range roles() {
		j := farm.Join{URL: "nats://" + s.server.Address()}
		if secure {
			ring, err := OpenKeyring(filepath.Join(s.dir, "store"))
			if err != nil {
				t.Fatal(err)
			}
			j = s.server.Join()
			if j.Seed, err = ring.Make(string(role), role); err != nil {
				t.Fatal(err)
			}
		}
		join[role] = j
	}
	o := PageOptions{Listen: "127.0.0.1:0", Server: s.server, Printer: i18n.For("en")}
	if secure {
		o.Listen = "0.0.0.0:0"
	}
	page, err := s.manager.StartPage(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(page.Close)
	_, port, err := net.SplitHostPort(page.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	where := "127.0.0.1:" + port

	sub := s.submit(s.batch(), "")
	r := &stub{do: func(ctx context.Context, task farm.Task, _ int) (farm.Outcome, error) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
		return farm.Outcome{End: farm.Done, SHA256: "of " + filepath.Base(task.Input)}, ctx.Err()
	}}
	s.work("honest", r, nil)

	var all sync.WaitGroup
	all.Go(func() { hostileStranger(t, s, where, secure) })
	if secure {
		// Without keys, everybody is a submitter.
		all.Go(func() { hostileWorker(t, s, join[farm.WorkerRole], sub.Batch.ID) })
		all.Go(func() { hostileObserver(t, join[farm.Observer], sub.Batch.ID) })
		all.Go(func() { hostileSubmitter(t, join[farm.Submitter]) })
	} else {
		all.Go(func() { hostileWorker(t, s, join[farm.WorkerRole], sub.Batch.ID) })
		all.Go(func() { hostileObserver(t, join[farm.Observer], sub.Batch.ID) })
	}
	all.Wait()
	end := s.wait(sub.Batch.ID)
	if end.Done != 20 || end.Failed != 0 || end.State != farm.Running {
		t.Errorf("the end: %+v", end)
	}
	_, err = s.client.Results(t.Context(), sub.Batch.ID, 0, func(r farm.Result) error {
		if r.Worker != "honest" || r.SHA256 != "of "+filepath.Base(r.Job.In.Path) {
			t.Errorf("a result: %+v", r)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if st := s.manager.Status(sub.Batch.ID, 0); len(st.Batches[0].Conflicts) != 0 || len(st.Workers) > maxWorkers {
		t.Errorf("%d workers, %+v", len(st.Workers), st.Batches)
	}
	select {
	case err := <-s.manager.Failed():
		t.Errorf("the manager: %v", err)
	case <-s.server.Stopped():
		t.Error("the server stopped")
	default:
	}
	bell.check(t)
}

// hostileStranger has no key. It resets connections to queue and page, and keeps many open.
func hostileStranger(t *testing.T, s *site, page string, encrypted bool) {
	queue := s.server.Address()
	texts := []string{
		"", "\x00\x00\x00\x00", "CONNECT {}\r\nPING\r\n", "CONNECT {\"verbose\":true}\r\nSUB > 1\r\nPUB farm.submit.control 2\r\n{}\r\n",
		"CONNECT {}\r\nPUB farm.see.status _INBOX.x 15\r\n{\"failures\":-1}\r\n",
		"PUB a 99999999999999999999\r\n", "INFO {}\r\n", strings.Repeat("A", 1<<16), "GET / HTTP/1.1\r\n",
		strings.Repeat("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 20),
		"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "\x16\x03\x01\xff\xff" + strings.Repeat("x", 100),
		"GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 1<<16) + "\r\n\r\n",
	}
	for _, text := range texts {
		for _, address := range []string{queue, page} {
			reset(t, address, false, text)
			reset(t, address, encrypted, text)
		}
	}
	// Idle connections do not keep others from the page.
	limit := shareOf(descriptors()).page
	var idle []net.Conn
	for range min(limit+20, 300) {
		c, err := net.Dial("tcp", page)
		if err != nil {
			t.Error(err)
			break
		}
		idle = append(idle, c)
		if !encrypted {
			_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
	}
	scheme := map[bool]string{false: "http", true: "https"}[encrypted]
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	answer, err := client.Get(scheme + "://" + page + "/healthz")
	if err != nil {
		t.Errorf("with %d idle connections: %v", len(idle), err)
	} else {
		answer.Body.Close()
	}
	for _, c := range idle {
		_ = c.Close()
	}
}

// rawAsk sends a request and returns the answer.
func rawAsk(t *testing.T, l *farm.Link, subject, text string) farm.Answer {
	t.Helper()
	if strings.HasPrefix(subject, farm.WorkPrefix) {
		key := l.Public
		if key == "" {
			key = "open"
		}
		subject += "." + key
	}
	reply, err := l.Request(subject, []byte(text), 20*time.Second)
	if err != nil {
		t.Errorf("%s %.100s: %v", subject, text, err)
		return farm.Answer{}
	}
	var a farm.Answer
	if err := json.Unmarshal(reply.Data, &a); err != nil {
		t.Errorf("%s: %v", subject, err)
	}
	checkAnswer(t, subject, text, a)
	return a
}

func dialAs(t *testing.T, j farm.Join) *farm.Link {
	t.Helper()
	l, err := farm.Connect(t.Context(), j, nil, false)
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(l.Close)
	return l
}

// hostileWorker has the key of a worker: it reports on jobs that it does not hold, with forged and old tickets, and has
// answers sent to where it may not publish.
func hostileWorker(t *testing.T, s *site, j farm.Join, batch string) {
	l := dialAs(t, j)
	if l == nil {
		return
	}
	other, err := s.roots().NewJob(filepath.Join(s.in, "019.tif"), s.out)
	if err != nil {
		t.Error(err)
		return
	}
	other = other.Of(batch)
	// A lease of its own, for which it forges others.
	var mine farm.Answer
	for mine.Job == nil {
		if mine = rawAsk(t, l, farm.WorkTake, `{"worker":{"name":"liar","program":"1","model":"m"},"shared":true}`); t.Failed() {
			return
		}
	}
	text, sum, _ := strings.Cut(mine.Ticket, ".")
	own := ticket{Job: other, Nonce: "x", Key: l.Public, Worker: "liar", Program: "1", Model: "m", Issued: time.Now()}
	data, err := json.Marshal(own)
	if err != nil {
		t.Error(err)
		return
	}
	forger := &Manager{secret: []byte("guessed")}
	forged, err := forger.sign(own)
	if err != nil {
		t.Error(err)
		return
	}
	for _, bad := range []string{"", ".", "x", text, text + ".", text + "x." + sum, sum + "." + text, string(data) + "." + sum, forged} {
		for _, subject := range []string{farm.WorkRenew, farm.WorkBack, farm.WorkGet, farm.WorkRoom, farm.WorkPut, farm.WorkResult, farm.WorkCrash} {
			body, err := json.Marshal(map[string]any{
				"ticket": bad, "job": other, "result": farm.Result{Job: other, Outcome: farm.Outcome{End: farm.Failed}}, "log": "x", "bytes": 1,
			})
			if err != nil {
				t.Error(err)
			}
			if a := rawAsk(t, l, subject, string(body)); a.Error == nil {
				t.Errorf("%s with the ticket %.50q: %+v", subject, bad, a)
			}
		}
	}
	// The name of another job beside its own ticket changes nothing.
	body, err := json.Marshal(map[string]any{
		"ticket": mine.Ticket, "job": other, "result": map[string]any{"job": other, "end": farm.Done, "outputs": []farm.Output{{Name: ".profile"}}},
	})
	if err != nil {
		t.Error(err)
	}
	if a := rawAsk(t, l, farm.WorkResult, string(body)); a.Error == nil {
		t.Errorf("a hidden file: %+v", a)
	}
	// Answers do not go where the worker may not publish.
	for _, reply := range []string{
		"$JS.API.STREAM.PURGE.RESULTS", "$JS.API.STREAM.PURGE.LISTS", listsSubject + batch, resultsSubject + batch,
		farm.Control, "$KV.BATCHES." + batch, farm.SubmitBatch,
	} {
		subject := farm.WorkHello + ".open"
		if l.Public != "" {
			subject = farm.WorkHello + "." + l.Public
		}
		if err := l.PublishRequest(subject, reply, []byte(`{"worker":{"name":"x"}}`)); err != nil {
			t.Error(err)
		}
	}
	// Names without end.
	for i := range 2 * maxKeyWorkers {
		rawAsk(t, l, farm.WorkHello, fmt.Sprintf(`{"worker":{"name":"flood%d","remark":%q}}`, i, strings.Repeat("x", 10000)))
	}
	if w := s.manager.Status("", 0).Workers; l.Public != "" && len(w) > maxKeyWorkers+2 {
		t.Errorf("%d workers are listed", len(w))
	}
	for subject, text := range bodies(batch, "none") {
		if strings.HasPrefix(subject, farm.WorkPrefix) && subject != farm.WorkTake {
			mutants(t, text, func(text string) { rawAsk(t, l, subject, text) })
		}
	}
	if a := rawAsk(t, l, farm.WorkBack, fmt.Sprintf(`{"ticket":%q}`, mine.Ticket)); a.Error != nil {
		t.Errorf("giving back: %+v", a)
	}
	// Once the job is settled by another worker, the old ticket is worth nothing.
	s.until(func() bool { return s.manager.Status(batch, 0).Batches[0].Done == 20 })
	for _, subject := range []string{farm.WorkRenew, farm.WorkResult, farm.WorkCrash} {
		a := rawAsk(t, l, subject, fmt.Sprintf(`{"ticket":%q,"result":{"end":"failed","sentence":"spoilt"}}`, mine.Ticket))
		if a.Error != nil || a.Verdict != farm.Settled {
			t.Errorf("%s of a settled job: %+v", subject, a)
		}
	}
}

// hostileObserver may only look.
func hostileObserver(t *testing.T, j farm.Join, batch string) {
	l := dialAs(t, j)
	if l == nil {
		return
	}
	for _, subject := range []string{farm.SeeStatus, farm.SeeJobs} {
		mutants(t, bodies(batch, "")[subject], func(text string) { rawAsk(t, l, subject, text) })
	}
}

// hostileSubmitter may control batches, but not stop the server.
func hostileSubmitter(t *testing.T, j farm.Join) {
	l := dialAs(t, j)
	if l == nil {
		return
	}
	a := rawAsk(t, l, farm.SubmitBatch, `{"batch":{"work":{"command":"correct","preset":{},"limit":1,"upload":true},"program":"9","model":"x"}}`)
	if a.Batch == nil {
		t.Errorf("%+v", a)
		return
	}
	for subject, text := range bodies(a.Batch.ID, "") {
		if strings.HasPrefix(subject, "farm.submit.") && subject != farm.Control {
			mutants(t, text, func(text string) { rawAsk(t, l, subject, text) })
		}
	}
	var no *farm.Refusal
	if _, err := l.Ask(t.Context(), farm.Control, farm.Request{ID: a.Batch.ID, Action: "destroy"}); !errors.As(err, &no) {
		t.Error(err)
	}
}
