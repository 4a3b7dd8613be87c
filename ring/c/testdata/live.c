/* Publishes from several threads at once: live DIR SLOTS THREADS COUNT. Says
 * "ready" when the ring is there and begins at a line on standard input. The
 * ids of thread t are t * COUNT and up. */
#include "../tailtrace.h"

static tailtrace_ring *ring;
static uint64_t count;

static void *publish(void *arg)
{
	uint64_t first = (uint64_t)(uintptr_t)arg * count;
	uint8_t kind = tailtrace_name(ring, "/live"), step = tailtrace_name(ring, "step");
	for (uint64_t id = first; id < first + count; id++) {
		tailtrace_window w;
		tailtrace_begin(ring, &w, id, kind);
		tailtrace_mark(&w, step);
		tailtrace_suspend(&w, 0);
		tailtrace_resume(&w, 0);
		tailtrace_end(&w);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int n = argc == 5 ? atoi(argv[3]) : 0;
	if (n < 1 || n > 64)
		return 2;
	count = (uint64_t)atoll(argv[4]);
	ring = tailtrace_open_in(argv[1], "live", (uint32_t)atoi(argv[2]));
	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, publish, (void *)(uintptr_t)i);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	tailtrace_close(ring);
	return 0;
}
