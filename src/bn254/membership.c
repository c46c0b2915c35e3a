#include "bn254/membership.h"

#include "bn254/constants.h"

/* T = -psi^3(Q), psi^3 being the conjugates times frobenius_3. */
bool
membership_var(const twist_t *q, const fp2_t *x, const fp2_t *y, const fp2_t *z)
{
	fp2_t qx, qy;

	if (fp2_is_zero(z))
		return false;
	fp2_conj(&qx, &q->x);
	fp2_mul(&qx, &qx, &frobenius_3[2]);
	fp2_mul(&qx, &qx, z);
	fp2_conj(&qy, &q->y);
	fp2_mul(&qy, &qy, &frobenius_3[3]);
	fp2_mul(&qy, &qy, z);
	fp2_neg(&qy, &qy);
	return fp2_eq(&qx, x) && fp2_eq(&qy, y);
}
