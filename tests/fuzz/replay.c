/* Replay a corpus through a fuzz harness, as an ordinary test.
 *
 *	replay_NAME [FILE|FOLDER]...
 *
 * Without arguments the corpus is tests/fuzz/corpus/NAME. Each file is run in
 * a process of its own, so that one that crashes or hangs is named and the
 * others still run. Where a harness takes long to set up (fuzz_sets_up), one
 * process takes them all, and another those behind one that crashes. The last
 * line is "N passed, N failed".
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef TESTS_DIR
#error "TESTS_DIR must be the path of tests/"
#endif

/* No input may take longer. */
#define FILE_SECONDS 30

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Only some harnesses have it. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) extern const bool fuzz_sets_up;

static unsigned passed, failed;
/* How many files the process has finished: it and its parent see it. */
static volatile unsigned *finished;

/* The whole file in memory of exactly its size, so that a read beyond its end
 * is seen by the address sanitizer. NULL when it can not be read. */
static uint8_t *
read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	struct stat st;

	if (f == NULL)
		return NULL;
	if (fstat(fileno(f), &st) == 0) {
		*len = (size_t)st.st_size;
		data = malloc(*len != 0 ? *len : 1);
	}
	if (data != NULL && fread(data, 1, *len, f) != *len) {
		free(data);
		data = NULL;
	}
	fclose(f);
	return data;
}

static void
run_file(const char *path)
{
	size_t len;
	uint8_t *data = read_file(path, &len);

	if (data == NULL) {
		perror(path);
		_exit(1);
	}
	alarm(FILE_SECONDS);
	LLVMFuzzerTestOneInput(data, len);
	free(data);
}

static void
report(const char *path, bool ok)
{
	const char *slash = strrchr(path, '/');

	printf("%s %s\n", ok ? "ok  " : "FAIL", slash ? slash + 1 : path);
	passed += ok;
	failed += !ok;
}

/* Run PATHS in one process, up to the first that fails; how many are done. */
static unsigned
run_some(char *const *paths, unsigned n)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	*finished = 0;
	if ((pid = fork()) < 0) {
		perror("fork");
		exit(2);
	}
	if (pid == 0) {
		for (unsigned i = 0; i < n; i++) {
			run_file(paths[i]);
			*finished = i + 1;
		}
		exit(0); /* not _exit: the leak checker runs at exit */
	}
	bool ended = waitpid(pid, &status, 0) == pid;
	bool ok = ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (ended && WIFSIGNALED(status))
		printf("    killed by signal %d (%s)\n", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	/* What fails at the exit is put down to the last. */
	unsigned good = *finished - (!ok && *finished == n);
	for (unsigned i = 0; i < good; i++)
		report(paths[i], true);
	if (good < n)
		report(paths[good], false);
	return good < n ? good + 1 : n;
}

static void
replay_files(char *const *paths, unsigned n)
{
	bool together = &fuzz_sets_up != NULL && fuzz_sets_up;

	for (unsigned i = 0; i < n;)
		i += run_some(paths + i, together ? n - i : 1);
}

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void
replay(char *path)
{
	struct dirent **entries;
	struct stat st;
	char **paths;

	if (stat(path, &st) != 0) {
		printf("FAIL %s can not be read\n", path);
		failed++;
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		replay_files(&path, 1);
		return;
	}
	int n = scandir(path, &entries, is_visible, alphasort);
	if (n <= 0 || (paths = calloc((size_t)n, sizeof(*paths))) == NULL)
		return;
	for (int i = 0; i < n; i++) {
		if (asprintf(&paths[i], "%s/%s", path, entries[i]->d_name) < 0)
			exit(2);
		free(entries[i]);
	}
	free(entries);
	replay_files(paths, (unsigned)n);
	for (int i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
}

int
main(int argc, char **argv)
{
	char corpus[4096];

	finished = mmap(NULL, sizeof(*finished), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (finished == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	if (LLVMFuzzerInitialize != NULL)
		LLVMFuzzerInitialize(&argc, &argv);
	if (argc < 2) {
		const char *name = strstr(argv[0], "replay_");
		snprintf(corpus, sizeof(corpus), TESTS_DIR "/fuzz/corpus/%s",
		    name != NULL ? name + strlen("replay_") : "");
		replay(corpus);
	}
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	/* A corpus with nothing in it tests nothing. */
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0 || passed == 0;
}
