/* net/pipes.h: pipes to splice through, borrowed while bytes are in them.
 *
 * A pipe costs two descriptors and, when it holds bytes, their pages. So there
 * are few, and who borrows one gives it back as soon as it is empty. One that
 * still holds bytes when its borrower ends is closed, not lent again: nobody
 * gets to see what was somebody else's.
 *
 * Private to the folder.
 */
#ifndef NET_PIPES_H
#define NET_PIPES_H

#include <stdint.h>

struct relay_pipe {
	struct relay_pipe *next; /* in the pool's list of free ones */
	int in, out; /* write end, read end */
	uint32_t held; /* bytes in it */
	uint32_t size; /* bytes that go in, if they come in full pages */
};

struct pipe_pool {
	struct relay_pipe *free;
	uint32_t size, max, lent, kept;
};

/* At most MAX pipes, of SIZE bytes if the system agrees. */
void pipe_pool_init(struct pipe_pool *p, uint32_t size, uint32_t max);

/* Close what was kept; every pipe has been given back. */
void pipe_pool_clear(struct pipe_pool *p);

/* Borrow an empty pipe, or NULL: none is left, or no descriptor. */
struct relay_pipe *pipe_take(struct pipe_pool *p);

/* Give *PIPE back (NULL: nothing) and null it. */
void pipe_give(struct pipe_pool *p, struct relay_pipe **pipe);

#endif
