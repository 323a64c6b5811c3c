package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"blik/app/farm"
	"blik/app/farm/server"
	"blik/app/i18n"
	"blik/internal/test/testpic"
)

// asChild makes this test binary process a file (see TestProgram).
func asChild(path string, args []string) farm.Process {
	return farm.Process{Program: path, Arguments: []string{programTest}, Environment: []string{asProgramWith(args)}}
}

// address returns a free address of this machine.
func address(t *testing.T) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return free.Addr().String()
}

// serving runs a server until the test ends, and returns the flag by which others join, and a client.
func serving(t *testing.T, args ...string) (join string, client *farm.Client) {
	t.Helper()
	where := address(t)
	inBackground(t, append([]string{"farm", "serve", "--store", t.TempDir(), "--listen", where, "--page", "-"}, args...)...)
	j, err := farm.ParseJoin("nats://" + where)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if client, err = patient(ctx, j); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return "--join=nats://" + where, client
}

// inBackground runs the program in this process until the test ends.
func inBackground(t *testing.T, args ...string) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan outcome, 1)
	go func() { ended <- callWith(ctx, Options{childArguments: asChild}, args...) }()
	t.Cleanup(func() {
		cancel()
		if got := <-ended; got.status != exitDone {
			t.Errorf("%v: %+v", args, got)
		}
	})
}

// Without a shared folder, files are uploaded and results downloaded, equal to those of a direct run; progress is
// shown.
func TestFarmUpload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	direct, out := filepath.Join(dir, "direct"), filepath.Join(dir, "out")
	then := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, name := range []string{"a.png", "b.png"} {
		path := painting(t, dir, name)
		if err := errors.Join(os.Chmod(path, 0o600), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	pattern := filepath.Join(dir, "*.png")
	if got := call(t, "correct", "-q", "-o", direct, pattern); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	join, client := serving(t)
	var shown []string
	look := &farmStatus{program: &program{tr: i18n.For("en")}}
	watch, stop := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() {
		watched <- look.show(watch, client, "", 5*time.Millisecond, func(text string) error {
			shown = append(shown, text)
			return nil
		})
	}()
	inBackground(t, "farm", "work", join, "--jobs", "1", "--device", "cpu", "--scratch", t.TempDir(), "--name", "studio")
	args := []string{"farm", "submit", join, "--upload", "--keep-time", "-o", out, pattern}
	got := call(t, args...)
	if got.status != exitDone || !strings.Contains(got.out, "files fetched: 6; results not fetched: 0") {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"a_corrected.png", "b_corrected.png"} {
		if !bytes.Equal(testpic.ReadFile(t, filepath.Join(direct, name)), testpic.ReadFile(t, filepath.Join(out, name))) {
			t.Errorf("%s differs from a direct run", name)
		}
		// What only the owner of the original could read stays so.
		info, err := os.Stat(filepath.Join(out, name))
		if err != nil || !info.ModTime().Equal(then) || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v, %v", name, info.ModTime(), info.Mode(), err)
		}
	}
	if n := len(testpic.Listed(t, out)); n != 6 {
		t.Errorf("the folder holds %v", testpic.Listed(t, out))
	}
	if again := call(t, args...); again.status != exitDone || !strings.Contains(again.out, "files fetched: 0;") {
		t.Errorf("again: %+v", again)
	}
	// A report may be altered after it was fetched.
	remark := filepath.Join(out, "b_corrected.html")
	if err := os.WriteFile(remark, []byte("a remark"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := call(t, args...); again.status != exitDone || again.errors != "" || len(testpic.ReadFile(t, remark)) > 10 {
		t.Errorf("with a remark: %+v", again)
	}
	// What was deleted after it had been fetched is made again. Its report is renewed unless somebody has altered it.
	for _, altered := range []string{"", "a_corrected.html"} {
		if err := os.Remove(filepath.Join(out, "a_corrected.png")); err != nil {
			t.Fatal(err)
		}
		want := outcome{exitDone, "files fetched: 3; results not fetched: 0", "a.png: its result was fetched before"}
		if altered != "" {
			want = outcome{exitFailed, "files fetched: 0; results not fetched: 1", "a_corrected.json exists; --overwrite replaces it"}
			if err := os.WriteFile(filepath.Join(out, altered), []byte("a remark"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := call(t, args...)
		// Made in the same second, the report in JSON is the same, and the page stands in the way.
		got.errors = strings.Replace(got.errors, "a_corrected.html exists", "a_corrected.json exists", 1)
		if got.status != want.status || !strings.Contains(got.out, want.out) || !strings.Contains(got.errors, want.errors) ||
			exist(filepath.Join(out, "a_corrected.png")) != (altered == "") {
			t.Errorf("without a result, %q altered: %+v", altered, got)
		}
	}
	if got := call(t, append(args, "--overwrite")...); got.status != exitDone || len(testpic.Listed(t, out)) != 6 {
		t.Errorf("overwriting: %+v", got)
	}
	if err := <-watched; err != nil || len(shown) < 2 {
		t.Errorf("%d tables, %v", len(shown), err)
	}
	stop()
	if first, last := shown[0], shown[len(shown)-1]; strings.Contains(first, "finished") ||
		!strings.Contains(last, "finished  2      2") || !strings.Contains(last, "studio") {
		t.Errorf("first\n%s\nlast\n%s", first, last)
	}
}

// A batch writes the same as correct, processes each file once, names failed files, and resumes.
func TestBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		painting(t, dir, name)
	}
	direct, out, store := filepath.Join(dir, "direct"), filepath.Join(dir, "out"), filepath.Join(dir, "store")
	if got := call(t, "correct", "-q", "-o", direct, filepath.Join(dir, "*.png")); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	o := Options{childArguments: asChild}
	args := []string{"batch", "--store", store, "--jobs", "2", "-o", out, filepath.Join(dir, "*.png"), filepath.Join(dir, "missing.tif")}
	got := callWith(t.Context(), o, args...)
	if got.status != exitFailed || !strings.Contains(got.out, "files that could not be added: 1\n") ||
		!strings.Contains(got.out, "done: 3; failed: 1") || !strings.Contains(got.errors, "missing.tif: no such file") {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"a", "b", "c"} {
		name += "_corrected.png"
		if !bytes.Equal(testpic.ReadFile(t, filepath.Join(direct, name)), testpic.ReadFile(t, filepath.Join(out, name))) {
			t.Errorf("%s differs from a direct run", name)
		}
	}
	again := callWith(t.Context(), o, args...)
	if !strings.Contains(again.out, "files added: 0; submitted before: 3, of which done: 3") {
		t.Errorf("again: %+v", again)
	}
	if n := len(testpic.Listed(t, out)); n != 9 {
		t.Errorf("the folder holds %v", testpic.Listed(t, out))
	}
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	made := callWith(t.Context(), o, args...)
	if !strings.Contains(made.out, "no longer exist and are made again: 3\n") || len(testpic.Listed(t, out)) != 9 {
		t.Errorf("without results: %+v; the folder holds %v", made, testpic.Listed(t, out))
	}
	// What is left of a result is written again, unless somebody has altered it.
	want := testpic.ReadFile(t, filepath.Join(out, "a_corrected.png"))
	for _, c := range []struct{ altered, want string }{
		{"", ""}, {"a_corrected.html", "a_corrected.json exists; --overwrite replaces it"},
	} {
		if err := os.Remove(filepath.Join(out, "a_corrected.png")); err != nil {
			t.Fatal(err)
		}
		if c.altered != "" {
			if err := os.WriteFile(filepath.Join(out, c.altered), []byte("a remark"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := callWith(t.Context(), o, args...)
		if !strings.Contains(got.out, "made again: 1\n") || exist(filepath.Join(out, "a_corrected.png")) != (c.want == "") ||
			!strings.Contains(got.errors, c.want) {
			t.Errorf("with reports only: %+v, want %q", got, c.want)
		}
		if c.want == "" && !bytes.Equal(testpic.ReadFile(t, filepath.Join(out, "a_corrected.png")), want) {
			t.Error("a_corrected.png differs from the deleted one")
		}
	}
}

// A detection whose mask was deleted is made again, unless somebody has altered its table.
func TestBatchOfDetections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	painting(t, dir, "a.png")
	out, o := filepath.Join(dir, "out"), Options{childArguments: asChild}
	args := []string{"batch", "--detect", "--store", filepath.Join(dir, "store"), "-o", out, filepath.Join(dir, "a.png")}
	for _, c := range []struct{ altered, want string }{
		{"", "done: 1; failed: 0"}, {"", "made again: 1\n"}, {"a_findings.csv", "done: 0; failed: 1"},
	} {
		if c.altered != "" {
			if err := os.WriteFile(filepath.Join(out, c.altered), []byte("a remark"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := callWith(t.Context(), o, args...)
		mask := filepath.Join(out, "a_mask.png")
		if !strings.Contains(got.out, c.want) || exist(mask) != (c.altered == "") {
			t.Errorf("%+v, want %q", got, c.want)
		}
		_ = os.Remove(mask)
	}
}

// The same command resumes a killed batch, does nothing twice, and leaves nothing behind.
func TestBatchKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	for i := range 6 {
		names = append(names, fmt.Sprintf("p%d.png", i))
		painting(t, dir, names[i])
	}
	direct, out, store := filepath.Join(dir, "direct"), filepath.Join(dir, "out"), filepath.Join(dir, "store")
	pattern := filepath.Join(dir, "*.png")
	if got := call(t, "correct", "-q", "-o", direct, pattern); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	args := []string{"--lang", "en", "batch", "--store", store, "--device", "cpu", "--jobs", "1", "-o", out, pattern}
	for kill := range 3 {
		said := &lockedBuffer{}
		child := start(t, said, args...)
		done := make(chan error, 1)
		go func() { done <- child.Wait() }()
		// Kill it when there is one more result.
		for tick, ended := time.NewTicker(time.Millisecond), false; !ended; {
			select {
			case err := <-done:
				t.Fatalf("run %d ended: %v, %s", kill, err, said)
			case <-tick.C:
			}
			results, err := filepath.Glob(filepath.Join(out, "*_corrected.png"))
			if err != nil {
				t.Fatal(err)
			}
			ended = len(results) > kill
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-done
	}
	// The batch of another folder in the same store does not come first.
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	painting(t, other, "x.png")
	for _, run := range []struct {
		args []string
		want string
	}{
		{append(slices.Clone(args[:len(args)-3]), "-o", other, filepath.Join(other, "x.png"), "--halo", "3"), "files added: 1;"},
		{args, "submitted before: 6,"},
	} {
		said := &lockedBuffer{}
		if err := start(t, said, run.args...).Wait(); err != nil || !strings.Contains(said.String(), run.want) ||
			!strings.Contains(said.String(), "; failed: 0") {
			t.Errorf("%v: %s", err, said)
		}
		if left := testpic.Listed(t, out); run.want != "submitted before: 6," && len(left) == 18 {
			t.Errorf("the other batch was done: %v", left)
		}
	}
	want := testpic.Listed(t, direct)
	if have := testpic.Listed(t, out); !slices.Equal(have, want) {
		t.Errorf("the folder holds %v, want %v", have, want)
	}
	for _, name := range want {
		if strings.HasSuffix(name, ".png") && !bytes.Equal(testpic.ReadFile(t, filepath.Join(direct, name)), testpic.ReadFile(t, filepath.Join(out, name))) {
			t.Errorf("%s differs from a direct run", name)
		}
	}
}

// Results below the folder of the originals are no originals of the next run.
func TestResultsAreNoOriginals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	painting(t, dir, "a.png")
	out := filepath.Join(dir, "out")
	for range 2 {
		got := callWith(t.Context(), Options{childArguments: asChild}, "batch", "--store", filepath.Join(t.TempDir(), "store"),
			"-o", out, filepath.Join(dir, "**", "*.png"))
		if got.status != exitDone || !strings.Contains(got.out, "done: 1; failed: 0") || len(testpic.Listed(t, out)) != 3 {
			t.Errorf("%+v; the folder holds %v", got, testpic.Listed(t, out))
		}
	}
}

// A batch on this computer takes all names that this computer has, and says that a folder is none.
func TestBatchNames(t *testing.T) {
	t.Parallel()
	dir, name := t.TempDir(), "wh\"at?.png"
	if runtime.GOOS == "windows" {
		name = "what.png"
	}
	painting(t, dir, name)
	if err := os.Mkdir(filepath.Join(dir, "folder.png"), 0o777); err != nil {
		t.Fatal(err)
	}
	got := callWith(t.Context(), Options{childArguments: asChild}, "batch", "--store", filepath.Join(t.TempDir(), "store"), "-o",
		filepath.Join(dir, "out"), filepath.Join(dir, name), filepath.Join(dir, "folder.png"))
	if got.status != exitFailed || !strings.Contains(got.out, "done: 1; failed: 1") ||
		!strings.Contains(got.errors, "folder.png: this is a folder, not a picture") {
		t.Errorf("%+v", got)
	}
}

// A pattern without matches is a missing file, and a batch of nothing says no more than that.
func TestBatchOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none := filepath.Join(dir, "none*.png")
	for range 5 {
		got := call(t, "batch", "--store", filepath.Join(dir, "queue"), "-o", filepath.Join(dir, "out"), none)
		if want := "blik: " + none + ": no such file\n"; got.status != exitFailed || got.errors != want {
			t.Errorf("%d, %q, want %q", got.status, got.errors, want)
		}
	}
}

// A folder that cannot be read keeps no file of its name from being processed.
func TestBatchOfUnreadableFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	got := callWith(t.Context(), Options{childArguments: asChild}, "batch", "--store", filepath.Join(dir, "queue"), "-o",
		filepath.Join(dir, "out"), filepath.Join(dir, "a", "**"), in)
	if got.status != exitFailed || !strings.Contains(got.out, "done: 1; failed: 1") ||
		!strings.Contains(got.errors, "the folder cannot be read") {
		t.Errorf("%+v", got)
	}
}

// Who has no folder for a queue is told how to name one.
func TestBatchWithoutStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	got := call(t, "batch", "--store", filepath.Join(in, "queue"), "-o", filepath.Join(dir, "out"), in)
	if got.status != exitFailed || !strings.Contains(got.errors, "name another one with --store") {
		t.Errorf("%+v", got)
	}
}

// An invalid name, address or key causes one sentence, and everything else continues.
func TestFarmSentences(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"good.png", "what?.png", "con.png", "end .png"} {
		if runtime.GOOS == "windows" && (name == "what?.png" || name == "con.png") {
			continue
		}
		painting(t, dir, name)
	}
	join, client := serving(t)
	got := call(t, "farm", "submit", join, "-o", filepath.Join(dir, "out"), filepath.Join(dir, "*.png"), filepath.Join(dir, "none.tif"))
	if got.status != exitFailed || !strings.Contains(got.out, "files added: 2;") || !strings.Contains(got.errors, "none.tif: no such file") {
		t.Errorf("%+v", got)
	}
	if runtime.GOOS != "windows" && (!strings.Contains(got.errors, "Windows does not allow files named con.png; --any-name submits it") ||
		!strings.Contains(got.errors, `Windows does not allow "?" in names`)) {
		t.Errorf("%+v", got)
	}
	st, err := client.Status(t.Context(), "", 0)
	if err != nil || len(st.Batches) != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"farm", "status", "--join", "nats://127.0.0.1:1"}, exitFailed, "no farm responds there; is `blik farm serve` running?"},
		{[]string{"farm", "status", "--join", "http://x"}, exitUsage, "is not a farm address"},
		{[]string{"farm", "status", "--join", "tls://worker:SUxxx@127.0.0.1:1?ca=00"}, exitUsage, "the key in the address of the farm is damaged"},
		{[]string{"farm", "status", "--join", "@" + filepath.Join(dir, "missing.key")}, exitUsage, "the file cannot be read"},
		{[]string{"farm", "status", join, "nothing"}, exitFailed, "batch nothing does not exist"},
		{[]string{"farm", "work", join, "--device", "cuda:99"}, exitFailed, "--device cuda:99: "},
		{[]string{"farm", "cancel", join}, exitUsage, "name one batch, or give --all"},
		{[]string{"farm", "retry", join, "nothing"}, exitFailed, "batch nothing does not exist"},
		{[]string{"farm", "submit", join, "--creds", filepath.Join(dir, "no.creds"), "-o", dir, filepath.Join(dir, "good.png")}, exitFailed,
			"the credentials cannot be read"},
		{[]string{"farm", "serve", "--listen", "0.0.0.0:0", "--store", filepath.Join(dir, "s"), "--page", "0.0.0.0:x"}, exitFailed,
			"the page cannot be shown"},
		{[]string{"farm", "key", "x", "--store", filepath.Join(dir, "k")}, exitFailed, "the server has no certificate yet"},
	} {
		if got := call(t, c.args...); got.status != c.status || !strings.Contains(got.errors, c.want) ||
			strings.Count(strings.TrimSpace(got.errors), "\n") > 1 {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
	// All actions, such as cancel and resume, reach the server.
	for _, action := range []string{"pause", "resume", "cancel", "resume"} {
		if got := call(t, "farm", action, join, st.Batches[0].ID); got.status != exitDone || got.out != "files concerned: 2\n" {
			t.Errorf("%s: %+v", action, got)
		}
		// New files of a batch that is stopped are added, but wait.
		got := call(t, "farm", "submit", join, "-o", filepath.Join(dir, "out"), filepath.Join(dir, "good.png"))
		if got.status != exitDone || strings.Contains(got.errors, "blik farm resume") != (action != "resume") {
			t.Errorf("submitted after %s: %+v", action, got)
		}
	}
	if got := call(t, "farm", "status", join, "--json"); got.status != exitDone || !strings.Contains(got.out, `"state": "running"`) {
		t.Errorf("%+v", got)
	}
	// A paused batch stays so when its failures are repeated.
	working, stop := context.WithCancel(t.Context())
	ended := make(chan outcome, 1)
	go func() {
		ended <- callWith(working, Options{}, "farm", "work", join, "--device", "cpu", "--root", "other="+dir)
	}()
	_, err = client.Wait(t.Context(), st.Batches[0].ID, time.Millisecond, func(farm.BatchStatus, farm.Status) {}, func(error) {})
	stop()
	if worker := <-ended; err != nil {
		t.Fatal(err, worker)
	}
	for _, args := range [][]string{
		{"submit", join, "--any-name", "-o", filepath.Join(dir, "out"), filepath.Join(dir, "con.png")},
		{"pause", join, st.Batches[0].ID},
	} {
		if got := call(t, append([]string{"farm"}, args...)...); got.status != exitDone {
			t.Fatalf("%v: %+v", args, got)
		}
	}
	got = call(t, "farm", "retry", join, st.Batches[0].ID)
	if got.status != exitDone || got.out != "files concerned: 2\n" || !strings.Contains(got.errors, "its files wait for `blik farm resume") {
		t.Errorf("retry: %+v", got)
	}
}

// Whoever waits for a batch that somebody cancels is told so, once.
func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	painting(t, dir, "a.png")
	join, client := serving(t)
	args := []string{"farm", "submit", join, "--wait", "-o", filepath.Join(dir, "out"), filepath.Join(dir, "a.png")}
	ended := make(chan outcome, 1)
	go func() { ended <- call(t, args...) }()
	for n := 0; n == 0; time.Sleep(10 * time.Millisecond) {
		var err error
		if n, err = client.Control(t.Context(), "", farm.Cancel); err != nil {
			t.Fatal(err)
		}
	}
	for _, got := range []outcome{<-ended, call(t, args...)} {
		if got.status != exitFailed || strings.Count(got.errors, "was paused or cancelled") != 1 {
			t.Errorf("%+v", got)
		}
	}
}

// A key is made only if somebody gets its secret, and no file is replaced by one.
func TestFarmKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A server makes the certificate.
	queue, err := server.Start(t.Context(), server.Options{
		Store: dir, Listen: "127.0.0.1:0", Secure: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	queue.Close()
	key := func(args ...string) outcome {
		return call(t, append([]string{"farm", "key", "--store", dir}, args...)...)
	}
	file := filepath.Join(dir, "a.key")
	if got := key("a", "--file", file); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"b", "--file", file}, exitFailed, file + ": a file with this name already exists"},
		{[]string{"b", "--file", filepath.Join(dir, "none", "b.key")}, exitFailed, "none"},
		{[]string{"b", "--list"}, exitUsage, "--list is for all keys"},
		{[]string{"a", "--list", "--remove"}, exitUsage, "--list is for all keys"},
	} {
		if got := key(c.args...); got.status != c.status || !strings.Contains(got.errors, c.want) {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
	args := []string{"farm", "key", "--store", dir, "b"}
	if status := Run(t.Context(), args, Options{Stdout: full{}, Stderr: io.Discard}); status != exitFailed {
		t.Errorf("a secret that was not printed: %d", status)
	}
	if got := key("--list"); got.status != exitDone || !strings.HasPrefix(got.out, "a  worker") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("%+v", got)
	}
}

// Together, the slices of a list process each file once.
func TestSlice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.png", "c.png", "d.png", "e.png"} {
		painting(t, dir, name)
	}
	out, count := filepath.Join(dir, "out"), 0
	for _, part := range []string{"0/3", "1/3", "2/3", "5/6"} {
		got := call(t, "detect", "--slice", part, "-o", out, filepath.Join(dir, "*.png"))
		if got.status != exitDone && part != "5/6" {
			t.Errorf("%s: %+v", part, got)
		}
		count += strings.Count(got.out, "_mask.png")
	}
	if count != 5 || len(testpic.Listed(t, out)) != 15 {
		t.Errorf("%d files were done, and the folder holds %v", count, testpic.Listed(t, out))
	}
	for _, part := range []string{"3/3", "-1/3", "1", "a/b", "0/0"} {
		if got := call(t, "detect", "--slice", part, "-o", out, filepath.Join(dir, "*.png")); got.status != exitUsage {
			t.Errorf("--slice %s: %+v", part, got)
		}
	}
}

// patient dials until the server answers.
func patient(ctx context.Context, j farm.Join) (*farm.Client, error) {
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		c, err := farm.Dial(ctx, j, nil)
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-tick.C:
		}
	}
}

// lockedBuffer collects the output of several processes.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
