#include "mix/counts.h"

static const char *const labels[DROP_COUNT] = {
    [DROP_WEAK_KEY] = "weak_key",
    [DROP_BAD_MAC] = "bad_mac",
    [DROP_BAD_ENCODING] = "bad_encoding",
    [DROP_CORRUPT] = "corrupt",
    [DROP_REPLAY] = "replay",
    [DROP_FILTER_FULL] = "filter_full",
    [DROP_JOURNAL] = "journal",
    [DROP_UNKNOWN_NODE] = "unknown_node",
    [DROP_ADDRESS] = "address",
    [DROP_OVERFLOW] = "overflow",
    [DROP_LINK_FULL] = "link_full",
    [DROP_LINK_LIMIT] = "link_limit",
    [DROP_UNDELIVERED] = "undelivered",
};

const char *
mix_drop_label(enum mix_drop d)
{
	return labels[d];
}
