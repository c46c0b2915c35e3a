/* postern ctl top: see ctl_parts.h. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/ask.h"
#include "cmd/cli.h"
#include "cmd/ctl_parts.h"
#include "daemon/buffer.h"

#define PERIOD_MS 1000
#define WIDTH 78
#define BAR 30
/* The alternate screen, without a cursor; and back. */
#define SCREEN_ON "\033[?1049h\033[?25l"
#define SCREEN_OFF "\033[?25h\033[?1049l"

static volatile sig_atomic_t ended;

static void
on_end(int signal_number)
{
	(void)signal_number;
	ended = 1;
}

static void
on_resize(int signal_number)
{
	(void)signal_number; /* poll ends, and all is drawn anew */
}

/* What a view is drawn of: now, and a period before (NULL: not known). */
struct view {
	const json_t *now, *before;
	struct buffer out;
};

static json_int_t
grown(const struct view *v, const char *object, const char *key)
{
	const json_t *a = v->now, *b = v->before;

	if (b == NULL)
		return 0;
	if (object != NULL) {
		a = json_object_get(a, object);
		b = json_object_get(b, object);
	}
	return ask_number(a, key) - ask_number(b, key);
}

static void
bar(struct buffer *b, json_int_t part, json_int_t whole)
{
	int full = 0;

	if (whole > 0 && part > 0)
		full = part >= whole ? BAR : (int)(part * BAR / whole);
	buffer_text(b, "[");
	for (int i = 0; i < BAR; i++)
		buffer_text(b, i < full ? "#" : "-");
	buffer_text(b, "]");
}

static void
load(struct view *v, const char *label, const char *key, const char *max)
{
	json_int_t n = ask_number(v->now, key), of = ask_number(v->now, max);

	buffer_format(&v->out, "%-12s %7lld ", label, (long long)n);
	bar(&v->out, n, of);
	buffer_format(&v->out, " of %lld\n", (long long)of);
}

static void
times(struct view *v, const char *label, const char *key)
{
	const json_t *t = json_object_get(v->now, key);

	buffer_format(&v->out,
	    "%-12s p50 %8.2f ms   p95 %8.2f ms   %lld so "
	    "far\n",
	    label, json_real_value(json_object_get(t, "p50_ms")),
	    json_real_value(json_object_get(t, "p95_ms")),
	    (long long)ask_number(t, "count"));
}

static void
draw_counts(struct view *v, const char *label, const char *object)
{
	json_t *counts = json_object_get(v->now, object), *value;
	json_int_t sum = 0;
	const char *key;

	json_object_foreach(counts, key, value) sum +=
	    json_integer_value(value);
	buffer_format(&v->out, "\n%s\n", label);
	json_object_foreach(counts, key, value)
	{
		json_int_t n = json_integer_value(value);
		buffer_format(&v->out, "  %-12s%6lld ", key, (long long)n);
		bar(&v->out, n, sum);
		buffer_format(
		    &v->out, " +%lld\n", (long long)grown(v, object, key));
	}
}

static void
draw(struct view *v)
{
	const char *why = ask_text(v->now, "not_ready");
	char ends[32];

	ask_time(ends, ask_number(v->now, "epoch_end"));
	buffer_format(&v->out, "postern %s   %s%s%s   epoch until %s\n\n",
	    ask_text(v->now, "version"), ask_text(v->now, "phase"),
	    *why != '\0' ? ", not ready: " : ", ready", why, ends);
	buffer_format(&v->out, "%-12s %7lld\n", "tunnels",
	    (long long)ask_number(v->now, "tunnels"));
	load(v, "connections", "sessions", "sessions_max");
	load(v, "queue", "queue", "queue_max");
	times(v, "verify", "verify");
	times(v, "connect", "connect");
	buffer_format(&v->out, "%-12s %lld B up, %lld B down in this second\n",
	    "traffic", (long long)grown(v, NULL, "bytes_up"),
	    (long long)grown(v, NULL, "bytes_down"));
	draw_counts(v, "requests by answer", "verdicts");
	draw_counts(
	    v, "requests by how much of the quota was used then", "quota_used");
}

/* Put TEXT on the terminal, cut to its size. */
static void
put_screen(const char *text)
{
	struct winsize size = {0};
	int rows = 24, columns = WIDTH, row = 0, column = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) {
		rows = size.ws_row;
		columns = size.ws_col;
	}
	fputs("\033[H", stdout);
	for (; *text != '\0' && row + 1 < rows; text++) {
		if (*text == '\n') {
			fputs("\033[K\r\n", stdout);
			row++;
			column = 0;
		} else if (column < columns) {
			putchar(*text);
			column++;
		}
	}
	fputs("\033[J\033[7m q ends \033[0m", stdout);
	fflush(stdout);
}

/* Wait for the next turn; whether to go on. */
static bool
wait_turn(void)
{
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};
	char key;

	if (poll(&in, 1, PERIOD_MS) > 0 &&
	    (read(STDIN_FILENO, &key, 1) != 1 || key == 'q'))
		return false;
	return ended == 0;
}

static int
show_views(const char *name, const char *path, bool once)
{
	json_t *answer, *before = NULL;
	struct view v;
	bool on = true;

	while (on) {
		if ((answer = ask_gateway(name, path, "status", NULL)) == NULL)
			break;
		v = (struct view){json_object_get(answer, "result"),
		    json_object_get(before, "result"), {0}};
		draw(&v);
		if (once)
			fputs(v.out.text, stdout);
		else
			put_screen(v.out.text);
		buffer_clear(&v.out);
		json_decref(before);
		before = answer;
		on = !once && wait_turn();
	}
	json_decref(before);
	return on ? CLI_ERROR : CLI_OK;
}

int
ctl_top(const char *name, const char *path, bool once)
{
	const struct sigaction end = {.sa_handler = on_end};
	const struct sigaction resize = {.sa_handler = on_resize};
	struct termios old, raw;
	int code;

	if (once)
		return show_views(name, path, true);
	if (tcgetattr(STDIN_FILENO, &old) != 0 || !isatty(STDOUT_FILENO)) {
		cli_error(name, "top wants a terminal (or --once)");
		return CLI_ERROR;
	}
	raw = old;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGWINCH, &resize, NULL);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs(SCREEN_ON, stdout);
	code = show_views(name, path, false);
	fputs(SCREEN_OFF, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &old);
	return code;
}
