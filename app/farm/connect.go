package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"blik/internal/message"

	"github.com/nats-io/nats.go"
)

// Link is a connection to a farm.
type Link struct {
	*nats.Conn
	where string
	// Public is the public half of the key; empty without one.
	Public string
	// denied is the last permission error of the server.
	denied atomic.Pointer[string]

	mu sync.Mutex
	// asking holds the pending requests, each with its subject and the function that ends it.
	asking map[int]asking
	asked  int
}

type asking struct {
	subject string
	stop    context.CancelCauseFunc
}

// deny records a permission error and ends the requests that it concerns, because they will get no reply.
func (l *Link) deny(complaint string) {
	l.denied.Store(&complaint)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.asking {
		if strings.Contains(complaint, `"`+a.subject+`"`) || strings.Contains(complaint, `"`+a.subject+".") {
			a.stop(nil)
		}
	}
}

// lose ends the pending requests: a reply does not outlive the connection.
func (l *Link) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.asking {
		a.stop(nats.ErrDisconnected)
	}
}

// Inside is a server in this process.
type Inside interface {
	nats.InProcessConnProvider
	// Join returns the address for a client in this process, with a key if keys are required.
	Join() Join
}

// Connect connects to a farm; inside, if not nil, is the server in this process. With wait, an error that may pass is
// followed by another try, until ctx ends.
func Connect(ctx context.Context, j Join, inside Inside, wait bool) (*Link, error) {
	if inside != nil {
		j = inside.Join()
		// A connection within the process is not encrypted.
		j.URL, j.Certificate = "nats://blik", ""
	}
	l := &Link{where: j.URL, asking: map[int]asking{}}
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
		nats.DisconnectErrHandler(func(*nats.Conn, error) { l.lose() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { note(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { note(err) }),
	}
	pair, err := j.key()
	if err != nil {
		return nil, err
	}
	if pair != nil {
		if l.Public, err = pair.PublicKey(); err != nil {
			return nil, err
		}
		options = append(options, nats.Nkey(l.Public, pair.Sign), nats.CustomInboxPrefix(Inbox(l.Public)))
	}
	access, err := j.options(inside)
	if err != nil {
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
func (l *Link) sentence(err error) error {
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

// Ask sends a request and returns the reply. The error is a *Refusal if the server refuses the request.
func (l *Link) Ask(ctx context.Context, subject string, r Request) (Answer, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.denied.Store(nil)
	l.mu.Lock()
	l.asked++
	n := l.asked
	l.asking[n] = asking{subject, stop}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.asking, n)
	}()
	full := subject
	if strings.HasPrefix(subject, WorkPrefix) {
		full += "." + cmp.Or(l.Public, "open")
	}
	reply, err := l.request(ctx, NewMessage(full, data, r.Content))
	if err != nil {
		if l.denied.Load() != nil {
			return Answer{}, message.Errorf("%s: the key does not permit this", l.where)
		}
		return Answer{}, message.Errorf("%s: the farm does not respond (%w)", l.where, cmp.Or(context.Cause(ctx), err))
	}
	var a Answer
	text, piece := ReadMessage(reply)
	if err := json.Unmarshal(text, &a); err != nil {
		return a, message.Errorf("%s: the farm's answer cannot be read (%w)", l.where, err)
	}
	if a.Error != nil {
		return a, a.Error
	}
	a.Content = piece
	return a, nil
}

// starting is how long a server may take from its first connection to its first answer.
const starting = 3 * time.Second

// request sends a request. A server that has just started accepts connections before it answers requests, so an
// unanswered request is repeated for a while.
func (l *Link) request(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	var rest pause
	for begun := time.Now(); ; {
		reply, err := l.RequestMsgWithContext(ctx, msg)
		if !errors.Is(err, nats.ErrNoResponders) || time.Since(begun) > starting || rest.wait(ctx) != nil {
			return reply, err
		}
	}
}

// insist repeats a request until it is answered. A refusal is an answer, unless the server has no space.
func (l *Link) insist(ctx context.Context, subject string, r Request, waiting func(error)) (a Answer, err error) {
	err = l.withRetries(ctx, waiting, func() (err error) {
		a, err = l.Ask(ctx, subject, r)
		return err
	})
	return a, err
}

// pause returns the time before the next try: short at first, then a second.
type pause time.Duration

func (p *pause) wait(ctx context.Context) error {
	*p = min(max(2**p, pause(20*time.Millisecond)), pause(time.Second))
	return sleep(ctx, time.Duration(*p))
}

// sleep waits for a while, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
