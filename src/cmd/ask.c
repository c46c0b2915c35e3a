#include "cmd/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/unix_dial.h"
#include "daemon/buffer.h"
#include "daemon/ctl.h"

/* A gateway that does not answer for so long is not well. */
#define PATIENCE_SECONDS 10

json_int_t
ask_number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

const char *
ask_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL ? s : "";
}

void
ask_time(char out[static 32], json_int_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	out[0] = '\0';
	if (gmtime_r(&t, &tm) != NULL)
		strftime(out, 32, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

/* Send TEXT and a newline, read one line; false with errno. */
static bool
exchange(int fd, const char *text, struct buffer *line)
{
	char piece[4096];
	struct buffer out = {0};
	ssize_t n;

	buffer_format(&out, "%s\n", text);
	n = send(fd, out.text, out.len, MSG_NOSIGNAL);
	buffer_clear(&out);
	if (n < 0)
		return false;
	while ((n = recv(fd, piece, sizeof(piece), 0)) > 0) {
		buffer_put(line, piece, (size_t)n);
		if (memchr(piece, '\n', (size_t)n) != NULL)
			return !buffer_failed(line);
	}
	if (n == 0)
		errno = ECONNRESET;
	return false;
}

json_t *
ask_gateway(const char *name, const char *path, const char *command,
    const char *argument)
{
	json_t *request =
	    json_pack("{s:i, s:s}", "version", CTL_VERSION, "command", command);
	struct buffer line = {0};
	json_t *answer = NULL;
	char *text;
	int fd = unix_dial(path, PATIENCE_SECONDS);

	if (argument != NULL)
		json_object_set_new(request, "argument", json_string(argument));
	text = json_dumps(request, JSON_COMPACT);
	if (fd < 0 || text == NULL || !exchange(fd, text, &line))
		cli_error(name,
		    "%s: %s (is the gateway running, and are you "
		    "its user or root?)",
		    path, strerror(errno));
	else if ((answer = json_loadb(line.text, line.len, 0, NULL)) == NULL)
		cli_error(name, "%s: not an answer of a gateway", path);
	if (fd >= 0)
		close(fd);
	free(text);
	buffer_clear(&line);
	json_decref(request);
	return answer;
}
