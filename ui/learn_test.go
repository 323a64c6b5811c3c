package ui

import (
	"strings"
	"testing"

	"blik/processing"
)

// Learning needs decisions; its outcome is shown in the panel and can be forgotten.
func TestLearnFromDecisions(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("find.learn")
	h.settle()
	if said := h.dialogTexts(); !strings.Contains(said, "nothing can be learned yet: 0 decisions say glare and 0 paint") {
		t.Errorf("without decisions the status says %q", said)
	}
	h.press("OK")
	p := h.panel.detection
	if p.learned.Visible() || h.k.actions.can("find.forget") {
		t.Error("the program claims to have learned")
	}
	h.c.preview.UseLearned(&processing.Learned{Way: processing.WayShift})
	if !p.learned.Visible() || !h.k.actions.can("find.forget") {
		t.Error("what was learned is not shown")
	}
	h.k.actions.do("find.run")
	h.settle()
	if h.detected.Learned == nil {
		t.Error("detection does not use what was learned")
	}
	h.k.actions.do("find.forget")
	if !p.learned.Visible() || !strings.Contains(h.dialogTexts(), "A preset keeps what was learned for later.") {
		t.Errorf("what was learned is shown: %v; the question is %q", p.learned.Visible(), h.dialogTexts())
	}
	h.press("Forget")
	if p.learned.Visible() || h.c.session.Settings().Params.Learned != nil {
		t.Error("what was learned was not forgotten")
	}
}
