/* Bytes as text. */
#ifndef DS_CLI_BASE64_H
#define DS_CLI_BASE64_H

#include <stdio.h>

void base64_write(FILE *file, const unsigned char *data, size_t size);

#endif
