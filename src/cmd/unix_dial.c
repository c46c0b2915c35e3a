#include "cmd/unix_dial.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int
unix_dial(const char *path, unsigned seconds)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = (time_t)seconds};
	int fd;

	if (strlen(path) >= sizeof(sun.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(sun.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof(patience)) != 0 ||
	    connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) != 0) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}
