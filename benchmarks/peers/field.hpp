// SPDX-License-Identifier: MIT
// Integrators around the forward dynamics of engines that have none of high order: RK4 and Dormand-Prince 8(5,3).
//
// States are lists of numbers, rotations in them quaternions; the field takes only the direction of these.
#ifndef PEERS_FIELD_HPP
#define PEERS_FIELD_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace field {

using state = std::vector<double>;

// Hairer, Norsett, Wanner I, second edition, II.5, and their program DOP853
static const int STAGES = 12;
static const double WEIGHTS[STAGES + 1][STAGES] = {
    {0.0},
    {0.052600151958767731879},
    {0.019725056984537899454, 0.059175170953613698363},
    {0.029587585476806849182, 0.0, 0.088762756430420547545},
    {0.24136513415926668550, 0.0, -0.88454947932828608534, 0.92483400326179200312},
    {0.037037037037037037037, 0.0, 0.0, 0.17082860872947387128, 0.12546768756682242502},
    {0.037109375000000000000, 0.0, 0.0, 0.17025221101954403931, 0.060216538980455960685,
     -0.017578125000000000000},
    {0.037092000118504792711, 0.0, 0.0, 0.17038392571223999381, 0.10726203044637328465,
     -0.015319437748624401753, 0.0082737891638140228876},
    {0.62411095871607571711, 0.0, 0.0, -3.3608926294469412941, -0.86821934684172600682, 27.592099699446708305,
     20.154067550477893409, -43.489884181069958848},
    {0.47766253643826436589, 0.0, 0.0, -2.4881146199716676419, -0.59029082683684299637, 21.230051448181194235,
     15.279233632882423583, -33.288210968984862919, -0.020331201708508626136},
    {-0.93714243008598732572, 0.0, 0.0, 5.1863724288440637083, 1.0914373489967295782, -8.1497870107469261251,
     -18.520065659996959864, 22.739487099350504282, 2.4936055526796523899, -3.0467644718982195004},
    {2.2733101475165382079, 0.0, 0.0, -10.534495466737250198, -2.0008720582248624991, -17.958931863118798917,
     27.948884529419960051, -2.8589982771350236947, -8.8728569335306295443, 12.360567175794303065,
     0.64339274601576353036},
    {0.054293734116568762238, 0.0, 0.0, 0.0, 0.0, 4.4503128927524088814, 1.8915178993145003830,
     -5.8012039600105847815, 0.31116436695781989441, -0.15216094966251607856, 0.20136540080403034837,
     0.044710615727772590518}};
// eighth minus fifth and minus third order
static const double ERROR[STAGES] = {
    0.013120044994194880733, 0.0, 0.0, 0.0, 0.0, -1.2251564463762044407, -0.49575894965725019152,
    1.6643771824549865370, -0.35032884874997368169, 0.33417911871301747903, 0.081923206485115712466,
    -0.022355307863886295259};
static const double ERROR_LOW[STAGES] = {
    -0.18980075407240761571, 0.0, 0.0, 0.0, 0.0, 4.4503128927524088814, 1.8915178993145003830,
    -5.8012039600105847815, -0.42268232132379196293, -0.15216094966251607856, 0.20136540080403034837,
    0.022651792198360825812};

/// Rate of a quaternion (w, x, y, z) at angular velocity `w` in the rotated frame.
inline void quaternion_rate(const double *q, const double *w, double *rate)
{
    rate[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]);
    rate[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    rate[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    rate[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
}

inline void normalise(double *q)
{
    double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; ++k) q[k] /= length;
}

/// One classical Runge-Kutta step of x' = f(x); f(const state &, state &).
template <class F> void rk4(F &f, state &x, double h)
{
    static const double PART[4] = {0.0, 0.5, 0.5, 1.0}, WEIGHT[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    static state y, rate, sum;
    const size_t n = x.size();
    y = x, rate.resize(n), sum = x;
    for (int s = 0; s < 4; ++s) {
        for (size_t i = 0; s > 0 && i < n; ++i) y[i] = x[i] + PART[s] * h * rate[i];
        f(y, rate);
        for (size_t i = 0; i < n; ++i) sum[i] += WEIGHT[s] * h * rate[i];
    }
    x.swap(sum);
}

struct pair8 {
    double h = 0.0; // s, of the next step; 0: chosen
    std::vector<state> k;
    state y, next;

    // root mean square of the error over its tolerance, as in DOP853
    double error(const state &x, double step, double tolerance) const
    {
        double high = 0.0, low = 0.0;
        for (size_t i = 0; i < x.size(); ++i) {
            double scale = tolerance * (1.0 + std::max(std::fabs(x[i]), std::fabs(next[i]))), a = 0.0, b = 0.0;
            for (int s = 0; s < STAGES; ++s) a += ERROR[s] * k[(size_t)s][i], b += ERROR_LOW[s] * k[(size_t)s][i];
            high += a * a / (scale * scale), low += b * b / (scale * scale);
        }
        double divisor = high + 0.01 * low;
        return divisor > 0.0 ? std::fabs(step) * high / std::sqrt(divisor * (double)x.size()) : 0.0;
    }

    /// From time to end; the steps taken. Ends the program when steps become too small.
    template <class F> long advance(F &f, state &x, double time, double end, double tolerance)
    {
        const size_t n = x.size();
        long steps = 0;
        bool refused = false;
        k.resize((size_t)STAGES + 1);
        for (state &one : k) one.resize(n);
        y.resize(n), next.resize(n);
        f(x, k[0]);
        if (h == 0.0) h = 0.01 * (end - time);
        while (time < end - 1e-12 * end) {
            double step = std::min(h, end - time);
            for (int s = 1; s <= STAGES; ++s) {
                state &to = s == STAGES ? next : y;
                for (size_t i = 0; i < n; ++i) {
                    double sum = 0.0;
                    for (int j = 0; j < s; ++j) sum += WEIGHTS[s][j] * k[(size_t)j][i];
                    to[i] = x[i] + step * sum;
                }
                if (s < STAGES) f(to, k[(size_t)s]);
            }
            double e = error(x, step, tolerance);
            double factor = e > 0.0 ? std::min(6.0, std::max(1.0 / 3.0, 0.9 * std::pow(e, -1.0 / 8.0))) : 6.0;
            if (!(e <= 1.0)) {
                h = step * (std::isfinite(e) ? std::min(factor, 1.0) : 0.1), refused = true;
                if (h < 1e-12) fprintf(stderr, "steps became too small\n"), exit(1);
                continue;
            }
            time += step, ++steps;
            x.swap(next);
            f(x, k[0]); // the first stage of the next step
            if (step == h || factor < 1.0) h = step * (refused ? std::min(factor, 1.0) : factor);
            refused = false;
        }
        return steps;
    }
};

} // namespace field

#endif
