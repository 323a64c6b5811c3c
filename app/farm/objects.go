package farm

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"time"

	"blik/internal/message"

	"github.com/nats-io/nats.go/jetstream"
)

// The object store of files for machines that share no folder. It is a JetStream bucket (ADR-20), so that other
// programs can read it, but has its own client: one that sends a whole file ahead of the acknowledgements, as the
// library's client does, uses memory of the server and fails if its disk is slower than the network.
const (
	filesBucket = "FILES"
	filesStream = "OBJ_" + filesBucket
	chunks      = "$O." + filesBucket + ".C."
	metas       = "$O." + filesBucket + ".M."
	// piece is the size of a chunk, flight the number of chunks sent ahead of their acknowledgements.
	piece  = 512 << 10
	flight = 4
)

// errGone is the cause of the error of a file that is not in the store.
var errGone = message.Errorf("it is not in the store")

// errDamaged is the cause of the error of a file with a wrong SHA-256.
var errDamaged = message.Errorf("its SHA-256 does not match")

// objects reads and writes the object store.
type objects struct {
	js     jetstream.JetStream
	stream jetstream.Stream
}

func openObjects(ctx context.Context, l *link) (*objects, error) {
	js, err := jetstream.New(l.Conn, jetstream.WithDefaultTimeout(10*time.Second),
		jetstream.WithPublishAsyncMaxPending(flight), jetstream.WithPublishAsyncTimeout(30*time.Second))
	if err != nil {
		return nil, err
	}
	stream, err := js.Stream(ctx, filesStream)
	if err != nil {
		return nil, message.Errorf("%s: the store of files cannot be reached (%w)", l.where, err)
	}
	return &objects{js, stream}, nil
}

// The kinds of files of a job. A result may be the same as its original.
const (
	original = "o"
	results  = "r"
)

// objectName is the name of a file of a job, identified by its content.
func objectName(job Job, kind, sum string) string {
	return job.Batch + "/" + job.ID + "/" + kind + "/" + sum
}

func metaSubject(name string) string { return metas + base64.URLEncoding.EncodeToString([]byte(name)) }

// has reports whether an object exists.
func (o *objects) has(ctx context.Context, name string) (bool, error) {
	_, err := o.stream.GetLastMsgForSubject(ctx, metaSubject(name))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil, err
}

// put stores a file of a job unless it exists, and verifies its SHA-256.
func (o *objects) put(ctx context.Context, job Job, kind, sum, file string) error {
	name := objectName(job, kind, sum)
	if there, err := o.has(ctx, name); err != nil || there {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	id := job.Batch + "." + job.ID + "." + kind + "." + rand.Text()
	h := sha256.New()
	size, n, err := o.send(ctx, chunks+id, io.TeeReader(f, h))
	if err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return errChanged
	}
	info := jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: piece}},
		Bucket:     filesBucket, NUID: id, Size: size, Chunks: n, Digest: jetstream.GetObjectDigestValue(h),
		ModTime: time.Now().UTC(),
	}
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	_, err = o.js.Publish(ctx, metaSubject(name), data)
	return err
}

// send stores the chunks.
func (o *objects) send(ctx context.Context, subject string, r io.Reader) (size uint64, n uint32, err error) {
	var ahead []jetstream.PubAckFuture
	acknowledged := func() error {
		first := ahead[0]
		ahead = ahead[1:]
		select {
		case <-first.Ok():
			return nil
		case err := <-first.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for {
		buffer := make([]byte, piece) // the library holds the buffer until the message is acknowledged
		got, err := io.ReadFull(r, buffer)
		if got > 0 {
			if len(ahead) == flight {
				if err := acknowledged(); err != nil {
					return 0, 0, err
				}
			}
			f, err := o.js.PublishAsync(subject, buffer[:got])
			if err != nil {
				return 0, 0, err
			}
			ahead, size, n = append(ahead, f), size+uint64(got), n+1
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return 0, 0, err
		}
	}
	for len(ahead) > 0 {
		if err := acknowledged(); err != nil {
			return 0, 0, err
		}
	}
	return size, n, nil
}

// get writes a file of a job to w. The error is errGone or errDamaged if the store is at fault.
func (o *objects) get(ctx context.Context, job Job, kind, sum string, w io.Writer) error {
	msg, err := o.stream.GetLastMsgForSubject(ctx, metaSubject(objectName(job, kind, sum)))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return errGone
	}
	if err != nil {
		return err
	}
	var info jetstream.ObjectInfo
	if err := json.Unmarshal(msg.Data, &info); err != nil {
		return errDamaged
	}
	h := sha256.New()
	if err := o.receive(ctx, info, io.MultiWriter(w, h)); err != nil {
		return err
	}
	return verified(h, sum)
}

func verified(h hash.Hash, sum string) error {
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return errDamaged
	}
	return nil
}

// receive reads the chunks.
func (o *objects) receive(ctx context.Context, info jetstream.ObjectInfo, w io.Writer) error {
	seq := uint64(1)
	for range info.Chunks {
		msg, err := o.stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(chunks+info.NUID))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return errGone
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(msg.Data); err != nil {
			return err
		}
		seq = msg.Sequence + 1
	}
	return nil
}

// remove removes files of a job of one kind.
func (o *objects) remove(ctx context.Context, job Job, kind string, sums ...string) error {
	// The name is removed first: a file with a name is complete.
	for _, sum := range sums {
		name := objectName(job, kind, sum)
		if err := o.stream.Purge(ctx, jetstream.WithPurgeSubject(metaSubject(name))); err != nil {
			return err
		}
	}
	subject := chunks + job.Batch + "." + job.ID + "." + kind + ".>"
	return o.stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
}

// removeBatch removes everything of a batch.
func (o *objects) removeBatch(ctx context.Context, batch string) error {
	info, err := o.stream.Info(ctx, jetstream.WithSubjectFilter(metas+">"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		name, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(subject, metas))
		if err != nil || !strings.HasPrefix(string(name), batch+"/") {
			continue
		}
		if err := o.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return err
		}
	}
	return o.stream.Purge(ctx, jetstream.WithPurgeSubject(chunks+batch+".>"))
}

// fetch writes the original of a job to a new file.
func (o *objects) fetch(ctx context.Context, job Job, sum, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(o.get(ctx, job, original, sum, f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", job.In, err)
	}
	return nil
}
