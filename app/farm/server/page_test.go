package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"blik/app/farm"
	"blik/app/i18n"
	"blik/internal/test/testpic"
)

func get(t *testing.T, url string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// pageSite is a farm with a page, with reports, and with a failed file whose name contains markup.
func pageSite(t *testing.T, lang string) (*Page, *site) {
	t.Helper()
	s := newSite(t, 3)
	testpic.Need(t, runtime.GOOS != "windows", "a system that allows < and > in the names of files")
	s.put("<b>&.tif")
	r := &stub{do: func(_ context.Context, t farm.Task, _ int) (farm.Outcome, error) {
		if strings.Contains(t.Input, "<b>") {
			return farm.Outcome{End: farm.Failed, Sentence: "<i>damaged</i>"}, nil
		}
		name := filepath.Base(t.Input) + ".html"
		if err := os.WriteFile(filepath.Join(t.Folder, name), []byte("the report on "+name), 0o644); err != nil {
			return farm.Outcome{}, err
		}
		return farm.Outcome{End: farm.Done, Sentence: "findings corrected: 3", Outputs: []farm.Output{{Name: name}}}, nil
	}}
	sub := s.submit(s.batch(), "")
	s.work("studio-pc", r, nil)
	s.wait(sub.Batch.ID)
	p, err := s.manager.StartPage(PageOptions{
		Listen: "127.0.0.1:0", Roots: farm.Roots{{Folder: s.out}}, Printer: i18n.For(lang),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, s
}

// The page shows progress, workers, failures and reports, and escapes markup in names.
func TestPage(t *testing.T) {
	t.Parallel()
	p, s := pageSite(t, "ru")
	status, page := get(t, p.URL(), nil)
	for _, want := range []string{"studio-pc", "завершён", "&lt;b&gt;&amp;.tif", "&lt;i&gt;damaged&lt;/i&gt;", "/report/", "000.tif"} {
		if status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("status %d, the page lacks %q:\n%s", status, want, page)
		}
	}
	if strings.Contains(page, "<i>damaged") || strings.Contains(page, "<b>&") {
		t.Error("a name is markup")
	}
	_, rest, _ := strings.Cut(page, `href="/report/`)
	link, _, _ := strings.Cut(rest, `"`)
	if status, text := get(t, p.URL()+"report/"+link, nil); status != http.StatusOK || !strings.Contains(text, "the report on ") {
		t.Errorf("a report: %d, %q", status, text)
	}
	for _, path := range []string{"report/x/y", "report/" + strings.Replace(link, "/", "/a", 1), "other", "report/../store"} {
		if status, _ := get(t, p.URL()+path, nil); status == http.StatusOK {
			t.Errorf("/%s is there", path)
		}
	}
	if status, text := get(t, p.URL()+"healthz", nil); status != http.StatusOK || text != "ok\n" {
		t.Errorf("/healthz: %d, %q", status, text)
	}
	_, metrics := get(t, p.URL()+"metrics", nil)
	for _, want := range []string{`state="done"} 3`, `state="failed"} 1`, "blik_farm_workers 1", "# TYPE blik_farm_files gauge"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %q:\n%s", want, metrics)
		}
	}
	s.manager.setFault(farm.Refuse("the store of the server is full"))
	if status, _ := get(t, p.URL()+"healthz", nil); status != http.StatusServiceUnavailable {
		t.Errorf("/healthz with a fault: %d", status)
	}
	// A page of another site whose name resolves to this machine gets no data, and nothing can be changed.
	if status, _ := get(t, p.URL(), func(r *http.Request) { r.Host = "example.org" }); status != http.StatusForbidden {
		t.Errorf("under another name: %d", status)
	}
	if status, _ := get(t, p.URL(), func(r *http.Request) { r.Method = http.MethodPost }); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
	if _, err := s.manager.StartPage(PageOptions{Listen: "0.0.0.0:0", Server: s.server, Printer: i18n.For("en")}); err == nil {
		t.Error("a page without password is open to all")
	}
}

// A browser shows the page correctly: rows, bars, no overflow. BLIK_FARM_SCREENSHOT is a folder for the screenshot.
func TestPageInBrowser(t *testing.T) {
	testpic.Long(t)
	t.Parallel()
	browser := testpic.Program(t, "chromium")
	p, _ := pageSite(t, "en")
	dir := t.TempDir()
	call := func(args ...string) string {
		c := exec.CommandContext(t.Context(), browser, append([]string{
			"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "profile"), "--window-size=1200,900",
			"--virtual-time-budget=1000", "--disable-background-networking", "--no-first-run",
		}, args...)...)
		c.Env = append(os.Environ(), "HOME="+dir)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	dom := call("--dump-dom", p.URL())
	for _, want := range []string{`id="batches"`, "studio-pc", "finished", "&lt;i&gt;damaged&lt;/i&gt;"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the document lacks %q:\n%s", want, dom)
		}
	}
	if folder := os.Getenv("BLIK_FARM_SCREENSHOT"); folder != "" {
		call("--screenshot="+filepath.Join(folder, "farm.png"), p.URL())
	}
}

// Too many connections to the page are closed, those first that wait longest; idle ones go by themselves.
func TestPageConnections(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	p, err := s.manager.StartPage(PageOptions{Listen: "127.0.0.1:0", Printer: i18n.For("en")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v, ok := p.listener.(*visitors)
	if !ok || v.limit < 8 || p.web.IdleTimeout == 0 || p.web.ReadHeaderTimeout == 0 {
		t.Fatalf("%T, %+v", p.listener, p.web)
	}
	v.mu.Lock()
	v.limit = 8
	v.mu.Unlock()
	var all []net.Conn
	begun := time.Now()
	for i := range 40 {
		c, err := net.Dial("tcp", p.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all = append(all, c)
		if i%2 == 0 {
			if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	// While all connections are busy, a new one is closed.
	s.until(func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return len(v.all) <= 8 && len(v.since) > 0
	})
	// While some of them are still being accepted, this one may be closed as the one that waits longest.
	s.until(func() bool {
		answer, err := http.Get(p.URL() + "healthz")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	if took := time.Since(begun); took > p.web.ReadHeaderTimeout-time.Second {
		t.Errorf("only time-outs closed them, after %s", took)
	}
	open := 0
	for _, c := range all {
		_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		_, err := io.Copy(io.Discard, c)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			open++
		}
	}
	if open > 8 {
		t.Errorf("%d connections are open", open)
	}
}
