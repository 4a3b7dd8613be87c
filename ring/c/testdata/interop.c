/* Plays a script of windows: interop SCRIPT DIR ROUNDS. See interop.txt. With
 * CHECKSUM=table in the environment it uses no instructions for checksums. */
#include "../tailtrace.h"

static void name(tailtrace_ring *ring, const char *s)
{
	char text[256];
	size_t n = 0;
	unsigned byte;
	for (; *s && *s != '\n'; n++) {
		if (sscanf(s, "\\x%2x", &byte) == 1) {
			text[n] = (char)byte;
			s += 4;
		} else {
			text[n] = *s++;
		}
	}
	text[n] = 0;
	tailtrace_name(ring, text);
}

static void slot(tailtrace_ring *ring, const char *s)
{
	unsigned type, kind, flags, tid, end_tid, byte, what, arg;
	unsigned long long begin, end, cpu, offset;
	char id[33];
	int n;
	tailtrace_window w;

	if (sscanf(s, "%u %u %u %32s %llu %llu %llu %u %u%n", &type, &kind, &flags, id, &begin, &end, &cpu, &tid,
		   &end_tid, &n) != 9)
		abort();
	tailtrace_window_init(ring, &w, (uint8_t)type, (uint8_t)kind);
	w.flags = (uint8_t)flags;
	for (int i = 0; i < 16; i++) {
		sscanf(id + 2 * i, "%2x", &byte);
		w.id[i] = (uint8_t)byte;
	}
	w.begin = begin;
	w.end = end;
	w.cpu = cpu;
	w.tid = tid;
	w.end_tid = end_tid;
	for (s += n; sscanf(s, " %u:%u:%llu%n", &what, &arg, &offset, &n) == 3; s += n)
		tailtrace_point(&w, (int)what, arg, begin + offset);
	tailtrace_publish(&w);
}

int main(int argc, char **argv)
{
	char line[8192], command[1024];
	tailtrace_ring *ring = argc == 4 ? tailtrace_open_in(argv[2], "interop", 64) : NULL;
	if (!ring)
		return 1;
	if (getenv("CHECKSUM"))
		ring->clmul = 0;
	for (int round = atoi(argv[3]); round > 0; round--) {
		FILE *f = fopen(argv[1], "r");
		while (fgets(line, sizeof line, f)) {
			if (!strncmp(line, "name ", 5))
				name(ring, line + 5);
			else if (!strncmp(line, "slot ", 5))
				slot(ring, line + 5);
		}
		fclose(f);
	}
	snprintf(command, sizeof command, "cp %s %s/out", ring->path, argv[2]);
	int failed = system(command);
	tailtrace_close(ring);
	return failed;
}
