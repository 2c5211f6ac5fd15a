// SPDX-License-Identifier: MIT
// Result files: HDF5, one file per run, written beside its final name and renamed at the end.
#ifndef HOLONOM_RESULTS_H
#define HOLONOM_RESULTS_H

#include <holonom/simulation.h>
#include <holonom/statics.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hn_results hn_results;

/// What the records of a result file are, and their time.
typedef enum hn_result_kind {
    HN_RESULT_RUN,    ///< a motion; s
    HN_RESULT_STATIC, ///< equilibria under growing loads; the load factor
    HN_RESULT_MODES,  ///< swings of modes one after the other, a unit of time each
    HN_RESULT_KINEMATICS, ///< a prescribed motion; s
    HN_RESULT_INVERSE,    ///< a prescribed motion with the efforts it takes; s
} hn_result_kind;
#define HN_RESULT_KIND_COUNT 5
/// "run", "static", "modes", "kinematics", "inverse".
HN_API const char *hn_result_kind_name(hn_result_kind kind);
HN_API bool hn_result_kind_from_name(const char *name, hn_result_kind *kind);

/// What a result file keeps of its run beside the settings of the simulation.
typedef struct hn_results_def {
    size_t size; ///< bytes of this struct: set by hn_results_def_default
    int64_t every;              ///< steps between records; 0: not known
    int64_t step_count;         ///< steps the run shall take; 0: not known
    double checkpoint_interval; ///< s between hn_results_checkpoint, for whoever resumes; 0: none
    hn_result_kind kind;        ///< since 0.2
    bool all_series;            ///< also write what costs more than a step: ledger/hidden_projected. Since 0.2
    const char *series;         ///< series or groups of them to write, such as "outputs,bodies/position", with commas;
                                ///< time and step are always there. NULL: all. What is left out is not computed.
                                ///< hn_results_resume: NULL, or the same words as before
} hn_results_def;
HN_API void hn_results_def_init(hn_results_def *def, size_t size);
static inline hn_results_def hn_results_def_default(void)
{
    hn_results_def def;
    hn_results_def_init(&def, sizeof def);
    return def;
}

/// Start a result file for a simulation of `model`. Data go to `path`.part until hn_results_finish renames it to
/// `path`. The .part is locked: a second writer of the same name is refused. So is a path that leads, also through
/// links, to the file the model was read from. A checkpoint of an earlier run under this name is removed.
/// @return HN_OK, HN_FILE_ACCESS, HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_results_create(const hn_model *model, hn_simulation *simulation, const char *path,
                                                hn_results **results);
/// The same, with what is known of the run; NULL: the defaults.
HN_API HN_NODISCARD hn_status hn_results_create_for(const hn_model *model, hn_simulation *simulation, const char *path,
                                                    const hn_results_def *def, hn_results **results);

/// Append the current state of the simulation as one record. Records are written in chunks, and at least once a second.
/// @return HN_OK, HN_FILE_ACCESS (disk full, ...)
HN_API HN_NODISCARD hn_status hn_results_append(hn_results *results);

/// Write all records so far and then, as `path`.checkpoint, what hn_results_resume needs to go on from the current
/// state of the simulation. The checkpoint is replaced at once or not at all: a process may be killed at any moment.
/// @return HN_OK, HN_FILE_ACCESS (disk full, ...: the last checkpoint stays), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_results_checkpoint(hn_results *results);

/// Go on with a result file that was stopped or killed: the simulation, made from the same model with the same
/// settings, takes the state of the checkpoint, and appending continues behind the records from before it. The finished
/// file is the one that an uninterrupted run writes, bit for bit. `def` (or NULL) gives the number of steps if the run
/// shall now be longer, and gets what the stopped run had said.
/// @return HN_OK, HN_FILE_ACCESS (no checkpoint or no .part there, locked by another run), HN_FILE_FORMAT (damaged),
/// HN_INVALID_ARGUMENT (of another model, or other settings), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_results_resume(const hn_model *model, hn_simulation *simulation, const char *path,
                                                hn_results_def *def, hn_results **results);

/// Keep modes in the file: the datasets modes/frequency (Hz), modes/growth_rate (1/s) and modes/shape (modes, bodies,
/// 6), as hn_simulation_modes gives them.
/// @return HN_OK, HN_FILE_ACCESS, HN_INVALID_ARGUMENT
HN_API HN_NODISCARD hn_status hn_results_set_modes(hn_results *results, const hn_mode *modes, const double *shapes,
                                                   int count);

/// Write ledger and statistics, close, rename to the final name, and remove the checkpoint.
HN_API HN_NODISCARD hn_status hn_results_finish(hn_results *results);

/// Close without renaming: the readable `.part` file and its checkpoint stay. NULL is fine. Also frees after
/// hn_results_finish.
HN_API void hn_results_destroy(hn_results *results);

// ---- reading --------------------------------------------------------------------------------------

/// A result file opened for reading. What its functions hand out lives until it is closed.
typedef struct hn_result_file hn_result_file;

/// Open a result file, finished or a `.part`, also while a run writes it: what it held at this moment is read.
/// @return HN_OK, HN_FILE_ACCESS, HN_FILE_FORMAT (damaged, no result file, or of a newer format), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_result_file_open(hn_context *context, const char *path, hn_result_file **file);

/// Close and free; NULL is fine.
HN_API void hn_result_file_close(hn_result_file *file);

/// What a result file says about its run.
typedef struct hn_result_info {
    int format_version;
    const char *holonom_version; ///< of the library that wrote it
    bool complete;               ///< false: a .part
    int64_t record_count;
    const char *model_name;
    hn_vec3 gravity;             ///< m/s^2
    const char *model_text;      ///< the model file as it was read; NULL: built by calls
    size_t model_text_length;    ///< bytes
    const char *scheme;          ///< names as in model files
    const char *reduction;
    double step_size;            ///< s
    hn_simulation_def settings;  ///< all of the simulation; those that older files do not have are the defaults
    hn_results_def run;          ///< checkpoint_interval is 0: it is in the checkpoint
    int body_count;
    int joint_count;
    int coordinate_count;        ///< of all joints
    int beam_count;
    int load_count;              ///< forces, torques, springs, torsional springs; 0 in files before 0.2
    hn_structure structure;      ///< loop_solution is "" and spin_step_limit 0: files do not have them
    hn_statistics statistics;    ///< of the whole run; last_* are those of the last record
    bool has_ledger;
    hn_ledger ledger;            ///< at the end of the run
} hn_result_info;
HN_API const hn_result_info *hn_result_file_info(const hn_result_file *file);

typedef struct hn_result_body {
    const char *name;
    const char *kind;       ///< "rigid", "point_mass", "planar_point_mass", "beam_node"
    double mass;            ///< kg
    hn_vec3 center_of_mass; ///< m, body frame
    hn_mat3 inertia;        ///< kg m^2, about the centre of mass, body axes
    const hn_shape *shapes; ///< body frame; without masses and densities
    int shape_count;
} hn_result_body;
/// `index` from 0 to body_count - 1, in the order of the model.
HN_API const hn_result_body *hn_result_file_body(const hn_result_file *file, int index);

typedef struct hn_result_joint {
    const char *name;
    const char *kind;         ///< as in model files: "revolute", ...
    int body_a, body_b;       ///< index of the body, -1: the ground
    bool placed;              ///< false: the file does not say where the joint is (files before 0.2)
    hn_vec3 point_a, point_b; ///< m, in the body frames (ground: world)
    hn_mat3 frame_a, frame_b; ///< columns: joint frame in the body frames, the third is the axis
    int coordinate_start;     ///< first of its columns in joints/coordinates and joints/rates
    int coordinate_count;
} hn_result_joint;
HN_API const hn_result_joint *hn_result_file_joint(const hn_result_file *file, int index);

/// A force, torque, spring or torsional spring.
typedef struct hn_result_load {
    const char *name;
    const char *kind;          ///< "force", "torque", "spring", "torsion_spring"
    int body_a;                ///< the body of a force or torque, the first one of a spring; -1: the ground
    int body_b;                ///< second body of a spring; -1: the ground
    int joint;                 ///< of a torsional spring; otherwise -1
    bool body_fixed;           ///< the vector turns with the body
    hn_vec3 vector;            ///< N or N m; world axes, or body axes when body_fixed
    hn_vec3 point_a, point_b;  ///< m, in the body frames (ground: world)
    double stiffness, damping; ///< N/m and N s/m, or N m/rad and N m s/rad
    double rest;               ///< m or rad
    const double *profile_times;   ///< s; the time factor runs straight between these points and is constant outside
    const double *profile_factors;
    int profile_count;             ///< 0: the factor is 1 at all times
} hn_result_load;
HN_API const hn_result_load *hn_result_file_load(const hn_result_file *file, int index);

/// A beam: its nodes are bodies one after the other, its elements count through all beams.
typedef struct hn_result_beam {
    const char *name;
    int first_node;    ///< index of its first body
    int element_count; ///< it has one node more
    int first_element; ///< in the series beams/strain and beams/resultant
} hn_result_beam;
HN_API const hn_result_beam *hn_result_file_beam(const hn_result_file *file, int index);

/// A series: one record of numbers for each time.
typedef struct hn_result_series {
    const char *name;    ///< place in the file: "time", "bodies/position", "ledger/energy"
    const char *unit;    ///< "m"; joints/coordinates and rates differ by column, see hn_result_column
    const char *meaning; ///< in words
    int rank;            ///< dimensions of a record; 0: one number
    int dims[3];         ///< `rank` sizes, such as {bodies, 3}
    size_t width;        ///< numbers in a record
} hn_result_series;
HN_API int hn_result_file_series_count(const hn_result_file *file);
HN_API const hn_result_series *hn_result_file_series(const hn_result_file *file, int index);
/// Index of a series by its full name; -1: this file has none of that name.
HN_API int hn_result_file_find_series(const hn_result_file *file, const char *name);

/// Read `count` records first, first + stride, ... of a series into `values` (count * width numbers).
/// @return HN_OK, HN_INVALID_ARGUMENT (beyond the last record, stride below 1), HN_FILE_FORMAT (damaged)
HN_API HN_NODISCARD hn_status hn_result_file_read(hn_result_file *file, int series, int64_t first, int64_t count,
                                                  int64_t stride, double *values);

/// One number of every record.
typedef struct hn_result_column {
    int series;
    size_t component; ///< below the series' width
} hn_result_column;

/// Columns that a word selects, as `holonom export --series` takes it: a full name ("bodies/link/position/z"), the
/// beginning of one up to a slash ("bodies/link", "ledger"), one without body or joint ("bodies/position"), or a total
/// without its group ("energy"). At most `capacity` are stored; `*count` is how many there are.
/// @return HN_OK, HN_FILE_FORMAT (no such series: the message has the nearest), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_result_file_select(hn_result_file *file, const char *word, hn_result_column *columns,
                                                    size_t capacity, size_t *count);

/// Full name of a column, "bodies/link/position/z"; lives until the next call of this function.
HN_API const char *hn_result_file_column_name(hn_result_file *file, hn_result_column column);
/// Unit of a column: "m", "rad/s", ...; "1" for plain numbers.
HN_API const char *hn_result_file_column_unit(const hn_result_file *file, hn_result_column column);

/// As hn_result_file_read for one column: `values` gets `count` numbers.
HN_API HN_NODISCARD hn_status hn_result_file_read_column(hn_result_file *file, hn_result_column column, int64_t first,
                                                         int64_t count, int64_t stride, double *values);

// ---- tables ---------------------------------------------------------------------------------------

/// Read a result file (final or .part) and write its series as comma separated values: one header line, one row a
/// record. NULL or empty `series` means all. /dev/stdout, /dev/stderr and /dev/fd/N are what is open there, sockets
/// too. @return HN_OK, HN_FILE_ACCESS, HN_FILE_FORMAT (unknown series: nearest named)
HN_API HN_NODISCARD hn_status hn_results_export_csv(hn_context *context, const char *result_path, const char *csv_path,
                                                    const char *const *series, int series_count);

/// The same for Matlab and Octave: a MAT-file of level 5. Groups of the file are structures (`ledger.energy`), arrays
/// have the record as their first index; a word selects whole series. Since 0.2.
/// @return as hn_results_export_csv; HN_INVALID_ARGUMENT where a group is too large for the format
HN_API HN_NODISCARD hn_status hn_results_export_mat(hn_context *context, const char *result_path, const char *mat_path,
                                                    const char *const *series, int series_count);

// ---- scenes ---------------------------------------------------------------------------------------

/// Write the motion of a result file as an animated scene, glTF 2.0 in its binary form (.glb). At most `frames_max`
/// (2 or more) records are taken, evenly; between two of them a body should turn less than half a turn.
HN_API HN_NODISCARD hn_status hn_results_export_gltf(hn_context *context, const char *result_path,
                                                     const char *gltf_path, int frames_max);
/// The same for ParaView: a VTKHDF file (format 2.0: ParaView 5.12 or later) of surfaces that move, with velocities;
/// beams are lines with their stress resultants.
HN_API HN_NODISCARD hn_status hn_results_export_vtk(hn_context *context, const char *result_path, const char *vtk_path,
                                                    int frames_max);

#ifdef __cplusplus
}
#endif

#endif
