// SPDX-License-Identifier: MIT
// The chain in MuJoCo: hinges without damping, no contact.
//
// Integrators: "euler" (semi-implicit) and "rk4".
#include "peers/chain.h"

#include <mujoco/mujoco.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

// The XML reader accepts a limited depth of elements, so a long chain is cut into parts that include the next one.
static const int BODIES_PER_FILE = 64;

static std::string number(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return text;
}

static std::string body_opening(int index)
{
    const std::string across = number(CHAIN_INERTIA_ACROSS);
    return "<body pos=\"" + number(index == 0 ? 0.0 : CHAIN_LENGTH) + " 0 0\">" +
           "<joint type=\"hinge\" axis=\"0 1 0\"/>" + "<inertial pos=\"" +
           number(0.5 * CHAIN_LENGTH) + " 0 0\" mass=\"" + number(CHAIN_MASS) +
           "\" diaginertia=\"" + number(CHAIN_INERTIA_AXIAL) + " " + across + " " + across + "\"/>";
}

static void add_file(mjVFS *files, const std::string &name, const std::string &text)
{
    if (mj_makeEmptyFileVFS(files, name.c_str(), (int)text.size()) != 0) {
        fprintf(stderr, "MuJoCo: no place for %s\n", name.c_str());
        exit(1);
    }
    memcpy(files->filedata[mj_findFileVFS(files, name.c_str())], text.data(), text.size());
}

static mjModel *create_chain(int count, double step, bool rk4)
{
    auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    for (int first = 0, part = 0; first < count; first += BODIES_PER_FILE, ++part) {
        int last = first + BODIES_PER_FILE < count ? first + BODIES_PER_FILE : count;
        std::string text;
        for (int k = first; k < last; ++k) text += body_opening(k);
        if (last < count) text += "<include file=\"part" + std::to_string(part + 1) + ".xml\"/>";
        for (int k = first; k < last; ++k) text += "</body>";
        if (part == 0)
            text = "<mujoco><option timestep=\"" + number(step) + "\" gravity=\"0 0 " +
                   number(-CHAIN_GRAVITY) + "\" integrator=\"" + (rk4 ? "RK4" : "Euler") +
                   "\"><flag contact=\"disable\"/></option><worldbody>" + text +
                   "</worldbody></mujoco>";
        else text = "<mujoco>" + text + "</mujoco>";
        add_file(files.get(), "part" + std::to_string(part) + ".xml", text);
    }
    char message[1000] = "";
    mjModel *model = mj_loadXML("part0.xml", files.get(), message, sizeof message);
    if (model == nullptr) fprintf(stderr, "MuJoCo: %s\n", message);
    mj_deleteVFS(files.get());
    return model;
}

int main(int argc, char **argv)
{
    chain_task task;
    if (!chain_read_task(argc, argv, &task)) return 2;
    bool rk4 = strcmp(task.integrator, "rk4") == 0;
    if (!rk4 && strcmp(task.integrator, "euler") != 0) return 2;

    mjModel *model = create_chain(task.count, task.step, rk4);
    if (model == nullptr) return 1;
    if (model->nv != task.count) {
        fprintf(stderr, "MuJoCo made %d degrees of freedom of %d hinges\n", (int)model->nv,
                task.count);
        return 1;
    }
    chain_report report = {};
    for (int repeat = 0; repeat < task.repeats; ++repeat) {
        mjData *data = mj_makeData(model);
        long total = std::lround(task.end / task.step), steps = 0;
        const int batch = chain_batch(task.count);
        double start = chain_clock(), seconds = 0.0;
        while (steps < total && seconds < task.budget) {
            for (int i = 0; i < batch && steps < total; ++i, ++steps) mj_step(model, data);
            seconds = chain_clock() - start;
        }
        chain_report_add(&report, &task, repeat, seconds, steps, data->time, data->qpos,
                         chain_measure(task.count, data->qpos, data->qvel, nullptr));
        mj_deleteData(data);
    }
    mj_deleteModel(model);
    chain_report_print(&report, &task, "MuJoCo", mj_versionString(), "");
    return 0;
}
