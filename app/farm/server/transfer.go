package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"slices"
	"strings"
	"sync"
	"time"

	"blik/app/farm"

	"github.com/nats-io/nats.go/jetstream"
)

// Files go to and from the object store through the manager, piece by piece: submitters write originals of jobs and
// read results, workers read the original of a job that they hold and write its results. Nobody else can do either.

const (
	// maxTransfers bounds the uploads at a time; one that is idle for longer than idleTransfer is forgotten.
	maxTransfers = 512
	idleTransfer = time.Minute
)

// transfer is an upload.
type transfer struct {
	mu     sync.Mutex
	job    farm.Job
	kind   string
	file   farm.Stored
	id     string
	pieces int
	size   int64
	sum    hash.Hash
	last   time.Time
	ended  bool
}

// submitterPut stores a piece of the original of a job.
func (m *Manager) submitterPut(ctx context.Context, r farm.Request, b *batch) (farm.Answer, error) {
	if len(r.Jobs) != 1 || validJob(r.Jobs[0], true) != nil {
		return farm.Answer{}, errUnreadable()
	}
	job := r.Jobs[0].Of(b.ID)
	key, _ := keyOf(job.ID)
	if mark := m.markOf(b, key); mark.status() == done || !b.Work.Upload {
		fetched, err := m.fetched(ctx, b, key, mark)
		if err != nil {
			return farm.Answer{}, err
		}
		if !fetched {
			return farm.Answer{}, farm.Refuse("the original of this file is not needed")
		}
	}
	if r.Piece == 0 {
		if err := m.checkSpace(ctx, job.Size, forOriginals, forOriginals); err != nil {
			return farm.Answer{}, err
		}
	}
	return m.put(ctx, job, original, farm.Stored{SHA256: job.Upload, Size: job.Size}, "submitter", r)
}

// workerPut stores a piece of a result of a job that the worker holds.
func (m *Manager) workerPut(ctx context.Context, r farm.Request, t ticket) (farm.Answer, error) {
	if r.File == nil || !farm.ValidSum(r.File.SHA256) || r.File.Size < 0 || r.File.Size > maxSize ||
		t.Job.Upload == "" {
		return farm.Answer{}, errUnreadable()
	}
	m.mu.Lock()
	_, l := m.holder(t)
	if l == nil {
		m.mu.Unlock()
		return farm.Answer{Verdict: farm.Settled}, nil
	}
	if r.Piece == 0 {
		if r.File.Size > l.room {
			m.mu.Unlock()
			return farm.Answer{}, farm.RefuseForNow("the worker has not asked for the space of this result")
		}
		l.room -= r.File.Size
	}
	m.mu.Unlock()
	return m.put(ctx, t.Job, results, *r.File, t.Nonce, r)
}

// errTransfer refuses a piece that does not follow on the last one, after a restart or a lost answer: the sender starts
// again.
func errTransfer() *farm.Refusal { return farm.RefuseForNow("the transfer was interrupted") }

// put stores a piece of a file, and with the last one the file, after checking its size and SHA-256.
func (m *Manager) put(ctx context.Context, job farm.Job, kind string, file farm.Stored, by string, r farm.Request,
) (farm.Answer, error) {
	if len(r.Transfer) == 0 || len(r.Transfer) > 64 || r.Piece < 0 || len(r.Content) > farm.MaxPiece {
		return farm.Answer{}, errUnreadable()
	}
	if err := m.disk(spaceForResults + farm.MaxPiece); err != nil {
		return farm.Answer{}, err
	}
	name := by + " " + r.Transfer
	m.mu.Lock()
	t := m.transfers[name]
	if t == nil && r.Piece == 0 {
		if len(m.transfers) >= maxTransfers {
			m.mu.Unlock()
			return farm.Answer{}, farm.RefuseForNow("too many files are being sent to the server")
		}
		t = &transfer{
			job: job, kind: kind, file: file, sum: sha256.New(), last: time.Now(),
			id: job.Batch + "." + job.ID + "." + kind + "." + rand.Text(),
		}
		m.transfers[name] = t
	}
	m.mu.Unlock()
	if t == nil {
		return farm.Answer{}, errTransfer()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.pieces != r.Piece || t.job.ID != job.ID || t.kind != kind || t.file != file {
		return farm.Answer{}, errTransfer()
	}
	last, err := m.putPiece(ctx, t, r.Content)
	if err != nil || last {
		t.ended = true
		m.mu.Lock()
		delete(m.transfers, name)
		m.mu.Unlock()
	}
	if err != nil {
		m.dropChunks(t)
	}
	return farm.Answer{Verdict: farm.Proceed, Last: last}, err
}

// putPiece stores the next piece of a transfer; the mutex of t must be held.
func (m *Manager) putPiece(ctx context.Context, t *transfer, data []byte) (last bool, err error) {
	left := t.file.Size - t.size
	if int64(len(data)) > left || len(data) == 0 && left > 0 {
		return false, farm.Refuse("the file does not have the announced size")
	}
	if len(data) > 0 {
		if _, err := m.stores.js.Publish(ctx, chunks+t.id, data); err != nil {
			return false, err
		}
		t.sum.Write(data)
		t.size += int64(len(data))
	}
	t.pieces++
	t.last = time.Now()
	if t.size < t.file.Size {
		return false, nil
	}
	if hex.EncodeToString(t.sum.Sum(nil)) != t.file.SHA256 {
		return false, farm.Refuse("its SHA-256 does not match")
	}
	return true, m.stores.files.name(ctx, t)
}

// name gives a complete file its name.
func (o *objects) name(ctx context.Context, t *transfer) error {
	name := objectName(t.job, t.kind, t.file.SHA256)
	n := t.pieces
	if t.file.Size == 0 {
		n = 0
	}
	info := jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: farm.MaxPiece}},
		Bucket:     filesBucket, NUID: t.id, Size: uint64(t.size), Chunks: uint32(n),
		Digest: jetstream.GetObjectDigestValue(t.sum), ModTime: time.Now().UTC(),
	}
	data, err := json.Marshal(info)
	if err == nil {
		_, err = o.js.Publish(ctx, metaSubject(name), data)
	}
	return err
}

// dropChunks removes what was stored of an unfinished upload. If that fails, it is removed with the batch.
func (m *Manager) dropChunks(t *transfer) {
	if err := m.stores.files.stream.Purge(m.ctx, jetstream.WithPurgeSubject(chunks+t.id)); err != nil {
		m.options.Log.Debug("remove", "transfer", t.id, "error", err)
	}
}

// dropTransfers forgets uploads that are idle.
func (m *Manager) dropTransfers() {
	var idle []*transfer
	m.mu.Lock()
	for name, t := range m.transfers {
		if t.mu.TryLock() {
			if time.Since(t.last) > idleTransfer {
				t.ended = true
				idle = append(idle, t)
				delete(m.transfers, name)
			}
			t.mu.Unlock()
		}
	}
	m.mu.Unlock()
	for _, t := range idle {
		m.dropChunks(t)
	}
}

// submitterGet returns a piece of a result.
func (m *Manager) submitterGet(ctx context.Context, r farm.Request, b *batch) (farm.Answer, error) {
	if r.File == nil || !farm.ValidSum(r.File.SHA256) {
		return farm.Answer{}, errUnreadable()
	}
	key, ok := keyOf(r.File.Job)
	if !ok || m.markOf(b, key).status() == waiting {
		return farm.Answer{}, farm.Refuse("this file has no result")
	}
	return m.get(ctx, farm.Job{ID: key.String(), Batch: b.ID}, results, r.File.SHA256, r.Next)
}

// workerGet returns a piece of the original of a job that the worker holds.
func (m *Manager) workerGet(ctx context.Context, r farm.Request, t ticket) (farm.Answer, error) {
	if t.Job.Upload == "" {
		return farm.Answer{}, errUnreadable()
	}
	m.mu.Lock()
	_, l := m.holder(t)
	m.mu.Unlock()
	if l == nil {
		return farm.Answer{Verdict: farm.Settled}, nil
	}
	return m.get(ctx, t.Job, original, t.Job.Upload, r.Next)
}

// get returns the piece of a file from a sequence number of the store on; without a piece the file is not in the store.
func (m *Manager) get(ctx context.Context, job farm.Job, kind, sum string, next uint64) (farm.Answer, error) {
	o := m.stores.files
	meta, err := o.stream.GetLastMsgForSubject(ctx, metaSubject(objectName(job, kind, sum)))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return farm.Answer{}, nil
	}
	if err != nil {
		return farm.Answer{}, err
	}
	var info jetstream.ObjectInfo
	a := farm.Answer{Verdict: farm.Proceed, Content: []byte{}}
	if json.Unmarshal(meta.Data, &info) != nil || !strings.HasPrefix(info.NUID, job.Batch+"."+job.ID+".") ||
		info.Chunks == 0 {
		a.Last = true // it is empty, or another program has written it and its SHA-256 does not match
		return a, nil
	}
	msg, err := o.stream.GetMsg(ctx, max(next, 1), jetstream.WithGetMsgSubject(chunks+info.NUID))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		a.Last = true
		return a, nil
	}
	if err != nil {
		return farm.Answer{}, err
	}
	a.Next, a.Content = msg.Sequence+1, slices.Clone(msg.Data)
	return a, nil
}
