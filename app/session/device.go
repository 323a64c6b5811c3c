package session

import (
	"image"

	"blik/app/device"
)

// OpenDevices starts opening the device of the settings and listing all devices.
func (s *Session) OpenDevices() {
	s.SetDevice(s.settings.Device, func() {})
	go func() {
		// The error says why there is no GPU. It is reported where a device is used or chosen.
		found, _ := s.list()
		s.dispatch(func() {
			s.devices = found
			s.publish(Other, image.Rectangle{})
		})
	}()
}

// SetDevice chooses the device for future jobs. opened is called when it is open, unless another one was chosen
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

// Devices returns the devices of the machine; nil until they are known.
func (s *Session) Devices() []device.Device { return s.devices }

// DeviceState returns the state of the chosen device.
func (s *Session) DeviceState() device.State { return s.device.State() }
