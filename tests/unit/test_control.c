/* tor's control port: its lines, its proofs, a server that breaks the rules,
 * and a real tor. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "net_util.h"
#include "tor/control.h"
#include "tor/reply.h"
#include "tor/safecookie.h"

/* --- lines --- */

static void
test_lines(void)
{
	static const char text[] = "250-first line\r\n"
				   "250+data=\r\n"
				   "250 not the end\r\n"
				   "..dot\r\n"
				   "\r\n"
				   ".\r\n"
				   "250 OK\r\n"
				   "650 EVENT x\r\n"
				   "552 \r\n";
	static const struct {
		enum reply_kind kind;
		unsigned code;
		const char *text;
	} want[] = {
	    {REPLY_MIDDLE, 250, "first line"},
	    {REPLY_DATA_BEGIN, 250, "data="},
	    {REPLY_DATA, 250, "250 not the end"},
	    {REPLY_DATA, 250, ".dot"},
	    {REPLY_DATA, 250, ""},
	    {REPLY_DATA_END, 250, ""},
	    {REPLY_LAST, 250, "OK"},
	    {REPLY_LAST, 650, "EVENT x"},
	    {REPLY_LAST, 552, ""},
	};
	struct reply_reader r = {0};
	struct reply_line line;
	span_t in = span_str(text);
	size_t used;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CHECK_STATUS(reply_read(&r, &line, &used, in), ST_OK);
		CHECK_INT(line.kind, want[i].kind);
		CHECK_INT(line.code, want[i].code);
		CHECK(span_equal(line.text, span_str(want[i].text)));
		in = span_of(in.ptr + used, in.len - used);
	}
	CHECK_INT(in.len, 0);
	CHECK_STATUS(reply_read(&r, &line, &used, in), ST_MORE);

	static const char *const bad[] = {"250 OK\n", "\r\n", "25 OK\r\n",
	    "250\r\n", "2500 OK\r\n", "250_OK\r\n", "x50 OK\r\n", "099 x\r\n",
	    " 250 OK\r\n"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_STATUS(reply_read(&r, &line, &used, span_str(bad[i])),
		    ST_BAD_ENCODING);
		CHECK_INT(used, 0);
	}
	CHECK_STATUS(
	    reply_read(&r, &line, &used, span_str("250 OK\r")), ST_MORE);
}

static void
test_values(void)
{
	static const struct {
		const char *text, *key;
		enum status status;
		const char *value;
	} cases[] = {
	    {"A=1 B=2", "A", ST_OK, "1"},
	    {"A=1 B=2", "B", ST_OK, "2"},
	    {"A=1 B=2", "C", ST_NOT_FOUND, ""},
	    {"AB=1 B=2", "A", ST_NOT_FOUND, ""},
	    {"A= B=2", "A", ST_OK, ""},
	    {"A=\"x B=3\" B=2", "B", ST_OK, "2"},
	    {"A=\"x y\"", "A", ST_OK, "x y"},
	    {"A=\"\"", "A", ST_OK, ""},
	    {"A=\"q\\\"b\\\\n\\n\\101\\7\"", "A", ST_OK, "q\"b\\n\nA\a"},
	    {"A=\"\\q\"", "A", ST_BAD_ENCODING, ""},
	    {"A=\"\\000\"", "A", ST_BAD_ENCODING, ""},
	    {"A=\"\\777\"", "A", ST_BAD_ENCODING, ""},
	    {"A=\"open", "A", ST_BAD_ENCODING, ""},
	    {"A=\"open\\\"", "A", ST_BAD_ENCODING, ""},
	    {"A=\"x\"y", "A", ST_BAD_ENCODING, ""},
	    {"A=0123456789abcde", "A", ST_OK, "0123456789abcde"},
	    {"A=0123456789abcdef", "A", ST_NO_SPACE, ""},
	    {"A=\"0123456789abcde\"", "A", ST_OK, "0123456789abcde"},
	    {"A=\"0123456789abcdef\"", "A", ST_NO_SPACE, ""},
	    {"", "A", ST_NOT_FOUND, ""},
	};
	char out[16];
	span_t v;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(out, 'x', sizeof(out));
		CHECK_STATUS(reply_value(out, sizeof(out),
				 span_str(cases[i].text), cases[i].key),
		    cases[i].status);
		CHECK_STR(out, cases[i].value);
	}
	CHECK_STATUS(reply_value(out, sizeof(out), span_of("A=a\0b", 5), "A"),
	    ST_BAD_ENCODING);
	CHECK_STATUS(reply_info(&v, span_str("a/b=1 2"), "a/b"), ST_OK);
	CHECK(span_equal(v, span_str("1 2")));
	CHECK_STATUS(reply_info(&v, span_str("a/b=1"), "a"), ST_NOT_FOUND);
	CHECK_STATUS(reply_info(&v, span_str("a"), "a"), ST_NOT_FOUND);
	CHECK(span_equal(reply_word(span_str("  a  bc d"), 1), span_str("bc")));
	CHECK(span_equal(reply_word(span_str("a bc d"), 2), span_str("d")));
	CHECK_INT(reply_word(span_str("a bc d "), 3).len, 0);
	CHECK_INT(reply_word(span_of(NULL, 0), 0).len, 0);
}

/* Computed with Python's hmac. */
static void
test_safecookie(void)
{
	struct safecookie s;
	uint8_t got[32], want[32];

	for (unsigned i = 0; i < 32; i++) {
		s.cookie[i] = (uint8_t)i;
		s.client_nonce[i] = (uint8_t)(100 + i);
		s.server_nonce[i] = (uint8_t)(200 + i);
	}
	safecookie_server_hash(got, &s);
	CHECK_STATUS(hex_decode(want, 32,
			 span_str("0cd2811abe486545c2be5e94041712bf"
				  "b974921245ead5541a47db984343ceee")),
	    ST_OK);
	CHECK_MEM(got, want, 32);
	safecookie_client_hash(got, &s);
	CHECK_STATUS(hex_decode(want, 32,
			 span_str("d42c79f3763c2e27f0073ce04620b691"
				  "62f3f514e5526bebdd7ad160886e0c8a")),
	    ST_OK);
	CHECK_MEM(got, want, 32);
}

/* --- a server of ours --- */

static char folder[] = "/tmp/postern-control-XXXXXX";
static char cookie_path[64];
static const uint8_t cookie[32] = "the cookie is thirty-two bytes.";

struct fixture {
	struct loop *loop;
	struct control *control;
	int listener, peer;
	endpoint_t at;
	unsigned changes, restarts, gone;
	uint32_t gone_id;
	char in[4096]; /* what came, up to the last CRLF read */
};

static void
changed(void *arg)
{
	((struct fixture *)arg)->changes++;
}

static void
restarted(void *arg)
{
	((struct fixture *)arg)->restarts++;
}

static void
circuit_gone(void *arg, uint32_t id)
{
	struct fixture *f = arg;

	f->gone++;
	f->gone_id = id;
}

static const struct control_ops ops = {changed, restarted, circuit_gone};

/* ADD is a command with a secret, or NULL: then the cookie is configured. */
static void
setup_with(struct fixture *f, const char *password, const char *add)
{
	struct control_config c = {.password = password,
	    .add = add,
	    .cookie_path = add != NULL ? cookie_path : NULL,
	    .retry_ms = 20,
	    .ops = &ops,
	    .arg = f};

	*f = (struct fixture){.loop = test_loop(), .peer = -1};
	CHECK(mkdtemp(folder) != NULL);
	snprintf(cookie_path, sizeof(cookie_path), "%s/cookie", folder);
	int fd = open(cookie_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, cookie, 32) == 32);
	close(fd);
	CHECK(listen_at(&f->listener, &f->at, 4, 4));
	c.at = f->at;
	CHECK_STATUS(control_new(&f->control, f->loop, &c), ST_OK);
	CHECK_INT(control_info(f->control)->state, CONTROL_DOWN);
}

static void
setup(struct fixture *f, const char *password)
{
	setup_with(f, password, NULL);
}

static void
teardown(struct fixture *f)
{
	control_free(&f->control);
	CHECK(f->control == NULL);
	if (f->peer >= 0)
		close(f->peer);
	close(f->listener);
	unlink(cookie_path);
	CHECK_INT(rmdir(folder), 0);
	loop_free(&f->loop);
}

static void
take_call(struct fixture *f)
{
	if (f->peer >= 0)
		close(f->peer);
	SPIN(f->loop,
	    (f->peer = accept4(
		 f->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
}

/* Wait for a command; it has to begin with WANT. */
static void
hear(struct fixture *f, const char *want)
{
	size_t n = 0;

	do {
		recv_all(f->loop, f->peer, f->in + n, 1);
		CHECK(++n < sizeof(f->in));
	} while (n < 2 || memcmp(f->in + n - 2, "\r\n", 2) != 0);
	f->in[n - 2] = '\0';
	if (strncmp(f->in, want, strlen(want)) != 0)
		test_fail(
		    __FILE__, __LINE__, "\"%s\" is not \"%s...\"", f->in, want);
}

static void
say(struct fixture *f, const char *text)
{
	send_all(f->loop, f->peer, text, strlen(text));
}

static void
say_methods(struct fixture *f, const char *methods, const char *path)
{
	char text[256];

	snprintf(text, sizeof(text),
	    "250-PROTOCOLINFO 1\r\n250-AUTH METHODS=%s COOKIEFILE=\"%s\"\r\n"
	    "250-VERSION Tor=\"0.4.9.11\"\r\n250 OK\r\n",
	    methods, path);
	say(f, text);
}

/* Prove the cookie as tor does; WRONG: with a proof that is not one. */
static void
challenge(struct fixture *f, bool wrong)
{
	struct safecookie s;
	char text[256], hash_hex[65], nonce_hex[65];
	uint8_t hash[32];

	hear(f, "AUTHCHALLENGE SAFECOOKIE ");
	memcpy(s.cookie, cookie, 32);
	CHECK_STATUS(
	    hex_decode(s.client_nonce, 32, span_str(f->in + 25)), ST_OK);
	test_random_bytes(s.server_nonce, 32);
	safecookie_server_hash(hash, &s);
	hash[31] ^= wrong;
	hex_encode(hash_hex, span_of(hash, 32));
	hex_encode(nonce_hex, span_of(s.server_nonce, 32));
	snprintf(text, sizeof(text),
	    "250 AUTHCHALLENGE SERVERHASH=%s SERVERNONCE=%s\r\n", hash_hex,
	    nonce_hex);
	say(f, text);
	if (wrong)
		return;
	hear(f, "AUTHENTICATE ");
	safecookie_client_hash(hash, &s);
	hex_encode(hash_hex, span_of(hash, 32));
	CHECK_STR(f->in + 13, hash_hex);
}

static void
greet(struct fixture *f, unsigned pid, unsigned uptime)
{
	char text[512];

	hear(f, "SETEVENTS STATUS_CLIENT HS_DESC CIRC");
	hear(f, "GETINFO version process/pid uptime ");
	say(f, "250 OK\r\n");
	snprintf(text, sizeof(text),
	    "250-version=0.4.9.11 \x1b[31m\r\n250-process/pid=%u\r\n"
	    "250-uptime=%u\r\n650 CIRC 5 BUILT x\r\n"
	    "250-status/circuit-established=1\r\n"
	    "250-status/bootstrap-phase=NOTICE BOOTSTRAP PROGRESS=85 "
	    "TAG=x SUMMARY=\"y z\"\r\n250 OK\r\n",
	    pid, uptime);
	say(f, text);
	SPIN(f->loop, control_info(f->control)->state == CONTROL_UP);
}

static void
come_up(struct fixture *f, unsigned pid, unsigned uptime)
{
	take_call(f);
	hear(f, "PROTOCOLINFO 1");
	say_methods(f, "COOKIE,SAFECOOKIE", cookie_path);
	challenge(f, false);
	say(f, "250 OK\r\n");
	greet(f, pid, uptime);
}

static void
expect_down(struct fixture *f, enum status why)
{
	SPIN(f->loop, control_info(f->control)->state == CONTROL_DOWN);
	CHECK_STATUS(control_info(f->control)->why_down, why);
}

static void
test_up(void)
{
	struct fixture f;

	setup(&f, NULL);
	CHECK_STATUS(control_close_circuit(f.control, 1), ST_BUSY);
	come_up(&f, 77, 100);
	const struct control_info *info = control_info(f.control);
	CHECK_STR(info->version, "0.4.9.11 ?[31m"); /* fit to be shown */
	CHECK(info->circuit_established);
	CHECK_INT(info->bootstrap, 85);
	CHECK_INT(info->pid, 77);
	CHECK_INT(info->connects, 1);
	CHECK_INT(f.restarts, 0);
	CHECK_STATUS(control_close_circuit(f.control, 4294967295u), ST_OK);
	CHECK_STATUS(control_close_circuit(f.control, 24), ST_OK);
	hear(&f, "CLOSECIRCUIT 4294967295");
	hear(&f, "CLOSECIRCUIT 24");
	say(&f, "552 Unknown circuit\r\n250 OK\r\n");
	SPIN(f.loop, info->circuits_closed == 1);

	unsigned before = f.changes;
	say(&f,
	    "650 STATUS_CLIENT NOTICE CIRCUIT_NOT_ESTABLISHED REASON=x\r\n");
	SPIN(f.loop, !info->circuit_established);
	say(&f, "650 STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=100 TAG=done\r\n");
	SPIN(f.loop, info->bootstrap == 100);
	say(&f, "650 STATUS_CLIENT NOTICE CIRCUIT_ESTABLISHED\r\n");
	SPIN(f.loop, info->circuit_established);
	say(&f, "650 HS_DESC UPLOAD abc UNKNOWN x\r\n");
	say(&f, "650 HS_DESC UPLOADED abc UNKNOWN x\r\n");
	SPIN(f.loop, info->onion_published);
	CHECK_INT(f.changes, before + 4);
	say(&f, "650 CIRC 9 LAUNCHED\r\n650 CIRC 24 CLOSED $A~b R=x\r\n");
	SPIN(f.loop, f.gone == 1);
	CHECK_INT(f.gone_id, 24);
	teardown(&f);
}

/* Whoever cannot prove the cookie learns nothing of it. */
static void
test_impostor(void)
{
	struct fixture f;

	setup(&f, NULL);
	take_call(&f);
	hear(&f, "PROTOCOLINFO 1");
	say_methods(&f, "SAFECOOKIE", cookie_path);
	challenge(&f, true);
	expect_down(&f, ST_FOREIGN);
	take_call(&f); /* it tries again */
	hear(&f, "PROTOCOLINFO 1");
	/* The method that would hand it over is not used. */
	say_methods(&f, "COOKIE", cookie_path);
	expect_down(&f, ST_PERMISSION);
	take_call(&f);
	hear(&f, "PROTOCOLINFO 1");
	say_methods(&f, "SAFECOOKIE", "/etc/passwd"); /* not 32 bytes */
	expect_down(&f, ST_BAD_LENGTH);
	take_call(&f);
	hear(&f, "PROTOCOLINFO 1");
	say_methods(&f, "SAFECOOKIE", "relative/path");
	expect_down(&f, ST_PERMISSION);
	take_call(&f);
	hear(&f, "PROTOCOLINFO 1");
	say_methods(&f, "SAFECOOKIE", "/nowhere/at/all");
	expect_down(&f, ST_NOT_FOUND);
	CHECK_INT(control_info(f.control)->connects, 0);
	teardown(&f);
}

static void
test_password(void)
{
	struct fixture f;

	setup(&f, "pass");
	take_call(&f);
	hear(&f, "PROTOCOLINFO 1");
	say_methods(&f, "HASHEDPASSWORD,SAFECOOKIE", cookie_path);
	hear(&f, "AUTHENTICATE 70617373");
	CHECK_STR(f.in, "AUTHENTICATE 70617373");
	say(&f, "515 Authentication failed\r\n");
	expect_down(&f, ST_PERMISSION);
	/* What is configured is not given up for what is offered. */
	take_call(&f);
	hear(&f, "PROTOCOLINFO 1");
	say_methods(&f, "NULL,SAFECOOKIE", cookie_path);
	expect_down(&f, ST_PERMISSION);
	teardown(&f);
}

static void
test_no_method(void)
{
	struct fixture f;

	setup(&f, NULL);
	take_call(&f);
	hear(&f, "PROTOCOLINFO 1");
	say_methods(&f, "NULL", cookie_path);
	hear(&f, "AUTHENTICATE");
	CHECK_STR(f.in, "AUTHENTICATE");
	say(&f, "250 OK\r\n");
	greet(&f, 1, 1);
	teardown(&f);
}

/* A secret is for a tor that has proved the cookie, whatever else is offered,
 * and at a port for no other. */
static void
test_secret(void)
{
	static const char *const others[] = {
	    "NULL", "HASHEDPASSWORD", "COOKIE", "NULL,HASHEDPASSWORD,COOKIE"};
	struct control_config c = {.add = "ADD_ONION x\r\n", .ops = &ops};
	struct control *none;
	struct fixture f;

	setup_with(&f, "pass", "ADD_ONION secret\r\n");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		take_call(&f);
		hear(&f, "PROTOCOLINFO 1");
		say_methods(&f, others[i], cookie_path);
		expect_down(&f, ST_PERMISSION);
	}
	come_up(&f, 1, 1);
	hear(&f, "ADD_ONION secret");
	c.at = f.at;
	CHECK_STATUS(control_new(&none, f.loop, &c), ST_PERMISSION);
	CHECK(none == NULL);
	teardown(&f);
}

/* A new process, or what may be one, is a restart; the same one is not. */
static void
test_restart(void)
{
	struct fixture f;
	static const struct {
		unsigned pid, uptime, restarts;
	} calls[] = {
	    {77, 100, 0}, /* the first */
	    {77, 100, 0}, /* the same */
	    {77, 50, 1}, /* its pid again */
	    {78, 50, 2},
	    {0, 50, 3}, /* nobody knows */
	    {0, 50, 4},
	    {78, 50, 5},
	    {78, 51, 5},
	};

	setup(&f, NULL);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		come_up(&f, calls[i].pid, calls[i].uptime);
		CHECK_INT(f.restarts, calls[i].restarts);
		shutdown(f.peer, SHUT_RDWR);
		expect_down(&f, ST_CLOSED);
	}
	CHECK_INT(control_info(f.control)->connects, 8);
	teardown(&f);
}

/* What breaks the rules ends the connection, not us. */
static void
test_nonsense(void)
{
	static char long_line[20000];
	static const struct {
		const char *text;
		enum status why;
	} cases[] = {
	    {"250 OK\n", ST_BAD_ENCODING},
	    {"HTTP/1.1 400 Bad Request\r\n", ST_BAD_ENCODING},
	    {"510 Unrecognized command\r\n", ST_BAD_ENCODING},
	    {"250 OK\r\n", ST_PERMISSION}, /* no method at all */
	    {"250-AUTH METHODS=SAFECOOKIE COOKIEFILE=\"open\r\n250 OK\r\n",
		ST_PERMISSION},
	    {long_line, ST_BAD_LENGTH},
	};
	struct fixture f;

	memset(long_line, '2', sizeof(long_line) - 1);
	setup(&f, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		take_call(&f);
		hear(&f, "PROTOCOLINFO 1");
		(void)!send(
		    f.peer, cases[i].text, strlen(cases[i].text), MSG_NOSIGNAL);
		expect_down(&f, cases[i].why);
	}
	/* An answer that nobody asked for. */
	come_up(&f, 1, 1);
	say(&f, "250 OK\r\n");
	expect_down(&f, ST_BAD_ENCODING);
	/* Data lines, which we do not ask for, are skipped. */
	take_call(&f);
	hear(&f, "PROTOCOLINFO 1");
	say(&f, "650+NS\r\n250 OK\r\n.\r\n650 OK\r\n250+x=\r\n650 y\r\n.\r\n");
	say_methods(&f, "NULL", "");
	hear(&f, "AUTHENTICATE");
	teardown(&f);
}

/* A queue of requests that tor does not answer is bounded. */
static void
test_flood(void)
{
	struct fixture f;
	unsigned n = 0;

	setup(&f, NULL);
	come_up(&f, 1, 1);
	while (control_close_circuit(f.control, n) == ST_OK)
		CHECK(++n < 1000);
	CHECK_INT(n, 64);
	for (unsigned i = 0; i < n; i++) {
		hear(&f, "CLOSECIRCUIT ");
		say(&f, "250 OK\r\n");
	}
	SPIN(f.loop, control_info(f.control)->circuits_closed == 64);
	CHECK_STATUS(control_close_circuit(f.control, n), ST_OK);
	teardown(&f);
}

/* Nobody there: tries are further and further apart, and freeing is fine in
 * every state. */
static void
test_nobody(void)
{
	struct fixture f;

	setup(&f, NULL);
	close(f.listener);
	f.listener = dup(0);
	uint64_t start = loop_clock_ns();
	SPIN(f.loop, f.changes == 4);
	/* 20 + 40 + 80 */
	CHECK((loop_clock_ns() - start) / 1000000 >= 135);
	expect_down(&f, ST_CONNECT_REFUSED);
	teardown(&f);

	struct control_config c = {.ops = &ops};
	struct control *control;
	struct loop *l = test_loop();
	char path[200];
	CHECK_STATUS(control_new(&control, l, &c), ST_BAD_VALUE);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	c.path = path;
	CHECK_STATUS(control_new(&control, l, &c), ST_BAD_LENGTH);
	control_free(&control);
	loop_free(&l);
}

/* --- the real one --- */

struct tor {
	pid_t pid;
	char folder[40], torrc[64], socket[64];
};

static bool
have_tor(void)
{
	return system("tor --version >/dev/null 2>&1") == 0;
}

static void
start_tor(struct tor *t)
{
	fflush(stdout);
	t->pid = fork();
	CHECK(t->pid >= 0);
	if (t->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever becomes of us */
		int null = open("/dev/null", O_WRONLY);
		dup2(null, 1);
		dup2(null, 2);
		execlp("tor", "tor", "-f", t->torrc, (char *)NULL);
		_exit(127);
	}
}

static void
stop_tor(struct tor *t)
{
	kill(t->pid, SIGKILL);
	CHECK_INT(waitpid(t->pid, NULL, 0), t->pid);
}

static void
remove_tree(const char *path)
{
	char text[256];

	snprintf(text, sizeof(text), "rm -rf %s", path);
	CHECK_INT(system(text), 0);
}

static void
test_real_tor(void)
{
	struct fixture f = {.loop = NULL};
	struct tor t = {.folder = "/tmp/postern-tor-XXXXXX"};
	struct control_config c = {.retry_ms = 50, .ops = &ops, .arg = &f};
	FILE *rc;

	if (!have_tor()) {
		printf("    no tor here\n");
		return;
	}
	CHECK(mkdtemp(t.folder) != NULL); /* mode 0700, as tor wants it */
	snprintf(t.torrc, sizeof(t.torrc), "%s/torrc", t.folder);
	snprintf(t.socket, sizeof(t.socket), "%s/control", t.folder);
	CHECK((rc = fopen(t.torrc, "w")) != NULL);
	fprintf(rc,
	    "DataDirectory %s/data\nControlSocket %s\nCookieAuthentication 1\n"
	    "DisableNetwork 1\nSocksPort 0\n",
	    t.folder, t.socket);
	fclose(rc);
	f.loop = test_loop();
	c.path = t.socket;
	CHECK_STATUS(control_new(&f.control, f.loop, &c), ST_OK);
	const struct control_info *info = control_info(f.control);
	/* It comes later than we, goes, and comes again. */
	spin_for(f.loop, 30);
	for (int i = 0; i < 2; i++) {
		start_tor(&t);
		SPIN(f.loop, info->state == CONTROL_UP);
		CHECK(strncmp(info->version, "0.", 2) == 0);
		CHECK_INT(info->pid, t.pid);
		CHECK_INT(info->bootstrap, 0);
		CHECK(!info->circuit_established);
		CHECK_INT(f.restarts, i);
		CHECK_STATUS(control_close_circuit(f.control, 1), ST_OK);
		spin_for(f.loop, 30);
		CHECK_INT(info->circuits_closed, 0); /* there is none */
		CHECK_INT(info->state, CONTROL_UP);
		stop_tor(&t);
		SPIN(f.loop, info->state == CONTROL_DOWN);
	}
	control_free(&f.control);
	loop_free(&f.loop);
	remove_tree(t.folder);
}

TESTS({"lines", test_lines}, {"values", test_values},
    {"SAFECOOKIE proofs", test_safecookie}, {"up", test_up},
    {"impostors", test_impostor}, {"a password", test_password},
    {"no method", test_no_method}, {"a secret", test_secret},
    {"a restart of tor", test_restart}, {"nonsense", test_nonsense},
    {"many requests", test_flood}, {"nobody there", test_nobody},
    {"a real tor", test_real_tor})
