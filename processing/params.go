package processing

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Text is a user-visible text in the languages of the program.
type Text struct{ EN, RU string }

// In returns the text in the language with the given ISO 639-1 code, English where there is none.
func (t Text) In(lang string) string {
	if lang == "ru" && t.RU != "" {
		return t.RU
	}
	return t.EN
}

// Mode says who chooses the parameters of detection.
type Mode uint8

const (
	// Adaptive measures the picture and chooses everything but the sensitivity and the cleanup.
	Adaptive Mode = iota
	// Manual uses the parameters as they are set.
	Manual
)

// Params are the parameters of detection and correction. Specs describes every field: name, range, unit, default and help.
type Params struct {
	Mode        Mode
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
	Score         float64
	MinZ          float64
	MinTopHat     float64
	MinLine       float64
	ColourGate    bool

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
}

// Stage says what a parameter belongs to.
type Stage uint8

// The stages.
const (
	StageDetection Stage = iota
	StageCorrection
)

// SpecKind is the type of a parameter's value.
type SpecKind uint8

// The kinds of values. All are carried as float64: a switch is 0 or 1, a choice is its index.
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
	Name Text
}

// Choice is one value of a KindChoice parameter.
type Choice struct {
	ID   string
	Name Text
}

// Spec describes one parameter. The window's form, the command line's flag and the manual are made from it.
type Spec struct {
	// ID is the name of the flag and of the preset's field: lower case, words joined by hyphens.
	ID         string
	Stage      Stage
	Group      Group
	Name, Help Text
	// Unit is empty where the value has none.
	Unit Text
	Kind SpecKind
	// Min and Max bound the value, both included. Step is a sensible increment of a slider.
	Min, Max, Step float64
	Choices        []Choice
	// Manual: only manual mode reads it; adaptive mode chooses the value itself.
	Manual bool
	field  func(*Params) any
}

// Get returns the value of the parameter in p.
func (s Spec) Get(p Params) float64 {
	switch f := s.field(&p).(type) {
	case *int:
		return float64(*f)
	case *float64:
		return *f
	case *bool:
		if *f {
			return 1
		}
		return 0
	case *Mode:
		return float64(*f)
	case *Method:
		return float64(*f)
	}
	panic("processing: parameter " + s.ID + " has a field of an unknown type")
}

// Check says in one sentence what is wrong with v as a value of the parameter.
func (s Spec) Check(v float64) error {
	bad := func(what string) error {
		return fmt.Errorf("%s = %s: %s", s.ID, strconv.FormatFloat(v, 'g', -1, 64), what)
	}
	switch {
	case math.IsNaN(v) || v < s.Min || v > s.Max:
		return bad(fmt.Sprintf("must be between %s and %s",
			strconv.FormatFloat(s.Min, 'g', -1, 64), strconv.FormatFloat(s.Max, 'g', -1, 64)))
	case s.Kind != KindReal && v != math.Trunc(v):
		return bad("must be a whole number")
	case s.Kind == KindOdd && int(v)%2 == 0:
		return bad("a window's side must be odd, so that it has a middle pixel")
	}
	return nil
}

// Set changes the parameter in p, or says what is wrong with v and leaves p alone.
func (s Spec) Set(p *Params, v float64) error {
	if err := s.Check(v); err != nil {
		return err
	}
	switch f := s.field(p).(type) {
	case *int:
		*f = int(v)
	case *float64:
		*f = v
	case *bool:
		*f = v != 0
	case *Mode:
		*f = Mode(v)
	case *Method:
		*f = Method(v)
	}
	return nil
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

// Parse is the inverse of Format. A comma counts as a decimal point. The value is checked.
func (s Spec) Parse(text string) (float64, error) {
	text = strings.TrimSpace(text)
	switch s.Kind {
	case KindSwitch:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return 0, fmt.Errorf("%s = %q: must be true or false", s.ID, text)
		}
		if b {
			return 1, nil
		}
		return 0, nil
	case KindChoice:
		ids := make([]string, len(s.Choices))
		for i, c := range s.Choices {
			if c.ID == text {
				return float64(i), nil
			}
			ids[i] = c.ID
		}
		return 0, fmt.Errorf("%s = %q: must be one of %s", s.ID, text, strings.Join(ids, ", "))
	default:
		v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
		if err != nil {
			return 0, fmt.Errorf("%s = %q: must be a number", s.ID, text)
		}
		return v, s.Check(v)
	}
}

// DefaultParams returns adaptive mode with nothing to set; the manual fields hold what adaptive mode chooses on a
// picture of ordinary scale.
func DefaultParams() Params {
	return Params{
		Mode: Adaptive, Scale: 1, Window: 11, Visible: 8, Relative: 25, Contrast: 15, Level: 120, Core: 45,
		MinArea: 1, MaxArea: 4000, MaxElongation: 40, Fill: true,
		Halo: 2, Blend: 25, Grain: 50,
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

// Specs describes every parameter, in the order in which a form shows them.
func Specs() []Spec {
	var (
		mode    = Group{"mode", Text{"Mode", "Режим"}}
		search  = Group{"search", Text{"Search", "Поиск"}}
		decide  = Group{"decide", Text{"Decision", "Отбор"}}
		cleanup = Group{"cleanup", Text{"Mask cleanup", "Обработка маски"}}
		correct = Group{"correct", Text{"Correction", "Исправление"}}
		px      = Text{"px", "пкс"}
		white   = Text{"% of white", "% белого"}
	)
	return []Spec{
		{
			ID: "mode", Group: mode, Kind: KindChoice, Min: 0, Max: 1, Step: 1,
			Name: Text{"Mode", "Режим"},
			Help: Text{
				"Adaptive measures the picture and chooses every value itself; manual uses the values below.",
				"Адаптивный режим измеряет картину и сам выбирает все значения; ручной использует значения ниже.",
			},
			Choices: []Choice{{"adaptive", Text{"adaptive", "адаптивный"}}, {"manual", Text{"manual", "ручной"}}},
			field:   func(p *Params) any { return &p.Mode },
		},
		{
			ID: "sensitivity", Group: mode, Kind: KindReal, Min: -5, Max: 5, Step: 0.1,
			Name: Text{"Sensitivity", "Чувствительность"},
			Help: Text{
				"Added to every score: higher finds more and fainter glare, lower only what is certain.",
				"Прибавляется к каждой оценке: больше — найдёт больше слабых бликов, меньше — только несомненные.",
			},
			field: func(p *Params) any { return &p.Sensitivity },
		},
		{
			ID: "scale", Group: search, Kind: KindReal, Min: 0.5, Max: 4, Step: 0.5, Manual: true,
			Name: Text{"Scale", "Масштаб"},
			Help: Text{
				"Size of the largest glints in units of 12 px radius; every window grows with it.",
				"Размер самых больших бликов в единицах радиуса 12 пкс; с ним растут все окна.",
			},
			field: func(p *Params) any { return &p.Scale },
		},
		{
			ID: "window", Group: search, Kind: KindOdd, Min: 3, Max: 63, Step: 2, Manual: true, Unit: px,
			Name: Text{"Background window", "Окно фона"},
			Help: Text{
				"Side of the smallest window that the background is averaged over; odd. Larger ones, up to about 6 times, are used where glare fills it.",
				"Сторона наименьшего окна, по которому усредняется фон; нечётная. Там, где его заполняет блик, берутся окна до 6 раз больше.",
			},
			field: func(p *Params) any { return &p.Window },
		},
		{
			ID: "visible", Group: search, Kind: KindReal, Min: 1, Max: 90, Step: 0.5, Manual: true, Unit: white,
			Name: Text{"Visible contrast", "Видимый контраст"},
			Help: Text{
				"Rise of linear luminance over the background from which a pixel may belong to glare.",
				"Превышение линейной яркости над фоном, с которого пиксель может принадлежать блику.",
			},
			field: func(p *Params) any { return &p.Visible },
		},
		{
			ID: "relative", Group: search, Kind: KindReal, Min: 0, Max: 200, Step: 1, Manual: true, Unit: Text{"% of background", "% фона"},
			Name: Text{"Relative contrast", "Относительный контраст"},
			Help: Text{
				"The same rise as a share of the background's luminance; both must be exceeded.",
				"То же превышение в долях яркости фона; должны выполняться оба условия.",
			},
			field: func(p *Params) any { return &p.Relative },
		},
		{
			ID: "contrast", Group: search, Kind: KindReal, Min: 1, Max: 95, Step: 0.5, Manual: true, Unit: white,
			Name: Text{"Seed contrast", "Контраст зародыша"},
			Help: Text{
				"Rise over the background that at least one pixel of a glint must reach.",
				"Превышение над фоном, которого должен достигать хотя бы один пиксель блика.",
			},
			field: func(p *Params) any { return &p.Contrast },
		},
		{
			ID: "level", Group: search, Kind: KindInt, Min: 0, Max: 255, Step: 1, Manual: true,
			Name: Text{"Seed level", "Уровень зародыша"},
			Help: Text{
				"Smallest mean of luminance and darkest channel, 0 to 255 as on an 8-bit screen, of a glint's brightest pixel.",
				"Наименьшее среднее яркости и самого тёмного канала (0–255, как на 8-битном экране) у самого яркого пикселя блика.",
			},
			field: func(p *Params) any { return &p.Level },
		},
		{
			ID: "core", Group: search, Kind: KindReal, Min: 10, Max: 95, Step: 1, Manual: true, Unit: Text{"% of peak", "% пика"},
			Name: Text{"Core share", "Доля ядра"},
			Help: Text{
				"Share of the strongest contrast nearby from which a pixel belongs to a glint's core.",
				"Доля наибольшего контраста рядом, начиная с которой пиксель входит в ядро блика.",
			},
			field: func(p *Params) any { return &p.Core },
		},
		{
			ID: "min-area", Group: decide, Kind: KindInt, Min: 1, Max: 1000, Step: 1, Manual: true, Unit: px,
			Name: Text{"Smallest area", "Наименьшая площадь"},
			Help: Text{
				"Glints of fewer pixels are left out.",
				"Блики из меньшего числа пикселей отбрасываются.",
			},
			field: func(p *Params) any { return &p.MinArea },
		},
		{
			ID: "max-area", Group: decide, Kind: KindInt, Min: 1, Max: 100000, Step: 10, Manual: true, Unit: px,
			Name: Text{"Largest area", "Наибольшая площадь"},
			Help: Text{
				"Glints of more pixels are left out.",
				"Блики из большего числа пикселей отбрасываются.",
			},
			field: func(p *Params) any { return &p.MaxArea },
		},
		{
			ID: "max-elongation", Group: decide, Kind: KindReal, Min: 1, Max: 100, Step: 0.5, Manual: true,
			Name: Text{"Largest elongation", "Наибольшая вытянутость"},
			Help: Text{
				"Ratio of a glint's long axis to its short one above which it counts as a stroke of paint.",
				"Отношение длинной оси блика к короткой, выше которого он считается мазком краски.",
			},
			field: func(p *Params) any { return &p.MaxElongation },
		},
		{
			ID: "score", Group: decide, Kind: KindReal, Min: scoreOff, Max: 20, Step: 0.1, Manual: true,
			Name: Text{"Score threshold", "Порог оценки"},
			Help: Text{
				"Smallest score of a finding; −20 switches the score off and leaves the rules alone.",
				"Наименьшая оценка находки; −20 отключает оценку и оставляет только правила.",
			},
			field: func(p *Params) any { return &p.Score },
		},
		{
			ID: "min-z", Group: decide, Kind: KindReal, Min: 0, Max: 50, Step: 0.5, Manual: true, Unit: Text{"σ", "σ"},
			Name: Text{"Guard-ring z", "z по кольцу"},
			Help: Text{
				"Smallest rise of the peak over the ring around it, in standard deviations of the ring; 0 is off.",
				"Наименьшее превышение пика над окружающим кольцом в стандартных отклонениях кольца; 0 — не проверять.",
			},
			field: func(p *Params) any { return &p.MinZ },
		},
		{
			ID: "min-top-hat", Group: decide, Kind: KindInt, Min: 0, Max: 255, Step: 1, Manual: true,
			Name: Text{"Top-hat", "Верх шляпы"},
			Help: Text{
				"Smallest white top-hat (8-bit levels) of the peak; 0 is off.",
				"Наименьшее значение преобразования «белый верх шляпы» (в 8-битных уровнях) в пике; 0 — не проверять.",
			},
			field: func(p *Params) any { return &p.MinTopHat },
		},
		{
			ID: "min-line", Group: decide, Kind: KindInt, Min: 0, Max: 255, Step: 1, Manual: true,
			Name: Text{"Line residue", "Остаток линий"},
			Help: Text{
				"Smallest rise (8-bit levels) of the peak over its openings with lines in four directions, which strokes survive and points do not; 0 is off.",
				"Наименьшее превышение пика (в 8-битных уровнях) над размыканиями линиями в четырёх направлениях: мазок их переживает, точка — нет; 0 — не проверять.",
			},
			field: func(p *Params) any { return &p.MinLine },
		},
		{
			ID: "colour-gate", Group: decide, Kind: KindSwitch, Min: 0, Max: 1, Step: 1, Manual: true,
			Name: Text{"Colour gate", "Проверка цвета"},
			Help: Text{
				"Accept only what differs from its surroundings along the light's colour (cosine at least 0.9 in linear light).",
				"Принимать только то, что отличается от окружения вдоль цвета света (косинус не меньше 0,9 в линейном свете).",
			},
			field: func(p *Params) any { return &p.ColourGate },
		},
		{
			ID: "open", Group: cleanup, Kind: KindInt, Min: 0, Max: 50, Step: 1, Unit: px,
			Name: Text{"Opening radius", "Радиус размыкания"},
			Help: Text{
				"Removes parts of the mask narrower than a square of this radius; 0 is off.",
				"Убирает части маски уже квадрата этого радиуса; 0 — не применять.",
			},
			field: func(p *Params) any { return &p.Open },
		},
		{
			ID: "close", Group: cleanup, Kind: KindInt, Min: 0, Max: 50, Step: 1, Unit: px,
			Name: Text{"Closing radius", "Радиус замыкания"},
			Help: Text{
				"Bridges gaps of the mask narrower than a square of this radius; 0 is off.",
				"Закрывает промежутки маски уже квадрата этого радиуса; 0 — не применять.",
			},
			field: func(p *Params) any { return &p.Close },
		},
		{
			ID: "fill", Group: cleanup, Kind: KindSwitch, Min: 0, Max: 1, Step: 1,
			Name: Text{"Fill holes", "Заполнять отверстия"},
			Help: Text{
				"Fills the holes inside a glint.",
				"Заполняет отверстия внутри блика.",
			},
			field: func(p *Params) any { return &p.Fill },
		},
		{
			ID: "margin", Group: cleanup, Kind: KindInt, Min: 0, Max: 50, Step: 1, Unit: px,
			Name: Text{"Margin", "Запас"},
			Help: Text{
				"Widens the mask on every side, for the halo around a glint.",
				"Расширяет маску во все стороны на ореол вокруг блика.",
			},
			field: func(p *Params) any { return &p.Margin },
		},
		{
			ID: "feather", Group: cleanup, Kind: KindReal, Min: 0, Max: 20, Step: 0.5, Unit: px,
			Name: Text{"Feather", "Растушёвка"},
			Help: Text{
				"Standard deviation of the Gaussian that softens the mask's edge; 0 leaves it hard (0 or 255).",
				"Стандартное отклонение гауссова размытия края маски; 0 оставляет край резким (0 или 255).",
			},
			field: func(p *Params) any { return &p.Feather },
		},
		{
			ID: "method", Stage: StageCorrection, Group: correct, Kind: KindChoice, Min: 0, Max: float64(methodCount - 1), Step: 1,
			Name: Text{"Method", "Способ"},
			Help: Text{
				"How a glint is corrected; auto chooses by its size and by how much of it is clipped.",
				"Как исправляется блик; автоматический выбор зависит от его размера и от доли пересвета.",
			},
			Choices: methodChoices(),
			field:   func(p *Params) any { return &p.Method },
		},
		{
			ID: "halo", Stage: StageCorrection, Group: correct, Kind: KindInt, Min: 0, Max: 20, Step: 1, Unit: px,
			Name: Text{"Halo", "Ореол"},
			Help: Text{
				"How far around the mask correction may reach, for the faint halo of a glint; 0 changes nothing outside the mask.",
				"Насколько исправление может выйти за маску ради слабого ореола блика; 0 — вне маски ничего не меняется.",
			},
			field: func(p *Params) any { return &p.Halo },
		},
		{
			ID: "blend", Stage: StageCorrection, Group: correct, Kind: KindReal, Min: 0, Max: 100, Step: 5, Unit: Text{"% of radius", "% радиуса"},
			Name: Text{"Soft edge", "Мягкий край"},
			Help: Text{
				"Width of the transition from the correction to the untouched picture, as a share of the spot's radius.",
				"Ширина перехода от исправления к нетронутой картине в долях радиуса пятна.",
			},
			field: func(p *Params) any { return &p.Blend },
		},
		{
			ID: "grain", Stage: StageCorrection, Group: correct, Kind: KindReal, Min: 0, Max: 200, Step: 5, Unit: Text{"%", "%"},
			Name: Text{"Grain", "Зерно"},
			Help: Text{
				"How much of the texture of the surroundings is put back into a filled place; 0 leaves it smooth.",
				"Сколько фактуры окружения возвращается в заполненное место; 0 оставляет его гладким.",
			},
			field: func(p *Params) any { return &p.Grain },
		},
		{
			ID: "only-darken", Stage: StageCorrection, Group: correct, Kind: KindSwitch, Min: 0, Max: 1, Step: 1,
			Name: Text{"Only darken", "Только затемнять"},
			Help: Text{
				"Never makes a pixel brighter than it was.",
				"Ни один пиксель не становится светлее, чем был.",
			},
			field: func(p *Params) any { return &p.OnlyDarken },
		},
	}
}
