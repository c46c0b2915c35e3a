/* postern identity and postern group, as their users run them. */
#include "json_util.h"
#include "program.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/stat.h>

#define ALICE                                                                 \
	"2555421963140221735275512320391495596269358914510400924262397781120" \
	"877297287"

static struct program p;
static char folder[32];

static void
write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void
check_text(const char *path, const char *want)
{
	char text[4096];
	FILE *f = fopen(path, "r");

	CHECK(f != NULL);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	CHECK_STR(text, want);
}

/* Every official identity goes in by --from and comes out by show. */
static void
test_import_export(void)
{
	json_t *all = json_vectors("vectors/identities.json"), *one;
	size_t i;

	program_enter(folder);
	json_array_foreach(all, i, one)
	{
		char line[100];
		const char *export = json_member(one, "export");
		RUN(&p, "identity", "new", "--plain", "--from", export, "-o",
		    "id");
		CHECK_CODE(&p, 0);
		snprintf(
		    line, sizeof(line), "%s\n", json_member(one, "commitment"));
		CHECK_STR(p.out, line);
		CHECK(
		    (strstr(p.err, "warning") != NULL) == (export[0] == '\0'));
		RUN(&p, "identity", "show", "id");
		CHECK_CODE(&p, 0);
		CHECK_STR(p.out, line);
		RUN(&p, "identity", "show", "--json", "--secret", "id");
		CHECK_CODE(&p, 0);
		json_t *shown = json_parse(p.out);
		CHECK_STR(json_member(shown, "commitment"),
		    json_member(one, "commitment"));
		CHECK_STR(json_member(shown, "secretScalar"),
		    json_member(one, "secretScalar"));
		CHECK_STR(json_member(shown, "export"), export);
		CHECK(json_equal(json_object_get(shown, "publicKey"),
		    json_object_get(one, "publicKey")));
		json_decref(shown);
		RUN(&p, "identity", "show", "--json", "id");
		CHECK_CODE(&p, 0);
		shown = json_parse(p.out);
		CHECK_INT(json_object_size(shown), 2);
		CHECK(json_object_get(shown, "commitment") != NULL);
		json_decref(shown);
		CHECK(unlink("id") == 0);
	}
	CHECK_INT(i, 17);
	json_decref(all);
	LEAVE(folder, NULL);
}

static void
test_new(void)
{
	struct stat st;
	char first[100];

	program_enter(folder);
	umask(0);
	RUN(&p, "identity", "new", "--plain", "-o", "a");
	CHECK_CODE(&p, 0);
	CHECK(stat("a", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	strcpy(first, p.out);
	/* Never over a file that is there. */
	RUN(&p, "identity", "new", "--plain", "-o", "a");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "there is a file already");
	RUN(&p, "identity", "show", "a");
	CHECK_STR(p.out, first);
	RUN(&p, "identity", "new", "--plain", "-o", "b");
	CHECK_CODE(&p, 0);
	CHECK(strcmp(p.out, first) != 0);
	program_run(&p, "YWxpY2U=\n",
	    (const char *const[]){
		"identity", "new", "--plain", "--from", "-", "-o", "c", NULL});
	CHECK_CODE(&p, 0);
	CHECK_STR(p.out, ALICE "\n");
	RUN(&p, "identity", "new", "--plain", "--from", "YWxpY2U", "-o", "d");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "--from: not base64");
	RUN(&p, "identity", "new", "--plain");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "give -o FILE");
	RUN(&p, "identity", "new", "--plain", "-o", "no/such");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "no/such: No such file");
	LEAVE(folder, "a", "b", "c");
}

static void
test_unsafe_modes(void)
{
	program_enter(folder);
	RUN(&p, "identity", "new", "--plain", "-o", "a");
	CHECK_CODE(&p, 0);
	CHECK(chmod("a", 0640) == 0);
	RUN(&p, "identity", "show", "a");
	CHECK_CODE(&p, 2);
	CHECK_STR(p.out, "");
	CHECK_HAS(p.err, "chmod 600 a");
	write_text("b", "hello\n");
	CHECK(chmod("b", 0600) == 0);
	RUN(&p, "identity", "show", "b");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "b: not an identity file");
	RUN(&p, "identity", "show", "c");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "c: No such file");
	LEAVE(folder, "a", "b");
}

/* The passphrase: environment, descriptor, none, a wrong one. */
static void
test_encrypted(void)
{
	char commitment[100], text[4096];
	int fds[2];

	program_enter(folder);
	RUN(&p, "identity", "new", "-o", "a");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "no terminal to ask");
	CHECK(access("a", F_OK) != 0);
	setenv("POSTERN_PASSPHRASE", "a b c", 1);
	RUN(&p, "identity", "new", "-o", "a");
	CHECK_CODE(&p, 0);
	strcpy(commitment, p.out);
	RUN(&p, "identity", "show", "a");
	CHECK_CODE(&p, 0);
	CHECK_STR(p.out, commitment);
	setenv("POSTERN_PASSPHRASE", "a b d", 1);
	RUN(&p, "identity", "show", "a");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "wrong passphrase");
	CHECK_STR(p.out, "");
	setenv("POSTERN_PASSPHRASE", "", 1);
	RUN(&p, "identity", "show", "a");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "POSTERN_PASSPHRASE is empty");
	unsetenv("POSTERN_PASSPHRASE");
	CHECK(pipe(fds) == 0 && dup2(fds[0], 10) == 10);
	CHECK(write(fds[1], "a b c\nrest", 10) == 10 && close(fds[1]) == 0);
	RUN(&p, "identity", "show", "--passphrase-fd", "10", "a");
	CHECK_CODE(&p, 0);
	CHECK_STR(p.out, commitment);
	RUN(&p, "identity", "show", "--passphrase-fd", "ten", "a");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "not a file descriptor");
	/* The commitment is not in the file. */
	FILE *f = fopen("a", "r");
	CHECK(f != NULL);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	commitment[strlen(commitment) - 1] = '\0';
	CHECK(strstr(text, commitment) == NULL);
	CHECK_HAS(text, "postern identity 1 encrypted\nargon2id 16 40960 ");
	LEAVE(folder, "a");
}

/* Read from the terminal until WANT has come. */
static void
expect(int tty, char text[static 4096], const char *want)
{
	size_t len = 0;

	text[0] = '\0';
	while (strstr(text, want) == NULL) {
		struct pollfd fd = {tty, POLLIN, 0};
		CHECK(poll(&fd, 1, 60000) == 1);
		ssize_t n = read(tty, text + len, 4095 - len);
		if (n <= 0)
			test_fail(
			    __FILE__, __LINE__, "no \"%s\" in: %s", want, text);
		len += (size_t)n;
		text[len] = '\0';
	}
}

static int
wait_code(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static pid_t
on_terminal(int *tty, const char *const *argv)
{
	pid_t pid = forkpty(tty, NULL, NULL, NULL);

	CHECK(pid >= 0);
	if (pid == 0) {
		execv(POSTERN_BIN, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	return pid;
}

/* On a terminal: asked twice, never echoed. */
static void
test_terminal(void)
{
	static const char *const make[] = {
	    "postern", "identity", "new", "-o", "a", NULL};
	static const char *const show[] = {
	    "postern", "identity", "show", "a", NULL};
	char text[4096], all[8192] = "";
	int tty;
	pid_t pid;

	program_enter(folder);
	pid = on_terminal(&tty, make);
	expect(tty, text, "new passphrase for a: ");
	CHECK(write(tty, "sesame\n", 7) == 7);
	expect(tty, text, "once more for a: ");
	strcat(all, text);
	CHECK(write(tty, "sesami\n", 7) == 7);
	expect(tty, text, "the two are not the same");
	strcat(all, text);
	CHECK_INT(wait_code(pid), 2);
	CHECK(access("a", F_OK) != 0);
	close(tty);

	pid = on_terminal(&tty, make);
	expect(tty, text, "new passphrase for a: ");
	CHECK(write(tty, "sesame\n", 7) == 7);
	expect(tty, text, "once more for a: ");
	CHECK(write(tty, "sesame\n", 7) == 7);
	expect(tty, text, "send this line to the curator:\r\n");
	strcat(all, text);
	CHECK_INT(wait_code(pid), 0);
	close(tty);

	setenv("POSTERN_PASSPHRASE", "sesame", 1);
	RUN(&p, "identity", "show", "a");
	CHECK_CODE(&p, 0);
	unsetenv("POSTERN_PASSPHRASE");
	p.out[strcspn(p.out, "\n")] = '\0';
	pid = on_terminal(&tty, show);
	expect(tty, text, "passphrase for a: ");
	CHECK(write(tty, "sesame\n", 7) == 7);
	expect(tty, text, p.out);
	strcat(all, text);
	CHECK_INT(wait_code(pid), 0);
	close(tty);
	CHECK(strstr(all, "sesam") == NULL);
	LEAVE(folder, "a");
}

/* --- groups --- */

static void
test_group_edit(void)
{
	struct stat st;

	program_enter(folder);
	umask(022);
	RUN(&p, "identity", "new", "--plain", "--from", "YWxpY2U=", "-o", "id");
	CHECK_CODE(&p, 0);
	/* The line that identity new ends with is what add takes. */
	p.out[strcspn(p.out, "\n")] = '\0';
	char line[100];
	strcpy(line, p.out);
	RUN(&p, "group", "add", "m", line);
	CHECK_CODE(&p, 0);
	check_text("m", ALICE "\n");
	write_text("m", "# friends\n" ALICE " # alice\n\n12");
	CHECK(chmod("m", 0640) == 0);
	RUN(&p, "group", "add", "m", "13", "14");
	CHECK_CODE(&p, 0);
	CHECK_STR(p.out, "");
	check_text("m", "# friends\n" ALICE " # alice\n\n12\n13\n14\n");
	CHECK(stat("m", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0640);
	RUN(&p, "group", "remove", "m", "13", line);
	CHECK_CODE(&p, 0);
	check_text("m", "# friends\n\n12\n14\n");
	program_run(&p, "# more\n20\n21\n",
	    (const char *const[]){"group", "add", "m", "-", NULL});
	CHECK_CODE(&p, 0);
	RUN(&p, "group", "list", "m");
	CHECK_STR(p.out, "12\n14\n20\n21\n");
	RUN(&p, "group", "list", "--json", "m");
	CHECK_STR(p.out, "[\"12\",\"14\",\"20\",\"21\"]\n");
	LEAVE(folder, "id", "m");
}

static void
test_group_refuses(void)
{
	static const struct {
		const char *argv[4];
		int code;
		const char *say;
	} cases[] = {
	    {{"add", "m", "12"}, 1, "m: line 2: a member already: 12"},
	    {{"add", "m", "15", "15"}, 2, "15: given twice"},
	    {{"add", "m", "0"}, 2, "0: zero is no commitment"},
	    {{"add", "m", "012"}, 2, "012: not a commitment"},
	    {{"add", "m", "YWxpY2U="}, 2, "YWxpY2U=: not a commitment"},
	    {{"add", "m", "12 13"}, 2, "not a commitment"},
	    {{"add", "m", "15\n16"}, 2, "not a commitment"},
	    {{"add", "m", ""}, 2, "not a commitment"},
	    {{"add", "m",
		 "2188824287183927522224640574525727508854836440041603434369820"
		 "4"
		 "186575808495617"},
		2, "too large for a commitment"},
	    {{"add", "m", "15", "12"}, 1, "a member already: 12"},
	    {{"add", "m"}, 2, "an argument is missing"},
	    {{"remove", "m", "15"}, 1, "m: no such member: 15"},
	    {{"remove", "m", "12", "15"}, 1, "m: no such member: 15"},
	    {{"remove", "none", "15"}, 2, "none: No such file"},
	    {{"proof", "m", "15"}, 1, "m: no such member"},
	    {{"root", "none"}, 2, "none: No such file"},
	    {{"add", "bad", "15"}, 2, "bad: line 3: the same commitment"},
	    {{"root", "bad"}, 2, "bad: line 3: the same commitment as line 1"},
	    {{"list", "bad"}, 2, "bad: line 3"},
	    {{"frob", "m"}, 2, "no such command: frob"},
	};

	program_enter(folder);
	write_text("m", "11\n12\n");
	write_text("bad", "11\n12\n11\n");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *argv[6] = {"group"};
		memcpy(argv + 1, cases[i].argv, sizeof(cases[i].argv));
		program_run(&p, "", argv);
		if (p.code != cases[i].code ||
		    strstr(p.err, cases[i].say) == NULL || p.out[0] != '\0')
			test_fail(__FILE__, __LINE__, "case %u: %d: %s", i,
			    p.code, p.err);
	}
	check_text("m", "11\n12\n");
	check_text("bad", "11\n12\n11\n");
	LEAVE(folder, "m", "bad");
}

/* Root and proof of each official group, by the commands. */
static void
test_group_official(void)
{
	json_t *all = json_vectors("vectors/groups.json"), *one, *member;
	size_t i, k;

	program_enter(folder);
	json_array_foreach(all, i, one)
	{
		json_t *members = json_object_get(one, "members");
		json_t *proof = json_object_get(one, "merkleProof"), *got;
		if (!json_is_array(members))
			continue;
		FILE *f = fopen("m", "w");
		CHECK(f != NULL);
		json_array_foreach(members, k, member)
		    fprintf(f, "%s\n", json_string_value(member));
		CHECK(fclose(f) == 0);
		RUN(&p, "group", "root", "--json", "m");
		CHECK_CODE(&p, 0);
		got = json_parse(p.out);
		CHECK_STR(json_member(got, "root"), json_member(one, "root"));
		CHECK(json_equal(json_object_get(got, "depth"),
		    json_object_get(one, "depth")));
		json_decref(got);
		if (json_is_object(proof)) {
			RUN(&p, "group", "proof", "--json", "m",
			    json_member(proof, "leaf"));
			CHECK_CODE(&p, 0);
			got = json_parse(p.out);
			CHECK_STR(
			    json_member(got, "root"), json_member(one, "root"));
			json_object_del(got, "root");
			CHECK(json_equal(got, proof));
			json_decref(got);
		}
		CHECK(unlink("m") == 0);
	}
	json_decref(all);
	LEAVE(folder, NULL);
}

/* Ten editors at once: each one's member is there in the end. */
static void
test_group_editors(void)
{
	enum { N = 10 };
	pid_t pids[N];
	char number[16];

	program_enter(folder);
	for (int i = 0; i < N; i++) {
		CHECK((pids[i] = fork()) >= 0);
		if (pids[i] == 0) {
			snprintf(number, sizeof(number), "%d", 100 + i);
			execl(POSTERN_BIN, "postern", "group", "add", "m",
			    number, (char *)NULL);
			_exit(127);
		}
	}
	for (int i = 0; i < N; i++)
		CHECK_INT(wait_code(pids[i]), 0);
	RUN(&p, "group", "list", "m");
	CHECK_INT(strlen(p.out), N * 4);
	for (int i = 0; i < N; i++) {
		snprintf(number, sizeof(number), "%d\n", 100 + i);
		CHECK_HAS(p.out, number);
	}
	LEAVE(folder, "m");
}

TESTS({"identity: the official ones through the command", test_import_export},
    {"identity: new", test_new}, {"identity: unsafe files", test_unsafe_modes},
    {"identity: encrypted", test_encrypted},
    {"identity: on a terminal", test_terminal},
    {"group: edits", test_group_edit}, {"group: refused", test_group_refuses},
    {"group: the official ones through the command", test_group_official},
    {"group: ten editors at once", test_group_editors})
