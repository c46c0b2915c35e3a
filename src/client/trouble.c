#include "client/trouble.h"

#include <string.h>

static const struct trouble_info table[TROUBLE_COUNT] = {
    [TROUBLE_NONE] = {"none", "nothing is wrong", "", 200, SOCKS5_DONE},
    [TROUBLE_NO_TOR] = {"no_tor", "tor does not answer",
	"start tor, or say where its SOCKS port is: --tor HOST:PORT", 503,
	SOCKS5_NET_UNREACHABLE},
    [TROUBLE_NOT_TOR] = {"not_tor", "what answers is not tor's SOCKS port",
	"say where that is: --tor HOST:PORT", 503, SOCKS5_NET_UNREACHABLE},
    [TROUBLE_ONION] = {"onion_unreachable",
	"tor does not reach the gateway's onion service",
	"check the address; if it is right, the gateway is down or tor is "
	"still starting",
	504, SOCKS5_NET_UNREACHABLE},
    [TROUBLE_TIMEOUT] = {"gateway_timeout", "the gateway does not answer",
	"try again", 504, SOCKS5_EXPIRED},
    [TROUBLE_NOT_GATEWAY] = {"not_gateway",
	"what answers at the onion address is not a postern gateway",
	"check the address and its port", 502, SOCKS5_FAILED},
    [TROUBLE_NO_FACTS] = {"not_described",
	"the gateway does not describe itself",
	"ask its operator to set well_known = yes", 502, SOCKS5_FAILED},
    [TROUBLE_AUDIENCE] = {"audience",
	"the gateway wants proofs made for another name than its own address",
	"give --audience N if its operator says that this is right", 502,
	SOCKS5_FAILED},
    [TROUBLE_CLOCK] = {"clock",
	"this machine's clock and the gateway's are in different epochs",
	"set the clock of this machine (date -u shows it)", 503, SOCKS5_FAILED},
    [TROUBLE_NO_LIST] = {"no_members",
	"the gateway does not publish its member list",
	"get it from the curator: --members FILE or --members https://...", 503,
	SOCKS5_FAILED},
    [TROUBLE_LIST] = {"members_unreadable", "the member list can not be read",
	"check --members", 503, SOCKS5_FAILED},
    [TROUBLE_OLD_LIST] = {"members_old",
	"the member list is not the one that the gateway knows",
	"get the current one from the curator", 503, SOCKS5_FAILED},
    [TROUBLE_NOT_MEMBER] = {"not_member",
	"this identity is not, or no longer, in the member list",
	"send the curator your commitment: postern identity show FILE", 403,
	SOCKS5_NOT_ALLOWED},
    [TROUBLE_MINT] = {"no_proof", "no proof could be made",
	"for a proving key: postern artifacts fetch --help", 503,
	SOCKS5_FAILED},
    [TROUBLE_TOKEN] = {"token", "this proxy wants its own user and password",
	"use the address that postern client printed, with the token in it",
	407, SOCKS5_NOT_ALLOWED},
    [TROUBLE_BUSY] = {"busy", "too many connections at once", "try again", 503,
	SOCKS5_FAILED},
    [TROUBLE_ANSWER] = {"answer", "the gateway refused", "", 502,
	SOCKS5_FAILED},
};

const struct trouble_info *
trouble_info(enum trouble t)
{
	if (t < 0 || t >= TROUBLE_COUNT)
		t = TROUBLE_NOT_GATEWAY;
	return &table[t];
}

enum status
trouble_status_of(const char *label, unsigned code)
{
	for (enum status s = ST_OK + 1; s < ST_COUNT; s++) {
		const struct status_info *info = status_info(s);
		if (info->http != 0 && strcmp(info->label, label) == 0)
			return s;
	}
	switch (code) {
	case 403:
		return ST_TARGET_NAME;
	case 407:
		return ST_PROOF_INVALID;
	case 429:
		return ST_QUOTA_REQUESTS;
	case 502:
		return ST_CONNECT_FAILED;
	case 503:
		return ST_OVERLOADED;
	case 504:
		return ST_CONNECT_TIMEOUT;
	default:
		return ST_INTERNAL;
	}
}

enum socks5_reply
trouble_socks(enum status s)
{
	if (s == ST_CONNECT_REFUSED)
		return SOCKS5_REFUSED;
	if (s == ST_CONNECT_UNREACHABLE)
		return SOCKS5_NET_UNREACHABLE;
	switch (status_info(s)->http) {
	case 403:
		return SOCKS5_NOT_ALLOWED;
	case 502:
		return SOCKS5_HOST_UNREACHABLE;
	case 504:
		return SOCKS5_EXPIRED;
	default:
		return SOCKS5_FAILED;
	}
}
