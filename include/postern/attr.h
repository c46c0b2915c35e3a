/* postern/attr.h: compiler attributes that our prototypes carry.
 *
 * gcc and clang only; each macro is one attribute, named for what it tells
 * the reader.
 */
#ifndef POSTERN_ATTR_H
#define POSTERN_ATTR_H

/* The caller must look at the result. */
#define WARN_UNUSED __attribute__((warn_unused_result))

/* No pointer argument may be NULL; NONNULL_ARGS names the ones that may not. */
#define NONNULL __attribute__((nonnull))
#define NONNULL_ARGS(...) __attribute__((nonnull(__VA_ARGS__)))

/* A printf-like function: the format is argument F, its values start at V. */
#define PRINTF_LIKE(F, V) __attribute__((format(printf, F, V)))

#endif
