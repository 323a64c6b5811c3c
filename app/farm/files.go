package farm

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"blik/internal/message"
)

// MaxPiece is the largest piece of a file: what fits into a message.
const MaxPiece = 960 << 10

// errGone is the cause of the error of a file that is not in the store.
var errGone = message.Errorf("it is not in the store")

// errDamaged is the cause of the error of a file with a wrong SHA-256.
var errDamaged = message.Errorf("its SHA-256 does not match")

// errLarge is the cause of the error of a file that is larger than it can be.
var errLarge = message.Errorf("it is too large")

// errSettled is the cause of the error of a worker's request about a job that it no longer holds.
var errSettled = errors.New("the file is done, cancelled or held by another worker")

// send stores a file whose SHA-256 and size the request gives, piece by piece.
func (l *Link) send(ctx context.Context, subject string, r Request, sum string, size int64, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r.Transfer = rand.Text()
	h := sha256.New()
	buffer := make([]byte, MaxPiece)
	for last, sent := false, int64(0); !last; r.Piece++ {
		n, err := io.ReadFull(f, buffer)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		r.Content = buffer[:n]
		h.Write(r.Content)
		sent += int64(n)
		if sent > size || n == 0 && sent < size || sent == size && hex.EncodeToString(h.Sum(nil)) != sum {
			return errChanged
		}
		a, err := l.held(ctx, subject, r)
		if err != nil {
			return err
		}
		last = a.Last
		if last && sent != size {
			return errChanged
		}
	}
	return nil
}

// held sends a request about a job that this worker holds; the error is errSettled if it no longer does.
func (l *Link) held(ctx context.Context, subject string, r Request) (Answer, error) {
	a, err := l.Ask(ctx, subject, r)
	if err == nil && a.Verdict == Settled {
		err = errSettled
	}
	return a, err
}

// receive writes a file of the store, of at most most bytes, to w. The error is errGone, errLarge or errDamaged if the
// store is at fault.
func (l *Link) receive(ctx context.Context, subject string, r Request, sum string, most int64, w io.Writer) error {
	h := sha256.New()
	to := io.MultiWriter(w, h)
	for {
		a, err := l.held(ctx, subject, r)
		switch {
		case err != nil:
			return err
		case a.Verdict != Proceed:
			return errGone
		}
		if most -= int64(len(a.Content)); most < 0 {
			return errLarge
		}
		if _, err := to.Write(a.Content); err != nil {
			return err
		}
		if a.Last || len(a.Content) == 0 {
			if hex.EncodeToString(h.Sum(nil)) != sum {
				return errDamaged
			}
			return nil
		}
		r.Next = a.Next
	}
}

// receiveFile is receive into a new file, in place of one that is incomplete because the server became unreachable.
func (l *Link) receiveFile(ctx context.Context, subject string, r Request, sum string, most int64, file string) error {
	_ = os.Remove(file)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(l.receive(ctx, subject, r, sum, most, f), f.Close())
}

// fetch writes the original of a job that a worker holds to a new file.
func (l *Link) fetch(ctx context.Context, job Job, ticket, file string) error {
	err := l.receiveFile(ctx, WorkGet, Request{Ticket: ticket}, job.Upload, job.Size, file)
	if err != nil && !errors.Is(err, errSettled) {
		return fmt.Errorf("%s: %w", job.In, err)
	}
	return err
}
