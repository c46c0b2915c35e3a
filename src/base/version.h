/* base/version.h: the release this source is. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define POSTERN_VERSION "0.1.0"

#endif
