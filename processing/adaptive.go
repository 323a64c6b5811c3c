package processing

import (
	"fmt"
	"slices"
	"strings"
)

// adaptive returns p with everything that adaptive mode chooses set to what fits a picture of ordinary scale.
func adaptive(p Params) Params {
	q := DefaultParams()
	for _, s := range Specs() {
		if s.Manual {
			// A default is within its range.
			_ = s.Set(&p, s.Get(q))
		}
	}
	return p
}

// noiseTile is the side of the tiles whose noise is measured, in pixels.
const noiseTile = 64

// measureNoise takes the lower quartile over tiles of the noise that their finest wavelet band shows, so that canvas
// and brush work, which fill that band in most tiles of a painting, do not inflate it. In 8-bit levels.
func (d *detector) measureNoise() error {
	tiles, err := d.be.NoiseTiles(d.ctx, d.v, noiseTile)
	if err != nil || len(tiles) == 0 {
		return err
	}
	slices.Sort(tiles)
	d.noise = tiles[len(tiles)/4]
	return nil
}

// chosen lists what adaptive mode measured and took, in the order in which a person asks for it.
func (d *detector) chosen() []Chosen {
	list := []Chosen{
		{
			ID: "white", Name: Text{"White level", "Уровень белого"}, Value: d.white,
			Why: Text{
				"only one pixel in a thousand outside the glare is brighter (levels 0 to 255): glare is judged against it",
				"ярче лишь один пиксель из тысячи вне бликов (уровни 0–255): с ним сравниваются блики",
			},
		},
		{
			ID: "noise", Name: Text{"Noise", "Шум"}, Value: d.noise,
			Why: Text{
				"standard deviation in levels, from the finest wavelet band of the quietest quarter of the picture",
				"стандартное отклонение в уровнях, по тончайшей вейвлет-полосе самой спокойной четверти картины",
			},
		},
	}
	reasons := map[string]Text{
		"scale": {
			"fits glints of up to about 12 px radius; set it higher by hand where larger ones are missed",
			"подходит для бликов радиусом примерно до 12 пкс; если крупные пропущены, увеличьте вручную",
		},
		"window": {
			"the smallest window that still holds enough paint between glints; larger ones, up to %s px, are used where it does not",
			"наименьшее окно, в котором между бликами хватает краски; где не хватает, берутся окна до %s пкс",
		},
		"visible": {
			"what the eye sees as glare on a painting, far above the noise (%s levels)",
			"то, что глаз видит на картине как блик; намного выше шума (%s уровня)",
		},
		"relative": {
			"bright paint must be exceeded by more than dark paint",
			"светлую краску блик должен превышать сильнее, чем тёмную",
		},
		"contrast": {
			"weaker spots could not be told from paint",
			"более слабые пятна неотличимы от краски",
		},
		"level": {
			"a mirror image of a lamp is never darker",
			"зеркальное отражение лампы не бывает темнее",
		},
		"core": {
			"separates a glint from a weaker one beside it",
			"отделяет блик от более слабого соседа",
		},
		"score": {
			"the boundary that the linear score was fitted for; the sensitivity moves it",
			"граница, на которую настроена линейная оценка; её сдвигает чувствительность",
		},
	}
	radii := d.backgroundRadii()
	for _, s := range Specs() {
		why, ok := reasons[s.ID]
		if !ok {
			continue
		}
		switch s.ID {
		case "window":
			why = fill(why, fmt.Sprint(2*radii[len(radii)-1]+1))
		case "visible":
			why = fill(why, fmt.Sprintf("%.1f", d.noise))
		}
		list = append(list, Chosen{ID: s.ID, Name: s.Name, Unit: s.Unit, Value: s.Get(d.p), Why: why})
	}
	return list
}

// fill puts a figure into a text.
func fill(t Text, figure string) Text {
	return Text{strings.Replace(t.EN, "%s", figure, 1), strings.Replace(t.RU, "%s", figure, 1)}
}
