// SPDX-License-Identifier: MIT
// MuJoCo: joints without damping, no contact, no actuation; only the stages that such a model needs.
//
// Integrators: "euler" (semi-implicit), "implicitfast", "rk4" of the engine; "dop853" around mj_forward, with the step as
// tolerance. Loops are closed by soft equalities at their stiffest (solref twice the step, solimp near one), at one point
// of a hinge of a planar mechanism, else at two.
#include "field.hpp"
#include "mechanism.h"

#include <mujoco/mujoco.h>

#include <string>
#include <vector>

struct engine {
    const peer_mechanism *mechanism;
    mjModel *model;
    mjData *data;
    double tolerance;
    field::pair8 pair;
};

static std::string numbers(const double *x, int count)
{
    std::string text;
    char one[40];
    for (int k = 0; k < count; ++k) {
        snprintf(one, sizeof one, k == 0 ? "%.17g" : " %.17g", x[k]);
        text += one;
    }
    return text;
}

static std::string body_text(const peer_mechanism &m, int index, const std::vector<std::vector<int>> &children)
{
    const peer_body &b = m.bodies[index];
    const double none[3] = {0, 0, 0};
    const double *origin = b.kind == PEER_FREE ? b.centre : b.place;
    const double *above = b.parent < 0 ? none : m.bodies[b.parent].place;
    double place[3], centre[3];
    for (int k = 0; k < 3; ++k) place[k] = origin[k] - above[k], centre[k] = b.centre[k] - origin[k];
    std::string text = "<body name=\"b" + std::to_string(index) + "\" pos=\"" + numbers(place, 3) + "\">";
    if (b.kind == PEER_HINGE) text += "<joint type=\"hinge\" axis=\"" + numbers(b.axis, 3) + "\"/>";
    else text += b.kind == PEER_BALL ? "<joint type=\"ball\"/>" : "<freejoint/>";
    text += "<inertial pos=\"" + numbers(centre, 3) + "\" mass=\"" + numbers(&b.mass, 1) + "\" fullinertia=\"" +
            numbers(b.inertia, 6) + "\"/>";
    for (int child : children[(size_t)index]) text += body_text(m, child, children);
    return text + "</body>";
}

static std::string closure_text(const peer_mechanism &m, const peer_closure &c, double step)
{
    std::string text;
    const double stiff[2] = {2.0 * step, 1.0}, near[3] = {0.9999, 0.9999, 0.001};
    double points[2][3];
    for (int side = 0, count = peer_points(&m, &c, points); side < count; ++side) {
        for (int k = 0; k < 3 && c.a >= 0; ++k) points[side][k] -= m.bodies[c.a].place[k];
        text += "<connect body1=\"" + (c.a < 0 ? std::string("world") : "b" + std::to_string(c.a)) + "\"";
        text += " body2=\"" + (c.b < 0 ? std::string("world") : "b" + std::to_string(c.b)) + "\"";
        text += " anchor=\"" + numbers(points[side], 3) + "\" solref=\"" + numbers(stiff, 2) + "\" solimp=\"" +
                numbers(near, 3) + "\"/>";
    }
    return text;
}

static mjModel *create_model(const peer_mechanism &m, const peer_task &task, const char *integrator)
{
    std::vector<std::vector<int>> children((size_t)m.body_count);
    for (int k = 0; k < m.body_count; ++k)
        if (m.bodies[k].parent >= 0) children[(size_t)m.bodies[k].parent].push_back(k);
    std::string text = "<mujoco><compiler inertiafromgeom=\"false\"/><option timestep=\"" + numbers(&task.step, 1) +
                       "\" gravity=\"" + numbers(m.gravity, 3) + "\" integrator=\"" + integrator +
                       "\" tolerance=\"1e-12\"><flag contact=\"disable\"/></option><worldbody>";
    for (int k = 0; k < m.body_count; ++k)
        if (m.bodies[k].parent < 0) text += body_text(m, k, children);
    text += "</worldbody>";
    if (m.closure_count > 0) text += "<equality>";
    for (int k = 0; k < m.closure_count; ++k) text += closure_text(m, m.closures[k], task.step);
    text += std::string(m.closure_count > 0 ? "</equality>" : "") + "</mujoco>";
    char path[] = "/tmp/holonom-peer-XXXXXX", message[1000] = "";
    int handle = mkstemp(path);
    FILE *file = handle < 0 ? nullptr : fdopen(handle, "w");
    if (file == nullptr) return nullptr;
    fwrite(text.data(), 1, text.size(), file);
    fclose(file);
    mjModel *model = mj_loadXML(path, nullptr, message, sizeof message);
    remove(path);
    if (model == nullptr) fprintf(stderr, "MuJoCo: %s\n", message);
    return model;
}

static void set_rates(const peer_mechanism &m, engine &e)
{
    // tree order of the file is depth first: bodies are found by name
    for (int k = 0; k < m.body_count; ++k) {
        int body = mj_name2id(e.model, mjOBJ_BODY, ("b" + std::to_string(k)).c_str());
        int at = e.model->body_dofadr[body], count = m.bodies[k].kind == PEER_HINGE ? 1 : m.bodies[k].kind == PEER_BALL ? 3 : 6;
        for (int d = 0; d < count; ++d) e.data->qvel[at + d] = m.bodies[k].rates[d];
    }
}

static void tell(void *from, int index, peer_motion *x)
{
    engine *e = (engine *)from;
    int body = mj_name2id(e->model, mjOBJ_BODY, ("b" + std::to_string(index)).c_str());
    mjtNum velocity[6];
    mj_objectVelocity(e->model, e->data, mjOBJ_BODY, body, velocity, 0); // about the centre of mass, world axes
    memcpy(x->centre, e->data->xipos + 3 * body, sizeof x->centre);
    memcpy(x->rotation, e->data->xmat + 9 * body, sizeof x->rotation);
    memcpy(x->spin, velocity, sizeof x->spin);
    memcpy(x->velocity, velocity + 3, sizeof x->velocity);
}

// Rates of qpos and qvel; quaternions of qpos have their own.
static void rates(engine &e, const field::state &x, field::state &rate)
{
    const mjModel *m = e.model;
    mjData *d = e.data;
    std::copy(x.begin(), x.begin() + m->nq, d->qpos);
    std::copy(x.begin() + m->nq, x.end(), d->qvel);
    mj_normalizeQuat(m, d->qpos);
    mj_forward(m, d);
    for (int j = 0; j < m->njnt; ++j) {
        int at = m->jnt_qposadr[j], from = m->jnt_dofadr[j];
        if (m->jnt_type[j] == mjJNT_FREE) {
            std::copy(d->qvel + from, d->qvel + from + 3, rate.begin() + at);
            at += 3, from += 3;
        }
        if (m->jnt_type[j] == mjJNT_HINGE) rate[(size_t)at] = d->qvel[from];
        else field::quaternion_rate(&x[(size_t)at], d->qvel + from, &rate[(size_t)at]);
    }
    std::copy(d->qacc, d->qacc + m->nv, rate.begin() + m->nq);
}

static void start(void *from)
{
    engine &e = *(engine *)from;
    mj_deleteData(e.data);
    e.data = mj_makeData(e.model);
    e.pair = field::pair8();
    set_rates(*e.mechanism, e);
    mj_forward(e.model, e.data);
}

static long advance(void *from, long steps, double time)
{
    engine &e = *(engine *)from;
    for (long k = 0; k < steps; ++k) mj_step(e.model, e.data);
    if (steps > 0) return steps;
    field::state x(e.data->qpos, e.data->qpos + e.model->nq);
    x.insert(x.end(), e.data->qvel, e.data->qvel + e.model->nv);
    auto f = [&](const field::state &y, field::state &rate) { rates(e, y, rate); };
    long count = e.pair.advance(f, x, e.data->time, time, e.tolerance);
    std::copy(x.begin(), x.begin() + e.model->nq, e.data->qpos);
    std::copy(x.begin() + e.model->nq, x.end(), e.data->qvel);
    mj_normalizeQuat(e.model, e.data->qpos);
    e.data->time = time;
    return count;
}

static void tell_now(void *from, int index, peer_motion *x)
{
    engine *e = (engine *)from;
    if (index == 0) mj_forward(e->model, e->data);
    tell(from, index, x);
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    if (!peer_read(argc, argv, &m, &task)) return 2;
    bool adaptive = strcmp(task.integrator, "dop853") == 0;
    if (adaptive && m.closure_count > 0) {
        fprintf(stderr, "loops are soft, as stiff as the step allows: no solution that steps of any size converge to\n");
        return PEER_CANNOT;
    }
    const char *integrator = strcmp(task.integrator, "rk4") == 0                 ? "RK4"
                             : adaptive || strcmp(task.integrator, "euler") == 0 ? "Euler"
                                                                                 : task.integrator;
    engine e = {&m, create_model(m, task, integrator), nullptr, task.step, {}};
    if (e.model == nullptr) return 1;
    peer_report report = {};
    peer_program program = {&e, start, advance, tell_now, nullptr, adaptive};
    peer_drive(&m, &task, &program, &report);
    peer_print(&report, "MuJoCo", mj_versionString(), m.closure_count > 0 ? "soft loops, solref 2 steps" : "");
    mj_deleteData(e.data);
    mj_deleteModel(e.model);
    return 0;
}
