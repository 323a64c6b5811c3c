// Package crash records a crash log.
//
// While the program runs, it keeps a file open in the user's cache folder. On an unhandled panic in any goroutine, or a
// fatal error of the runtime itself, the runtime writes its message and the stacks of all goroutines to it. A clean
// exit removes the file; a file left over tells the next start that the program crashed.
package crash

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// stale is the age at which a log without a crash, left by a killed program, is removed.
const stale = 30 * 24 * time.Hour

// Guard is the log of a running program. A nil Guard does nothing.
type Guard struct {
	mu   sync.Mutex
	file *os.File
	keep bool
}

// Start opens a log. If there is no cache folder, the program runs without a log.
func Start() (*Guard, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	return start(dir)
}

// Folder returns the folder of the logs: blik in the user's cache folder.
func Folder() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "blik"), err
}

func start(dir string) (*Guard, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	now := time.Now()
	name := fmt.Sprintf("crash-%s-%d.log", now.Format("20060102-150405"), os.Getpid())
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	version := "unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "-tags", "-ldflags", "vcs.revision":
				version += " " + s.Key + "=" + s.Value
			}
		}
	}
	_, err = fmt.Fprintf(file, "Blik %s, %s, %s/%s, started %s\n", version, runtime.Version(), runtime.GOOS,
		runtime.GOARCH, now.Format(time.RFC3339))
	if err == nil {
		err = debug.SetCrashOutput(file, debug.CrashOptions{})
	}
	if err != nil {
		file.Close()
		os.Remove(file.Name())
		return nil, err
	}
	debug.SetTraceback("all")
	return &Guard{file: file}, nil
}

// Record logs a recovered panic, so that Close keeps the log, and returns the path of the log; empty without a log.
func (g *Guard) Record(value any, stack []byte) string {
	if g == nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil {
		return ""
	}
	g.keep = true
	fmt.Fprintf(g.file, "panic: %v [recovered]\n\n%s\n", value, stack)
	return g.file.Name()
}

// Close removes the log of a program that ends cleanly.
func (g *Guard) Close() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil {
		return nil
	}
	err := debug.SetCrashOutput(nil, debug.CrashOptions{})
	if e := g.file.Close(); err == nil {
		err = e
	}
	if !g.keep {
		if e := os.Remove(g.file.Name()); err == nil {
			err = e
		}
	}
	g.file = nil
	return err
}

// Pending returns the paths of the logs of earlier runs that crashed, oldest first. The caller removes each log that it
// has shown.
func Pending() ([]string, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	return pending(dir, time.Now())
}

// Unreported is like Pending, for a program without a window: each log is returned only once. It is kept for some time
// under another name, which is the one returned.
func Unreported() ([]string, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	return tell(dir, time.Now())
}

func tell(dir string, now time.Time) ([]string, error) {
	logs, err := pending(dir, now)
	var told []string
	for _, path := range logs {
		name := strings.TrimSuffix(path, ".log") + reportedExt
		if e := os.Rename(path, name); e != nil {
			if err == nil {
				err = e
			}
			continue
		}
		told = append(told, name)
	}
	return told, err
}

// reportedExt ends the names of logs that were reported to the user.
const reportedExt = ".told.txt"

// prune removes logs that were reported and are old.
func prune(dir string, now time.Time) {
	told, err := filepath.Glob(filepath.Join(dir, "crash-*"+reportedExt))
	if err != nil {
		return // a bad pattern
	}
	for _, path := range told {
		if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > stale {
			os.Remove(path)
		}
	}
}

func pending(dir string, now time.Time) ([]string, error) {
	prune(dir, now)
	paths, err := filepath.Glob(filepath.Join(dir, "crash-*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	crashed := paths[:0]
	for _, path := range paths {
		switch holds, age := look(path, now); {
		case holds:
			crashed = append(crashed, path)
		case age > stale:
			os.Remove(path)
		}
	}
	return crashed, nil
}

// look reports whether a log holds more than its first line, and how old it is. A log of one line belongs to a program
// that is still running or was killed.
func look(path string, now time.Time) (crashed bool, age time.Duration) {
	file, err := os.Open(path)
	if err != nil {
		return false, 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, 0
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return false, now.Sub(info.ModTime())
	}
	_, rest, _ := bytes.Cut(head[:n], []byte("\n"))
	return len(bytes.TrimSpace(rest)) > 0, now.Sub(info.ModTime())
}
