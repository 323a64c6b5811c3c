package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	workbatch "blik/app/batch"
	"blik/app/farm"
	"blik/app/farm/server"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/network"

	"github.com/spf13/cobra"
)

// submission is one run of `blik farm submit` or `blik batch`.
type submission struct {
	workFlags
	join       joining
	roots      []string
	upload     bool
	again      bool
	wait       bool
	anyName    bool
	failedName bool
	// ownQueue: the queue is in this process.
	ownQueue bool
	bar      *bar
	// saying is held while a fault is printed.
	saying sync.Mutex
}

func (p *program) farmSubmitCommand() *cobra.Command {
	s := &submission{workFlags: workFlags{program: p}}
	c := &cobra.Command{
		Use:   "submit [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Add files to the queue of a farm"),
		Long: p.say(`Adds pictures to the queue of a farm. They are corrected as by blik correct or, with --detect,
searched as by blik detect. A pattern may contain ** for folders of any depth; the results are then written into the
same folders below DIR.

The same files with the same parameters are added only once, however often they are submitted; new files in a folder
are added to the batch. Files that cannot be submitted are named, and the others are added.

--upload is for machines without a common folder: the files are sent to the server, workers fetch them from there, and
the results are fetched into DIR. The command runs until all of them have arrived; started again after a kill, it
resumes.

Exit status: 0 success, 1 some files failed, 2 usage error, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	p.addJoin(c, &s.join)
	s.addSubmission(c)
	c.Flags().BoolVar(&s.upload, "upload", false,
		p.say("send the files to the server, wait, and fetch the results; no shared folder is needed"))
	c.Flags().BoolVar(&s.wait, "wait", false, p.say("wait until everything is done, and show the progress"))
	c.RunE = func(c *cobra.Command, args []string) error {
		return s.run(c.Context(), args)
	}
	return c
}

// addSubmission declares the flags for the work and the files.
func (s *submission) addSubmission(c *cobra.Command) {
	s.addFlags(c, work.Detection|work.Correction, processing.Specs())
	f := c.Flags()
	f.BoolVar(&s.Detect, "detect", false, s.say("only find the glare, as blik detect does"))
	f.BoolVar(&s.again, "again", false, s.say("process all files again, including finished ones"))
	s.addRoots(c, &s.roots)
	f.BoolVar(&s.anyName, "any-name", false, s.say("also submit files whose names cannot exist on Windows"))
}

// newBatch returns the batch that the work belongs to, and what distinguishes it from others with the same work.
func (s *submission) newBatch() (farm.Batch, string) {
	b := farm.Batch{Work: workbatch.Order(s.Work, s.tr.Code()), Program: s.Version, Model: network.SHA256()}
	b.Work.Upload = s.upload
	again := ""
	if s.again {
		again = s.now().UTC().Format(time.RFC3339Nano)
	}
	if s.upload {
		// The results belong to one folder of one machine.
		host, err := os.Hostname()
		if err != nil {
			host = ""
		}
		out, err := filepath.Abs(s.outDir)
		if err != nil {
			out = s.outDir
		}
		again = strings.Join([]string{again, host, out}, "\x00")
	}
	return b, again
}

func (s *submission) run(ctx context.Context, args []string) error {
	if err := s.check(args); err != nil {
		return err
	}
	if len(args) == 0 {
		return s.usage("no files given")
	}
	client, err := s.join.dial(ctx, s.program)
	if err != nil {
		return err
	}
	defer client.Close()
	if s.upload {
		return s.sendAndFetch(ctx, client, args)
	}
	done, err := s.submit(ctx, client, args, nil)
	if err != nil {
		return err
	}
	if !s.wait {
		if s.failedName {
			return errReported
		}
		return nil
	}
	return s.follow(ctx, client, done.Batch.ID)
}

// sendAndFetch uploads the files and downloads the results concurrently, because the store of the server may be smaller
// than the batch.
func (s *submission) sendAndFetch(ctx context.Context, client *farm.Client, args []string) error {
	if !s.quiet {
		s.bar = newBar(s.terminal)
		defer s.bar.close()
	}
	type end struct {
		farm.Collected
		err error
	}
	ended := make(chan end, 1)
	fetch, stop := context.WithCancel(ctx)
	defer stop()
	submitted := make(chan struct{})
	started := false
	var finished farm.BatchStatus
	done, err := s.submit(ctx, client, args, func(b farm.Batch, inputs []string) {
		started = true
		o := farm.Collection{
			Folder: s.outDir, Overwrite: s.Overwrite, Input: workbatch.Inputs(inputs),
			Checker: workbatch.Results{Work: b.Work}, Every: 500 * time.Millisecond, Notify: s.warn,
		}
		go func() {
			got, err := client.Collect(fetch, b.ID, o, submitted)
			ended <- end{got, err}
		}()
	})
	if err == nil {
		close(submitted)
		finished, err = s.watch(ctx, client, done.Batch.ID)
	}
	if err != nil {
		stop()
	}
	if !started {
		return err
	}
	e := <-ended
	if err == nil {
		err = e.err
	}
	if err == nil {
		// A result may have been refused since.
		err = s.conclude(ctx, client, finished)
	}
	if err != nil && !errors.Is(err, errReported) {
		return err
	}
	if !s.quiet {
		text := s.say("files fetched: %d; results not fetched: %d\n", e.Files, e.Failed)
		if _, err := io.WriteString(s.Stdout, text); err != nil {
			return err
		}
	}
	if err == nil && e.Failed > 0 {
		return errReported
	}
	return err
}

// warn prints a fault; it may be called concurrently.
func (s *submission) warn(err error) {
	s.saying.Lock()
	defer s.saying.Unlock()
	s.bar.clear()
	s.printError(err)
}

// submit submits the files and prints the outcome. opened, if not nil, is called with all files once the batch is
// known.
func (s *submission) submit(ctx context.Context, client *farm.Client, args []string,
	opened func(farm.Batch, []string),
) (farm.Submission, error) {
	roots, err := s.rootsOf(s.roots, nil)
	if err != nil {
		return farm.Submission{}, err
	}
	if err := s.makeFolder(s.outDir); err != nil {
		return farm.Submission{}, err
	}
	b, again := s.newBatch()
	var files []found
	var inputs []string
	for f := range s.walk(ctx, args) {
		files, inputs = append(files, f), append(inputs, f.path)
	}
	next := func() (farm.Job, bool) {
		for len(files) > 0 {
			f := files[0]
			files = files[1:]
			job, err := s.job(ctx, roots, f)
			if err == nil {
				return job, true
			}
			s.failedName = true
			s.warn(err)
		}
		return farm.Job{}, false
	}
	b, err = client.Open(ctx, b, again, s.warn)
	if err != nil {
		return farm.Submission{}, err
	}
	if opened != nil {
		opened(b, inputs)
	}
	done, err := client.Add(ctx, b, next, s.warn)
	if err != nil {
		return done, err
	}
	if !s.quiet {
		_, err = io.WriteString(s.Stdout, s.say("batch %s: files added: %d; submitted before: %d, of which done: %d\n",
			done.Batch.ID, done.Added, done.Known, done.Ready))
	}
	return done, err
}

// found is a file to be submitted, and the subfolder for its results.
type found struct {
	path, folder string
	err          error
}

// job describes a file to the farm.
func (s *submission) job(ctx context.Context, roots farm.Roots, f found) (farm.Job, error) {
	if f.err != nil {
		return farm.Job{}, f.err
	}
	if !s.anyName {
		if err := farm.Portable(path.Join(filepath.ToSlash(f.folder), filepath.Base(f.path))); err != nil {
			return farm.Job{}, err
		}
	}
	if s.upload {
		if strings.HasPrefix(filepath.Base(f.path), ".") {
			return farm.Job{}, message.Errorf("%s: files whose names begin with a period are not uploaded; rename it",
				f.path)
		}
		return farm.NewUpload(ctx, f.path, f.folder)
	}
	return roots.NewJob(f.path, filepath.Join(s.outDir, f.folder))
}

// walk finds the files named by the arguments, each once, and refuses two files whose results would have the same name.
func (s *submission) walk(ctx context.Context, args []string) <-chan found {
	files := make(chan found, 64)
	go func() {
		defer close(files)
		seen, targets := map[string]bool{}, map[string]string{}
		give := func(path, folder string, err error) bool {
			key := filepath.Clean(path)
			if seen[key] {
				return ctx.Err() == nil
			}
			seen[key] = true
			target := strings.ToLower(filepath.Join(folder, work.Stem(path)))
			if other, ok := targets[target]; ok && err == nil {
				err = message.Errorf("%s and %s would both write %s; give them different names or run them separately",
					other, path, work.Stem(path)+"_…")
			}
			targets[target] = path
			select {
			case files <- found{path, folder, err}:
				return true
			case <-ctx.Done():
				return false
			}
		}
		for _, arg := range args {
			if !s.find(arg, give) {
				return
			}
		}
	}()
	return files
}

// find calls give with each file named by an argument until it returns false.
func (s *submission) find(arg string, give func(path, folder string, err error) bool) bool {
	slashed := filepath.ToSlash(arg)
	if !strings.Contains(slashed, "**") {
		for _, file := range expand([]string{arg}) {
			if !give(file, "", nil) {
				return false
			}
		}
		return true
	}
	parts := strings.Split(slashed, "/")
	fixed := slices.IndexFunc(parts, func(part string) bool { return strings.ContainsAny(part, "*?[") })
	top := strings.Join(parts[:fixed], "/")
	switch {
	case top == "" && strings.HasPrefix(slashed, "/"):
		top = "/"
	case top == "":
		top = "."
	}
	any, more := false, true
	err := filepath.WalkDir(filepath.FromSlash(top), func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			any = true
			fault := message.Errorf("%s: the folder cannot be read (%w)", file, plainError(err))
			if more = give(file, "", fault); !more {
				return fs.SkipAll
			}
			return nil
		}
		rel, e := filepath.Rel(filepath.FromSlash(top), file)
		if e != nil || entry.IsDir() || !matches(parts[fixed:], strings.Split(filepath.ToSlash(rel), "/")) {
			return nil
		}
		any = true
		if more = give(file, filepath.Dir(rel), nil); !more {
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && !any {
		more = give(arg, "", nil) // reported as a missing file of this name
	}
	return more
}

// plainError strips the operation and the path from an error of package os.
func plainError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// matches reports whether a path matches a pattern in which ** stands for any number of folders.
func matches(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := 0; i <= len(parts); i++ {
				if matches(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); err != nil || !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}

// follow waits for a batch, shows its progress, and prints the failed files.
func (s *submission) follow(ctx context.Context, client *farm.Client, id string) error {
	if s.bar == nil && !s.quiet {
		s.bar = newBar(s.terminal)
		defer s.bar.close()
	}
	end, err := s.watch(ctx, client, id)
	if err != nil {
		return err
	}
	return s.conclude(ctx, client, end)
}

// watch waits for a batch, shows its progress, and returns how it ended.
func (s *submission) watch(ctx context.Context, client *farm.Client, id string) (farm.BatchStatus, error) {
	silent, fault := false, ""
	end, err := client.Wait(ctx, id, 500*time.Millisecond, func(b farm.BatchStatus, st farm.Status) {
		title := fmt.Sprintf("%d/%d", b.Done+b.Failed, b.Files)
		s.bar.set(title, s.left(b), float64(b.Done+b.Failed)/float64(max(1, b.Files)))
		if st.Cause != nil && fault == "" {
			s.warn(st.Cause)
		}
		fault = st.Fault
	}, func(err error) {
		// A queue in this process can only be slow.
		if err != nil && !silent && !s.ownQueue {
			s.warn(err)
		}
		silent = err != nil
	})
	s.bar.clear()
	return end, err
}

// conclude prints the end of a batch: the failed files, and files with two different results.
func (s *submission) conclude(ctx context.Context, client *farm.Client, end farm.BatchStatus) (err error) {
	b := s.listed(ctx, client, end)
	for _, f := range b.Failures {
		fmt.Fprintf(s.Stderr, "blik: %s\n", failure(f))
	}
	for _, c := range b.Conflicts {
		s.printError(s.conflict(c))
	}
	if !s.quiet {
		_, err = io.WriteString(s.Stdout, s.say("batch %s: done: %d; failed: %d\n", end.ID, b.Done, b.Failed))
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && (b.Failed > 0 || len(b.Conflicts) > 0 || b.State == farm.Cancelled || s.failedName) {
		return errReported
	}
	return err
}

// conflict is the error for a file with two different results.
func (p *program) conflict(c farm.Conflict) error {
	return message.Errorf("%s: the workers %s and %s delivered different results, SHA-256 %s and %s; the first "+
		"counts; compare the machines, and process the file again with --again", c.File, c.Worker, c.Other, c.SHA256,
		c.OtherSHA256)
}

// listed returns a finished batch with its failures and conflicts. The batch is finished whether or not the list comes,
// so that a farm that no longer responds is no error.
func (s *submission) listed(ctx context.Context, client *farm.Client, end farm.BatchStatus) farm.BatchStatus {
	for range 3 {
		status, err := client.Status(ctx, end.ID, 1000)
		if err == nil && len(status.Batches) == 1 {
			return status.Batches[0]
		}
		if ctx.Err() != nil {
			break
		}
	}
	return end
}

// left returns the remaining time of a batch in words.
func (p *program) left(b farm.BatchStatus) string {
	if b.Left <= 0 {
		return ""
	}
	return p.say("%s left", duration(b.Left))
}

// duration writes seconds as hours, minutes and seconds.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	return d.String()
}

// batchCommand runs a farm within one process.
func (p *program) batchCommand() *cobra.Command {
	s := &submission{workFlags: workFlags{program: p}}
	var (
		store   string
		devices []string
		jobs    int
		memory  float64
		log     farmLog
	)
	c := &cobra.Command{
		Use:   "batch [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Correct many files on this machine; resumes after a kill or a power cut"),
		Long: p.say(`Corrects many pictures on this machine, several at a time, as blik correct does, or only searches
them (--detect). Progress is kept in a queue on disk: started again after a kill or a power cut, the same command
resumes. A file that crashes the program twice is set aside. A pattern may contain ** for folders of any depth.

Exit status: 0 success, 1 some files failed (the others are done), 2 usage error, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	s.addSubmission(c)
	f := c.Flags()
	f.StringVar(&store, "store", filepath.Join(workbatch.Store(), "batch"), p.say("keep the queue in folder `DIR`"))
	must(c.MarkFlagDirname("store"))
	f.StringSliceVar(&devices, "device", nil,
		p.say("use only these `DEVICES`, comma-separated: cpu, cuda:N; default: all"))
	f.IntVar(&jobs, "jobs", 0, p.say("`N` files at a time on the CPU; by default one for every four cores"))
	f.Float64Var(&memory, "memory", 0, p.say("use at most `N` GB of memory; default: what is free"))
	p.addLog(c, &log)
	must(c.Flags().Set("log", "error"))
	c.Flags().Lookup("log").DefValue = "error"
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := s.check(args); err != nil {
			return err
		}
		if len(args) == 0 {
			return s.usage("no files given")
		}
		o, err := p.workerOptions(devices, jobs, memory)
		if err != nil {
			return err
		}
		if o.Log, err = log.open(p); err != nil {
			return err
		}
		return s.alone(c.Context(), args, store, o)
	}
	return c
}

// alone runs queue, worker and submission in one process without opening a port.
func (s *submission) alone(ctx context.Context, args []string, store string, o farm.WorkerOptions) error {
	var err error
	s.ownQueue = true
	if o.Roots, err = s.everywhere(); err != nil {
		return err
	}
	submit := func(ctx context.Context, client *farm.Client) (farm.Batch, error) {
		done, err := s.submit(ctx, client, args, nil)
		return done.Batch, err
	}
	return workbatch.Queue{Host: server.Embed, Store: store, Log: o.Log}.Run(ctx, o, submit, s.follow)
}

// everywhere permits all files that the user can read and write.
func (s *submission) everywhere() (farm.Roots, error) {
	roots, err := s.rootsOf(s.roots, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range roots {
		r.Write = true
		roots = append(roots, r)
	}
	all, err := workbatch.UserRoots(s.outDir)
	return append(roots, all...), err
}
