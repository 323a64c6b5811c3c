package server

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"blik/app/farm"
	"blik/internal/atomicfile"
)

// Space on the disk of the server. JetStream cannot continue on a completely full disk, so new work is refused earlier,
// and results a little later, so that running work can finish.
const (
	spaceForWork    = 128 << 20
	spaceForResults = 32 << 20
	// forOriginals is the share of the object store available to originals. The rest is reserved for results, without
	// which no original would ever be removed.
	forOriginals = 0.4
	// clustered bounds the object store of a cluster, whose disks are unknown here.
	clustered = 100 << 30
)

// free returns the free bytes on the disk of the server's streams; −1 if unknown.
func (m *Manager) free() int64 {
	if m.options.Embedded == nil {
		return -1
	}
	return (atomicfile.Disk{}).Free(filepath.Clean(m.options.Embedded.options.Store))
}

// disk refuses work if the disk of the server has less than the given number of free bytes. The same request may
// succeed once there is space.
func (m *Manager) disk(margin int64) error {
	free := m.free()
	if free < 0 || free >= margin {
		return nil
	}
	if m.options.OwnWorkers {
		return farm.RefuseForNow("the disk that holds the queue, %s, is full: %.0f MB are free and %.0f MB are "+
			"needed; free space on it, and processing resumes", m.options.Embedded.options.Store, float64(free)/1e6,
			float64(margin)/1e6)
	}
	return farm.RefuseForNow("the disk of the server is full: %.0f MB are free and %.0f MB are needed; free space on "+
		"it, and processing resumes", float64(free)/1e6, float64(margin)/1e6)
}

// storeFault is the refusal of a store that has reached its limit, or that cannot write.
func (m *Manager) storeFault() *farm.Refusal {
	if no, ok := errors.AsType[*farm.Refusal](m.disk(spaceForResults)); ok {
		return no
	}
	if m.options.OwnWorkers {
		return farm.RefuseForNow("the queue in %s cannot be written; free space on its disk, and processing resumes",
			m.options.Embedded.options.Store)
	}
	return farm.RefuseForNow("the store of the server is full; raise --store-limit of blik farm serve, or free space " +
		"on its disk, and processing resumes")
}

// maxFiles returns the size limit of the object store.
func (m *Manager) maxFiles(used int64) int64 {
	if m.options.MaxFiles > 0 {
		return m.options.MaxFiles
	}
	if free := m.free(); free >= 0 {
		return (used + free) / 2
	}
	return clustered
}

func (m *Manager) submitterSpace(ctx context.Context, r farm.Request) (farm.Answer, error) {
	return farm.Answer{}, m.checkSpace(ctx, r.Bytes, forOriginals, forOriginals)
}

// workerSpace grants a worker space for all results of a job that it holds.
func (m *Manager) workerSpace(ctx context.Context, r farm.Request, t ticket) (farm.Answer, error) {
	if err := m.checkSpace(ctx, r.Bytes, 1, 1-forOriginals); err != nil {
		return farm.Answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, l := m.holder(t)
	if l == nil {
		return farm.Answer{Verdict: farm.Settled}, nil
	}
	l.room = r.Bytes
	return farm.Answer{Verdict: farm.Proceed}, nil
}

// checkSpace permits the upload of files up to a share of the store. Otherwise it refuses for now, or permanently if
// the files are larger than a share that is certain to become free.
func (m *Manager) checkSpace(ctx context.Context, bytes int64, share, free float64) error {
	if bytes < 0 || bytes > maxSize {
		return farm.Refuse("a size of %d bytes is not possible", bytes)
	}
	info, err := m.stores.files.stream.Info(ctx)
	if err != nil {
		return err
	}
	used := int64(min(info.State.Bytes, 1<<62))
	bound := float64(m.maxFiles(used))
	if float64(bytes) > bound*free {
		return farm.Refuse("%.1f MB is too large for the farm, which accepts up to %.1f MB",
			float64(bytes)/1e6, bound*free/1e6)
	}
	if float64(used+bytes) > bound*share {
		return farm.RefuseForNow("the file store is full; processing resumes when results are fetched")
	}
	return m.disk(bytes + spaceForWork)
}

// need lists the jobs whose originals are needed but not in the object store.
func (m *Manager) need(ctx context.Context, r farm.Request, b *batch) (farm.Answer, error) {
	var a farm.Answer
	for _, job := range r.Jobs {
		job = job.Of(r.ID)
		key, _ := keyOf(job.ID)
		if m.markOf(b, key).status() == done || !farm.ValidSum(job.Upload) {
			continue
		}
		there, err := m.stores.files.has(ctx, objectName(job, original, job.Upload))
		if err != nil {
			return farm.Answer{}, err
		}
		if !there {
			a.Need = append(a.Need, job.ID)
		}
	}
	return a, nil
}

// taken removes the files of jobs whose results were downloaded.
func (m *Manager) taken(ctx context.Context, r farm.Request, b *batch) (farm.Answer, error) {
	for _, id := range r.Names {
		key, ok := keyOf(id)
		mark := m.markOf(b, key)
		if !ok || mark.status() != done {
			continue
		}
		result, err := m.stored(ctx, mark.seq(), id)
		if err != nil {
			return farm.Answer{}, err
		}
		err = errors.Join(m.stores.files.remove(ctx, result.Job, original, result.Job.Upload),
			m.removeResults(ctx, result))
		if err != nil {
			return farm.Answer{}, err
		}
	}
	return farm.Answer{}, nil
}

// fetched reports whether the results of a job were downloaded and removed, or some of them.
func (m *Manager) fetched(ctx context.Context, b *batch, key jobKey, mark mark) (bool, error) {
	if mark.status() != done || !b.Work.Upload {
		return false, nil
	}
	r, err := m.stored(ctx, mark.seq(), key.String())
	if err != nil {
		return false, err
	}
	for _, o := range r.Outputs {
		there, err := m.stores.files.has(ctx, objectName(r.Job, results, o.SHA256))
		if err != nil || !there {
			return err == nil, err
		}
	}
	return false, nil
}

// removeResults removes the files of a result from the object store.
func (m *Manager) removeResults(ctx context.Context, r farm.Result) error {
	if r.Job.Upload == "" {
		return nil
	}
	var sums []string
	for _, o := range r.Outputs {
		sums = append(sums, o.SHA256)
	}
	return m.stores.files.remove(ctx, r.Job, results, sums...)
}

// used removes the original of a finished job. If that fails, it is removed with the results.
func (m *Manager) used(ctx context.Context, job farm.Job) {
	if job.Upload == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := m.stores.files.remove(ctx, job, original, job.Upload); err != nil {
		m.options.Log.Warn("remove", "file", job.In.String(), "error", err)
	}
}
