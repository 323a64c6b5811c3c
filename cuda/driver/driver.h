#include <stddef.h>

// What is known of the driver. Strings live as long as the program.
struct driver_state {
	// loaded: the driver's library was found; otherwise error says what the loader said.
	int loaded;
	const char *error;
	// init is what the driver's own cuInit answered.
	int init;
};

struct driver_state driver_state(void);
int driver_version(int *version);
int driver_device_count(int *count);
int driver_host_alloc(void **p, size_t n);
int driver_host_free(void *p);

// Copies of rows without padding on the host to or from rows `pitch` bytes apart on the device.
int driver_rows_up(unsigned long long dst, size_t pitch, void *src, size_t row, size_t rows, void *stream);
int driver_rows_down(void *dst, size_t row, size_t rows, unsigned long long src, size_t pitch, void *stream);
