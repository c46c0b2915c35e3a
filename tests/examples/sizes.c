/* The sizes of what callers of libpostern have on their own stack, a line
 * each: part of its ABI, compared with conf/libpostern.abi. */
#include <postern/group.h>
#include <postern/identity.h>
#include <postern/prove.h>
#include <postern/semaphore.h>
#include <postern/sphinx.h>
#include <stdio.h>

#define SHOW(TYPE) \
	printf("%-32s %zu %zu\n", #TYPE, sizeof(TYPE), _Alignof(TYPE))

int
main(void)
{
	SHOW(enum status);
	SHOW(struct status_info);
	SHOW(struct semaphore_proof);
	SHOW(struct semaphore_fault);
	SHOW(struct semaphore_token);
	SHOW(struct group_member);
	SHOW(struct group_root);
	SHOW(struct group_proof);
	SHOW(struct members);
	SHOW(struct members_fault);
	SHOW(struct identity);
	SHOW(struct identity_cost);
	SHOW(struct prove_fault);
	SHOW(struct prove_statement);
	SHOW(struct runner);
	SHOW(sphinx_packet_t);
	SHOW(sphinx_key_t);
	SHOW(sphinx_path_t);
	SHOW(sphinx_build_t);
	SHOW(sphinx_step_t);
	SHOW(sphinx_surb_t);
	SHOW(sphinx_surb_owner_t);
	SHOW(sphinx_message_t);
	SHOW(struct sphinx_replay);
	printf("%-32s %d\n", "ST_COUNT", ST_COUNT);
	return 0;
}
