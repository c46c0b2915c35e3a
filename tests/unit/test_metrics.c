/* Metrics: the text is what Prometheus reads, and names nobody. */
#include <ctype.h>
#include <stdlib.h>

#include "daemon/metrics.h"
#include "harness.h"

static void
buckets_hold_what_they_say(void)
{
	struct histogram h = {0};

	CHECK_INT(histogram_quantile(&h, 0.5), 0);
	for (unsigned i = 0; i < 100; i++)
		histogram_add(&h, 150000); /* 150 us: between 100 and 200 */
	CHECK_INT(h.bucket[2], 100);
	CHECK_INT(h.count, 100);
	CHECK_INT(h.sum_ns, 15000000);
	CHECK(histogram_quantile(&h, 0.5) == 150000);
	histogram_add(&h, 200000); /* the bound itself belongs to its bucket */
	CHECK_INT(h.bucket[2], 101);
	histogram_add(&h, UINT64_C(3600000000000));
	CHECK_INT(h.bucket[HISTOGRAM_BUCKETS], 1);
	CHECK(histogram_quantile(&h, 1.0) == UINT64_C(10000000000));
}

static void
quotas_are_told_in_quarters(void)
{
	struct quota_use q = {0};

	quota_use_add(&q, 75, 100); /* a quarter is used: the bound itself */
	CHECK_INT(q.bucket[0], 1);
	quota_use_add(&q, 74, 100);
	CHECK_INT(q.bucket[1], 1);
	quota_use_add(&q, 0, 100);
	quota_use_add(&q, 0, 1);
	CHECK_INT(q.bucket[3], 2);
	quota_use_add(&q, 7, 5); /* the limit was lowered meanwhile */
	CHECK_INT(q.bucket[0], 2);
	CHECK_INT(q.count, 5);
	CHECK(q.sum > 2.50 && q.sum < 2.52);
}

/* What one line of the text says of its metric. */
struct family {
	char name[96], type[16];
	bool help;
};

static struct family families[128];
static size_t families_n;

static struct family *
family_of(const char *name)
{
	for (size_t i = 0; i < families_n; i++) {
		if (strcmp(families[i].name, name) == 0)
			return &families[i];
	}
	CHECK(families_n < 128);
	snprintf(families[families_n].name, 96, "%s", name);
	return &families[families_n++];
}

static bool
ends(const char *s, const char *with)
{
	size_t a = strlen(s), b = strlen(with);

	return a >= b && strcmp(s + a - b, with) == 0;
}

/* The family of a sample: a histogram's samples have a suffix. */
static struct family *
family_of_sample(const char *name)
{
	static const char *const suffixes[] = {"_bucket", "_sum", "_count"};
	char base[96];

	for (size_t i = 0; i < 3; i++) {
		if (!ends(name, suffixes[i]))
			continue;
		snprintf(base, sizeof(base), "%.*s",
		    (int)(strlen(name) - strlen(suffixes[i])), name);
		for (size_t k = 0; k < families_n; k++) {
			if (strcmp(families[k].name, base) == 0 &&
			    strcmp(families[k].type, "histogram") == 0)
				return &families[k];
		}
	}
	return family_of(name);
}

static void
check_sample(const char *line)
{
	char name[96];
	int n = 0;
	char *end;

	CHECK_INT(sscanf(line, "%95[a-z_]%n", name, &n), 1);
	CHECK(strncmp(name, "postern_", 8) == 0);
	struct family *f = family_of_sample(name);
	if (!f->help || f->type[0] == '\0')
		test_fail(
		    __FILE__, __LINE__, "%s before its HELP and TYPE", name);
	if (strcmp(f->type, "counter") == 0 && !ends(name, "_total"))
		test_fail(__FILE__, __LINE__, "%s is a counter", name);
	if (strcmp(f->type, "gauge") == 0 && ends(name, "_total"))
		test_fail(__FILE__, __LINE__, "%s is a gauge", name);
	const char *value = line + n;
	if (*value == '{') {
		value = strchr(value, '}');
		CHECK(value != NULL);
		value++;
	}
	CHECK(*value == ' ');
	strtod(value + 1, &end);
	CHECK(*end == '\0' && end != value + 1);
}

static void
check_line(char *line)
{
	char name[96], type[16];
	int n = 0;

	if (sscanf(line, "# HELP %95s %n", name, &n) == 1) {
		struct family *f = family_of(name);
		CHECK(!f->help); /* once */
		CHECK(!islower((unsigned char)line[n]) && ends(line, "."));
		f->help = true;
	} else if (sscanf(line, "# TYPE %95s %15s", name, type) == 2) {
		struct family *f = family_of(name);
		CHECK(f->help && f->type[0] == '\0');
		snprintf(f->type, sizeof(f->type), "%s", type);
	} else {
		check_sample(line);
	}
}

static void
the_text_is_prometheus(void)
{
	static const struct gauge_group groups[] = {
	    {"a", 12, 4, true}, {"b", 0, 0, false}};
	struct metrics m = {.connections = 3, .bytes_up = 7};
	struct gauges g = {
	    .groups = groups,
	    .groups_n = 2,
	    .journal = true,
	    .tor_configured = true,
	};
	struct buffer b = {0};
	char *line, *rest;

	m.answers[ST_OK] = 5;
	m.ends[ST_IDLE] = 2;
	histogram_add(&m.verify, 1000000);
	metrics_render(&b, &m, &g);
	CHECK(!buffer_failed(&b));
	CHECK(strstr(b.text, "postern_requests_total{status=\"ok\"} 5\n"));
	CHECK(strstr(b.text,
	    "postern_requests_total{status=\"quota_requests\"}"
	    " 0\n"));
	CHECK(
	    strstr(b.text, "postern_sessions_ended_total{reason=\"idle\"} 2"));
	CHECK(strstr(b.text, "postern_verify_seconds_bucket{le=\"0.001\"} 1"));
	CHECK(strstr(b.text, "postern_verify_seconds_bucket{le=\"0.0005\"} 0"));
	CHECK(strstr(b.text, "postern_verify_seconds_bucket{le=\"+Inf\"} 1"));
	CHECK(strstr(b.text, "postern_group_members{group=\"a\"} 12\n"));
	CHECK(strstr(b.text, "postern_build_info{version=\""));
	CHECK(ends(b.text, "\n"));
	for (line = strtok_r(b.text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		check_line(line);
	buffer_clear(&b);
}

/* A label has one of these names; their values are from fixed tables, or the
 * operator's names of groups. */
static void
labels_name_nobody(void)
{
	static const char *const allowed[] = {"status=", "reason=", "result=",
	    "direction=", "class=", "group=", "le=", "version=", "compiler="};
	struct metrics m = {0};
	struct gauges g = {.journal = true, .tor_configured = true};
	struct buffer b = {0};

	memset(m.ends, 1, sizeof(m.ends));
	memset(m.answers, 1, sizeof(m.answers));
	metrics_render(&b, &m, &g);
	for (const char *p = b.text; (p = strchr(p, '{')) != NULL; p++) {
		const char *label = p + 1;
		bool known = false;
		while (!known && *label != '\0') {
			for (size_t i = 0;
			     i < sizeof(allowed) / sizeof(allowed[0]); i++)
				known |= strncmp(label, allowed[i],
					     strlen(allowed[i])) == 0;
			break;
		}
		CHECK(known);
	}
	buffer_clear(&b);
}

TESTS({"buckets hold what they say", buckets_hold_what_they_say},
    {"quotas are told in quarters", quotas_are_told_in_quarters},
    {"the text is Prometheus's", the_text_is_prometheus},
    {"labels name nobody", labels_name_nobody}, )
