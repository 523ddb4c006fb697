/* Traces of what host and device do. */
#ifndef HABANA_SYS_SYNAPSE_PROFILER_H
#define HABANA_SYS_SYNAPSE_PROFILER_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is traced. */
typedef enum synTraceType {
    synTraceAll = 1,
    synTraceHost = 2,
    synTraceDevice = 3,
    synTraceTypeSize = 4,
} synTraceType;

/** Form of a trace. */
typedef enum synTraceFormat {
    synTraceFormatTEF = 1,
    synTraceFormatSize = 2,
} synTraceFormat;

/**
 * An argument of an event: its name, and a value that is text, an address, a number or a float as type says.
 */
typedef struct synTraceEventArg {
    const char *key;
    int32_t type;
    uint64_t value;
} synTraceEventArg;

/** The arguments of an event. */
typedef struct synTraceEventExtraArgs {
    uint8_t count;
    const synTraceEventArg *args;
} synTraceEventExtraArgs;

/** An event of a trace. */
typedef struct synTraceEvent {
    const char *name;
    const char *category;
    char type;
    long double timestamp;
    long double duration;
    uint32_t engineType;
    uint32_t engineIndex;
    uint64_t contextId;
    uint64_t arguments[16];
} synTraceEvent;

/** Stores how many bytes of host memory a trace needs. */
synStatus synProfilerQueryRequiredMemory(const synDeviceId deviceId, uint32_t *bytesRequired);

/** Gives the profiler memory for its trace; it stays the caller's. */
synStatus synProfilerSetUserBuffer(const synDeviceId deviceId, void *userBuffer);

/** Starts tracing. */
synStatus synProfilerStart(const synTraceType type, const synDeviceId deviceId);

/** Ends tracing. */
synStatus synProfilerStop(const synTraceType type, const synDeviceId deviceId);

/** Copies a trace out, and stores its size in bytes and its number of events. */
synStatus synProfilerGetTrace(
    const synTraceType type, const synDeviceId deviceId, const synTraceFormat format, void *buffer,
    uint64_t *size, uint64_t *numEntries);

/** Stores the time in nanoseconds on the clock of traces. */
synStatus synProfilerGetCurrentTimeNS(uint64_t *nanoTime);

/** Adds an event of the caller that began at nanoTime. */
synStatus synProfilerAddCustomMeasurement(const char *description, uint64_t nanoTime);

/** Same as synProfilerAddCustomMeasurement, with names and values as alternating texts. */
synStatus synProfilerAddCustomMeasurementArgs(
    const char *description, uint64_t nanoTime, const char **args, uint64_t argsSize);

/** Same as synProfilerAddCustomMeasurementArgs, on a named thread. */
synStatus synProfilerAddCustomMeasurementArgsAndThread(
    const char *description, uint64_t nanoTime, const char **args, uint64_t argsSize, const char *threadName);

/** Adds an event of the caller with its start and end time in nanoseconds. */
synStatus synProfilerAddCustomEvent(
    const char *description, uint64_t startTime, uint64_t endTime, const char **args, uint64_t argsSize);

#ifdef __cplusplus
}
#endif

#endif
