/* A program that runs, waits and jumps into code of its own making, in functions that a test knows. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

volatile long sink;

static const unsigned char made[] = {
#if defined(__x86_64__)
	0x55, 0x48, 0x89, 0xe5,	/* push %rbp; mov %rsp, %rbp */
	0x48, 0xff, 0xcf,	/* dec %rdi */
	0x75, 0xfb, 0x5d, 0xc3,	/* jne -5; pop %rbp; ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91,	/* stp x29, x30, [sp, #-16]!; mov x29, sp */
	0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54,	/* subs x0, x0, #1; b.ne -4 */
	0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6,	/* ldp x29, x30, [sp], #16; ret */
#endif
};

__attribute__((noinline)) void leaf_without_frame(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

__attribute__((noinline)) void hot_function(long n)
{
	leaf_without_frame(n);
	sink++;
}

__attribute__((noinline)) void blocking_function(void)
{
	struct timespec t = {0, 2000000};

	nanosleep(&t, 0);
	sink++;
}

__attribute__((noinline)) void call_made(void (*f)(long), long n)
{
	f(n);
	sink++;
}

__attribute__((noinline)) void serve(void (*f)(long))
{
	hot_function(3000000);
	blocking_function();
	call_made(f, 10000000);
	sink++;
}

int main(void)
{
	void (*f)(long) = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	FILE *map;

	memcpy((void *)f, made, sizeof(made));
	__builtin___clear_cache((char *)f, (char *)f + sizeof(made));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	map = fopen(name, "w");
	fprintf(map, "%lx %zx py::made by a test:/x y.py\n", (unsigned long)f, sizeof(made));
	fclose(map);
	puts("ready");
	fflush(stdout);
	for (;;)
		serve(f);
}
