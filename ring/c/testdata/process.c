/* What a process does with its ring: process MODE DIR. The ring that it leaves
 * is the test's to look at. */
#include "../tailtrace.h"
#include <sys/wait.h>

static void window(tailtrace_ring *ring, uint64_t id, const char *kind)
{
	tailtrace_window w;
	tailtrace_begin(ring, &w, id, tailtrace_name(ring, kind));
	tailtrace_mark(&w, tailtrace_name(ring, "step"));
	tailtrace_thread(&w);
	tailtrace_end(&w);
}

/* The child has a ring of its own, with the same names; the window that is open
 * across the fork is the parent's. Prints the child's pid. */
static void forking(tailtrace_ring *ring)
{
	tailtrace_window open;
	window(ring, 1, "/parent");
	tailtrace_begin(ring, &open, 2, tailtrace_name(ring, "/open"));
	pid_t child = fork();
	if (!child) {
		tailtrace_end(&open);
		window(ring, 3, "/parent");
		window(ring, 4, "/child");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	tailtrace_end(&open);
	printf("%d\n", child);
}

static tailtrace_ring *shared;
static int stop;

static void *publish(void *started)
{
	for (int n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		window(shared, 1, "/thread");
		if (n == 100)
			__atomic_store_n((int *)started, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* A thread goes on publishing while the ring is closed. */
static void closing(tailtrace_ring *ring)
{
	pthread_t thread;
	int started = 0;
	shared = ring;
	pthread_create(&thread, NULL, publish, &started);
	while (!__atomic_load_n(&started, __ATOMIC_RELAXED))
		usleep(100);
	tailtrace_close(ring);
	window(ring, 1, "/closed");
	tailtrace_close(ring);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* Without a ring all calls do nothing. */
static void nothing(void)
{
	tailtrace_window w;
	uint8_t id[16] = {0};
	window(NULL, 1, "x");
	tailtrace_begin_raw(NULL, &w, id, 1);
	tailtrace_suspend(&w, 0);
	tailtrace_resume(&w, 0);
	tailtrace_end(&w);
	tailtrace_end(&w);
	tailtrace_span(NULL, 1, 1, 2);
	tailtrace_close(NULL);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	tailtrace_ring *ring = tailtrace_open_in(argv[2], "process", 64);
	if (!ring)
		nothing();
	else if (!strcmp(argv[1], "fork"))
		forking(ring);
	else if (!strcmp(argv[1], "close"))
		closing(ring);
	else if (!strcmp(argv[1], "names"))
		for (int i = 0; i < 70; i++) {
			char name[8];
			snprintf(name, sizeof name, "n%d", i);
			window(ring, (uint64_t)i, name);
		}
	return 0;
}
