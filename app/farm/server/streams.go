package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"blik/app/farm"
	"blik/internal/message"

	"github.com/nats-io/nats.go/jetstream"
)

// The limits of the streams.
const (
	// ahead is the number of jobs of a batch kept in its queue in memory.
	ahead = 1000
	// maxLists and maxResults bound the number of messages of LISTS and RESULTS; the store bounds the total bytes.
	maxLists   = 1 << 22
	maxResults = 1 << 24
)

// stores are the streams of a farm.
type stores struct {
	js               jetstream.JetStream
	lists, results   jetstream.Stream
	batches, secrets jetstream.KeyValue
	files            *objects
}

// openStores opens the streams and creates missing ones.
func openStores(ctx context.Context, js jetstream.JetStream, replicas int) (*stores, error) {
	s := &stores{js: js}
	var err error
	create := func(name, subject string, more jetstream.StreamConfig) (st jetstream.Stream) {
		if err != nil {
			return nil
		}
		more.Name, more.Subjects, more.Replicas = name, []string{subject + "*"}, replicas
		more.Storage, more.Discard, more.AllowDirect = jetstream.FileStorage, jetstream.DiscardNew, true
		st, err = js.CreateOrUpdateStream(ctx, more)
		return st
	}
	s.lists = create(listsStream, listsSubject, jetstream.StreamConfig{MaxMsgs: maxLists})
	s.results = create(resultsStream, resultsSubject, jetstream.StreamConfig{MaxMsgs: maxResults})
	if err == nil {
		s.batches, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: batchBucket, History: 1, Storage: jetstream.FileStorage, Replicas: replicas,
			MaxValueSize: 256 << 10,
		})
	}
	if err == nil {
		s.secrets, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: secretBucket, History: 1, Storage: jetstream.FileStorage, Replicas: replicas, MaxValueSize: 1 << 10,
		})
	}
	if err == nil {
		_, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: filesBucket, Storage: jetstream.FileStorage, Replicas: replicas,
		})
	}
	if err == nil {
		s.files = &objects{js: js}
		s.files.stream, err = js.Stream(ctx, filesStream)
	}
	if err != nil {
		return nil, message.Errorf("the streams of the farm cannot be opened (%w)", err)
	}
	return s, nil
}

// replay calls f with each message of a stream, in their order, and returns the last sequence.
func replay(ctx context.Context, st jetstream.Stream, f func(batch string, seq uint64, at time.Time, data []byte)) (
	uint64, error,
) {
	info, err := st.Info(ctx)
	if err != nil {
		return 0, err
	}
	last := info.State.LastSeq
	if info.State.Msgs == 0 {
		return last, nil
	}
	c, err := st.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return 0, err
	}
	messages, err := c.Messages(jetstream.PullMaxMessages(5000))
	if err != nil {
		return 0, err
	}
	defer messages.Stop()
	// The last messages may have been removed.
	for left := uint64(1); left > 0; {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return 0, err
		}
		meta, err := m.Metadata()
		if err != nil {
			return 0, err
		}
		left = meta.NumPending
		id := m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
		f(id, meta.Sequence.Stream, meta.Timestamp, m.Data())
	}
	return last, nil
}

// The kinds of entries of RESULTS. A message holds one or more of them, because entries that arrive while the disk is
// busy are written together. An entry is a line "KIND JOB LENGTH MILLISECONDS", followed by LENGTH bytes of JSON.
const (
	kindDone   = "done"
	kindFailed = "failed"
	// kindRefused withdraws a result that the submitter refused: the job counts as failed.
	kindRefused = "refused"
	kindCrash   = "crash"
	kindAgain   = "again"
	// kindDiffers is a second result that differs; it does not change the state of the job.
	kindDiffers = "differs"
)

// entry is an entry of RESULTS.
type entry struct {
	kind string
	key  jobKey
	took time.Duration
	body []byte
}

func (e entry) appendTo(data []byte) []byte {
	data = fmt.Appendf(data, "%s %s %d %d\n", e.kind, e.key, len(e.body), e.took.Milliseconds())
	return append(data, e.body...)
}

// eachEntry calls f with the entries of a message of RESULTS, up to the first unreadable one.
func eachEntry(data []byte, f func(e entry)) {
	data, err := unpack(data)
	if err != nil {
		return
	}
	for len(data) > 0 {
		line, rest, found := bytes.Cut(data, []byte{'\n'})
		fields := strings.Fields(string(line))
		if !found || len(fields) != 4 {
			return
		}
		key, valid := keyOf(fields[1])
		n, errLength := strconv.Atoi(fields[2])
		ms, errTime := strconv.Atoi(fields[3])
		if !valid || errLength != nil || errTime != nil || n < 0 || n > len(rest) {
			return
		}
		f(entry{fields[0], key, time.Duration(ms) * time.Millisecond, rest[:n]})
		data = rest[n:]
	}
}

// noSpace reports whether the server has no space for a message: its disk is full, or a limit is reached.
func noSpace(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && slices.ContainsFunc([]string{"insufficient", "maximum", "no space", "storage", "resources"},
		func(word string) bool { return strings.Contains(strings.ToLower(api.Description), word) })
}

// wrongSequence is JetStream's code for a message whose expected last sequence is not the actual one.
const wrongSequence = 10071

// The streams and buckets. The subjects of streams end in the ID of a batch.
const (
	listsSubject   = "farm.lists."
	resultsSubject = "farm.results."
	listsStream    = "LISTS"
	resultsStream  = "RESULTS"
	batchBucket    = "BATCHES"
	secretBucket   = "SECRETS"
)

// batchID identifies work by its content. again distinguishes repetitions.
func batchID(w farm.Work, program, model, again string) string {
	data, err := json.Marshal([]any{w, program, model, again})
	if err != nil {
		return "" // only an invalid preset makes this fail
	}
	return farm.ShortID(data, 5)
}

type jobKey [farm.JobBytes]byte

// keyOf is the inverse of farm.ShortID for jobs.
func keyOf(id string) (jobKey, bool) {
	var key jobKey
	data, err := farm.Letters.DecodeString(strings.ToLower(id))
	if err != nil || len(data) != farm.JobBytes {
		return key, false
	}
	return jobKey(data), true
}

func (k jobKey) String() string { return farm.Letters.EncodeToString(k[:]) }
