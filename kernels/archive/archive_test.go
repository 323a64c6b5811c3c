package archive

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func all(string) bool { return true }

func update(t *testing.T, old []byte, members map[string]Member, keep func(string) bool) []byte {
	t.Helper()
	file, err := Update(old, members, keep)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func checkMembers(t *testing.T, file []byte, want map[string]Member) {
	t.Helper()
	a, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Names()) != len(want) {
		t.Errorf("members %v, want %d", a.Names(), len(want))
	}
	for name, w := range want {
		m, err := a.Read(name)
		if err != nil || !bytes.Equal(m.Code, w.Code) || m.Of != w.Of {
			t.Errorf("%s: %d bytes of %q, %v; want %d bytes of %q", name, len(m.Code), m.Of, err, len(w.Code), w.Of)
		}
	}
}

func TestUpdate(t *testing.T) {
	long := Member{Code: []byte(strings.Repeat("add.s32 %r1, %r2;\n", 10000)), Of: Hash([]byte("ptx"))}
	old := map[string]Member{"a.cubin": long, "b.cubin": {Code: []byte{}}, "c.cubin": {Code: []byte{0, 255}, Of: "c"}}
	file := update(t, nil, old, all)
	checkMembers(t, file, old)
	if len(file) > len(long.Code)/10 {
		t.Errorf("%d bytes: not compressed", len(file))
	}
	if again := update(t, nil, old, all); !bytes.Equal(again, file) {
		t.Error("the same members gave another file")
	}
	if again := update(t, file, old, all); !bytes.Equal(again, file) {
		t.Error("the same members changed the file")
	}

	replaced, added := Member{Code: []byte("new"), Of: "x"}, Member{Code: []byte("d")}
	changed := update(t, file, map[string]Member{"a.cubin": replaced, "d.cubin": added},
		func(name string) bool { return name != "b.cubin" })
	checkMembers(t, changed, map[string]Member{"a.cubin": replaced, "c.cubin": old["c.cubin"], "d.cubin": added})
	// What the code was made of is stored even where the code is the same.
	renewed := Member{Code: replaced.Code, Of: "y"}
	checkMembers(t, update(t, changed, map[string]Member{"a.cubin": renewed}, all),
		map[string]Member{"a.cubin": renewed, "c.cubin": old["c.cubin"], "d.cubin": added})

	if rest := update(t, file, nil, func(string) bool { return false }); rest != nil {
		t.Errorf("no members gave %d bytes", len(rest))
	}
}

func TestDamaged(t *testing.T) {
	file := update(t, nil, map[string]Member{"a.ptx": {Code: bytes.Repeat([]byte("mov "), 1000)}}, all)
	a, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read("b.ptx"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a member that is not there: %v", err)
	}
	if _, err := Open(file[:len(file)-1]); err == nil {
		t.Error("a truncated file was opened")
	}
	if _, err := Update([]byte("no archive"), nil, all); err == nil {
		t.Error("what is no archive was updated")
	}
	// In the middle of the compressed data, behind the member's header of 30 bytes and its name.
	damaged := slices.Clone(file)
	damaged[45] ^= 0xff
	if a, err = Open(damaged); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read("a.ptx"); err == nil {
		t.Error("damaged code was read")
	}
}
