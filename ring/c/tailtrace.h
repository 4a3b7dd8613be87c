/* tailtrace.h: publishes the requests of a service in a shared-memory ring that
 * tailtrace reads. ABI version 1; the contract is ABI.md. One header for Linux
 * with gcc or clang, C11 or C++17; nothing to link.
 *
 *     tailtrace_ring *ring = tailtrace_open("scorer", 8192);
 *     uint8_t kind = tailtrace_name(ring, "/score"), step = tailtrace_name(ring, "parse");
 *
 *     tailtrace_window w;
 *     tailtrace_begin(ring, &w, request_id, kind);
 *     ...
 *     tailtrace_mark(&w, step);
 *     ...
 *     tailtrace_end(&w);
 *
 * Nothing here blocks on a reader, fails or aborts. Where there can be no ring,
 * tailtrace_open says why on standard error and returns NULL, and all functions
 * take NULL. A ring may be used by any number of threads, a window by one at a
 * time. After fork() the child has a ring of its own, made in the same place;
 * windows that were open across the fork are published by the parent only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAILTRACE_H
#define TAILTRACE_H

#if !defined(_GNU_SOURCE) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <wmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

#if !defined(MAP_ANONYMOUS) || !defined(O_NOFOLLOW) || !defined(SYS_gettid)
#error "include tailtrace.h before system headers, or compile with -D_GNU_SOURCE"
#endif

enum {
	TAILTRACE_REQUEST = 1, /* slot types */
	TAILTRACE_SPAN = 2,

	TAILTRACE_CUT = 1, /* flags: some points did not fit */
	TAILTRACE_ERROR = 2,
	TAILTRACE_TIMEOUT = 4, /* or cancelled */
	TAILTRACE_WARMUP = 8,
	TAILTRACE_RAW_ID = 16,

	TAILTRACE_MARK = 1, /* point types */
	TAILTRACE_SUSPEND = 2,
	TAILTRACE_RESUME = 3,
	TAILTRACE_THREAD = 4,

	TAILTRACE_HEADER_SIZE = 4096,
	TAILTRACE_SLOT_SIZE = 256,
	TAILTRACE_NAMES = 60,
	TAILTRACE_NAME_SIZE = 64,
	TAILTRACE_POINTS = 24,
	TAILTRACE_FRAME = 252 /* what the checksum covers: the sequence number, then bytes 12 to 255 */
};

typedef struct tailtrace_ring {
	unsigned char *map; /* NULL: off */
	size_t size;
	uint64_t mask;
	uint32_t pid;
	dev_t dev;
	ino_t ino;
	pthread_mutex_t names;
	struct tailtrace_ring *next;
	uint32_t crc[8][256];
	int clmul; /* the CPU multiplies without carries */
	char service[TAILTRACE_NAME_SIZE];
	char dir[200];
	char path[256];
} tailtrace_ring;

/* A request being served. To publish one whose times are known, set the fields
 * between tailtrace_window_init and tailtrace_publish. */
typedef struct tailtrace_window {
	tailtrace_ring *ring;
	uint32_t pid; /* that opened the window */
	uint8_t type, kind, flags;
	uint8_t id[16];
	uint64_t begin, end; /* ns of CLOCK_MONOTONIC */
	uint64_t cpu;	     /* CPU time inside, ns; 0 = not measured */
	uint32_t tid, end_tid;

	uint8_t n, marks, turns; /* words in use; of them marks; of them suspends and resumes */
	uint8_t away, no_marks;
	uint64_t words[TAILTRACE_POINTS];
} tailtrace_window;

static inline uint64_t tailtrace_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The thread's id, asked for once a thread and process. */
static inline uint32_t tailtrace_tid(const tailtrace_ring *r)
{
	static __thread uint32_t pid, tid;
	if (pid != r->pid) {
		tid = (uint32_t)syscall(SYS_gettid);
		pid = r->pid;
	}
	return tid;
}

/* ---- points: what does not fit is left out so that the rest stays true ---- */

static inline uint64_t tailtrace_offset_(uint64_t word) { return word & 0xffffffffffffu; }

static inline int tailtrace_free_(const tailtrace_window *w) { return TAILTRACE_POINTS - w->n - w->away; }

static inline void tailtrace_push_(tailtrace_window *w, unsigned type, uint8_t name, uint64_t time)
{
	uint64_t off = time > w->begin ? time - w->begin : 0;
	if (off > 0xffffffffffffu)
		off = 0xffffffffffffu;
	w->words[w->n++] = (uint64_t)type << 56 | (uint64_t)name << 48 | off;
}

static inline void tailtrace_remove_(tailtrace_window *w, int i)
{
	memmove(&w->words[i], &w->words[i + 1], sizeof(w->words[0]) * (size_t)(w->n - i - 1));
	w->n--;
}

static inline int tailtrace_drop_last_mark_(tailtrace_window *w)
{
	int last = -1;
	for (int i = 0; i < w->n; i++) {
		unsigned type = (unsigned)(w->words[i] >> 56);
		if (type == TAILTRACE_MARK)
			last = i;
		else if (type == TAILTRACE_THREAD)
			i++;
	}
	if (last < 0)
		return 0;
	tailtrace_remove_(w, last);
	w->marks--;
	return 1;
}

/* Drops the two neighbouring suspends and resumes that are closest in time.
 * A suspend that is about to come at `time` takes part; 0 where none is. */
static inline void tailtrace_drop_shortest_(tailtrace_window *w, uint64_t time)
{
	int before = -1, after = -1, prev = -1;
	uint64_t shortest = UINT64_MAX;
	for (int i = 0; i < w->n; i++) {
		unsigned type = (unsigned)(w->words[i] >> 56);
		if (type == TAILTRACE_THREAD)
			i++;
		if (type != TAILTRACE_SUSPEND && type != TAILTRACE_RESUME)
			continue;
		if (prev >= 0) {
			uint64_t gap = tailtrace_offset_(w->words[i]) - tailtrace_offset_(w->words[prev]);
			if (gap < shortest) {
				shortest = gap;
				before = prev;
				after = i;
			}
		}
		prev = i;
	}
	if (!w->away && time && time - w->begin - tailtrace_offset_(w->words[prev]) < shortest) {
		tailtrace_remove_(w, prev); /* the new suspension goes on where the last one ended */
		w->turns--;
		w->away = 1;
		return;
	}
	tailtrace_remove_(w, after);
	tailtrace_remove_(w, before);
	w->turns = (uint8_t)(w->turns - 2);
}

static inline int tailtrace_make_room_(tailtrace_window *w, uint64_t time)
{
	w->flags |= TAILTRACE_CUT;
	if (w->turns >= 2 && w->marks <= TAILTRACE_POINTS / 2) {
		tailtrace_drop_shortest_(w, time);
		return 1;
	}
	w->no_marks = 1;
	return tailtrace_drop_last_mark_(w);
}

/* Adds a point at a time of tailtrace_now. arg is a name's id, or for
 * TAILTRACE_THREAD the thread's. */
static inline void tailtrace_point(tailtrace_window *w, int type, uint32_t arg, uint64_t time)
{
	switch (w->ring ? type : 0) {
	case TAILTRACE_MARK:
		if (w->no_marks || tailtrace_free_(w) < 1) {
			w->no_marks = 1;
			w->flags |= TAILTRACE_CUT;
			return;
		}
		tailtrace_push_(w, TAILTRACE_MARK, (uint8_t)arg, time);
		w->marks++;
		return;
	case TAILTRACE_SUSPEND:
		while (!w->away && tailtrace_free_(w) < 2)
			if (!tailtrace_make_room_(w, time))
				return;
		if (w->away)
			return;
		tailtrace_push_(w, TAILTRACE_SUSPEND, (uint8_t)arg, time);
		w->turns++;
		w->away = 1;
		return;
	case TAILTRACE_RESUME:
		if (!w->away)
			return;
		tailtrace_push_(w, TAILTRACE_RESUME, (uint8_t)arg, time);
		w->turns++;
		w->away = 0;
		return;
	case TAILTRACE_THREAD:
		while (tailtrace_free_(w) < 2)
			if (!tailtrace_make_room_(w, 0))
				return;
		tailtrace_push_(w, TAILTRACE_THREAD, 0, time);
		w->words[w->n++] = arg;
		return;
	}
}

/* ---- publishing ---- */

static inline uint32_t tailtrace_crc_table_(const tailtrace_ring *r, uint32_t crc, const unsigned char *p, size_t n)
{
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		v ^= crc;
		crc = r->crc[7][v & 255] ^ r->crc[6][v >> 8 & 255] ^ r->crc[5][v >> 16 & 255] ^
		      r->crc[4][v >> 24 & 255] ^ r->crc[3][v >> 32 & 255] ^ r->crc[2][v >> 40 & 255] ^
		      r->crc[1][v >> 48 & 255] ^ r->crc[0][v >> 56];
	}
	for (; n; n--, p++)
		crc = r->crc[0][(crc ^ *p) & 255] ^ crc >> 8;
	return crc;
}

#if defined(__x86_64__)
/* Folds the frame 16 bytes at a time (V. Gopal et al., "Fast CRC Computation
 * for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009; constants
 * for the reflected polynomial) and leaves what remains to the table. */
__attribute__((target("pclmul"))) static inline uint32_t tailtrace_crc_clmul_(const tailtrace_ring *r,
									      const unsigned char *p)
{
	const __m128i k = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
	const size_t folded = TAILTRACE_FRAME / 16 * 16;
	unsigned char rest[16 + TAILTRACE_FRAME % 16];
	__m128i x = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_cvtsi32_si128(-1));
	for (size_t i = 16; i < folded; i += 16) {
		__m128i next = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i lo = _mm_clmulepi64_si128(x, k, 0x00), hi = _mm_clmulepi64_si128(x, k, 0x11);
		x = _mm_xor_si128(_mm_xor_si128(lo, hi), next);
	}
	_mm_storeu_si128((__m128i *)(void *)rest, x);
	memcpy(rest + 16, p + folded, sizeof rest - 16);
	return tailtrace_crc_table_(r, 0, rest, sizeof rest);
}
#endif

static inline void tailtrace_crc_init_(tailtrace_ring *r)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
		r->crc[0][i] = c;
	}
	for (int k = 1; k < 8; k++)
		for (int i = 0; i < 256; i++)
			r->crc[k][i] = r->crc[0][r->crc[k - 1][i] & 255] ^ r->crc[k - 1][i] >> 8;
#if defined(__x86_64__)
	r->clmul = __builtin_cpu_supports("pclmul") != 0;
#endif
}

/* CRC-32 (IEEE) of a frame. */
static inline uint32_t tailtrace_crc_(const tailtrace_ring *r, const unsigned char *p)
{
#if defined(__x86_64__)
	if (r->clmul)
		return ~tailtrace_crc_clmul_(r, p);
#elif defined(__ARM_FEATURE_CRC32)
	uint32_t crc = 0xffffffffu, last;
	uint64_t v;
	for (size_t i = 0; i + 8 <= TAILTRACE_FRAME; i += 8) {
		memcpy(&v, p + i, 8);
		crc = __crc32d(crc, v);
	}
	memcpy(&last, p + TAILTRACE_FRAME - 4, 4);
	return ~__crc32w(crc, last);
#endif
	return ~tailtrace_crc_table_(r, 0xffffffffu, p, TAILTRACE_FRAME);
}

static inline void tailtrace_publish(const tailtrace_window *w)
{
	tailtrace_ring *r = w->ring;
	if (!r || !r->map || w->pid != r->pid)
		return;
	uint8_t fixed[4] = {w->type, w->kind, w->n, w->flags};
	if (w->end > w->begin && w->end - w->begin > 0xffffffffffffu) { /* offsets may not have fitted */
		fixed[2] = 0;
		fixed[3] |= TAILTRACE_CUT;
	}
	uint64_t index = __atomic_fetch_add((uint64_t *)(void *)(r->map + 64), 1, __ATOMIC_RELAXED);
	unsigned char *slot = r->map + TAILTRACE_HEADER_SIZE + TAILTRACE_SLOT_SIZE * (index & r->mask);
	uint64_t *seq = (uint64_t *)(void *)slot, complete = 2 * index + 2;
	__atomic_store_n(seq, complete - 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);

	unsigned char frame[TAILTRACE_FRAME];
	memcpy(frame, &complete, 8);
	memcpy(frame + 8, fixed, 4);
	memcpy(frame + 12, w->id, 16);
	memcpy(frame + 28, &w->begin, 8);
	memcpy(frame + 36, &w->end, 8);
	memcpy(frame + 44, &w->cpu, 8);
	memcpy(frame + 52, &w->tid, 4);
	memcpy(frame + 56, &w->end_tid, 4);
	memcpy(frame + 60, w->words, 8u * fixed[2]);
	memset(frame + 60 + 8u * fixed[2], 0, TAILTRACE_FRAME - 60 - 8u * fixed[2]);
	uint32_t crc = tailtrace_crc_(r, frame);
	memcpy(slot + 8, &crc, 4);
	memcpy(slot + 12, frame + 8, TAILTRACE_FRAME - 8);
	__atomic_store_n(seq, complete, __ATOMIC_RELEASE);
}

static inline void tailtrace_window_init(tailtrace_ring *r, tailtrace_window *w, uint8_t type, uint8_t kind)
{
	memset(w, 0, offsetof(tailtrace_window, words));
	w->ring = r && r->map ? r : NULL;
	w->pid = r ? r->pid : 0;
	w->type = type;
	w->kind = kind;
}

static inline void tailtrace_begin(tailtrace_ring *r, tailtrace_window *w, uint64_t id, uint8_t kind)
{
	tailtrace_window_init(r, w, TAILTRACE_REQUEST, kind);
	if (!w->ring)
		return;
	memcpy(w->id, &id, sizeof id);
	w->tid = tailtrace_tid(r);
	w->begin = tailtrace_now();
}

/* tailtrace_begin for an id of 16 raw bytes: a UUID, a trace id, or the MD5 of
 * any other string. */
static inline void tailtrace_begin_raw(tailtrace_ring *r, tailtrace_window *w, const uint8_t id[16], uint8_t kind)
{
	tailtrace_begin(r, w, 0, kind);
	memcpy(w->id, id, 16);
	w->flags |= TAILTRACE_RAW_ID;
}

/* The step `name` ends here; it began at the mark before or at the beginning. */
static inline void tailtrace_mark(tailtrace_window *w, uint8_t name)
{
	tailtrace_point(w, TAILTRACE_MARK, name, w->ring ? tailtrace_now() : 0);
}

/* The request leaves its thread, to wait for something. */
static inline void tailtrace_suspend(tailtrace_window *w, uint8_t name)
{
	tailtrace_point(w, TAILTRACE_SUSPEND, name, w->ring ? tailtrace_now() : 0);
}

static inline void tailtrace_resume(tailtrace_window *w, uint8_t name)
{
	tailtrace_point(w, TAILTRACE_RESUME, name, w->ring ? tailtrace_now() : 0);
}

/* The request goes on in the calling thread. */
static inline void tailtrace_thread(tailtrace_window *w)
{
	if (w->ring)
		tailtrace_point(w, TAILTRACE_THREAD, tailtrace_tid(w->ring), tailtrace_now());
}

static inline void tailtrace_end(tailtrace_window *w)
{
	if (!w->ring)
		return;
	w->end = tailtrace_now();
	w->end_tid = tailtrace_tid(w->ring);
	tailtrace_publish(w);
	w->ring = NULL;
}

/* From begin to end, times of tailtrace_now, the whole process stood still. */
static inline void tailtrace_span(tailtrace_ring *r, uint8_t name, uint64_t begin, uint64_t end)
{
	tailtrace_window w;
	tailtrace_window_init(r, &w, TAILTRACE_SPAN, name);
	w.begin = begin;
	w.end = end;
	tailtrace_publish(&w);
}

/* ---- names ---- */

/* Copies at most TAILTRACE_NAME_SIZE bytes, cut between characters; bytes that
 * are not UTF-8 become '?'. */
static inline void tailtrace_clean_(char out[TAILTRACE_NAME_SIZE], const char *s)
{
	memset(out, 0, TAILTRACE_NAME_SIZE);
	for (size_t i = 0; s[i];) {
		unsigned char c = (unsigned char)s[i];
		size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
		for (size_t k = 1; k < n; k++)
			if (((unsigned char)s[i + k] & 0xc0) != 0x80)
				n = 0;
		if (n > 2) { /* overlong forms, surrogates, beyond U+10FFFF */
			unsigned char d = (unsigned char)s[i + 1];
			if ((c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) || (c == 0xf0 && d < 0x90) || (c == 0xf4 && d > 0x8f))
				n = 0;
		}
		if (i + (n ? n : 1) > TAILTRACE_NAME_SIZE)
			return;
		if (n)
			memcpy(out + i, s + i, n);
		else
			out[i] = '?';
		i += n ? n : 1;
	}
}

/* The id of a kind or step, to be asked for once and kept. 0, unnamed, when
 * all ids are in use. */
static inline uint8_t tailtrace_name(tailtrace_ring *r, const char *name)
{
	char clean[TAILTRACE_NAME_SIZE];
	if (!r || !r->map || !*name)
		return 0;
	tailtrace_clean_(clean, name);
	pthread_mutex_lock(&r->names);
	char *table = (char *)r->map + 256;
	uint32_t *count = (uint32_t *)(void *)(r->map + 40), id = 1;
	while (id <= *count && memcmp(table + TAILTRACE_NAME_SIZE * (id - 1), clean, sizeof clean))
		id++;
	if (id > TAILTRACE_NAMES) {
		id = 0;
	} else if (id > *count) {
		memcpy(table + TAILTRACE_NAME_SIZE * (id - 1), clean, sizeof clean);
		__atomic_store_n(count, id, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&r->names);
	return (uint8_t)id;
}

/* ---- making and closing a ring ---- */

/* Removes a ring that a dead process of this user left. */
static inline int tailtrace_remove_stale_(const char *path)
{
	struct stat st;
	if (lstat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return EEXIST;
	return unlink(path) ? errno : 0;
}

static inline void tailtrace_sweep_(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	while (d && (e = readdir(d))) {
		int pid, end = 0;
		char path[512];
		if (sscanf(e->d_name, "tailtrace-%d.ring%n", &pid, &end) != 1 || !end || e->d_name[end] || pid <= 0)
			continue;
		if (kill(pid, 0) == 0 || errno != ESRCH)
			continue;
		if (snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path)
			tailtrace_remove_stale_(path);
	}
	if (d)
		closedir(d);
}

/* Makes the file with all of its memory reserved, so that a full disk is an
 * error here and not a SIGBUS later. Returns an errno. */
static inline int tailtrace_file_(tailtrace_ring *r, int *fd)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int err;
	*fd = open(r->path, flags, 0600);
	if (*fd < 0 && errno == EEXIST) {
		if ((err = tailtrace_remove_stale_(r->path)))
			return err;
		*fd = open(r->path, flags, 0600);
	}
	if (*fd < 0)
		return errno;
	do
		err = posix_fallocate(*fd, 0, (off_t)r->size);
	while (err == EINTR);
	struct stat st;
	if (!err && fstat(*fd, &st))
		err = errno;
	if (!err) {
		r->dev = st.st_dev;
		r->ino = st.st_ino;
	}
	return err;
}

/* Writes the header, whole before the mapping exists. Names are those of the
 * ring that this one takes the place of, if any. */
static inline int tailtrace_header_(const tailtrace_ring *r, int fd, const unsigned char *before)
{
	unsigned char h[TAILTRACE_HEADER_SIZE] = {0};
	uint32_t fixed[6] = {1, TAILTRACE_HEADER_SIZE, TAILTRACE_SLOT_SIZE, (uint32_t)r->mask + 1, r->pid, 1};
	uint64_t created = tailtrace_now();
	memcpy(h, "TTRING\0\1", 8);
	memcpy(h + 8, fixed, sizeof fixed);
	memcpy(h + 32, &created, sizeof created);
	memcpy(h + 128, r->service, sizeof r->service);
	if (before) {
		memcpy(h + 40, before + 40, 4);
		memcpy(h + 256, before + 256, TAILTRACE_HEADER_SIZE - 256);
	}
	return pwrite(fd, h, sizeof h, 0) == (ssize_t)sizeof h ? 0 : errno ? errno : EIO;
}

/* Makes the ring of this process; r->map is what it had before. Returns an errno. */
static inline int tailtrace_make_(tailtrace_ring *r)
{
	unsigned char *before = r->map;
	int fd = -1;
	r->pid = (uint32_t)getpid();
	r->map = NULL;
	snprintf(r->path, sizeof r->path, "%s/tailtrace-%u.ring", r->dir, r->pid);
	int err = tailtrace_file_(r, &fd);
	if (!err)
		err = tailtrace_header_(r, fd, before);
	if (!err) {
		void *map = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			err = errno;
		else
			r->map = (unsigned char *)map;
	}
	if (err && fd >= 0)
		unlink(r->path);
	if (fd >= 0)
		close(fd);
	if (before)
		munmap(before, r->size);
	if (err)
		dprintf(2, "tailtrace: requests are not published: create request ring %s: %s\n", r->path, strerror(err));
	return err;
}

static tailtrace_ring *tailtrace_rings_;
static pthread_mutex_t tailtrace_rings_lock_ = PTHREAD_MUTEX_INITIALIZER;

static inline void tailtrace_after_fork_(void)
{
	pthread_mutex_init(&tailtrace_rings_lock_, NULL);
	for (tailtrace_ring *r = tailtrace_rings_; r; r = r->next) {
		pthread_mutex_init(&r->names, NULL);
		if (r->map)
			tailtrace_make_(r);
	}
}

/* Makes this process's ring in a directory other than /dev/shm. */
static inline tailtrace_ring *tailtrace_open_in(const char *dir, const char *service, uint32_t slots)
{
	static int at_fork;
	tailtrace_ring *r = (tailtrace_ring *)calloc(1, sizeof *r);
	if (!r || slots < 64 || slots > 1u << 20 || (slots & (slots - 1)) || strlen(dir) >= sizeof r->dir ||
	    __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
		fprintf(stderr, "tailtrace: requests are not published: create request ring of %u slots: %s\n", slots,
			r ? "want a power of two from 64 to 1048576, a short path and a little-endian machine" : "out of memory");
		free(r);
		return NULL;
	}
	r->mask = slots - 1;
	r->size = TAILTRACE_HEADER_SIZE + (size_t)TAILTRACE_SLOT_SIZE * slots;
	strcpy(r->dir, dir);
	tailtrace_clean_(r->service, service);
	pthread_mutex_init(&r->names, NULL);
	tailtrace_crc_init_(r);
	tailtrace_sweep_(dir);
	if (tailtrace_make_(r)) {
		free(r);
		return NULL;
	}
	pthread_mutex_lock(&tailtrace_rings_lock_);
	r->next = tailtrace_rings_;
	tailtrace_rings_ = r;
	if (!at_fork)
		at_fork = !pthread_atfork(NULL, NULL, tailtrace_after_fork_);
	pthread_mutex_unlock(&tailtrace_rings_lock_);
	return r;
}

/* Makes this process's ring. slots is a power of two from 64 to 1048576. */
static inline tailtrace_ring *tailtrace_open(const char *service, uint32_t slots)
{
	return tailtrace_open_in("/dev/shm", service, slots);
}

/* Unlinks the ring. What is open in other threads is published into nothing:
 * anonymous memory takes the place of the mapping, and the ring stays valid. */
static inline void tailtrace_close(tailtrace_ring *r)
{
	struct stat st;
	if (!r || !r->map)
		return;
	mmap(r->map, r->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (!lstat(r->path, &st) && st.st_dev == r->dev && st.st_ino == r->ino)
		unlink(r->path);
	pthread_mutex_lock(&tailtrace_rings_lock_);
	for (tailtrace_ring **at = &tailtrace_rings_; *at; at = &(*at)->next) {
		if (*at == r) {
			*at = r->next;
			break;
		}
	}
	pthread_mutex_unlock(&tailtrace_rings_lock_);
}

#endif
