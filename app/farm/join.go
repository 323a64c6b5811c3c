package farm

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"strings"

	"blik/internal/message"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Role determines what a key permits.
type Role string

// The roles.
const (
	// Submitter may submit, cancel, pause, resume and retry, and read the status.
	Submitter Role = "submitter"
	// Observer may read the status.
	Observer Role = "observer"
	// WorkerRole may take jobs and deliver results.
	WorkerRole Role = "worker"
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
			return Join{}, message.Errorf("%s: the file cannot be read (%w)", file, message.Plain(err))
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

// Inbox is the prefix of the reply subjects that only the holder of a key may read.
func Inbox(public string) string { return "_INBOX." + public }

func errDamagedKey() error {
	return message.Errorf("the key in the address of the farm is damaged; copy it again")
}

// key returns the key; nil without one.
func (j Join) key() (nkeys.KeyPair, error) {
	if j.Seed == "" {
		return nil, nil
	}
	pair, err := nkeys.FromSeed([]byte(j.Seed))
	if err != nil {
		return nil, errDamagedKey()
	}
	return pair, nil
}

// options returns the options for the address: encryption and credentials. inside, if not nil, is the server in
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
	if j.Credentials != "" {
		if _, err := os.Stat(j.Credentials); err != nil {
			return nil, message.Errorf("%s: the credentials cannot be read (%w)", j.Credentials, message.Plain(err))
		}
		options = append(options, nats.UserCredentials(j.Credentials))
	}
	return options, nil
}

// Fingerprint returns the hexadecimal SHA-256 of a certificate.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// pinned returns a TLS configuration that accepts only the certificate with the given SHA-256.
func pinned(want string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// The certificate is self-signed: VerifyConnection compares all of it.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return errWrongServer
			}
			got := Fingerprint(state.PeerCertificates[0].Raw)
			if subtle.ConstantTimeCompare([]byte(got), []byte(want)) != 1 {
				return errWrongServer
			}
			return nil
		},
	}
}
