package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"blik/app/farm"

	"github.com/nats-io/nats.go/jetstream"
)

// retire removes old batches.
func (m *Manager) retire() {
	if err := m.removeOld(m.ctx); err != nil && m.ctx.Err() == nil {
		m.options.Log.Error("remove", "error", err)
	}
}

// removeOld removes the batches that were finished or cancelled longer ago than Keep.
func (m *Manager) removeOld(ctx context.Context) error {
	m.mu.Lock()
	var old []*batch
	for _, id := range m.order {
		b := m.batches[id]
		if (b.State == farm.Cancelled || b.done+b.failed == len(b.jobs)) && time.Since(b.last) > m.options.Keep {
			old = append(old, b)
		}
	}
	m.mu.Unlock()
	for _, b := range old {
		if err := m.remove(ctx, b); err != nil {
			return err
		}
		m.options.Log.Info("removed", "batch", b.ID, "files", len(b.jobs))
	}
	return nil
}

// remove removes all data of a batch. Its entry in BATCHES goes last: a batch that a crash leaves without files is
// removed later.
func (m *Manager) remove(ctx context.Context, b *batch) error {
	// No files can be added to it meanwhile.
	m.listing.Lock()
	defer m.listing.Unlock()
	requests, err := m.stores.js.Stream(ctx, "KV_"+batchBucket)
	if err != nil {
		return err
	}
	err = errors.Join(
		m.stores.files.removeBatch(ctx, b.ID),
		m.stores.results.Purge(ctx, jetstream.WithPurgeSubject(resultsSubject+b.ID)),
		m.stores.lists.Purge(ctx, jetstream.WithPurgeSubject(listsSubject+b.ID)),
	)
	if err == nil {
		err = requests.Purge(ctx, jetstream.WithPurgeSubject("$KV."+batchBucket+"."+b.ID))
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.batches, b.ID)
	m.jobs -= len(b.jobs)
	for key := range b.jobs {
		delete(m.leases, key)
		delete(m.tries, key)
		delete(m.lost, key)
	}
	m.order = slices.DeleteFunc(m.order, func(id string) bool { return id == b.ID })
	m.latest = slices.DeleteFunc(m.latest, func(s settledJob) bool { return s.batch == b.ID })
	return nil
}
