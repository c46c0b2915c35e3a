/* Replay a corpus through a fuzz harness, as an ordinary test.
 *
 *	replay_NAME [FILE|FOLDER]...
 *
 * Without arguments the corpus is tests/fuzz/corpus/NAME. Each file is run in
 * a process of its own, so that one that crashes or hangs is named and the
 * others still run. The last line is "N passed, N failed".
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static unsigned passed, failed;

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
run_child(const char *path)
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
	exit(0); /* not _exit: the leak checker runs at exit */
}

static void
replay_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	int status = 0;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) < 0) {
		perror("fork");
		exit(2);
	}
	if (pid == 0)
		run_child(path);
	bool ended = waitpid(pid, &status, 0) == pid;
	bool ok = ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (ended && WIFSIGNALED(status))
		printf("    killed by signal %d (%s)\n", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	printf("%s %s\n", ok ? "ok  " : "FAIL", slash ? slash + 1 : path);
	passed += ok;
	failed += !ok;
}

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void
replay(const char *path)
{
	struct dirent **entries;
	char file[4096];
	struct stat st;

	if (stat(path, &st) != 0) {
		printf("FAIL %s can not be read\n", path);
		failed++;
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		replay_file(path);
		return;
	}
	int n = scandir(path, &entries, is_visible, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		replay_file(file);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int
main(int argc, char **argv)
{
	char corpus[4096];

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
