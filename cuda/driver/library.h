// What loading the driver's library needs of the system.

// Entries are hidden where the system would let other libraries find them: those that the driver brings along must find
// its own entries, not these.
#ifdef _WIN32
#define HIDDEN
#else
#define HIDDEN __attribute__((visibility("hidden")))
#endif

// library_open loads the driver's library. Where there is none it returns NULL, and in UTF-8 what the system says.
void *library_open(const char **error);
// library_find returns an entry of the library, NULL if it lacks it.
void *library_find(void *library, const char *name);
// library_once calls f at the first call, and lets others wait until it has returned.
void library_once(void (*f)(void));
