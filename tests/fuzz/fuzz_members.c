/* The member file: what is read are commitments, each once and where its line
 * says; edits add and remove just that. */
#include "fuzz.h"

#include "base/text.h"
#include "bn254/fr.h"
#include "postern/group.h"

static void
check_list(const struct members *m)
{
	fr_t value;

	for (size_t i = 0; i < m->n; i++) {
		FUZZ_CHECK(fr_from_bytes_strict(
			       &value, m->list[i].commitment) == ST_OK);
		FUZZ_CHECK(!fr_is_zero(&value));
		FUZZ_CHECK(m->lines[i] > (i != 0 ? m->lines[i - 1] : 0));
	}
}

static void
check_add(const struct members *m, const uint8_t *data, size_t size)
{
	struct group_member more = {{0}};
	struct members again;
	struct members_fault f;
	char *text;
	size_t len;
	enum status st;
	bool there = false;

	more.commitment[31] = 7;
	for (size_t i = 0; i < m->n; i++)
		there |= memcmp(&m->list[i], &more, sizeof(more)) == 0;
	FUZZ_CHECK(
	    members_text_add(&text, &len, data, size, &more, 1) == ST_OK);
	FUZZ_CHECK(len >= size + 2 && memcmp(text, data, size) == 0);
	st = members_parse(&again, text, len, &f);
	FUZZ_CHECK(st == (there ? ST_DUPLICATE : ST_OK));
	if (!there)
		FUZZ_CHECK(again.n == m->n + 1 &&
		    memcmp(&again.list[m->n], &more, sizeof(more)) == 0);
	members_clear(&again);
	free(text);
}

static void
check_remove(const struct members *m, const uint8_t *data, size_t size)
{
	struct members again;
	struct members_fault f;
	char *text;
	size_t len;

	/* The first half of them; the rest stays as it is. */
	FUZZ_CHECK(members_text_remove(
		       &text, &len, data, size, m->lines, m->n / 2) == ST_OK);
	FUZZ_CHECK(members_parse(&again, text, len, &f) == ST_OK);
	FUZZ_CHECK(again.n == m->n - m->n / 2);
	FUZZ_CHECK(again.n == 0 ||
	    memcmp(again.list, m->list + m->n / 2,
		again.n * sizeof(*again.list)) == 0);
	members_clear(&again);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct members m;
	struct members_fault f;
	char say[MEMBERS_FAULT_MAX];
	enum status st = members_parse(&m, data, size, &f);

	FUZZ_CHECK(f.status == st);
	if (st != ST_OK) {
		FUZZ_CHECK(m.list == NULL && m.lines == NULL && m.n == 0);
		FUZZ_CHECK(f.line >= 1);
		members_fault_text(say, &f);
		FUZZ_CHECK(strlen(say) < sizeof(say) - 1);
		return 0;
	}
	check_list(&m);
	check_add(&m, data, size);
	check_remove(&m, data, size);
	members_clear(&m);
	return 0;
}
