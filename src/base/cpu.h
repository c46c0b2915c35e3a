/* base/cpu.h: what this CPU can do beyond its architecture's base.
 *
 * Code for an extension is compiled into every binary and runs only where this
 * has said yes. A fact about the machine, not state: asked each time, for a
 * nanosecond.
 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* AVX-512 F, VL, DQ and IFMA, with an operating system that saves their
 * registers. */
bool cpu_has_ifma(void);

/* ADX and BMI2: ADCX, ADOX and MULX. */
bool cpu_has_adx(void);

#endif
