#include "net/pipes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void
pipe_pool_init(struct pipe_pool *p, uint32_t size, uint32_t max)
{
	*p = (struct pipe_pool){.size = size, .max = max};
}

static void
destroy(struct relay_pipe *pipe)
{
	close(pipe->in);
	close(pipe->out);
	free(pipe);
}

void
pipe_pool_clear(struct pipe_pool *p)
{
	while (p->free != NULL) {
		struct relay_pipe *pipe = p->free;
		p->free = pipe->next;
		destroy(pipe);
	}
	p->kept = 0;
}

static struct relay_pipe *
create(const struct pipe_pool *p)
{
	struct relay_pipe *pipe = calloc(1, sizeof(*pipe));
	int fd[2], size;

	if (pipe == NULL)
		return NULL;
	if (pipe2(fd, O_NONBLOCK | O_CLOEXEC) != 0) {
		free(pipe);
		return NULL;
	}
	pipe->out = fd[0];
	pipe->in = fd[1];
	/* Refused when the user has many pipes already: any size will do. */
	(void)fcntl(pipe->in, F_SETPIPE_SZ, (int)p->size);
	size = fcntl(pipe->in, F_GETPIPE_SZ);
	pipe->size = size > 0 ? (uint32_t)size : 4096;
	return pipe;
}

struct relay_pipe *
pipe_take(struct pipe_pool *p)
{
	struct relay_pipe *pipe = p->free;

	if (p->lent == p->max)
		return NULL;
	if (pipe != NULL) {
		p->free = pipe->next;
		p->kept--;
	} else if ((pipe = create(p)) == NULL) {
		return NULL;
	}
	pipe->next = NULL;
	p->lent++;
	return pipe;
}

void
pipe_give(struct pipe_pool *p, struct relay_pipe **given)
{
	struct relay_pipe *pipe = *given;

	if (pipe == NULL)
		return;
	*given = NULL;
	p->lent--;
	if (pipe->held != 0) {
		destroy(pipe);
		return;
	}
	pipe->next = p->free;
	p->free = pipe;
	p->kept++;
}
