// SPDX-License-Identifier: MIT
// The variational scheme on the unit circle, where its solution is known in closed form, and on the pendulum (LMO 3.1).
#include "physics/run.h"
#include "support/reference.h"

enum { STEPS = 1000 };

static double first_multiplier(const run *r)
{
    double lambda = 0.0;
    CHECK_OK(r->context, hn_simulation_multipliers(r->sim, &lambda, 1));
    return lambda;
}

TEST(unit_circle, multipliers_energies_and_places_are_those_of_the_closed_form)
{
    reference *ref = reference_load("unit_circle_discrete_multiplier.json");
    double lambda = reference_number(ref, "/reference/lambda_magnitude/values");
    double discrete_energy =
        reference_number(ref, "/reference/E_d_discrete_velocity_energy/values");
    double angle = reference_number(ref, "/reference/increment_angle_u/values");
    double h = reference_number(ref, "/parameters/h");
    reference_destroy(ref);
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        run r = run_model("unit-circle", HN_SCHEME_VARIATIONAL, REDUCTIONS[k], h, false);
        double multiplier_error = fabs(fabs(first_multiplier(&r)) - lambda);
        CHECK_BELOW(multiplier_error, 1e-12); // the first one; measured 1.3e-14
        double energy_error = 0.0, discrete_error = 0.0, velocity = 0.0, momentum = 0.0,
               place = 0.0;
        for (int n = 1; n <= STEPS; ++n) {
            run_step(&r, 1);
            double q[2];
            run_coordinates(&r, q);
            place = fmax(place, hypot(q[0] - cos(n * angle), q[1] - sin(n * angle)));
            multiplier_error = fmax(multiplier_error, fabs(fabs(first_multiplier(&r)) - lambda));
            hn_energy energy;
            CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
            energy_error = fmax(energy_error, fabs(energy.kinetic + energy.potential - 0.5));
            discrete_error = fmax(discrete_error, fabs(energy.discrete_energy - discrete_energy));
            hn_constraint_state state;
            CHECK_OK(r.context, hn_simulation_constraints(r.sim, &state));
            velocity = fmax(velocity, state.hidden_velocity);
            momentum = fmax(momentum, state.hidden_momentum);
        }
        CHECK_BELOW(multiplier_error, 1e-12); // measured 3.1e-14
        CHECK_BELOW(energy_error, 1e-14);     // J; measured 3.1e-15
        CHECK_BELOW(discrete_error, 1e-14);   // J; measured 3.3e-15
        CHECK_BELOW(velocity, 1e-14);         // measured 1.9e-15
        CHECK_BELOW(momentum, 1e-14);         // measured 1.1e-15
        CHECK_BELOW(place, 1e-12);            // m; measured 1.4e-13
        run_end(&r);
    }
}

TEST(unit_circle, a_potential_breaks_the_momentum_level_alone)
{
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        run r = run_model("pendulum", HN_SCHEME_VARIATIONAL, REDUCTIONS[k], 0.0, false);
        double velocity = 0.0, momentum = 0.0, projected = 0.0;
        for (int n = 1; n <= STEPS; ++n) {
            run_step(&r, 1);
            hn_constraint_state state;
            CHECK_OK(r.context, hn_simulation_constraints(r.sim, &state));
            velocity = fmax(velocity, state.hidden_velocity);
            momentum = fmax(momentum, state.hidden_momentum);
            projected = fmax(projected, state.hidden_projected);
        }
        CHECK_BELOW(velocity, 1e-13); // measured 2.6e-14
        MEASURED(momentum);
        CHECK(momentum > 1e-6);        // measured 1.35e-3
        CHECK_BELOW(projected, 3e-14); // measured 4.4e-16
        run_end(&r);
    }
}
