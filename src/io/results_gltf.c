// SPDX-License-Identifier: MIT
// Result files as animated scenes: glTF 2.0 in its binary form (.glb), one node a body, moved by its own keys.
//
// A .glb is a header, the scene as JSON, and one block of numbers that the scene refers to by accessors. glTF is y-up:
// one root node turns the world. Between two keys rotations follow the shorter arc, so that a body must not turn by
// more than half a turn from frame to frame; quaternions next to each other have the same sign. An element of a beam is
// a tube of its own, stretched and turned between its nodes.
#include "io/result_motion.h"
#include "io/whole_file.h"

#include "base/rotation.h"
#include "base/vector.h"
#include "base/number_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    ARRAY_BUFFER = 34962,
    FLOAT = 5126,
    GLTF_MAGIC = 0x46546C67,
    GLTF_JSON = 0x4E4F534A,
    GLTF_BINARY = 0x004E4942
};
static const double TUBE_RADIUS = 0.01; // of the size of everything

/// Bytes that grow.
typedef struct byte_block {
    hn_context *context;
    char *bytes;
    int length, capacity;
    hn_status status; ///< the first failure; later calls do nothing
} byte_block;

typedef struct gltf_scene {
    byte_block nodes, meshes, accessors, views, samplers, channels, numbers;
    int node_count, mesh_count, accessor_count, sampler_count;
} gltf_scene;

static void put_bytes(byte_block *b, const void *bytes, size_t count)
{
    if (b->status != HN_OK) return;
    if (count > (size_t)(1 << 30) - (size_t)b->length) {
        b->status = context_fail(b->context, HN_FILE_ACCESS,
                                 "the scene would have more than 1 GiB; choose fewer frames");
        return;
    }
    void *grown = b->bytes;
    b->status = context_grow(b->context, &grown, &b->capacity, b->length + (int)count + 1, 1);
    b->bytes = grown;
    if (b->status != HN_OK) return;
    memcpy(b->bytes + b->length, bytes, count);
    b->length += (int)count;
}

HN_PRINTF(2, 3) static void put_text(byte_block *b, const char *format, ...)
{
    char text[400];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    put_bytes(b, text, (size_t)(length < (int)sizeof text ? length : (int)sizeof text - 1));
}

static void put_name(byte_block *b, const char *name)
{
    put_bytes(b, "\"", 1);
    for (const char *c = name; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') put_text(b, "\\%c", *c);
        else if ((unsigned char)*c < ' ') put_text(b, "\\u%04x", *c);
        else put_bytes(b, c, 1);
    }
    put_bytes(b, "\"", 1);
}

static void put_numbers(byte_block *b, const float *values, int count)
{
    for (int k = 0; k < count; ++k) {
        char text[NUMBER_TEXT_SIZE];
        put_text(b, "%s%s", k == 0 ? "[" : ",", number_text((double)values[k], text));
    }
    put_bytes(b, "]", 1);
}

// The next accessor: `count` items of `width` floats, which follow by put_floats; their range where glTF asks for it.
static int put_accessor(gltf_scene *g, const float *values, int count, int width, bool vertices,
                        bool ranged)
{
    static const char *const TYPES[] = {"", "SCALAR", "", "VEC3", "VEC4"};
    put_text(&g->views, "%s{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":%zu",
             g->accessor_count == 0 ? "" : ",", g->numbers.length,
             (size_t)count * (size_t)width * sizeof(float));
    put_text(&g->views, vertices ? ",\"target\":%d}" : "}", ARRAY_BUFFER);
    put_text(&g->accessors,
             "%s{\"bufferView\":%d,\"componentType\":%d,\"count\":%d,\"type\":\"%s\"",
             g->accessor_count == 0 ? "" : ",", g->accessor_count, FLOAT, count, TYPES[width]);
    if (ranged) {
        float low[4], high[4];
        for (int k = 0; k < width; ++k) {
            low[k] = high[k] = values[k];
            for (int i = 1; i < count; ++i) {
                low[k] = fminf(low[k], values[i * width + k]);
                high[k] = fmaxf(high[k], values[i * width + k]);
            }
        }
        put_text(&g->accessors, ",\"min\":");
        put_numbers(&g->accessors, low, width);
        put_text(&g->accessors, ",\"max\":");
        put_numbers(&g->accessors, high, width);
    }
    put_bytes(&g->accessors, "}", 1);
    put_bytes(&g->numbers, values, (size_t)count * (size_t)width * sizeof(float));
    return g->accessor_count++;
}

// ---- meshes -----------------------------------------------------------------------------------------------------

static hn_status put_mesh(gltf_scene *g, const shape_mesh *mesh, const char *name, int colour)
{
    enum { COLOURS = 8 };
    float *values = context_allocate(mesh->context, (size_t)mesh->count * 3 * sizeof(float));
    if (values == NULL) return HN_OUT_OF_MEMORY;
    int accessor[2];
    for (int what = 0; what < 2; ++what) {
        const hn_vec3 *x = what == 0 ? mesh->corners : mesh->normals;
        for (int i = 0; i < mesh->count; ++i) {
            double length = what == 0 ? 1.0 : vec3_norm(x[i]);
            values[3 * i] = (float)(x[i].x / length);
            values[3 * i + 1] = (float)(x[i].y / length);
            values[3 * i + 2] = (float)(x[i].z / length);
        }
        accessor[what] = put_accessor(g, values, mesh->count, 3, true, what == 0);
    }
    context_release(mesh->context, values);
    put_text(&g->meshes, "%s{\"name\":", g->mesh_count++ == 0 ? "" : ",");
    put_name(&g->meshes, name);
    put_text(&g->meshes,
             ",\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},\"material\":%d}]}",
             accessor[0], accessor[1], colour % COLOURS);
    return g->meshes.status;
}

static void put_materials(byte_block *out)
{
    // the colours of the figures, without harsh ones
    static const double COLOURS[8][3] = {{0.12, 0.29, 0.55}, {0.72, 0.33, 0.08}, {0.13, 0.45, 0.22},
                                         {0.55, 0.10, 0.13}, {0.33, 0.22, 0.50}, {0.36, 0.22, 0.16},
                                         {0.05, 0.45, 0.52}, {0.42, 0.42, 0.42}};
    put_text(out, "\"materials\":[");
    for (int k = 0; k < 8; ++k)
        put_text(out,
                 "%s{\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.%02d,0.%02d,0.%02d,1],"
                 "\"metallicFactor\":0.1,"
                 "\"roughnessFactor\":0.6}}",
                 k == 0 ? "" : ",", (int)(100.0 * COLOURS[k][0]), (int)(100.0 * COLOURS[k][1]),
                 (int)(100.0 * COLOURS[k][2]));
    put_text(out, "]");
}

// ---- motion -----------------------------------------------------------------------------------------------------

// x, y, z, w of a rotation by rows
static void quaternion_of(const double *r, double *q)
{
    double trace = r[0] + r[4] + r[8];
    if (trace > 0.0) {
        double s = 2.0 * sqrt(1.0 + trace);
        q[0] = (r[7] - r[5]) / s, q[1] = (r[2] - r[6]) / s, q[2] = (r[3] - r[1]) / s,
        q[3] = 0.25 * s;
    } else {
        int i = r[4] > r[0] ? 1 : 0;
        if (r[8] > r[4 * i]) i = 2;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double s = 2.0 * sqrt(fmax(0.0, 1.0 + r[4 * i] - r[4 * j] - r[4 * k]));
        q[i] = 0.25 * s;
        q[j] = (r[3 * j + i] + r[3 * i + j]) / s;
        q[k] = (r[3 * k + i] + r[3 * i + k]) / s;
        q[3] = (r[3 * k + j] - r[3 * j + k]) / s;
    }
}

/// Keys of one node: where it is, how it is turned and, for elements of beams, how long it is.
typedef struct node_keys {
    float *translation, *rotation, *scale;
} node_keys;

static void put_key(node_keys *keys, int frame, hn_vec3 x, const double *rows)
{
    double q[4], before = 0.0, length = 0.0;
    quaternion_of(rows, q);
    float *now = keys->rotation + 4 * frame;
    for (int k = 0; k < 4; ++k) {
        length += q[k] * q[k];
        if (frame > 0) before += q[k] * (double)now[k - 4];
    }
    for (int k = 0; k < 4; ++k) now[k] = (float)((before < 0.0 ? -q[k] : q[k]) / sqrt(length));
    float *place = keys->translation + 3 * frame;
    place[0] = (float)x.x, place[1] = (float)x.y, place[2] = (float)x.z;
}

static void put_channel(gltf_scene *g, int times, int accessor, int node, const char *path)
{
    put_text(&g->samplers, "%s{\"input\":%d,\"output\":%d}", g->sampler_count == 0 ? "" : ",",
             times, accessor);
    put_text(&g->channels, "%s{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}",
             g->sampler_count == 0 ? "" : ",", g->sampler_count, node, path);
    g->sampler_count += 1;
}

static void put_node(gltf_scene *g, const result_motion *m, const char *name, int mesh, int times,
                     const node_keys *keys)
{
    put_text(&g->nodes, ",{\"name\":");
    put_name(&g->nodes, name);
    put_text(&g->nodes, ",\"mesh\":%d,\"translation\":", mesh);
    put_numbers(&g->nodes, keys->translation, 3);
    put_text(&g->nodes, ",\"rotation\":");
    put_numbers(&g->nodes, keys->rotation, 4);
    if (keys->scale != NULL) {
        put_text(&g->nodes, ",\"scale\":");
        put_numbers(&g->nodes, keys->scale, 3);
    }
    put_bytes(&g->nodes, "}", 1);
    int node = ++g->node_count; // 0 is the root
    if (m->frame_count < 2) return;
    put_channel(g, times, put_accessor(g, keys->translation, m->frame_count, 3, false, false), node,
                "translation");
    put_channel(g, times, put_accessor(g, keys->rotation, m->frame_count, 4, false, false), node,
                "rotation");
    if (keys->scale != NULL)
        put_channel(g, times, put_accessor(g, keys->scale, m->frame_count, 3, false, false), node,
                    "scale");
}

static hn_status put_bodies(gltf_scene *g, const result_motion *m, int times, node_keys keys)
{
    int bodies = m->info->body_count;
    keys.scale = NULL;
    for (int i = 0; i < bodies; ++i) {
        if (m->meshes[i].count == 0) continue;
        const char *name = hn_result_file_body(m->file, i)->name;
        TRY(put_mesh(g, &m->meshes[i], name, i));
        for (int f = 0; f < m->frame_count; ++f)
            put_key(&keys, f, vec3_load(m->position + 3 * ((size_t)f * (size_t)bodies + (size_t)i)),
                    m->orientation + 9 * ((size_t)f * (size_t)bodies + (size_t)i));
        put_node(g, m, name, g->mesh_count - 1, times, &keys);
    }
    return g->nodes.status;
}

static hn_status put_beams(gltf_scene *g, const result_motion *m, int times, node_keys keys)
{
    if (m->element_count == 0) return HN_OK;
    hn_shape tube = hn_shape_default(HN_SHAPE_CYLINDER);
    shape_mesh mesh = {.context = m->context};
    tube.radius = TUBE_RADIUS * m->size, tube.height = 1.0;
    hn_status status = shape_mesh_add(&mesh, &tube, vec3(0.0, 0.0, 0.0));
    if (status == HN_OK) status = put_mesh(g, &mesh, "element", 6);
    shape_mesh_clear(&mesh);
    TRY(status);
    int bodies = m->info->body_count, drawn = g->mesh_count - 1;
    for (int b = 0; b < m->info->beam_count; ++b) {
        const hn_result_beam *beam = hn_result_file_beam(m->file, b);
        for (int e = 0; e < beam->element_count; ++e) {
            for (int f = 0; f < m->frame_count; ++f) {
                size_t node = (size_t)f * (size_t)bodies + (size_t)(beam->first_node + e);
                hn_vec3 p = vec3_load(m->position + 3 * node),
                        q = vec3_load(m->position + 3 * node + 3);
                hn_vec3 way = vec3_subtract(q, p);
                double length = fmax(vec3_norm(way), 1e-12 * m->size);
                hn_vec3 z =
                    vec3_norm(way) > 0.0 ? vec3_scale(1.0 / length, way) : vec3(0.0, 0.0, 1.0);
                // the section's own first axis, so that a tube does not spin between keys
                const double *rows = m->orientation + 9 * node;
                hn_vec3 d1 = vec3(rows[0], rows[3], rows[6]);
                hn_vec3 x = vec3_add_scaled(d1, -vec3_dot(d1, z), z);
                x = vec3_norm(x) > 1e-3 ? vec3_scale(1.0 / vec3_norm(x), x) : vec3_perpendicular(z);
                hn_mat3 frame = mat3_from_columns(x, vec3_cross(z, x), z);
                put_key(&keys, f, vec3_mean(p, q), &frame.m[0][0]);
                keys.scale[3 * f] = keys.scale[3 * f + 1] = 1.0F;
                keys.scale[3 * f + 2] = (float)length;
            }
            put_node(g, m, beam->name, drawn, times, &keys);
        }
    }
    return g->nodes.status;
}

// ---- the file ---------------------------------------------------------------------------------------------------

static hn_status compose(gltf_scene *g, const result_motion *m, byte_block *json)
{
    put_text(json, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"holonom\"},\"scene\":0,"
                   "\"scenes\":[{\"name\":");
    put_name(json, m->info->model_name);
    put_text(
        json,
        ",\"nodes\":[0]}],\"nodes\":[{\"name\":\"world\",\"rotation\":[-0.70710678,0,0,0.70710678],"
        "\"children\":[");
    for (int k = 1; k <= g->node_count; ++k) put_text(json, "%s%d", k == 1 ? "" : ",", k);
    put_text(json, "]}");
    put_bytes(json, g->nodes.bytes, (size_t)g->nodes.length);
    put_text(json, "],\"meshes\":[");
    put_bytes(json, g->meshes.bytes, (size_t)g->meshes.length);
    put_text(json, "],");
    put_materials(json);
    put_text(json, ",\"accessors\":[");
    put_bytes(json, g->accessors.bytes, (size_t)g->accessors.length);
    put_text(json, "],\"bufferViews\":[");
    put_bytes(json, g->views.bytes, (size_t)g->views.length);
    put_text(json, "],\"buffers\":[{\"byteLength\":%d}]", g->numbers.length);
    if (g->sampler_count > 0) {
        put_text(json, ",\"animations\":[{\"name\":\"run\",\"samplers\":[");
        put_bytes(json, g->samplers.bytes, (size_t)g->samplers.length);
        put_text(json, "],\"channels\":[");
        put_bytes(json, g->channels.bytes, (size_t)g->channels.length);
        put_text(json, "]}]");
    }
    put_text(json, "}");
    while (json->status == HN_OK && json->length % 4 != 0) put_bytes(json, " ", 1);
    return json->status;
}

static void put_word(unsigned char *bytes, unsigned value)
{
    for (int k = 0; k < 4; ++k) bytes[k] = (unsigned char)(value >> (8 * k));
}

/// The two parts of the file.
typedef struct gltf_parts {
    const byte_block *json, *numbers;
} gltf_parts;

static hn_status write_scene(FILE *file, void *user)
{
    const byte_block *json = ((const gltf_parts *)user)->json,
                     *numbers = ((const gltf_parts *)user)->numbers;
    unsigned char head[20], middle[8];
    put_word(head, GLTF_MAGIC), put_word(head + 4, 2);
    put_word(head + 8, (unsigned)(28 + json->length + numbers->length));
    put_word(head + 12, (unsigned)json->length), put_word(head + 16, GLTF_JSON);
    put_word(middle, (unsigned)numbers->length), put_word(middle + 4, GLTF_BINARY);
    fwrite(head, 1, sizeof head, file);
    fwrite(json->bytes, 1, (size_t)json->length, file);
    fwrite(middle, 1, sizeof middle, file);
    fwrite(numbers->bytes, 1, (size_t)numbers->length, file);
    return HN_OK;
}

static hn_status make_scene(const result_motion *m, gltf_scene *g, byte_block *json)
{
    size_t frames = (size_t)m->frame_count;
    float *room = context_allocate(m->context, frames * 11 * sizeof(float));
    if (room == NULL) return HN_OUT_OF_MEMORY;
    node_keys keys = {room, room + 3 * frames, room + 7 * frames};
    float *times = room + 10 * frames;
    for (size_t f = 0; f < frames; ++f) times[f] = (float)(m->time[f] - m->time[0]);
    int time_accessor = put_accessor(g, times, m->frame_count, 1, false, true);
    hn_status status = put_bodies(g, m, time_accessor, keys);
    if (status == HN_OK) status = put_beams(g, m, time_accessor, keys);
    context_release(m->context, room);
    const byte_block *parts[] = {&g->nodes,    &g->meshes,   &g->accessors, &g->views,
                                 &g->samplers, &g->channels, &g->numbers};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0] && status == HN_OK; ++k)
        status = parts[k]->status;
    return status == HN_OK ? compose(g, m, json) : status;
}

hn_status hn_results_export_gltf(hn_context *context, const char *result_path,
                                 const char *gltf_path, int frames_max)
{
    REQUIRE(NULL, context != NULL);
    REQUIRE(context,
            result_path != NULL && gltf_path != NULL && gltf_path[0] != '\0' && frames_max >= 2);
    result_motion m;
    gltf_scene g = {0};
    byte_block json = {.context = context},
               *parts[] = {&g.nodes,    &g.meshes,   &g.accessors, &g.views,
                           &g.samplers, &g.channels, &g.numbers};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; ++k) parts[k]->context = context;
    hn_status status = result_motion_open(context, result_path, frames_max, &m);
    if (status == HN_OK) status = make_scene(&m, &g, &json);
    gltf_parts file = {&json, &g.numbers};
    if (status == HN_OK)
        status = whole_file_write(context, gltf_path, result_path, write_scene, &file);
    result_motion_close(&m);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; ++k)
        context_release(context, parts[k]->bytes);
    context_release(context, json.bytes);
    return status;
}
