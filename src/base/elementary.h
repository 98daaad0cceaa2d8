/* Elementary functions that give the same bits on every machine.
 *
 * C libraries differ in the last bit of sin, exp and the like, and one library may differ from itself between
 * processors (glibc selects code with fused operations at run time). A state hash would then depend on the machine. The
 * library is compiled with this header in front of every source (CMakeLists.txt), so that these names mean the
 * functions of elementary.c there. sqrt, fabs, floor, ceil, round, fmod, frexp and ldexp are exact or correctly rounded
 * everywhere, and are those of the C library. */
#ifndef DS_BASE_ELEMENTARY_H
#define DS_BASE_ELEMENTARY_H

#include <math.h>

double ds_sin(double x);
double ds_cos(double x);
double ds_tan(double x);
double ds_atan(double x);
double ds_atan2(double y, double x);
double ds_acos(double x);
double ds_exp(double x);
double ds_log(double x);
double ds_log10(double x);
double ds_pow(double x, double y); /* x >= 0 only, else NaN */
double ds_cbrt(double x);
double ds_hypot(double x, double y);
double ds_sinh(double x);
double ds_cosh(double x);
double ds_asinh(double x);

#define sin(x) ds_sin(x)
#define cos(x) ds_cos(x)
#define tan(x) ds_tan(x)
#define atan(x) ds_atan(x)
#define atan2(y, x) ds_atan2(y, x)
#define acos(x) ds_acos(x)
#define exp(x) ds_exp(x)
#define log(x) ds_log(x)
#define log10(x) ds_log10(x)
#define pow(x, y) ds_pow(x, y)
#define cbrt(x) ds_cbrt(x)
#define hypot(x, y) ds_hypot(x, y)
#define sinh(x) ds_sinh(x)
#define cosh(x) ds_cosh(x)
#define asinh(x) ds_asinh(x)

#endif
