package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"blik/app/farm"
	"blik/internal/message"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ManagerOptions configure a manager.
type ManagerOptions struct {
	// Join is the server; Embedded is the one in this process, if any.
	Join     farm.Join
	Embedded *Server
	// Patience is how long a worker may be silent before its file is given to another worker; 0: 45 s.
	Patience time.Duration
	// Keep is how long a finished or cancelled batch is kept after its last result; 0: 90 days.
	Keep time.Duration
	// Replicas of each stream in a cluster; 0: 1.
	Replicas int
	// MaxFiles limits the object store of uploaded files in bytes; 0: half of the disk of the store.
	MaxFiles int64
	// OwnWorkers means that all workers are in this process. Workers of earlier processes no longer exist, so their
	// jobs need not wait until Patience has passed.
	OwnWorkers bool
	// ServerOnly means that the process is only a server and should use little memory.
	ServerOnly bool
	Log        *slog.Logger
}

// The limits of the manager.
const (
	// A file with maxCrashes crashes is set aside.
	maxCrashes = 2
	// A file is set aside after maxLost workers vanished while processing it without reporting a crash: it may bring
	// down whole machines. The limit is high because machines are also switched off.
	maxLost = 10
	// vanished is the time after which a silent worker is no longer listed.
	vanished = 30 * time.Second
)

// Manager is the only writer of the streams.
type Manager struct {
	options ManagerOptions
	link    *farm.Link
	stores  *stores
	cancel  context.CancelFunc
	ctx     context.Context
	running sync.WaitGroup
	started time.Time
	// feeding is signalled when the queues may need more jobs.
	feeding chan struct{}
	// secret signs tickets. Until opens, workers of an earlier manager may renew their jobs, and none are handed out.
	secret []byte
	opens  time.Time
	// failed receives the reason for which the manager cannot continue.
	failed chan error

	// listing is held while LISTS is written and while batches are added or removed.
	listing sync.Mutex
	// writes go to the goroutine that writes RESULTS. Only that goroutine changes last, the last sequence number in
	// RESULTS that the index holds, and mu is held meanwhile.
	writes chan *write
	last   uint64

	mu      sync.Mutex
	batches map[string]*batch
	order   []string
	workers map[string]*seenWorker
	jobs    int // in all batches
	leases  map[jobKey]*lease
	// tries counts how often a job was handed out, lost how many workers vanished with it.
	tries, lost map[jobKey]int
	transfers   map[string]*transfer
	fault       *farm.Refusal // what stops the server
	recent      []time.Time
	latest      []settledJob
}

// seenWorker is a worker that has sent a heartbeat.
type seenWorker struct {
	farm.Heartbeat
	key    string
	skewed bool
}

// settledJob is a job with the sequence of its result.
type settledJob struct {
	batch string
	seq   uint64
	key   jobKey
}

// keptLatest is the number of latest results shown on the page.
const keptLatest = 20

// batch is the index of a batch.
type batch struct {
	farm.Batch
	jobs         map[jobKey]mark
	done, failed int
	// work is the processing time of the finished jobs in seconds.
	work     float64
	failures []farm.Result
	// next is the first sequence in LISTS whose jobs have not been passed to the queue, end the sequence after the last
	// list of the batch, and last the time of the last result.
	next  uint64
	end   uint64
	last  time.Time
	queue queue
	// refused holds the workers whose results of a job the submitter refused.
	refused map[jobKey][]string
	// conflicts are second results that differ from the first.
	conflicts []farm.Conflict
	// inherited is the number of the next jobs that an earlier manager may have handed out.
	inherited int
}

// mark is the state of a job: the sequence of its result in RESULTS, its crashes, and whether it is waiting, done or
// failed.
type mark uint64

const (
	waiting mark = iota
	done
	failed
)

func newMark(status mark, crashes int, seq uint64) mark {
	return mark(seq)<<16 | mark(min(crashes, 255))<<8 | status
}
func (m mark) status() mark { return m & 0xff }
func (m mark) crashes() int { return int(m >> 8 & 0xff) }
func (m mark) seq() uint64  { return uint64(m >> 16) }

// keptFailures is the number of failures of a batch kept in memory for lists.
const keptFailures = 1000

// StartManager opens the streams, reads their contents and starts to answer requests.
func StartManager(ctx context.Context, o ManagerOptions) (*Manager, error) {
	if o.Patience == 0 {
		o.Patience = 45 * time.Second
	}
	if o.Keep == 0 {
		o.Keep = 90 * 24 * time.Hour
	}
	var inside farm.Inside
	if o.Embedded != nil {
		inside = o.Embedded
	}
	l, err := farm.Connect(ctx, o.Join, inside, false)
	if err != nil {
		return nil, err
	}
	m := &Manager{
		options: o, link: l, started: time.Now(), batches: map[string]*batch{}, workers: map[string]*seenWorker{},
		leases: map[jobKey]*lease{}, tries: map[jobKey]int{}, lost: map[jobKey]int{}, transfers: map[string]*transfer{},
		feeding: make(chan struct{}, 1), writes: make(chan *write, 1024), failed: make(chan error, 1),
	}
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if o.ServerOnly {
		limitMemory(0)
		m.running.Go(func() { every(m.ctx, time.Second, o.Log, "memory", m.saveMemory) })
	}
	if err := m.open(ctx); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Manager) open(ctx context.Context) error {
	js, err := jetstream.New(m.link.Conn, jetstream.WithDefaultTimeout(10*time.Second),
		jetstream.WithPublishAsyncMaxPending(256))
	if err != nil {
		return err
	}
	if m.stores, err = openStores(ctx, js, max(1, m.options.Replicas)); err != nil {
		if m.disk(spaceForResults) != nil {
			return message.Errorf("the disk that holds the queue, %s, is full; free space on it",
				m.options.Embedded.options.Store)
		}
		return err
	}
	if err := m.load(ctx); err != nil {
		return message.Errorf("the streams of the farm cannot be read (%w)", err)
	}
	for subject, handle := range m.handlers() {
		if err := m.serve(subject, handle); err != nil {
			return err
		}
	}
	m.link.SetClosedHandler(func(*nats.Conn) { m.fail(message.Errorf("the connection to the streams was closed")) })
	m.running.Go(m.feed)
	m.running.Go(m.write)
	m.running.Go(func() {
		every(m.ctx, min(time.Minute, m.options.Keep), m.options.Log, "remove", m.retire)
	})
	return m.link.Flush()
}

// handler answers a request.
type handler func(context.Context, farm.Request) (farm.Answer, error)

// handlers returns the handlers of all requests.
func (m *Manager) handlers() map[string]handler {
	return map[string]handler{
		farm.SubmitBatch: m.addBatch, farm.SubmitList: m.addJobs, farm.SubmitNeed: onBatch(m, m.need),
		farm.SubmitRoom: m.submitterSpace, farm.SubmitPut: onBatch(m, m.submitterPut),
		farm.SubmitGet: onBatch(m, m.submitterGet), farm.SubmitTaken: onBatch(m, m.taken), farm.SubmitReject: m.reject,
		farm.SubmitAgain: onBatch(m, m.again), farm.Control: m.control,
		farm.WorkHello: m.hello, farm.WorkTake: m.assign, farm.WorkRenew: onTicket(m, m.renew),
		farm.WorkBack: onTicket(m, m.back), farm.WorkGet: onTicket(m, m.workerGet),
		farm.WorkRoom: onTicket(m, m.workerSpace), farm.WorkPut: onTicket(m, m.workerPut),
		farm.WorkResult: onTicket(m, m.result), farm.WorkCrash: onTicket(m, m.crash),
		farm.SeeStatus: m.status, farm.SeeJobs: onBatch(m, m.listJobs),
	}
}

// onBatch returns the handler of requests about a batch that exists.
func onBatch(
	m *Manager, handle func(context.Context, farm.Request, *batch) (farm.Answer, error),
) handler {
	return func(ctx context.Context, r farm.Request) (farm.Answer, error) {
		b, err := m.find(r.ID)
		if err != nil {
			return farm.Answer{}, err
		}
		if n := max(len(r.Jobs), len(r.Names)); n > farm.MaxList {
			return farm.Answer{}, farm.Refuse("a list of %d files is too long", n)
		}
		return handle(ctx, r, b)
	}
}

// onTicket returns the handler of requests of a worker that was given a ticket.
func onTicket(
	m *Manager, handle func(context.Context, farm.Request, ticket) (farm.Answer, error),
) handler {
	return func(ctx context.Context, r farm.Request) (farm.Answer, error) {
		t, err := m.ticketOf(r)
		if err != nil {
			return farm.Answer{}, err
		}
		return handle(ctx, r, t)
	}
}

// Failed returns a channel that receives the reason if the manager cannot continue.
func (m *Manager) Failed() <-chan error { return m.failed }

func (m *Manager) fail(err error) {
	if m.ctx.Err() != nil {
		return // it is being closed
	}
	select {
	case m.failed <- err:
	default:
	}
}

// Close stops the manager; everything that it has acknowledged is stored.
func (m *Manager) Close() {
	m.cancel()
	m.running.Wait()
	m.link.Close()
}

func (m *Manager) markOf(b *batch, key jobKey) mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return b.jobs[key]
}

// load rebuilds the index.
func (m *Manager) load(ctx context.Context) error {
	keys, err := m.stores.batches.Keys(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		return err
	}
	if err := m.loadSecret(ctx); err != nil {
		return err
	}
	for _, id := range keys {
		value, err := m.stores.batches.Get(ctx, id)
		if err != nil {
			return err
		}
		b := &batch{jobs: map[jobKey]mark{}}
		if err := json.Unmarshal(value.Value(), &b.Batch); err != nil {
			return err
		}
		b.last = b.Created
		m.batches[id] = b
	}
	m.sortBatches()
	_, err = replay(ctx, m.stores.lists, func(id string, seq uint64, _ time.Time, data []byte) {
		b := m.batches[id]
		if b == nil {
			return
		}
		b.end = seq + 1
		ids, _, _ := strings.Cut(string(data), "\n")
		for id := range strings.FieldsSeq(ids) {
			if key, ok := keyOf(id); ok {
				if _, known := b.jobs[key]; !known {
					b.jobs[key] = newMark(waiting, 0, 0)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	m.last, err = replay(ctx, m.stores.results, func(id string, seq uint64, at time.Time, data []byte) {
		if b := m.batches[id]; b != nil {
			eachEntry(data, func(e entry) { b.note(e, seq, at) })
		}
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.batches {
		m.jobs += len(b.jobs)
		if b.done+b.failed < len(b.jobs) {
			b.inherited = ahead
			if !m.options.OwnWorkers {
				m.opens = time.Now().Add(2 * m.heartbeatInterval())
			}
		}
	}
	return err
}

// loadSecret reads the secret of the tickets, or makes one. Workers of this process do not outlive it, so their tickets
// need no secret that does.
func (m *Manager) loadSecret(ctx context.Context) error {
	m.secret = []byte(rand.Text())
	if m.options.OwnWorkers {
		return nil
	}
	const name = "tickets"
	_, err := m.stores.secrets.Create(ctx, name, m.secret)
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return err
	}
	kept, err := m.stores.secrets.Get(ctx, name)
	if err == nil {
		m.secret = kept.Value()
	}
	return err
}

func (m *Manager) sortBatches() {
	m.order = m.order[:0]
	for id := range m.batches {
		m.order = append(m.order, id)
	}
	slices.SortFunc(m.order, func(a, b string) int {
		return m.batches[a].Created.Compare(m.batches[b].Created)
	})
}

// note adds an entry of RESULTS to the index.
func (b *batch) note(e entry, seq uint64, at time.Time) {
	key := e.key
	old := b.jobs[key]
	if e.kind == kindDiffers {
		var c farm.Conflict
		if len(b.conflicts) < keptConflicts && json.Unmarshal(e.body, &c) == nil {
			b.conflicts = append(b.conflicts, c)
		}
		return
	}
	switch old.status() {
	case done:
		b.done--
	case failed:
		b.failed--
		b.failures = slices.DeleteFunc(b.failures, func(r farm.Result) bool { return r.Job.ID == key.String() })
	}
	switch e.kind {
	case kindDone:
		b.jobs[key] = newMark(done, old.crashes(), seq)
		b.done++
		b.last = at
		b.work += e.took.Seconds()
	case kindFailed, kindRefused:
		b.jobs[key] = newMark(failed, old.crashes(), seq)
		b.failed++
		b.last = at
		var r farm.Result
		if json.Unmarshal(e.body, &r) != nil {
			break
		}
		if len(b.failures) < keptFailures {
			b.failures = append(b.failures, r)
		}
		if r.Refused {
			if b.refused == nil {
				b.refused = map[jobKey][]string{}
			}
			b.refused[key] = append(b.refused[key], identity(r.Key, r.Worker))
		}
	case kindCrash:
		b.jobs[key] = newMark(waiting, old.crashes()+1, 0)
	case kindAgain:
		b.jobs[key] = newMark(waiting, 0, 0)
	}
}

// serve answers requests, each in its own goroutine, because stored requests wait for the disk.
func (m *Manager) serve(subject string, handle handler) error {
	free := make(chan struct{}, maxConcurrent)
	pattern := subject
	if strings.HasPrefix(subject, farm.WorkPrefix) {
		pattern += ".*"
	}
	_, err := m.link.QueueSubscribe(pattern, "manager", func(msg *nats.Msg) {
		select {
		case free <- struct{}{}:
		case <-m.ctx.Done():
			return
		}
		m.running.Go(func() {
			defer func() { <-free }()
			a := m.respond(subject, msg, handle)
			data, err := json.Marshal(a)
			if err == nil && len(data) > maxAnswer {
				data, err = json.Marshal(farm.Answer{Error: farm.Refuse("the answer is too long")})
			}
			if err == nil {
				err = respond(msg, data, a.Content)
			}
			if err != nil {
				m.options.Log.Error("answer", "request", subject, "error", err)
			}
		})
	})
	return err
}

// respond answers a request. Neither its content nor a defect of a handler ends the server.
func (m *Manager) respond(subject string, msg *nats.Msg, handle handler) (a farm.Answer) {
	defer farm.Survive(m.options.Log, subject, func(err error) {
		a = farm.Answer{Error: farm.Refuse("internal error: %s", err.Error())}
	})
	r, err := readRequest(msg)
	if err == nil && strings.HasPrefix(subject, farm.WorkPrefix) && m.keyed() {
		r.Key = strings.TrimPrefix(msg.Subject, subject+".")
	}
	if err == nil {
		a, err = handle(m.ctx, r)
	}
	if err != nil {
		return farm.Answer{Error: m.refusal(subject, err)}
	}
	return a
}

// keyed reports whether the server guarantees that the subject of a worker's request ends in its key.
func (m *Manager) keyed() bool { return m.options.Embedded != nil && m.options.Embedded.auth != nil }

// refusal returns the error to send to the client. Faults of the server are logged.
func (m *Manager) refusal(subject string, err error) *farm.Refusal {
	no, refused := errors.AsType[*farm.Refusal](err)
	if refused {
		return no
	}
	if noSpace(err) {
		no = m.storeFault()
		m.setFault(no)
	} else {
		no = farm.RefuseForNow("the server cannot do this at the moment: %s", err.Error())
	}
	m.options.Log.Error("request", "subject", subject, "error", err)
	return no
}

func (m *Manager) setFault(fault *farm.Refusal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = fault
}

// addBatch opens a new batch or the existing one with the same work.
func (m *Manager) addBatch(ctx context.Context, r farm.Request) (farm.Answer, error) {
	b := farm.Batch{Work: r.Batch.Work, Program: r.Batch.Program, Model: r.Batch.Model}
	if err := validBatch(b, r.Again); err != nil {
		return farm.Answer{}, err
	}
	b.ID = batchID(b.Work, b.Program, b.Model, r.Again)
	// The batch may be about to be removed.
	m.listing.Lock()
	defer m.listing.Unlock()
	m.mu.Lock()
	known, many := m.batches[b.ID], len(m.batches)
	m.mu.Unlock()
	if known == nil && many >= maxBatches {
		return farm.Answer{}, farm.Refuse("the farm holds %d batches and takes no more; finished ones are deleted "+
			"after the time of --keep", many)
	}
	if known != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		copied := known.Batch
		return farm.Answer{Batch: &copied}, nil
	}
	if err := m.disk(spaceForWork); err != nil {
		return farm.Answer{}, err
	}
	b.Created, b.State = time.Now().UTC(), farm.Running
	if err := m.keep(ctx, b); err != nil {
		return farm.Answer{}, err
	}
	m.mu.Lock()
	m.batches[b.ID] = &batch{Batch: b, jobs: map[jobKey]mark{}, last: b.Created}
	m.sortBatches()
	m.mu.Unlock()
	m.options.Log.Info("batch", "batch", b.ID, "command", b.Work.Command, "program", b.Program)
	m.wake()
	return farm.Answer{Batch: &b}, nil
}

// keep stores a batch.
func (m *Manager) keep(ctx context.Context, b farm.Batch) error {
	data, err := json.Marshal(b)
	if err == nil {
		_, err = m.stores.batches.Put(ctx, b.ID, data)
	}
	return err
}

func (m *Manager) find(id string) (*batch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.batches[id]; b != nil {
		return b, nil
	}
	return nil, farm.Refuse("batch %s does not exist", farm.Clip(id, farm.MaxName))
}

// addJobs stores the new jobs of a list.
func (m *Manager) addJobs(ctx context.Context, r farm.Request) (farm.Answer, error) {
	if len(r.Jobs) > farm.MaxList {
		return farm.Answer{}, farm.Refuse("a list of %d files is too long", len(r.Jobs))
	}
	// Concurrent lists could hold the same file.
	m.listing.Lock()
	defer m.listing.Unlock()
	b, err := m.find(r.ID)
	if err != nil {
		return farm.Answer{}, err
	}
	var a farm.Answer
	var fresh []farm.Job
	seen := map[jobKey]bool{}
	for _, job := range r.Jobs {
		if err := validJob(job, b.Work.Upload); err != nil {
			return farm.Answer{}, err
		}
	}
	m.mu.Lock()
	for _, job := range r.Jobs {
		job = job.Of(r.ID)
		key, _ := keyOf(job.ID)
		old, known := b.jobs[key]
		switch {
		case seen[key]:
		case !known:
			fresh = append(fresh, job)
		case old.status() == done:
			a.Known++
			a.Ready++
		default:
			a.Known++
		}
		seen[key] = true
	}
	many := m.jobs+len(fresh) > maxJobs
	m.mu.Unlock()
	if len(fresh) == 0 {
		return a, nil
	}
	if many {
		return farm.Answer{}, farm.Refuse("the farm holds %d files and takes no more; finished batches are "+
			"deleted after the time of --keep", maxJobs)
	}
	if err := m.disk(spaceForWork); err != nil {
		return farm.Answer{}, err
	}
	if err := m.list(ctx, b, fresh); err != nil {
		return farm.Answer{}, err
	}
	a.Added = len(fresh)
	return a, nil
}

// list appends jobs to LISTS; listing must be held.
func (m *Manager) list(ctx context.Context, b *batch, jobs []farm.Job) error {
	data, err := packJobs(jobs)
	if err != nil {
		return err
	}
	ack, err := m.stores.js.Publish(ctx, listsSubject+b.ID, data)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = nil
	b.end, b.last = ack.Sequence+1, time.Now()
	m.jobs += len(jobs)
	for _, job := range jobs {
		if key, ok := keyOf(job.ID); ok {
			b.jobs[key] = newMark(waiting, b.jobs[key].crashes(), 0)
		}
	}
	m.wakeFeed()
	return nil
}

// wakeFeed makes feed run at once.
func (m *Manager) wakeFeed() {
	select {
	case m.feeding <- struct{}{}:
	default:
	}
}

// packJobs encodes a message of LISTS: a line with the IDs, which is all that a starting manager reads, and the jobs as
// JSON.
func packJobs(jobs []farm.Job) ([]byte, error) {
	var b bytes.Buffer
	for _, job := range jobs {
		b.WriteString(job.ID + " ")
	}
	b.WriteByte('\n')
	data, err := json.Marshal(jobs)
	if err == nil {
		data, err = pack(data)
	}
	b.Write(data)
	return b.Bytes(), err
}

func unpackJobs(data []byte) (jobs []farm.Job, err error) {
	_, text, _ := bytes.Cut(data, []byte{'\n'})
	if text, err = unpack(text); err == nil {
		err = json.Unmarshal(text, &jobs)
	}
	return jobs, err
}

// feed keeps the queues filled, and returns the jobs of silent workers to them.
func (m *Manager) feed() {
	for tick := time.NewTicker(min(500*time.Millisecond, m.options.Patience/4)); ; {
		select {
		case <-m.ctx.Done():
			return
		case <-tick.C:
		case <-m.feeding:
		}
		m.feedAll()
	}
}

func (m *Manager) feedAll() {
	defer farm.Survive(m.options.Log, "feed", func(error) {})
	m.expire(m.ctx)
	m.dropTransfers()
	m.mu.Lock()
	order := slices.Clone(m.order)
	m.mu.Unlock()
	for _, id := range order {
		if err := m.feedBatch(m.ctx, id); err != nil && m.ctx.Err() == nil {
			m.options.Log.Error("feed", "batch", id, "error", err)
		}
	}
}

// feedBatch passes lists of a batch to its queue while few jobs are left there.
func (m *Manager) feedBatch(ctx context.Context, id string) error {
	for {
		m.mu.Lock()
		b := m.batches[id]
		if b == nil {
			m.mu.Unlock()
			return nil
		}
		if b.done+b.failed == len(b.jobs) {
			b.next = b.end
		}
		next, end, state, round := b.next, b.end, b.State, b.Round
		full := len(b.queue.ready) >= ahead/2
		m.mu.Unlock()
		if state != farm.Running || next >= end || full {
			return nil
		}
		msg, err := m.stores.lists.GetMsg(ctx, max(1, next), jetstream.WithGetMsgSubject(listsSubject+id))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			m.move(b, end, round)
			return nil
		}
		if err != nil {
			return err
		}
		jobs, err := unpackJobs(msg.Data)
		if err != nil {
			return err
		}
		if m.enqueue(b, jobs, round) {
			m.wake()
		}
		m.move(b, msg.Sequence+1, round)
	}
}

// move records how far a batch has been passed to its queue. The position is not stored: a new manager starts from the
// beginning and skips settled jobs.
func (m *Manager) move(b *batch, next uint64, round int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.Round == round {
		b.next = next
	}
}

// enqueue queues the jobs that are neither settled nor queued nor held, and reports whether there are any.
func (m *Manager) enqueue(b *batch, jobs []farm.Job, round int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.Round != round {
		return false
	}
	any := false
	for _, job := range jobs {
		key, ok := keyOf(job.ID)
		mark, known := b.jobs[key]
		if ok && known && mark.status() == waiting && !b.queue.queued[key] && m.leases[key] == nil {
			b.queue.add(key, job)
			any = true
		}
	}
	return any
}

// wake tells the workers that there may be new jobs.
func (m *Manager) wake() {
	if err := m.link.Publish(farm.Wake, nil); err != nil {
		m.options.Log.Debug("wake", "error", err)
	}
}

// saveMemory limits the memory of a process that is only a server: such a process runs for weeks and does little, so
// that extra work for the garbage collector hardly matters.
func (m *Manager) saveMemory() {
	m.mu.Lock()
	files := m.jobs
	m.mu.Unlock()
	limitMemory(files)
}

// every calls do at once and then at an interval until ctx ends. Defects of do are logged.
func every(ctx context.Context, interval time.Duration, log *slog.Logger, what string, do func()) {
	for tick := time.NewTicker(interval); ctx.Err() == nil; {
		func() {
			defer farm.Survive(log, what, func(error) {})
			do()
		}()
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// limitMemory sets the garbage collector's limit to the needs of a server with the given number of files: JetStream,
// the connections, and an index entry for each file.
func limitMemory(files int) {
	const base, entry = 26 << 20, 128
	debug.SetGCPercent(20)
	debug.SetMemoryLimit(base + entry*int64(files))
}
