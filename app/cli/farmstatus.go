package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	workbatch "blik/app/batch"
	"blik/app/farm"
	"blik/app/farm/server"
	"blik/app/work"
	"blik/internal/atomicfile"
	"blik/internal/message"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// farmStatus is one run of `blik farm status`.
type farmStatus struct {
	*program
	join     joining
	json     bool
	once     bool
	failures int
}

func farmStatusCommand(p *program) *cobra.Command {
	s := &farmStatus{program: p}
	c := &cobra.Command{
		Use:   "status [flags] [" + p.say("BATCH") + "]",
		Short: p.say("Show the state of a farm"),
		Long: p.say(`Shows batches, workers and failures of a farm, and the remaining time at the rate of the last
minute. In a terminal the table is updated every second until Ctrl-C or until everything is done; elsewhere, and with
--once, it is printed once.`),
		Args: atMost(p, 1),
	}
	addJoin(p, c, &s.join)
	c.Flags().BoolVar(&s.json, "json", false, p.say("print everything as JSON, once"))
	c.Flags().BoolVar(&s.once, "once", false, p.say("print the table once"))
	c.Flags().IntVar(&s.failures, "failures", 10, p.say("list at most `N` failures of each batch"))
	c.RunE = func(c *cobra.Command, args []string) error { return s.run(c.Context(), strings.Join(args, "")) }
	return c
}

// atMost refuses more than n arguments.
func atMost(p *program, n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return p.usage("at most %d arguments expected, %d given", n, len(args))
		}
		return nil
	}
}

func (s *farmStatus) run(ctx context.Context, id string) error {
	if s.failures < 0 || s.failures > 1000 {
		return s.usage("--failures %d: must be from 0 to 1000", s.failures)
	}
	client, err := s.join.dial(ctx, s.program)
	if err != nil {
		return err
	}
	defer client.Close()
	file, terminal := s.terminal.(*os.File)
	live := !s.once && !s.json && terminal && term.IsTerminal(int(file.Fd()))
	if live {
		return s.show(ctx, client, id, time.Second, func(text string) error {
			if _, err := io.WriteString(file, renewed); err != nil {
				return err
			}
			_, err := io.WriteString(&message.PrintableWriter{W: file}, text)
			return err
		})
	}
	return s.show(ctx, client, id, 0, func(text string) error {
		_, err := io.WriteString(s.Stdout, text)
		return err
	})
}

// renewed is the escape sequence that clears a terminal.
const renewed = "\x1b[H\x1b[2J"

// show draws the state of the farm; unless every is 0, it repeats that until everything is done.
func (s *farmStatus) show(ctx context.Context, client *farm.Client, id string, every time.Duration,
	draw func(string) error,
) error {
	for {
		st, err := client.Status(ctx, id, s.failures)
		if err != nil {
			return err
		}
		if id != "" && len(st.Batches) == 0 {
			return message.Errorf("batch %s does not exist", id)
		}
		var text strings.Builder
		if s.json {
			e := json.NewEncoder(&text)
			e.SetIndent("", " ")
			if err := e.Encode(st); err != nil {
				return err
			}
		} else {
			s.table(&text, st)
		}
		if err := draw(text.String()); err != nil {
			return err
		}
		if every == 0 || finished(st) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

func finished(st farm.Status) bool {
	for _, b := range st.Batches {
		if !b.Finished() || b.Files == 0 { // files may be about to be added
			return false
		}
	}
	return len(st.Batches) > 0
}

// table writes batches, workers and failures.
func (s *farmStatus) table(w io.Writer, st farm.Status) {
	if st.Cause != nil {
		fmt.Fprintln(w, s.tr.Sprint(st.Cause.Message()))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, s.say("BATCH\tSTATE\tFILES\tDONE\tFAILED\tIN WORK\tWAITING\tPER FILE\tLEFT\n"))
	for _, b := range st.Batches {
		left := "–"
		if b.Left > 0 {
			left = duration(b.Left)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", b.ID, s.tr.Sprint(b.StateName()), b.Files,
			b.Done, b.Failed, b.Working, b.Waiting, s.say("%.1f s", b.Seconds), left)
	}
	fmt.Fprint(t, "\n", s.say("WORKER\tSYSTEM\tDEVICES\tDONE\tIN WORK\n"))
	for _, p := range st.Workers {
		var devices, doing []string
		for _, slot := range p.Slots {
			devices = append(devices, fmt.Sprintf("%s/%d", slot.Device, slot.Threads))
		}
		for _, d := range p.Activities {
			doing = append(doing, d.Name)
		}
		if p.Remark != "" {
			doing = append(doing, "("+p.Remark+")")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", p.Name, p.System, strings.Join(devices, " "), p.Done,
			strings.Join(doing, ", "))
	}
	_ = t.Flush() // to a buffer
	for _, b := range st.Batches {
		for _, f := range b.Failures {
			fmt.Fprintf(w, "\n%s", failure(f))
		}
		if more := b.Failed - len(b.Failures); more > 0 && len(b.Failures) > 0 {
			fmt.Fprint(w, "\n", s.say("and %d more", more))
		}
		if len(b.Failures) > 0 {
			fmt.Fprintln(w)
		}
		for _, c := range b.Conflicts {
			fmt.Fprintf(w, "\n%s\n", s.sentence(conflictError(c)))
		}
	}
	fmt.Fprint(w, "\n", s.say("%.2f files per second in the last minute; the queue takes %.1f MB.\n", st.Rate,
		float64(st.Stored)/1e6))
}

// failure returns the name of a failed file and the reason, which often already begins with the name.
func failure(f farm.Failure) string {
	if strings.HasPrefix(f.Reason, f.File) {
		return f.Reason
	}
	return f.File + ": " + f.Reason
}

func farmControlCommand(p *program, action, short string) *cobra.Command {
	var join joining
	all := false
	c := &cobra.Command{
		Use:   action + " [flags] [" + p.say("BATCH") + "]",
		Short: short,
		Args:  atMost(p, 1),
	}
	addJoin(p, c, &join)
	c.Flags().BoolVar(&all, "all", false, p.say("all batches"))
	c.RunE = func(c *cobra.Command, args []string) error {
		if all == (len(args) == 1) {
			return p.usage("name one batch, or give --all")
		}
		client, err := join.dial(c.Context(), p)
		if err != nil {
			return err
		}
		defer client.Close()
		id := strings.Join(args, "")
		n, err := client.Control(c.Context(), id, action)
		if err == nil {
			_, err = io.WriteString(p.Stdout, p.say("files concerned: %d\n", n))
		}
		if err == nil && action == farm.Retry && n > 0 {
			err = printWaiting(c.Context(), p, client, id)
		}
		return err
	}
	return c
}

// printWaiting prints which of the batches do not continue by themselves.
func printWaiting(ctx context.Context, p *program, client *farm.Client, id string) error {
	st, err := client.Status(ctx, id, 0)
	for _, b := range st.Batches {
		if b.State != farm.Running && b.Done+b.Failed < b.Files {
			p.printError(workbatch.Waits(b.ID))
		}
	}
	return err
}

func farmKeyCommand(p *program) *cobra.Command {
	var (
		store, role, address, file string
		remove, list               bool
	)
	c := &cobra.Command{
		Use:   "key [flags] [" + p.say("NAME") + "]",
		Short: p.say("Make, list or remove keys of a farm"),
		Long: p.say(`Creates a key for a machine and prints the address with which that machine joins. Run it on the
machine that keeps the queue. Whoever has the address may do what the role of the key permits, and nothing else:

  worker     take files and deliver results
  submitter  add files, pause, resume, cancel and retry, and look
  observer   look

The secret part is shown once and stored nowhere. Removing a key (--remove) closes its connections at once.`),
		Args: atMost(p, 1),
	}
	f := c.Flags()
	f.StringVar(&store, "store", workbatch.Store(), p.say("keep the queue in folder `DIR`"))
	f.StringVar(&role, "role", string(farm.WorkerRole),
		p.say("what the key permits, its `ROLE`: worker, submitter or observer"))
	complete(c, "role", []string{"worker", "submitter", "observer"})
	f.StringVar(&address, "address", "", p.say("`HOST:PORT` at which other machines reach the server"))
	f.StringVar(&file, "file", "", p.say("write the address into this new `FILE`, which only you can read"))
	f.BoolVar(&remove, "remove", false, p.say("remove the key"))
	f.BoolVar(&list, "list", false, p.say("list the keys"))
	c.RunE = func(c *cobra.Command, args []string) error {
		ring, err := server.OpenKeyring(store)
		if err != nil {
			return err
		}
		switch {
		case list && (remove || len(args) > 0):
			return p.usage("--list is for all keys, without a name and --remove")
		case list:
			return listKeys(p, ring)
		case len(args) == 0:
			return p.usage("give the key a name")
		case remove:
			return ring.Remove(args[0])
		}
		return makeKey(p, ring, args[0], farm.Role(role), address, file)
	}
	return c
}

func listKeys(p *program, ring *server.Keyring) error {
	keys, err := ring.Keys()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, k := range keys {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", k.Name, k.Role, k.Made.Format(time.DateOnly), k.Public)
	}
	return t.Flush()
}

func makeKey(p *program, ring *server.Keyring, name string, role farm.Role, address, file string) error {
	certificate, err := ring.Fingerprint()
	if err != nil {
		return err
	}
	if certificate == "" {
		return message.Errorf("the server has no certificate yet; start blik farm serve --listen first")
	}
	if address == "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		address = host + ":4222"
	}
	if file != "" && work.Exists(file) {
		return fmt.Errorf("%s: %w", file, message.Errorf("a file with this name already exists"))
	}
	seed, err := ring.Make(name, role)
	if err != nil {
		return err
	}
	text := farm.Join{URL: "tls://" + address, Seed: seed, Certificate: certificate}.Text(role) + "\n"
	if file != "" {
		err = atomicfile.WriteFile(filepath.Clean(file), []byte(text), 0o600)
	} else {
		_, err = io.WriteString(p.Stdout, text)
	}
	if err != nil {
		err = errors.Join(err, ring.Remove(name)) // nobody has the secret
	}
	return err
}
