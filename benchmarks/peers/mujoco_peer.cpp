// SPDX-License-Identifier: MIT
// MuJoCo: joints without damping, no contact, no actuation; only the stages that such a model needs.
//
// Integrators: "euler" (semi-implicit), "implicitfast", "rk4". Loops are closed by soft equalities at their stiffest
// (solref twice the step, solimp near one): a hinge is held at two points of its axis.
#include "mechanism.h"

#include <mujoco/mujoco.h>

#include <string>
#include <vector>

struct engine {
    mjModel *model;
    mjData *data;
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
    const double *origin = c.a < 0 ? nullptr : m.bodies[c.a].place;
    for (int side = 0; side < (c.kind == PEER_HINGE ? 2 : 1); ++side) {
        double anchor[3];
        for (int k = 0; k < 3; ++k)
            anchor[k] = c.place[k] - (origin ? origin[k] : 0.0) +
                        (c.kind == PEER_HINGE ? (side == 0 ? -0.5 : 0.5) * c.axis[k] : 0.0);
        text += "<connect body1=\"" + (c.a < 0 ? std::string("world") : "b" + std::to_string(c.a)) + "\"";
        text += " body2=\"" + (c.b < 0 ? std::string("world") : "b" + std::to_string(c.b)) + "\"";
        text += " anchor=\"" + numbers(anchor, 3) + "\" solref=\"" + numbers(stiff, 2) + "\" solimp=\"" +
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

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    if (!peer_read(argc, argv, &m, &task)) return 2;
    const char *integrator = strcmp(task.integrator, "rk4") == 0     ? "RK4"
                             : strcmp(task.integrator, "euler") == 0 ? "Euler"
                                                                     : task.integrator;
    engine e = {create_model(m, task, integrator), nullptr};
    if (e.model == nullptr) return 1;
    peer_report report = {};
    for (int repeat = 0; repeat < task.repeats; ++repeat) {
        e.data = mj_makeData(e.model);
        set_rates(m, e);
        mj_forward(e.model, e.data);
        if (repeat == 0) report.start = peer_measure(&m, tell, &e, nullptr);
        long total = lround(task.end / task.step), steps = 0;
        double start = peer_clock(), seconds = 0.0;
        while (steps < total && seconds < task.budget) {
            for (int i = 0, n = peer_batch(&m); i < n && steps < total; ++i, ++steps) mj_step(e.model, e.data);
            seconds = peer_clock() - start;
        }
        peer_note(&report, repeat, seconds, steps, e.data->time);
        mj_forward(e.model, e.data);
        if (repeat == 0) report.end = peer_measure(&m, tell, &e, task.places);
        mj_deleteData(e.data);
    }
    mj_deleteModel(e.model);
    peer_print(&report, "MuJoCo", mj_versionString(), m.closure_count > 0 ? "soft loops, solref 2 steps" : "");
    return 0;
}
