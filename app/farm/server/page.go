package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blik/app/farm"
	"blik/app/i18n"
	"blik/internal/atomicfile"
	"blik/internal/message"
)

//go:embed templates
var templates embed.FS

// PageOptions configure the status page of a farm.
type PageOptions struct {
	// Listen is HOST:PORT. Beyond loopback the page requires TLS and a password.
	Listen string
	// Server is the server whose certificate is used; may be nil.
	Server *Server
	// Roots are the folders of results, for links to reports.
	Roots   farm.Roots
	Printer *i18n.Printer
}

// Page serves the state of a farm: read-only pages, /healthz, and /metrics for Prometheus.
type Page struct {
	m        *Manager
	o        PageOptions
	web      *http.Server
	listener net.Listener
	password string
	template *template.Template
}

// StartPage starts to serve the page.
func (m *Manager) StartPage(o PageOptions) (*Page, error) {
	p := &Page{m: m, o: o}
	open := IsLoopback(o.Listen)
	if !open && (o.Server == nil || o.Server.Certificate == nil) {
		return nil, message.Errorf("%s can be reached from other machines and needs TLS and keys", o.Listen)
	}
	var err error
	if !open {
		if p.password, err = o.Server.auth.ring.pagePassword(); err != nil {
			return nil, err
		}
	}
	funcs := template.FuncMap{
		"t":        func(text string) string { return o.Printer.Sprintf(message.Text(text)) },
		"name":     message.Printable,
		"base":     func(file string) string { return message.Printable(path.Base(file)) },
		"one":      func(v float64) string { return o.Printer.Number(v, 1) },
		"duration": func(s float64) string { return (time.Duration(s) * time.Second).String() },
		"clock":    func(t time.Time) string { return t.Local().Format(time.DateTime) },
		"percent": func(part, whole int) string {
			return fmt.Sprintf("%.2f", 100*float64(part)/float64(max(1, whole)))
		},
		"state": func(b farm.BatchStatus) string { return o.Printer.Sprint(b.StateName()) },
		"cause": func(no *farm.Refusal) string { return o.Printer.Sprint(no.Message()) },
	}
	if p.template, err = template.New("farm.html").Funcs(funcs).ParseFS(templates, "templates/*.html"); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, message.Errorf("the page cannot be shown at %s (%w)", o.Listen, err)
	}
	visitors := newVisitors(listener, shareOf(descriptors()).page)
	p.listener = visitors
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.show)
	mux.HandleFunc("GET /report/{batch}/{job}", p.report)
	mux.HandleFunc("GET /healthz", p.health)
	mux.HandleFunc("GET /metrics", p.metrics)
	p.web = &http.Server{
		Handler: p.guard(mux, open), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10, ConnState: visitors.note,
		ErrorLog: slog.NewLogLogger(m.options.Log.Handler(), slog.LevelDebug),
	}
	go func() {
		serve := func() error { return p.web.Serve(p.listener) }
		if !open {
			p.web.TLSConfig = &tls.Config{
				MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*o.Server.Certificate},
			}
			serve = func() error { return p.web.ServeTLS(p.listener, "", "") }
		}
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			m.fail(message.Errorf("the page cannot be shown at %s (%w)", o.Listen, err))
		}
	}()
	return p, nil
}

// URL returns the address of the page.
func (p *Page) URL() string {
	scheme := "http"
	if p.password != "" {
		scheme = "https"
	}
	return scheme + "://" + p.listener.Addr().String() + "/"
}

// Close stops serving the page.
func (p *Page) Close() { _ = p.web.Close() }

// guard checks the password, and keeps pages of other sites from reading the page through a browser.
func (p *Page) guard(next http.Handler, open bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer farm.Survive(p.m.options.Log, "page", func(error) {
			http.Error(w, "internal error", http.StatusInternalServerError)
		})
		h := w.Header()
		h.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if open && !IsLoopback(net.JoinHostPort(strings.Trim(host, "[]"), "0")) {
			// The name of another site that resolves to this machine.
			http.Error(w, "this page is shown under the name of this machine only", http.StatusForbidden)
			return
		}
		if !open {
			_, password, _ := r.BasicAuth()
			if subtle.ConstantTimeCompare([]byte(password), []byte(p.password)) != 1 {
				h.Set("WWW-Authenticate", `Basic realm="Blik farm", charset="UTF-8"`)
				http.Error(w, "the password is that of the server's folder of keys", http.StatusUnauthorized)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// pagePassword returns the password, which the first call creates.
func (k *Keyring) pagePassword() (string, error) {
	file := k.passwordFile()
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		data = []byte(rand.Text() + "\n")
		err = atomicfile.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return "", message.Errorf("%s: the file cannot be read (%w)", file, message.Plain(err))
	}
	return strings.TrimSpace(string(data)), nil
}

// passwordFile returns the path of the file with the password that the page requires beyond loopback.
func (k *Keyring) passwordFile() string { return filepath.Join(k.dir, "page-password") }

// shown is the data of the page template.
type shown struct {
	farm.Status
	Lang   string
	Latest []latest
}

type latest struct {
	farm.Result
	Report string
}

func (p *Page) show(w http.ResponseWriter, r *http.Request) {
	view := shown{Status: p.m.Status("", 50), Lang: p.o.Printer.Code()}
	slices.Reverse(view.Batches)
	p.m.mu.Lock()
	last := slices.Clone(p.m.latest)
	p.m.mu.Unlock()
	for _, s := range slices.Backward(last) {
		result, err := p.m.stored(r.Context(), s.seq, s.key.String())
		if err != nil {
			continue
		}
		l := latest{Result: result}
		if _, ok := p.reportOf(result); ok {
			l.Report = "/report/" + s.batch + "/" + s.key.String()
		}
		view.Latest = append(view.Latest, l)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := p.template.Execute(w, view); err != nil {
		p.m.options.Log.Debug("page", "error", err)
	}
}

// reportOf returns the path of the report on a result, if the server can access its folder.
func (p *Page) reportOf(result farm.Result) (string, bool) {
	for _, o := range result.Outputs {
		if path.Ext(o.Name) == ".html" && farm.ValidOutput(o.Name) {
			place := farm.Place{Root: result.Job.Out.Root, Path: path.Join(result.Job.Out.Path, o.Name)}
			file, err := p.o.Roots.Find(place, false)
			return file, err == nil
		}
	}
	return "", false
}

func (p *Page) report(w http.ResponseWriter, r *http.Request) {
	key, ok := keyOf(r.PathValue("job"))
	b, err := p.m.find(r.PathValue("batch"))
	if !ok || err != nil {
		http.NotFound(w, r)
		return
	}
	mark := p.m.markOf(b, key)
	if mark.status() == waiting {
		http.NotFound(w, r)
		return
	}
	result, err := p.m.stored(r.Context(), mark.seq(), key.String())
	if err != nil {
		http.NotFound(w, r)
		return
	}
	file, ok := p.reportOf(result)
	if !ok {
		http.NotFound(w, r)
		return
	}
	http.ServeFile(w, r, file)
}

func (p *Page) health(w http.ResponseWriter, _ *http.Request) {
	ctx, cancel := context.WithTimeout(p.m.ctx, 2*time.Second)
	defer cancel()
	fault := p.m.Status("", 0).Fault
	if _, err := p.m.stores.results.Info(ctx); err != nil && fault == "" {
		fault = err.Error()
	}
	if fault != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, fault)
		return
	}
	fmt.Fprintln(w, "ok")
}

// metrics writes the text format of Prometheus (version 0.0.4).
func (p *Page) metrics(w http.ResponseWriter, _ *http.Request) {
	s := p.m.Status("", 0)
	var b strings.Builder
	head := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	head("blik_farm_files", "gauge", "Files by batch and state.")
	for _, x := range s.Batches {
		for _, state := range []struct {
			name string
			n    int
		}{{"done", x.Done}, {"failed", x.Failed}, {"working", x.Working}, {"waiting", x.Waiting}} {
			fmt.Fprintf(&b, "blik_farm_files{batch=%q,state=%q} %d\n", x.ID, state.name, state.n)
		}
	}
	head("blik_farm_file_seconds", "gauge", "Mean time of the work on a file, by batch.")
	for _, x := range s.Batches {
		fmt.Fprintf(&b, "blik_farm_file_seconds{batch=%q} %g\n", x.ID, x.Seconds)
	}
	head("blik_farm_workers", "gauge", "Workers that are there.")
	fmt.Fprintf(&b, "blik_farm_workers %d\n", len(s.Workers))
	head("blik_farm_worker_files_total", "counter", "Files that a worker has done since it started.")
	for _, x := range s.Workers {
		fmt.Fprintf(&b, "blik_farm_worker_files_total{worker=%q} %d\n", x.Name, x.Done)
	}
	head("blik_farm_files_per_second", "gauge", "Files done a second during the last minute.")
	fmt.Fprintf(&b, "blik_farm_files_per_second %g\n", s.Rate)
	head("blik_farm_store_bytes", "gauge", "Size of the streams.")
	fmt.Fprintf(&b, "blik_farm_store_bytes %d\n", s.Stored)
	fault := 0
	if s.Fault != "" {
		fault = 1
	}
	head("blik_farm_fault", "gauge", "1 if something keeps the server from going on.")
	fmt.Fprintf(&b, "blik_farm_fault %d\n", fault)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	if _, err := w.Write([]byte(b.String())); err != nil {
		p.m.options.Log.Debug("metrics", "error", err)
	}
}
