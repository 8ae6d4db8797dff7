/* A stand-in for NVIDIA's driver library libnvidia-ml.so.1: one GPU, whose state is a file of "name value" lines beside it.
 *
 * nvidia-ml-py really loads it and really decodes what it answers. Without the file there is no driver. `lost 1` is a GPU that has
 * fallen off the bus; `xid N` is told once to every listener; a name that the file lacks is not supported by this GPU. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NO_DRIVER = 9, TIMEOUT = 10, LOST = 15 };
typedef unsigned long long u64;
typedef void *device;

/* The value of `name` as text; 0 where the file does not tell it, -1 without a file. */
static int told(const char *name, char *value, size_t size) {
    Dl_info here;
    char path[4096], line[256], key[128];
    int found = 0;
    dladdr((void *)told, &here);
    snprintf(path, sizeof path, "%s", here.dli_fname);
    strcpy(strrchr(path, '/') + 1, "gpu.state");
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    while (!found && fgets(line, sizeof line, file)) {
        int end = 0;
        if (sscanf(line, "%127s %n", key, &end) == 1 && !strcmp(key, name)) {
            line[strcspn(line, "\n")] = 0;
            snprintf(value, size, "%s", line + end);
            found = 1;
        }
    }
    fclose(file);
    return found;
}

static int number(const char *name, u64 *value) {
    char text[256];
    if (told("lost", text, sizeof text) == 1) return LOST;
    if (told(name, text, sizeof text) != 1) return NOT_SUPPORTED;
    return sscanf(text, "%llu", value) == 1 ? OK : INVALID;
}

static int whole(const char *name, unsigned *value) {
    u64 found = 0;
    int code = number(name, &found);
    if (code == OK) *value = (unsigned)found;
    return code;
}

static int words(const char *name, char *value, unsigned size) {
    char text[256];
    if (told("lost", text, sizeof text) == 1) return LOST;
    return told(name, value, size) == 1 ? OK : NOT_SUPPORTED;
}

int nvmlInitWithFlags(unsigned flags) { char text[256]; return told("", text, sizeof text) < 0 ? NO_DRIVER : OK; }
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { return code == LOST ? "GPU is lost" : "an error of the stand-in"; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *gpu) { *gpu = (device)1; char t[9]; return words("uuid", t, 9) == LOST ? LOST : OK; }
int nvmlDeviceGetUUID(device gpu, char *value, unsigned size) { return gpu ? words("uuid", value, size) : INVALID; }
int nvmlDeviceGetName(device gpu, char *value, unsigned size) { return gpu ? words("name", value, size) : INVALID; }
int nvmlDeviceGetVbiosVersion(device gpu, char *value, unsigned size) { return words("vbios", value, size); }
int nvmlSystemGetDriverVersion(char *value, unsigned size) { return words("driver", value, size); }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 13010; return OK; }
int nvmlDeviceGetEnforcedPowerLimit(device gpu, unsigned *mw) { return whole("power_limit_mw", mw); }
int nvmlDeviceGetPowerUsage(device gpu, unsigned *mw) { return whole("power_mw", mw); }
int nvmlDeviceGetTemperature(device gpu, int sensor, unsigned *celsius) { return whole("temperature_c", celsius); }
int nvmlDeviceGetClockInfo(device gpu, int kind, unsigned *mhz) { return whole(kind == 1 ? "sm_mhz" : "memory_mhz", mhz); }
int nvmlDeviceGetMaxClockInfo(device gpu, int kind, unsigned *mhz) { return whole("most_sm_mhz", mhz); }
int nvmlDeviceGetApplicationsClock(device gpu, int kind, unsigned *mhz) { return whole("application_mhz", mhz); }
int nvmlDeviceGetCurrentClocksThrottleReasons(device gpu, u64 *bits) { return number("throttle_bits", bits); }
int nvmlDeviceGetTotalEnergyConsumption(device gpu, u64 *mj) { return number("energy_mj", mj); }
int nvmlDeviceGetEccMode(device gpu, unsigned *now, unsigned *pending) { *pending = 1; return whole("ecc", now); }
int nvmlDeviceGetMigMode(device gpu, unsigned *now, unsigned *pending) { *pending = 0; return whole("mig", now); }

int nvmlDeviceGetTotalEccErrors(device gpu, int kind, int counter, u64 *count) {
    return number(kind == 1 ? "ecc_uncorrected" : "ecc_corrected", count);
}

int nvmlDeviceGetRetiredPages(device gpu, int cause, unsigned *count, u64 *pages) {
    unsigned there = 0, code = whole("retired_pages", &there);
    for (unsigned i = 0; code == OK && pages && i < there && i < *count; i++) pages[i] = 4096 * i;
    *count = there;
    return code;
}

int nvmlDeviceGetRemappedRows(device gpu, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    *corrected = *pending = 0;
    int code = whole("rows_remapped", uncorrected);
    return code == OK ? whole("remapping_failed", failed) : code;
}

int nvmlDeviceGetMemoryInfo(device gpu, u64 *memory) { /* total, free, used */
    memory[0] = 141ull << 30;
    int code = number("memory_used", &memory[2]);
    memory[1] = memory[0] - memory[2];
    return code;
}

int nvmlDeviceGetUtilizationRates(device gpu, unsigned *rates) {
    rates[1] = 0;
    return whole("busy_percent", &rates[0]);
}

typedef struct { unsigned pid; u64 memory; unsigned gpu_instance, compute_instance; } process;

int nvmlDeviceGetComputeRunningProcesses_v3(device gpu, unsigned *count, process *running) {
    unsigned pid = 0, code = whole("process", &pid);
    unsigned there = pid != 0;
    if (code == OK && there && (!running || *count < there)) code = 7; /* insufficient size, as the driver says */
    else if (code == OK && there) running[0] = (process){pid, 1 << 20, -1, -1};
    *count = there;
    return code;
}

typedef struct { device gpu; u64 type, data; unsigned gpu_instance, compute_instance; } event;
static u64 last_told;

int nvmlEventSetCreate(void **set) { last_told = 0; *set = &last_told; return OK; }
int nvmlEventSetFree(void *set) { return OK; }
int nvmlDeviceRegisterEvents(device gpu, u64 kinds, void *set) { return OK; }
int nvmlEventSetWait_v2(void *set, event *data, unsigned timeout_ms) {
    u64 xid = 0;
    int code = number("xid", &xid);
    if (code == LOST) return LOST;
    if (code != OK || xid == 0 || xid == last_told) return TIMEOUT;
    *data = (event){(device)1, 8, xid, -1, -1};
    last_told = xid;
    return OK;
}
