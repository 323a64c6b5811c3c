package server

import (
	"fmt"
	"sync"
	"testing"

	"blik/app/farm"
)

// Results are listed in pages: each job that is finished once, with its last result, and no job that is handed out again.
func TestListedResults(t *testing.T) {
	t.Parallel()
	const n = 20 * maxListed
	s := newSite(t, 0)
	opened, err := s.client.Open(t.Context(), s.batch(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []farm.Job
	_, err = s.client.Add(t.Context(), opened, func() (farm.Job, bool) {
		job := farm.Job{In: farm.Place{Path: fmt.Sprintf("/in/%d.tif", len(jobs))}, Out: farm.Place{Path: "/out"}}
		if len(jobs) == n {
			return job, false
		}
		jobs = append(jobs, job.Of(opened.ID))
		return job, true
	}, nil)
	b, e := s.manager.find(opened.ID)
	if err != nil || e != nil {
		t.Fatal(err, e)
	}
	var all sync.WaitGroup
	add := func(i int, kinds ...string) {
		all.Go(func() {
			for round, kind := range kinds {
				key, _ := keyOf(jobs[i].ID)
				r := farm.Result{Job: jobs[i], Outcome: farm.Outcome{End: farm.Done, Sentence: fmt.Sprint(round)}}
				if _, err := s.manager.append(t.Context(), b, kind, key, r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		switch i % 4 {
		case 0:
			add(i, kindDone)
		case 1:
			add(i, kindCrash, kindDone, kindAgain, kindFailed, kindDiffers)
		case 2:
			add(i, kindDone, kindAgain)
		}
	}
	all.Wait()
	got, pages := map[string]string{}, 0
	for after := 0; ; pages++ {
		a, err := s.manager.listJobs(t.Context(), farm.Request{Delivered: after}, b)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Jobs) == 0 {
			break
		}
		for _, r := range a.Jobs {
			if got[r.Job.ID] != "" {
				t.Errorf("%s is listed twice", r.Job.In)
			}
			got[r.Job.ID] = r.Sentence
		}
		after = a.Count
	}
	for i, job := range jobs {
		if want := []string{"0", "3", "", ""}[i%4]; got[job.ID] != want {
			t.Errorf("job %d: result %q, want %q", i, got[job.ID], want)
		}
	}
	if pages < n/2/maxListed/2 {
		t.Errorf("%d results in %d pages", len(got), pages)
	}
}
