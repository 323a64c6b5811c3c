package server

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"blik/app/farm"

	"github.com/nats-io/nats.go/jetstream"
)

// The object store of files for machines that share no folder. It is a JetStream bucket (ADR-20), so that other
// programs can read it, but only the manager writes it.
const (
	filesBucket = "FILES"
	filesStream = "OBJ_" + filesBucket
	chunks      = "$O." + filesBucket + ".C."
	metas       = "$O." + filesBucket + ".M."
)

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
func objectName(job farm.Job, kind, sum string) string {
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
func (o *objects) remove(ctx context.Context, job farm.Job, kind string, sums ...string) error {
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
