/* Request heads that are changed by the line: its place, its name, its value,
 * its end. */
#include "mutate.h"

#include <stdbool.h>

/* Places within a head. */
struct line {
	size_t at, len; /* without its end */
	size_t end; /* of that */
};

static const char *const starts[] = {"CONNECT example.com:443 HTTP/1.1",
    "CONNECT [2001:db8::1]:443 HTTP/1.1", "CONNECT 192.0.2.1:443 HTTP/1.1",
    "GET /.well-known/postern HTTP/1.1", "GET http://a/ HTTP/1.1",
    "HEAD / HTTP/1.1", "OPTIONS * HTTP/1.1", "GET / HTTP/1.0",
    "CONNECT example.com:443 HTTP/2.0"};
static const char *const lines[] = {"Host: example.com:443\r\n",
    "host:example.com:443\r\n", "Proxy-Authorization: Semaphore AAAA\r\n",
    "proxy-authorization: semaphore eyJ9\r\n", "Authorization: Basic eA==\r\n",
    "Content-Length: 0\r\n", "Content-Length: 1\r\n",
    "Transfer-Encoding: chunked\r\n", "Connection: close\r\n",
    "Connection: keep-alive, close\r\n", "Proxy-Connection: close\r\n",
    "If-None-Match: \"0\"\r\n", "If-None-Match: W/\"0\", *\r\n", " folded\r\n",
    "Name : space\r\n", ": none\r\n", "Expect: 100-continue\r\n",
    "Upgrade: h2c\r\n", "\r\n"};
static const char *const ends[] = {
    "\n", "\r", "\r\r\n", "\r\n\r\n", "\n\n", "", "\r\n "};
static const char *const bits[] = {":", " ", "\t", ",", "\"", "[", "]", ":443",
    ":0", ":65536", ":0443", "@", "%", "..", ".", "-", "\x80", "\x7f",
    "Semaphore ", "HTTP/1.1"};
#define COUNT(LIST) (sizeof(LIST) / sizeof((LIST)[0]))

/* The line with the byte at AT. */
static struct line
line_at(const struct draft *d, size_t at)
{
	struct line l = {.at = at};

	while (l.at > 0 && d->bytes[l.at - 1] != '\n')
		l.at--;
	while (l.at + l.len < d->len && d->bytes[l.at + l.len] != '\r' &&
	    d->bytes[l.at + l.len] != '\n')
		l.len++;
	while (l.at + l.len + l.end < d->len && l.end < 2 &&
	    (d->bytes[l.at + l.len + l.end] == '\r' ||
		d->bytes[l.at + l.len + l.end] == '\n'))
		l.end++;
	return l;
}

/* The line that choice meets. */
static struct line
find_line(const struct draft *d, struct choice *c)
{
	return line_at(d, choose(c, d->len + 1));
}

static void
put(struct draft *d, size_t at, size_t old, const char *text)
{
	draft_replace(d, at, old, text, strlen(text));
}

/* The line L again, at another place; and the first time no more where MOVE. */
static void
copy_line(struct draft *d, struct choice *c, struct line l, bool move)
{
	uint8_t part[512];
	size_t n = l.len + l.end;

	if (n > sizeof(part))
		return;
	memcpy(part, d->bytes + l.at, n);
	if (move)
		draft_replace(d, l.at, n, NULL, 0);
	draft_replace(d, find_line(d, c).at, 0, part, n);
}

/* Host says what the first line says. */
static void
agree(struct draft *d)
{
	static const char name[] = "\r\nHost: ";
	uint8_t part[300];
	const uint8_t *space = memchr(d->bytes, ' ', d->len), *end, *host;
	size_t at, old = 0, n;

	if (space == NULL)
		return;
	space++;
	end = memchr(space, ' ', (size_t)(d->bytes + d->len - space));
	host = memmem(d->bytes, d->len, name, sizeof(name) - 1);
	if (end == NULL || host == NULL || end - space > (long)sizeof(part))
		return;
	n = (size_t)(end - space);
	memcpy(part, space, n);
	at = (size_t)(host - d->bytes) + sizeof(name) - 1;
	while (at + old < d->len && d->bytes[at + old] != '\r')
		old++;
	draft_replace(d, at, old, part, n);
}

/* As long as the limits are, or about. */
static void
pad(struct draft *d, struct choice *c, size_t at)
{
	static char text[8300];
	size_t n = choose(c, 2) != 0 ? choose(c, 200)
				     : 7900 + choose(c, sizeof(text) - 7900);

	memset(text, 'a', n);
	memcpy(text, "Pad: ", 5);
	if (n >= 7)
		memcpy(text + n - 2, "\r\n", 2);
	draft_replace(d, at, 0, text, n);
}

static void
change(struct draft *d, struct choice *c)
{
	struct line l = find_line(d, c);
	size_t inside = l.at + choose(c, l.len + 1);

	switch (choose(c, 11)) {
	case 0:
		copy_line(d, c, l, false);
		break;
	case 1:
		copy_line(d, c, l, true);
		break;
	case 2:
		draft_replace(d, l.at, l.len + l.end, NULL, 0);
		break;
	case 3:
		put(d, l.at, 0, lines[choose(c, COUNT(lines))]);
		break;
	case 4:
		put(d, l.at + l.len, l.end, ends[choose(c, COUNT(ends))]);
		break;
	case 5:
		put(d, inside, choose(c, 2), bits[choose(c, COUNT(bits))]);
		break;
	case 6:
		draft_mutate(d, l.at, l.len);
		break;
	case 7:
		draft_mutate(d, inside, l.at + l.len - inside);
		break;
	case 8:
		put(d, 0, line_at(d, 0).len, starts[choose(c, COUNT(starts))]);
		break;
	case 9:
		pad(d, c, l.at);
		break;
	default:
		agree(d);
		break;
	}
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static uint8_t bytes[1 << 16];
	struct draft d = {.bytes = bytes,
	    .len = size,
	    .cap = max < sizeof(bytes) ? max : sizeof(bytes)};
	struct choice c = {seed};

	if (choose(&c, 4) == 0 || size > d.cap)
		return LLVMFuzzerMutate(data, size, max);
	memcpy(bytes, data, size);
	for (unsigned rounds = 1 + choose(&c, 3); rounds > 0; rounds--)
		change(&d, &c);
	memcpy(data, bytes, d.len);
	return d.len;
}
