package farm

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"blik/internal/message"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// errWrongServer is the cause of the error if the server's certificate is not the one in the address.
var errWrongServer = errors.New("the certificate is another one")

// Join is the address of a farm with the credentials to connect. The text is one of
//
//	nats://127.0.0.1:4222                     a server of this machine without keys
//	tls://worker:SEED@192.168.1.5:4222?ca=HEX  a server with TLS and keys: role, seed, SHA-256 of its certificate
//	tls://nats.example.org:4222               a cluster of an institution, with Credentials
type Join struct {
	// URL contains neither key nor certificate.
	URL string
	// Seed is the private half of the key, Certificate the hexadecimal SHA-256 of the server's certificate; both may be
	// empty.
	Seed, Certificate string
	// Credentials is a credentials file of a NATS cluster (.creds).
	Credentials string
}

// ParseJoin parses the address of a farm.
func ParseJoin(text string) (Join, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
		return Join{}, message.Errorf("%s is not a farm address: nats://HOST:PORT or tls://HOST:PORT expected",
			redacted(text))
	}
	j := Join{Certificate: strings.ToLower(u.Query().Get("ca"))}
	if u.User != nil {
		j.Seed, _ = u.User.Password()
		if _, err := nkeys.FromSeed([]byte(j.Seed)); err != nil {
			return Join{}, errDamagedKey()
		}
		if u.Scheme != "tls" || len(j.Certificate) != 64 {
			return Join{}, message.Errorf("the address of the farm is incomplete: its end, ?ca=…, is missing")
		}
	}
	j.URL = u.Scheme + "://" + u.Host
	return j, nil
}

// ReadJoin parses the address of a farm, or with @FILE the address in a file, which keeps the key out of process lists
// and settings.
func ReadJoin(text string) (Join, error) {
	if file, ok := strings.CutPrefix(text, "@"); ok {
		data, err := os.ReadFile(file)
		if err != nil {
			return Join{}, message.Errorf("%s: the file cannot be read (%w)", file, plain(err))
		}
		text = strings.TrimSpace(string(data))
	}
	return ParseJoin(text)
}

// redacted returns an address without its key.
func redacted(text string) string {
	if at := strings.LastIndex(text, "@"); at >= 0 {
		return "…" + text[at:]
	}
	return text
}

// Text returns the address that ParseJoin reads, for a machine of the given role.
func (j Join) Text(role Role) string {
	scheme, host, _ := strings.Cut(j.URL, "://")
	if j.Seed != "" {
		host = string(role) + ":" + j.Seed + "@" + host
	}
	if j.Certificate != "" {
		host += "?ca=" + j.Certificate
	}
	return scheme + "://" + host
}

// link is a connection to a farm.
type link struct {
	*nats.Conn
	where string
	// public is the public half of the key; empty without one.
	public string
	// denied is the last permission error of the server.
	denied atomic.Pointer[string]

	mu sync.Mutex
	// asking holds the pending requests, each with its subject and the function that ends it.
	asking map[int]asking
	asked  int
}

type asking struct {
	subject string
	stop    context.CancelFunc
}

// deny records a permission error and ends the requests that it concerns, because they will get no reply.
func (l *link) deny(complaint string) {
	l.denied.Store(&complaint)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.asking {
		if strings.Contains(complaint, `"`+a.subject+`"`) || strings.Contains(complaint, `"`+a.subject+".") {
			a.stop()
		}
	}
}

// inbox is the prefix of the reply subjects that only the holder of a key may read.
func inbox(public string) string { return "_INBOX." + public }

func errDamagedKey() error {
	return message.Errorf("the key in the address of the farm is damaged; copy it again")
}

// public returns the public half of the key; empty without one.
func (j Join) public() (string, error) {
	if j.Seed == "" {
		return "", nil
	}
	pair, err := nkeys.FromSeed([]byte(j.Seed))
	if err != nil {
		return "", errDamagedKey()
	}
	return pair.PublicKey()
}

// options returns the options for the address: encryption, key and credentials. inside, if not nil, is the server in
// this process.
func (j Join) options(inside nats.InProcessConnProvider) (options []nats.Option, err error) {
	switch {
	case inside != nil:
		options = append(options, nats.InProcessServer(inside))
	case j.Certificate != "":
		options = append(options, nats.Secure(pinned(j.Certificate)))
	case strings.HasPrefix(j.URL, "tls:"):
		options = append(options, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	if j.Seed != "" {
		pair, err := nkeys.FromSeed([]byte(j.Seed))
		if err != nil {
			return nil, errDamagedKey()
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Nkey(public, pair.Sign), nats.CustomInboxPrefix(inbox(public)))
	}
	if j.Credentials != "" {
		if _, err := os.Stat(j.Credentials); err != nil {
			return nil, message.Errorf("%s: the credentials cannot be read (%w)", j.Credentials, plain(err))
		}
		options = append(options, nats.UserCredentials(j.Credentials))
	}
	return options, nil
}

// dial connects. If the server does not answer, it retries until ctx ends. inside, if not nil, is the server in this
// process.
func dial(ctx context.Context, j Join, inside nats.InProcessConnProvider, wait bool) (*link, error) {
	l := &link{where: j.URL, asking: map[int]asking{}}
	wrong := make(chan error, 1)
	note := func(err error) {
		if err == nil {
			return
		}
		if errors.Is(err, nats.ErrPermissionViolation) {
			l.deny(err.Error())
		}
		select {
		case wrong <- err:
		default:
		}
	}
	ready := make(chan struct{}, 1)
	options := []nats.Option{
		nats.Name("blik"), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(500 * time.Millisecond),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(3), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectJitter(100*time.Millisecond, 500*time.Millisecond),
		nats.ConnectHandler(func(*nats.Conn) { ready <- struct{}{} }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { note(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { note(err) }),
	}
	access, err := j.options(inside)
	if err != nil {
		return nil, err
	}
	if l.public, err = j.public(); err != nil {
		return nil, err
	}
	conn, err := nats.Connect(j.URL, append(options, access...)...)
	if err != nil {
		return nil, l.sentence(err)
	}
	l.Conn = conn
	patience := time.NewTimer(5 * time.Second)
	defer patience.Stop()
	for {
		if conn.IsConnected() {
			return l, nil
		}
		var err error
		select {
		case <-ready:
			return l, nil
		case err = <-wrong:
			if !fatal(err) && (wait || !strings.Contains(err.Error(), "refused")) {
				continue
			}
		case <-ctx.Done():
			err = ctx.Err()
		case <-patience.C:
			if wait {
				continue
			}
			err = conn.LastError()
		}
		conn.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, l.sentence(err)
	}
}

// fatal reports whether retrying is pointless.
func fatal(err error) bool {
	text := strings.ToLower(err.Error())
	return errors.Is(err, errWrongServer) || errors.Is(err, nats.ErrSecureConnRequired) ||
		errors.Is(err, nats.ErrSecureConnWanted) || strings.Contains(text, "authorization") ||
		strings.Contains(text, errWrongServer.Error()) || strings.Contains(text, "x509:")
}

// sentence explains why there is no connection.
func (l *link) sentence(err error) error {
	if err == nil {
		err = nats.ErrNoServers
	}
	text := strings.ToLower(err.Error())
	switch {
	case strings.Contains(text, "authorization"):
		return message.Errorf("%s: the server does not accept this key", l.where)
	case strings.Contains(text, errWrongServer.Error()):
		return message.Errorf("%s: this is not the server of this address: its certificate is different", l.where)
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted),
		strings.Contains(text, "x509:") && strings.HasPrefix(l.where, "nats:"):
		return message.Errorf("%s: the server requires an address with a key, as printed by `blik farm key`", l.where)
	case strings.Contains(text, "x509:"):
		return message.Errorf("%s: the certificate of the server is not trusted (%w)", l.where, err)
	}
	return message.Errorf("%s: no farm responds there; is `blik farm serve` running?", l.where)
}

// ask sends a request and returns the reply. The error is a *Refusal if the server refuses the request.
func (l *link) ask(ctx context.Context, subject string, r request) (answer, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	l.denied.Store(nil)
	l.mu.Lock()
	l.asked++
	n := l.asked
	l.asking[n] = asking{subject, cancel}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.asking, n)
	}()
	full := subject
	if strings.HasPrefix(subject, workPrefix) {
		full += "." + cmp.Or(l.public, "open")
	}
	reply, err := l.request(ctx, newMessage(full, data, r.piece))
	if err != nil {
		if l.denied.Load() != nil {
			return answer{}, message.Errorf("%s: the key does not permit this", l.where)
		}
		return answer{}, message.Errorf("%s: the farm does not respond (%w)", l.where, err)
	}
	var a answer
	text, piece := readMessage(reply)
	if err := json.Unmarshal(text, &a); err != nil {
		return a, message.Errorf("%s: the farm's answer cannot be read (%w)", l.where, err)
	}
	if a.Error != nil {
		return a, a.Error
	}
	a.piece = piece
	return a, nil
}

// starting is how long a server may take from its first connection to its first answer.
const starting = 3 * time.Second

// request sends a request. A server that has just started accepts connections before it answers requests, so an
// unanswered request is repeated for a while.
func (l *link) request(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	var rest pause
	for begun := time.Now(); ; {
		reply, err := l.RequestMsgWithContext(ctx, msg)
		if !errors.Is(err, nats.ErrNoResponders) || time.Since(begun) > starting || rest.wait(ctx) != nil {
			return reply, err
		}
	}
}

// insist repeats a request until it is answered. A refusal is an answer, unless the server has no space.
func (l *link) insist(ctx context.Context, subject string, r request, waiting func(error)) (answer, error) {
	var rest pause
	for told := false; ; {
		a, err := l.ask(ctx, subject, r)
		var no *Refusal
		if err == nil || errors.As(err, &no) && !no.Full || l.denied.Load() != nil {
			return a, err
		}
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		if !told && waiting != nil {
			waiting(err)
			told = true
		}
		if err := rest.wait(ctx); err != nil {
			return a, err
		}
	}
}

// pause returns the time before the next try: short at first, then a second.
type pause time.Duration

func (p *pause) wait(ctx context.Context) error {
	*p = min(max(2**p, pause(20*time.Millisecond)), pause(time.Second))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(*p)):
		return nil
	}
}
