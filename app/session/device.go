package session

import (
	"image"

	"blik/app/device"
)

// OpenDevices begins to open the device of the settings and to look for all others.
func (s *Session) OpenDevices() {
	s.SetDevice(s.settings.Device, func() {})
	go func() {
		// Why there is no GPU, if there is none, is said where a device is used or chosen.
		found, _ := s.list()
		s.dispatch(func() {
			s.devices = found
			s.publish(Other, image.Rectangle{})
		})
	}()
}

// SetDevice makes a device that of the next work. opened is called when it is open, unless another was chosen
// meanwhile.
func (s *Session) SetDevice(name string, opened func()) {
	s.settings.Device = name
	s.device.Choose(name, func() {
		s.dispatch(func() {
			s.publish(Other, image.Rectangle{})
			if s.settings.Device == name {
				opened()
			}
		})
	})
	s.publish(Other, image.Rectangle{})
}

// Devices returns the devices of the machine, as far as they are known.
func (s *Session) Devices() []device.Device { return s.devices }

// DeviceState returns the state of the chosen device.
func (s *Session) DeviceState() device.State { return s.device.State() }
