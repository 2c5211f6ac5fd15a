// SPDX-License-Identifier: MIT
// The journal: a head that names its study, then rows with checksums. What does not fit its checksum is not there.
#define _GNU_SOURCE // flock
#include "study_journal.h"

#include "command.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct journal_head {
    char magic[8];
    uint64_t identity;
    int32_t shard, shards;
    int32_t outputs;
    int32_t unused;
} journal_head;

typedef struct row_head {
    int64_t member;
    int32_t status, failed;
    int32_t message_length;
    int32_t unused;
} row_head;

static const char MAGIC[8] = "hnstudy1";

// 64-bit FNV-1a
static uint64_t checksum(const char *bytes, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    return hash;
}

static size_t row_size(int outputs, size_t message)
{
    return sizeof(row_head) + (size_t)outputs * sizeof(double) + message + sizeof(uint64_t);
}

// Write all of it, or nothing that stays.
static bool write_whole(study_journal *j, const void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t written = pwrite(j->file, (const char *)bytes + done, size - done,
                                 (off_t)(j->length + (int64_t)done));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            int error = written == 0 ? ENOSPC : errno;
            if (ftruncate(j->file, (off_t)j->length) != 0) error = errno;
            errno = error;
            return false;
        }
        done += (size_t)written;
    }
    j->length += (int64_t)size;
    return true;
}

bool journal_append(study_journal *j, int64_t member, const double *outputs,
                    const hn_study_outcome *outcome)
{
    size_t message = strlen(outcome->message), numbers = (size_t)j->output_count * sizeof(double);
    size_t size = row_size(j->output_count, message);
    char *row = malloc(size);
    if (row == NULL) return false;
    row_head head = {.member = member,
                     .status = (int32_t)outcome->status,
                     .failed = outcome->failed,
                     .message_length = (int32_t)message};
    memcpy(row, &head, sizeof head);
    memcpy(row + sizeof head, outputs, numbers);
    memcpy(row + sizeof head + numbers, outcome->message, message);
    uint64_t sum = checksum(row, size - sizeof sum);
    memcpy(row + size - sizeof sum, &sum, sizeof sum);
    bool written = write_whole(j, row, size);
    free(row);
    return written;
}

// Hand on the rows of a journal's bytes; returns how many bytes are whole.
static size_t take_rows(const study_journal *j, const char *bytes, size_t size, journal_row row,
                        void *user, bool *fine)
{
    size_t at = sizeof(journal_head), numbers = (size_t)j->output_count * sizeof(double);
    double *outputs = malloc(numbers + 1);
    *fine = outputs != NULL;
    while (*fine && at + row_size(j->output_count, 0) <= size) {
        row_head head;
        hn_study_outcome outcome = {0};
        memcpy(&head, bytes + at, sizeof head);
        if (head.message_length < 0 || (size_t)head.message_length >= sizeof outcome.message) break;
        size_t length = row_size(j->output_count, (size_t)head.message_length);
        uint64_t sum;
        if (at + length > size) break;
        memcpy(&sum, bytes + at + length - sizeof sum, sizeof sum);
        if (sum != checksum(bytes + at, length - sizeof sum)) break;
        memcpy(outputs, bytes + at + sizeof head, numbers);
        outcome.status = (hn_status)head.status;
        outcome.failed = head.failed != 0;
        memcpy(outcome.message, bytes + at + sizeof head + numbers, (size_t)head.message_length);
        *fine = row(user, head.member, outputs, &outcome);
        at += length;
    }
    free(outputs);
    return at;
}

static bool read_whole(int file, char **bytes, size_t *size)
{
    struct stat information;
    if (fstat(file, &information) != 0) return false;
    *size = (size_t)information.st_size;
    *bytes = malloc(*size + 1);
    size_t done = 0;
    while (*bytes != NULL && done < *size) {
        ssize_t got = pread(file, *bytes + done, *size - done, (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return *bytes != NULL;
}

static int complain(const study_journal *j, const char *what)
{
    say(stderr, "%s: %s\n", j->path, what);
    return EXIT_FILE;
}

static int resume_rows(study_journal *j, const journal_head *head, journal_row row, void *user)
{
    char *bytes = NULL;
    size_t size = 0;
    bool fine = read_whole(j->file, &bytes, &size);
    int code = EXIT_FINE;
    if (!fine) {
        code = complain(j, strerror(errno));
    } else if (size >= sizeof *head) {
        if (memcmp(bytes, head, sizeof *head) != 0) {
            code = complain(j, "belongs to another study or another shard; move it, or choose "
                               "another name");
        } else {
            j->length = (int64_t)take_rows(j, bytes, size, row, user, &fine);
            if (!fine) code = complain(j, "there is no memory");
            else if (ftruncate(j->file, (off_t)j->length) != 0) code = complain(j, strerror(errno));
        }
    }
    free(bytes);
    return code;
}

// What is there must be a journal, or the beginning of one; rows are not lost without a word.
static int check_found(const study_journal *j, bool resume)
{
    char begin[sizeof MAGIC];
    struct stat information;
    if (fstat(j->file, &information) != 0) return complain(j, strerror(errno));
    ssize_t length = S_ISREG(information.st_mode) ? pread(j->file, begin, sizeof begin, 0) : -1;
    if (length < 0 || memcmp(begin, MAGIC, (size_t)length) != 0)
        return complain(j, "is no journal of a study; move it, or choose another name");
    if (!resume && information.st_size > (off_t)sizeof(journal_head))
        return complain(j, "has rows of a study that was stopped: go on with --resume, or remove "
                           "it to begin anew");
    return EXIT_FINE;
}

// Children of a process that was killed just now may have it open for a moment.
static bool lock(int file)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    for (int i = 0; i < 50; ++i) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

int journal_open(study_journal *j, const char *output, const hn_study *study, int shard, int shards,
                 bool resume, journal_row row, void *user)
{
    size_t size = strlen(output) + sizeof ".journal";
    *j = (study_journal){.file = -1, .output_count = hn_study_output_count(study)};
    j->path = malloc(size);
    if (j->path == NULL) return EXIT_RUN_FAILED;
    snprintf(j->path, size, "%s.journal", output);
    j->file = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (j->file < 0) return complain(j, strerror(errno));
    if (!lock(j->file))
        return complain(j, "another process works on this study, under the same output name");
    journal_head head = {.identity = hn_study_identity(study),
                         .shard = shard,
                         .shards = shards,
                         .outputs = j->output_count};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    int code = check_found(j, resume);
    if (code == EXIT_FINE && resume) code = resume_rows(j, &head, row, user);
    if (code != EXIT_FINE || j->length > 0) return code;
    if (ftruncate(j->file, 0) != 0 || !write_whole(j, &head, sizeof head))
        return complain(j, strerror(errno));
    return EXIT_FINE;
}

void journal_close(study_journal *j, bool remove_it)
{
    if (j->file >= 0) {
        if (remove_it) unlink(j->path);
        close(j->file);
    }
    free(j->path);
    *j = (study_journal){.file = -1};
}
