/* Prints what publishing costs in C: CPU time, the least of
 * several runs, ns. */
#include "../tailtrace.h"

enum { COUNT = 200000, RUNS = 7, MARKS = 6 };

static tailtrace_ring *ring;
static uint8_t name;

static void publish(void) { tailtrace_span(ring, name, 1, 2); }

static void window(void)
{
	tailtrace_window w;
	tailtrace_begin(ring, &w, 1, name);
	tailtrace_end(&w);
}

static void marks(void)
{
	tailtrace_window w;
	tailtrace_begin(ring, &w, 1, name);
	for (int i = 0; i < MARKS; i++)
		tailtrace_mark(&w, name);
	tailtrace_end(&w);
}

static uint64_t cpu_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void measure(const char *what, void (*call)(void))
{
	uint64_t least = UINT64_MAX;
	for (int run = 0; run < RUNS; run++) {
		uint64_t begin = cpu_time();
		for (int i = 0; i < COUNT; i++)
			call();
		uint64_t took = cpu_time() - begin;
		least = took < least ? took : least;
	}
	printf("C %-24s %6.0f ns\n", what, (double)least / COUNT);
}

int main(void)
{
	ring = tailtrace_open("cost", 8192);
	name = tailtrace_name(ring, "/cost");
	measure("publish", publish);
	measure("window", window);
	measure("window with 6 marks", marks);
	tailtrace_close(ring);
	return 0;
}
