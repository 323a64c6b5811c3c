package processing

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blik/internal/message"
)

// Mode says who chooses the parameters of detection.
type Mode uint8

const (
	// Adaptive measures the picture and chooses everything but the sensitivity and the cleanup.
	Adaptive Mode = iota
	// Manual uses the parameters as they are set.
	Manual
)

// Detector says what decides which spots are glare.
type Detector uint8

// The detectors.
const (
	// DetectorAuto is the network, and in manual mode the classical detector, whose parameters are those of that mode.
	DetectorAuto Detector = iota
	// DetectorClassic is the classical detector in both modes.
	DetectorClassic
)

// UsesNetwork reports whether the network decides.
func (p Params) UsesNetwork() bool { return p.Mode == Adaptive && p.Detector == DetectorAuto }

// Consent says what a correction may change that nobody watches.
type Consent uint8

const (
	// ConsentCertain leaves findings alone that a person should look at (Evidence.Check).
	ConsentCertain Consent = iota
	// ConsentAll corrects all findings.
	ConsentAll
)

// Params are the parameters of detection and correction. Specs describes every field: name, range, unit, default and
// help.
type Params struct {
	Mode        Mode
	Detector    Detector
	Sensitivity float64

	Scale         float64
	Window        int
	Visible       float64
	Relative      float64
	Contrast      float64
	Level         int
	Core          float64
	MinArea       int
	MaxArea       int
	MaxElongation float64

	Open    int
	Close   int
	Fill    bool
	Margin  int
	Feather float64

	Method     Method
	Halo       int
	Blend      float64
	Grain      float64
	OnlyDarken bool

	Consent  Consent
	Coverage float64

	// Learned adjusts the decision to the user's own pictures (blik learn); nil for the default one. Only presets carry
	// it: it cannot be set by hand.
	Learned *Learned
}

// Stage is what a parameter belongs to: detection or correction.
type Stage uint8

// The stages.
const (
	StageDetection Stage = iota
	StageCorrection
)

// SpecKind is the type of a parameter's value.
type SpecKind uint8

// The kinds of values. All are passed as float64: a switch is 0 or 1, a choice is its index.
const (
	KindInt SpecKind = iota
	// KindOdd is an odd whole number: the side of a window.
	KindOdd
	KindReal
	KindSwitch
	KindChoice
)

// Group puts parameters that belong together under one heading.
type Group struct {
	ID   string
	Name message.Message
}

// Choice is one value of a KindChoice parameter.
type Choice struct {
	ID   string
	Name message.Message
}

// SpecStop is a named value of a parameter.
type SpecStop struct {
	ID    string
	Name  message.Message
	Value float64
}

// Spec describes one parameter. The form in the window, the flag of the command line and the manual are made from it.
type Spec struct {
	// ID is the name of the flag and of the preset's field: lower case, words joined by hyphens.
	ID         string
	Stage      Stage
	Group      Group
	Name, Help message.Message
	// Unit is empty if the value has none.
	Unit message.Message
	Kind SpecKind
	// Min and Max bound the value, both included. Step is a sensible increment of a slider.
	Min, Max, Step float64
	Choices        []Choice
	// Former maps the IDs of choices that no longer exist to the choices that stand for them; Parse takes them, too.
	Former map[string]string
	// Stops are values with a name; Parse takes their IDs, too.
	Stops []SpecStop
	// Manual: only manual mode reads it; adaptive mode chooses the value itself.
	Manual bool
	// used is Used; nil is what Manual says.
	used  func(Params) bool
	field func(*Params) any
}

// Get returns the value of the parameter in p.
func (s Spec) Get(p Params) float64 {
	switch f := reflect.ValueOf(s.field(&p)).Elem(); {
	case f.CanInt():
		return float64(f.Int())
	case f.CanUint():
		return float64(f.Uint())
	case f.CanFloat():
		return f.Float()
	default:
		return number(f.Bool())
	}
}

// number is 1 for true, 0 for false.
func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Check returns an error if v is not a value of the parameter.
func (s Spec) Check(v float64) error {
	bad := func(what string) error { return fmt.Errorf("%s = %g: %s", s.ID, v, what) }
	switch {
	case math.IsNaN(v) || v < s.Min || v > s.Max:
		return bad(fmt.Sprintf("must be between %g and %g", s.Min, s.Max))
	case s.Kind != KindReal && v != math.Trunc(v):
		return bad("must be a whole number")
	case s.Kind == KindOdd && int(v)%2 == 0:
		return bad("a window's side must be odd, so that it has a middle pixel")
	}
	return nil
}

// Set changes the parameter in p, or returns what is wrong with v and leaves p unchanged.
func (s Spec) Set(p *Params, v float64) error {
	if err := s.Check(v); err != nil {
		return err
	}
	switch f := reflect.ValueOf(s.field(p)).Elem(); {
	case f.CanInt():
		f.SetInt(int64(v))
	case f.CanUint():
		f.SetUint(uint64(v))
	case f.CanFloat():
		f.SetFloat(v)
	default:
		f.SetBool(v != 0)
	}
	return nil
}

// Used reports whether the mode and the detector of p leave a use for the parameter.
func (s Spec) Used(p Params) bool {
	if s.used != nil {
		return s.used(p)
	}
	return !s.Manual || p.Mode == Manual
}

// Default returns the value in DefaultParams.
func (s Spec) Default() float64 { return s.Get(DefaultParams()) }

// Format returns v as the command line and the presets write it: a number, true or false, or the choice's ID.
func (s Spec) Format(v float64) string {
	switch s.Kind {
	case KindSwitch:
		return strconv.FormatBool(v != 0)
	case KindChoice:
		return s.Choices[int(v)].ID
	default:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
}

// ChoiceIDs lists the values of a choice.
func (s Spec) ChoiceIDs() []string {
	ids := make([]string, len(s.Choices))
	for i, c := range s.Choices {
		ids[i] = c.ID
	}
	return ids
}

// Parse is the inverse of Format. A comma counts as a decimal point. The value is checked.
func (s Spec) Parse(text string) (float64, error) {
	text = strings.TrimSpace(text)
	switch s.Kind {
	case KindSwitch:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return 0, fmt.Errorf("%s = %q: must be true or false", s.ID, text)
		}
		return number(b), nil
	case KindChoice:
		if now, ok := s.Former[text]; ok {
			text = now
		}
		ids := s.ChoiceIDs()
		if i := slices.Index(ids, text); i >= 0 {
			return float64(i), nil
		}
		return 0, fmt.Errorf("%s = %q: must be one of %s", s.ID, text, strings.Join(ids, ", "))
	default:
		for _, stop := range s.Stops {
			if stop.ID == text {
				return stop.Value, nil
			}
		}
		v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
		if err != nil {
			return 0, fmt.Errorf("%s = %q: must be a number", s.ID, text)
		}
		return v, s.Check(v)
	}
}

// DefaultParams returns the parameters of adaptive mode; the manual fields hold the values that it uses.
func DefaultParams() Params {
	return Params{
		Mode: Adaptive, Scale: 1, Window: 11, Visible: 8, Relative: 25, Contrast: 50, Level: 150, Core: 45,
		MinArea: 1, MaxArea: 4000, MaxElongation: 6, Fill: true,
		Halo: 2, Blend: 25, Grain: 50, Coverage: 2,
	}
}

// Validate checks every parameter.
func (p Params) Validate() error {
	for _, s := range Specs() {
		if err := s.Check(s.Get(p)); err != nil {
			return err
		}
	}
	return nil
}

// SpecByID returns the description of one parameter.
func SpecByID(id string) (Spec, bool) {
	for _, s := range Specs() {
		if s.ID == id {
			return s, true
		}
	}
	return Spec{}, false
}

// SpecsOf describes the parameters of one stage, in the order of Specs.
func SpecsOf(stage Stage) []Spec {
	return slices.DeleteFunc(Specs(), func(s Spec) bool { return s.Stage != stage })
}

// WithStage returns p with the parameters of one stage replaced by those of others, which must be valid.
func (p Params) WithStage(stage Stage, others Params) Params {
	for _, s := range SpecsOf(stage) {
		// Values of valid parameters cause no error.
		_ = s.Set(&p, s.Get(others))
	}
	return p
}

// Specs describes every parameter, in the order in which a form shows them.
func Specs() []Spec {
	return slices.Concat(modeSpecs(), searchSpecs(), decisionSpecs(), cleanupSpecs(), correctionSpecs(),
		unattendedSpecs())
}

func modeSpecs() []Spec {
	group := Group{"mode", message.Of("Mode")}
	return []Spec{
		{ID: "mode", Group: group, Kind: KindChoice, Min: 0, Max: 1, Step: 1,
			Name:    message.Of("Mode"),
			Choices: []Choice{{"adaptive", message.Of("adaptive")}, {"manual", message.Of("manual")}},
			field:   func(p *Params) any { return &p.Mode },
			Help: message.Of("Adaptive measures the picture and chooses every value itself; manual uses the " +
				"values below.")},
		{ID: "detector", Group: group, Kind: KindChoice, Min: 0, Max: 1, Step: 1,
			Name:    message.Of("Detector"),
			Choices: []Choice{{"auto", message.Of("auto")}, {"classic", message.Of("classical")}},
			Former:  map[string]string{"network": "auto", "joined": "auto"},
			field:   func(p *Params) any { return &p.Detector },
			used:    func(p Params) bool { return p.Mode == Adaptive },
			Help: message.Of("What decides which spots are glare. Auto is the network; in manual mode it is the " +
				"classical detector, to which the manual parameters belong.")},
		{ID: "sensitivity", Group: group, Kind: KindReal, Min: -5, Max: 5, Step: 0.1,
			Name: message.Of("Sensitivity"), field: func(p *Params) any { return &p.Sensitivity },
			used: Params.UsesNetwork, Stops: sensitivityStops(), Help: sensitivityHelp()},
	}
}

func searchSpecs() []Spec {
	group := Group{"search", message.Of("Search")}
	px, white := message.Of("px"), message.Of("% of white")
	return []Spec{
		{ID: "scale", Group: group, Kind: KindReal, Min: 0.5, Max: 4, Step: 0.5, Manual: true,
			Name: message.Of("Scale"), field: func(p *Params) any { return &p.Scale },
			Help: message.Of("Radius of the largest glare, in units of 12 px: 2 is for glare of up to 24 px " +
				"radius. All windows scale with it.")},
		{ID: "window", Group: group, Kind: KindOdd, Min: 3, Max: 63, Step: 2, Manual: true, Unit: px,
			Name: message.Of("Background window"), field: func(p *Params) any { return &p.Window },
			Help: message.Of("Side of the square over which the background is averaged; odd. Where glare fills " +
				"the square, squares up to about 6 times as large are used.")},
		{ID: "visible", Group: group, Kind: KindReal, Min: 1, Max: 90, Step: 0.5, Manual: true, Unit: white,
			Name: message.Of("Visible contrast"), field: func(p *Params) any { return &p.Visible },
			Help: message.Of("How much brighter than the background a pixel must be to belong to glare, in " +
				"linear light.")},
		{ID: "relative", Group: group, Kind: KindReal, Min: 0, Max: 200, Step: 1, Manual: true,
			Unit: message.Of("% of background"),
			Name: message.Of("Relative contrast"), field: func(p *Params) any { return &p.Relative },
			Help: message.Of("The same as a share of the background's own luminance. A pixel must exceed both " +
				"limits.")},
		{ID: "contrast", Group: group, Kind: KindReal, Min: 1, Max: 95, Step: 0.5, Manual: true, Unit: white,
			Name: message.Of("Seed contrast"), field: func(p *Params) any { return &p.Contrast },
			Help: message.Of("How much brighter than the background at least one pixel of a finding must be.")},
		{ID: "level", Group: group, Kind: KindInt, Min: 0, Max: 255, Step: 1, Manual: true,
			Name: message.Of("Seed level"), field: func(p *Params) any { return &p.Level },
			Help: message.Of("How bright the brightest pixel of a finding must be: the mean of its luminance and " +
				"its darkest channel, in levels from 0 to 255.")},
		{ID: "core", Group: group, Kind: KindReal, Min: 10, Max: 95, Step: 1, Manual: true,
			Unit: message.Of("% of peak"),
			Name: message.Of("Core share"), field: func(p *Params) any { return &p.Core },
			Help: message.Of("A finding grows from its core. This is how strong the contrast of a core pixel " +
				"must be, compared with the strongest contrast nearby.")},
	}
}

func decisionSpecs() []Spec {
	group := Group{"decide", message.Of("Decision")}
	px := message.Of("px")
	return []Spec{
		{ID: "min-area", Group: group, Kind: KindInt, Min: 1, Max: 1000, Step: 1, Manual: true, Unit: px,
			Name: message.Of("Smallest area"), field: func(p *Params) any { return &p.MinArea },
			Help: message.Of("Smaller findings are dropped.")},
		{ID: "max-area", Group: group, Kind: KindInt, Min: 1, Max: 100000, Step: 10, Manual: true, Unit: px,
			Name: message.Of("Largest area"), field: func(p *Params) any { return &p.MaxArea },
			Help: message.Of("Larger findings are dropped.")},
		{ID: "max-elongation", Group: group, Kind: KindReal, Min: 1, Max: 100, Step: 0.5, Manual: true,
			Name: message.Of("Largest elongation"), field: func(p *Params) any { return &p.MaxElongation },
			Help: message.Of("Ratio of the long axis of a finding to the short one; more elongated findings " +
				"count as brush strokes and are dropped.")},
	}
}

func cleanupSpecs() []Spec {
	group := Group{"cleanup", message.Of("Mask cleanup")}
	px := message.Of("px")
	return []Spec{
		{ID: "open", Group: group, Kind: KindInt, Min: 0, Max: 50, Step: 1, Unit: px,
			Name: message.Of("Opening radius"), field: func(p *Params) any { return &p.Open },
			Help: message.Of("Removes parts of the mask narrower than a square of this radius; 0 is off.")},
		{ID: "close", Group: group, Kind: KindInt, Min: 0, Max: 50, Step: 1, Unit: px,
			Name: message.Of("Closing radius"), field: func(p *Params) any { return &p.Close },
			Help: message.Of("Bridges gaps of the mask narrower than a square of this radius; 0 is off.")},
		{ID: "fill", Group: group, Kind: KindSwitch, Min: 0, Max: 1, Step: 1,
			Name: message.Of("Fill holes"), field: func(p *Params) any { return &p.Fill },
			Help: message.Of("Fills holes inside findings.")},
		{ID: "margin", Group: group, Kind: KindInt, Min: 0, Max: 50, Step: 1, Unit: px,
			Name: message.Of("Margin"), field: func(p *Params) any { return &p.Margin },
			Help: message.Of("Grows the mask on all sides to include the halo of the glare.")},
		{ID: "feather", Group: group, Kind: KindReal, Min: 0, Max: 20, Step: 0.5, Unit: px,
			Name: message.Of("Feather"), field: func(p *Params) any { return &p.Feather },
			Help: message.Of("Softens the edge of the mask with a Gaussian of this standard deviation; 0 leaves " +
				"it hard (0 or 255).")},
	}
}

func correctionSpecs() []Spec {
	group := Group{"correct", message.Of("Correction")}
	var methods []Choice
	for _, row := range methodRows() {
		methods = append(methods, Choice{row.id, row.name})
	}
	px := message.Of("px")
	return []Spec{
		{ID: "method", Stage: StageCorrection, Group: group, Kind: KindChoice, Min: 0, Max: float64(methodCount - 1),
			Step: 1,
			Name: message.Of("Method"), Choices: methods, Former: formerMethods(),
			field: func(p *Params) any { return &p.Method },
			Help: message.Of("How a finding is corrected; auto chooses by its size and by how much of it is " +
				"clipped.")},
		{ID: "halo", Stage: StageCorrection, Group: group, Kind: KindInt, Min: 0, Max: 20, Step: 1, Unit: px,
			Name: message.Of("Halo"), field: func(p *Params) any { return &p.Halo },
			Help: message.Of("How far correction may reach beyond the mask, for the faint halo of the glare; 0 " +
				"changes nothing outside the mask. If the picture shows a veil around large glints, it is removed " +
				"as far as it reaches.")},
		{ID: "blend", Stage: StageCorrection, Group: group, Kind: KindReal, Min: 0, Max: 100, Step: 5,
			Unit: message.Of("% of radius"),
			Name: message.Of("Soft edge"), field: func(p *Params) any { return &p.Blend },
			Help: message.Of("Width of the transition from the correction to the untouched picture, as a share " +
				"of the finding's radius; at most half the halo.")},
		{ID: "grain", Stage: StageCorrection, Group: group, Kind: KindReal, Min: 0, Max: 200, Step: 5,
			Unit: message.Of("%"),
			Name: message.Of("Grain"), field: func(p *Params) any { return &p.Grain },
			Help: message.Of("How much of the surrounding texture is added to a filled area; 0 leaves it smooth.")},
		{ID: "only-darken", Stage: StageCorrection, Group: group, Kind: KindSwitch, Min: 0, Max: 1, Step: 1,
			Name: message.Of("Only darken"), field: func(p *Params) any { return &p.OnlyDarken },
			Help: message.Of("Never makes a pixel brighter than it was.")},
	}
}

func unattendedSpecs() []Spec {
	group := Group{"unattended", message.Of("Without anyone watching")}
	return []Spec{
		{ID: "correct", Stage: StageCorrection, Group: group, Kind: KindChoice, Min: 0, Max: 1, Step: 1,
			Name: message.Of("Correct"),
			Choices: []Choice{
				{"certain", message.Of("certain findings")}, {"all", message.Of("all findings")},
			},
			field: func(p *Params) any { return &p.Consent },
			Help: message.Of("Which findings are corrected when many files are processed or on the command line. " +
				"“certain” leaves those alone that a person should look at: probably not glare, or large and not " +
				"certain. The report lists them.")},
		{ID: "coverage", Stage: StageCorrection, Group: group, Kind: KindReal, Min: 0, Max: 100, Step: 0.5,
			Unit: message.Of("% of the picture"),
			Name: message.Of("Largest coverage"), field: func(p *Params) any { return &p.Coverage },
			Help: message.Of("A picture of which more is marked than this is not corrected when nobody watches.")},
	}
}
