// Package devices lists the devices of the machine and chooses the one that a session works on.
package devices

import (
	"context"
	"image"

	"blik/app/device"
	"blik/app/session"
)

// Device runs jobs on the chosen device; *device.Switch implements it.
type Device interface {
	session.Runner
	Choose(name string, opened func())
	State() device.State
	Close(ctx context.Context) error
}

// Devices chooses the device of a session.
type Devices struct {
	s      *session.Session
	device Device
	list   func() ([]device.Device, error)
	all    []device.Device
	// told is what the last Change told.
	told summary
}

type summary struct {
	device.State
	devices int
}

// New returns the devices of a session, which closes chosen at its end. list returns the devices of the machine; it may
// be slow and is called on another goroutine.
func New(s *session.Session, chosen Device, list func() ([]device.Device, error)) *Devices {
	d := &Devices{s: s, device: chosen, list: list}
	d.told = d.now()
	s.AddModule(session.Module{Changed: d.changed, Close: chosen.Close})
	return d
}

func (d *Devices) now() summary { return summary{d.device.State(), len(d.all)} }

func (d *Devices) changed(c *session.Change) {
	now := d.now()
	c.Device = now != d.told
	d.told = now
}

// Open starts opening the device of the settings and listing all devices.
func (d *Devices) Open() {
	d.Choose(d.s.Settings().Device, func() {})
	go func() {
		// The error says why there is no GPU. It is reported where a device is used or chosen.
		found, _ := d.list()
		d.s.Dispatch(func() {
			d.all = found
			d.s.Publish(session.Other, image.Rectangle{})
		})
	}()
}

// Choose chooses the device for future jobs. opened is called when it is open, unless another one was chosen
// meanwhile.
func (d *Devices) Choose(name string, opened func()) {
	d.s.Settings().Device = name
	d.device.Choose(name, func() {
		d.s.Dispatch(func() {
			d.s.Publish(session.Other, image.Rectangle{})
			if d.s.Settings().Device == name {
				opened()
			}
		})
	})
	d.s.Publish(session.Other, image.Rectangle{})
}

// All returns the devices of the machine; nil until they are known.
func (d *Devices) All() []device.Device { return d.all }

// State returns the state of the chosen device.
func (d *Devices) State() device.State { return d.device.State() }
