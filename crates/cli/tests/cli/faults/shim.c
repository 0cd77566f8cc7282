/* Makes one system call of a process fail: preloaded with LD_PRELOAD, it intercepts the file
 * functions of libc.
 *
 * RETROGRADE_FAULT=NAME:N:ERRNO   the Nth call of that name fails with that error
 * RETROGRADE_FAULT_LOG=FILE       appends the names of all calls, one per line
 * RETROGRADE_NO_TMPFILE=1         O_TMPFILE is not supported
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Whether this call is the one that fails. The calls are counted across threads. */
static int fails(const char *name) {
    static int counted;
    const char *log = getenv("RETROGRADE_FAULT_LOG");
    if (log) {
        int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
        ssize_t (*put)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
        int (*end)(int) = dlsym(RTLD_NEXT, "close");
        int fd = real(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
        char line[64];
        int len = snprintf(line, sizeof line, "%s\n", name);
        if (put(fd, line, len) != len) abort();
        end(fd);
    }
    const char *fault = getenv("RETROGRADE_FAULT");
    size_t len = strlen(name);
    if (!fault || strncmp(fault, name, len) != 0 || fault[len] != ':') return 0;
    char *rest;
    long nth = strtol(fault + len + 1, &rest, 10);
    if (__atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST) != nth) return 0;
    errno = (int)strtol(rest + 1, NULL, 10);
    return 1;
}

/* Files of the runtime and the loader are not counted. */
static int is_systems(const char *path) {
    return !strncmp(path, "/proc", 5) || !strncmp(path, "/sys", 4) || !strncmp(path, "/dev", 4)
        || !strncmp(path, "/etc", 4);
}

/* Stderr is not counted: it is needed to report errors. */
static int is_ours(int fd) { return fd >= 0 && fd != 2; }

static int is_file(int fd) {
    struct stat found;
    return is_ours(fd) && fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

#define REAL(type, name, ...) type (*real)(__VA_ARGS__) = dlsym(RTLD_NEXT, #name)

static int refuses(const char *path, int flags) {
    if ((flags & O_TMPFILE) == O_TMPFILE && getenv("RETROGRADE_NO_TMPFILE")) {
        errno = EOPNOTSUPP;
        return 1;
    }
    return !is_systems(path) && fails("open");
}

#define OPEN(name)                                              \
    int name(const char *path, int flags, ...) {                \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        mode_t mode = va_arg(rest, mode_t);                     \
        va_end(rest);                                           \
        if (refuses(path, flags)) return -1;                    \
        REAL(int, name, const char *, int, ...);                \
        return real(path, flags, mode);                         \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                            \
    int name(int folder, const char *path, int flags, ...) {    \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        mode_t mode = va_arg(rest, mode_t);                     \
        va_end(rest);                                           \
        if (refuses(path, flags)) return -1;                    \
        REAL(int, name, int, const char *, int, ...);           \
        return real(folder, path, flags, mode);                 \
    }
OPENAT(openat)
OPENAT(openat64)

/* A wrapper: its type, name, arguments, their names, whether and as what it is counted. */
#define WRAP(type, name, params, args, counts, as)              \
    type name params {                                          \
        if ((counts) && fails(as)) return (type)-1;             \
        type(*real) params = dlsym(RTLD_NEXT, #name);           \
        return real args;                                       \
    }

WRAP(int, fallocate, (int fd, int mode, off_t at, off_t len), (fd, mode, at, len), 1, "allocate")
WRAP(int, fallocate64, (int fd, int mode, off64_t at, off64_t len), (fd, mode, at, len), 1, "allocate")
WRAP(int, ftruncate, (int fd, off_t len), (fd, len), 1, "allocate")
WRAP(int, ftruncate64, (int fd, off64_t len), (fd, len), 1, "allocate")
WRAP(void *, mmap, (void *at, size_t len, int how, int flags, int fd, off_t off), (at, len, how, flags, fd, off), is_ours(fd), "map")
WRAP(void *, mmap64, (void *at, size_t len, int how, int flags, int fd, off64_t off), (at, len, how, flags, fd, off), is_ours(fd), "map")
WRAP(ssize_t, read, (int fd, void *to, size_t len), (fd, to, len), is_ours(fd), "read")
WRAP(ssize_t, readv, (int fd, const struct iovec *to, int n), (fd, to, n), is_ours(fd), "read")
WRAP(ssize_t, write, (int fd, const void *from, size_t len), (fd, from, len), is_ours(fd), "write")
WRAP(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n), is_ours(fd), "write")
WRAP(ssize_t, pwrite64, (int fd, const void *from, size_t len, off64_t at), (fd, from, len, at), is_ours(fd), "write")
WRAP(ssize_t, copy_file_range, (int a, off64_t *b, int c, off64_t *d, size_t e, unsigned f), (a, b, c, d, e, f), 1, "write")
WRAP(int, fsync, (int fd), (fd), 1, "sync")
WRAP(int, fdatasync, (int fd), (fd), 1, "sync")
WRAP(int, msync, (void *at, size_t len, int flags), (at, len, flags), 1, "sync")
WRAP(int, rename, (const char *from, const char *to), (from, to), 1, "rename")
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), 1, "rename")
WRAP(int, renameat2, (int a, const char *from, int b, const char *to, unsigned c), (a, from, b, to, c), 1, "rename")
WRAP(int, link, (const char *from, const char *to), (from, to), 1, "link")
WRAP(int, linkat, (int a, const char *from, int b, const char *to, int c), (a, from, b, to, c), 1, "link")
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), 1, "attributes")
WRAP(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), 1, "attributes")
WRAP(ssize_t, listxattr, (const char *path, char *list, size_t len), (path, list, len), 1, "attributes")
WRAP(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t len), (path, name, value, len), 1, "attributes")
WRAP(int, fsetxattr, (int fd, const char *name, const void *value, size_t len, int flags), (fd, name, value, len, flags), 1, "attributes")
WRAP(int, fremovexattr, (int fd, const char *name), (fd, name), 1, "attributes")
WRAP(int, flock, (int fd, int how), (fd, how), 1, "lock")
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), 1, "mkdir")

/* The system closes a file even if close fails. */
int close(int fd) {
    REAL(int, close, int);
    int failed = is_file(fd) && fails("close"), why = errno;
    int result = real(fd);
    if (!failed) return result;
    errno = why;
    return -1;
}
