/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exp, log, pow, the gamma function, erfc and sums, made of +, -, *, / and sqrt in one fixed order.
 *
 * IEEE 754 says to the bit what these operations give. It does not say it of exp and log: C libraries, numpy and BLAS
 * have several versions of them, choose one by the processor, and these differ in the last bit; sums in blocks that are as
 * wide as the processor's registers differ likewise. What a model is made of comes from here instead.
 *
 * Errors are below one unit in the last place, of erfc below four; where log_gamma is nearly 0, below 1e-17. Sums are
 * rounded once.
 * -ffp-contract=off (setup.py) keeps a * b + c from being fused.
 */
#ifndef FASTTREE_ELEMENTARY_H
#define FASTTREE_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- numbers in two parts -------------------------------------------------------------------------------------- */

/* hi + lo, not added up: some hundred bits. |lo| is at most half a unit in the last place of hi. */
typedef struct { double hi, lo; } ft_pair;

/* a + b without error. */
static inline ft_pair ft_two_sum(double a, double b) {
    ft_pair sum; double of_b;
    sum.hi = a + b;
    of_b = sum.hi - a;
    sum.lo = (a - (sum.hi - of_b)) + (b - of_b);
    return sum;
}

/* The same where |a| >= |b|, or a is 0. */
static inline ft_pair ft_quick_two_sum(double a, double b) {
    ft_pair sum;
    sum.hi = a + b;
    sum.lo = b - (sum.hi - a);
    return sum;
}

/* a * b without error, for factors below 2^990 and products that are not tiny: both are cut into halves of 26 bits. */
static inline ft_pair ft_two_product(double a, double b) {
    ft_pair product; double cut, a_hi, a_lo, b_hi, b_lo;
    cut = 134217729.0 * a;
    a_hi = cut - (cut - a);
    a_lo = a - a_hi;
    cut = 134217729.0 * b;
    b_hi = cut - (cut - b);
    b_lo = b - b_hi;
    product.hi = a * b;
    product.lo = ((a_hi * b_hi - product.hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;
    return product;
}

static inline ft_pair ft_pair_product(ft_pair a, ft_pair b) {
    ft_pair product = ft_two_product(a.hi, b.hi);
    return ft_quick_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline ft_pair ft_pair_sum(ft_pair a, ft_pair b) {
    ft_pair sum = ft_two_sum(a.hi, b.hi);
    return ft_quick_two_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

/* ---- exp ------------------------------------------------------------------------------------------------------- */

/* The first 41 bits of ln 2, of which up to 2^11 multiples are exact, and the next 53. */
#define FT_LN2_HI 0x1.62e42fefa3p-1
#define FT_LN2_LO 0x1.3de6af278ece6p-42

/* 2^k for -1022 <= k <= 1023. */
static inline double ft_two_to(int64_t k) {
    double x; uint64_t bits = (uint64_t)(k + 1023) << 52;
    memcpy(&x, &bits, 8);
    return x;
}

/* y * 2^k for y near 1, rounded once where the result is denormal. */
static inline double ft_scaled(double y, int64_t k) {
    if (k > 1023) return y * 2.0 * ft_two_to(k - 1);
    if (k < -1021) return y * ft_two_to(k + 1021) * ft_two_to(-1021);
    return y * ft_two_to(k);
}

/* x.hi + x.lo = k ln 2 + r; returns e^r - 1 for -746 < x.hi < 710, and k. |r| <= 0.347: fourteen terms reach 2^-57. */
static inline ft_pair ft_reduced_expm1(ft_pair x, int64_t* k) {
    static const double term[12] = {
        1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
        1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5
    };
    double n, p; int i; ft_pair r;
    n = (x.hi * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0;  /* to the nearest whole number */
    *k = (int64_t)n;
    r = ft_two_sum(x.hi - n * FT_LN2_HI, -n * FT_LN2_LO);
    r = ft_quick_two_sum(r.hi, r.lo + x.lo);
    p = 1.0 / 87178291200.0;
    for (i = 0; i < 12; i++) p = p * r.hi + term[i];
    r.lo += r.hi * r.lo;                                        /* e^(a + b) = e^a (1 + b) */
    return ft_quick_two_sum(r.hi, r.lo + r.hi * r.hi * p);
}

static inline double ft_exp_of_pair(ft_pair x) {
    int64_t k; ft_pair r, y;
    if (x.hi != x.hi) return x.hi;
    if (x.hi > 709.79) return INFINITY;
    if (x.hi < -745.14) return 0.0;
    r = ft_reduced_expm1(x, &k);
    y = ft_quick_two_sum(1.0, r.hi);
    return ft_scaled(y.hi + (y.lo + r.lo), k);
}

static inline double ft_exp(double x) {
    ft_pair whole = {x, 0.0};
    return ft_exp_of_pair(whole);
}

static inline double ft_expm1(double x) {
    int64_t k; double scale; ft_pair r, y, whole = {x, 0.0};
    if (x != x || (x < 1e-17 && x > -1e-17)) return x;
    if (x > 709.79) return INFINITY;
    if (x < -40.0) return -1.0;
    r = ft_reduced_expm1(whole, &k);
    if (k > 60) {
        y = ft_quick_two_sum(1.0, r.hi);
        return ft_scaled(y.hi + (y.lo + r.lo), k);
    }
    scale = ft_two_to(k);                                       /* 2^k (1 + r) - 1 */
    y = ft_two_sum(scale, -1.0);
    whole = ft_two_sum(y.hi, scale * r.hi);
    return whole.hi + (whole.lo + (y.lo + scale * r.lo));
}

/* ---- log ------------------------------------------------------------------------------------------------------- */

/* x = 2^k m with m from sqrt(1/2) to sqrt(2). 0 < x < infinity. */
static inline double ft_mantissa(double x, int64_t* k) {
    uint64_t bits; double m;
    *k = 0;
    if (x < 2.2250738585072014e-308) { x *= 18014398509481984.0; *k = -54; }
    memcpy(&bits, &x, 8);
    *k += (int64_t)(bits >> 52) - 1023;
    bits = (bits & 0xFFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL;
    memcpy(&m, &bits, 8);
    if (m > 1.4142135623730951) { m *= 0.5; *k += 1; }
    return m;
}

/* log m = 2 s (1 + s^2 (1/3 + s^2 / 5 + s^4 / 7 + ...)) with s = (m - 1) / (m + 1); returns s. */
static inline ft_pair ft_log_argument(double m) {
    ft_pair below = ft_two_sum(m, 1.0), s, product;
    s.hi = (m - 1.0) / below.hi;
    product = ft_two_product(s.hi, below.hi);
    s.lo = (((m - 1.0) - product.hi) - product.lo - s.hi * below.lo) / below.hi;
    return s;
}

/* 1/5 + t / 7 + t^2 / 9 + ... for t <= 0.0295: twelve terms reach 2^-60 of the logarithm. */
static inline double ft_log_series(double t) {
    static const double term[11] = {
        1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5
    };
    double p = 1.0 / 27.0; int i;
    for (i = 0; i < 11; i++) p = p * t + term[i];
    return p;
}

/* k ln 2 + of_m. */
static inline ft_pair ft_with_exponent(int64_t k, ft_pair of_m) {
    ft_pair sum = ft_two_sum((double)k * FT_LN2_HI, of_m.hi);
    return ft_quick_two_sum(sum.hi, sum.lo + (of_m.lo + (double)k * FT_LN2_LO));
}

/* log m with an error below 2^-58 of itself. */
static inline ft_pair ft_log_of_mantissa(double m) {
    ft_pair s = ft_log_argument(m), found;
    double t = s.hi * s.hi;
    found = ft_quick_two_sum(s.hi, s.lo + s.hi * (t * (1.0 / 3.0 + t * ft_log_series(t))));
    found.hi *= 2.0;
    found.lo *= 2.0;
    return found;
}

/* log x for 0 < x < infinity, with an error below 2^-62 of itself: for results that multiply it. */
static inline ft_pair ft_log_pair(double x) {
    int64_t k; ft_pair s, t, c;
    s = ft_log_argument(ft_mantissa(x, &k));
    t = ft_pair_product(s, s);
    c = ft_quick_two_sum(0.3333333333333333, 1.850371707708594e-17 + t.hi * ft_log_series(t.hi));
    c = ft_pair_sum(s, ft_pair_product(ft_pair_product(c, t), s));
    c.hi *= 2.0;
    c.lo *= 2.0;
    return ft_with_exponent(k, c);
}

/* The logarithm of 0, infinity, NaN and numbers below 0. */
static inline double ft_log_beyond(double x) {
    return x == 0.0 ? -INFINITY : x < 0.0 ? NAN : x;
}

static inline double ft_log(double x) {
    int64_t k; double m;
    if (!(x > 0.0 && x < INFINITY)) return ft_log_beyond(x);
    m = ft_mantissa(x, &k);
    return ft_with_exponent(k, ft_log_of_mantissa(m)).hi;
}

static inline double ft_log2(double x) {
    static const ft_pair per_nat = {1.4426950408889634, 2.0355273740931033e-17};
    int64_t k; double m; ft_pair of_m, sum;
    if (!(x > 0.0 && x < INFINITY)) return ft_log_beyond(x);
    m = ft_mantissa(x, &k);
    of_m = ft_pair_product(ft_log_of_mantissa(m), per_nat);
    sum = ft_two_sum((double)k, of_m.hi);
    return sum.hi + (sum.lo + of_m.lo);
}

static inline double ft_log1p(double x) {
    int64_t k; double m; ft_pair whole, found;
    if (!(x > -1.0 && x < INFINITY)) return ft_log_beyond(x + 1.0);
    if (x < 1e-17 && x > -1e-17) return x;
    whole = ft_two_sum(1.0, x);
    m = ft_mantissa(whole.hi, &k);
    found = ft_with_exponent(k, ft_log_of_mantissa(m));
    return found.hi + (found.lo + whole.lo / whole.hi);
}

/* x^y for x >= 0; NaN below 0. */
static inline double ft_pow(double x, double y) {
    double about; ft_pair log_x, product;
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y || x < 0.0) return NAN;
    if (x == 0.0 || x == INFINITY) return (x == 0.0) == (y < 0.0) ? INFINITY : 0.0;
    log_x = ft_log_pair(x);
    about = log_x.hi * y;
    if (about > 720.0) return INFINITY;
    if (about < -760.0) return 0.0;
    product = ft_two_product(log_x.hi, y);
    return ft_exp_of_pair(ft_quick_two_sum(product.hi, product.lo + log_x.lo * y));
}

/* log(e^a + e^b). */
static inline double ft_logaddexp(double a, double b) {
    double larger = a > b ? a : b, apart = a > b ? b - a : a - b;
    if (a != a || b != b) return a + b;
    if (a == b) return a + 0.6931471805599453;
    return larger + ft_log1p(ft_exp(apart));
}

/* log2(2^a + 2^b). */
static inline double ft_logaddexp2(double a, double b) {
    double larger = a > b ? a : b, apart = a > b ? b - a : a - b;
    if (a != a || b != b) return a + b;
    if (a == b) return a + 1.0;
    return larger + ft_log1p(ft_exp(apart * 0.6931471805599453)) * 1.4426950408889634;
}

/* ---- the gamma function ---------------------------------------------------------------------------------------- */

/* log gamma(x) for 0 < x < 1e300: Stirling's series from 8 on, where ten terms reach 2^-59; below by the product. */
static inline ft_pair ft_log_gamma_pair(double x) {
    static const double term[10] = {
        -174611.0 / 125400, 43867.0 / 244188, -3617.0 / 122400, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
        1.0 / 1260, -1.0 / 360, 1.0 / 12
    };
    static const ft_pair constant = {0.4189385332046727, 1.6728209650585413e-17};   /* (log(2 pi) - 1) / 2 */
    double shift, r, series; int i; ft_pair product = {1.0, 0.0}, s = {x, 0.0}, log_s, found, minus_half;
    if (x < 8.0) {
        product = s;
        for (shift = 1.0; x + shift < 8.0; shift += 1.0) product = ft_pair_product(product, ft_two_sum(shift, x));
        s = ft_two_sum(shift, x);
    }
    /* (s - 1/2) (log s - 1) + (log(2 pi) - 1) / 2 + 1 / (12 s) - 1 / (360 s^3) + ... */
    log_s = ft_log_pair(s.hi);
    log_s.lo += s.lo / s.hi;
    log_s = ft_pair_sum(log_s, ft_two_sum(-1.0, 0.0));
    minus_half = ft_two_sum(s.hi, -0.5);
    minus_half.lo += s.lo;
    r = 1.0 / s.hi;
    series = term[0];
    for (i = 1; i < 10; i++) series = series * (r * r) + term[i];
    found = ft_pair_sum(ft_pair_product(minus_half, log_s), constant);
    found = ft_pair_sum(found, ft_two_sum(series * r, 0.0));
    if (x < 8.0) {
        log_s = ft_log_pair(product.hi);
        log_s.hi = -log_s.hi;
        log_s.lo = -log_s.lo - product.lo / product.hi;
        found = ft_pair_sum(found, log_s);
    }
    return found;
}

/* log gamma(x) for x >= 0; NaN below. */
static inline double ft_log_gamma(double x) {
    if (!(x > 0.0 && x < INFINITY)) return x == 0.0 ? INFINITY : ft_log_beyond(x);
    if (x == 1.0 || x == 2.0) return 0.0;
    if (x >= 1e300) return x * (ft_log(x) - 1.0);
    return ft_log_gamma_pair(x).hi;
}

/* gamma(x) for x >= 0; NaN below. */
static inline double ft_gamma(double x) {
    if (!(x > 0.0 && x < 180.0)) return x >= 0.0 ? INFINITY : NAN;
    return x == 1.0 || x == 2.0 ? 1.0 : ft_exp_of_pair(ft_log_gamma_pair(x));
}

/* ---- the normal distribution ----------------------------------------------------------------------------------- */

/* 2 / sqrt(pi) times the integral of e^(-t^2) from x on: by the trapezoidal rule with steps of 1/2, which for this
   function is good to 2^-56, and below 1/2 as 1 less a series. */
static inline double ft_erfc(double x) {
    static const double share[13] = {                          /* e^(-k^2 / 4) */
        0.7788007830714049, 0.36787944117144233, 0.10539922456186433, 0.01831563888873418, 0.0019304541362277093,
        0.00012340980408667956, 4.785117392129009e-06, 1.1253517471925912e-07, 1.6052280551856116e-09,
        1.3887943864964021e-11, 7.287724095819692e-14, 2.3195228302435696e-16, 4.4777324417183015e-19
    };
    static const double part[16] = {
        1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23,
        1.0 / 25,
        1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33
    };
    double sum, term; int k; ft_pair square;
    if (x != x) return x;
    if (x < 0.0) return 2.0 - ft_erfc(-x);
    if (x > 27.3) return 0.0;
    square = ft_two_product(x, x);
    if (x < 0.5) {                                              /* x - x^3 / 3 + x^5 / (2! 5) - ... */
        sum = 0.0;
        for (k = 16; k >= 1; k--) sum = (part[k - 1] + sum) * -square.hi / k;
        return 1.0 - 1.1283791670955126 * (x + x * sum);
    }
    sum = 0.0;
    for (k = 13; k >= 1; k--) sum += share[k - 1] / (0.25 * k * k + square.hi);
    term = (1.0 / x + 2.0 * x * sum) * 0.15915494309189535;    /* 1 / (2 pi) */
    square.hi = -square.hi;
    square.lo = -square.lo;
    term *= ft_exp_of_pair(square);
    return x > 6.0 ? term : term - 2.0 / ft_expm1(12.566370614359172 * x);
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

/* A sum as numbers from the smallest to the largest that do not overlap, so that it is known without error. Of two
   neighbours a bit between them is in neither (Shewchuk 1997), and float64 has 2098 places for bits. */
enum { FT_MOST_PARTS = 1050 };

typedef struct { int n; double part[FT_MOST_PARTS]; double plain; } ft_total;

static inline void ft_add(ft_total* total, double x) {
    int i, kept = 0; ft_pair sum;
    total->plain += x;
    if (!(total->plain - total->plain == 0.0)) return;          /* infinity or NaN: it stays that */
    for (i = 0; i < total->n; i++) {
        sum = ft_two_sum(x, total->part[i]);
        if (sum.lo != 0.0) total->part[kept++] = sum.lo;
        x = sum.hi;
    }
    if (!(x - x == 0.0)) { total->plain = x; return; }
    total->part[kept] = x;
    total->n = kept + 1;
}

/* The number nearest to the sum. Infinity, NaN and sums that leave the range are what plain addition makes of them. */
static inline double ft_rounded(const ft_total* total) {
    int i = total->n - 1; ft_pair sum = {0.0, 0.0};
    if (!(total->plain - total->plain == 0.0)) return total->plain;
    if (i < 0) return 0.0;
    sum.hi = total->part[i];
    while (i > 0 && sum.lo == 0.0) sum = ft_quick_two_sum(sum.hi, total->part[--i]);
    /* Half-way between two numbers, what is still smaller decides. */
    if (i > 0 && sum.lo != 0.0 && (sum.lo > 0.0) == (total->part[i - 1] > 0.0)) {
        double next = sum.hi + 2.0 * sum.lo;
        if (next - sum.hi == 2.0 * sum.lo) return next;
    }
    return sum.hi;
}

static inline double ft_sum(const double* x, int64_t n) {
    int64_t i; ft_total total;
    if (n <= 2) return n <= 0 ? 0.0 : n == 1 ? x[0] : x[0] + x[1];
    total.n = 0;
    total.plain = 0.0;
    for (i = 0; i < n; i++) ft_add(&total, x[i]);
    return ft_rounded(&total);
}

#endif
