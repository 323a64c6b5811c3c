//go:build unix

package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"blik/app/farm"
	"blik/internal/addressspace"
	"blik/internal/test/testpic"
)

// Children that die before they have read their task cost a file at most, never the batch.
func TestDyingChildren(t *testing.T) {
	for _, deaths := range []int{1, 2, 3} {
		dir, out, tokens := t.TempDir(), t.TempDir(), t.TempDir()
		for i := range 4 {
			painting(t, dir, fmt.Sprintf("p%d.png", i))
		}
		for i := range deaths {
			if err := os.WriteFile(filepath.Join(tokens, strconv.Itoa(i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv(dying, tokens)
		said := &lockedBuffer{}
		child := start(t, said, "--lang", "en", "batch", "--store", filepath.Join(dir, "store"), "--device", "cpu", "--jobs", "2",
			"-o", out, filepath.Join(dir, "*.png"))
		_ = child.Wait() // its status says how it ended
		done := strings.Contains(said.String(), "done: 4; failed: 0") && child.ProcessState.ExitCode() == exitDone
		// Two deaths may have met the same file.
		one := strings.Contains(said.String(), "done: 3; failed: 1") && child.ProcessState.ExitCode() == exitFailed && deaths > 1
		if left := testpic.Listed(t, tokens); !done && !one || len(left) > 0 {
			t.Errorf("%d deaths: %v, %v left, %s", deaths, child.ProcessState, left, said)
		}
	}
}

// resetting sends text and resets the connection.
func resetting(t *testing.T, address, text string) {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = c.Write([]byte(text))
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// Peers that hang up end neither a server nor a worker, with and without TLS; a request to stop does, with status 0. A
// server that cannot go on says so and exits with another status.
func TestPeersEndNothing(t *testing.T) {
	t.Parallel()
	for _, secure := range []string{"--secure=false", "--secure"} {
		queue, page := address(t), address(t)
		store := t.TempDir()
		said := &lockedBuffer{}
		server := start(t, said, "--lang", "en", "farm", "serve", "--store", store, "--listen", queue, "--page", page, secure)
		reachable(t, queue)
		reachable(t, page)
		var worker *exec.Cmd
		if secure != "--secure" {
			worker = start(t, said, "farm", "work", "--join", "nats://"+queue, "--root", t.TempDir())
			client, err := patient(t.Context(), farm.Join{URL: "nats://" + queue})
			if err != nil {
				t.Fatal(err)
			}
			for {
				if st, err := client.Status(t.Context(), "", 0); err == nil && len(st.Workers) == 1 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			client.Close()
		}
		for range 10 {
			resetting(t, page, strings.Repeat("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 20))
			resetting(t, page, "GET / HTTP/1.1\r\n")
			resetting(t, queue, "CONNECT {}\r\nSUB > 1\r\nPING\r\nPUB farm.see.status _INBOX.x 15\r\n{\"failures\":-1}\r\n")
			resetting(t, queue, "\x16\x03\x01")
		}
		reachable(t, queue)
		reachable(t, page)
		for _, p := range []*exec.Cmd{server, worker} {
			if p == nil {
				continue
			}
			if err := p.Process.Signal(syscall.Signal(0)); err != nil {
				t.Errorf("%s: %v has ended: %s", secure, p.Args, said)
			}
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			_ = p.Wait() // its status says how it ended
			if status := p.ProcessState.ExitCode(); status != exitDone {
				t.Errorf("%s: status %d, %s", secure, status, said)
			}
		}
	}
	// Another server on the same store and address.
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, args := range [][]string{
		{"--listen", busy.Addr().String(), "--page", "-"}, {"--listen", "127.0.0.1:0", "--page", busy.Addr().String()},
	} {
		got := call(t, append([]string{"farm", "serve", "--store", t.TempDir()}, args...)...)
		if got.status != exitFailed || strings.Count(got.errors, "\n") != 1 {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// reachable waits until a program listens.
func reachable(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v", address, err)
		}
	}
}

// A limit of the address space causes a sentence or the work, in steps over the range. The ranges in which the Go runtime
// of a build without cgo ends the program before any of its code runs are in docs/files.md.
func TestAddressSpaceSteps(t *testing.T) {
	testpic.Need(t, !testpic.Race, "a build without the race detector")
	t.Parallel()
	const step = 50_000 // KiB
	for limit := 600_000; limit <= 2_600_000; limit += step {
		child := exec.Command("sh", "-c", "ulimit -v "+strconv.Itoa(limit)+" && exec \"$0\" -test.run='^TestProgram$'", os.Args[0])
		child.Env = append(os.Environ(), asProgram+`=["version"]`)
		said, _ := child.CombinedOutput() // its status says how it ended
		text, status := string(said), child.ProcessState.ExitCode()
		sentence := status == exitFailed && strings.HasPrefix(text, "blik: ") && strings.Count(text, "\n") == 1
		early := status == 2 && !strings.Contains(text, "blik/app")
		ranges := !addressspace.Checked && (limit < 900_000 || limit >= 1_100_000 && limit <= 1_400_000)
		if !(status == exitDone || sentence || early && ranges) {
			t.Errorf("%d KiB: status %d, %.300s", limit, status, text)
		}
	}
}
