// The CUDA math library in single and double precision. Results are printed to few digits, so the last bits of an approximation do not matter.
//@ exercises: libdevice: trigonometric, exponential, hyperbolic, power, error, gamma and Bessel functions, rounding and remainder functions, argument reduction
#include "support.h"

#include <cmath>

#define UNARY(X)                                                                                                \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(exp) X(exp2) \
  X(exp10) X(expm1) X(log) X(log2) X(log10) X(log1p) X(logb) X(sqrt) X(rsqrt) X(cbrt) X(rcbrt) X(erf) X(erfc)     \
  X(erfinv) X(erfcinv) X(erfcx) X(normcdf) X(normcdfinv) X(tgamma) X(lgamma) X(j0) X(j1) X(y0) X(y1)             \
  X(cyl_bessel_i0) X(cyl_bessel_i1) X(sinpi) X(cospi) X(ceil) X(floor) X(trunc) X(round) X(rint) X(fabs)
#define BINARY(X) X(pow) X(atan2) X(hypot) X(rhypot) X(fmod) X(remainder) X(fdim) X(fmax) X(fmin) X(copysign) X(nextafter)

constexpr const char* names[] = {
#define NAME(f) #f,
    UNARY(NAME) BINARY(NAME)
#undef NAME
};
constexpr int count = sizeof names / sizeof *names;

__global__ void doubles(const double* in, double* out, int n) {
  double x = in[threadIdx.x], y = in[(threadIdx.x + 3) % n];
  double* cell = out + threadIdx.x;
#define STORE(f) *cell = f(x); cell += n;
#define STORE2(f) *cell = f(x, y); cell += n;
  UNARY(STORE)
  BINARY(STORE2)
}

#define UNARY_F(X)                                                                                                   \
  X(sinf) X(cosf) X(tanf) X(asinf) X(acosf) X(atanf) X(sinhf) X(coshf) X(tanhf) X(asinhf) X(acoshf) X(atanhf) X(expf) \
  X(exp2f) X(exp10f) X(expm1f) X(logf) X(log2f) X(log10f) X(log1pf) X(logbf) X(sqrtf) X(rsqrtf) X(cbrtf) X(rcbrtf)    \
  X(erff) X(erfcf) X(erfinvf) X(erfcinvf) X(erfcxf) X(normcdff) X(normcdfinvf) X(tgammaf) X(lgammaf) X(j0f) X(j1f)    \
  X(y0f) X(y1f) X(cyl_bessel_i0f) X(cyl_bessel_i1f) X(sinpif) X(cospif) X(ceilf) X(floorf) X(truncf) X(roundf)        \
  X(rintf) X(fabsf)
#define BINARY_F(X)                                                                                                 \
  X(powf) X(atan2f) X(hypotf) X(rhypotf) X(fmodf) X(remainderf) X(fdimf) X(fmaxf) X(fminf) X(copysignf) X(nextafterf)

__global__ void singles(const double* in, double* out, int n) {
  float x = static_cast<float>(in[threadIdx.x]), y = static_cast<float>(in[(threadIdx.x + 3) % n]);
  double* cell = out + threadIdx.x;
  UNARY_F(STORE)
  BINARY_F(STORE2)
}

__global__ void others(double* out) {
  int k = 0, exponent, quotient;
  double whole;
  float sine, cosine;
  out[k++] = frexp(-40.5, &exponent);
  out[k++] = exponent;
  out[k++] = modf(-3.75, &whole);
  out[k++] = whole;
  out[k++] = ldexp(0.75, 5);
  out[k++] = scalbn(1.25, -3);
  out[k++] = remquo(29.0, 3.0, &quotient);
  out[k++] = quotient & 7;
  out[k++] = ilogb(1000.0);
  out[k++] = fma(2.0, 3.0, 4.0);
  out[k++] = jn(3, 2.5);
  out[k++] = yn(2, 1.5);
  out[k++] = norm3d(1.0, 2.0, 2.0);
  out[k++] = norm4df(1, 2, 3, 4);
  double values[5] = {1, 2, 3, 4, 5};
  out[k++] = norm(5, values);
  sincosf(1.0f, &sine, &cosine);
  out[k++] = sine;
  out[k++] = cosine;
  sincospif(0.25f, &sine, &cosine);
  out[k++] = sine + cosine;
  out[k++] = sin(1e15);
  out[k++] = sinf(1e7f);
  out[k++] = cos(-1e300);
  out[k++] = tan(1.5707963);
  out[k++] = llround(2.5) + lround(-3.5);
  out[k++] = isnan(log(-1.0)) + 2 * isinf(log(0.0)) + 4 * isnan(sqrtf(-1.0f)) + 8 * isinf(expf(100.0f));
}

void show(const std::vector<double>& result, int n, int k) {
  for (int i = 0; i < n; ++i) {
    double value = result[k * n + i];
    if (std::isnan(value)) {
      std::printf(" nan"); // its sign is not part of any promise
    } else {
      std::printf(" %.4g", value);
    }
  }
  std::printf("\n");
}

int main() {
  std::vector<double> values = {0.3, 0.7, -0.45, 1.13, 2.71, -3.37, 5.03, 12.9, 0.011, 101.3};
  int n = static_cast<int>(values.size());
  Buffer<double> in(values), a(n * count), b(n * count), rest(24);
  doubles<<<1, n>>>(in, a, n);
  singles<<<1, n>>>(in, b, n);
  others<<<1, 1>>>(rest);
  SYNC_OK();
  auto wide = a.get(), narrow = b.get();
  for (int k = 0; k < count; ++k) {
    std::printf("%s:", names[k]);
    show(wide, n, k);
    std::printf("%sf:", names[k]);
    show(narrow, n, k);
  }
  auto more = rest.get();
  for (int k = 0; k < 24; ++k) {
    std::printf("%d: %.5g\n", k, more[k]);
  }
}
