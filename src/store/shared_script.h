/* store/shared_script.h: what a shared ledger's server does for one request.
 *
 * One script, so that looking and counting are one step there (a server runs
 * scripts one at a time). It keeps, under a prefix:
 *
 *	PREFIX:key		what all gateways must have in common (a digest)
 *	PREFIX:gateways		hash: gateway -> until when it counts as alive
 *	PREFIX:EPOCH:TAG	hash, a member in an epoch (gate/member.h):
 *	    n u d		requests, bytes up and down
 *	    f			when the bucket of the rate is full again, in us
 *	    gID			of gateway ID: "tunnels seq seq ...": its open
 *				tunnels, and the commands already carried out
 *				that it may repeat
 *
 * A member's keys go by themselves with the epoch. Tunnels of a gateway that
 * has not been heard of for the time of its lease are no longer counted.
 *
 * Every command has a number, SEQ, that grows with each of a gateway's, and
 * says up to which, ACKED, there will be no repetition. A repeated one finds
 * its number and changes nothing. Time is the server's own, so that gateways
 * whose clocks differ still share one rate.
 *
 * Arguments (ARGV), numbers in decimal, limits "-1" when there is none:
 *
 *	hello GATEWAY DIGEST LEASE_MS KEEP_MS
 *	    KEYS: PREFIX:key PREFIX:gateways; answers 1, or 0 when others have
 *	    another digest
 *	count GATEWAY SEQ ACKED END_MS REQUESTS TUNNELS UP DOWN TOKEN_US WHOLE_US
 *	add GATEWAY SEQ ACKED END_MS REQUESTS TUNNELS UP DOWN	(differences)
 *	cancel GATEWAY SEQ ACKED END_MS		(the count with that number)
 *	    KEYS: the member's, PREFIX:gateways; answers CAUSE REQUESTS TUNNELS
 *	    UP DOWN FULL_US, CAUSE an enum shared_cause, FULL_US until the
 *	    bucket of the rate is full
 *
 * The rate is the bucket of gate/bucket.h, the order of causes that of
 * quota_look (gate/quota.h): tests compare the two. Numbers stay below 2^53,
 * which Lua has exactly.
 */
#ifndef STORE_SHARED_SCRIPT_H
#define STORE_SHARED_SCRIPT_H

enum shared_cause {
	SHARED_COUNTED,
	SHARED_REQUESTS,
	SHARED_BYTES,
	SHARED_RATE,
	SHARED_TUNNELS,
	SHARED_PAST, /* END_MS is over, by the server's clock */
	SHARED_CAUSES
};

extern const char shared_script[];

#endif
