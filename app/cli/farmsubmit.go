package cli

import (
	"context"
	"fmt"
	"io/fs"
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

	"github.com/spf13/cobra"
)

// submission is one run of `blik farm submit` or `blik batch`.
type submission struct {
	workFlags
	join    joining
	roots   []string
	upload  bool
	again   bool
	wait    bool
	anyName bool
	bar     *bar
	// saying is held while something is printed; told is set once what was submitted has been.
	saying sync.Mutex
	told   bool
}

func farmSubmitCommand(p *program) *cobra.Command {
	s := &submission{workFlags: workFlags{program: p}}
	c := &cobra.Command{
		Use:   "submit [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Add files to the queue of a farm"),
		Long: p.say(`Adds pictures to the queue of a farm. They are corrected as by blik correct or, with --detect,
searched as by blik detect. A pattern may contain ** for folders of any depth; the results are then written into the
same folders below DIR.

The same files with the same parameters are added only once, however often they are submitted; new files in a folder
are added to the batch, and results that no longer exist are made again. Files that cannot be submitted are named, and
the others are added.

--upload is for machines without a common folder: the files are sent to the server, workers fetch them from there, and
the results are fetched into DIR. The command runs until all of them have arrived; started again after a kill, it
resumes.

Exit status: 0 success, 1 some files failed, 2 usage error, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	addJoin(p, c, &s.join)
	s.addSubmission(c)
	c.Flags().BoolVar(&s.anyName, "any-name", false, s.say("also submit files whose names cannot exist on Windows"))
	c.Flags().BoolVar(&s.upload, "upload", false,
		p.say("send the files to the server, wait, and fetch the results; no shared folder is needed"))
	c.Flags().BoolVar(&s.wait, "wait", false, p.say("wait until everything is done, and show the progress"))
	c.RunE = func(c *cobra.Command, args []string) error {
		return s.run(c.Context(), args, workbatch.Request{
			Farm: s.join.text(p), Credentials: s.join.credentials, Shared: !s.upload, NoWait: !s.wait && !s.upload,
			AnyName: s.anyName,
		})
	}
	return c
}

// addSubmission declares the flags for the work and the files.
func (s *submission) addSubmission(c *cobra.Command) {
	s.addFlags(c, work.Detection|work.Correction, processing.Specs())
	f := c.Flags()
	f.BoolVar(&s.Detect, "detect", false, s.say("only find the glare, as blik detect does"))
	f.BoolVar(&s.again, "again", false, s.say("process all files again, including finished ones"))
	addRoots(s.program, c, &s.roots)
}

func (s *submission) run(ctx context.Context, args []string, r workbatch.Request) error {
	if err := s.check(args); err != nil {
		return err
	}
	if len(args) == 0 && s.params.savePreset == "" {
		return s.usage("no files given")
	}
	if err := s.params.store(ctx, s.Params, s.Overwrite, expand(args)); err != nil || len(args) == 0 {
		return err
	}
	var err error
	if r.Roots, err = rootsOf(s.roots, nil); err != nil {
		return err
	}
	if r.Farm != "" {
		if _, err := s.join.open(s.program); err != nil {
			return err
		}
	}
	r.Work, r.Folder, r.Language, r.Version = s.Work, s.outDir, s.tr.Code(), s.Version
	r.Notify = s.warn
	if s.again {
		r.Again = s.now().UTC().Format(time.RFC3339Nano)
	}
	r.Files = s.walk(ctx, args)
	if !s.quiet && !r.NoWait {
		s.bar = newBar(s.terminal)
		defer s.bar.close()
	}
	end := workbatch.Start(ctx, r, s.show).Wait()
	s.bar.clear()
	switch {
	case end.Err != nil:
		return end.Err
	case !r.NoWait:
		return s.conclude(ctx, end, r)
	case end.Unsent > 0:
		return errReported
	}
	return nil
}

// warn prints a fault; it may be called concurrently.
func (s *submission) warn(err error) {
	s.saying.Lock()
	defer s.saying.Unlock()
	s.bar.clear()
	s.printError(err)
}

// show prints what was submitted and shows the progress.
func (s *submission) show(state workbatch.State) {
	s.saying.Lock()
	defer s.saying.Unlock()
	if done := state.Submitted; done != nil && !s.told && !s.quiet {
		s.bar.clear()
		fmt.Fprint(s.Stdout, s.say("batch %s: files added: %d; submitted before: %d, of which done: %d\n",
			done.Batch.ID, done.Added, done.Known, done.Ready))
		if done.Missing > 0 {
			fmt.Fprint(s.Stdout, s.say("batch %s: results that no longer exist and are made again: %d\n",
				done.Batch.ID, done.Missing))
		}
		if state.Unsent > 0 {
			fmt.Fprint(s.Stdout, s.say("batch %s: files that could not be added: %d\n", done.Batch.ID, state.Unsent))
		}
	}
	s.told = s.told || state.Submitted != nil
	if b := state.Batch; b.ID != "" {
		ended := state.Done + state.Failed
		title := fmt.Sprintf("%d/%d", ended, state.Files)
		s.bar.set(title, timeLeft(s.program, b), float64(ended)/float64(max(1, state.Files)))
	}
}

// walk finds the files named by the arguments, each once, and refuses two files whose results would have the same name.
func (s *submission) walk(ctx context.Context, args []string) (files []workbatch.File) {
	seen, targets := map[string]bool{}, map[string]string{}
	give := func(path, folder string, err error) {
		key := filepath.Clean(path)
		if seen[key] {
			return
		}
		seen[key] = true
		target := strings.ToLower(filepath.Join(folder, work.Stem(path)))
		if other, ok := targets[target]; ok && err == nil {
			err = message.Errorf("%s and %s would both write %s; give them different names or run them separately",
				other, path, work.Stem(path)+"_…")
		}
		if err == nil {
			targets[target] = path
		}
		files = append(files, workbatch.File{Path: path, Folder: folder, Err: err})
	}
	results := work.Existing(s.outDir)
	for _, arg := range args {
		find(ctx, arg, results, give)
	}
	return files
}

// find calls give with each file named by an argument until ctx ends. A pattern with ** does not enter the folder of
// the results, which the next run would take for originals.
func find(ctx context.Context, arg string, results work.FileSet, give func(path, folder string, err error)) {
	slashed := filepath.ToSlash(arg)
	if !strings.Contains(slashed, "**") {
		for _, file := range expand([]string{arg}) {
			give(file, "", nil)
		}
		return
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
	any := false
	err := filepath.WalkDir(filepath.FromSlash(top), func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			any = true
			give(file, "", message.Errorf("%s: the folder cannot be read (%w)", file, message.Plain(err)))
			return ctx.Err()
		}
		if entry.IsDir() && file != filepath.FromSlash(top) && results.Contains(file) {
			return filepath.SkipDir
		}
		rel, e := filepath.Rel(filepath.FromSlash(top), file)
		if e != nil || entry.IsDir() || !matches(parts[fixed:], strings.Split(filepath.ToSlash(rel), "/")) {
			return ctx.Err()
		}
		any = true
		give(file, filepath.Dir(rel), nil)
		return ctx.Err()
	})
	if err == nil && !any {
		give(arg, "", nil) // reported as a missing file of this name
	}
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

// conclude prints the end of a batch: the failed files, and files with two different results.
func (s *submission) conclude(ctx context.Context, end workbatch.State, r workbatch.Request) error {
	b := end.Batch
	for _, f := range b.Failures {
		fmt.Fprintf(s.Stderr, "blik: %s\n", failure(f))
	}
	for _, c := range b.Conflicts {
		s.printError(conflictError(c))
	}
	if b.State == farm.Cancelled && end.Submitted.Batch.State != farm.Cancelled { // meanwhile
		s.printError(workbatch.Waits(b.ID))
	}
	text := s.say("batch %s: done: %d; failed: %d\n", b.ID, end.Done, end.Failed)
	if r.Farm != "" && !r.Shared {
		text += s.say("files fetched: %d; results not fetched: %d\n", end.Collected.Files, end.Collected.Failed)
	}
	if !s.quiet {
		fmt.Fprint(s.Stdout, text)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case end.Failed > 0, len(b.Conflicts) > 0, b.State == farm.Cancelled, end.Collected.Failed > 0:
		return errReported
	}
	return nil
}

// conflictError is the error for a file with two different results.
func conflictError(c farm.Conflict) error {
	return message.Errorf("%s: the workers %s and %s delivered different results, SHA-256 %s and %s; the first "+
		"counts; compare the machines, and process the file again with --again", c.File, c.Worker, c.Other, c.SHA256,
		c.OtherSHA256)
}

// timeLeft returns the remaining time of a batch in words.
func timeLeft(p *program, b farm.BatchStatus) string {
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
func batchCommand(p *program) *cobra.Command {
	s := &submission{workFlags: workFlags{program: p}}
	var (
		store string
		own   share
		log   farmLog
	)
	c := &cobra.Command{
		Use:   "batch [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Correct many files on this machine; resumes after a kill or a power cut"),
		Long: p.say(`Corrects many pictures on this machine, several at a time, as blik correct does, or only searches
them (--detect). Progress is kept in a queue on disk: started again after a kill or a power cut, the same command
resumes; results that no longer exist are made again. A file that crashes the program twice is set aside. A pattern
may contain ** for folders of any depth.

Exit status: 0 success, 1 some files failed (the others are done), 2 usage error, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	s.addSubmission(c)
	f := c.Flags()
	f.StringVar(&store, "store", filepath.Join(workbatch.Store(), "batch"), p.say("keep the queue in folder `DIR`"))
	must(c.MarkFlagDirname("store"))
	own.addFlags(p, c)
	addLog(p, c, &log)
	must(c.Flags().Set("log", "error"))
	c.Flags().Lookup("log").DefValue = "error"
	c.RunE = func(c *cobra.Command, args []string) error {
		o, err := own.options(c.Context(), p)
		if err != nil {
			return err
		}
		if o.Log, err = log.open(p); err != nil {
			return err
		}
		return s.run(c.Context(), args, workbatch.Request{
			Own: true, AnyName: true, Host: server.Embed, Store: store, Log: o.Log,
			Worker: func(all *farm.WorkerOptions) {
				o.Roots = all.Roots
				*all = o
			},
		})
	}
	return c
}
