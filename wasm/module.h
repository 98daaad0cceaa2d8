/* The functions that the module exports to JavaScript. */
#ifndef DS_WASM_MODULE_H
#define DS_WASM_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name)))

#endif
