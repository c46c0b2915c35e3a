/* postern ctl journal check: see ctl_parts.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/wipe.h"
#include "cmd/cli.h"
#include "cmd/ctl_parts.h"
#include "store/journal_format.h"

/* Where a header says whose journal it is; see store/journal_format.h. */
#define IDENTITY_AT 32

/* Read the header of IN, whosever it is. */
static enum status
read_header(struct journal_scan *s, FILE *in)
{
	uint8_t bytes[JOURNAL_HEADER];
	struct journal_header h = {0};
	enum status st = ST_CORRUPT;

	if (fread(bytes, 1, sizeof(bytes), in) == sizeof(bytes))
		st = journal_header_decode(&h, bytes, bytes + IDENTITY_AT);
	if (st == ST_OK)
		journal_scan_init(s, h.file_id);
	wipe(&h, sizeof(h));
	wipe(bytes, sizeof(bytes));
	return st;
}

/* Read all records of IN. */
static enum status
read_records(struct journal_scan *s, FILE *in)
{
	uint8_t record[JOURNAL_RECORD];
	struct journal_entry e;
	enum status st = ST_OK;

	/* Less than a record at the end: it is being written. */
	while (st == ST_OK &&
	    fread(record, 1, sizeof(record), in) == sizeof(record))
		st = journal_scan_next(s, &e, record);
	return st;
}

int
ctl_read_journal(const char *name, const char *file, bool quiet)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
	struct journal_scan s = {0};
	enum status st;

	if (in == NULL) {
		cli_error(name, "%s: %s", file, strerror(errno));
		if (fd >= 0)
			close(fd);
		return CLI_ERROR;
	}
	st = read_header(&s, in);
	if (st == ST_OK)
		st = read_records(&s, in);
	fclose(in);
	if (st != ST_OK) {
		cli_error(name,
		    "%s: damaged after %llu records that hold: the gateway "
		    "will not start with it (journal compact writes it anew "
		    "from memory)",
		    file, (unsigned long long)s.good);
		return CLI_NO;
	}
	if (!quiet)
		printf("%-11s every record holds\n", "on disk");
	return CLI_OK;
}
