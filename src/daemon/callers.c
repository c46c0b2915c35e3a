#include "daemon/callers.h"

#include <unistd.h>

#define LINGER_MS 1000

void
caller_close(struct caller *c)
{
	struct loop *l = c->all->loop;

	if (c->over)
		return;
	c->over = true;
	list_remove(&c->age);
	deadline_stop(l, &c->deadline);
	conn_close(&c->conn, STREAM_ORDERLY);
	document_unref(&c->document);
	task_defer(l, &c->release);
}

static void
release(struct task *t)
{
	struct caller *c = loop_owner(t, struct caller, release);

	slab_release(&c->all->slab, c->self);
}

void
caller_wait_anew(struct caller *c)
{
	deadline_start(c->all->loop, &c->deadline, c->all->rules.patience_ms);
	list_remove(&c->age);
	list_append(&c->all->age, &c->age);
}

void
caller_finish(struct caller *c)
{
	c->finishing = true;
	conn_finish(&c->conn, LINGER_MS);
}

/* Send on; what comes after the last byte is the owner's matter. */
static void
send_on(struct caller *c)
{
	enum status st = document_send(&c->conn, c->document, &c->sent);

	if (st == ST_MORE)
		return;
	document_unref(&c->document);
	if (st != ST_OK)
		caller_close(c);
	else if (c->all->rules.sent == NULL || c->eof)
		caller_finish(c);
	else {
		conn_resume(&c->conn);
		c->all->rules.sent(c);
	}
}

void
caller_send(struct caller *c, struct document *d)
{
	if (d == NULL) {
		caller_close(c);
		return;
	}
	c->document = d;
	c->sent = 0;
	conn_pause(&c->conn);
	send_on(c);
}

/* --- what a connection says --- */

static struct caller *
caller_of(struct conn *conn)
{
	return loop_owner(conn, struct caller, conn);
}

static bool
is_busy(const struct caller *c)
{
	return c->document != NULL || c->finishing;
}

static void
on_data(struct conn *conn)
{
	struct caller *c = caller_of(conn);

	if (!is_busy(c))
		c->all->rules.data(c);
}

static void
on_full(struct conn *conn)
{
	struct caller *c = caller_of(conn);

	if (!is_busy(c))
		caller_close(c);
}

static void
on_eof(struct conn *conn)
{
	struct caller *c = caller_of(conn);

	c->eof = true;
	if (!is_busy(c))
		caller_close(c);
}

static void
on_drained(struct conn *conn)
{
	struct caller *c = caller_of(conn);

	if (c->document != NULL)
		send_on(c);
}

static void
on_over(struct conn *conn, enum status why)
{
	(void)why;
	caller_close(caller_of(conn));
}

static const struct conn_ops conn_ops = {
    .data = on_data,
    .full = on_full,
    .eof = on_eof,
    .drained = on_drained,
    .over = on_over,
};

static void
on_deadline(struct deadline *d)
{
	caller_close(loop_owner(d, struct caller, deadline));
}

void
callers_accepted(struct listener *ls, int fd, void *arg)
{
	struct callers *cs = arg;
	struct caller *c;
	handle_t self;
	void *object;

	(void)ls;
	if ((cs->rules.admit != NULL && !cs->rules.admit(fd)) ||
	    slab_take(&cs->slab, &self, &object) != ST_OK) {
		close(fd);
		return;
	}
	c = object;
	c->all = cs;
	c->owner = cs->owner;
	c->self = self;
	list_init(&c->age);
	stream_init(&c->stream);
	deadline_init(&c->deadline, on_deadline);
	task_init(&c->release, release);
	if (conn_open(&c->conn, cs->loop, &cs->chunks, &c->stream, fd,
		&conn_ops) != ST_OK) {
		slab_release(&cs->slab, self);
		return;
	}
	if (cs->slab.used > cs->rules.max && !list_empty(&cs->age))
		caller_close(list_entry(cs->age.next, struct caller, age));
	caller_wait_anew(c);
	conn_resume(&c->conn);
}

/* --- life --- */

void
callers_init(struct callers *cs, struct loop *l,
    const struct caller_rules *rules, void *owner)
{
	cs->loop = l;
	cs->owner = owner;
	cs->rules = *rules;
	chunk_pool_init(&cs->chunks, rules->request_max,
	    2 * (rules->max + CALLERS_SPARE), 2);
	list_init(&cs->age);
	slab_init(&cs->slab, cs->callers, cs->slots, sizeof(cs->callers[0]),
	    rules->max + CALLERS_SPARE);
}

void
callers_clear(struct callers *cs)
{
	for (uint32_t i = 0; i < cs->slab.capacity; i++) {
		handle_t h;
		struct caller *c = slab_nth(&cs->slab, i, &h);
		if (c != NULL)
			caller_close(c);
	}
	loop_settle(cs->loop);
	chunk_pool_clear(&cs->chunks);
}
