/* Whole files: read with care, replaced at once, one editor at a time. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/file.h"

static char folder[] = "/tmp/postern-file-XXXXXX";

/* Each case is a process of its own, so each gets its own folder; it is left
 * empty, and removed, when the case is good. */
static void
enter(void)
{
	CHECK(mkdtemp(folder) != NULL);
	CHECK(chdir(folder) == 0);
}

static void
leave(void)
{
	CHECK(chdir("/") == 0);
	/* Fails when a draft is left behind. */
	CHECK(rmdir(folder) == 0);
}

static void
check_content(const char *path, const char *want)
{
	char buf[256];
	size_t len;

	CHECK_STATUS(
	    file_read(buf, sizeof(buf), &len, path, FILE_ANYBODY), ST_OK);
	CHECK_INT(len, strlen(want));
	CHECK_STR(buf, want);
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	CHECK(lstat(path, &st) == 0);
	return st.st_mode & 07777;
}

static void
test_create(void)
{
	enter();
	umask(077); /* the mode asked for holds all the same */
	CHECK_STATUS(file_create("a", "hello\n", 6, 0640), ST_OK);
	check_content("a", "hello\n");
	CHECK_INT(mode_of("a"), 0640);
	CHECK_STATUS(file_create("a", "other\n", 6, 0600), ST_DUPLICATE);
	check_content("a", "hello\n");
	CHECK(symlink("nowhere", "link") == 0);
	CHECK_STATUS(file_create("link", "x", 1, 0600), ST_DUPLICATE);
	CHECK_STATUS(file_create("no/such", "x", 1, 0600), ST_SYS);
	CHECK_INT(errno, ENOENT);
	CHECK(unlink("a") == 0 && unlink("link") == 0);
	leave();
}

static void
test_read(void)
{
	char buf[8], *text;
	size_t len;
	int fds[2];

	enter();
	CHECK_STATUS(file_create("a", "1234567", 7, 0600), ST_OK);
	CHECK_STATUS(file_read(buf, 8, &len, "a", FILE_OWNER), ST_OK);
	CHECK_STR(buf, "1234567");
	CHECK_STATUS(file_read(buf, 7, &len, "a", FILE_OWNER), ST_NO_SPACE);
	CHECK(len == 0 && buf[0] == '\0');
	CHECK_STATUS(file_load(&text, &len, "a", 7, FILE_OWNER), ST_OK);
	CHECK_STR(text, "1234567");
	free(text);
	CHECK_STATUS(file_load(&text, &len, "a", 6, FILE_OWNER), ST_NO_SPACE);
	CHECK(text == NULL);
	static const mode_t unsafe[] = {0640, 0604, 0620, 0602, 0610, 0601};
	for (unsigned i = 0; i < 6; i++) {
		CHECK(chmod("a", unsafe[i]) == 0);
		CHECK_STATUS(
		    file_read(buf, 8, &len, "a", FILE_OWNER), ST_PERMISSION);
		CHECK(len == 0 && buf[0] == '\0');
		CHECK_STATUS(file_read(buf, 8, &len, "a", FILE_ANYBODY), ST_OK);
	}
	CHECK_STATUS(file_read(buf, 8, &len, "b", FILE_OWNER), ST_SYS);
	CHECK_INT(errno, ENOENT);
	static const enum file_access all[] = {
	    FILE_ANYBODY, FILE_GUARDED, FILE_OWNER};
	CHECK(chmod(".", 0777) == 0);
	for (unsigned i = 0; i < 3; i++) {
		errno = 0;
		CHECK_STATUS(file_load(&text, &len, ".", 99, all[i]), ST_SYS);
		CHECK_INT(errno, EISDIR);
	}
	CHECK(mkfifo("pipe", 0600) == 0);
	CHECK_STATUS(file_load(&text, &len, "pipe", 99, FILE_GUARDED), ST_OK);
	CHECK_INT(len, 0);
	free(text);
	CHECK_STATUS(file_read(buf, 8, &len, "pipe", FILE_OWNER), ST_OK);
	CHECK_INT(len, 0);
	CHECK(unlink("pipe") == 0);
	CHECK(pipe(fds) == 0);
	CHECK(write(fds[1], "ab\0c", 4) == 4 && close(fds[1]) == 0);
	CHECK_STATUS(file_load_fd(&text, &len, fds[0], 100), ST_OK);
	CHECK_INT(len, 4);
	CHECK_MEM(text, "ab\0c", 5);
	free(text);
	CHECK(unlink("a") == 0);
	leave();
}

/* More than one read's worth. */
static void
test_large(void)
{
	enum { N = 300000 };
	char *big = malloc(N), *text;
	size_t len;

	enter();
	CHECK(big != NULL);
	test_random_bytes(big, N);
	CHECK_STATUS(file_create("a", big, N, 0600), ST_OK);
	CHECK_STATUS(file_load(&text, &len, "a", N, FILE_OWNER), ST_OK);
	CHECK_INT(len, N);
	CHECK_MEM(text, big, N);
	free(text);
	CHECK_STATUS(
	    file_load(&text, &len, "a", N - 1, FILE_OWNER), ST_NO_SPACE);
	free(big);
	CHECK(unlink("a") == 0);
	leave();
}

static void
test_replace(void)
{
	enter();
	CHECK_STATUS(file_replace("a", "one", 3, 0644), ST_OK);
	CHECK_INT(mode_of("a"), 0644);
	CHECK(chmod("a", 0604) == 0);
	CHECK_STATUS(file_replace("a", "two", 3, 0600), ST_OK);
	check_content("a", "two");
	CHECK_INT(mode_of("a"), 0604);
	/* Through a link, in another folder. */
	CHECK(mkdir("sub", 0700) == 0 && symlink("../a", "sub/link") == 0);
	CHECK_STATUS(file_replace("sub/link", "three", 5, 0600), ST_OK);
	check_content("a", "three");
	struct stat st;
	CHECK(lstat("sub/link", &st) == 0 && S_ISLNK(st.st_mode));
	CHECK_STATUS(file_replace("no/such", "x", 1, 0600), ST_SYS);
	/* A name that can not be taken: the old one stays, nothing is left. */
	CHECK_STATUS(file_replace("sub", "x", 1, 0600), ST_SYS);
	check_content("sub/link", "three");
	CHECK(unlink("sub/link") == 0 && rmdir("sub") == 0);
	CHECK(unlink("a") == 0);
	leave();
}

/* Somebody turns a link while a file is edited: what is locked, read and put is
 * the file that it led to at first, and nothing else is touched. */
static void
test_turned_link(void)
{
	char real[PATH_MAX], *text;
	struct stat st;
	size_t len;
	int fd;

	enter();
	CHECK_STATUS(file_create("mine", "mine", 4, 0640), ST_OK);
	CHECK_STATUS(file_create("other", "other", 5, 0600), ST_OK);
	CHECK(chmod("other", 06755) == 0);
	CHECK(symlink("mine", "link") == 0);
	CHECK_STATUS(file_resolve(real, "link"), ST_OK);
	CHECK_STATUS(file_lock(&fd, "link", 0, false, 0), ST_SYS);
	CHECK_INT(errno, ELOOP);
	CHECK_STATUS(file_lock(&fd, real, 0, false, 0), ST_OK);
	CHECK(unlink("link") == 0 && symlink("other", "link") == 0);
	CHECK_STATUS(file_load_fd(&text, &len, fd, 100), ST_OK);
	CHECK_STR(text, "mine");
	free(text);
	/* And puts one in the file's own place. */
	CHECK(unlink("mine") == 0 && symlink("other", "mine") == 0);
	CHECK_STATUS(file_put(real, "new", 3, 0644), ST_OK);
	file_unlock(fd);
	check_content("other", "other");
	check_content("mine", "new");
	CHECK(lstat("mine", &st) == 0 && S_ISREG(st.st_mode));
	CHECK_INT(mode_of("mine"), 0644);
	/* Nothing is made that runs as its owner. */
	CHECK_STATUS(file_replace("link", "x", 1, 0644), ST_OK);
	CHECK_INT(mode_of("other"), 0755);
	CHECK_STATUS(file_resolve(real, "none"), ST_OK);
	CHECK_STR(real, "none");
	CHECK_STATUS(file_resolve(real, "mine/x"), ST_SYS);
	CHECK(
	    unlink("link") == 0 && unlink("mine") == 0 && unlink("other") == 0);
	leave();
}

static void
test_lock(void)
{
	int fd, ready[2], go[2];
	char byte;

	enter();
	CHECK_STATUS(file_lock(&fd, "a", 0, false, 0), ST_SYS);
	CHECK_INT(errno, ENOENT);
	CHECK_STATUS(file_lock(&fd, "a", 0, true, 0644), ST_OK);
	file_unlock(fd);
	file_unlock(-1);
	CHECK(pipe(ready) == 0 && pipe(go) == 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		/* The other editor: replaces the file before it lets go. */
		CHECK_STATUS(file_lock(&fd, "a", 0, false, 0), ST_OK);
		CHECK(write(ready[1], "x", 1) == 1);
		CHECK(read(go[0], &byte, 1) == 1);
		CHECK_STATUS(file_replace("a", "theirs", 6, 0600), ST_OK);
		file_unlock(fd);
		_exit(0);
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK_STATUS(file_lock(&fd, "a", 0, false, 0), ST_LOCKED);
	CHECK_INT(fd, -1);
	CHECK(write(go[1], "x", 1) == 1);
	CHECK_STATUS(file_lock(&fd, "a", 20, false, 0), ST_OK);
	check_content("a", "theirs"); /* so it was the new file we locked */
	int status;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	file_unlock(fd);
	CHECK(unlink("a") == 0);
	leave();
}

TESTS({"file: made once", test_create}, {"file: read", test_read},
    {"file: large", test_large}, {"file: replaced", test_replace},
    {"file: a link that is turned", test_turned_link},
    {"file: one editor at a time", test_lock})
