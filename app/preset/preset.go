// Package preset stores the parameters of detection and correction as JSON that other versions of the program can read
// or refuse.
//
//	{
//	  "format": "blik preset",
//	  "version": 1,
//	  "values": { "mode": "manual", "window": 11, "fill": true, … }
//	}
//
// The keys are the IDs of processing.Specs; values are numbers, true or false, or the ID of a choice. Missing values
// have their defaults, so that a preset need only contain the values that matter. A preset of "blik learn" has version
// 2 and also holds "learned" (processing.Learned).
package preset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"blik/app/imagefile"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/network"
)

// format is what Encode writes; version is the newest that Decode reads. Encode writes version 1 wherever it is enough,
// for older versions of the program.
const (
	format  = "blik preset"
	version = 2
)

// maxBytes bounds a preset file; a complete preset has less than a thousand bytes, or about twenty thousand with a
// learned part.
const maxBytes = 1 << 20

// ErrNewer is the cause of the error for a preset or a project written by a newer version of the program.
var ErrNewer = errors.New("newer version")

// Error describes what is wrong with a preset.
type Error struct {
	// Path is empty if the preset did not come from a file.
	Path  string
	Fault message.Message
	Cause error
}

func (e *Error) Error() string { return e.Message().String() }

func (e *Error) Message() message.Message {
	if e.Path == "" {
		return e.Fault
	}
	return message.Of("%s: %s", e.Path, e.Fault)
}

func (e *Error) Unwrap() error { return e.Cause }

func fault(cause error, format message.Text, args ...any) *Error {
	return &Error{Fault: message.Of(format, args...), Cause: cause}
}

// Encode returns all parameters as JSON, one value a line, in the order of processing.Specs.
func Encode(p processing.Params) []byte {
	var b bytes.Buffer
	version := 1
	if p.Learned != nil {
		version = 2
	}
	fmt.Fprintf(&b, "{\n  \"format\": %q,\n  \"version\": %d,\n  \"values\": {", format, version)
	for i, s := range processing.Specs() {
		if i > 0 {
			b.WriteByte(',')
		}
		value := s.Format(s.Get(p))
		if s.Kind == processing.KindChoice {
			value = fmt.Sprintf("%q", value)
		}
		fmt.Fprintf(&b, "\n    %q: %s", s.ID, value)
	}
	b.WriteString("\n  }")
	// JSON has no infinities or NaN; Write refuses them.
	if text, err := json.Marshal(p.Learned); p.Learned != nil && err == nil {
		fmt.Fprintf(&b, ",\n  \"learned\": %s", text)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// Decode is the inverse of Encode. It refuses other formats, newer versions, unknown parameters, and values of a wrong
// type or out of range, each with an *Error. The remark, empty for none, says which values of older versions of the
// program no longer exist.
func Decode(data []byte) (p processing.Params, remark message.Message, err error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	// Editors of some systems put a byte order mark before UTF-8.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := json.Unmarshal(data, &head); err != nil {
		var wrong *json.UnmarshalTypeError
		if !errors.As(err, &wrong) {
			return p, remark, invalid(data, err)
		}
		head.Format = ""
	}
	switch {
	case head.Format != format || head.Version < 1:
		return p, remark, fault(nil, "this is not a preset of Blik")
	case head.Version > version:
		return p, remark, fault(ErrNewer,
			"the preset has version %d, written by a newer Blik; this one reads up to version %d",
			head.Version, version)
	}

	var body struct {
		Format  string                     `json:"format"`
		Version int                        `json:"version"`
		Values  map[string]json.RawMessage `json:"values"`
		Learned *processing.Learned        `json:"learned"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return p, remark, invalid(data, err)
	}
	p = processing.DefaultParams()
	var remarks []message.Message
	byNetwork := false
	for _, s := range processing.Specs() {
		raw, ok := body.Values[s.ID]
		if !ok {
			continue
		}
		if m := Former(s, strings.Trim(string(raw), `"`)); !m.IsZero() {
			remarks = append(remarks, m)
			byNetwork = byNetwork || s.ID == "detector"
		}
		delete(body.Values, s.ID)
		v, ok := parse(s, raw)
		if !ok || s.Set(&p, v) != nil {
			text, allowed := shorten(raw), Allowed(s)
			return processing.Params{}, remark, fault(nil, "the preset sets %s to %s: %s", s.ID, text, allowed)
		}
	}
	_, scored := body.Values["score"]
	delete(body.Values, "score")
	var rules []string
	for _, id := range FormerRules() {
		// They decided in manual mode only, where they were on.
		if raw := string(body.Values[id]); p.Mode == processing.Manual && raw != "" && raw != "0" && raw != "false" {
			rules = append(rules, id)
		}
		delete(body.Values, id)
	}
	if len(rules) > 0 {
		remarks = append(remarks, WithoutRules(rules))
	}
	switch {
	case byNetwork:
		// The detectors that are gone were the network, whatever the mode.
		p.Mode = processing.Adaptive
	case scored && p.Mode == processing.Manual:
		withoutScore(&p)
		remarks = append(remarks, message.Of("the classical detector no longer has a score; where the preset had the "+
			"defaults of then, those of today are used"))
	}
	remark = message.Join("; ", remarks...)
	for id := range body.Values {
		return p, remark, fault(nil, "the preset sets %q, which is not a parameter", id)
	}
	if p.Learned = body.Learned; p.Learned != nil {
		model, err := network.Default()
		if err != nil {
			return p, remark, err
		}
		if err := p.Learned.Validate(model); err != nil {
			var sentence message.Localizable
			if !errors.As(err, &sentence) {
				return p, remark, err
			}
			return p, remark, &Error{Fault: sentence.Message(), Cause: err}
		}
	}
	return p, remark, nil
}

// Former returns a remark on a value of a parameter that no longer exists, or an empty one.
func Former(s processing.Spec, text string) message.Message {
	now, gone := s.Former[text]
	switch {
	case !gone:
		return message.Message{}
	case s.ID == "detector":
		return message.Of("the detector %q no longer exists; the network of auto is used", text)
	}
	return message.Of("the correction method %q no longer exists; %q is used", text, now)
}

// FormerRules returns the IDs of the parameters of rules that no longer exist; 0 and false turned a rule off.
func FormerRules() []string { return []string{"min-z", "min-top-hat", "min-line", "colour-gate"} }

// WithoutRules returns a remark on rules that no longer exist.
func WithoutRules(ids []string) message.Message {
	return message.Of("rules that no longer exist are ignored: %s", strings.Join(ids, ", "))
}

// withoutScore replaces the defaults of an older version, whose classical detector had a score that rejected most of
// what they let through, by those of today.
func withoutScore(p *processing.Params) {
	today := processing.DefaultParams()
	if p.Contrast == 15 {
		p.Contrast = today.Contrast
	}
	if p.Level == 120 {
		p.Level = today.Level
	}
	if p.MaxElongation == 40 {
		p.MaxElongation = today.MaxElongation
	}
}

// invalid describes an error of package json in a sentence.
func invalid(data []byte, err error) *Error {
	var (
		syntax *json.SyntaxError
		wrong  *json.UnmarshalTypeError
	)
	const unknown = "json: unknown field "
	switch {
	case errors.As(err, &syntax):
		line, column := position(data, syntax.Offset)
		return fault(err, "the preset is not valid JSON at line %d, column %d", line, column)
	case errors.As(err, &wrong):
		line, column := position(data, wrong.Offset)
		return fault(err, "the preset has a value of the wrong kind in line %d, column %d", line, column)
	case strings.HasPrefix(err.Error(), unknown):
		name := strings.TrimPrefix(err.Error(), unknown)
		return fault(err, "the preset has an unknown entry %s", name)
	}
	return fault(err, "the preset is not valid JSON: it ends too early")
}

// position returns the line and the column of an offset, from 1.
func position(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// parse reads a JSON value of the parameter's type.
func parse(s processing.Spec, raw json.RawMessage) (v float64, ok bool) {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return 0, false
	}
	switch value := value.(type) {
	case bool:
		if value {
			v = 1
		}
		return v, s.Kind == processing.KindSwitch
	case string:
		v, err := s.Parse(value)
		return v, err == nil && s.Kind == processing.KindChoice
	case float64:
		return value, s.Kind != processing.KindSwitch && s.Kind != processing.KindChoice
	}
	return 0, false
}

// shorten shortens a value for use in a sentence.
func shorten(raw json.RawMessage) string {
	if r := []rune(string(raw)); len(r) > 30 {
		return string(r[:30]) + "…"
	}
	return string(raw)
}

// Allowed describes the allowed values of a parameter: "must be an odd whole number between 3 and 63 px".
func Allowed(s processing.Spec) message.Message {
	lo, hi := s.Format(s.Min), s.Format(s.Max)
	between := message.Of("between %s and %s", lo, hi)
	if !s.Unit.IsZero() {
		between = message.Of("between %s and %s %s", lo, hi, s.Unit)
	}
	switch s.Kind {
	case processing.KindSwitch:
		return message.Of("must be true or false")
	case processing.KindChoice:
		list := strings.Join(s.ChoiceIDs(), ", ")
		return message.Of("must be one of %s", list)
	case processing.KindOdd:
		return message.Of("must be an odd whole number %s", between)
	case processing.KindInt:
		return message.Of("must be a whole number %s", between)
	default:
		return message.Of("must be a number %s", between)
	}
}

// Read reads the preset in the file at path; for the remark see Decode.
func Read(path string) (processing.Params, message.Message, error) {
	data, err := readFile(path)
	if err != nil {
		return processing.Params{}, message.Message{}, err
	}
	p, remark, err := Decode(data)
	if e, ok := errors.AsType[*Error](err); ok {
		e.Path = path
	}
	return p, remark, err
}

func readFile(path string) ([]byte, error) {
	failed := func(cause error, format message.Text, args ...any) error {
		e := fault(cause, format, args...)
		e.Path = path
		return e
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failed(err, "no such file")
	case err == nil && !info.Mode().IsRegular():
		return nil, failed(nil, "this is not a preset file")
	}
	var data []byte
	file, err := os.Open(path)
	if err == nil {
		defer file.Close()
		data, err = io.ReadAll(io.LimitReader(file, maxBytes+1))
	}
	switch {
	case err != nil:
		return nil, failed(err, "the file cannot be read")
	case len(data) > maxBytes:
		return nil, failed(nil, "this is too large to be a preset")
	}
	return data, nil
}

// Write stores p in the file at path atomically.
func Write(ctx context.Context, path string, p processing.Params) error {
	if err := p.Validate(); err != nil {
		return err
	}
	return imagefile.WriteFile(ctx, path, imagefile.WriteOptions{Overwrite: true}, func(w io.Writer) error {
		_, err := w.Write(Encode(p))
		return err
	})
}
