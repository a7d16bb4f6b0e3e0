/* Loaded before the C library (LD_PRELOAD): counts the calls that use files below one folder, and
 * lets the n-th of them fail, or all from the n-th on. `disk_watch` begins, `disk_trace` says what
 * was called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FDS_MAX = 4096, CALLS_MAX = 65536, KILL = -1, SHORT = -2 };

/* What a call does, as far as faults differ: o opens to read, c opens to write or creates, r reads,
 * w writes, s syncs, t truncates or allocates, n changes names, m maps. */
static char folder[4096];
static size_t folder_length;
static char trace[CALLS_MAX + 1];
static int calls, fault, fault_at, onwards;
static const char *fails;
static unsigned char watched[FDS_MAX];

/* Begins to count below `path`. Calls of the `kinds` fail with `error`: an errno, KILL, SHORT. */
void disk_watch(const char *path, int error, int at, int from_then_on, const char *kinds)
{
    strncpy(folder, path, sizeof folder - 1);
    folder_length = strlen(folder);
    calls = 0;
    memset(trace, 0, sizeof trace);
    fault = error;
    fault_at = at;
    onwards = from_then_on;
    fails = kinds;
}

void disk_rest(void) { folder_length = 0; }

const char *disk_trace(void) { return trace; }

static int is_below(const char *path)
{
    return folder_length && path && !strncmp(path, folder, folder_length);
}

static int is_watched(int fd) { return folder_length && fd >= 0 && fd < FDS_MAX && watched[fd]; }

/* Counts one call; what is to become of it: 0, an errno, or SHORT. */
static int count(char kind)
{
    int number = ++calls;
    if (number <= CALLS_MAX) trace[number - 1] = kind;
    if (!fault || (onwards ? number < fault_at : number != fault_at)) return 0;
    if (!strchr(fails, kind)) return 0;
    if (fault == KILL) kill(getpid(), SIGKILL);
    /* A short write fails at the next call, as on a disk that fills. */
    if (fault == SHORT && onwards && number > fault_at) return ENOSPC;
    return fault;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
#define REFUSE(kind, failed)                                                                       \
    do {                                                                                           \
        int refused = count(kind);                                                                 \
        if (refused > 0) {                                                                         \
            errno = refused;                                                                       \
            return failed;                                                                         \
        }                                                                                          \
    } while (0)

static int note(int fd, const char *path)
{
    if (fd >= 0 && fd < FDS_MAX) watched[fd] = (unsigned char)is_below(path);
    return fd;
}

static char open_kind(int flags)
{
    return (flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC)) ? 'c' : 'o';
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;                                \
        va_end(list);                                                                              \
        if (is_below(path)) REFUSE(open_kind(flags), -1);                                          \
        return note(REAL(name)(path, flags, mode), path);                                          \
    }
#define OPENAT(name)                                                                               \
    int name(int at, const char *path, int flags, ...)                                             \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;                                \
        va_end(list);                                                                              \
        if (is_below(path)) REFUSE(open_kind(flags), -1);                                          \
        return note(REAL(name)(at, path, flags, mode), path);                                      \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* Not counted: nobody fails because of the answer. */
int access(const char *path, int mode)
{
    int read_only = fault == EROFS && onwards && calls + 1 >= fault_at;
    if ((mode & W_OK) && is_below(path) && read_only) return errno = EROFS, -1;
    return REAL(access)(path, mode);
}

int close(int fd)
{
    if (fd >= 0 && fd < FDS_MAX) watched[fd] = 0;
    return REAL(close)(fd);
}

ssize_t write(int fd, const void *data, size_t size)
{
    int result = is_watched(fd) ? count('w') : 0;
    if (result > 0) return errno = result, -1;
    return REAL(write)(fd, data, result == SHORT && size > 1 ? size / 2 : size);
}

#define PWRITE(name, offset_type)                                                                  \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset)                        \
    {                                                                                              \
        int result = is_watched(fd) ? count('w') : 0;                                              \
        if (result > 0) return errno = result, -1;                                                 \
        return REAL(name)(fd, data, result == SHORT && size > 1 ? size / 2 : size, offset);        \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int number)
{
    int result = is_watched(fd) ? count('w') : 0;
    if (result > 0) return errno = result, -1;
    return REAL(writev)(fd, parts, result == SHORT && number > 1 ? 1 : number);
}

ssize_t read(int fd, void *data, size_t size)
{
    if (is_watched(fd)) REFUSE('r', -1);
    return REAL(read)(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    if (is_watched(fd)) REFUSE('r', -1);
    return REAL(pread)(fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
    if (is_watched(fd)) REFUSE('r', -1);
    return REAL(pread64)(fd, data, size, offset);
}

#define ON_FILE(name, kind)                                                                        \
    int name(int fd)                                                                               \
    {                                                                                              \
        if (is_watched(fd)) REFUSE(kind, -1);                                                      \
        return REAL(name)(fd);                                                                     \
    }
ON_FILE(fsync, 's')
ON_FILE(fdatasync, 's')

int ftruncate(int fd, off_t size)
{
    if (is_watched(fd)) REFUSE('t', -1);
    return REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    if (is_watched(fd)) REFUSE('t', -1);
    return REAL(ftruncate64)(fd, size);
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    if (is_watched(fd)) REFUSE('t', -1);
    return REAL(fallocate)(fd, mode, offset, size);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
    if (is_watched(fd)) REFUSE('t', -1);
    return REAL(fallocate64)(fd, mode, offset, size);
}

int posix_fallocate(int fd, off_t offset, off_t size)
{
    int result = is_watched(fd) ? count('t') : 0;
    return result > 0 ? result : REAL(posix_fallocate)(fd, offset, size);
}

int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
    int result = is_watched(fd) ? count('t') : 0;
    return result > 0 ? result : REAL(posix_fallocate64)(fd, offset, size);
}

#define ON_NAME(name, extra_type)                                                                  \
    int name(const char *path, extra_type extra)                                                   \
    {                                                                                              \
        if (is_below(path)) REFUSE('n', -1);                                                       \
        return REAL(name)(path, extra);                                                            \
    }
ON_NAME(mkdir, mode_t)
ON_NAME(rename, const char *)
ON_NAME(link, const char *)

int unlink(const char *path)
{
    if (is_below(path)) REFUSE('n', -1);
    return REAL(unlink)(path);
}

int rmdir(const char *path)
{
    if (is_below(path)) REFUSE('n', -1);
    return REAL(rmdir)(path);
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
    if (is_below(from)) REFUSE('n', -1);
    return REAL(renameat)(from_at, from, to_at, to);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    if (is_below(from)) REFUSE('n', -1);
    return REAL(linkat)(from_at, from, to_at, to, flags);
}

int unlinkat(int at, const char *path, int flags)
{
    if (is_below(path)) REFUSE('n', -1);
    return REAL(unlinkat)(at, path, flags);
}

#define MMAP(name, offset_type)                                                                    \
    void *name(void *where, size_t size, int rights, int flags, int fd, offset_type offset)        \
    {                                                                                              \
        if (!(flags & MAP_ANONYMOUS) && is_watched(fd)) REFUSE('m', MAP_FAILED);                   \
        return REAL(name)(where, size, rights, flags, fd, offset);                                 \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)
