package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blik/app/farm"
	"blik/internal/atomicfile"
	"blik/internal/message"

	"github.com/nats-io/nkeys"
)

// roles lists the roles.
func roles() []farm.Role { return []farm.Role{farm.WorkerRole, farm.Submitter, farm.Observer} }

// Key is the key of a machine. The server stores only its public half.
type Key struct {
	Name   string    `json:"name"`
	Role   farm.Role `json:"role"`
	Public string    `json:"public"`
	Made   time.Time `json:"made"`
}

// Keyring is a server's folder of keys with their roles, and its certificate.
type Keyring struct{ dir string }

// OpenKeyring returns the keyring of the server whose store is in the given folder, creating the folder if needed.
func OpenKeyring(store string) (*Keyring, error) {
	dir := filepath.Join(store, "keys")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, message.Errorf("%s: the folder cannot be created (%w)", dir, message.Plain(err))
	}
	return &Keyring{dir}, nil
}

func (k *Keyring) file() string { return filepath.Join(k.dir, "keys.json") }

// Keys lists the keys in order of creation.
func (k *Keyring) Keys() ([]Key, error) {
	data, err := os.ReadFile(k.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var keys []Key
	if err == nil {
		err = json.Unmarshal(data, &keys)
	}
	if err != nil {
		return nil, message.Errorf("%s: the keys cannot be read (%w)", k.file(), message.Plain(err))
	}
	return keys, nil
}

// Make creates a key and returns its private half, which is not stored.
func (k *Keyring) Make(name string, role farm.Role) (seed string, err error) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", message.Errorf("%q cannot be the name of a key", name)
	}
	if !slices.Contains(roles(), role) {
		return "", message.Errorf("%s is not a role; choose worker, submitter or observer", string(role))
	}
	keys, err := k.Keys()
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(keys, func(other Key) bool { return other.Name == name }) {
		return "", message.Errorf("key %s already exists; remove it first", name)
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err != nil {
		return "", err
	}
	secret, err := pair.Seed()
	if err != nil {
		return "", err
	}
	return string(secret), k.store(append(keys, Key{Name: name, Role: role, Public: public, Made: time.Now().UTC()}))
}

// Remove removes a key; the server closes its connections within seconds.
func (k *Keyring) Remove(name string) error {
	keys, err := k.Keys()
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(keys), func(key Key) bool { return key.Name == name })
	if len(left) == len(keys) {
		return message.Errorf("key %s does not exist", name)
	}
	return k.store(left)
}

func (k *Keyring) store(keys []Key) error {
	data, err := json.MarshalIndent(keys, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(k.file(), append(data, '\n'), 0o600)
}

// certificate returns the certificate of the server, which the first call creates for the names and addresses of this
// machine. Clients identify it by its SHA-256 (Fingerprint), so that neither a certificate authority nor the clocks
// matter.
func (k *Keyring) certificate(hosts []string) (tls.Certificate, error) {
	certFile, keyFile := k.certificateFile(), filepath.Join(k.dir, "server-key.pem")
	if _, err := os.Stat(keyFile); errors.Is(err, fs.ErrNotExist) {
		if err := makeCertificate(certFile, keyFile, hosts); err != nil {
			return tls.Certificate{}, err
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return pair, message.Errorf("%s: the certificate of the server cannot be read (%w)", certFile, err)
	}
	return pair, nil
}

// certificateFile returns the path of the server's certificate, which other programs can use as a CA certificate.
func (k *Keyring) certificateFile() string { return filepath.Join(k.dir, "server-cert.pem") }

// Fingerprint returns the hexadecimal SHA-256 of the server's certificate; empty if there is none.
func (k *Keyring) Fingerprint() (string, error) {
	data, err := os.ReadFile(k.certificateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return "", message.Errorf("%s is not a certificate", k.certificateFile())
	}
	return farm.Fingerprint(block.Bytes), nil
}

func makeCertificate(certFile, keyFile string, hosts []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Blik farm"},
		NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(30, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true, IsCA: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if host != "" {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := atomicfile.WriteFile(certFile, cert, 0o644); err != nil {
		return err
	}
	// The key is written last: if it exists, so does the certificate.
	return atomicfile.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}
