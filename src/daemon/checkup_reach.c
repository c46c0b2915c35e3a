/* Parts of daemon/checkup.h: what tor can do, and which addresses can be
 * reached. */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/checkup.h"

/* The first tor whose onion services ask for work when they are flooded. */
#define TOR_MAJOR 4
#define TOR_MINOR 8

void
checkup_tor_version(
    const struct config *c, struct findings *f, const char *version)
{
	struct place where = config_place(c, NULL, "tor", "control");
	unsigned zero, major, minor, patch;

	/* tor's own word, and nine digits fit. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(version, "%9u.%9u.%9u.%9u", &zero, &major, &minor, &patch) !=
	    4)
		return; /* it did not say */
	if (zero == 0 &&
	    (major < TOR_MAJOR || (major == TOR_MAJOR && minor < TOR_MINOR)))
		findings_add(f, FINDING_WARNING, where,
		    "use tor 0.4.8 or newer (deb.torproject.org)",
		    "tor is %.32s: its onion services have no proof-of-work "
		    "defence",
		    version);
	/* ADD_ONION takes its settings since then (control-spec). */
	if (c->tor.onion_pow && zero == 0 && major <= 4 &&
	    (major < 4 || minor < 9 || (minor == 9 && patch < 2)))
		findings_add(f, FINDING_ERROR,
		    config_place(c, NULL, "tor", "onion_pow"),
		    "use tor 0.4.9.2 or newer, or set it off",
		    "tor is %.32s: it would refuse the service", version);
}

/* Whether the kernel has a way to A. A datagram socket is connected without
 * sending anything. */
static bool
has_way(const struct sockaddr *a, socklen_t len)
{
	int fd = socket(a->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool yes = fd >= 0 && connect(fd, a, len) == 0;

	if (fd >= 0)
		close(fd);
	return yes;
}

void
checkup_families(const struct config *c, struct findings *f)
{
	/* 192.0.43.8 and 2001:500:88:200::8: www.iana.org. */
	const struct sockaddr_in v4 = {.sin_family = AF_INET,
	    .sin_port = htons(443),
	    .sin_addr.s_addr = htonl(0xc0002b08)};
	const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
	    .sin6_port = htons(443),
	    .sin6_addr.s6_addr = {
		0x20, 0x01, 0x05, 0x00, 0x00, 0x88, 0x02, [15] = 8}};
	bool four = has_way((const struct sockaddr *)&v4, sizeof(v4));
	bool six = has_way((const struct sockaddr *)&v6, sizeof(v6));
	struct place where = config_place(c, NULL, "egress", "allow");

	if (!four && !six)
		findings_add(f, FINDING_WARNING, where,
		    "give the machine a default route",
		    "there is no way to the internet, by IPv4 nor by IPv6");
	else if (!four || !six)
		findings_add(f, FINDING_NOTE, where, "",
		    "targets that have only IPv%d can not be reached from here",
		    four ? 6 : 4);
}
