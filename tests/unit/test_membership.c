/* Member files and the roots in force: reading, changes, reloads. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/membership.h"
#include "harness.h"

#define KEEP_MS 1000000

static char folder[64];
static struct loop *loop;
static struct roots roots;
static void *roots_memory_;
static struct membership *m;
static unsigned staged_calls, changed_calls;
static uint16_t last_changed;

static void
staged(void *ctx)
{
	(void)ctx;
	staged_calls++;
}

static void
changed(void *ctx, uint16_t number)
{
	(void)ctx;
	changed_calls++;
	last_changed = number;
}

static const struct membership_ops ops = {staged, changed};

static const char *
path_of(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, 128, "%s/%s", folder, name);
	return path;
}

/* Replace the file NAME at once, as postern group does. */
static void
write_file(const char *name, const char *text)
{
	FILE *f = fopen(path_of(".draft"), "w");

	CHECK(f != NULL && fputs(text, f) >= 0);
	CHECK(fclose(f) == 0);
	CHECK(rename(path_of(".draft"), path_of(name)) == 0);
}

static void
begin(void)
{
	static const uint8_t key[LRU_HASH_KEY] = {7};

	snprintf(folder, sizeof(folder), "/tmp/postern-unit-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	CHECK_STATUS(loop_new(&loop), ST_OK);
	roots_memory_ = malloc(roots_memory(2 * ROOT_GROUPS_MAX));
	CHECK(roots_memory_ != NULL);
	roots_init(&roots, roots_memory_, 2 * ROOT_GROUPS_MAX, KEEP_MS, key);
	CHECK_STATUS(membership_new(&m, loop, &roots, &ops, NULL), ST_OK);
}

static void
end(void)
{
	char command[128];

	membership_free(&m);
	CHECK(m == NULL);
	loop_settle(loop);
	loop_free(&loop);
	free(roots_memory_);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	CHECK(system(command) == 0);
}

/* A configuration with groups NAMES, each with the file of FILES. */
static struct config *
groups(size_t n, const char *const *names, const char *const *files)
{
	char text[2048] = "[gateway]\naudience = 1\n[egress]\nallow = *\n"
			  "[ledger]\njournal = /j\n";
	struct findings f = {0};
	struct config *c;

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len,
		    "[group %s]\nmembers = %s\nrequests = 1\n", names[i],
		    path_of(files[i]));
	}
	enum status st =
	    config_parse(&c, &f, "test", text, strlen(text), NULL, 0);
	findings_print(&f, stdout);
	CHECK_STATUS(st, ST_OK);
	findings_clear(&f);
	return c;
}

static void
turn_until(unsigned *count, unsigned want)
{
	for (unsigned i = 0; *count < want; i++) {
		CHECK(i < 500);
		CHECK_STATUS(loop_turn(loop, 20), ST_OK);
	}
}

/* Stage groups and put them in force. */
static void
take(size_t n, const char *const *names, const char *const *files)
{
	struct config *c = groups(n, names, files);
	unsigned before = staged_calls;

	CHECK_STATUS(membership_stage(m, c), ST_OK);
	turn_until(&staged_calls, before + 1);
	membership_commit(m);
	config_unref(&c);
}

static const struct seat *
seat_of(const char *name)
{
	return membership_seat(m, membership_number(m, name));
}

static bool
accepts(const struct group_root *root, uint16_t group)
{
	struct root found;

	return roots_find(&found, &roots, root->root, loop_now(loop)) ==
	    ST_OK &&
	    found.group == group;
}

static void
lists_come_into_force(void)
{
	static const char *const names[] = {"a", "b"};

	begin();
	write_file("a", "# three\n7\n8\n9\n");
	write_file("b", "11\r\n12");
	take(2, names, names);
	const struct seat *a = seat_of("a"), *b = seat_of("b");
	CHECK(a != NULL && b != NULL && a != b);
	CHECK_INT(a->roll->root.size, 3);
	CHECK_INT(a->roll->root.depth, 2);
	CHECK_INT(a->fault.status, ST_OK);
	CHECK(accepts(&a->roll->root, membership_number(m, "a")));
	CHECK(accepts(&b->roll->root, membership_number(m, "b")));
	CHECK_INT(a->roll->list->len, 6);
	CHECK_MEM(a->roll->list->text, "7\n8\n9\n", 6);
	CHECK_MEM(b->roll->list->text, "11\n12\n", 6);
	CHECK(membership_seat(m, ROOT_GROUPS_MAX) == NULL);
	CHECK_INT(membership_number(m, "c"), ROOT_GROUPS_MAX);
	end();
}

/* A replaced file is noticed; the former root holds as roots.h says. */
static void
a_change_is_noticed(void)
{
	static const char *const names[] = {"a"};
	struct group_root former;

	begin();
	write_file("a", "7\n8\n");
	take(1, names, names);
	former = seat_of("a")->roll->root;
	write_file("a", "7\n8\n9\n");
	turn_until(&changed_calls, 1);
	CHECK_INT(last_changed, membership_number(m, "a"));
	CHECK_INT(seat_of("a")->roll->root.size, 3);
	CHECK(accepts(&seat_of("a")->roll->root, last_changed));
	CHECK(accepts(&former, last_changed));
	/* Nothing changed: nothing is read. */
	membership_poll(m);
	for (unsigned i = 0; i < 10; i++)
		CHECK_STATUS(loop_turn(loop, 10), ST_OK);
	CHECK_INT(changed_calls, 1);
	end();
}

/* Write TEXT over the file NAME, in place, and give it the time MTIME. */
static void
overwrite(const char *name, const char *text, struct timespec mtime)
{
	const struct timespec times[2] = {mtime, mtime};
	FILE *f = fopen(path_of(name), "r+");

	CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
	CHECK(utimensat(AT_FDCWD, path_of(name), times, 0) == 0);
}

/* As rsync and cp -p do: another list of the same length, with the same time;
 * and one that is changed twice in a tick of the kernel's clock. */
static void
a_change_that_hides_is_noticed(void)
{
	static const struct timespec long_ago = {.tv_sec = 1000000000};
	const char *names[] = {"g"}, *files[] = {"a"};
	char text[2] = "1";
	unsigned last;

	begin();
	write_file("a", text);
	take(1, names, files);
	for (unsigned i = 0; i < 20; i++) {
		/* One that the poll has time to forget, and one that not. */
		for (unsigned k = 0; k < 2 + i % 2; k++) {
			text[0] = (char)('1' + (text[0] - '0') % 9);
			overwrite("a", text, long_ago);
			membership_poll(m);
			CHECK_STATUS(loop_turn(loop, 0), ST_OK);
		}
		for (unsigned n = 0; n < 100; n++) {
			membership_poll(m);
			CHECK_STATUS(loop_turn(loop, 1), ST_OK);
		}
		CHECK(seat_of("g")->roll->list->text[0] == text[0]);
	}
	/* What has been looked at again and is the same is no news. */
	last = changed_calls;
	for (unsigned n = 0; n < 100; n++) {
		membership_poll(m);
		CHECK_STATUS(loop_turn(loop, 1), ST_OK);
	}
	CHECK_INT(changed_calls, last);
	end();
}

static void
broken_files_change_nothing(void)
{
	static const char *const names[] = {"a"};
	char why[ROLL_FAULT_MAX];

	begin();
	write_file("a", "7\n8\n");
	take(1, names, names);
	struct roll *before = seat_of("a")->roll;

	write_file("a", "7\n8\n7\n");
	turn_until(&changed_calls, 1);
	CHECK_INT(seat_of("a")->fault.status, ST_DUPLICATE);
	CHECK_INT(seat_of("a")->fault.where.line, 3);
	CHECK_INT(seat_of("a")->fault.where.first_line, 1);
	CHECK(seat_of("a")->roll == before);

	write_file("a", "7\n8\n9\n");
	turn_until(&changed_calls, 2);
	CHECK_INT(seat_of("a")->fault.status, ST_OK);

	CHECK(chmod(path_of("a"), 0666) == 0);
	turn_until(&changed_calls, 3);
	CHECK_INT(seat_of("a")->fault.status, ST_PERMISSION);
	CHECK(unlink(path_of("a")) == 0);
	turn_until(&changed_calls, 4);
	CHECK_INT(seat_of("a")->fault.status, ST_SYS);
	CHECK_STR(roll_fault_text(why, &seat_of("a")->fault), strerror(ENOENT));

	/* Nobody writes to the pipe: the loop must not wait for it. */
	CHECK(mkfifo(path_of("a"), 0600) == 0);
	membership_poll(m);
	turn_until(&changed_calls, 5);
	CHECK_STR(
	    roll_fault_text(why, &seat_of("a")->fault), "not a plain file");
	CHECK(unlink(path_of("a")) == 0);
	CHECK(mkdir(path_of("a"), 0700) == 0);
	membership_poll(m);
	turn_until(&changed_calls, 6);
	CHECK_STR(roll_fault_text(why, &seat_of("a")->fault), strerror(EISDIR));
	CHECK(rmdir(path_of("a")) == 0);
	CHECK_INT(seat_of("a")->roll->root.size, 3);
	end();
}

/* Nobody is no root: a proof for "zero" has no group. */
static void
an_empty_list_lets_nobody_in(void)
{
	static const char *const names[] = {"a"};
	struct root found;
	uint8_t zero[32] = {0};

	begin();
	write_file("a", "# nobody\n");
	take(1, names, names);
	CHECK_INT(seat_of("a")->roll->root.size, 0);
	CHECK_STATUS(
	    roots_find(&found, &roots, zero, loop_now(loop)), ST_ROOT_UNKNOWN);
	CHECK(roots_current(&roots, membership_number(m, "a")) == NULL);
	/* And throws nobody out: that file was cut off. */
	write_file("a", "7\n8\n");
	turn_until(&changed_calls, 1);
	CHECK(roots_current(&roots, membership_number(m, "a")) != NULL);
	write_file("a", "# nobody\n");
	turn_until(&changed_calls, 2);
	CHECK_STATUS(seat_of("a")->fault.status, ST_MISSING);
	CHECK_INT(seat_of("a")->roll->root.size, 2);
	CHECK(roots_current(&roots, membership_number(m, "a")) != NULL);
	end();
}

/* Seats keep their number over reloads, and those of groups that are gone
 * are free, their roots not accepted. */
static void
groups_come_and_go(void)
{
	static const char *const first[] = {"a", "b"};
	static const char *const second[] = {"c", "b"};
	struct group_root root_a;

	begin();
	write_file("a", "1\n2\n");
	write_file("b", "3\n4\n");
	write_file("c", "5\n6\n");
	take(2, first, first);
	uint16_t b = membership_number(m, "b");
	root_a = seat_of("a")->roll->root;
	take(2, second, second);
	CHECK_INT(membership_number(m, "b"), b);
	CHECK(seat_of("a") == NULL);
	CHECK(!accepts(&root_a, membership_number(m, "c")));
	CHECK(accepts(&seat_of("c")->roll->root, membership_number(m, "c")));
	take(0 + 1, second, second);
	CHECK(seat_of("b") == NULL);
	end();
}

/* Two groups change places: each root moves in one step. */
static void
files_change_places(void)
{
	static const char *const names[] = {"a", "b"};
	static const char *const swapped[] = {"b", "a"};

	begin();
	write_file("a", "1\n2\n");
	write_file("b", "3\n4\n5\n");
	take(2, names, names);
	take(2, names, swapped);
	CHECK_INT(seat_of("a")->fault.status, ST_OK);
	CHECK_INT(seat_of("b")->fault.status, ST_OK);
	CHECK_INT(seat_of("a")->roll->root.size, 3);
	CHECK(accepts(&seat_of("a")->roll->root, membership_number(m, "a")));
	CHECK(accepts(&seat_of("b")->roll->root, membership_number(m, "b")));
	end();
}

static void
the_same_members_twice_are_refused(void)
{
	static const char *const names[] = {"a", "b"};
	char why[ROLL_FAULT_MAX];

	begin();
	write_file("a", "1\n2\n");
	write_file("b", "1\n2\n");
	take(2, names, names);
	CHECK_INT(seat_of("a")->fault.status, ST_OK);
	CHECK_INT(seat_of("b")->fault.status, ST_DUPLICATE);
	CHECK(strstr(roll_fault_text(why, &seat_of("b")->fault),
	    "exactly these members"));
	CHECK(seat_of("b")->roll == NULL);
	end();
}

/* A stage that is begun anew: the first is forgotten, whatever it was at. */
static void
stages_replace_each_other(void)
{
	static const char *const first[] = {"a"};
	static const char *const second[] = {"b"};
	struct config *c1, *c2;

	begin();
	write_file("a", "1\n2\n");
	write_file("b", "3\n4\n");
	c1 = groups(1, first, first);
	c2 = groups(1, second, second);
	for (unsigned turns = 0; turns < 6; turns++) {
		CHECK_STATUS(membership_stage(m, c1), ST_OK);
		for (unsigned i = 0; i < turns; i++)
			CHECK_STATUS(loop_turn(loop, 1), ST_OK);
		unsigned before = staged_calls;
		CHECK_STATUS(membership_stage(m, c2), ST_OK);
		turn_until(&staged_calls, before + 1);
		CHECK_INT(membership_staged_fault(m, "b")->status, ST_OK);
		CHECK_INT(
		    membership_staged_fault(m, "a")->status, ST_NOT_FOUND);
		membership_commit(m);
		CHECK(seat_of("a") == NULL && seat_of("b") != NULL);
	}
	/* And the end in the middle of one: nothing leaks. */
	CHECK_STATUS(membership_stage(m, c1), ST_OK);
	CHECK_STATUS(loop_turn(loop, 1), ST_OK);
	config_unref(&c1);
	config_unref(&c2);
	end();
}

TESTS({"lists come into force", lists_come_into_force},
    {"a change is noticed", a_change_is_noticed},
    {"a change that hides is noticed", a_change_that_hides_is_noticed},
    {"broken files change nothing", broken_files_change_nothing},
    {"an empty list lets nobody in", an_empty_list_lets_nobody_in},
    {"groups come and go", groups_come_and_go},
    {"files change places", files_change_places},
    {"the same members twice are refused", the_same_members_twice_are_refused},
    {"stages replace each other", stages_replace_each_other}, )
