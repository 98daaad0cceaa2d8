/* Vectors of two and of four doubles, and the choice of instructions at run time: SIMD code is in this file only.
 *
 * Operations are lane by lane and never fused, so that every build gives the same bits: with AVX2 (chosen at run time),
 * with SSE2 or NEON or WebAssembly's 128 bits (a vector of four is two of two), and without any, DS_SIMD_SCALAR, where
 * a vector is an array and the compiler sees plain C. Sums over lanes are written out by the kernels, in a fixed order.
 *
 * Vectors live inside kernels and are never passed to functions: how they are passed depends on the instructions
 * allowed. The operations are macros for that reason. */
#ifndef DS_LA_SIMD_H
#define DS_LA_SIMD_H

#if !defined(__GNUC__) && !defined(DS_SIMD_SCALAR)
#define DS_SIMD_SCALAR
#endif

#if defined(__GNUC__)
#define DS_INLINE static inline __attribute__((always_inline))
#else
#define DS_INLINE static inline
#endif

#ifndef DS_SIMD_SCALAR

typedef double ds_v2 __attribute__((vector_size(16)));
typedef double ds_v4 __attribute__((vector_size(32)));
/* the same in memory: at any address of a double, in any array */
typedef double ds_v2_memory __attribute__((vector_size(16), aligned(8), may_alias));
typedef double ds_v4_memory __attribute__((vector_size(32), aligned(8), may_alias));

#define ds_v2_load(p) ((ds_v2) * (const ds_v2_memory *)(p))
#define ds_v4_load(p) ((ds_v4) * (const ds_v4_memory *)(p))
#define ds_v2_store(p, x) ((void)(*(ds_v2_memory *)(p) = (x)))
#define ds_v4_store(p, x) ((void)(*(ds_v4_memory *)(p) = (x)))
#define ds_v2_all(s) ((ds_v2){(s), (s)})
#define ds_v4_all(s) ((ds_v4){(s), (s), (s), (s)})
#define ds_v2_add(x, y) ((x) + (y))
#define ds_v4_add(x, y) ((x) + (y))
#define ds_v2_sub(x, y) ((x) - (y))
#define ds_v4_sub(x, y) ((x) - (y))
#define ds_v2_mul(x, y) ((x) * (y))
#define ds_v4_mul(x, y) ((x) * (y))
#define ds_v2_sum(x) ((x)[0] + (x)[1])

#else

typedef struct ds_v2 {
  double lane[2];
} ds_v2;
typedef struct ds_v4 {
  double lane[4];
} ds_v4;

static inline ds_v2 ds_v2_load(const double *p) { return (ds_v2){{p[0], p[1]}}; }
static inline ds_v4 ds_v4_load(const double *p) { return (ds_v4){{p[0], p[1], p[2], p[3]}}; }
static inline void ds_v2_store(double *p, ds_v2 x) { p[0] = x.lane[0], p[1] = x.lane[1]; }
static inline void ds_v4_store(double *p, ds_v4 x) {
  for (int i = 0; i < 4; i++) p[i] = x.lane[i];
}
static inline ds_v2 ds_v2_all(double s) { return (ds_v2){{s, s}}; }
static inline ds_v4 ds_v4_all(double s) { return (ds_v4){{s, s, s, s}}; }
static inline ds_v2 ds_v2_add(ds_v2 x, ds_v2 y) { return (ds_v2){{x.lane[0] + y.lane[0], x.lane[1] + y.lane[1]}}; }
static inline ds_v4 ds_v4_add(ds_v4 x, ds_v4 y) {
  for (int i = 0; i < 4; i++) x.lane[i] += y.lane[i];
  return x;
}
static inline ds_v2 ds_v2_sub(ds_v2 x, ds_v2 y) { return (ds_v2){{x.lane[0] - y.lane[0], x.lane[1] - y.lane[1]}}; }
static inline ds_v4 ds_v4_sub(ds_v4 x, ds_v4 y) {
  for (int i = 0; i < 4; i++) x.lane[i] -= y.lane[i];
  return x;
}
static inline ds_v2 ds_v2_mul(ds_v2 x, ds_v2 y) { return (ds_v2){{x.lane[0] * y.lane[0], x.lane[1] * y.lane[1]}}; }
static inline ds_v4 ds_v4_mul(ds_v4 x, ds_v4 y) {
  for (int i = 0; i < 4; i++) x.lane[i] *= y.lane[i];
  return x;
}
static inline double ds_v2_sum(ds_v2 x) { return x.lane[0] + x.lane[1]; }

#endif

/* DS_KERNEL(name, (parameters), (arguments)) defines the function `name`, without a result, from the always inlined
 * name_body: compiled once for the machine the library is built for and, on x86, once more for AVX2. */
#if !defined(DS_SIMD_SCALAR) && (defined(__x86_64__) || defined(__i386__)) && !defined(__AVX2__)
#define DS_KERNEL(name, parameters, arguments)                                                  \
  __attribute__((target("avx2"))) static void name##_avx2 parameters { name##_body arguments; } \
  static void name##_plain parameters { name##_body arguments; }                                \
  void name parameters {                                                                        \
    if (__builtin_cpu_supports("avx2"))                                                         \
      name##_avx2 arguments;                                                                    \
    else                                                                                        \
      name##_plain arguments;                                                                   \
  }
#else
#define DS_KERNEL(name, parameters, arguments) \
  void name parameters { name##_body arguments; }
#endif

#endif
