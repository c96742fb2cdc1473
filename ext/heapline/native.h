/* SPDX-License-Identifier: MIT */
#ifndef RBHL_NATIVE_H
#define RBHL_NATIVE_H

#include <ruby.h>

/* Define the functions that read flight files (flight_binding.c), those that reach the preloaded core (core_binding.c)
 * and the class that reads growth logs (growth_binding.c) on Heapline::Native. Called once, from Init_native, with the
 * GVL. */
void rbhl_define_flight(VALUE native, VALUE flight_error);
void rbhl_define_core(VALUE native, VALUE not_enabled);
void rbhl_define_growth(VALUE native);

#endif
