/* The oracle: records what a program does, and predicts from an earlier run what it will do next and when (PYTHIA,
 * CLUSTER 2022). For runtimes and communication libraries; of the rest of Refrain it needs nothing. C99.
 *
 * A program does *events*: a runtime says when one happens. What matters of an event is its name, e.g. "MPI_Send 3";
 * each thread has a *stream* of them. A *run* is the streams of all threads of all its processes. It is recorded in one
 * file, as grammars, whose size is that of the program's structure rather than of the run. A later run that is given
 * this file as its *reference* follows it, event by event, and can be asked what comes next.
 *
 * All functions may be called by any thread; a stream is used by one thread at a time. Strings are copied. What fails
 * returns NULL or -1, and refrain_oracle_error() says why; nothing aborts or throws, and a stream that is NULL is one
 * of nothing. To use what has been left, closed or freed is an error, too, as it is for a child made by fork() to use
 * what its parent has opened: about a hundred bytes of each handle stay to the end of the process and know that.
 * By example: docs/oracle.md. */

#ifndef REFRAIN_ORACLE_H
#define REFRAIN_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REFRAIN_ORACLE_API __attribute__((visibility("default")))
#else
#define REFRAIN_ORACLE_API
#endif

/* One process's part of a run. */
typedef struct refrain_oracle refrain_oracle;
/* One thread's part of that. */
typedef struct refrain_oracle_stream refrain_oracle_stream;

/* No event. */
#define REFRAIN_ORACLE_NONE UINT32_MAX

/* What went wrong last in this thread; "" if nothing has. Holds until the thread calls something here again. */
REFRAIN_ORACLE_API const char* refrain_oracle_error(void);

/* ---- Runs ---- */

/* A file for a run of which nothing has been recorded yet, in the place of another run's that is there; any other file
 * is an error, and one that this process is recording in. One process of a run makes it, before any of them opens it.
 * `program`: what the run is of; a reference of another program is refused. */
REFRAIN_ORACLE_API int refrain_oracle_create(const char* path, const char* program);

typedef struct refrain_oracle_options {
  const char* record;    /* a file that was created: the run is recorded in it; NULL: it is not */
  const char* reference; /* the file of an earlier run; NULL: nothing is predicted */
  const char* program;   /* the reference has to be of it; NULL: whatever it is of */
  uint32_t process;      /* e.g. the rank in MPI: which process this is, and whom it follows */
  int times;             /* not 0: the times between events are recorded, too */
} refrain_oracle_options;

/* A file has one record of each process: to open it for one that it has already, or that is open in this process, is an
 * error. So it is if the record is the reference. */
REFRAIN_ORACLE_API refrain_oracle* refrain_oracle_open(const refrain_oracle_options* options);

/* Leaves all streams that are joined, and ends the run, also after -1: not everything could be recorded. -1 as well, if
 * it has ended before, or if another thread is using a stream: then nothing ends. NULL: nothing. */
REFRAIN_ORACLE_API int refrain_oracle_close(refrain_oracle* oracle);

/* ---- Streams ---- */

/* The stream of that thread, 0, 1 ...: it must not be joined already, nor, if it is recorded, have been. What is
 * recorded so far is written now and then, so that of a process that is killed most is in the file. A thread that is
 * not in the reference can be recorded, but nothing is predicted for it. */
REFRAIN_ORACLE_API refrain_oracle_stream* refrain_oracle_join(refrain_oracle* oracle,
                                                              uint32_t thread);

/* Writes what is recorded, and ends the stream, also after -1: it cannot be written. -1 as well, if it has ended
 * before, or another thread is using it. One that is from refrain_oracle_here() is only written. */
REFRAIN_ORACLE_API int refrain_oracle_leave(refrain_oracle_stream* stream);

/* The number of the event with that name, which is new if there is none: 0, 1 ..., first those of the reference.
 * Finding it takes a look-up in a hash table; so keep it. REFRAIN_ORACLE_NONE, if there is no memory, or the
 * name is empty or has more than 64 KiB. */
REFRAIN_ORACLE_API uint32_t refrain_oracle_event(refrain_oracle_stream* stream, const char* name);

/* The name of an event. Holds until the stream is left. NULL: there is no such event. */
REFRAIN_ORACLE_API const char* refrain_oracle_name(const refrain_oracle_stream* stream,
                                                   uint32_t event);

typedef enum refrain_oracle_tracked {
  REFRAIN_ORACLE_FAILED = -1, /* nothing done: the stream has ended, or another thread uses it */
  REFRAIN_ORACLE_EXPECTED,    /* it continues what was followed */
  REFRAIN_ORACLE_UNEXPECTED, /* it does not, but it is known: it is found again, as well as may be */
  REFRAIN_ORACLE_UNKNOWN     /* it never came in the reference, or there is none */
} refrain_oracle_tracked;

/* An event happens, now. Of numbers that are no events nothing is recorded. */
REFRAIN_ORACLE_API refrain_oracle_tracked refrain_oracle_submit(refrain_oracle_stream* stream,
                                                                uint32_t event);

/* The same at a time that the caller has taken, in ns from any beginning, which is the same for all of the stream.
 * refrain_oracle_submit() reads CLOCK_MONOTONIC. */
REFRAIN_ORACLE_API refrain_oracle_tracked refrain_oracle_submit_at(refrain_oracle_stream* stream,
                                                                   uint32_t event,
                                                                   uint64_t nanoseconds);

/* The same, if nobody wants to know at once how it continues what was followed: it is looked at later, with up to 63
 * others, and before anything else is submitted, predicted or written. That takes less time of each event, above all where
 * the program leaves little of the caches to the oracle. If the process is killed those that wait are lost. 0; -1: the
 * stream has ended, or another thread is using it, and nothing was done; or there was no memory for what waited. */
REFRAIN_ORACLE_API int refrain_oracle_submit_later(refrain_oracle_stream* stream, uint32_t event,
                                                   uint64_t nanoseconds);

/* ---- Predictions ---- */

/* Not 0, if there is a reference for this stream. */
REFRAIN_ORACLE_API int refrain_oracle_predicts(const refrain_oracle_stream* stream);

typedef struct refrain_oracle_prediction {
  uint32_t event;     /* the most probable one; REFRAIN_ORACLE_NONE: nothing is known */
  double probability; /* its; -1: the stream has ended, or another thread is using it */
  double end;         /* the probability that the run is over before */
  double delay; /* expected from the last event to this one, in ns; 0: the reference has no times */
} refrain_oracle_prediction;

/* The event at that distance from the last one; 1: the next. Whole loops are skipped: a far one takes no longer. */
REFRAIN_ORACLE_API refrain_oracle_prediction refrain_oracle_predict(refrain_oracle_stream* stream,
                                                                    uint64_t distance);

typedef struct refrain_oracle_occurrence {
  uint64_t distance;  /* the most probable one, at least 1; 0: it is not known to come */
  double probability; /* its; -1: the stream has ended, or another thread is using it */
  double end;         /* the probability that it does not come any more */
  double delay;       /* expected from the last event to it, in ns */
} refrain_oracle_occurrence;

/* Where an event comes next. */
REFRAIN_ORACLE_API refrain_oracle_occurrence refrain_oracle_next(refrain_oracle_stream* stream,
                                                                 uint32_t event);

/* ---- Notes ---- */

/* What a runtime has found out and wants to know again in a later run, in the file beside what is recorded. A note has
 * a name, and holds any bytes. Writing one again replaces it; without a recording it does nothing. -1: no memory, no
 * name, an empty one, no bytes though `size` is not 0, or more than 16 MiB in all notes of the stream. */
REFRAIN_ORACLE_API int refrain_oracle_set_note(refrain_oracle_stream* stream, const char* name,
                                               const void* bytes, size_t size);

/* The reference's note of that name, and its size. Holds until the stream is left. NULL: there is none. */
REFRAIN_ORACLE_API const void* refrain_oracle_note(const refrain_oracle_stream* stream,
                                                   const char* name, size_t* size);

/* ---- What is in a file ---- */

/* A run, read from its file. This structure and those below, which hold until it is freed, are made by the library:
 * later versions put further members behind these. Names end with a 0, and may have others in them. */
typedef struct refrain_oracle_run {
  const char* program; /* what it is of */
  size_t program_size;
  size_t threads;      /* how many streams there are, of all processes; 0 after it was freed */
  uint64_t unfinished; /* so many bytes at the file's end are of a record that was not finished */
} refrain_oracle_run;

/* As much as there is, while it is being recorded. NULL: the file cannot be read, is damaged, or is none. */
REFRAIN_ORACLE_API const refrain_oracle_run* refrain_oracle_read(const char* path);

/* -1: it has been freed before. NULL: nothing. */
REFRAIN_ORACLE_API int refrain_oracle_free(const refrain_oracle_run* run);

typedef struct refrain_oracle_listed_thread {
  uint32_t process;
  uint32_t thread;
  uint64_t length; /* how many events happened */
  uint32_t events; /* how many different ones */
  uint32_t rules;  /* of its grammar */
  uint32_t notes;
  int times; /* not 0: times were recorded */
} refrain_oracle_listed_thread;

/* The streams, ascending by process and thread. To list them: `index` from 0, until there is none, which is NULL. */
REFRAIN_ORACLE_API const refrain_oracle_listed_thread* refrain_oracle_list_thread(
    const refrain_oracle_run* run, size_t index);

typedef struct refrain_oracle_listed_event {
  const char* name;
  size_t name_size;
  uint64_t count; /* how often it happened */
} refrain_oracle_listed_event;

/* The events of the stream with that index, by their numbers, from 0. NULL: there is none. */
REFRAIN_ORACLE_API const refrain_oracle_listed_event* refrain_oracle_list_event(
    const refrain_oracle_run* run, size_t thread, uint32_t event);

/* A part of a rule; later versions leave this structure as it is. */
typedef struct refrain_oracle_symbol {
  uint32_t is_rule; /* not 0: a rule, else an event */
  uint32_t number;
  uint64_t times; /* so often in a row, at least once */
  double delay; /* mean time of one, in ns: from the event before it to its last; 0 without times */
} refrain_oracle_symbol;

typedef struct refrain_oracle_listed_rule {
  const refrain_oracle_symbol* symbols;
  size_t size;     /* how many */
  uint64_t length; /* how many events the rule stands for */
  uint64_t count;  /* how often it comes in the run, repetitions counted */
} refrain_oracle_listed_rule;

/* The rules of its grammar: rule 0 is the whole stream, each of the others a part that comes more than once. NULL:
 * there is none. */
REFRAIN_ORACLE_API const refrain_oracle_listed_rule* refrain_oracle_list_rule(
    const refrain_oracle_run* run, size_t thread, uint32_t rule);

typedef struct refrain_oracle_listed_note {
  const char* name;
  size_t name_size;
  const void* bytes;
  size_t size;
} refrain_oracle_listed_note;

/* Its notes, `index` from 0. NULL: there is none. */
REFRAIN_ORACLE_API const refrain_oracle_listed_note* refrain_oracle_list_note(
    const refrain_oracle_run* run, size_t thread, uint32_t index);

/* ---- In a process that was started by `refrain oracle record` or `refrain oracle run` ---- */

/* This thread's stream of the run that the environment tells of (docs/oracle.md), NULL if it tells of none or it cannot
 * be opened, which is said once, on stderr. All libraries in the process share it. Streams are numbered in the order in
 * which threads first call this; a thread goes on with the stream of one that has ended, if there is one. They are
 * written in the end of the process. After a fork() the child's streams are those of another process. Ask for it each
 * time, as for a thread-local variable. */
REFRAIN_ORACLE_API refrain_oracle_stream* refrain_oracle_here(void);

/* Predicts the events at the distances 1, 2, 4 ... 128 and, as they come, counts how many were right: that is what
 * `refrain oracle run` prints. Nothing, if nobody wants to know. */
REFRAIN_ORACLE_API void refrain_oracle_assess(refrain_oracle_stream* stream);

/* A line for what `refrain oracle run` prints at the end. */
REFRAIN_ORACLE_API void refrain_oracle_say(const char* line);

#ifdef __cplusplus
}
#endif

#endif
