#include "cmd/mint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "cmd/artifact_find.h"
#include "cmd/cli.h"
#include "cmd/crew.h"
#include "cmd/secrets.h"
#include "store/file.h"

#define VKEY_MAX ((size_t)1 << 20)

struct mint {
	const char *name;
	char path[PATH_MAX];
	void *map; /* MAP_FAILED: none */
	size_t len;
	struct prove_key *key;
	struct semaphore_keys *keys; /* to verify with */
	struct crew crew;
};

static enum status
say_errno(const struct mint *m, const char *path)
{
	cli_error(m->name, "%s: %s", path, strerror(errno));
	return ST_SYS;
}

/* Map the file at m->path. */
static enum status
map_file(struct mint *m)
{
	int fd = open(m->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return say_errno(m, m->path);
	if (fstat(fd, &st) != 0) {
		close(fd);
		return say_errno(m, m->path);
	}
	if (!S_ISREG(st.st_mode) || st.st_size == 0) {
		close(fd);
		cli_error(m->name, "%s: not a .zkey file", m->path);
		return ST_CORRUPT;
	}
	m->len = (size_t)st.st_size;
	m->map =
	    mmap(NULL, m->len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	return m->map == MAP_FAILED ? say_errno(m, m->path) : ST_OK;
}

static enum status
say_not_found(
    const struct mint *m, const struct mint_options *o, uint32_t depth)
{
	if (o->zkey != NULL)
		cli_error(m->name, "%s: no proving key for depth %u there",
		    o->zkey, (unsigned)depth);
	else
		cli_error(m->name,
		    "no proving key for depth %u, looked for it as %s and in "
		    "node_modules (see: postern artifacts fetch --help; or "
		    "give "
		    "--zkey FILE)",
		    (unsigned)depth, m->path);
	return ST_NOT_FOUND;
}

static enum status
open_key(struct mint *m, const struct mint_options *o)
{
	uint32_t depth = o->depth != 0 ? o->depth : o->least;
	struct prove_fault f;
	char why[PROVE_FAULT_MAX];
	enum status st;

	if (artifact_find(m->path, o->zkey, depth) != ST_OK)
		return say_not_found(m, o, depth);
	st = map_file(m);
	if (st != ST_OK)
		return st;
	st = prove_key_new(&m->key, m->map, m->len, o->vkey != NULL, &f);
	if (st != ST_OK) {
		cli_error(m->name, "%s: %s (see: postern artifacts verify)",
		    m->path, prove_fault_text(why, &f));
		return st;
	}
	depth = prove_key_depth(m->key);
	if (o->depth != 0 && depth != o->depth) {
		cli_error(m->name, "%s: for depth %u, not %u", m->path,
		    (unsigned)depth, (unsigned)o->depth);
		return ST_BAD_DEPTH;
	}
	if (depth < o->least) {
		cli_error(m->name,
		    "%s: for depth %u, and the group's tree needs %u", m->path,
		    (unsigned)depth, (unsigned)o->least);
		return ST_BAD_DEPTH;
	}
	return ST_OK;
}

static enum status
open_verifier(struct mint *m, const struct mint_options *o)
{
	const uint32_t depth = prove_key_depth(m->key);
	const char *where;
	char *text;
	size_t len;
	enum status st =
	    semaphore_keys_new(&m->keys, SEMAPHORE_DEPTH_BIT(depth), NULL);

	if (st != ST_OK) {
		cli_error(m->name, "%s", status_text(st));
		return st;
	}
	if (o->vkey == NULL)
		return ST_OK;
	st = file_load(&text, &len, o->vkey, VKEY_MAX, FILE_GUARDED);
	if (st == ST_SYS)
		return say_errno(m, o->vkey);
	if (st == ST_OK)
		st = semaphore_keys_set(m->keys, depth, text, len, &where);
	else
		where = "";
	if (st != ST_OK)
		cli_error(m->name, "%s: %s%s%s", o->vkey, where,
		    *where != '\0' ? ": " : "", status_text(st));
	free(text);
	return st;
}

enum status
mint_open(struct mint **out, const char *name, const struct mint_options *o)
{
	struct mint *m = calloc(1, sizeof(*m));
	enum status st;

	*out = NULL;
	if (m == NULL) {
		cli_error(name, "out of memory");
		return ST_NO_MEMORY;
	}
	m->name = name;
	m->map = MAP_FAILED;
	m->crew.width = o->threads != 0 ? o->threads : crew_cpus();
	if (m->crew.width > CREW_MAX)
		m->crew.width = CREW_MAX;
	st = open_key(m, o);
	if (st == ST_OK)
		st = open_verifier(m, o);
	if (st != ST_OK)
		mint_close(m);
	else
		*out = m;
	return st;
}

void
mint_close(struct mint *m)
{
	if (m == NULL)
		return;
	semaphore_keys_free(m->keys);
	prove_key_free(m->key);
	if (m->map != MAP_FAILED)
		munmap(m->map, m->len);
	free(m);
}

/* What one proof needs; the first three in locked memory. */
struct minting {
	struct mint *m;
	struct semaphore_proof *p;
	const struct prove_statement *statement;
	uint8_t *random;
	void *memory;
	struct prove_fault fault;
};

static void
make(void *arg, size_t i)
{
	struct minting *job = arg;
	struct runner runner = crew_runner(&job->m->crew);

	(void)i;
	randombytes_buf(job->random, PROVE_RANDOM_LENGTH);
	/* The status is in the fault, too. */
	if (prove_make(job->p, job->m->key, job->statement, job->random,
		job->memory, &runner, &job->fault) != ST_OK)
		memset(job->p, 0, sizeof(*job->p));
}

/* Locked memory for as many threads as its limit allows. */
static enum status
allocate(struct minting *job)
{
	struct crew *crew = &job->m->crew;
	enum status st;

	while ((st = secrets_alloc(&job->memory,
		    prove_memory_size(job->m->key, crew->width) +
			PROVE_RANDOM_LENGTH)) == ST_PERMISSION &&
	    crew->width > 1)
		crew->width--;
	if (st == ST_OK)
		job->random = (uint8_t *)job->memory +
		    prove_memory_size(job->m->key, crew->width);
	return st;
}

enum status
mint_proof(struct mint *m, struct semaphore_proof *p,
    const struct prove_statement *statement)
{
	struct minting job = {.m = m, .p = p, .statement = statement};
	char why[SEMAPHORE_FAULT_MAX];
	struct semaphore_fault f;
	enum status st = allocate(&job);

	memset(p, 0, sizeof(*p));
	if (st == ST_OK)
		st = secrets_run(make, &job, 1);
	secrets_free(job.memory);
	if (st != ST_OK)
		return secrets_say(m->name, st);
	if (job.fault.status != ST_OK) {
		cli_error(m->name, "%s", prove_fault_text(why, &job.fault));
		return job.fault.status;
	}
	st = semaphore_verify(m->keys, NULL, p, &f);
	if (st != ST_OK) {
		memset(p, 0, sizeof(*p));
		cli_error(m->name,
		    "%s: made a proof that does not hold; the key is damaged "
		    "(see: postern artifacts verify)",
		    m->path);
	}
	return st;
}
