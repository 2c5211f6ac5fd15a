// SPDX-License-Identifier: MIT
// Springs, dampers, forces and torques: tangents, discrete gradients, work, and that nothing internal pushes the whole.
#include "unit/element_states.h"

#include "support/check.h"

// Difference quotient of order four of the residual in one coordinate of the end of the step.
static void residual_slope(const element *e, contribution part, const element_states *s,
                           bool discrete, double weight, int coordinate, double *slope)
{
    const double width = 1e-4, places[4] = {-2.0, -1.0, 1.0, 2.0},
                 factors[4] = {1.0, -8.0, 8.0, -1.0};
    memset(slope, 0, PAIR * sizeof(double));
    for (int p = 0; p < 4; ++p) {
        element_states shifted = *s;
        shifted.end[coordinate] += places[p] * width;
        element_step view = view_of(&shifted, discrete, weight);
        double residual[PAIR];
        residual_of(e, part, &view, residual);
        for (int r = 0; r < PAIR; ++r) slope[r] += factors[p] * residual[r] / (12.0 * width);
    }
}

// Largest difference between the tangent terms and differences of the residual in all 24 coordinates, relative to the
// largest entry (or 1).
static double tangent_error(const element *e, contribution part, const element_states *s,
                            bool discrete, double weight)
{
    double worst = 0.0, largest = 0.0, ignored[PAIR] = {0.0};
    stiffness_term terms[ELEMENT_TERMS_MAX];
    element_step view = view_of(s, discrete, weight);
    element_output out = {.residual_a = ignored, .residual_b = ignored + POSE, .terms = terms};
    view.want_terms = true;
    part(e, &view, &out);
    CHECK(out.term_count <= ELEMENT_TERMS_MAX);
    for (int c = 0; c < PAIR; ++c) {
        double slope[PAIR];
        residual_slope(e, part, s, discrete, weight, c, slope);
        for (int r = 0; r < PAIR; ++r) {
            double claimed = 0.0;
            for (int t = 0; t < out.term_count; ++t)
                claimed += terms[t].u[r / 3] * terms[t].c[r % 3][c % 3] * terms[t].v[c / 3];
            worst = fmax(worst, fabs(slope[r] - claimed));
            largest = fmax(largest, fabs(slope[r]));
        }
    }
    return worst / (1.0 + largest);
}

static double worst_tangent(element_kind kind, bool body_fixed, bool load, bool discrete,
                            double weight)
{
    number_source numbers = {21};
    double worst = 0.0;
    for (int i = 0; i < SAMPLES; ++i) {
        element e = make_element(kind, &numbers);
        e.body_fixed = body_fixed;
        element_states s = make_states(&e, &numbers);
        // a midpoint between poses half a turn apart is nearly flat, and differences there say little: take the end
        // halfway back
        for (int k = 0; k < PAIR; ++k) s.end[k] = 0.5 * (s.end[k] + s.start[k]);
        const element_type *type = element_type_of(kind);
        worst = fmax(worst,
                     tangent_error(&e, load ? type->load : type->gradient, &s, discrete, weight));
    }
    return worst;
}

TEST(tangent, of_springs_and_dampers_is_that_of_their_residual)
{
    CHECK_BELOW(worst_tangent(ELEMENT_SPRING, false, false, true, 0.5), 2e-10);  // measured 1.5e-11
    CHECK_BELOW(worst_tangent(ELEMENT_SPRING, false, false, false, 0.0), 2e-10); // measured 1.2e-11
    CHECK_BELOW(worst_tangent(ELEMENT_SPRING, false, true, true, 0.5), 2e-10);   // measured 5.8e-12
    CHECK_BELOW(worst_tangent(ELEMENT_SPRING, false, true, false, 0.0), 2e-10);  // measured 5.8e-12
}

// Dampers that give back what they are owed
TEST(tangent, of_dampers_that_are_owed_is_that_of_their_residual)
{
    const element_kind kinds[3] = {ELEMENT_SPRING, ELEMENT_TORSION_SPRING, ELEMENT_BUSHING};
    for (int k = 0; k < 3; ++k) {
        number_source numbers = {27};
        double worst = 0.0;
        for (int i = 0; i < SAMPLES; ++i) {
            element e = make_element(kinds[k], &numbers);
            element_states s = make_states(&e, &numbers);
            for (int c = 0; c < PAIR; ++c) s.end[c] = 0.5 * (s.end[c] + s.start[c]);
            s.owes = true;
            for (int r = 0; r < ELEMENT_DAMPERS_MAX; ++r) s.owed[r] = next_number(&numbers);
            worst = fmax(worst, tangent_error(&e, element_type_of(kinds[k])->load, &s, true, 0.5));
        }
        CHECK_BELOW(worst, 2e-10); // measured 9e-12
    }
}

// Where nothing moves, what is owed acts along the rows of the rates over the step.
TEST(dampers, owed_impulses_act_along_their_rates)
{
    const element_kind kinds[3] = {ELEMENT_SPRING, ELEMENT_TORSION_SPRING, ELEMENT_BUSHING};
    for (int k = 0; k < 3; ++k) {
        number_source numbers = {31};
        double worst = 0.0;
        for (int i = 0; i < SAMPLES; ++i) {
            element e = make_element(kinds[k], &numbers);
            element_states s = make_states(&e, &numbers);
            memcpy(s.end, s.start, sizeof s.end);
            s.owes = true;
            for (int r = 0; r < ELEMENT_DAMPERS_MAX; ++r) s.owed[r] = next_number(&numbers);
            double residual[PAIR] = {0.0};
            element_step view = view_of(&s, true, 0.5);
            element_output out = {.residual_a = residual, .residual_b = residual + POSE};
            element_type_of(kinds[k])->load(&e, &view, &out);
            damped_rates rates;
            element_damped(&e, &view, &rates);
            CHECK(rates.count == (kinds[k] == ELEMENT_BUSHING ? ELEMENT_DAMPERS_MAX : 1));
            for (int c = 0; c < PAIR; ++c) {
                double sum = 0.0;
                for (int r = 0; r < rates.count; ++r)
                    sum -= view.factor * s.owed[r] / view.step_size * rates.row[r][c];
                worst = fmax(worst, fabs(residual[c] - sum));
            }
        }
        CHECK_BELOW(worst, 1e-12);
    }
}

TEST(tangent, of_bushings_is_that_of_their_residual)
{
    CHECK_BELOW(worst_tangent(ELEMENT_BUSHING, false, false, true, 0.5), 2e-10); // measured 6e-12
    CHECK_BELOW(worst_tangent(ELEMENT_BUSHING, false, false, false, 0.0), 2e-10);
    CHECK_BELOW(worst_tangent(ELEMENT_BUSHING, false, false, false, 1.0), 2e-10);
    CHECK_BELOW(worst_tangent(ELEMENT_BUSHING, false, true, true, 0.5), 2e-10);
    CHECK_BELOW(worst_tangent(ELEMENT_BUSHING, false, true, false, 0.0), 2e-10);
}

TEST(tangent, of_torsional_springs_and_dampers_is_that_of_their_residual)
{
    CHECK_BELOW(worst_tangent(ELEMENT_TORSION_SPRING, false, false, true, 0.5),
                2e-10); // measured 1.0e-11
    CHECK_BELOW(worst_tangent(ELEMENT_TORSION_SPRING, false, false, false, 0.0),
                2e-10); // measured 8.1e-12
    CHECK_BELOW(worst_tangent(ELEMENT_TORSION_SPRING, false, true, true, 0.5),
                2e-10); // measured 7.1e-12
    CHECK_BELOW(worst_tangent(ELEMENT_TORSION_SPRING, false, true, false, 0.0),
                2e-10); // measured 1.1e-11
}

TEST(tangent, of_loads_is_that_of_their_residual_wherever_they_act)
{
    const double weights[3] = {0.0, 0.5, 1.0};
    for (int w = 0; w < 3; ++w)
        for (int fixed = 0; fixed < 2; ++fixed) {
            CHECK_BELOW(worst_tangent(ELEMENT_FORCE, fixed != 0, true, true, weights[w]),
                        2e-10); // measured 2.9e-12
            CHECK_BELOW(worst_tangent(ELEMENT_TORQUE, fixed != 0, true, true, weights[w]),
                        3e-8); // measured 4.1e-10 to 7.9e-9: differences near flat midpoints
        }
}

// ---- discrete gradients -----------------------------------------------------------------------------

static double work_on(const double *residual, const element_states *s)
{
    double work = 0.0;
    for (int k = 0; k < PAIR; ++k) work += residual[k] * (s->end[k] - s->start[k]);
    return work;
}

// V1 - V0 - grad_d V . (q1 - q0), relative to the energies
static double secant_error(const element *e, const element_states *s)
{
    const element_type *type = element_type_of(e->kind);
    element_step view = view_of(s, true, 0.5);
    view.factor = 1.0;
    double residual[PAIR];
    residual_of(e, type->gradient, &view, residual);
    double v1 = type->potential(e, s->end, s->end + POSE, NULL, s->angle_end);
    double v0 = type->potential(e, s->start, s->start + POSE, NULL, s->angle_start);
    return fabs(v1 - v0 - work_on(residual, s)) / (fabs(v1) + fabs(v0));
}

TEST(discrete_gradient, gives_the_change_of_energy_for_large_steps)
{
    const element_kind kinds[3] = {ELEMENT_SPRING, ELEMENT_TORSION_SPRING, ELEMENT_BUSHING};
    double worst[3] = {0.0, 0.0, 0.0}, slack = 0.0;
    for (int k = 0; k < 3; ++k) {
        number_source numbers = {22};
        for (int i = 0; i < 5 * SAMPLES; ++i) {
            element e = make_element(kinds[k], &numbers);
            element_states s = make_states(&e, &numbers);
            worst[k] = fmax(worst[k], secant_error(&e, &s));
            if (k != 0) continue;
            e.rest = 0.0;
            slack = fmax(slack, secant_error(&e, &s));
        }
    }
    CHECK_BELOW(worst[0], 2e-14); // measured 8.7e-16
    CHECK_BELOW(worst[1], 2e-14); // measured 1.4e-15
    CHECK_BELOW(worst[2], 2e-14); // measured 5.0e-16
    CHECK_BELOW(slack, 2e-14);    // measured 3.6e-16
}

// Many turns on, and with steps to either side of the switch to the series of x/(2 sin(x/2)).
TEST(discrete_gradient, of_a_torsional_spring_counts_turns_and_takes_small_steps)
{
    const double steps[6] = {0.0199999, 0.0200001, -0.0199999, -0.0200001, 1e-3, 0.0};
    double worst = 0.0;
    for (int i = 0; i < 6; ++i) {
        number_source numbers = {23};
        element e = make_element(ELEMENT_TORSION_SPRING, &numbers);
        element_states s = {0};
        s.angle_start = 7.0 * 6.283185307179586 + 2.0;
        s.angle_end = s.angle_start + steps[i];
        // both ends from one pose, so that a small angle is a small step
        number_source same = numbers;
        place(&e, &numbers, s.angle_start, s.start);
        place(&e, &same, s.angle_end, s.end);
        worst = fmax(worst, secant_error(&e, &s));
        CHECK_NEAR(element_angle(&e, s.end, s.end + POSE, s.angle_start), s.angle_end, 1e-13);
    }
    CHECK_BELOW(worst, 1e-15); // measured 4.9e-17
}

// With both ends of the step in one place either form is the gradient of the potential.
TEST(discrete_gradient, tends_to_the_gradient)
{
    const element_kind kinds[3] = {ELEMENT_SPRING, ELEMENT_TORSION_SPRING, ELEMENT_BUSHING};
    const double width = 1e-5;
    for (int k = 0; k < 3; ++k) {
        number_source numbers = {24};
        const element_type *type = element_type_of(kinds[k]);
        double worst = 0.0;
        for (int i = 0; i < SAMPLES; ++i) {
            element e = make_element(kinds[k], &numbers);
            element_states s = make_states(&e, &numbers);
            memcpy(s.start, s.end, sizeof s.end);
            s.angle_start = s.angle_end;
            for (int discrete = 0; discrete < 2; ++discrete) {
                element_step view = view_of(&s, discrete != 0, 0.5);
                view.factor = 1.0;
                double residual[PAIR];
                residual_of(&e, type->gradient, &view, residual);
                for (int c = 0; c < PAIR; ++c) {
                    double q1[PAIR], q0[PAIR];
                    memcpy(q1, s.end, sizeof q1);
                    memcpy(q0, s.end, sizeof q0);
                    q1[c] += width;
                    q0[c] -= width;
                    double v1 = type->potential(&e, q1, q1 + POSE, NULL,
                                                element_angle(&e, q1, q1 + POSE, s.angle_end));
                    double v0 = type->potential(&e, q0, q0 + POSE, NULL,
                                                element_angle(&e, q0, q0 + POSE, s.angle_end));
                    worst = fmax(worst, fabs((v1 - v0) / (2.0 * width) - residual[c]));
                }
            }
        }
        CHECK_BELOW(worst, 5e-8); // measured 3.8e-9
    }
}

// Dampers take c (dl)^2/h and d (dtheta)^2/h out of the energy, exactly.
TEST(dampers, dissipate_what_they_should)
{
    const element_kind kinds[2] = {ELEMENT_SPRING, ELEMENT_TORSION_SPRING};
    for (int k = 0; k < 2; ++k) {
        number_source numbers = {25};
        double worst = 0.0;
        for (int i = 0; i < SAMPLES; ++i) {
            element e = make_element(kinds[k], &numbers);
            element_states s = make_states(&e, &numbers);
            element_step view = view_of(&s, true, 0.5);
            view.factor = 1.0;
            double residual[PAIR], change = s.angle_end - s.angle_start;
            residual_of(&e, element_type_of(kinds[k])->load, &view, residual);
            if (k == 0)
                change = vec3_norm(vec3_combination(e.link, s.end, s.end + POSE)) -
                         vec3_norm(vec3_combination(e.link, s.start, s.start + POSE));
            double loss = e.damping * change * change / view.step_size;
            worst = fmax(worst, fabs(work_on(residual, &s) - loss) / (1.0 + loss));
        }
        CHECK_BELOW(worst, 1e-13); // measured 2.3e-15
    }
}

// A turn by phi about one axis costs k (1 - cos phi), and its damper takes 2 c (1 - cos phi)/h; a damper about one axis
// alone takes nothing from turns about others, and gives nothing in any step.
TEST(bushings, turn_and_damp_about_their_axes)
{
    number_source numbers = {31};
    const element_type *type = element_type_of(ELEMENT_BUSHING);
    double least = 0.0;
    for (int i = 0; i < 3 * SAMPLES; ++i) {
        element e = make_element(ELEMENT_BUSHING, &numbers);
        bushing own = *e.bushing;
        e.bushing = &own;
        for (int k = 0; k < 6; ++k) own.damping[k] = own.stiffness[k] = 0.0;
        own.damping[3 + i % 3] = own.stiffness[3 + i % 3] = 5.0;
        // at rest: the frames meet; then b turns about axis i
        double angle = 3.0 * next_number(&numbers);
        element_states s = {0}, any = make_states(&e, &numbers);
        hn_mat3 d = next_rotation(&numbers), back, local, turn;
        store_pose(next_vector(&numbers, 1.0), &d, s.start);
        hn_vec3 world[3];
        for (int k = 0; k < 3; ++k) world[k] = direction(s.start, own.a[k]);
        local = mat3_from_columns(own.b[0], own.b[1], own.b[2]);
        back = mat3_transpose(&local);
        hn_mat3 axes = mat3_from_columns(world[0], world[1], world[2]);
        d = mat3_multiply(&axes, &back);
        store_pose(next_vector(&numbers, 1.0), &d, s.start + POSE);
        s.angle_start = 0.0;
        memcpy(s.end, s.start, sizeof s.end);
        for (int axis = 0; axis < 3; ++axis) {
            turn = rotation_exponential(vec3_scale(angle, world[axis]));
            hn_mat3 turned = mat3_multiply(&turn, &d);
            store_pose(at(s.start + POSE, 0), &turned, s.end + POSE);
            double cost = axis == i % 3 ? 5.0 * (1.0 - cos(angle)) : 0.0, residual[PAIR];
            CHECK_NEAR(type->potential(&e, s.start, s.start + POSE, NULL, 0.0), 0.0, 1e-14);
            CHECK_NEAR(type->potential(&e, s.end, s.end + POSE, NULL, 0.0), cost, 1e-13);
            element_step view = view_of(&s, true, 0.5);
            view.factor = 1.0;
            residual_of(&e, type->load, &view, residual);
            CHECK_NEAR(work_on(residual, &s), 2.0 * cost / view.step_size, 1e-11);
        }
        element_step view = view_of(&any, true, 0.5);
        double residual[PAIR];
        view.factor = 1.0;
        residual_of(&e, type->load, &view, residual);
        least = fmin(least, work_on(residual, &any));
    }
    CHECK_NEAR(least, 0.0, 1e-12); // measured -4.9e-14
}

// ---- balance ----------------------------------------------------------------------------------------

// Force and moment about the origin of generalised forces at the pose (1 - w) q_n + w q_n+1.
static void resultant(const double *residual, const element_states *s, double weight,
                      hn_vec3 *force, hn_vec3 *moment)
{
    *force = *moment = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < 8; ++k) {
        hn_vec3 x =
            vec3_add_scaled(vec3_scale(1.0 - weight, at(s->start, k)), weight, at(s->end, k));
        *moment = vec3_add(*moment, vec3_cross(x, at(residual, k)));
        if (k % 4 == 0) *force = vec3_add(*force, at(residual, k));
    }
}

TEST(springs, neither_push_nor_turn_the_whole)
{
    const element_kind kinds[3] = {ELEMENT_SPRING, ELEMENT_TORSION_SPRING, ELEMENT_BUSHING};
    double worst = 0.0;
    for (int k = 0; k < 3; ++k) {
        number_source numbers = {26};
        for (int i = 0; i < SAMPLES; ++i) {
            element e = make_element(kinds[k], &numbers);
            element_states s = make_states(&e, &numbers);
            for (int form = 0; form < 4; ++form) {
                bool discrete = form < 2, load = form % 2 == 1;
                // springs act at the midpoint in both schemes, a torsional damper of `variational` at the node
                double weight = k == 1 && load && !discrete ? 0.0 : 0.5;
                element_step view = view_of(&s, discrete, discrete ? 0.5 : 0.0);
                const element_type *type = element_type_of(kinds[k]);
                double residual[PAIR];
                hn_vec3 force, moment;
                residual_of(&e, load ? type->load : type->gradient, &view, residual);
                resultant(residual, &s, weight, &force, &moment);
                double size = 0.0;
                for (int c = 0; c < PAIR; ++c) size = fmax(size, fabs(residual[c]));
                worst = fmax(worst, (vec3_norm(force) + vec3_norm(moment)) / size);
            }
        }
    }
    CHECK_BELOW(worst, 3e-14); // measured 5.8e-16
}

// P_int^T F of a load is its wrench, at a midpoint as well, where the directors are not orthonormal.
TEST(loads, have_the_wrench_they_were_given)
{
    const double weights[3] = {0.0, 0.5, 1.0};
    number_source numbers = {27};
    double worst = 0.0;
    for (int i = 0; i < 3 * SAMPLES; ++i) {
        bool torque = i % 2 == 0, fixed = i % 4 < 2;
        element e = make_element(torque ? ELEMENT_TORQUE : ELEMENT_FORCE, &numbers);
        e.body_fixed = fixed;
        element_states s = make_states(&e, &numbers);
        double weight = weights[i % 3], residual[PAIR], pose[POSE];
        element_step view = view_of(&s, true, weight);
        view.factor = -1.0; // loads add minus the force
        residual_of(&e, element_type_of(e.kind)->load, &view, residual);
        for (int k = 0; k < POSE; ++k)
            pose[k] = (1.0 - weight) * s.start[POSE + k] + weight * s.end[POSE + k];
        hn_vec3 vector = fixed ? direction(pose, e.vector) : e.vector;
        hn_vec3 arm = direction(pose, vec3(e.link[5], e.link[6], e.link[7]));
        hn_vec3 force = at(residual + POSE, 0), moment = vec3(0.0, 0.0, 0.0);
        for (int k = 1; k < 4; ++k)
            moment = vec3_add(moment, vec3_cross(at(pose, k), at(residual + POSE, k)));
        hn_vec3 expected_force = torque ? vec3(0.0, 0.0, 0.0) : vector;
        hn_vec3 expected_moment = torque ? vector : vec3_cross(arm, vector);
        worst = fmax(worst, vec3_norm(vec3_subtract(force, expected_force)));
        worst = fmax(worst, vec3_norm(vec3_subtract(moment, expected_moment)));
        for (int k = 0; k < POSE; ++k) CHECK(residual[k] == 0.0); // body a is the ground
    }
    CHECK_BELOW(worst, 1e-13); // measured 3.9e-15
}

// Everything turned and shifted together: the residual turns with it.
TEST(springs, do_not_see_a_rigid_motion_of_everything)
{
    const element_kind kinds[3] = {ELEMENT_SPRING, ELEMENT_TORSION_SPRING, ELEMENT_BUSHING};
    double worst = 0.0;
    for (int k = 0; k < 3; ++k) {
        number_source numbers = {28};
        for (int i = 0; i < SAMPLES; ++i) {
            element e = make_element(kinds[k], &numbers);
            element_states s = make_states(&e, &numbers), moved = s;
            hn_mat3 turn = next_rotation(&numbers);
            hn_vec3 shift = next_vector(&numbers, 2.0);
            for (int x = 0; x < 8; ++x) {
                hn_vec3 add = x % 4 == 0 ? shift : vec3(0.0, 0.0, 0.0);
                vec3_store(vec3_add(add, mat3_apply(&turn, at(s.start, x))), moved.start + 3 * x);
                vec3_store(vec3_add(add, mat3_apply(&turn, at(s.end, x))), moved.end + 3 * x);
            }
            for (int form = 0; form < 4; ++form) {
                const element_type *type = element_type_of(kinds[k]);
                contribution part = form % 2 == 0 ? type->gradient : type->load;
                element_step view = view_of(&s, form < 2, form < 2 ? 0.5 : 0.0);
                element_step moved_view = view_of(&moved, form < 2, form < 2 ? 0.5 : 0.0);
                double residual[PAIR], moved_residual[PAIR], size = 1.0;
                residual_of(&e, part, &view, residual);
                residual_of(&e, part, &moved_view, moved_residual);
                for (int c = 0; c < PAIR; ++c) size = fmax(size, fabs(residual[c]));
                for (int x = 0; x < 8; ++x)
                    worst = fmax(worst, vec3_norm(vec3_subtract(mat3_apply(&turn, at(residual, x)),
                                                                at(moved_residual, x))) /
                                            size);
            }
        }
    }
    CHECK_BELOW(worst, 1e-13); // measured 1.5e-14
}

// ---- drives -------------------------------------------------------------------------------------------

// Every law on an angle and on a displacement, with numbers that make each of its terms matter.
enum { DRIVE_VARIANTS = 8 };
static const double SPRING_PLACES[4] = {-9.0, 0.1, 0.9, 9.0},
                    SPRING_EFFORTS[4] = {-7.0, 0.3, 2.0, 40.0};
static const double RATES[3] = {-90.0, 0.0, 90.0}, RESISTANCE[3] = {-40.0, 0.0, 70.0};
static const hn_profile SPRING_TABLE = {
    .kind = HN_PROFILE_TABLE, .times = SPRING_PLACES, .factors = SPRING_EFFORTS, .count = 4};
static const hn_profile DAMPER_TABLE = {
    .kind = HN_PROFILE_TABLE, .times = RATES, .factors = RESISTANCE, .count = 3};
static const hn_profile RISING = {.kind = HN_PROFILE_STEP, .start = -1.0, .end = 1.0};
static const double SLOTS[DRIVE_SLOTS] = {0.0, 0.3, 1.7, 2.6};

static drive_law make_law(int variant)
{
    static const hn_drive_kind kinds[DRIVE_VARIANTS] = {
        HN_DRIVE_EFFORT, HN_DRIVE_SERVO,  HN_DRIVE_SERVO, HN_DRIVE_MOTOR,
        HN_DRIVE_SPRING, HN_DRIVE_MOTION, HN_DRIVE_STOP,  HN_DRIVE_STOP};
    return (drive_law){.kind = kinds[variant],
                       .sign = variant % 2 == 0 ? 1.0 : -1.0,
                       .function = &RISING,
                       .scale = 1.3,
                       .proportional = 12.0,
                       .derivative = 0.8,
                       .integral = 5.0,
                       .limit = variant == 2 ? 1e-3 : 1e9,
                       .stall = 4.0,
                       .no_load = 7.0,
                       .spring = variant == 4 ? &SPRING_TABLE : NULL,
                       .damper = variant == 4 ? &DAMPER_TABLE : NULL,
                       .lower = variant == 6 ? -0.2 : -9.0,
                       .upper = variant == 6 ? 0.3 : 0.1,
                       .contact = variant >= 6 ? 30.0 : 0.0,
                       .contact_damping = variant == 6 ? 0.02 : 50.0,
                       .armature = 0.4};
}

static element make_drive(const drive_law *law, bool displacement, number_source *numbers)
{
    element e = make_element(ELEMENT_DRIVE, numbers);
    e.law = law;
    e.angle = 0;
    e.displacement = displacement;
    if (law->kind != HN_DRIVE_SPRING) e.stiffness = e.damping = 0.0;
    return e;
}

static element_step drive_view(const element *e, element_states *s, bool discrete, double weight)
{
    if (e->displacement) s->angle_start = element_angle(e, s->start, s->start + POSE, 0.0);
    element_step view = view_of(s, discrete, weight);
    view.memory = SLOTS;
    view.load_begin = 0.05;
    view.load_end = 0.15;
    return view;
}

static void drive_residual(const element *e, const element_step *view, double *residual)
{
    double load[PAIR];
    residual_of(e, element_type_of(ELEMENT_DRIVE)->gradient, view, residual);
    residual_of(e, element_type_of(ELEMENT_DRIVE)->load, view, load);
    for (int k = 0; k < PAIR; ++k) residual[k] += load[k];
}

static double drive_tangent_error(const element *e, element_states *s, bool discrete, double weight)
{
    const double width = 1e-4, places[4] = {-2.0, -1.0, 1.0, 2.0},
                 factors[4] = {1.0, -8.0, 8.0, -1.0};
    double worst = 0.0, largest = 0.0, ignored[PAIR] = {0.0};
    stiffness_term terms[ELEMENT_TERMS_MAX];
    element_step view = drive_view(e, s, discrete, weight);
    element_output out = {.residual_a = ignored, .residual_b = ignored + POSE, .terms = terms};
    view.want_terms = true;
    element_type_of(ELEMENT_DRIVE)->gradient(e, &view, &out);
    element_type_of(ELEMENT_DRIVE)->load(e, &view, &out);
    CHECK(out.term_count <= ELEMENT_TERMS_MAX);
    for (int c = 0; c < PAIR; ++c) {
        double slope[PAIR] = {0.0};
        for (int p = 0; p < 4; ++p) {
            element_states shifted = *s;
            shifted.end[c] += places[p] * width;
            view = drive_view(e, &shifted, discrete, weight);
            double residual[PAIR];
            drive_residual(e, &view, residual);
            for (int r = 0; r < PAIR; ++r) slope[r] += factors[p] * residual[r] / (12.0 * width);
        }
        for (int r = 0; r < PAIR; ++r) {
            double claimed = 0.0;
            for (int t = 0; t < out.term_count; ++t)
                claimed += terms[t].u[r / 3] * terms[t].c[r % 3][c % 3] * terms[t].v[c / 3];
            worst = fmax(worst, fabs(slope[r] - claimed));
            largest = fmax(largest, fabs(slope[r]));
        }
    }
    return worst / (1.0 + largest);
}

TEST(drives, have_the_tangents_of_their_residuals)
{
    const double weights[3] = {0.5, 0.0, 1.0};
    double worst = 0.0;
    for (int v = 0; v < 2 * DRIVE_VARIANTS; ++v)
        for (int w = 0; w < 4; ++w) {
            drive_law law = make_law(v / 2);
            number_source numbers = {31};
            for (int i = 0; i < 5; ++i) {
                element e = make_drive(&law, v % 2 == 1, &numbers);
                element_states s = make_states(&e, &numbers);
                for (int k = 0; k < PAIR; ++k) s.end[k] = 0.5 * (s.end[k] + s.start[k]);
                worst =
                    fmax(worst, drive_tangent_error(&e, &s, w == 0, weights[w == 0 ? 0 : w - 1]));
            }
        }
    CHECK_BELOW(worst, 2e-10); // measured 2.5e-11: of the differences
}

// The work in a step is the effort times the change of the coordinate, and springs and rotors keep what they take: for
// steps of any size.
TEST(drives, do_the_work_that_is_booked)
{
    double worst = 0.0, wrench = 0.0;
    for (int v = 0; v < 2 * DRIVE_VARIANTS; ++v) {
        drive_law law = make_law(v / 2);
        number_source numbers = {32};
        for (int i = 0; i < SAMPLES; ++i) {
            element e = make_drive(&law, v % 2 == 1, &numbers);
            element_states s = make_states(&e, &numbers);
            element_step view = drive_view(&e, &s, true, 0.5);
            view.factor = 1.0;
            double end = element_angle_after(&e, &view), residual[PAIR], slots[DRIVE_SLOTS],
                   before[DRIVE_SLOTS];
            memcpy(slots, SLOTS, sizeof slots);
            memcpy(before, SLOTS, sizeof before);
            before[DRIVE_COORDINATE] = view.angle_start;
            drive_follow(&e, &view, end, slots);
            drive_residual(&e, &view, residual);
            double v1 = element_energy(&e, s.end, s.end + POSE, NULL, slots),
                   v0 = element_energy(&e, s.start, s.start + POSE, NULL, before);
            double taken = work_on(residual, &s), expected = v1 - v0 - slots[DRIVE_WORK];
            double scale = fabs(v1) + fabs(v0) + fabs(slots[DRIVE_WORK]);
            worst = fmax(worst, fabs(taken - expected) / scale);
            // no force on the pair as a whole, nor a moment (at the midpoint, as the schemes take it)
            double middle[PAIR], size = 0.0;
            for (int k = 0; k < PAIR; ++k) middle[k] = 0.5 * (s.start[k] + s.end[k]);
            hn_vec3 force = {0.0, 0.0, 0.0}, moment = force;
            for (int x = 0; x < 8; ++x) {
                hn_vec3 f = at(residual, x);
                if (x % 4 == 0) force = vec3_add(force, f);
                moment = vec3_add(moment, vec3_cross(at(middle, x), f));
                size += vec3_norm(f);
            }
            wrench = fmax(wrench, (vec3_norm(force) + vec3_norm(moment)) / (1e-3 + size));
        }
    }
    CHECK_BELOW(worst, 5e-14);  // relative; measured 4.9e-15
    CHECK_BELOW(wrench, 2e-15); // relative; measured 1.4e-16
}

// A torque about an axis of the first body, by the Cayley vectors of the step.
TEST(rotation_efforts, have_their_tangents_and_do_the_work_that_is_booked)
{
    const double weights[3] = {0.5, 0.0, 1.0};
    double tangent = 0.0, worst = 0.0, wrench = 0.0;
    for (int v = 0; v < 3 * 4; ++v) {
        drive_law law = {
            .kind = HN_DRIVE_MOTION, .sign = 1.0, .path_row = v % 3, .held = (double)NAN};
        number_source numbers = {33};
        for (int i = 0; i < 5; ++i) {
            element e = make_drive(&law, false, &numbers);
            e.rotation = true;
            element_states s = make_states(&e, &numbers);
            element_step view = drive_view(&e, &s, true, 0.5);
            double residual[PAIR], middle[PAIR], slots[DRIVE_SLOTS], size = 0.0;
            view.factor = 1.0;
            memcpy(slots, SLOTS, sizeof slots);
            slots[DRIVE_WORK] = 0.0;
            drive_follow(&e, &view, element_angle_after(&e, &view), slots);
            drive_residual(&e, &view, residual);
            worst = fmax(worst, fabs(work_on(residual, &s) + slots[DRIVE_WORK]) /
                                    (1.0 + fabs(slots[DRIVE_WORK])));
            hn_vec3 moment = {0.0, 0.0, 0.0};
            for (int k = 0; k < PAIR; ++k) middle[k] = 0.5 * (s.start[k] + s.end[k]);
            for (int x = 0; x < 8; ++x) {
                moment = vec3_add(moment, vec3_cross(at(middle, x), at(residual, x)));
                size += vec3_norm(at(residual, x));
            }
            wrench = fmax(wrench, vec3_norm(moment) / size);
            for (int k = 0; k < PAIR; ++k) s.end[k] = 0.5 * (s.end[k] + s.start[k]);
            tangent = fmax(tangent, drive_tangent_error(&e, &s, v / 3 == 0,
                                                        weights[v / 3 == 0 ? 0 : v / 3 - 1]));
        }
    }
    CHECK_BELOW(tangent, 2e-11); // measured 2.4e-12: of the differences
    CHECK_BELOW(worst, 1e-14);   // relative; measured 1.1e-15
    CHECK_BELOW(wrench, 1e-15);  // relative; measured 8.1e-17
}

// ---- profiles ---------------------------------------------------------------------------------------

TEST(profiles, follow_their_tables_and_pulses)
{
    CHECK_NEAR(profile_mean(&CONSTANT, -3.0, -3.0), 1.0, 0.0);
    CHECK_NEAR(profile_mean(&CONSTANT, 1e9, 1e9), 1.0, 0.0);

    const hn_profile pulse = {.kind = HN_PROFILE_PULSE, .start = 1.0, .peak = 2.0, .end = 4.0};
    const double pulse_at[7][2] = {{0.5, 0.0}, {1.0, 0.0}, {1.25, 0.25}, {2.0, 1.0},
                                   {3.0, 0.5}, {4.0, 0.0}, {9.0, 0.0}};
    for (int i = 0; i < 7; ++i)
        CHECK_NEAR(profile_mean(&pulse, pulse_at[i][0], pulse_at[i][0]), pulse_at[i][1], 1e-15);
    const hn_profile falling = {.kind = HN_PROFILE_PULSE, .start = 1.0, .peak = 1.0, .end = 2.0};
    CHECK_NEAR(profile_mean(&falling, 1.5, 1.5), 0.5, 1e-15);

    const double times[5] = {0.0, 1.0, 1.5, 4.0, 10.0}, factors[5] = {2.0, -1.0, -1.0, 4.0, 0.0};
    const hn_profile table = {
        .kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 5};
    const double table_at[8][2] = {{-1.0, 2.0}, {0.0, 2.0}, {0.5, 0.5}, {1.2, -1.0},
                                   {2.5, 1.0},  {4.0, 4.0}, {7.0, 2.0}, {11.0, 0.0}};
    for (int i = 0; i < 8; ++i)
        CHECK_NEAR(profile_mean(&table, table_at[i][0], table_at[i][0]), table_at[i][1], 1e-14);
    const hn_profile one = {
        .kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 1};
    CHECK_NEAR(profile_mean(&one, 5.0, 5.0), 2.0, 0.0);
}

TEST(profiles, tell_their_next_kink)
{
    const hn_profile pulse = {.kind = HN_PROFILE_PULSE, .start = 1.0, .peak = 2.0, .end = 4.0};
    const double times[3] = {-1.0, 1.5, 4.0}, factors[3] = {2.0, -1.0, -1.0};
    const hn_profile table = {
        .kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 3};
    const double at[6] = {-2.0, -1.0, 1.0, 1.75, 3.999, 4.0};
    const double pulse_next[6] = {1.0, 1.0, 2.0, 2.0, 4.0, HUGE_VAL},
                 table_next[6] = {-1.0, 1.5, 1.5, 4.0, 4.0, HUGE_VAL};
    for (int i = 0; i < 6; ++i) {
        CHECK(profile_next_kink(&pulse, at[i]) == pulse_next[i]);
        CHECK(profile_next_kink(&table, at[i]) == table_next[i]);
        CHECK(profile_next_kink(&CONSTANT, at[i]) == HUGE_VAL);
    }
}
