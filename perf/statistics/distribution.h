// The normal and Student's t distribution.
//
// Threads: pure functions; any thread.
// Accuracy: CDFs to about 1e-14 absolute, quantiles to about 1e-10 relative.
// Source: t through the incomplete beta function by its continued fraction (Lentz's method), as in
// Press et al., "Numerical Recipes", section 6.4; quantiles invert the CDFs by bisection.
#pragma once

namespace schedq {

double NormalCdf(double z);
// `probability` lies strictly between 0 and 1.
double NormalQuantile(double probability);

double StudentTCdf(double t, double degrees_of_freedom);
// `probability` lies strictly between 0 and 1.
double StudentTQuantile(double probability, double degrees_of_freedom);

}  // namespace schedq
