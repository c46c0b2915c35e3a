/* base/list.h: a doubly linked list through its members.
 *
 * A node that is in no list points at itself, so that taking it out twice is
 * harmless. The list owns nothing.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_node {
	struct list_node *prev, *next;
};

/* The object of TYPE whose MEMBER is NODE. */
#define list_entry(NODE, TYPE, MEMBER) \
	((TYPE *)list_object_((NODE), offsetof(TYPE, MEMBER)))

static inline void *
list_object_(struct list_node *n, size_t offset)
{
	return (char *)n - offset;
}

static inline void
list_init(struct list_node *n)
{
	n->prev = n->next = n;
}

static inline bool
list_empty(const struct list_node *head)
{
	return head->next == head;
}

/* Put N, which is in no list, at the end of HEAD's list. */
static inline void
list_append(struct list_node *head, struct list_node *n)
{
	n->prev = head->prev;
	n->next = head;
	head->prev->next = n;
	head->prev = n;
}

/* Move all of FROM's list to the end of HEAD's. */
static inline void
list_splice(struct list_node *head, struct list_node *from)
{
	if (list_empty(from))
		return;
	from->next->prev = head->prev;
	head->prev->next = from->next;
	from->prev->next = head;
	head->prev = from->prev;
	list_init(from);
}

static inline void
list_remove(struct list_node *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

#endif
