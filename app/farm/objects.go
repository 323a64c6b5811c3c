package farm

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"blik/internal/message"

	"github.com/nats-io/nats.go/jetstream"
)

// The object store of files for machines that share no folder. It is a JetStream bucket (ADR-20), so that other
// programs can read it, but only the manager writes it.
const (
	filesBucket = "FILES"
	filesStream = "OBJ_" + filesBucket
	chunks      = "$O." + filesBucket + ".C."
	metas       = "$O." + filesBucket + ".M."
	// piece is the size of a chunk: what fits into a message.
	piece = 960 << 10
)

// errGone is the cause of the error of a file that is not in the store.
var errGone = message.Errorf("it is not in the store")

// errDamaged is the cause of the error of a file with a wrong SHA-256.
var errDamaged = message.Errorf("its SHA-256 does not match")

// errSettled is the cause of the error of a worker's request about a job that it no longer holds.
var errSettled = errors.New("the file is done, cancelled or held by another worker")

// objects is the object store.
type objects struct {
	js     jetstream.JetStream
	stream jetstream.Stream
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

// send stores a file whose SHA-256 and size the request gives, piece by piece.
func (l *link) send(ctx context.Context, subject string, r request, sum string, size int64, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r.Transfer = rand.Text()
	h := sha256.New()
	buffer := make([]byte, piece)
	for last, sent := false, int64(0); !last; r.Piece++ {
		n, err := io.ReadFull(f, buffer)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		r.piece = buffer[:n]
		h.Write(r.piece)
		sent += int64(n)
		if sent > size || n == 0 && sent < size || sent == size && hex.EncodeToString(h.Sum(nil)) != sum {
			return errChanged
		}
		a, err := l.ask(ctx, subject, r)
		switch {
		case err != nil:
			return err
		case a.Verdict == settled:
			return errSettled
		}
		last = a.Last
		if last && sent != size {
			return errChanged
		}
	}
	return nil
}

// receive writes a file of the store to w. The error is errGone or errDamaged if the store is at fault.
func (l *link) receive(ctx context.Context, subject string, r request, sum string, w io.Writer) error {
	h := sha256.New()
	to := io.MultiWriter(w, h)
	for {
		a, err := l.ask(ctx, subject, r)
		switch {
		case err != nil:
			return err
		case a.Verdict == settled:
			return errSettled
		case a.Verdict != proceed:
			return errGone
		}
		if _, err := to.Write(a.piece); err != nil {
			return err
		}
		if a.Last || len(a.piece) == 0 {
			return verified(h, sum)
		}
		r.Next = a.Next
	}
}

func verified(h hash.Hash, sum string) error {
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return errDamaged
	}
	return nil
}

// fetch writes the original of a job that a worker holds to a new file.
func (l *link) fetch(ctx context.Context, job Job, ticket, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(l.receive(ctx, workGet, request{Ticket: ticket}, job.Upload, f), f.Close())
	}
	if err != nil && !errors.Is(err, errSettled) {
		return fmt.Errorf("%s: %w", job.In, err)
	}
	return err
}
