package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	workbatch "blik/app/batch"
	"blik/app/device"
	"blik/app/farm"
	"blik/app/farm/server"
	"blik/internal/message"

	"github.com/spf13/cobra"
)

// joinVariable is the environment variable with the address of a farm, so that a key need not appear in the process
// list.
const joinVariable = "BLIK_FARM_JOIN"

// defaultFarm is the default address of servers and clients.
const defaultFarm = "127.0.0.1:4222"

func farmCommand(p *program) *cobra.Command {
	c := &cobra.Command{
		Use:   "farm",
		Short: p.say("Process batches on several machines"),
		Long: p.say(`Processes the pictures of a batch on several machines. One machine keeps the queue (serve), any
number of machines process files (work), and any of them can add files (submit). Requests and results are kept on the
disk of the server: whatever is killed or switched off, each picture gets exactly one right result.

  blik farm serve                                    on the machine that keeps the queue
  blik farm work --root /mnt/scans --output-root /mnt/out
  blik farm submit -o /mnt/out '/mnt/scans/**/*.tif'
  blik farm status

For a single machine, use blik batch. The guide: docs/farm.md.`),
		Args: exactly(p, 0),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(farmServeCommand(p), farmWorkCommand(p), farmSubmitCommand(p), farmStatusCommand(p),
		farmControlCommand(p, farm.Retry, p.say("Process failed files again")),
		farmControlCommand(p, farm.Cancel, p.say("Cancel the rest of a batch")),
		farmControlCommand(p, farm.Pause, p.say("Pause a batch: start no more of its files")),
		farmControlCommand(p, farm.Resume, p.say("Resume a paused or cancelled batch")),
		farmKeyCommand(p), farmTaskCommand(p))
	return c
}

// farmLog are the flags of a structured log.
type farmLog struct{ level, format string }

func addLog(p *program, c *cobra.Command, l *farmLog) {
	c.Flags().StringVar(&l.level, "log", "info", p.say("write log entries from `LEVEL` on: debug, info, warn, error"))
	c.Flags().StringVar(&l.format, "log-format", "text", p.say("`FORMAT` of the log: text or json"))
	complete(c, "log", []string{"debug", "info", "warn", "error"})
	complete(c, "log-format", []string{"text", "json"})
}

// open returns the log, which goes to the standard error.
func (l farmLog) open(p *program) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.level)); err != nil {
		return nil, p.checkChoice("log", l.level, []string{"debug", "info", "warn", "error"})
	}
	if err := p.checkChoice("log-format", l.format, []string{"text", "json"}); err != nil {
		return nil, err
	}
	o := &slog.HandlerOptions{Level: level}
	if l.format == "json" {
		return slog.New(slog.NewJSONHandler(p.Stderr, o)), nil
	}
	return slog.New(slog.NewTextHandler(p.Stderr, o)), nil
}

// joining holds the flags for the address of a farm.
type joining struct{ address, credentials string }

func addJoin(p *program, c *cobra.Command, j *joining) {
	c.Flags().StringVar(&j.address, "join", "", p.say("`ADDRESS` of the farm as printed by serve and key, or "+
		"@FILE to read it from a file; default: BLIK_FARM_JOIN, otherwise this machine"))
	c.Flags().StringVar(&j.credentials, "creds", "", p.say("`FILE` of credentials for an institution's NATS cluster"))
}

// dial connects to the farm. The caller must close the client.
func (j joining) dial(ctx context.Context, p *program) (*farm.Client, error) {
	join, err := j.open(p)
	if err != nil {
		return nil, err
	}
	return farm.Dial(ctx, join, nil)
}

// text returns the address, or the default one.
func (j joining) text(p *program) string {
	return cmp.Or(j.address, p.Getenv(joinVariable), "nats://"+defaultFarm)
}

func (j joining) open(p *program) (farm.Join, error) {
	join, err := farm.ReadJoin(j.text(p))
	if err != nil {
		return join, &usageError{err}
	}
	join.Credentials = j.credentials
	return join, nil
}

// farmServer is one run of `blik farm serve`.
type farmServer struct {
	*program
	store, listen, page, cluster string
	results                      []string
	secure                       bool
	limit, files                 float64
	patience, keep               time.Duration
	replicas                     int
	log                          farmLog
	join                         joining
}

func farmServeCommand(p *program) *cobra.Command {
	s := &farmServer{program: p}
	c := &cobra.Command{
		Use:   "serve [flags]",
		Short: p.say("Run the server of a farm"),
		Long: p.say(`Runs the server that keeps the queue of a farm, until it is stopped. Everything is on disk, and the
next start resumes. It prints how to start a worker.

By default only programs on this machine can connect, without keys. For other machines, give an address of this machine
with --listen; connections are then encrypted (TLS 1.3), and each machine needs a key, which blik farm key creates.

--nats uses a NATS cluster of your institution instead of the built-in server.`),
		Args: exactly(p, 0),
	}
	f := c.Flags()
	f.StringVar(&s.store, "store", workbatch.Store(), p.say("keep the queue in folder `DIR`"))
	must(c.MarkFlagDirname("store"))
	f.StringVar(&s.listen, "listen", defaultFarm, p.say("listen at `HOST:PORT`"))
	f.BoolVar(&s.secure, "secure", false, p.say("use TLS and keys on this machine too; for other machines they "+
		"are always used"))
	f.StringVar(&s.page, "page", "127.0.0.1:8223", p.say("show a page with the progress at `HOST:PORT`; - for none"))
	f.StringArrayVar(&s.results, "output-root", nil,
		p.say("link reports below this folder on the page; `[NAME=]DIR`, may be repeated"))
	f.Float64Var(&s.limit, "store-limit", 0, p.say("limit the queue to `N` GB of disk space"))
	f.Float64Var(&s.files, "upload-limit", 0,
		p.say("limit uploaded files and their results to `N` GB; default: half of the free disk space"))
	f.DurationVar(&s.patience, "patience", 45*time.Second,
		p.say("reassign the file of a worker that is silent for `TIME`"))
	f.DurationVar(&s.keep, "keep", 90*24*time.Hour,
		p.say("delete a batch `TIME` after it was finished or cancelled"))
	f.StringVar(&s.cluster, "nats", "", p.say("use the NATS cluster at `URL` instead of the built-in server"))
	f.StringVar(&s.join.credentials, "creds", "", p.say("`FILE` of credentials for an institution's NATS cluster"))
	f.IntVar(&s.replicas, "replicas", 1, p.say("keep `N` copies of everything in the cluster: 1, 3 or 5"))
	addLog(p, c, &s.log)
	c.RunE = func(c *cobra.Command, _ []string) error { return s.run(c.Context()) }
	return c
}

func (s *farmServer) run(ctx context.Context) error {
	log, err := s.log.open(s.program)
	if err != nil {
		return err
	}
	switch {
	case s.patience < 300*time.Millisecond:
		return s.usage("--patience %s: must be at least 300ms", s.patience.String())
	case s.keep < time.Second:
		return s.usage("--keep %s: must be at least 1s", s.keep.String())
	case s.limit < 0 || s.limit > 1e6:
		return s.usage("--store-limit %g: must be a positive number of gigabytes", s.limit)
	case s.files < 0 || s.files > 1e6:
		return s.usage("--upload-limit %g: must be a positive number of gigabytes", s.files)
	case s.replicas != 1 && s.replicas != 3 && s.replicas != 5:
		return s.usage("--replicas %d: must be 1, 3 or 5", s.replicas)
	}
	o := server.ManagerOptions{
		Patience: s.patience, Replicas: s.replicas, Log: log, MaxFiles: int64(s.files * 1e9), Keep: s.keep,
		ServerOnly: s.Getenv("GOGC") == "" && s.Getenv("GOMEMLIMIT") == "",
	}
	if s.cluster != "" {
		s.join.address = s.cluster
		if o.Join, err = s.join.open(s.program); err != nil {
			return err
		}
	} else {
		queue, err := server.Start(ctx, server.Options{
			Store: s.store, Listen: s.listen, Secure: s.secure || !server.IsLoopback(s.listen),
			MaxStore: int64(s.limit * 1e9), Log: log,
		})
		if err != nil {
			return err
		}
		defer queue.Close()
		o.Embedded = queue
	}
	m, err := server.StartManager(ctx, o)
	if err != nil {
		return err
	}
	defer m.Close()
	var page *server.Page
	if s.page != "-" {
		roots, err := rootsOf(s.results, nil)
		if err != nil {
			return err
		}
		page, err = m.StartPage(server.PageOptions{Listen: s.page, Server: o.Embedded, Roots: roots, Printer: s.tr})
		if err != nil {
			return err
		}
		defer page.Close()
	}
	if err := s.announce(o, page); err != nil {
		return err
	}
	var stopped <-chan struct{}
	if o.Embedded != nil {
		stopped = o.Embedded.Stopped()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-m.Failed():
		return message.Errorf("the server has stopped: %w", err)
	case <-stopped:
		return message.Errorf("the server has stopped; its log says why")
	}
}

// announce prints how to join the farm.
func (s *farmServer) announce(o server.ManagerOptions, page *server.Page) error {
	var err error
	switch {
	case o.Embedded == nil:
		_, err = io.WriteString(s.Stdout, s.say("The farm uses %s.\n", o.Join.URL))
	case o.Embedded.Certificate == nil:
		_, err = io.WriteString(s.Stdout, s.say("Programs of all users of this machine can connect to the farm; "+
			"--secure requires keys. To start a worker:\n  blik farm work --join nats://%s --root FOLDER "+
			"--output-root FOLDER\n", o.Embedded.Address()))
	default:
		_, err = io.WriteString(s.Stdout, s.say("The farm listens at %s. Create a key for each machine with\n  "+
			"blik farm key NAME --role worker --store %s\nwhich prints the address for blik farm work --join.\n",
			o.Embedded.Address(), s.store))
	}
	if err != nil || page == nil {
		return err
	}
	_, err = io.WriteString(s.Stdout, s.say("The page: %s\n", page.URL()))
	if err == nil && !server.IsLoopback(s.page) {
		_, err = io.WriteString(s.Stdout, s.say("Its password is in %s.\n",
			filepath.Join(s.store, "keys", "page-password")))
	}
	return err
}

// farmWorker is one run of `blik farm work`.
type farmWorker struct {
	*program
	join           joining
	name           string
	share          share
	roots, targets []string
	scratch        string
	log            farmLog
}

func farmWorkCommand(p *program) *cobra.Command {
	w := &farmWorker{program: p}
	c := &cobra.Command{
		Use:   "work [flags]",
		Short: p.say("Process files from the queue of a farm"),
		Long: p.say(`Takes files from the queue of a farm and processes them until it is stopped. Each GPU processes one
file at a time, the CPU --jobs files, which share its cores. Each file is processed in a separate process: a crash
affects only this file, and after two crashes the file is set aside.

A worker reads only below --root and writes only below --output-root. If folders have other paths here than on the
machine that submits, both give them a name: --root scans=/mnt/scans there, --root scans=S:\scans here.`),
		Args: exactly(p, 0),
	}
	addJoin(p, c, &w.join)
	f := c.Flags()
	addRoots(p, c, &w.roots)
	f.StringArrayVar(&w.targets, "output-root", nil, p.say("write below this folder; `[NAME=]DIR`, may be repeated"))
	f.StringVar(&w.name, "name", "", p.say("`NAME` of this worker in lists; by default that of the machine"))
	w.share.addFlags(p, c)
	f.StringVar(&w.scratch, "scratch", "",
		p.say("keep uploaded files in folder `DIR` while they are processed; default: the folder for temporary files"))
	must(c.MarkFlagDirname("scratch"))
	addLog(p, c, &w.log)
	c.RunE = func(c *cobra.Command, _ []string) error { return w.run(c.Context()) }
	return c
}

func addRoots(p *program, c *cobra.Command, roots *[]string) {
	c.Flags().StringArrayVar(roots, "root", nil,
		p.say("originals are in this folder or below; `[NAME=]DIR`, may be repeated"))
}

// rootsOf reads the flags of folders.
func rootsOf(read, write []string) (farm.Roots, error) {
	var all farm.Roots
	for i, text := range slices.Concat(read, write) {
		r, err := farm.ParseRoot(text, i >= len(read))
		if err != nil {
			return nil, &usageError{err}
		}
		all = append(all, r)
	}
	return all, nil
}

// share holds the flags for the part of this machine that workers may use.
type share struct {
	devices []string
	jobs    int
	memory  float64
}

func (s *share) addFlags(p *program, c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&s.devices, "device", nil,
		p.say("use only these `DEVICES`, comma-separated: cpu, cuda:N; default: all"))
	f.IntVar(&s.jobs, "jobs", 0, p.say("`N` files at a time on the CPU; by default one for every four cores"))
	f.Float64Var(&s.memory, "memory", 0, p.say("use at most `N` GB of memory; default: what is free"))
}

// options checks the flags and the devices, and returns the options common to all workers of this program.
func (s *share) options(ctx context.Context, p *program) (farm.WorkerOptions, error) {
	o := workbatch.Worker(p.Version)
	switch {
	case s.memory < 0 || s.memory > 1e6:
		return o, p.usage("--memory %g: must be a positive number of gigabytes", s.memory)
	case s.jobs < 0 || s.jobs > 1024:
		return o, p.usage("--jobs %d: must be from 1 to 1024", s.jobs)
	}
	for _, name := range s.devices {
		if device.Check(name) != nil || name == "auto" || name == "" {
			return o, p.usage("--device %s: must be cpu, cuda or cuda:N", name)
		}
		// Without it every file would fail.
		d, err := p.openDevice(ctx, name)
		if err != nil {
			return o, err
		}
		_ = d.Close()
	}
	if s.memory > 0 {
		o.Budget = int64(s.memory * 1e9)
	}
	o.Slots = workbatch.Slots(s.devices, s.jobs)
	process, err := workbatch.Process()
	if err == nil && p.childArguments != nil {
		process = p.childArguments(process.Program, process.Arguments)
	}
	o.Runner = process
	o.Notify = func(text message.Message) { fmt.Fprintf(p.Stderr, "blik: %s\n", p.tr.Sprint(text)) }
	return o, err
}

func (w *farmWorker) run(ctx context.Context) error {
	log, err := w.log.open(w.program)
	if err != nil {
		return err
	}
	o, err := w.share.options(ctx, w.program)
	if err != nil {
		return err
	}
	if o.Join, err = w.join.open(w.program); err != nil {
		return err
	}
	if o.Roots, err = rootsOf(w.roots, w.targets); err != nil {
		return err
	}
	o.Name, o.Log, o.Notify, o.Scratch = w.name, log, nil, w.scratch
	err = farm.RunWorker(ctx, o)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // being stopped is its normal end
	}
	return err
}
