/* gate/verdict.h: whether somebody may pass.
 *
 * Not a status and not a bool: zeroed or forgotten memory is no verdict at
 * all, and only the one named value lets anybody through. Test for it, never
 * for the absence of a refusal:
 *
 *	if (verdict == VERDICT_ACCEPT)
 */
#ifndef GATE_VERDICT_H
#define GATE_VERDICT_H

enum verdict {
	VERDICT_NONE = 0, /* nobody has decided yet */
	VERDICT_REJECT,
	VERDICT_ACCEPT,
};

#endif
