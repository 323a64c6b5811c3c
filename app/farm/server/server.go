package server

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"blik/app/farm"
	"blik/internal/atomicfile"
	"blik/internal/message"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Options configure a server.
type Options struct {
	// Store is the folder of all persistent data.
	Store string
	// Listen is the address for clients, host:port; port 0 takes a free one; empty: only this process can connect.
	Listen string
	// Secure requires TLS and keys, which are mandatory beyond loopback.
	Secure bool
	// MaxStore limits the store in bytes; 0: only the disk does.
	MaxStore int64
	Log      *slog.Logger
}

// Server is a NATS server with JetStream in this process.
type Server struct {
	options Options
	nats    *natsserver.Server
	auth    *authenticator // nil without keys
	lock    interface{ Close() error }
	// Certificate is the certificate of the server; nil without TLS.
	Certificate *tls.Certificate
	stop        context.CancelFunc
	done        sync.WaitGroup
	stopped     chan struct{}
}

// IsLoopback reports whether only programs of this machine can connect to an address.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Start starts a server and waits until it accepts connections.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Listen != "" && !IsLoopback(o.Listen) && !o.Secure {
		return nil, message.Errorf("%s can be reached from other machines and needs TLS and keys", o.Listen)
	}
	var lock io.Closer
	err := os.MkdirAll(o.Store, 0o700)
	if err == nil {
		lock, err = atomicfile.Lock(filepath.Join(o.Store, "lock"))
	}
	if err != nil {
		return nil, message.Errorf("%s: another server or batch uses this folder, or it cannot be written (%w); name "+
			"another one with --store", o.Store, message.Plain(err))
	}
	s := &Server{options: o, lock: lock, stopped: make(chan struct{})}
	if err := s.start(ctx); err != nil {
		lock.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	o := s.options
	no := &natsserver.Options{
		ServerName: "blik", JetStream: true, StoreDir: o.Store, NoSigs: true, NoLog: true, SyncAlways: true,
		DontListen: o.Listen == "", JetStreamMaxStore: o.MaxStore, JetStreamMaxMemory: 64 << 20,
		StreamMaxBufferedSize: 1 << 30, MaxPayload: 1 << 20, NoSystemAccount: true, DisableJetStreamBanner: true,
		TLSTimeout: 5, AuthTimeout: 5, MaxControlLine: 4096, MaxConn: shareOf(descriptors()).queue, MaxSubs: 64,
		MaxPending: 16 << 20, PingInterval: 10 * time.Second, MaxPingsOut: 2, WriteDeadline: 10 * time.Second,
	}
	if o.MaxStore == 0 {
		// The default is a share of what is free now; the manager watches the disk itself.
		no.JetStreamMaxStore = maxStore
	}
	if o.Listen != "" {
		host, port, err := net.SplitHostPort(o.Listen)
		if err == nil {
			no.Port, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return message.Errorf("%s is not an address: HOST:PORT expected", o.Listen)
		}
		if no.Port == 0 {
			no.Port = natsserver.RANDOM_PORT
		}
		no.Host = host
	}
	if o.Secure {
		ring, err := OpenKeyring(o.Store)
		if err != nil {
			return err
		}
		pair, err := ring.certificate(names(no.Host))
		if err != nil {
			return err
		}
		s.Certificate = &pair
		no.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
		if s.auth, err = newAuthenticator(ring, o.Log); err != nil {
			return err
		}
		no.CustomClientAuthentication, no.AlwaysEnableNonce = s.auth, true
	}
	ns, err := natsserver.NewServer(no)
	if err != nil {
		return message.Errorf("the server cannot start (%w)", err)
	}
	logger := &serverLog{log: o.Log}
	ns.SetLoggerV2(logger, false, false, false)
	s.nats = ns
	ns.Start()
	for deadline := time.Now().Add(time.Minute); !ns.ReadyForConnections(50 * time.Millisecond); {
		if fault := logger.fatal(); fault != "" || ctx.Err() != nil || time.Now().After(deadline) {
			ns.Shutdown()
			ns.WaitForShutdown()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return message.Errorf("the server cannot start (%w)", errors.New(fault))
		}
	}
	go func() {
		ns.WaitForShutdown()
		close(s.stopped)
	}()
	if s.auth != nil {
		watch, stop := context.WithCancel(context.Background())
		s.stop = stop
		s.done.Go(func() { every(watch, time.Second, o.Log, "keys", func() { s.auth.dropRemoved(ns) }) })
	}
	return nil
}

// names returns the names of this machine that a certificate should contain.
func names(host string) []string {
	all := []string{"localhost", "127.0.0.1", "::1", host}
	if name, err := os.Hostname(); err == nil {
		all = append(all, name)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return all
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok {
			all = append(all, ip.IP.String())
		}
	}
	return all
}

// maxStore is a limit of the store that no disk reaches.
const maxStore = 1 << 60

// shares are the numbers of connections that queue and page may have, so that descriptors are left for the store.
type shares struct{ queue, page int }

func shareOf(descriptors int) shares {
	return shares{min(max(descriptors*3/8, 16), 16<<10), min(max(descriptors/8, 8), 256)}
}

// Stopped returns a channel that is closed when the server has stopped.
func (s *Server) Stopped() <-chan struct{} { return s.stopped }

func (s *Server) Join() farm.Join {
	j := farm.Join{URL: "nats://" + s.Address()}
	if s.Certificate != nil {
		j.URL, j.Certificate = "tls://"+s.Address(), farm.Fingerprint(s.Certificate.Certificate[0])
	}
	if s.auth != nil {
		j.Seed = s.auth.seed
	}
	return j
}

func (s *Server) InProcessConn() (net.Conn, error) { return s.nats.InProcessConn() }

// Address returns the address at which clients connect, empty if they cannot.
func (s *Server) Address() string {
	if addr := s.nats.Addr(); addr != nil {
		return addr.String()
	}
	return ""
}

// Close stops the server.
func (s *Server) Close() {
	if s.stop != nil {
		s.stop()
	}
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
	s.done.Wait()
	s.lock.Close()
}

// authenticator authenticates clients by their keys.
type authenticator struct {
	ring *Keyring
	log  *slog.Logger
	// seed and public are the key of the manager, new at each start.
	seed, public string

	mu      sync.Mutex
	keys    map[string]Key
	state   string
	clients map[uint64]string
}

func newAuthenticator(ring *Keyring, log *slog.Logger) (*authenticator, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	d := &authenticator{ring: ring, log: log, seed: string(seed), clients: map[uint64]string{}}
	if d.public, err = pair.PublicKey(); err != nil {
		return nil, err
	}
	return d, d.read()
}

// read reloads the keys if they have changed.
func (d *authenticator) read() error {
	state := ""
	if info, err := os.Stat(d.ring.file()); err == nil {
		state = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys != nil && state == d.state {
		return nil
	}
	list, err := d.ring.Keys()
	if err != nil {
		return err
	}
	d.keys, d.state = map[string]Key{}, state
	for _, k := range list {
		d.keys[k.Public] = k
	}
	return nil
}

func (d *authenticator) Check(c natsserver.ClientAuthentication) (ok bool) {
	defer farm.Survive(d.log, "login", func(error) { ok = false })
	o := c.GetOpts()
	if o.Nkey == "" || o.Sig == "" {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(o.Sig)
	if err != nil {
		return false
	}
	public, err := nkeys.FromPublicKey(o.Nkey)
	if err != nil || public.Verify(c.GetNonce(), signature) != nil {
		return false
	}
	if o.Nkey == d.public {
		c.RegisterUser(&natsserver.User{Username: "manager"})
		return true
	}
	if err := d.read(); err != nil {
		d.log.Error("keys", "error", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key, known := d.keys[o.Nkey]
	if !known {
		return false
	}
	d.clients[c.GetID()] = o.Nkey
	c.RegisterUser(&natsserver.User{Username: key.Name, Permissions: permissions(key)})
	return true
}

// permissions returns the permissions of a role: the requests that the manager answers, those of workers under their
// own key only, and nothing of JetStream. Replies go to an inbox that only the holder of the key may read.
func permissions(k Key) *natsserver.Permissions {
	var may, hear []string
	switch k.Role {
	case farm.WorkerRole:
		may, hear = []string{farm.WorkPrefix + "*." + k.Public}, []string{farm.Wake}
	case farm.Submitter:
		may = []string{"farm.submit.*", "farm.see.*"}
	case farm.Observer:
		may = []string{"farm.see.*"}
	}
	return &natsserver.Permissions{
		Publish:   &natsserver.SubjectPermission{Allow: append(may, "_none")},
		Subscribe: &natsserver.SubjectPermission{Allow: append(hear, farm.Inbox(k.Public)+".>")},
	}
}

// dropRemoved closes the connections of keys that were removed.
func (d *authenticator) dropRemoved(ns *natsserver.Server) {
	if err := d.read(); err != nil {
		d.log.Error("keys", "error", err)
		return
	}
	d.mu.Lock()
	var gone []uint64
	for id, public := range d.clients {
		if _, ok := d.keys[public]; !ok || ns.GetClient(id) == nil {
			gone = append(gone, id)
			delete(d.clients, id)
		}
	}
	d.mu.Unlock()
	for _, id := range gone {
		// A client that has disconnected by itself no longer exists.
		_ = ns.DisconnectClientByID(id)
	}
}

// serverLog passes on the log of the server.
type serverLog struct {
	log  *slog.Logger
	mu   sync.Mutex
	last string
}

func (l *serverLog) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// The log of the server implements natsserver.Logger.
func (l *serverLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *serverLog) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l *serverLog) Errorf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l *serverLog) Debugf(format string, v ...any)  {}
func (l *serverLog) Tracef(format string, v ...any)  {}

func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = strings.TrimSpace(fmt.Sprintf(format, v...))
}
