package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// Patterns of the names that a killed process leaves in a directory: incomplete files, and records.
const (
	leftoverPattern = ".blik-*"
	temporaryName   = ".blik-%016x.tmp"
	recordName      = ".blik-%016x.commit"
)

// Transaction is a set of new files that get their names together.
type Transaction struct {
	// About says what the files are about, for the run that completes the transaction of a killed process.
	About   string
	fsys    FileSystem
	members []*member
	// ended is set after Commit or Close.
	ended bool
}

// member is a file of a transaction.
type member struct {
	Target
	file File
	// temporary is the name of the file until Commit; empty if it has none.
	temporary string
	closed    bool
}

// Begin starts a transaction. The caller must call Close.
func Begin(fsys FileSystem) *Transaction { return &Transaction{fsys: fsys} }

// Add creates a file, which fill writes. While the system flushes it to disk, check, which may be nil, can inspect and
// reject it. The file gets its name with Commit. A killed process leaves at most temporary files, which Recover
// removes; an error leaves none.
//
// Errors are those of the file system, of fill and check, or of ctx.
func (t *Transaction) Add(ctx context.Context, target Target, fill, check func(File) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// The temporary name is always short because the length of names is limited.
	path := t.temporary(filepath.Dir(target.Path))
	file, err := t.fsys.Create(path)
	if err != nil {
		return err
	}
	p := &member{Target: target, file: file, temporary: file.Temporary()}
	t.members = append(t.members, p)
	err = fill(file)
	if err == nil {
		synced := make(chan error, 1)
		go func() { synced <- file.Sync() }()
		var rejected error
		if check != nil {
			rejected = check(file)
		}
		if err = <-synced; rejected != nil {
			err = rejected
		}
	}
	if e := ctx.Err(); e != nil {
		return e
	}
	return err
}

func (t *Transaction) temporary(dir string) string {
	return filepath.Join(dir, fmt.Sprintf(temporaryName, rand.Uint64()))
}

// Commit gives all files their names, the first one added last, so that it exists only if the others do. If a name has
// been taken meanwhile, no file gets its name and the error is fs.ErrExist.
func (t *Transaction) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil || len(t.members) == 0 {
		return err
	}
	if err := t.closeBefore(); err != nil {
		return err
	}
	// Reports can be written only after the files that they describe.
	slices.Reverse(t.members)
	var err error
	if p := t.members[0]; len(t.members) == 1 && p.Keep == "" {
		err = t.publish(p)
	} else {
		err = t.publishAll()
	}
	if err != nil {
		return err
	}
	t.ended = true
	dirs := map[string]bool{}
	for _, p := range t.members {
		dirs[filepath.Dir(p.Path)] = true
	}
	for dir := range dirs {
		// If that fails, the files are still complete and in place; only a power failure within the next seconds could
		// bring the old ones back.
		_ = t.fsys.SyncDir(dir)
	}
	return nil
}

// closeBefore closes the files if the system cannot rename open ones.
func (t *Transaction) closeBefore() error {
	if renamesOpen {
		return nil
	}
	var err error
	for _, p := range t.members {
		err = errors.Join(err, p.close())
	}
	return err
}

func (p *member) close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return p.file.Close()
}

// publish gives a single file its name.
func (t *Transaction) publish(p *member) error {
	if p.Overwrite {
		if err := t.name(p); err != nil {
			return err
		}
		err := t.fsys.Rename(p.temporary, p.Path)
		if err == nil {
			p.temporary = ""
		}
		return err
	}
	return t.link(p)
}

// name gives a file its temporary name if it has none.
func (t *Transaction) name(p *member) error {
	if p.temporary != "" {
		return nil
	}
	path := t.temporary(filepath.Dir(p.Path))
	err := p.file.Link(path)
	if err == nil {
		p.temporary = path
	}
	return err
}

// link gives a file a name that must not be in use. On file systems without links there is a race between the check and
// the rename.
func (t *Transaction) link(p *member) error {
	err := p.file.Link(p.Path)
	if err == nil {
		if p.temporary != "" {
			_ = t.fsys.Remove(p.temporary) // a failure does no harm
			p.temporary = ""
		}
		return nil
	}
	if _, e := t.fsys.Lstat(p.Path); e == nil || errors.Is(err, fs.ErrExist) {
		return &fs.PathError{Op: "create", Path: p.Path, Err: fs.ErrExist}
	}
	if p.temporary == "" {
		return err
	}
	if err = t.fsys.Rename(p.temporary, p.Path); err == nil {
		p.temporary = ""
	}
	return err
}

// Close ends the transaction: without Commit no file gets its name.
func (t *Transaction) Close() error {
	var err error
	for _, p := range t.members {
		err = errors.Join(err, p.close())
		if p.temporary != "" && !t.ended {
			err = errors.Join(err, remove(t.fsys, p.temporary))
			p.temporary = ""
		}
	}
	return err
}
