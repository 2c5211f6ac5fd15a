// SPDX-License-Identifier: MIT
// SUNDIALS: no multibody engine, but what good integrators do with equations derived by hand for one mechanism, a chain of
// hinges in a plane: absolute angles, Cholesky.
//
// Integrators: ARKODE "erk4-fixed" with the driver's step; with the step as tolerance ARKODE "erk4", "erk5", "erk8" and
// CVODE "adams".
#include "mechanism.h"

#include <arkode/arkode_arkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <vector>

struct engine {
    const peer_mechanism *mechanism;
    const peer_task *task;
    int n, order; // order 0: CVODE
    bool adaptive;
    std::vector<double> coupling, weight;         // A_ij, B_i g of the equations below
    std::vector<double> cosine, sine, matrix, force;
    SUNContext context;
    N_Vector y;
    void *memory;
    SUNNonlinearSolver solver;
    std::vector<peer_motion> motions;
};

// r_ki: how far the centre of body k goes with the turn of body i
static double reach(const peer_mechanism &m, int k, int i)
{
    if (i > k) return 0.0;
    return (i == k ? m.bodies[k].centre[0] : m.bodies[i + 1].place[0]) - m.bodies[i].place[0];
}

static bool derive(engine &e)
{
    const peer_mechanism &m = *e.mechanism;
    const int n = e.n = m.body_count;
    if (m.closure_count > 0 || m.gravity[0] != 0.0 || m.gravity[1] != 0.0 || n > 256) return false;
    for (int k = 0; k < n; ++k) {
        const peer_body &b = m.bodies[k];
        if (b.parent != k - 1 || b.kind != PEER_HINGE || b.axis[1] != 1.0 || b.centre[2] != 0.0 || b.place[2] != 0.0 ||
            b.rates[0] != 0.0)
            return false;
    }
    e.coupling.assign((size_t)(n * n), 0.0), e.weight.assign((size_t)n, 0.0);
    for (int i = 0; i < n; ++i)
        for (int k = i; k < n; ++k) {
            e.weight[(size_t)i] -= m.gravity[2] * m.bodies[k].mass * reach(m, k, i);
            for (int j = 0; j <= k; ++j)
                e.coupling[(size_t)(i * n + j)] += m.bodies[k].mass * reach(m, k, i) * reach(m, k, j);
        }
    e.cosine.resize((size_t)n), e.sine.resize((size_t)n), e.force.resize((size_t)n), e.matrix.resize((size_t)(n * n));
    return true;
}

// L L^T in place of the lower triangle, then both substitutions.
static void solve(int n, double *a, double *b)
{
    for (int j = 0; j < n; ++j) {
        double d = a[j * n + j];
        for (int k = 0; k < j; ++k) d -= a[j * n + k] * a[j * n + k];
        d = sqrt(d), a[j * n + j] = d;
        for (int i = j + 1; i < n; ++i) {
            double s = a[i * n + j];
            for (int k = 0; k < j; ++k) s -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = s / d;
        }
        double s = b[j];
        for (int k = 0; k < j; ++k) s -= a[j * n + k] * b[k];
        b[j] = s / d;
    }
    for (int j = n - 1; j >= 0; --j) {
        for (int k = j + 1; k < n; ++k) b[j] -= a[k * n + j] * b[k];
        b[j] /= a[j * n + j];
    }
}

// sum_j (A_ij cos(t_i - t_j) + I_i d_ij) t_j'' = g B_i cos t_i - sum_j A_ij sin(t_i - t_j) t_j'^2
static int rates(realtype, N_Vector from, N_Vector to, void *user)
{
    engine &e = *(engine *)user;
    const double *x = N_VGetArrayPointer(from);
    double *rate = N_VGetArrayPointer(to), *c = e.cosine.data(), *s = e.sine.data();
    const int n = e.n;
    for (int i = 0; i < n; ++i) c[i] = cos(x[i]), s[i] = sin(x[i]);
    for (int i = 0; i < n; ++i) {
        double sum = e.weight[(size_t)i] * c[i];
        for (int j = 0; j < n; ++j) {
            const double a = e.coupling[(size_t)(i * n + j)];
            if (j <= i) e.matrix[(size_t)(i * n + j)] = a * (c[i] * c[j] + s[i] * s[j]);
            sum -= a * (s[i] * c[j] - c[i] * s[j]) * x[n + j] * x[n + j];
        }
        e.matrix[(size_t)(i * n + i)] += e.mechanism->bodies[i].inertia[1];
        rate[n + i] = sum, rate[i] = x[n + i];
    }
    solve(n, e.matrix.data(), rate + n);
    return 0;
}

static void must(int status, const char *what)
{
    if (status >= 0) return;
    fprintf(stderr, "%s: code %d\n", what, status);
    exit(1);
}

static void release(engine &e)
{
    if (e.memory != nullptr) e.order > 0 ? ARKStepFree(&e.memory) : CVodeFree(&e.memory);
    if (e.solver != nullptr) SUNNonlinSolFree(e.solver);
    if (e.y != nullptr) N_VDestroy(e.y);
    e.memory = nullptr, e.solver = nullptr, e.y = nullptr;
}

static void start(void *from)
{
    engine &e = *(engine *)from;
    const double step = e.task->step;
    release(e);
    e.y = N_VNew_Serial(2 * e.n, e.context);
    N_VConst(0.0, e.y);
    if (e.order > 0) {
        e.memory = ARKStepCreate(rates, nullptr, 0.0, e.y, e.context);
        must(ARKStepSetUserData(e.memory, &e), "user data");
        must(ARKStepSetOrder(e.memory, e.order), "order");
        must(ARKStepSetMaxNumSteps(e.memory, 100000000), "steps");
        must(e.adaptive ? ARKStepSStolerances(e.memory, step, step) : ARKStepSetFixedStep(e.memory, step), "tolerance");
        return;
    }
    e.memory = CVodeCreate(CV_ADAMS, e.context);
    must(CVodeInit(e.memory, rates, 0.0, e.y), "start");
    must(CVodeSetUserData(e.memory, &e), "user data");
    must(CVodeSStolerances(e.memory, step, step), "tolerance");
    must(CVodeSetMaxNumSteps(e.memory, 100000000), "steps");
    e.solver = SUNNonlinSol_FixedPoint(e.y, 0, e.context);
    must(CVodeSetNonlinearSolver(e.memory, e.solver), "solver");
}

static long taken(engine &e)
{
    long steps = 0;
    must(e.order > 0 ? ARKStepGetNumSteps(e.memory, &steps) : CVodeGetNumSteps(e.memory, &steps), "steps");
    return steps;
}

static long advance(void *from, long steps, double time)
{
    engine &e = *(engine *)from;
    realtype at;
    long before = taken(e);
    for (long k = 0; !e.adaptive && k < steps; ++k) must(ARKStepEvolve(e.memory, time, e.y, &at, ARK_ONE_STEP), "step");
    if (e.adaptive && e.order > 0) {
        must(ARKStepSetStopTime(e.memory, time), "stop");
        must(ARKStepEvolve(e.memory, time, e.y, &at, ARK_NORMAL), "steps");
    }
    if (e.adaptive && e.order == 0) {
        must(CVodeSetStopTime(e.memory, time), "stop");
        must(CVode(e.memory, time, e.y, &at, CV_NORMAL), "steps");
    }
    return taken(e) - before;
}

static void tell(void *from, int index, peer_motion *x)
{
    engine &e = *(engine *)from;
    const peer_mechanism &m = *e.mechanism;
    const double *y = N_VGetArrayPointer(e.y);
    memset(x, 0, sizeof *x);
    x->centre[0] = m.bodies[0].place[0], x->centre[1] = m.bodies[index].centre[1];
    for (int i = 0; i <= index; ++i) {
        double r = reach(m, index, i), c = cos(y[i]), s = sin(y[i]), w = y[e.n + i];
        x->centre[0] += r * c, x->centre[2] -= r * s;
        x->velocity[0] -= r * s * w, x->velocity[2] -= r * c * w;
    }
    double c = cos(y[index]), s = sin(y[index]);
    const double turn[9] = {c, 0, s, 0, 1, 0, -s, 0, c};
    memcpy(x->rotation, turn, sizeof turn);
    x->spin[1] = y[e.n + index];
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    if (!peer_read(argc, argv, &m, &task)) return 2;
    engine e = {};
    e.mechanism = &m, e.task = &task;
    e.order = strncmp(task.integrator, "erk", 3) == 0 ? atoi(task.integrator + 3) : 0;
    e.adaptive = strstr(task.integrator, "fixed") == nullptr;
    if (!derive(e)) {
        fprintf(stderr, "no engine: equations are derived here for chains of hinges in a plane, to 256 bodies\n");
        return PEER_CANNOT;
    }
    must(SUNContext_Create(nullptr, &e.context), "context");
    peer_report report = {};
    peer_program program = {&e, start, advance, tell, nullptr, e.adaptive};
    peer_drive(&m, &task, &program, &report);
    peer_print(&report, "SUNDIALS", SUNDIALS_VERSION, "equations by hand for this mechanism");
    release(e);
    SUNContext_Free(&e.context);
    return 0;
}
