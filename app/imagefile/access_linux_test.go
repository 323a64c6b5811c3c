package imagefile

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"blik/internal/test/testpic"
	"blik/processing"
)

// attributed writes a picture with an extended attribute and an access control list. It reports which of the two the
// file system supports.
func attributed(t *testing.T) (path string, attribute, list []byte) {
	t.Helper()
	path = testpic.WriteFile(t, "a.tif", rgba())
	attribute = []byte("checksum of the archive\x00\xff")
	list = accessControl(7, 5, 0)
	for name, value := range map[string]*[]byte{"user.archive": &attribute, accessList: &list} {
		if err := syscall.Setxattr(path, name, *value, 0); errors.Is(err, syscall.ENOTSUP) {
			*value = nil
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return path, attribute, list
}

// accessControl returns a list as described in acl(5), in the format of Linux (posix_acl_xattr.h), with the given
// permissions of owner, group and others. User 1 and the mask may read and execute.
func accessControl(owner, group, others uint16) []byte {
	const userObject, user, groupObject, mask, other = 1, 2, 4, 16, 32
	data := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, rights uint16
		id          uint32
	}{{userObject, owner, 1<<32 - 1}, {user, 5, 1}, {groupObject, group, 1<<32 - 1}, {mask, 5, 1<<32 - 1},
		{other, others, 1<<32 - 1}} {
		data = binary.LittleEndian.AppendUint16(data, e.tag)
		data = binary.LittleEndian.AppendUint16(data, e.rights)
		data = binary.LittleEndian.AppendUint32(data, e.id)
	}
	return data
}

func attributeOf(t *testing.T, path, name string) string {
	t.Helper()
	value := make([]byte, 1<<16)
	n, err := syscall.Getxattr(path, name, value)
	if errors.Is(err, syscall.ENODATA) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(value[:n])
}

// A corrected picture keeps the extended attributes and the access control list of the original. A mask beside it gets
// only the access control list.
func TestOutputsKeepAttributes(t *testing.T) {
	t.Parallel()
	path, attribute, list := attributed(t)
	testpic.Need(t, attribute != nil || list != nil, "a file system with extended attributes")
	file, err := Read(t.Context(), path, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	result, mask := filepath.Join(filepath.Dir(path), "b.tif"), filepath.Join(filepath.Dir(path), "m.png")
	if _, err := Save(t.Context(), file, result, []processing.Patch{fuzzPatch(file.Picture, 0, 0, 9)},
		SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	m := processing.NewMask(file.Picture.Width, file.Picture.Height)
	if err := WriteMask(t.Context(), mask, WriteOptions{Like: file}, m); err != nil {
		t.Fatal(err)
	}
	if attribute != nil {
		if got := attributeOf(t, result, "user.archive"); got != string(attribute) {
			t.Errorf("the attribute of the result is %q, want %q", got, attribute)
		}
		if got := attributeOf(t, mask, "user.archive"); got != "" {
			t.Errorf("the mask has the attribute %q of the picture", got)
		}
	}
	if list == nil {
		t.Log("the file system has no access control lists")
		return
	}
	for _, p := range []string{result, mask} {
		if got := attributeOf(t, p, accessList); got != string(list) {
			t.Errorf("%s: the access control list is %x, want %x", filepath.Base(p), got, list)
		}
	}
}

// A time after 2262 is left out: os.Chtimes would make 1901 of it.
func TestSaveFarFuture(t *testing.T) {
	f := tiffScan(t, t.TempDir(), "a.tif", 7, 5)
	future := syscall.Timespec{Sec: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC).Unix()}
	if err := syscall.UtimesNano(f.Path, []syscall.Timespec{future, future}); err != nil {
		t.Fatal(err)
	}
	f, err := Read(t.Context(), f.Path, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "b.tif")
	if _, err := Save(t.Context(), f, target, dot(f.Picture, 3, 2), SaveOptions{KeepTime: true}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(target); err != nil || info.ModTime().Year() < 2020 {
		t.Errorf("%v, %v", info, err)
	}
}
