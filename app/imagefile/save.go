package imagefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"blik/app/imagefile/container"
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/processing"
)

// SaveOptions are the options of Outputs.AddPicture.
type SaveOptions struct {
	// Overwrite permits replacing an existing file, including the source itself.
	Overwrite bool
	// Expect is the State that a file to be replaced must have; one in another state is ErrForeign. Empty allows any.
	Expect string
	// Keep keeps the replaced file under the name given by OriginalName.
	Keep bool
	// AllowLossy lets a JPEG source be saved as JPEG, in which the blocks around each changed pixel change with it.
	AllowLossy bool
	// KeepTime gives the result the modification time of the source, if the system supports that.
	KeepTime bool
	// SkipProof leaves Saved.Proof nil and the checksums empty: saving then takes only as long as a copy and its fsync.
	SkipProof bool
	// Limits bound the resources of the proof; the zero value stands for DefaultLimits.
	Limits Limits
	// Progress may be nil.
	Progress processing.Progress
}

// SaveMethod is the way in which a picture was saved.
type SaveMethod string

// The ways of saving.
const (
	// Copied: nothing had changed, and the result is the source byte for byte.
	Copied SaveMethod = "copied"
	// Patched: a copy of the source in which the bytes of changed pixels were overwritten.
	Patched SaveMethod = "patched"
	// Rewritten: a new file of the same container, with everything but the changed pixels carried over.
	Rewritten SaveMethod = "rewritten"
	// NewFile: a new container, with the pixels, profile, EXIF, XMP, IPTC, resolution and orientation of the source.
	NewFile SaveMethod = "new file"
)

// Saved is the result of Outputs.AddPicture.
type Saved struct {
	// Path is the result, Format its container and Bytes its size.
	Path   string
	Format Format
	Bytes  int64
	Method SaveMethod
	// Lossy: the result is a JPEG, in which more than the changed pixels differs from the source.
	Lossy bool
	// SourceSHA256 and SHA256 are those of the source and of the result, in hexadecimal; empty with
	// SaveOptions.SkipProof.
	SourceSHA256, SHA256 string
	// State is the State of the result, which reveals later changes by other programs.
	State string
	// Kept is the path of the replaced file if it was kept; otherwise empty.
	Kept string
	// PixelsChanged is the number of pixels that differ from the decoded source, counted by the proof or, without a
	// proof, from the patches.
	PixelsChanged int64
	// Corrected is the number of patches in which a pixel differs from the decoded source.
	Corrected int
	// Dropped names the parts of the source that a NewFile does not hold.
	Dropped []message.Message
	// Proof is the result of comparing the result with the source; nil with SaveOptions.SkipProof.
	Proof *Proof
}

// DefaultName returns the default path of a result, beside path: NAME_corrected with the extension of path, or with
// that of format if the extension does not belong to the format. format is that of the result (File.SaveFormat).
func DefaultName(path string, format Format) string {
	extension := filepath.Ext(path)
	name := strings.TrimSuffix(path, extension)
	if filepath.Base(path) == extension { // .tif is a name without an extension
		name, extension = path, ""
	}
	if formatOf(extension) != format {
		extension = "." + format.Extensions()[0]
	}
	return name + "_corrected" + extension
}

// ResultName is DefaultName in another folder, if that is not empty.
func ResultName(path, folder string, format Format) string {
	if folder != "" {
		path = filepath.Join(folder, filepath.Base(path))
	}
	return DefaultName(path, format)
}

// AddPicture writes file with the patches applied; Commit names it path. file.Picture itself stays as it is. The
// container is that of the source, with everything in it except the changed pixels, unless the extension of path names
// another one: a JPEG becomes a TIFF (also where the extension names nothing) or PNG with the profile, EXIF, XMP, IPTC,
// resolution and orientation, and stays a JPEG only with AllowLossy; TIFF and PNG become one another where nothing
// would be lost. A TIFF whose pixels cannot be changed without loss, since they are compressed with JPEG, becomes a new
// TIFF in the same way.
//
// The source must still be the file that was read (ErrChanged). No existing file is replaced without Overwrite
// (ErrExists). The result has the permissions of the source. It is written beside path, flushed to disk, compared with
// the source, and then renamed by Commit in one step, so that path always holds either the old file or the complete new
// one. If no pixel differs, a result in the same container is the source byte for byte.
//
// Errors are *Error, or that of ctx.
func (o *Outputs) AddPicture(
	ctx context.Context, file *File, path string, patches []processing.Patch, options SaveOptions,
) (*Saved, error) {
	if options.Progress == nil {
		options.Progress = func(message.Message, float64) {}
	}
	if options.Limits == (Limits{}) {
		options.Limits = DefaultLimits()
	}
	changed, n, err := changes(file.Picture, patches)
	if err != nil {
		return nil, fault(path, ErrWrite, err, "not written")
	}
	s := &saving{
		ctx: ctx, fsys: o.fsys, file: file, options: options, patches: patches, changed: changed,
		saved: &Saved{Path: path, PixelsChanged: n, Corrected: len(changed)},
	}
	if err := s.plan(); err != nil {
		return nil, err
	}
	target, err := s.target()
	if err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	defer s.source.Close()
	if err := s.prepare(target); err != nil {
		return nil, err
	}
	result := atomicfile.Target{FS: o.fsys, Path: target, Overwrite: options.Overwrite, Keep: s.saved.Kept}
	if err := o.add(ctx, result, s.fill, s.check); err != nil {
		return nil, s.named(err)
	}
	o.after = append(o.after, func() {
		if options.KeepTime {
			KeepTime(target, file.Modified)
		}
		s.saved.State = State(target)
	})
	return s.saved, nil
}

// KeepTime gives a result the modification time of its source, if the system supports that.
func KeepTime(path string, at time.Time) {
	// os.Chtimes takes nanoseconds since 1970, and makes 1901 of a time after 2262.
	if at.Equal(time.Unix(0, at.UnixNano())) {
		_ = os.Chtimes(path, at, at)
	}
}

// KeepAccess gives a file that is being written the permissions and the access control list of a source, and with
// attributes also its user extended attributes.
func KeepAccess(file atomicfile.File, source string, attributes bool) {
	info, err := os.Stat(source)
	if err != nil {
		return // whoever reads the source reports it
	}
	like := &File{Path: source, Mode: info.Mode().Perm()}
	keepAccess(file, like)
	if attributes {
		keepAttributes(file, like)
	}
}

// OriginalName returns the path, beside path, under which a file to be replaced is kept: NAME_original, or
// NAME_original_2 and so on if that is taken.
func OriginalName(path string) string {
	return originalName(path, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

func originalName(path string, taken func(string) bool) string {
	extension := filepath.Ext(path)
	stem := strings.TrimSuffix(path, extension) + "_original"
	name := stem + extension
	for i := 2; taken(name); i++ {
		name = fmt.Sprintf("%s_%d%s", stem, i, extension)
	}
	return name
}

// saving is one run of AddPicture.
type saving struct {
	ctx     context.Context
	fsys    atomicfile.FileSystem
	file    *File
	options SaveOptions
	// patches are all the given patches; changed are reduced to the pixels that differ.
	patches, changed []processing.Patch
	saved            *Saved

	source    *os.File
	container container.Container
	// sourceSum and resultSum wait for the hashes.
	sourceSum, resultSum func() (string, error)
}

// plan chooses the container of the result and how to write it.
func (s *saving) plan() error {
	path, from := s.saved.Path, s.file.Format
	to := formatOf(filepath.Ext(path))
	if to == "" {
		to = s.file.SaveFormat()
	}
	s.saved.Format = to
	switch {
	case to != from && to.row().encode == nil:
		return fault(path, ErrLossy, nil,
			"not written: only a JPEG is saved as JPEG, which loses detail; choose TIFF or PNG")
	case to.row().lossy && !s.options.AllowLossy && len(s.changed) > 0:
		return fault(path, ErrLossy, nil,
			"not written: JPEG loses detail around each changed pixel; choose TIFF or PNG, or allow the loss")
	case to != from:
		s.saved.Method = NewFile
		return s.portable(to)
	case len(s.changed) == 0:
		s.saved.Method = Copied
	}
	s.saved.Lossy = to.row().lossy && len(s.changed) > 0
	return nil
}

// portable reports whether a new file of another container can hold everything in the source.
func (s *saving) portable(to Format) error {
	info := s.file.Info
	refuse := func(what message.Text) error {
		return fault(s.saved.Path, ErrUnsupported, nil,
			"not written: %s would lose %s; keep %s", to, what, s.file.Format)
	}
	switch {
	case info.Extra > 0 || info.Transparent:
		return refuse("the transparency or extra channels")
	case info.Pictures > 1:
		return refuse("all pages but the first")
	case !to.row().cmyk && s.file.Picture.Channels == 4:
		return refuse("the CMYK channels")
	case !to.row().float && s.file.Picture.F32 != nil:
		return refuse("the precision of floating-point samples")
	}
	return nil
}

// target returns the path to be written, and refuses to replace a file without permission.
func (s *saving) target() (string, error) {
	path, there, err := replaceable(s.fsys, s.saved.Path)
	if err != nil || there == nil {
		return path, err
	}
	if source, err := os.Stat(s.file.Path); err == nil && !s.options.Overwrite && os.SameFile(source, there) {
		return "", fault(s.saved.Path, ErrExists, nil, "not written: this is the original itself")
	}
	if s.options.Keep {
		s.saved.Kept = originalName(path, func(path string) bool {
			_, err := s.fsys.Lstat(path)
			return err == nil
		})
	}
	return path, permitted(s.saved.Path, there, s.options.Overwrite, s.options.Expect)
}

// open opens the source, which must be the file that was read.
func (s *saving) open() error {
	path := s.file.Path
	source, info, err := openFile(path)
	if err != nil {
		return err
	}
	s.source = source
	if err := s.unchanged(); err != nil {
		source.Close()
		return err
	}
	_, s.container, err = open(source, info.Size())
	if err != nil {
		source.Close()
		return s.file.fault(s.ctx, err)
	}
	if l, ok := s.container.(container.Learner); ok && s.file.container != nil {
		l.Learn(s.file.container)
	}
	return nil
}

// unchanged reports whether the source still has the size and modification time that it had when it was read.
func (s *saving) unchanged() error {
	info, err := s.source.Stat()
	if err != nil {
		return openError(s.file.Path, err)
	}
	if info.Size() != s.file.Size || !info.ModTime().Equal(s.file.Modified) {
		return changedError(s.file.Path)
	}
	return nil
}

func changedError(path string) error {
	return fault(path, ErrChanged, nil, "the file has changed since it was opened; open it again")
}

// methodOf returns how a file is saved in its own format.
func methodOf(c container.Container) SaveMethod {
	switch c.(type) {
	case container.Patcher:
		return Patched
	case container.Rewriter:
		return Rewritten
	default:
		return NewFile
	}
}

// SaveMethod returns how the file is saved in its own format, unless its pixels can only be changed in a new file.
func (f *File) SaveMethod() SaveMethod { return methodOf(f.container) }

// prepare chooses between patching, rewriting and a new file, and checks the free space.
func (s *saving) prepare(target string) error {
	need := s.file.Size
	if s.saved.Method == "" {
		readonly := s.container.Info().Readonly
		s.saved.Method = methodOf(s.container)
		if readonly != nil {
			// Pixels that cannot be changed in place, such as those of a JPEG within a TIFF, go into a new file of the
			// same format.
			if s.saved.Format.row().encode == nil || s.portable(s.saved.Format) != nil {
				return WriteError(s.saved.Path, readonly)
			}
			s.saved.Method = NewFile
		}
	}
	if s.saved.Method == NewFile {
		s.saved.Dropped = s.file.Dropped(s.saved.Format)
		need = 0
		if s.saved.Format.row().uncompressed {
			need = samplesBytes(s.file.Picture)
		}
	}
	return s.room(target, need)
}

// Dropped names the parts of the file that a new file of a format does not hold.
func (f *File) Dropped(to Format) []message.Message {
	all := slices.Clone(f.Info.Dropped)
	for _, p := range f.Info.Others.Previews {
		if !to.row().carries(p) {
			all = append(all, p.Name())
		}
	}
	if holds := to.row().holdsMakerNote; holds != nil && !holds(f.Picture, f.Info.Meta) {
		all = append(all, message.Of("the places that the camera's maker note points to"))
	}
	return all
}

// samplesBytes returns the memory that the samples of a picture take.
func samplesBytes(p *processing.Picture) int64 {
	return int64(len(p.U8)) + 2*int64(len(p.U16)) + 4*int64(len(p.F32))
}

// room refuses to save a file for which the disk has no space.
func (s *saving) room(target string, need int64) error {
	dir := filepath.Dir(target)
	free := s.fsys.Free(dir)
	if free < 0 || free >= need {
		return nil
	}
	return fault(s.saved.Path, ErrFull, nil,
		"not written: %s are needed in the folder %s, and %s are free", megabytes(need), dir, megabytes(free))
}

func megabytes(n int64) message.Message { return message.Of("%.1f MB", float64(n)/1e6) }

// fill writes the result. The source is hashed at the same time, from data that the copy has just read into the cache.
func (s *saving) fill(f atomicfile.File) error {
	s.progress(0)
	// Reported before anything is read.
	keepAccess(f, s.file)
	keepAttributes(f, s.file)
	if !s.options.SkipProof {
		s.sourceSum = hashing(s.ctx, s.source, s.file.Size)
	}
	if err := s.write(f); err != nil {
		return err
	}
	return s.unchanged()
}

// progress reports which share of the writing is done.
func (s *saving) progress(done float64) {
	s.options.Progress(message.Of("saving"), shareWritten*done)
}

// shareWritten is the approximate share of saving that is done once the result is written but not yet checked.
const shareWritten = 0.5

// untouched reports whether the source is certainly unchanged since it was read; false if the system cannot tell.
func (s *saving) untouched() bool {
	info, err := s.source.Stat()
	return err == nil && s.file.state != "" && stateOf(info) == s.file.state
}

// samePlaces rejects a result in which a strip or tile without a changed pixel is not what it was, byte for byte: that
// is proven without decoding it.
func (s *saving) samePlaces(result container.Container) error {
	source, ok := s.container.(container.Segmented)
	if !ok {
		return nil
	}
	n, err := source.Untouched(s.ctx, result, s.changed)
	if err != nil {
		return s.file.fault(s.ctx, err)
	}
	if n > 0 {
		return s.unproven(message.Of("%d strips or tiles without a corrected pixel changed", n))
	}
	return nil
}

func (s *saving) write(f atomicfile.File) error {
	switch s.saved.Method {
	case Copied, Patched:
		if err := copyFile(s.ctx, f, s.source, s.file.Size, s.progress); err != nil {
			return err
		}
		if s.saved.Method == Copied {
			return nil
		}
		return s.container.(container.Patcher).Patch(s.ctx, f, s.changed)
	case Rewritten:
		return throughBuffer(s.ctx, f, func(w io.Writer) error {
			return s.container.(container.Rewriter).Rewrite(s.ctx, w, s.changed)
		})
	default:
		pic, err := patched(s.ctx, s.file.Picture, s.changed)
		if err != nil {
			return err
		}
		return throughBuffer(s.ctx, f, func(w io.Writer) error {
			return s.saved.Format.row().encode(s.ctx, w, pic, s.file.Info.Meta)
		})
	}
}

// check completes the data about the result and proves it while the system writes it to disk.
func (s *saving) check(f atomicfile.File) error {
	// Not every system can replace an open file, and the source may be the file to be replaced.
	defer s.source.Close()
	s.options.Progress(message.Of("checking"), shareWritten)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s.saved.Bytes = info.Size()
	if s.options.SkipProof {
		return nil
	}
	s.resultSum = s.sourceSum
	if s.saved.Method != Copied {
		s.resultSum = hashing(s.ctx, f, info.Size())
	}
	refused := s.prove(f)
	s.saved.SourceSHA256, err = s.sourceSum()
	var e error
	s.saved.SHA256, e = s.resultSum()
	return errors.Join(refused, err, e)
}

// named sets the path that the user gave in an error about the file.
func (s *saving) named(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Path != s.file.Path {
		e.Path = s.saved.Path
	}
	return err
}

// copyBlock is the number of bytes copied between two checks of the context.
const copyBlock = 16 << 20

// copyFile copies a file in the cheapest way available: sharing blocks, copying within the kernel, or through memory.
// progress receives the share done.
func copyFile(ctx context.Context, dst atomicfile.File, src *os.File, size int64, progress func(float64)) error {
	if d, ok := dst.(*atomicfile.OSFile); ok && clone(d.File, src) == nil {
		return nil
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for left := size; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		progress(1 - float64(left)/float64(size))
		// Between two *os.File this uses copy_file_range or an equivalent.
		n, err := io.CopyN(dst, src, min(left, copyBlock))
		left -= n
		if err == io.EOF {
			return changedError(src.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hashing starts computing the SHA-256 of a file, and returns a function that waits for it.
func hashing(ctx context.Context, r io.ReaderAt, size int64) func() (string, error) {
	sum := sync.OnceValues(func() (string, error) {
		h := sha256.New()
		_, err := io.CopyBuffer(cancelWriter{ctx, h}, io.NewSectionReader(r, 0, size), make([]byte, 1<<20))
		return hex.EncodeToString(h.Sum(nil)), err
	})
	go sum()
	return sum
}

// SHA256 returns the hexadecimal SHA-256 of a file.
func SHA256(ctx context.Context, path string) (string, error) {
	file, info, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum, err := hashing(ctx, file, info.Size())()
	if err != nil {
		return "", openError(path, err)
	}
	return sum, nil
}
