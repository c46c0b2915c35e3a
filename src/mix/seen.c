#include "mix/seen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/bytes.h"

#define HEADER_SIZE 48
#define VERSION 1
#define BATCH_MAX 64
/* Read at once when loading. */
#define LOAD_TAGS 512
/* Filters that are paged in at once: 20 million tags. */
#define POPULATE_MAX ((size_t)256 << 20)
/* Linux 5.14; older kernels refuse it, which does not matter. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct seen {
	struct sphinx_replay filter;
	void *memory;
	size_t size;
	int fd; /* -1: none */
	off_t end; /* of what is whole in the file */
	bool dirty;
};

static void
make_header(uint8_t out[static HEADER_SIZE], const uint8_t *id)
{
	memset(out, 0, HEADER_SIZE);
	memcpy(out, "POSTERNS", 8);
	store_le32(out + 8, VERSION);
	memcpy(out + 16, id, SPHINX_KEY_SIZE);
}

/* Write all or nothing: what was begun is cut off again. */
static enum status
append(struct seen *s, const uint8_t *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(
		    s->fd, bytes + done, len - done, s->end + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int error = errno;
			/* If this fails too, loading cuts it off. */
			(void)!ftruncate(s->fd, s->end);
			errno = error;
			return ST_SYS;
		}
		done += (size_t)n;
	}
	s->end += (off_t)len;
	s->dirty = true;
	return ST_OK;
}

static enum status
load_tags(struct seen *s, off_t size)
{
	uint8_t buf[LOAD_TAGS * SEEN_TAG_SIZE];

	while (s->end + SEEN_TAG_SIZE <= size) {
		size_t want =
		    (size_t)(size - s->end) / SEEN_TAG_SIZE * SEEN_TAG_SIZE;
		if (want > sizeof(buf))
			want = sizeof(buf);
		ssize_t n = pread(s->fd, buf, want, s->end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < SEEN_TAG_SIZE)
			return ST_SYS;
		n -= n % SEEN_TAG_SIZE;
		for (ssize_t i = 0; i < n; i += SEEN_TAG_SIZE) {
			/* A tag that is there twice is there. */
			if (sphinx_replay_insert(&s->filter, buf + i) ==
			    ST_BUSY)
				return ST_NO_SPACE;
		}
		s->end += n;
	}
	if (s->end < size && ftruncate(s->fd, s->end) != 0)
		return ST_SYS;
	return ST_OK;
}

static enum status
open_journal(struct seen *s, const char *path, const uint8_t *id)
{
	uint8_t want[HEADER_SIZE], got[HEADER_SIZE];
	struct stat st;

	s->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->fd < 0)
		return ST_SYS;
	if (flock(s->fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? ST_LOCKED : ST_SYS;
	if (fstat(s->fd, &st) != 0)
		return ST_SYS;
	make_header(want, id);
	ssize_t n = pread(s->fd, got, sizeof(got), 0);
	if (n < 0)
		return ST_SYS;
	/* Empty, or its first write was cut off. */
	if (n < HEADER_SIZE && memcmp(got, want, (size_t)n) == 0)
		return append(s, want, sizeof(want));
	if (n < HEADER_SIZE || memcmp(got, want, 16) != 0)
		return ST_CORRUPT;
	if (memcmp(got, want, sizeof(got)) != 0)
		return ST_FOREIGN;
	s->end = HEADER_SIZE;
	return load_tags(s, st.st_size);
}

static enum status
make_filter(struct seen *s, uint64_t capacity)
{
	uint8_t key[16];
	size_t need = sphinx_replay_size(capacity), page = 2 << 20;

	if (need == 0 || need > SIZE_MAX - page)
		return ST_NO_MEMORY;
	s->size = need;
	s->memory = mmap(NULL, need, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->memory == MAP_FAILED) {
		s->memory = NULL;
		return ST_NO_MEMORY;
	}
	/* A look-up misses the cache; it need not miss the TLB. */
	(void)madvise(s->memory, need, MADV_HUGEPAGE);
	/* Clearing a huge page takes a millisecond. Better now than under the
	 * first packets, each of which would touch another. */
	if (need <= POPULATE_MAX)
		(void)madvise(s->memory, need, MADV_POPULATE_WRITE);
	randombytes_buf(key, sizeof(key));
	sphinx_replay_init(&s->filter, s->memory, capacity, key);
	return ST_OK;
}

enum status
seen_open(struct seen **out, const char *path,
    const uint8_t id[static SPHINX_KEY_SIZE], uint64_t capacity)
{
	struct seen *s = calloc(1, sizeof(*s));
	enum status st;

	*out = s;
	if (s == NULL)
		return ST_NO_MEMORY;
	s->fd = -1;
	st = make_filter(s, capacity);
	if (st == ST_OK && path != NULL)
		st = open_journal(s, path, id);
	if (st != ST_OK)
		seen_close(out);
	return st;
}

void
seen_close(struct seen **out)
{
	struct seen *s = *out;
	int error = errno;

	if (s == NULL)
		return;
	if (s->memory != NULL)
		munmap(s->memory, s->size);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
	*out = NULL;
	errno = error;
}

/* Write the tags that are new in a batch of at most BATCH_MAX; when that
 * fails, none of them is. (The filter keeps them: those packets are lost.) */
static void
write_new(struct seen *s, enum status *results, const uint8_t *tags, size_t n)
{
	uint8_t buf[BATCH_MAX * SEEN_TAG_SIZE];
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		if (results[i] != ST_OK)
			continue;
		memcpy(buf + len, tags + i * SEEN_TAG_SIZE, SEEN_TAG_SIZE);
		len += SEEN_TAG_SIZE;
	}
	if (s->fd < 0 || len == 0 || append(s, buf, len) == ST_OK)
		return;
	for (size_t i = 0; i < n; i++) {
		if (results[i] == ST_OK)
			results[i] = ST_SYS;
	}
}

void
seen_add(struct seen *s, enum status *results, const uint8_t *tags, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sphinx_replay_prefetch(&s->filter, tags + i * SEEN_TAG_SIZE);
	for (size_t i = 0; i < n; i++) {
		if (results[i] == ST_OK)
			results[i] = sphinx_replay_insert(
			    &s->filter, tags + i * SEEN_TAG_SIZE);
	}
	for (size_t i = 0; i < n; i += BATCH_MAX)
		write_new(s, results + i, tags + i * SEEN_TAG_SIZE,
		    n - i < BATCH_MAX ? n - i : BATCH_MAX);
}

uint64_t
seen_count(const struct seen *s)
{
	return s->filter.count;
}

int
seen_take_dirty(struct seen *s)
{
	bool dirty = s->dirty;

	s->dirty = false;
	return dirty ? s->fd : -1;
}
